"""Readers: what programs read files with, record after record."""

from __future__ import annotations

from typing import Any, NamedTuple

from tfdist.formats.record_options import compression_of
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.io import reader_ops

__all__ = [
    "FixedLengthRecordReader", "IdentityReader", "ReaderBase", "TFRecordReader", "TextLineReader",
    "WholeFileReader",
]  # fmt: skip


class ReaderRead(NamedTuple):
    """What `read` gives."""

    key: Tensor
    value: Tensor


class ReaderReadUpTo(NamedTuple):
    """What `read_up_to` gives."""

    keys: Tensor
    values: Tensor


class ReaderBase:
    """What all readers can do; made by a subclass.

    Args:
      reader_ref: tensor of the reader's handle.
      supports_serialize: whether it can tell its state.
    """

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False) -> None:
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """Return the tensor of the reader's handle."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Return whether the reader can tell its state."""
        return self._supports_serialize

    def read(self, queue: Any, name: str | None = None) -> ReaderRead:
        """Return the next record and its key, waiting for a file's name from `queue`.

        Args:
          queue: a queue of strings, or the tensor of its handle.
          name: of the node.

        Returns:
          (key, value), two scalar strings.

        Raises:
          OutOfRangeError: when it runs, all files were read, and the queue is closed.
          NotFoundError: when it runs and there is no such file; the next read goes on with the
            next one.
        """
        return ReaderRead(*reader_ops.READ(self._reader_ref, _handle(queue), name=name))

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> ReaderReadUpTo:
        """Return up to `num_records` records of one file and their keys; see `read`.

        Args:
          queue: see `read`.
          num_records: at least 1.
          name: of the node.

        Returns:
          (keys, values), both [at most num_records]: fewer at the end of a file.
        """
        read, handle = reader_ops.READ_UP_TO, _handle(queue)
        return ReaderReadUpTo(*read(self._reader_ref, handle, num_records, name=name))

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """Return an int64 tensor: how many records were read."""
        tensor: Tensor = reader_ops.RECORDS_PRODUCED(self._reader_ref, name=name)
        return tensor

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """Return an int64 tensor: how many files were read to their ends."""
        tensor: Tensor = reader_ops.UNITS_COMPLETED(self._reader_ref, name=name)
        return tensor

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Return a string tensor: the state, for `restore_state`.

        Raises:
          UnimplementedError: when it runs, unless `supports_serialize`.
        """
        tensor: Tensor = reader_ops.SERIALIZE_STATE(self._reader_ref, name=name)
        return tensor

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        """Return an op that brings the reader to a state that another one told.

        Args:
          state: a scalar string from `serialize_state`.
          name: of the node.
        """
        op: Operation = reader_ops.RESTORE_STATE(self._reader_ref, state, name=name)
        return op

    def reset(self, name: str | None = None) -> Operation:
        """Return an op that makes the reader leave its file and count from 0."""
        op: Operation = reader_ops.RESET(self._reader_ref, name=name)
        return op


def _handle(queue: Any) -> Any:
    return getattr(queue, "queue_ref", queue)


class TextLineReader(ReaderBase):
    """A reader of lines, without their ends; a key is `file:number`, from 1.

    Args:
      skip_header_lines: how many lines of each file to leave out.
      name: of the node.

    Example:
      >>> import tempfile
      >>> path = tempfile.mkstemp()[1]
      >>> with open(path, "w") as file:
      ...     _ = file.write("x, y\\n1, 2\\n")
      >>> queue = FIFOQueue(10, "string", shapes=[()])
      >>> value = TextLineReader(skip_header_lines=1).read(queue).value
      >>> with Session() as session:
      ...     session.run(queue.enqueue(path))
      ...     session.run(value)
      b'1, 2'
    """

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(raw.TextLineReaderV2(skip_header_lines=skip_header_lines or 0, name=name))


class WholeFileReader(ReaderBase):
    """A reader of whole files; a key is the file's name.

    Args:
      name: of the node.
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(raw.WholeFileReaderV2(name=name), supports_serialize=True)


class FixedLengthRecordReader(ReaderBase):
    """A reader of records of one length; a key is `file:number`, from 0.

    Args:
      record_bytes: bytes in each record.
      header_bytes: bytes at the beginning of a file that belong to none.
      footer_bytes: bytes at its end that belong to none.
      hop_bytes: bytes from the beginning of one record to that of the next; by default, and with
        0, `record_bytes`.
      name: of the node.
      encoding: "ZLIB" or "GZIP" if the file is compressed.
    """

    def __init__(
        self, record_bytes: int, header_bytes: int | None = None, footer_bytes: int | None = None,
        hop_bytes: int | None = None, name: str | None = None, encoding: str | None = None,
    ) -> None:  # fmt: skip
        handle = raw.FixedLengthRecordReaderV2(
            record_bytes=record_bytes, header_bytes=header_bytes or 0,
            footer_bytes=footer_bytes or 0, hop_bytes=hop_bytes or 0, encoding=encoding or "",
            name=name,
        )  # fmt: skip
        super().__init__(handle)


class TFRecordReader(ReaderBase):
    """A reader of TFRecord files; a key is `file:position`.

    Args:
      name: of the node.
      options: a `tf.python_io.TFRecordOptions`, if the files are compressed.
    """

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        super().__init__(raw.TFRecordReaderV2(name=name, compression_type=compression_of(options)))


class IdentityReader(ReaderBase):
    """A reader that gives what its queue gives, as key and as record.

    Args:
      name: of the node.
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(raw.IdentityReaderV2(name=name), supports_serialize=True)
