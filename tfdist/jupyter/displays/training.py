"""Displays of what trains: optimizers, savers and checkpoints, coordinators and their threads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.base import shapes
from tfdist.jupyter.bundles import Bundle, Style
from tfdist.jupyter.displays.cards import (
    Show,
    bytes_text,
    card,
    counted,
    listed,
    rows_table,
    shape_text,
)
from tfdist.plots.shared.tables import Table

_MOST_SETTINGS = 12
_PLAIN = (bool, int, float, str)


def _optimizer(optimizer: Any, style: Style) -> Bundle:
    slots = [
        (name, slot.name, shape_text(slot.shape))
        for name, slots in sorted(optimizer._slots.items())
        for slot in slots.values()
    ]
    table = rows_table(("slot", "variable", "shape"), slots, style)
    return card(type(optimizer).__name__, optimizer._name, _settings(optimizer), table)


def _settings(optimizer: Any) -> list[tuple[str, str]]:
    """Return what an optimizer was made with: numbers, words, and tensors by name."""
    found = []
    for name, value in vars(optimizer).items():
        name = name.lstrip("_")
        if name in ("name", "use_locking"):
            continue
        if isinstance(value, _PLAIN):
            found.append((name.replace("_", " "), str(value)))
        elif isinstance(getattr(value, "name", None), str) and not name.endswith(("_t", "_tensor")):
            found.append((name.replace("_", " "), value.name))
    return found[:_MOST_SETTINGS]


def _saver(saver: Any, style: Style) -> Bundle:
    message = saver.saver_def
    names = None if saver._var_list is None else list(_names(saver._var_list))
    facts = [
        ("saves", "all variables" if names is None else listed(names)),
        ("keeps", counted(message.max_to_keep, "checkpoint") if message is not None else ""),
        ("state", "" if saver._is_built else "not built: build() makes its nodes"),
        ("format", f"V{message.version}" if message is not None else ""),
        ("sharded", "yes" if message is not None and message.sharded else ""),
    ]
    kept = [(path,) for path in saver.last_checkpoints]
    return card("Saver", _node_of(message), facts, rows_table(("checkpoint",), kept, style))


def _node_of(message: Any) -> str:
    return message.save_tensor_name.partition("/")[0] if message is not None else ""


def _names(saved: Any) -> Iterable[str]:
    if isinstance(saved, dict):
        return saved
    return (getattr(each, "name", "") or type(each).__name__ for each in saved)


def _checkpoint(reader: Any, style: Style) -> Bundle:
    rows, total = [], 0
    for name, entry in sorted(reader._stored()):
        size = _stored_bytes(entry)
        total += size or 0
        rows.append((name, shape_text(entry.shape), entry.dtype.name, bytes_text(size)))
    table = rows_table(("tensor", "shape", "dtype", "size"), rows, style, [3])
    facts = [("tensors", f"{len(rows):,}"), ("size", bytes_text(total))]
    return card("Checkpoint", str(getattr(reader._reader, "prefix", "")), facts, table)


def _stored_bytes(entry: Any) -> int | None:
    """Return how many bytes a tensor takes in memory; None for strings."""
    count, width = shapes.num_elements(tuple(entry.shape)), entry.dtype.size
    return count * width if count is not None and width else None


def _coordinator(coordinator: Any, style: Style) -> Bundle:
    facts = [("state", _stop_state(coordinator)), ("because of", _error_text(coordinator._error))]
    threads = _threads(coordinator._threads, style)
    return card("Coordinator", "", facts, threads)


def _stop_state(coordinator: Any) -> str:
    if not coordinator.should_stop():
        return "running: no stop was asked for"
    return "stopped, its threads were joined" if coordinator.joined else "a stop was asked for"


def _error_text(error: BaseException | None) -> str:
    if error is None:
        return ""
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _threads(threads: Iterable[Any], style: Style) -> Table:
    rows = [(each.name, "alive" if each.is_alive() else "ended") for each in list(threads)]
    return rows_table(("thread", "state"), sorted(rows), style)


def _runner(runner: Any, style: Style) -> Bundle:
    errors = [_error_text(each) for each in runner.exceptions_raised]
    running = list(runner._running.values())
    facts = [
        ("threads", counted(len(runner._enqueue_ops), "thread") + " for each session"),
        ("running in", counted(len(running), "session") if running else "no session"),
        ("errors", "\n".join(errors)),
    ]
    rows = [(op.name, op.type) for op in runner._enqueue_ops]
    table = rows_table(("runs again and again", "op"), rows, style)
    return card("QueueRunner", runner.name, facts, table)


def _supervisor(supervisor: Any, style: Style) -> Bundle:
    coordinator = supervisor._coord
    step, saver = supervisor.global_step, supervisor.saver
    facts = [
        ("chief", "yes" if supervisor._is_chief else "no"),
        ("state", _stop_state(coordinator)),
        ("because of", _error_text(coordinator._error)),
        ("folder", supervisor._logdir or "none: nothing is saved"),
        ("saves", _every(supervisor._save_model_secs, saver is not None and supervisor._logdir)),
        ("summaries", _every(supervisor._save_summaries_secs, supervisor._logdir)),
        ("global step", "none" if step is None else step.name),
    ]
    return card("Supervisor", "", facts, _threads(coordinator._threads, style))


def _every(seconds: float | None, is_there: Any) -> str:
    return f"every {seconds:g} s" if seconds and is_there else "no"


DISPLAYS: dict[tuple[str, str], Show] = {
    ("tfdist.training.optimizers.optimizer", "Optimizer"): _optimizer,  # of all kinds
    ("tfdist.training.saving.saver", "Saver"): _saver,
    ("tfdist.training.saving.checkpoint_utils", "CheckpointReader"): _checkpoint,
    ("tfdist.training.sessions.coordinator", "Coordinator"): _coordinator,
    ("tfdist.training.input_queues.queue_runner", "QueueRunner"): _runner,
    ("tfdist.training.sessions.supervisor", "Supervisor"): _supervisor,
}
