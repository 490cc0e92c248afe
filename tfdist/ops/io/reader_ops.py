"""The ops on readers: state in a server that gives the records of the files that a queue names.

A read has the reader's turn from its first look to its record, even while it waits for a file
name; so steps that read at once are served one after the other. Old graphs spell these ops without
"V2".
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError, UnimplementedError
from tfdist.formats import records
from tfdist.graph.op_def import PENDING, OpDef
from tfdist.ops.framework.op_aliases import Spellings, of_handles
from tfdist.ops.framework.shared_values import as_elements
from tfdist.protos import pb

__all__: list[str] = []  # readers has the public classes

_NAMES = "container: string = ''; shared_name: string = ''"
_REF, _RESOURCE = "reader_handle: Ref(string)", "reader_handle: resource"


def _reader_ops(kind: str, first: str, last: str = "", old_last: str | None = None) -> Spellings:
    """Return both forms of the op of one kind of reader, with its attributes in order."""
    old = "; ".join(filter(None, [first, _NAMES, last if old_last is None else old_last]))
    new = "; ".join(filter(None, [first, _NAMES, last]))
    forms = (f"{kind}() -> {_REF} [{old}] !", f"{kind}V2() -> {_RESOURCE} [{new}] !")
    return Spellings(*[OpDef(form, finds_resource=True) for form in forms]).not_differentiable()


_FIXED = "header_bytes: int = 0; record_bytes: int; footer_bytes: int = 0; hop_bytes: int = 0"
TEXT_LINE = _reader_ops("TextLineReader", "skip_header_lines: int = 0")
WHOLE_FILE = _reader_ops("WholeFileReader", "")
IDENTITY = _reader_ops("IdentityReader", "")
TF_RECORD = _reader_ops("TFRecordReader", "", "compression_type: string = ''")
FIXED_LENGTH = _reader_ops("FixedLengthRecordReader", _FIXED, "encoding: string = ''", "")


for _made in (TEXT_LINE, WHOLE_FILE, IDENTITY, TF_RECORD, FIXED_LENGTH):
    of_handles(_made)


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


@TEXT_LINE.kernel
def text_line_reader_kernel(
    ctx: Any, *, skip_header_lines: int, container: bytes, shared_name: bytes
) -> Any:
    _at_least_0(skip_header_lines=skip_header_lines)
    lines = partial(records.text_lines, skip=skip_header_lines)
    return _find(ctx, "TextLineReader", container, shared_name, lines)


@WHOLE_FILE.kernel
def whole_file_reader_kernel(ctx: Any, *, container: bytes, shared_name: bytes) -> Any:
    return _find(ctx, "WholeFileReader", container, shared_name, records.whole_file)


@IDENTITY.kernel
def identity_reader_kernel(ctx: Any, *, container: bytes, shared_name: bytes) -> Any:
    return _find(ctx, "IdentityReader", container, shared_name, records.itself)


@TF_RECORD.kernel
def tf_record_reader_kernel(
    ctx: Any, *, container: bytes, shared_name: bytes, compression_type: bytes
) -> Any:
    if compression_type not in (b"", b"ZLIB", b"GZIP"):
        raise InvalidArgumentError(f"there is no compression {compression_type!r}: ZLIB, GZIP")
    read = partial(records.tf_records, compression=compression_type.decode())
    return _find(ctx, "TFRecordReader", container, shared_name, read)


@FIXED_LENGTH.ops[0].kernel
def old_fixed_length_record_reader_kernel(
    ctx: Any, *, header_bytes: int, record_bytes: int, footer_bytes: int, hop_bytes: int,
    container: bytes, shared_name: bytes,
) -> Any:  # fmt: skip
    return fixed_length_record_reader_kernel(
        ctx, header_bytes=header_bytes, record_bytes=record_bytes, footer_bytes=footer_bytes,
        hop_bytes=hop_bytes, container=container, shared_name=shared_name, encoding=b"",
    )  # fmt: skip


@FIXED_LENGTH.ops[1].kernel
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


def _pair(op: str, more: str, outputs: str) -> Spellings:
    """Return both forms of an op on a reader and, where `more` says so, a queue."""
    outputs = f"-> {outputs or '()'}"
    old = more.replace("queue_handle: resource", "queue_handle: Ref(string)")
    return Spellings(
        OpDef(f"{op}({_REF}{old}) {outputs}"), OpDef(f"{op}V2({_RESOURCE}{more}) {outputs} !")
    ).not_differentiable()


READ = _pair("ReaderRead", ", queue_handle: resource", "key: string, value: string")
READ_UP_TO = _pair(
    "ReaderReadUpTo", ", queue_handle: resource, num_records: int64", "keys: string, values: string"
)


@READ.shape
def read_shape(reader_handle: Shape, queue_handle: Shape) -> list[Shape]:
    return [(), ()]


@READ_UP_TO.shape
def read_up_to_shape(reader_handle: Shape, queue_handle: Shape, num_records: Shape) -> list[Shape]:
    return [(None,), (None,)]


@READ.kernel
def read_kernel(reader_handle: Any, queue_handle: Any) -> Generator[Any, Any, Any]:
    [record] = yield from _read(reader_handle, queue_handle, 1)
    return record


@READ.prompt
def read_now(reader_handle: Any, queue_handle: Any) -> Any:
    found = _read_now(reader_handle, queue_handle, 1)
    return found[0] if found else PENDING


@READ_UP_TO.kernel
def read_up_to_kernel(
    reader_handle: Any, queue_handle: Any, num_records: Any
) -> Generator[Any, Any, Any]:
    if num_records < 1:
        raise InvalidArgumentError(f"num_records must be > 0 not {num_records}")
    return _columns((yield from _read(reader_handle, queue_handle, int(num_records))))


@READ_UP_TO.prompt
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

for _op in (RECORDS_PRODUCED, UNITS_COMPLETED, SERIALIZE_STATE):
    _op.shape(lambda reader_handle: ())


@RECORDS_PRODUCED.kernel
def records_produced_kernel(reader_handle: Any) -> Any:
    return np.int64(reader_handle.state.produced)


@UNITS_COMPLETED.kernel
def units_completed_kernel(reader_handle: Any) -> Any:
    return np.int64(reader_handle.state.finished)


@RESET.kernel
def reset_kernel(reader_handle: Any) -> None:
    reader_handle.reset()


@SERIALIZE_STATE.kernel
def serialize_state_kernel(reader_handle: Any) -> Any:
    _need_state(reader_handle, "SerializeState")
    state = reader_handle.state
    return pb.ReaderBaseState(
        work_started=state.started, work_finished=state.finished,
        num_records_produced=state.produced, current_work=state.work,
    ).SerializeToString()  # fmt: skip


@RESTORE_STATE.shape
def restore_state_shape(reader_handle: Shape, state: Shape) -> list[Shape]:
    if state is not None and len(state) != 0:
        raise ValueError(f"state: Shape must be rank 0 but is rank {len(state)}")
    return []


@RESTORE_STATE.kernel
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
