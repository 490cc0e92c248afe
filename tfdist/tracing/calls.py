"""The calls of a step: who called whom when, in the protocol's own words.

Three things are known. What the client and its master did in this process was noted while somebody
traced (`noted`). When a tensor was asked for and when it came, the step's statistics tell. The rest
is derived: a task ran its part (RunGraph) from its beginning to its last node, and who ran several
parts lets the tasks forget the step (CleanupGraph). A picture says which is which.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tfdist.tracing.device_names import device_order, plain_task
from tfdist.tracing.steps.node_row import TRANSFER, NodeRow, devices
from tfdist.tracing.steps.rows import beginnings, first_start_us, rows

CLIENT, MASTER = "client", "master"
RECEIVE, RUN_STEP, RUN_GRAPH, CLEANUP = "RecvTensor", "RunStep", "RunGraph", "CleanupGraph"
MOST_CALLS = 20  # beyond, calls from one to the other that follow each other are drawn as one
A_MOMENT = 1e-3  # microseconds between what is derived to happen at one time
MOST_NAMES = 1  # of tensors, in the words on calls that are drawn as one


class NotedCall(NamedTuple):
    """A call that was seen; times in nanoseconds since the epoch.

    Attributes:
      session: handle of the session that it was made for.
      method: "RunStep".
      to: task that was called; "" for the master.
      start: when it began.
      end: when its answer was there.
    """

    session: str
    method: str
    to: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RpcCall:
    """A call and its answer.

    Attributes:
      method: of the protocol: "RecvTensor".
      source: who calls: "client", "master" or the name of a task.
      target: who answers.
      start_us: microseconds since the step's beginning; negative before it.
      end_us: when the answer was there.
      what: tensors or fetches, in words.
      bytes: of the answer's tensors.
      count: calls that this one stands for.
      is_derived: whether it was not seen, but follows from what was.
    """

    method: str
    source: str
    target: str
    start_us: float
    end_us: float
    what: str = ""
    bytes: int = 0
    count: int = 1
    is_derived: bool = False


listening = 0  # how many want calls to be noted; a step looks at nothing else
_noted: list[NotedCall] = []
_lock = threading.Lock()


@contextmanager
def listened() -> Iterator[None]:
    """Have calls noted inside the context."""
    global listening
    with _lock:
        listening += 1
    try:
        yield
    finally:
        with _lock:
            listening -= 1
            if not listening:
                _noted.clear()


def note(session: str, method: str, to: str, start: int) -> None:
    """Note a call that began at `start` and has its answer now, if anybody listens."""
    if listening:
        with _lock:
            _noted.append(NotedCall(session, method, to, start, time.time_ns()))


def taken(session: str) -> tuple[NotedCall, ...]:
    """Return what was noted for a session since it was asked last, in the order of the calls."""
    with _lock:
        found = [each for each in _noted if each.session == session]
        _noted[:] = [each for each in _noted if each.session != session]
    return tuple(sorted(found, key=_start))


def calls_of(step_stats: Any, noted: Iterable[NotedCall] = (), fetches: str = "") -> list[RpcCall]:
    """Return the calls of a step, in the order of their beginnings.

    Args:
      step_stats: a `StepStats` message.
      noted: of the step's session, since the step before.
      fetches: what the client asked for, in words.
    """
    step_rows, epoch_us = rows(step_stats), first_start_us(step_stats)
    seen = [_seen(each, epoch_us, fetches) for each in noted]
    parts = _parts(step_rows, beginnings(step_stats))
    if len(parts) > 1 and not any(call.method == CLEANUP for call in seen):
        end = max(each.end_us for each in parts)
        parts += [_cleanup(part, end + i * A_MOMENT) for i, part in enumerate(parts)]
    found = [*seen, *_received(step_rows), *parts]
    if not any(call.method == RUN_STEP for call in seen):
        found += _whole(parts, fetches)
    return sorted(found, key=lambda call: (call.start_us, -call.end_us))


def lifelines(calls: Iterable[RpcCall]) -> list[str]:
    """Return who takes part: the client, its master, then tasks in natural order."""
    names = {name for call in calls for name in (call.source, call.target)}
    first = [name for name in (CLIENT, MASTER) if name in names]
    return first + sorted(names.difference(first), key=device_order)


def collapsed(calls: Sequence[RpcCall], most: int = MOST_CALLS) -> list[RpcCall]:
    """Return the calls with repetitions as one: of one tensor; if there are many, of one way.

    Args:
      calls: in the order of their beginnings.
      most: calls that are shown one by one.
    """
    found = _merged(calls, [(c.method, c.source, c.target, c.what) for c in calls])
    if len(found) <= most:
        return found
    return _merged(found, [(call.method, call.source, call.target, "") for call in found])


def _merged(calls: Sequence[RpcCall], keys: Sequence[tuple[str, ...]]) -> list[RpcCall]:
    """Return one call for all that have the same key, in the place of the first."""
    members: dict[tuple[str, ...], list[RpcCall]] = {}
    for call, key in zip(calls, keys, strict=True):
        members.setdefault(key, []).append(call)
    return [_as_one(each) for each in members.values()]


def _as_one(calls: Sequence[RpcCall]) -> RpcCall:
    words = list(dict.fromkeys(call.what for call in calls if call.what))
    more = len(words) - MOST_NAMES
    what = ", ".join(words[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return replace(
        calls[0],
        end_us=max(call.end_us for call in calls),
        what=what,
        bytes=sum(call.bytes for call in calls),
        count=sum(call.count for call in calls),
    )


def _seen(noted: NotedCall, epoch_us: float, fetches: str) -> RpcCall:
    source, target = (MASTER, plain_task(noted.to)) if noted.to else (CLIENT, MASTER)
    start, end = (each / 1000 - epoch_us for each in (noted.start, noted.end))
    return RpcCall(noted.method, source, target, start, end, fetches * (noted.method == RUN_STEP))


def _received(step_rows: Iterable[NodeRow]) -> list[RpcCall]:
    """Return a call for each tensor that crossed from task to task."""
    found = []
    for row in step_rows:
        source, target = plain_task(row.device), plain_task(row.source)
        if row.kind == TRANSFER and row.source and source != target:
            asked = row.start_us - row.waited_us
            found.append(
                RpcCall(RECEIVE, source, target, asked, row.arrived_us, row.name, row.bytes)
            )
    return found


def _parts(step_rows: Sequence[NodeRow], begun_us: Mapping[str, float]) -> list[RpcCall]:
    """Return a call for the part of each task: from its beginning to the end of its last node."""
    found = []
    for task in dict.fromkeys(map(plain_task, devices(step_rows))):
        here = [row for row in step_rows if plain_task(row.device) == task]
        begun = [time for device, time in begun_us.items() if plain_task(device) == task]
        asked = [row.start_us - row.waited_us for row in here]
        if begun or asked:
            start = min(begun + asked)
            end = max([row.end_us for row in here], default=start)
            found.append(RpcCall(RUN_GRAPH, MASTER, task, start, end, is_derived=True))
    return found


def _whole(parts: Sequence[RpcCall], fetches: str) -> list[RpcCall]:
    if not parts:
        return []
    start, end = min(each.start_us for each in parts), max(each.end_us for each in parts)
    return [RpcCall(RUN_STEP, CLIENT, MASTER, start, end, fetches, is_derived=True)]


def _cleanup(part: RpcCall, end_us: float) -> RpcCall:
    return RpcCall(CLEANUP, MASTER, part.target, end_us, end_us, is_derived=True)


def _start(call: NotedCall) -> int:
    return call.start
