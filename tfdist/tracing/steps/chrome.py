"""Events of the Chrome trace format, as Perfetto and chrome://tracing read it.

The format's rules that bind here: pid and tid are integers and are named by metadata events; slices
(ph "X") of one track nest or do not touch; an arrow is a pair "s" and "f" of one id, each at a time
at which a slice of its track is open, and "s" not after "f"; ts and dur are microseconds.

A device is a process, a lane a thread. Lanes are given out after times were rounded to whole
microseconds: rounding can therefore not make neighbours overlap. A transfer's end is rounded up,
all else down: what was made before it arrived is so in whole microseconds too, and every transfer
has its arrow.

Source: "Trace Event Format" (the format's public document); Perfetto's documentation, "JSON".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tfdist.tracing.simulated import marked
from tfdist.tracing.steps.lanes import lanes
from tfdist.tracing.steps.loop_excerpt import OmittedIterations
from tfdist.tracing.steps.makers import makers
from tfdist.tracing.steps.node_row import TRANSFER, NodeRow

Event = dict[str, Any]
Interval = tuple[int, int]


@dataclass(frozen=True)
class Slice:
    """A row's place in the picture.

    Attributes:
      row: what is drawn.
      pid: number of its device.
      tid: number of its lane.
      start: microseconds since the epoch.
      end: microseconds since the epoch, at least one after the start.
    """

    row: NodeRow
    pid: int
    tid: int
    start: int
    end: int


def slices(rows: Sequence[NodeRow], epoch_us: float = 0.0) -> list[Slice]:
    """Return a slice for each row, in the rows' order.

    Args:
      rows: of one step.
      epoch_us: microseconds since the epoch at which the rows' times begin.
    """
    intervals = [_whole_microseconds(row, epoch_us) for row in rows]
    pids = {device: pid for pid, device in enumerate(dict.fromkeys(row.device for row in rows))}
    tids = lanes(rows, intervals)
    return [Slice(row, pids[row.device], tids[i], *intervals[i]) for i, row in enumerate(rows)]


def metadata_events(drawn: Iterable[Slice]) -> list[Event]:
    """Return the events that name processes and threads and put them in order.

    A process whose clock was put right says so in its label.
    """
    devices: dict[int, NodeRow] = {}
    lanes: dict[tuple[int, int], str] = {}
    for each in drawn:
        devices.setdefault(each.pid, each.row)
        what = "transfers" if each.row.kind == TRANSFER else "nodes"
        lanes[each.pid, each.tid] = f"{what} (lane {each.tid})"
    processes = [
        event for pid, row in sorted(devices.items()) for event in _process_events(pid, row)
    ]
    threads = [_metadata("thread_name", *at, name=name) for at, name in sorted(lanes.items())]
    return processes + threads


def slice_events(drawn: Iterable[Slice]) -> list[Event]:
    """Return one complete event (ph "X") per slice; its name is the op's type."""
    return [
        {
            "ph": "X",
            "cat": "Transfer" if each.row.kind == TRANSFER else "Op",
            "name": each.row.op,
            "pid": each.pid,
            "tid": each.tid,
            "ts": each.start,
            "dur": each.end - each.start,
            "args": _arguments(each.row),
        }
        for each in drawn
    ]


def left_out_events(drawn: Sequence[Slice], left_out: Iterable[OmittedIterations]) -> list[Event]:
    """Return a slice for what is left out of each device's time between what is drawn.

    They have a lane of their own each: time in which another task's rounds are drawn may overlap.
    """
    events = []
    for lane, each in enumerate(left_out):
        for pid, (start, end) in _gaps(drawn, each).items():
            tid = 1 + lane + max(other.tid for other in drawn if other.pid == pid)
            events += [
                _metadata("thread_name", pid, tid, name="left out"),
                {"ph": "X", "cat": "LeftOut", "name": str(each), "pid": pid, "tid": tid,
                 "ts": start, "dur": end - start, "args": {"rounds": each.rounds}},
            ]  # fmt: skip
    return events


def flow_events(drawn: Sequence[Slice]) -> list[Event]:
    """Return the arrows: node to transfer (send to receive), and maker to taker on one device.

    Of a transfer (category "Transfer") an arrow ends where the tensor had come. Where two slices
    overlap that should follow each other, the arrow between them is straight; an arrow back in
    time cannot be drawn and is left out.
    """
    events: list[Event] = []
    number = 0
    for taker, made_by in zip(drawn, makers([each.row for each in drawn]), strict=True):
        for i in dict.fromkeys(made_by):
            times = _arrow_times(drawn[i], taker)
            if times is not None:
                events += _arrow(number, drawn[i], taker, *times)
                number += 1
    return events


def memory_events(drawn: Sequence[Slice]) -> list[Event]:
    """Return a counter (ph "C") per device: bytes of outputs that are still needed.

    An output counts from the end of its node to the end of the last one that takes it.
    """
    last_use = [each.end for each in drawn]
    for taker, made_by in zip(drawn, makers([each.row for each in drawn]), strict=True):
        for i in made_by:
            last_use[i] = max(last_use[i], taker.end)
    changes: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for each, until in zip(drawn, last_use, strict=True):
        changes[each.pid][each.end - 1] += each.row.bytes
        changes[each.pid][until] -= each.row.bytes
    return [event for pid, by_time in sorted(changes.items()) for event in _counter(pid, by_time)]


def _gaps(drawn: Iterable[Slice], left_out: OmittedIterations) -> dict[int, Interval]:
    """Return for each device the time between the rounds before and behind what is left out."""
    before: dict[int, int] = {}
    behind: dict[int, int] = {}
    for each in drawn:
        side = left_out.side(each.row.rounds)
        if side < 0:
            before[each.pid] = max(before.get(each.pid, 0), each.end)
        elif side > 0:
            behind[each.pid] = min(behind.get(each.pid, each.start), each.start)
    both = before.keys() & behind.keys()
    return {pid: (before[pid], behind[pid]) for pid in sorted(both) if before[pid] < behind[pid]}


def _whole_microseconds(row: NodeRow, epoch_us: float) -> Interval:
    start, end = int(epoch_us + row.start_us), int(epoch_us + row.end_us)
    return start, end + 1 if row.kind == TRANSFER else max(end, start + 1)


def _process_events(pid: int, row: NodeRow) -> list[Event]:
    named = [
        _metadata("process_name", pid, 0, name=f"{marked(row.device, row.device)} Compute"),
        _metadata("process_sort_index", pid, 0, sort_index=pid),
    ]
    if row.clock.nanos:
        named.append(_metadata("process_labels", pid, 0, labels=f"{row.clock}, corrected"))
    return named


def _metadata(name: str, pid: int, tid: int, /, **arguments: Any) -> Event:
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "args": arguments}


def _arguments(row: NodeRow) -> dict[str, Any]:
    inputs = {f"input{i}": name for i, name in enumerate(row.inputs)}
    exactly = {"kind": row.kind, "bytes": row.bytes, "duration_us": round(row.duration_us, 3)}
    named = {"name": row.name, "op": row.op} | exactly | inputs
    if row.rounds.numbers:
        named |= {"loop": row.rounds.loops[-1], "round": str(row.rounds)}
    if row.disturbed:
        named |= {"disturbed": row.disturbed}
    if row.kind != TRANSFER:
        return named
    return named | {"from": row.source, "to": row.device, "waited_us": round(row.waited_us, 3)}


def _arrow_times(maker: Slice, taker: Slice) -> Interval | None:
    """Return when an arrow leaves and arrives, None if it would go back in time."""
    leaves = maker.end - 1
    arrives = taker.end - 1 if taker.row.kind == TRANSFER else taker.start
    if leaves <= arrives:
        return leaves, arrives
    both_open = min(leaves, taker.end - 1)
    return (both_open, both_open) if both_open >= max(maker.start, taker.start) else None


def _arrow(number: int, maker: Slice, taker: Slice, leaves: int, arrives: int) -> list[Event]:
    category = "Transfer" if taker.row.kind == TRANSFER else "DataFlow"
    common = {"cat": category, "name": maker.row.name, "id": number}
    return [
        common | {"ph": "s", "pid": maker.pid, "tid": maker.tid, "ts": leaves},
        # "e": it ends at the slice around it, not at the next one
        common | {"ph": "f", "bp": "e", "pid": taker.pid, "tid": taker.tid, "ts": arrives},
    ]


def _counter(pid: int, changes: dict[int, int]) -> list[Event]:
    events, live = [], 0
    for time, change in sorted(changes.items()):
        live += change
        event = {"ph": "C", "cat": "Memory", "name": "bytes of live outputs", "pid": pid, "tid": 0}
        events.append(event | {"ts": time, "args": {"bytes": live}})
    return events
