"""What the pictures show, in words: for terminals, screen readers and saved notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap

from tfdist.plots.shared.blocks import Placed, block_lines, block_title, closed_blocks, members_of
from tfdist.plots.shared.placed_nodes import by_device, node_of
from tfdist.plots.shared.tables import duration_text, placement_table, step_table
from tfdist.plots.shared.time_axis_breaks import MOST_BARS, Excerpt, excerpt
from tfdist.tracing.device_names import device_order, short_device
from tfdist.tracing.steps.aggregates import LoopTotal, loop_totals
from tfdist.tracing.steps.node_row import COMPUTE, QUEUE, TRANSFER, NodeRow, devices

MARKS = {COMPUTE: "#", QUEUE: ".", TRANSFER: "/"}
LEFT_OUT = "~"
_NOTE_WIDTH = 110  # characters


def step_table_text(rows: Sequence[NodeRow], times: bool = True) -> str:
    """Return the table of a step as text; see `tables.step_table`."""
    return str(step_table(rows, times))


def placement_text(nodes: Sequence[Placed]) -> str:
    """Return the table of a placement as text, reasons included."""
    return str(placement_table(nodes))


def timeline_text(rows: Sequence[NodeRow], width: int = 60) -> str:
    """Return a step as lines of text: a line per device and lane, time from left to right.

    Args:
      rows: of one step; of long loops the first and last rounds are drawn, as the notes say.
      width: characters for the time.
    """
    span = max((row.end_us for row in rows), default=0.0) or 1.0
    shown = excerpt(rows, MOST_BARS)
    end = max((row.end_us for row in shown.rows), default=0.0) or 1.0
    lines = [
        line for device in devices(shown.rows) for line in _device_lines(device, shown, end, width)
    ]
    names = max((len(name) for name, _ in lines), default=0)
    drawn = [f"{name.ljust(names)} |{marks}|" for name, marks in lines]
    kinds = {**MARKS, "left out": LEFT_OUT} if shown.cuts else MARKS
    legend = ", ".join(f"{mark} {kind}" for kind, mark in kinds.items())
    first = f"{duration_text(span)} from left to right; {legend}"
    return "\n".join([first, *drawn, *shown.notes(), *step_notes(rows)])


def step_notes(rows: Sequence[NodeRow]) -> list[str]:
    """Return what is to be said below a step: whose clock was put right, what was disturbed."""
    return [*clock_notes(rows), *disturbance_notes(rows)]


def disturbance_notes(rows: Iterable[NodeRow]) -> list[str]:
    """Return lines of what was wrong on purpose with a node's task, or with a transfer's way."""
    told = _disturbed_text(rows)
    return wrap(told, _NOTE_WIDTH) if told else []


def _disturbed_text(rows: Iterable[NodeRow]) -> str:
    told = (row.disturbed.split("; ") for row in rows if row.disturbed)
    found = dict.fromkeys(words for each in told for words in each)
    return f"disturbed on purpose: {', '.join(found)}" if found else ""


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
    ran = _count(len({(row.device, row.name) for row in nodes}), "node")
    loops = rounds_sentence(rows)
    if loops:
        ran = f"{len(nodes):,} runs of {ran}"
    counts = f"{ran} on {_count(len({r.device for r in nodes}), 'device')}"
    sentence = f"Timeline of a step: {counts}, {_count(crossed, 'transfer')}"
    sentence = "; ".join(filter(None, [sentence, loops, _disturbed_text(rows)]))
    if not times or not nodes:
        return f"{sentence}."
    slowest = max(nodes, key=lambda row: row.duration_us)
    took = duration_text(max(row.end_us for row in rows))
    longest = f"longest {slowest.name} ({duration_text(slowest.duration_us)})"
    return f"{sentence}; {took}, {longest}."


def rounds_sentence(rows: Iterable[NodeRow]) -> str:
    """Return how often the loops of a step went round: "while: 10 rounds"; "" without loops."""
    return ", ".join(f"{total.loops[-1]}: {rounds_text(total)}" for total in loop_totals(rows))


def rounds_by_loop(rows: Iterable[NodeRow]) -> dict[str, str]:
    """Return how often each loop of a step went round, by its name."""
    return {total.loops[-1]: rounds_text(total) for total in loop_totals(rows)}


def rounds_text(total: LoopTotal) -> str:
    """Return how often a loop went round: "10 rounds", or "2 to 4 rounds, 10 times"."""
    if total.least != total.most:
        return f"{total.least:,} to {total.most:,} rounds, {total.times:,} times"
    return _count(total.most, "round") + (f", {total.times:,} times" if total.times > 1 else "")


def placement_sentence(nodes: Sequence[Placed]) -> str:
    """Return one sentence on a placement: nodes per device, and edges between devices."""
    shares = Counter({device: len(members) for device, members in by_device(nodes).items()})
    parts = ", ".join(
        f"{count} on {short_device(device) or 'no device'}" for device, count in shares.items()
    )
    crossing = len(crossing_edges(nodes))
    edges = "no edge crosses" if not crossing else f"{_count(crossing, 'edge')} between devices"
    blocks = Counter(path[-1].kind for path in members_of(nodes))
    inside = "".join(f"; {_count(count, kind)}" for kind, count in sorted(blocks.items()))
    return f"Placement of {_count(len(nodes), 'node')}: {parts or 'nothing'}; {edges}{inside}."


def blocks_text(
    nodes: Sequence[Placed], opened: Iterable[str] = (), rounds: Mapping[str, str] | None = None
) -> str:
    """Return what is in the loops and conds that a placement picture draws closed.

    Args:
      nodes: see `placement.placement_figure`, as for the others.
      opened: names of those that are drawn open.
      rounds: what to say of loops.
    """
    lines = []
    for path, members in closed_blocks(nodes, opened).items():
        lines.append(block_title(path[-1], members, rounds))
        lines += [f"  {line}" for line in block_lines(path, members)]
        inside = blocks_text(members, [*opened, path[-1].name], rounds)
        lines += [f"  {line}" for line in inside.splitlines()]
    return "\n".join(lines)


def crossing_edges(nodes: Sequence[Placed]) -> list[tuple[str, str]]:
    """Return (from, to) for each edge whose two nodes run on different devices."""
    device = {node.name: node.device for node in nodes}
    return [
        (source, node.name)
        for node in nodes
        for source in dict.fromkeys(map(node_of, node.inputs))
        if device.get(source, node.device) != node.device
    ]


def _device_lines(device: str, shown: Excerpt, span: float, width: int) -> list[tuple[str, str]]:
    here = [row for row in shown.rows if row.device == device]
    marks = [[" "] * width for _ in range(max((row.lane for row in here), default=0) + 1)]
    for row in here:
        first, last = _columns(row.start_us, row.end_us, span, width)
        marks[row.lane][first:last] = MARKS[row.kind] * (last - first)
    for cut in shown.cuts:
        first, last = _columns(cut.start, cut.end, span, width)
        for line in marks:
            line[first:last] = LEFT_OUT * (last - first)
    return [("" if i else short_device(device), "".join(line)) for i, line in enumerate(marks)]


def _columns(start: float, end: float, span: float, width: int) -> tuple[int, int]:
    first = min(int(start / span * width), width - 1)
    return first, max(min(int(end / span * width), width), first + 1)


def _signed(microseconds: float) -> str:
    return f"{'-' if microseconds < 0 else '+'}{duration_text(abs(microseconds))}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
