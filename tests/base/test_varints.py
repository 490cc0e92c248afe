"""Varints against protobuf's own packed fields."""

import pytest

from tfdist.base.varints import read_varint, read_varints, varint, varints
from tfdist.protos import pb

NUMBERS = [0, 1, 127, 128, 300, 2**14 - 1, 2**14, 2**31, 2**63, 2**64 - 1]


@pytest.mark.parametrize("number", NUMBERS)
def test_varint_is_that_of_protobuf_and_reads_back(number):
    written = varint(number)

    signed = number - 2**64 if number >= 2**63 else number  # protobuf has the same bits
    message = pb.TensorShapeProto.Dim(size=signed).SerializeToString()
    assert message[1:] == (written if number else b"")
    assert read_varint(b"\xff" + written + b"\xff", 1) == (number, 1 + len(written))


@pytest.mark.parametrize("numbers", [[], [5, 0, 127], NUMBERS], ids=["none", "short", "any"])
def test_varints_read_back_as_many_as_asked_for(numbers):
    data = varints(numbers)

    assert data == b"".join(map(varint, numbers))
    assert read_varints(b"\x01" + data + b"\x07", 1, len(numbers)) == (numbers, 1 + len(data))


def test_varint_of_a_negative_number_raises():
    with pytest.raises(ValueError, match="range"):
        varint(-1)
    with pytest.raises(ValueError, match="range"):
        varints([-1])


def test_read_varint_raises_where_data_end_or_a_number_does_not():
    with pytest.raises(IndexError):
        read_varint(b"\x80\x80", 0)
    with pytest.raises(IndexError):
        read_varints(b"\x01\x02", 0, 3)
    with pytest.raises(ValueError, match="more than ten bytes"):
        read_varint(b"\x80" * 10 + b"\x01", 0)


def test_read_varint_takes_the_low_64_bits():
    assert read_varint(b"\xff" * 9 + b"\x7f", 0) == (2**64 - 1, 10)
