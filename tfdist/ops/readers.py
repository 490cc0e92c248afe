"""Readers: state in a server that gives record after record of the files that a queue names.

A read has the reader's turn from its first look to its record, even while it waits for a file
name; so steps that read at once are served one after the other. Old graphs spell these ops without
"V2".
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError, UnimplementedError
from tfdist.formats import records
from tfdist.formats.record_options import compression_of
from tfdist.graph.op_def import PENDING, OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.values import as_elements
from tfdist.protos import pb

__all__ = [
    "FixedLengthRecordReader", "IdentityReader", "ReaderBase", "TFRecordReader", "TextLineReader",
    "WholeFileReader",
]  # fmt: skip

_NAMES = "container: string = ''; shared_name: string = ''"
_REF, _RESOURCE = "reader_handle: Ref(string)", "reader_handle: resource"


def _reader_ops(kind: str, first: str, last: str = "", old_last: str | None = None) -> list[OpDef]:
    """Return both forms of the op of one kind of reader, with its attributes in order."""
    old = "; ".join(filter(None, [first, _NAMES, last if old_last is None else old_last]))
    new = "; ".join(filter(None, [first, _NAMES, last]))
    forms = (f"{kind}() -> {_REF} [{old}] !", f"{kind}V2() -> {_RESOURCE} [{new}] !")
    return [OpDef(form, finds_resource=True).not_differentiable() for form in forms]


_FIXED = "header_bytes: int = 0; record_bytes: int; footer_bytes: int = 0; hop_bytes: int = 0"
TEXT_LINE = _reader_ops("TextLineReader", "skip_header_lines: int = 0")
WHOLE_FILE = _reader_ops("WholeFileReader", "")
IDENTITY = _reader_ops("IdentityReader", "")
TF_RECORD = _reader_ops("TFRecordReader", "", "compression_type: string = ''")
FIXED_LENGTH = _reader_ops("FixedLengthRecordReader", _FIXED, "encoding: string = ''", "")


for _old, _new in (TEXT_LINE, WHOLE_FILE, IDENTITY, TF_RECORD, FIXED_LENGTH):
    _old.shape(lambda: (2,))
    _new.shape(lambda: ())


# What can tell its state: it reads an item at once, and so is never in the middle of one.
_WHOLE = {"IdentityReader", "WholeFileReader"}


def _find(ctx: Any, kind: str, container: bytes, shared_name: bytes, open_item: Any) -> Any:
    """Return the task's reader of that name, a new one if there is none."""
    name = shared_name.decode() if shared_name else ctx.node_name
    reader = ctx.known() or ctx.resource(
        "reader", container, name, lambda Reader: Reader(kind, name, open_item, kind in _WHOLE)
    )
    if reader.kind != kind:
        raise InvalidArgumentError(
            f"reader {name!r} exists as a {reader.kind}, but is asked for as a {kind}"
        )
    return reader


def _at_least_0(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 0:
            raise InvalidArgumentError(f"{name} must be >= 0 not {number}")


@TEXT_LINE[0].kernel
@TEXT_LINE[1].kernel
def text_line_reader_kernel(
    ctx: Any, *, skip_header_lines: int, container: bytes, shared_name: bytes
) -> Any:
    _at_least_0(skip_header_lines=skip_header_lines)
    lines = partial(records.text_lines, skip=skip_header_lines)
    return _find(ctx, "TextLineReader", container, shared_name, lines)


@WHOLE_FILE[0].kernel
@WHOLE_FILE[1].kernel
def whole_file_reader_kernel(ctx: Any, *, container: bytes, shared_name: bytes) -> Any:
    return _find(ctx, "WholeFileReader", container, shared_name, records.whole_file)


@IDENTITY[0].kernel
@IDENTITY[1].kernel
def identity_reader_kernel(ctx: Any, *, container: bytes, shared_name: bytes) -> Any:
    return _find(ctx, "IdentityReader", container, shared_name, records.itself)


@TF_RECORD[0].kernel
@TF_RECORD[1].kernel
def tf_record_reader_kernel(
    ctx: Any, *, container: bytes, shared_name: bytes, compression_type: bytes
) -> Any:
    if compression_type not in (b"", b"ZLIB", b"GZIP"):
        raise InvalidArgumentError(f"there is no compression {compression_type!r}: ZLIB, GZIP")
    read = partial(records.tf_records, compression=compression_type.decode())
    return _find(ctx, "TFRecordReader", container, shared_name, read)


@FIXED_LENGTH[0].kernel
def old_fixed_length_record_reader_kernel(
    ctx: Any, *, header_bytes: int, record_bytes: int, footer_bytes: int, hop_bytes: int,
    container: bytes, shared_name: bytes,
) -> Any:  # fmt: skip
    return fixed_length_record_reader_kernel(
        ctx, header_bytes=header_bytes, record_bytes=record_bytes, footer_bytes=footer_bytes,
        hop_bytes=hop_bytes, container=container, shared_name=shared_name, encoding=b"",
    )  # fmt: skip


@FIXED_LENGTH[1].kernel
def fixed_length_record_reader_kernel(
    ctx: Any, *, header_bytes: int, record_bytes: int, footer_bytes: int, hop_bytes: int,
    container: bytes, shared_name: bytes, encoding: bytes,
) -> Any:  # fmt: skip
    _at_least_0(header_bytes=header_bytes, footer_bytes=footer_bytes, hop_bytes=hop_bytes)
    if record_bytes <= 0:
        raise InvalidArgumentError(f"record_bytes must be > 0 not {record_bytes}")
    read = partial(
        records.fixed_length_records, record=record_bytes, header=header_bytes,
        footer=footer_bytes, hop=hop_bytes or record_bytes, compression=encoding.decode(),
    )  # fmt: skip
    return _find(ctx, "FixedLengthRecordReader", container, shared_name, read)


def _pair(op: str, more: str, outputs: str) -> list[OpDef]:
    """Return both forms of an op on a reader and, where `more` says so, a queue."""
    outputs = f"-> {outputs or '()'}"
    old = more.replace("queue_handle: resource", "queue_handle: Ref(string)")
    return [
        OpDef(f"{op}({_REF}{old}) {outputs}").not_differentiable(),
        OpDef(f"{op}V2({_RESOURCE}{more}) {outputs} !").not_differentiable(),
    ]


READ = _pair("ReaderRead", ", queue_handle: resource", "key: string, value: string")
READ_UP_TO = _pair(
    "ReaderReadUpTo", ", queue_handle: resource, num_records: int64", "keys: string, values: string"
)


@READ[0].shape
@READ[1].shape
def read_shape(reader_handle: Shape, queue_handle: Shape) -> list[Shape]:
    return [(), ()]


@READ_UP_TO[0].shape
@READ_UP_TO[1].shape
def read_up_to_shape(reader_handle: Shape, queue_handle: Shape, num_records: Shape) -> list[Shape]:
    return [(None,), (None,)]


@READ[0].kernel
@READ[1].kernel
def read_kernel(reader_handle: Any, queue_handle: Any) -> Generator[Any, Any, Any]:
    [record] = yield from _read(reader_handle, queue_handle, 1)
    return record


@READ[0].prompt
@READ[1].prompt
def read_now(reader_handle: Any, queue_handle: Any) -> Any:
    found = _read_now(reader_handle, queue_handle, 1)
    return found[0] if found else PENDING


@READ_UP_TO[0].kernel
@READ_UP_TO[1].kernel
def read_up_to_kernel(
    reader_handle: Any, queue_handle: Any, num_records: Any
) -> Generator[Any, Any, Any]:
    if num_records < 1:
        raise InvalidArgumentError(f"num_records must be > 0 not {num_records}")
    return _columns((yield from _read(reader_handle, queue_handle, int(num_records))))


@READ_UP_TO[0].prompt
@READ_UP_TO[1].prompt
def read_up_to_now(reader_handle: Any, queue_handle: Any, num_records: Any) -> Any:
    found = num_records > 0 and _read_now(reader_handle, queue_handle, int(num_records))
    return _columns(found) if found else PENDING


def _columns(records: Any) -> tuple[Any, Any]:
    keys, values = np.empty(len(records), object), np.empty(len(records), object)
    keys[:], values[:] = zip(*records, strict=True)
    return keys, values


def _read(reader: Any, queue: Any, count: int) -> Generator[Any, Any, Any]:
    """Return from 1 to `count` records, of one item; waits for the turn, and for items."""
    _check(queue)
    if not reader.enter():
        yield reader.turn()
    try:
        while not (found := reader.next(count)):
            reader.ask()
            [element] = yield queue.take(1)
            reader.begin(_item(element))
        return found
    finally:
        reader.leave()


def _read_now(reader: Any, queue: Any, count: int) -> Any:
    """Return up to `count` records; none if they have to be waited for."""
    _check(queue)
    if not reader.enter():
        return []
    try:
        return reader.next(count)
    finally:
        reader.leave()


def _check(queue: Any) -> None:
    if len(queue.dtypes) != 1:
        raise InvalidArgumentError(
            f"Expected single component queue, but {queue.name!r} has {len(queue.dtypes)}"
        )
    if queue.dtypes[0] is not dtypes.string:
        raise InvalidArgumentError(
            f"Expected queue with single string component, but {queue.name!r} holds "
            f"{queue.dtypes[0].name}"
        )


def _item(element: Any) -> bytes:
    names = as_elements(element[0]).reshape(-1)
    if names.size != 1:
        raise InvalidArgumentError(
            f"Expected to dequeue a one-element string tensor, got {names.size} strings"
        )
    name: bytes = names[0]
    return name


RECORDS_PRODUCED = _pair("ReaderNumRecordsProduced", "", "records_produced: int64")
UNITS_COMPLETED = _pair("ReaderNumWorkUnitsCompleted", "", "units_completed: int64")
SERIALIZE_STATE = _pair("ReaderSerializeState", "", "state: string")
RESTORE_STATE = _pair("ReaderRestoreState", ", state: string", "")
RESET = _pair("ReaderReset", "", "")

for _op in (*RECORDS_PRODUCED, *UNITS_COMPLETED, *SERIALIZE_STATE):
    _op.shape(lambda reader_handle: ())


@RECORDS_PRODUCED[0].kernel
@RECORDS_PRODUCED[1].kernel
def records_produced_kernel(reader_handle: Any) -> Any:
    return np.int64(reader_handle.state.produced)


@UNITS_COMPLETED[0].kernel
@UNITS_COMPLETED[1].kernel
def units_completed_kernel(reader_handle: Any) -> Any:
    return np.int64(reader_handle.state.finished)


@RESET[0].kernel
@RESET[1].kernel
def reset_kernel(reader_handle: Any) -> None:
    reader_handle.reset()


@SERIALIZE_STATE[0].kernel
@SERIALIZE_STATE[1].kernel
def serialize_state_kernel(reader_handle: Any) -> Any:
    _need_state(reader_handle, "SerializeState")
    state = reader_handle.state
    return pb.ReaderBaseState(
        work_started=state.started, work_finished=state.finished,
        num_records_produced=state.produced, current_work=state.work,
    ).SerializeToString()  # fmt: skip


@RESTORE_STATE[0].shape
@RESTORE_STATE[1].shape
def restore_state_shape(reader_handle: Shape, state: Shape) -> list[Shape]:
    if state is not None and len(state) != 0:
        raise ValueError(f"state: Shape must be rank 0 but is rank {len(state)}")
    return []


@RESTORE_STATE[0].kernel
@RESTORE_STATE[1].kernel
def restore_state_kernel(reader_handle: Any, state: Any) -> None:
    _need_state(reader_handle, "RestoreState")
    text = as_elements(state)[()]
    what = f"{reader_handle.kind} {reader_handle.name!r}"
    try:
        told = pb.parse(pb.ReaderBaseState, text)
    except ValueError:
        raise InvalidArgumentError(f"Could not parse state for {what}: {text!r}") from None
    unfinished = told.work_started - told.work_finished
    if min(told.work_started, told.work_finished, told.num_records_produced, unfinished) < 0 or (
        unfinished > 1
    ):
        raise InvalidArgumentError(
            f"Inconsistent work started vs. finished when restoring in {what}: work_started = "
            f"{told.work_started}, work_finished = {told.work_finished}, num_records_produced = "
            f"{told.num_records_produced}"
        )
    reader_handle.restore(
        told.current_work, told.work_started, told.work_finished, told.num_records_produced
    )


def _need_state(reader: Any, what: str) -> None:
    if reader.kind not in _WHOLE:
        raise UnimplementedError(
            f"Reader {what}: a {reader.kind} cannot tell where in a file it is; IdentityReader "
            "and WholeFileReader can"
        )


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

    def _form(self, forms: list[OpDef]) -> Callable[..., Any]:
        return forms[self._reader_ref.dtype.base_dtype is dtypes.resource]

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
        return ReaderRead(*self._form(READ)(self._reader_ref, _handle(queue), name=name))

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> ReaderReadUpTo:
        """Return up to `num_records` records of one file and their keys; see `read`.

        Args:
          queue: see `read`.
          num_records: at least 1.
          name: of the node.

        Returns:
          (keys, values), both [at most num_records]: fewer at the end of a file.
        """
        read = self._form(READ_UP_TO)
        return ReaderReadUpTo(*read(self._reader_ref, _handle(queue), num_records, name=name))

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """Return an int64 tensor: how many records were read."""
        tensor: Tensor = self._form(RECORDS_PRODUCED)(self._reader_ref, name=name)
        return tensor

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """Return an int64 tensor: how many files were read to their ends."""
        tensor: Tensor = self._form(UNITS_COMPLETED)(self._reader_ref, name=name)
        return tensor

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Return a string tensor: the state, for `restore_state`.

        Raises:
          UnimplementedError: when it runs, unless `supports_serialize`.
        """
        tensor: Tensor = self._form(SERIALIZE_STATE)(self._reader_ref, name=name)
        return tensor

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        """Return an op that brings the reader to a state that another one told.

        Args:
          state: a scalar string from `serialize_state`.
          name: of the node.
        """
        op: Operation = self._form(RESTORE_STATE)(self._reader_ref, state, name=name)
        return op

    def reset(self, name: str | None = None) -> Operation:
        """Return an op that makes the reader leave its file and count from 0."""
        op: Operation = self._form(RESET)(self._reader_ref, name=name)
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
