"""What the pictures show, in words: for terminals, screen readers and saved notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tfdist.plots.placement_data import Placed, by_device, node_of
from tfdist.plots.tables import duration_text, placement_table, step_table
from tfdist.tracing.rows import (
    COMPUTE,
    QUEUE,
    TRANSFER,
    NodeRow,
    device_order,
    devices,
    short_device,
)

MARKS = {COMPUTE: "#", QUEUE: ".", TRANSFER: "/"}


def step_table_text(rows: Sequence[NodeRow], times: bool = True) -> str:
    """Return the table of a step as text; see `tables.step_table`."""
    return str(step_table(rows, times))


def placement_text(nodes: Sequence[Placed]) -> str:
    """Return the table of a placement as text, reasons included."""
    return str(placement_table(nodes))


def timeline_text(rows: Sequence[NodeRow], width: int = 60) -> str:
    """Return a step as lines of text: a line per device and lane, time from left to right.

    Args:
      rows: of one step.
      width: characters for the time.
    """
    span = max((row.end_us for row in rows), default=0.0) or 1.0
    lines = [line for device in devices(rows) for line in _device_lines(device, rows, span, width)]
    names = max((len(name) for name, _ in lines), default=0)
    drawn = [f"{name.ljust(names)} |{marks}|" for name, marks in lines]
    legend = ", ".join(f"{MARKS[kind]} {kind}" for kind in MARKS)
    first = f"{duration_text(span)} from left to right; {legend}"
    return "\n".join([first, *drawn, *clock_notes(rows)])


def clock_notes(rows: Iterable[NodeRow]) -> list[str]:
    """Return a line for each task whose clock was put right: by how much, and how surely."""
    clocks = {row.device.partition("/device:")[0]: row.clock for row in rows if row.clock.nanos}
    return [
        f"clock of {short_device(task)}: {_signed(clock.nanos / 1000)} "
        f"± {duration_text(clock.uncertainty / 1000)}, corrected"
        for task, clock in sorted(clocks.items(), key=lambda item: device_order(item[0]))
    ]


def timeline_sentence(rows: Sequence[NodeRow], times: bool = True) -> str:
    """Return one sentence on a step: how much ran and crossed, and where most time went."""
    nodes = [row for row in rows if row.kind != TRANSFER]
    crossed = len(rows) - len(nodes)
    counts = f"{_count(len(nodes), 'node')} on {_count(len({r.device for r in nodes}), 'device')}"
    sentence = f"Timeline of a step: {counts}, {_count(crossed, 'transfer')}"
    if not times or not nodes:
        return f"{sentence}."
    slowest = max(nodes, key=lambda row: row.duration_us)
    took = duration_text(max(row.end_us for row in rows))
    longest = f"longest {slowest.name} ({duration_text(slowest.duration_us)})"
    return f"{sentence}; {took}, {longest}."


def placement_sentence(nodes: Sequence[Placed]) -> str:
    """Return one sentence on a placement: nodes per device, and edges between devices."""
    shares = Counter({device: len(members) for device, members in by_device(nodes).items()})
    parts = ", ".join(
        f"{count} on {short_device(device) or 'no device'}" for device, count in shares.items()
    )
    crossing = len(crossing_edges(nodes))
    edges = "no edge crosses" if not crossing else f"{_count(crossing, 'edge')} between devices"
    return f"Placement of {_count(len(nodes), 'node')}: {parts or 'nothing'}; {edges}."


def crossing_edges(nodes: Sequence[Placed]) -> list[tuple[str, str]]:
    """Return (from, to) for each edge whose two nodes run on different devices."""
    device = {node.name: node.device for node in nodes}
    return [
        (source, node.name)
        for node in nodes
        for source in dict.fromkeys(map(node_of, node.inputs))
        if device.get(source, node.device) != node.device
    ]


def _device_lines(
    device: str, rows: Sequence[NodeRow], span: float, width: int
) -> list[tuple[str, str]]:
    here = [row for row in rows if row.device == device]
    marks = [[" "] * width for _ in range(max((row.lane for row in here), default=0) + 1)]
    for row in here:
        first = min(int(row.start_us / span * width), width - 1)
        last = max(min(int(row.end_us / span * width), width), first + 1)
        marks[row.lane][first:last] = MARKS[row.kind] * (last - first)
    return [("" if i else short_device(device), "".join(line)) for i, line in enumerate(marks)]


def _signed(microseconds: float) -> str:
    return f"{'-' if microseconds < 0 else '+'}{duration_text(abs(microseconds))}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
