"""Parcels: what is packed comes out again; what does not fit, or is broken, is told."""

import ml_dtypes
import numpy as np
import pytest

from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import DEAD
from tfdist.wire.codec.parcels import is_parcel, packed, unpacked

KEY = "/job:ps/task:0;0123456789abcdef;/job:worker/task:1;edge_1_x;0:0"


def sent(values, step_id=7):
    """Return a parcel as it arrives."""
    return memoryview(bytearray(b"".join(map(bytes, packed(step_id, values)))))


PLAIN = {
    "a large array": np.arange(10_000.0).reshape(100, 100),
    "a small one": np.arange(6, dtype=np.int32).reshape(2, 3),
    "a scalar": np.float32(2.5),
    "an array of rank 0": np.array(3, np.int64),
    "an empty one": np.zeros((0, 3), np.float32),
    "bools": np.array([True, False]),
    "bfloat16": np.ones(3, ml_dtypes.bfloat16),
    "strided": np.arange(20_000.0)[::2],
}


@pytest.mark.parametrize("value", PLAIN.values(), ids=PLAIN)
def test_arrays_come_out_as_they_were(value):
    message = sent([("before", np.int8(1)), (KEY, value), ("after", DEAD)])
    assert is_parcel(message)
    step_id, [(_, one), (key, found), (_, dead)] = unpacked(message)
    assert (one, step_id, key, dead) == (1, 7, KEY, DEAD)
    assert (found.dtype, found.shape) == (value.dtype, value.shape)
    np.testing.assert_array_equal(found, value)


def test_large_arrays_are_neither_copied_out_nor_in():
    value = np.arange(10_000.0)
    pieces = packed(7, [(KEY, value)])
    assert any(np.shares_memory(np.frombuffer(piece, np.uint8), value) for piece in pieces)
    message = sent([("a", np.int8(1)), (KEY, value)])
    found = unpacked(message)[1][1][1]
    assert np.shares_memory(found, np.frombuffer(message, np.uint8))
    assert found.flags.aligned
    assert found.flags.writeable


OTHER = {
    "bytes": b"text",
    "strings": np.array([b"a", b"b"], object),
    "what is no tensor": 3,
    "another byte order": np.arange(3, dtype=">i4"),
}


@pytest.mark.parametrize("value", OTHER.values(), ids=OTHER)
def test_what_is_no_array_of_numbers_goes_in_other_messages(value):
    assert packed(7, [(KEY, np.int8(1)), (KEY, value)]) is None


def test_no_message_of_protobuf_is_taken_for_a_parcel():
    assert not is_parcel(memoryview(b""))
    assert not is_parcel(memoryview(b"\x7a\x00"))


@pytest.mark.parametrize("length", [1, 15, 16, 20, 31, 60, 120, 200])
def test_a_parcel_that_ends_early_is_refused(length):
    whole = sent([(KEY, np.arange(100.0)), (KEY, np.arange(3))])
    with pytest.raises(InvalidArgumentError, match="parcel"):
        unpacked(whole[:length])


@pytest.mark.parametrize("place", range(16, 32))
def test_nonsense_is_refused_or_another_value(place):
    message = sent([(KEY, np.arange(3.0))])
    message[place] ^= 0xFF
    try:
        found = unpacked(message)[1]
    except InvalidArgumentError:
        return
    assert len(found) == 1
