"""Features in bytes: what is taken at once agrees with what protobuf makes of them."""

import random

import numpy as np
import pytest

from tfdist.base import dtypes
from tfdist.errors import InvalidArgumentError
from tfdist.formats.features import OtherTypeError, head, packed_numbers, stacked, values
from tfdist.protos import pb

SIZES = [0, 1, 2, 3, 29, 30, 31, 32, 33, 61, 62, 63, 64, 120, 127, 128, 129, 4094, 4096, 20_000]


def feature(kind, given):
    message = pb.Feature()
    getattr(message, kind).SetInParent()
    getattr(message, kind).value.extend(given)
    return message.SerializeToString()


@pytest.mark.parametrize("size", SIZES)
def test_floats(size):
    given = [float(number) for number in range(size)]
    data = feature("float_list", given)
    assert values(data, dtypes.float32).tolist() == given
    assert data.startswith(head(dtypes.float32, len(data)))
    if size:
        assert stacked([data, data], dtypes.float32, size).tolist() == [given, given]


@pytest.mark.parametrize("bits", [6, 7, 8, 20, 63])
@pytest.mark.parametrize("size", SIZES)
def test_integers(size, bits):
    chance = random.Random(size)
    given = [chance.randrange(-(2**bits) * (bits > 20), 2**bits) for _ in range(size)]
    data = feature("int64_list", given)
    assert values(data, dtypes.int64).tolist() == given
    if size:
        assert stacked([data, data], dtypes.int64, size).tolist() == [given, given]


@pytest.mark.parametrize("size", SIZES)
def test_strings(size):
    text = b"a" * size
    assert values(feature("bytes_list", [text]), dtypes.string) == [text]
    assert values(feature("bytes_list", [text, b"b"]), dtypes.string) == [text, b"b"]
    both = [feature("bytes_list", [text]), feature("bytes_list", [b"zz"])]
    assert stacked(both, dtypes.string, 1).tolist() == [[text], [b"zz"]]


def test_numbers_that_are_not_packed():
    data = bytes([0x1A, 4, 8, 3, 8, 5])
    assert values(data, dtypes.int64).tolist() == [3, 5]
    assert stacked([data], dtypes.int64, 2) is None


def test_no_list_is_not_an_empty_list():
    assert values(b"", dtypes.int64) is None
    assert values(feature("int64_list", []), dtypes.int64).tolist() == []


@pytest.mark.parametrize("given", [[1.0], []])
def test_a_list_of_another_type(given):
    with pytest.raises(OtherTypeError) as raised:
        values(feature("float_list", given), dtypes.int64)
    assert raised.value.actual is dtypes.float32


def test_other_numbers_of_values_are_left_to_a_look_at_each():
    one, two = feature("int64_list", [300]), feature("int64_list", [1, 2])
    assert stacked([one, two], dtypes.int64, 1) is None
    assert stacked([two, one], dtypes.int64, 2) is None
    floats = [feature("float_list", [1.0]), feature("float_list", [1.0, 2.0])]
    assert stacked(floats, dtypes.float32, 1) is None


@pytest.mark.parametrize("data", [b"\x80", b"\x05\xff", b"\xff" * 11 + b"\x01"])
def test_varints_that_do_not_end(data):
    with pytest.raises(InvalidArgumentError):
        packed_numbers(data)


@pytest.mark.parametrize("data", [b"\x12\x05zz", b"\xff\xff\xff"])
def test_what_is_no_feature(data):
    with pytest.raises(InvalidArgumentError, match="Could not parse"):
        values(data, dtypes.float32)


def test_results_are_new_arrays():
    data = feature("float_list", [1.0, 2.0])
    assert stacked([data], dtypes.float32, 2).flags.writeable
    assert np.array_equal(packed_numbers(b"\x01\x02"), [1, 2])
