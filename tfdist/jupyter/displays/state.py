"""Displays of what keeps state in a task: queues, readers, barriers, staging areas.

How full a queue is can be told where its task is in this process; nothing runs for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tfdist.jupyter.bundles import Bundle, Style
from tfdist.jupyter.displays.cards import Facts, Show, card, counted, rows_table, shape_text
from tfdist.runtime.task.masters import local_masters
from tfdist.runtime.task.peers import local_tasks
from tfdist.tracing.device_names import device_order

_SIZES = ("capacity", "min_after_dequeue")


def _queue(queue: Any, style: Style) -> Bundle:
    op = queue.queue_ref.op
    names = queue.names or [str(i) for i in range(len(queue.dtypes))]
    parts = zip(names, queue.dtypes, queue.shapes, strict=True)
    rows = [(name, dtype.name, shape_text(shape)) for name, dtype, shape in parts]
    components = rows_table(("component", "dtype", "shape"), rows, style)
    return card(type(queue).__name__, queue.name, [*_sizes(op), *_seen(op)], components)


def _sizes(op: Any) -> Facts:
    for name in _SIZES:
        if name in op._attrs:
            value = op._attrs[name]
            yield name.replace("_", " "), "no bound" if value < 0 else str(value)
    yield "device", op.device or "(none asked for)"
    yield "shared as", _shared(op)
    yield "made at", op.created_at


def _shared(op: Any) -> str:
    name = op._attrs.get("shared_name", b"")
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)


def _seen(op: Any) -> Facts:
    """Yield the state of a queue in the tasks of this process."""
    found = sorted(
        ((task, _state_text(state)) for task, state in _states(op)),
        key=lambda each: device_order(each[0]),
    )
    for task, text in found:
        yield f"in {task}", text
    if not found:
        yield "now", "not made yet, or in another process: session.run(queue.size()) asks there"


def _states(op: Any) -> Iterator[tuple[str, Any]]:
    """Yield the tasks of this process that have the queue, and its state there.

    Without a shared name each session has a queue of its own.
    """
    shared, own = _shared(op), re.compile(rf"(_\d+_)?{re.escape(op.name)}")  # see `Worker`
    for task in _tasks():
        if op.device and not _may_be_in(task.name, op.device):
            continue
        for _, kind, name, resource in task.worker.resources.rows():
            if kind == "queue" and (name == shared if shared else own.fullmatch(name)):
                with resource.lock:
                    info = resource.state.info()
                yield task.name, info


def _tasks() -> list[Any]:
    """Return the tasks of this process, those of sessions without target among them."""
    peers = [getattr(master, "peers", None) for master in local_masters()]  # a far one has none
    own = [getattr(each, "_own", None) for each in peers]
    found = {id(task): task for task in [*local_tasks(), *own] if hasattr(task, "worker")}
    return list(found.values())


def _may_be_in(task: str, device: str) -> bool:
    wanted = [part for part in device.split("/") if part.startswith(("job:", "task:"))]
    return set(wanted) <= set(task.split("/"))


def _state_text(info: Any) -> str:
    room = f" of {info.capacity}" if info.capacity >= 0 else ""
    words = [f"{info.fill}{room} {'element' if info.fill == 1 and not room else 'elements'}"]
    words.append("closed" if info.closed else "open")
    for who, names in (("producer", info.producers), ("consumer", info.consumers)):
        if names:
            words.append(f"{counted(len(names), who)} waiting")
    return ", ".join(words)


def _reader(reader: Any, style: Style) -> Bundle:
    op = reader.reader_ref.op
    rest = ("header_bytes", "record_bytes", "footer_bytes", "skip_header_lines")
    facts = [
        ("op", op.type),
        *((name.replace("_", " "), str(op._attrs[name])) for name in rest if name in op._attrs),
        ("device", op.device or "(none asked for)"),
        ("keeps its place", "yes" if reader.supports_serialize else "no"),
        ("made at", op.created_at),
    ]
    return card(type(reader).__name__, op.name, facts)


DISPLAYS: dict[tuple[str, str], Show] = {
    ("tfdist.ops.queues.queue_base", "QueueBase"): _queue,  # of all kinds
    ("tfdist.ops.io.readers", "ReaderBase"): _reader,
}
