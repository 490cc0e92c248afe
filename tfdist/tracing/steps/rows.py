"""Step statistics as plain rows: one per node or transfer, for tables and pictures.

TensorFlow keeps a step's statistics device by device, with a second entry of the same device for
what it received, and says only in the text of a label what a node computed from what. Here the
entries of one device are merged, a transfer is a row of its own kind that knows its sender, and
all times count from the step's beginning: its first start, or when a tensor was first asked for.

Messages are duck-typed: whatever has the fields of TensorFlow's `StepStats` will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from tfdist.tracing.clocks import SAME_CLOCK, ClockOffset, offset_in
from tfdist.tracing.device_names import device_order
from tfdist.tracing.disturbances import concerning, disturbances_in
from tfdist.tracing.steps.entries import (
    RECEIVED,
    SOURCE,
    NodeStats,
    arrived_nanos,
    duration_nanos,
    output_bytes,
    parse_label,
    parse_transfer,
    rounds_of,
    scheduled_nanos,
    sent_nanos,
    start_nanos,
)
from tfdist.tracing.steps.lanes import lanes
from tfdist.tracing.steps.makers import makers
from tfdist.tracing.steps.node_row import COMPUTE, QUEUE, TRANSFER, NodeRow

# Ops that may wait for an element: their time is mostly waiting.
_QUEUE_OP = re.compile(r"Queue(En|De)queue|BarrierTake|ReaderRead|(Un)?Stage$|Take(Grad|Indexed)")


def rows(step_stats: Any) -> list[NodeRow]:
    """Return the rows of a step, by device and start; the start marks `_SOURCE` are left out.

    Args:
      step_stats: a `StepStats` message.
    """
    first = _first_nanos(step_stats)
    of_device = clocks(step_stats)
    found = [
        _row(device, stats, first, of_device.get(device, SAME_CLOCK))
        for device, stats in _observed(step_stats)
        if stats.node_name != SOURCE
    ]
    beginnings = (stats for _, stats in _observed(step_stats) if stats.node_name == SOURCE)
    wrong = disturbances_in(stats.timeline_label for stats in beginnings)
    if wrong:
        found = [replace(row, disturbed=concerning(wrong, row.device, row.source)) for row in found]
    return _with_lanes(_straightened(sorted(found, key=_row_order)))


def first_start_us(step_stats: Any) -> float:
    """Return when the step begins, in microseconds since the epoch."""
    return _first_nanos(step_stats) / 1000


def beginnings(step_stats: Any) -> dict[str, float]:
    """Return when each device began its part, in microseconds since the step's beginning."""
    first = _first_nanos(step_stats)
    return {
        device: (start_nanos(stats) - first) / 1000
        for device, stats in _observed(step_stats)
        if stats.node_name == SOURCE
    }


def clocks(step_stats: Any) -> dict[str, ClockOffset]:
    """Return how far the clock of each device was ahead, where it was not ours.

    The times of the statistics are by our clock already: `_SOURCE` tells that in its label.
    """
    told = {
        device: offset_in(stats.timeline_label)
        for device, stats in _observed(step_stats)
        if stats.node_name == SOURCE
    }
    return {device: clock for device, clock in told.items() if clock != SAME_CLOCK}


def _straightened(step_rows: Sequence[NodeRow]) -> list[NodeRow]:
    """Return the rows, no transfer ending before it was made if clocks may be wrong by that much.

    Such a transfer ends when it was made.
    """
    found = list(step_rows)
    if all(row.clock == SAME_CLOCK for row in found):
        return found
    for i, made_by in enumerate(makers(step_rows)):
        row = found[i]
        if row.kind == TRANSFER and made_by:
            maker = found[made_by[0]]
            if 0 < maker.end_us - row.end_us <= _uncertainty_us(row.clock, maker.clock):
                found[i] = replace(row, duration_us=maker.end_us - row.start_us)
    return found


def _uncertainty_us(*of_both: ClockOffset) -> float:
    """Return the microseconds by which two clocks may be apart; labels tell whole ones."""
    return sum(clock.uncertainty / 1000 + 1 for clock in of_both if clock != SAME_CLOCK)


def _first_nanos(step_stats: Any) -> int:
    """Return when the step begins, in nanoseconds since the epoch."""
    starts = (
        _asked_nanos(stats) for _, stats in _observed(step_stats) if stats.node_name != SOURCE
    )
    return min(starts, default=0)


def _asked_nanos(stats: Any) -> int:
    """Return when a node started or, where that is known, a transfer was asked for."""
    start = start_nanos(stats)
    if stats.node_name != RECEIVED:  # TensorFlow's `scheduled` of nodes may be by another clock
        return start
    return min(scheduled_nanos(stats) or start, start)


def _observed(step_stats: Any) -> Iterator[tuple[str, Any]]:
    for entry in step_stats.dev_stats:
        if not entry.device.startswith("/host:"):  # a profiler's second view of the same nodes
            for stats in entry.node_stats:
                yield entry.device, stats


def _row(device: str, stats: Any, first: int, clock: ClockOffset) -> NodeRow:
    nanos = start_nanos(stats)
    transfer = parse_transfer(stats)
    common: dict[str, Any] = {
        "device": device,
        "start_us": (nanos - first) / 1000,
        "duration_us": duration_nanos(stats) / 1000,
        "bytes": output_bytes(stats),
        "clock": clock,
        "rounds": rounds_of(stats),
    }
    if transfer:
        return NodeRow(
            name=transfer.tensor,
            op=_copy_name(transfer.source, device),
            kind=TRANSFER,
            source=transfer.source,
            waited_us=(nanos - _asked_nanos(stats)) / 1000,
            delay_us=max(nanos + duration_nanos(stats) - arrived_nanos(stats), 0) / 1000,
            send_us=(sent_nanos(stats) - nanos) / 1000,
            edge=transfer.edge,
            **common,
        )
    op, inputs = parse_label(stats)
    return NodeRow(
        name=stats.node_name,
        op=op,
        kind=_kind(op),
        inputs=inputs,
        delay_us=_delay_nanos(stats, nanos, first) / 1000,
        **common,
    )


def _delay_nanos(stats: NodeStats, start: int, first: int) -> int:
    """Return how long a node was ready and did not run; 0 if its statistics do not tell."""
    ready = scheduled_nanos(stats)
    return start - ready if first <= ready < start else 0


@lru_cache(maxsize=1024)
def _copy_name(source: str, target: str) -> str:
    """Return what a transfer is called: "RecvTensor", or a copy between the memories of a task."""
    (task, _, sender), (other, _, receiver) = (
        device.partition("/device:") for device in (source, target)
    )
    sides = ["D" if device.startswith("GPU") else "H" for device in (sender, receiver)]
    return f"MEMCPY{sides[0]}to{sides[1]}" if task == other and "D" in sides else RECEIVED


@lru_cache(maxsize=1024)
def _kind(op: str) -> str:
    return QUEUE if _QUEUE_OP.match(op) else COMPUTE


def _row_order(row: NodeRow) -> tuple[Any, ...]:
    return device_order(row.device), row.start_us, row.end_us, row.name


def _with_lanes(ordered: list[NodeRow]) -> list[NodeRow]:
    found = lanes(ordered, [(row.start_us, row.end_us) for row in ordered])
    return [
        replace(row, lane=lane) if lane else row for row, lane in zip(ordered, found, strict=True)
    ]
