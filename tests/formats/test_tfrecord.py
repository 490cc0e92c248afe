"""TFRecord files: reading in pieces, writing, options. What TensorFlow says: tests/ops."""

import os

import pytest

from tfdist.errors import DataLossError, FailedPreconditionError, NotFoundError
from tfdist.formats.record_options import TFRecordCompressionType, TFRecordOptions
from tfdist.formats.tfrecord import (
    TFRecordWriter,
    framed,
    masked_crc32c,
    read_records,
    tf_record_iterator,
)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "file")


def test_checksums_of_the_specification():
    # RFC 3720, B.4: 32 bytes of zeros have the crc32c 0x8a9136aa
    assert masked_crc32c(bytes(32)) == ((0x8A9136AA >> 15 | 0x8A9136AA << 17) + 0xA282EAD8) % 2**32


@pytest.mark.parametrize("compression", ["", "ZLIB", "GZIP"])
def test_what_was_written_is_read(path, compression):
    records = [os.urandom(size) for size in (0, 1, 11, 12, 13, 100_000, 3, 1_000_000)]
    with TFRecordWriter(path, compression) as writer:
        for record in records:
            writer.write(record)
    assert list(tf_record_iterator(path, compression)) == records
    positions = [position for position, _ in read_records(path, compression)]
    assert positions == [sum(len(r) + 16 for r in records[:i]) for i in range(len(records))]


def test_what_was_flushed_can_be_read_while_the_file_is_open(path):
    for options in ("", TFRecordOptions(TFRecordCompressionType.GZIP)):
        with TFRecordWriter(path, options) as writer:
            writer.write(b"one")
            writer.flush()
            assert list(tf_record_iterator(path, options)) == [b"one"]


def test_compressed_files_may_follow_each_other(path):
    with TFRecordWriter(path, "GZIP") as writer:
        writer.write(b"one")
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data + data)
    assert list(tf_record_iterator(path, "GZIP")) == [b"one", b"one"]


def test_a_length_is_not_believed_before_its_checksum(path):
    with open(path, "wb") as file:
        file.write((2**60).to_bytes(8, "little") + bytes(4) + b"data")
    with pytest.raises(DataLossError, match=r"corrupted record at 0 in .*file"):
        list(tf_record_iterator(path))


def test_a_writer_has_levels(path):
    sizes = []
    for level in (0, 9):
        with TFRecordWriter(path, TFRecordOptions("ZLIB", compression_level=level)) as writer:
            writer.write(bytes(10_000))
        assert list(tf_record_iterator(path, "ZLIB")) == [bytes(10_000)]
        sizes.append(os.path.getsize(path))
    assert sizes[0] > 10_000 > 100 > sizes[1]


def test_errors_of_a_writer(path):
    with pytest.raises(NotFoundError, match="No such file or directory"):
        TFRecordWriter(f"{path}/x/y")
    writer = TFRecordWriter(path)
    with pytest.raises(TypeError, match="expected bytes, str found"):
        writer.write("text")
    writer.close()
    writer.close()
    for call in (writer.flush, lambda: writer.write(b"late")):
        with pytest.raises(FailedPreconditionError, match="not initialized or previously closed"):
            call()


def test_an_iterator_opens_its_file_when_it_is_asked(path):
    records = tf_record_iterator(path)
    with open(path, "wb") as file:
        file.write(framed(b"x"))
    assert list(records) == [b"x"]


@pytest.mark.parametrize(
    ("options", "name"),
    [(None, ""), ("", ""), (0, ""), ("GZIP", "GZIP"), (1, "ZLIB"), (TFRecordOptions(2), "GZIP")],
)
def test_names_of_compressions(options, name):
    assert TFRecordOptions.get_compression_type_string(options) == name


def test_there_are_two_compressions():
    with pytest.raises(ValueError, match='Not a valid compression_type: "foo"'):
        TFRecordOptions("foo")
