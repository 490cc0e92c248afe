"""idx files: what is written is read; what is no whole file is told."""

import gzip

import numpy as np
import pytest

from tfdist.errors import DataLossError
from tfdist.formats.idx import parse_idx, read_idx, write_idx


@pytest.mark.parametrize("name", ["file", "file.gz"])
@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "i4", "f4", "f8"])
def test_what_is_written_is_read(tmp_path, name, dtype):
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)
    write_idx(tmp_path / name, array)
    found = read_idx(tmp_path / name)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


def test_the_bytes_are_those_of_the_format():
    data = bytes([0, 0, 0x0B, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0x01, 0x02, 0xFF, 0xFE])
    assert parse_idx(data).tolist() == [[258, -2]]


def test_a_type_that_the_format_has_not(tmp_path):
    with pytest.raises(ValueError, match="idx files hold no complex64"):
        write_idx(tmp_path / "file", np.zeros(2, np.complex64))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "begins with b''"),
        (b"PNG.....", "begins with b'PNG.'"),
        (bytes([0, 0, 8, 1, 0, 0, 0, 3, 1, 2]), r"10 bytes, but shape \[3\] takes 11"),
        (gzip.compress(bytes(100), mtime=0)[:-10], "no whole idx file"),
    ],
    ids=["nothing", "another format", "cut off", "cut off within gzip"],
)
def test_what_is_no_idx_file(tmp_path, data, text):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(DataLossError, match=text):
        read_idx(tmp_path / "file")
