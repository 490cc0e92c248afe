"""Events of the Chrome trace format, as Perfetto and chrome://tracing read it.

The format's rules that bind here: pid and tid are integers and are named by metadata events; slices
(ph "X") of one track nest or do not touch; an arrow is a pair "s" and "f" of one id, each at a time
at which a slice of its track is open, and "s" not after "f"; ts and dur are microseconds.

A device is a process, a lane a thread. Lanes are given out after times were rounded to whole
microseconds: rounding can therefore not make neighbours overlap.

Source: "Trace Event Format" (the format's public document); Perfetto's documentation, "JSON".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tfdist.tracing.rows import TRANSFER, NodeRow, free_lanes, makers

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
    tids: dict[int, int] = {}
    for device in pids:
        first = 0
        for kind in (False, True):
            members = sorted(
                (
                    i
                    for i, r in enumerate(rows)
                    if r.device == device and (r.kind == TRANSFER) is kind
                ),
                key=lambda i: intervals[i],
            )
            lanes = free_lanes(intervals[i] for i in members)
            tids.update((i, first + lane) for i, lane in zip(members, lanes, strict=True))
            first += max(lanes, default=-1) + 1
    return [Slice(row, pids[row.device], tids[i], *intervals[i]) for i, row in enumerate(rows)]


def metadata_events(drawn: Iterable[Slice]) -> list[Event]:
    """Return the events that name processes and threads and put them in order."""
    devices: dict[int, str] = {}
    lanes: dict[tuple[int, int], str] = {}
    for each in drawn:
        devices[each.pid] = each.row.device
        what = "transfers" if each.row.kind == TRANSFER else "nodes"
        lanes[each.pid, each.tid] = f"{what} (lane {each.tid})"
    processes = [
        event
        for pid, device in sorted(devices.items())
        for event in (
            _metadata("process_name", pid, 0, name=f"{device} Compute"),
            _metadata("process_sort_index", pid, 0, sort_index=pid),
        )
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


def flow_events(drawn: Sequence[Slice]) -> list[Event]:
    """Return the arrows: node to transfer (send to receive), and maker to taker on one device.

    An arrow back in time, possible if the clocks of two tasks differ, cannot be drawn and is left
    out.
    """
    events: list[Event] = []
    number = 0
    for taker, made_by in zip(drawn, makers([each.row for each in drawn]), strict=True):
        for i in dict.fromkeys(made_by):
            maker = drawn[i]
            leaves = maker.end - 1
            # a tensor is asked for early: what is received arrives at the end of its slice
            arrives = taker.end - 1 if taker.row.kind == TRANSFER else taker.start
            arrives = max(arrives, min(leaves, taker.end - 1))
            if leaves <= arrives:
                events += _arrow(number, maker, leaves, taker, arrives)
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


def _whole_microseconds(row: NodeRow, epoch_us: float) -> Interval:
    start = int(epoch_us + row.start_us)
    return start, max(int(epoch_us + row.end_us), start + 1)


def _metadata(name: str, pid: int, tid: int, /, **arguments: Any) -> Event:
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "args": arguments}


def _arguments(row: NodeRow) -> dict[str, Any]:
    inputs = {f"input{i}": name for i, name in enumerate(row.inputs)}
    transfer = {"from": row.source, "to": row.device} if row.kind == TRANSFER else {}
    exactly = {"kind": row.kind, "bytes": row.bytes, "duration_us": round(row.duration_us, 3)}
    return {"name": row.name, "op": row.op} | exactly | inputs | transfer


def _arrow(number: int, maker: Slice, leaves: int, taker: Slice, arrives: int) -> list[Event]:
    common = {"cat": "DataFlow", "name": maker.row.name, "id": number}
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
