"""A tensor crosses as protobuf would write it.

protobuf's own parser and `make_ndarray` are the reference: they read what was written, and what
they wrote is read. Whatever else comes in is refused with one class of error.
"""

import re
import threading

import ml_dtypes
import numpy as np
import pytest

from tests.wire.codec.tensor_cases import DTYPES, MALFORMED, array_of, assert_same
from tfdist.errors import InvalidArgumentError
from tfdist.graph import tensor_proto
from tfdist.protos import pb
from tfdist.wire.codec.tensors import decoded, encoded

SHAPES = [(), (0,), (1,), (3, 0, 2), (2, 3), (1, 1, 1, 4), (200,), (70, 41), (5, 2, 300)]


def written(array):
    return b"".join(encoded(array))


def read(data):
    return decoded(memoryview(data), 0, len(data))


every_type = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)


@every_type
def test_a_tensor_comes_back(dtype):
    for array in [array_of(dtype, shape) for shape in SHAPES]:
        assert_same(read(written(array)), array)


@every_type
def test_protobuf_reads_what_is_written(dtype):
    for array in [array_of(dtype, shape) for shape in SHAPES]:
        proto = pb.TensorProto.FromString(written(array))
        assert proto.HasField("tensor_shape") == (array.ndim > 0)
        assert [dim.size for dim in proto.tensor_shape.dim] == list(array.shape)
        assert proto.dtype == dtype.as_datatype_enum
        assert not proto.string_val
        assert np.array_equal(tensor_proto.make_ndarray(proto), array)


@every_type
def test_what_protobuf_wrote_is_read(dtype):
    for array in [array_of(dtype, shape) for shape in SHAPES]:
        proto = tensor_proto.make_tensor_proto(array)
        assert_same(read(proto.SerializeToString()), array)


@pytest.mark.parametrize(
    "scalar",
    [np.float32(1.5), np.bool_(True), np.int64(-(2**40)), np.complex64(1j), ml_dtypes.bfloat16(2)],
    ids=lambda scalar: type(scalar).__name__,
)
def test_a_numpy_scalar_comes_back_as_one(scalar):
    got = read(written(scalar))
    assert type(got) is type(scalar)
    assert got == scalar


@pytest.mark.parametrize("text", [b"", b"abc", b"\xff" * 127, b"\0" * 128, bytes(100_000)], ids=len)
def test_a_string_comes_back_as_bytes(text):
    assert read(written(text)) == text
    assert read(written(np.array(text, object))) == text


def test_strings_stand_as_lengths_and_then_bytes():
    proto = pb.TensorProto.FromString(written(np.array([b"ab", b"c"], object)))
    assert proto.tensor_content == b"\x02\x01abc"


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(np.arange(6.0).reshape(2, 3).T, id="transposed"),
        pytest.param(np.arange(20_000)[::-2], id="reversed, with gaps"),
        pytest.param(np.arange(6, dtype=">i4"), id="big-endian"),
        pytest.param(np.arange(6_000, dtype=">f8"), id="big-endian and large"),
        pytest.param(np.float64(3).astype(">f8"), id="big-endian scalar"),
        pytest.param(np.array([b"a", b"bc"]), id="NumPy's bytes of fixed length"),
        pytest.param(np.broadcast_to(np.float32(2), (50, 60)), id="one value everywhere"),
    ],
)
def test_unusual_memory_crosses(array):
    assert read(written(array)).tolist() == array.tolist()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([object()], object), "array of object cannot be sent"),
        (np.array(["a", b"b"], object), "array of str cannot be sent"),
        (np.array(["a"]), "<U1 cannot be sent"),
        (np.zeros(2, "M8[s]"), r"datetime64\[s\] cannot be sent"),
        (1.5, "Python float cannot be sent"),
        (threading.Lock(), "a lock stays on its task"),
    ],
    ids=["a handle", "a str", "a fixed str", "a date", "a Python number", "what a task keeps"],
)
def test_what_is_no_tensor_is_not_sent(value, text):
    with pytest.raises(InvalidArgumentError, match=text):
        encoded(value)


def test_content_is_copied_unless_it_is_aligned():
    array, sharing = np.arange(1_000.0), 0
    for shift in range(8):
        data = b"?" * shift + written(array)
        got = decoded(memoryview(data), shift, len(data))
        assert got.flags.aligned
        assert got.tolist() == array.tolist()
        sharing += np.shares_memory(got, np.frombuffer(data, np.uint8))
    assert sharing == 1


def test_a_small_array_does_not_keep_the_message():
    data = bytearray(written(np.ones((3, 3))))
    got = read(data)
    data.clear()  # BufferError if anybody held its memory
    got[0, 0] = 2.0


def test_fields_may_come_in_any_order():
    content, shape, dtype = b"\x22\x02\x05\x06", b"\x12\x04\x12\x02\x08\x02", b"\x08\x04"
    assert read(content + shape + dtype).tolist() == [5, 6]


@pytest.mark.parametrize(("data", "text"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_tensor_is_refused(data, text):
    with pytest.raises(InvalidArgumentError, match=re.escape(text)):
        read(data)
