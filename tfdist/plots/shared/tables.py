"""Tables as plain data, and their plain text: steps, devices, placements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tfdist.plots.shared.blocks import Placed, block_name, blocks_around
from tfdist.plots.shared.machinery import machinery_of
from tfdist.plots.shared.placed_nodes import by_device
from tfdist.session.blocks import COND, LOOP
from tfdist.tracing.device_names import device_order, short_device
from tfdist.tracing.steps.aggregates import NodeSum, RoundTotal, node_sums, round_totals, totals
from tfdist.tracing.steps.loop_excerpt import omit_iterations
from tfdist.tracing.steps.makers import depths
from tfdist.tracing.steps.node_row import TRANSFER, NodeRow

MOST_ROWS = 200
MOST_ROUNDS = 4
MOST_ORDERED = 2000
FOLDED = "(control flow"  # how the names of rows begin that stand for several nodes


@dataclass(frozen=True)
class Table:
    """Cells as text, under a header.

    Attributes:
      header: name of each column.
      rows: cells; a first cell equal to the one above belongs to the same group.
      numeric: positions of the columns that are set flush right.
      note: a sentence below the table, or "".
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    note: str = ""

    def __str__(self) -> str:
        """Return the table as aligned text; a group's name stands once."""
        shown = [self.header, *_grouped(self.rows)]
        widths = [max(len(row[i]) for row in shown) for i in range(len(self.header))]
        lines = [self._line(row, widths) for row in shown]
        lines.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join([*lines, *filter(None, [self.note])])

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        cells = (
            cell.rjust(width) if i in self.numeric else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return "  ".join(cells).rstrip()


def step_table(
    rows: Sequence[NodeRow],
    times: bool = True,
    most: int = MOST_ROWS,
    whole: bool = False,
    few: int = MOST_ROWS,
) -> Table:
    """Return what ran where in a step, the runs of a node in a loop summed up.

    Args:
      rows: of one step.
      times: whether to say when; without, the order is the graph's and the same in every run.
      most: rows to show; the note says how many were left out.
      whole: whether nodes that only make loops and branches go have rows of their own, too.
      few: rows up to which they stand by device and start; more, the longest first.
    """
    sums = node_sums(rows)
    order = _order_by_start if times else _order_by_depth(rows)
    if not whole:
        sums = _with_machinery_folded(sums, machinery_of(rows))
    if times and len(sums) > few:
        ordered = sorted(sums, key=lambda each: -each.total_us)
    else:
        ordered = sorted(sums, key=lambda each: (device_order(each.row.device), order(each.row)))
    columns = [*_STEP_COLUMNS]
    if any(each.row.rounds.numbers for each in sums):
        columns += _LOOP_COLUMNS
    shown = sorted(column for column in columns if times or not column.is_time)
    cells = [tuple(column.cell(each) for column in shown) for each in ordered[:most]]
    numeric = frozenset(i for i, column in enumerate(shown) if column.is_numeric)
    header = tuple(column.name for column in shown)
    return Table(header, tuple(cells), numeric, _left_out(len(ordered), most))


def totals_table(rows: Sequence[NodeRow], times: bool = True) -> Table:
    """Return what each device did in a step, one row per device."""
    header: tuple[str, ...] = ("device", "nodes", "received", "bytes")
    cells = []
    for total in totals(rows):
        counts = (total.nodes, total.transfers, total.received_bytes)
        spent = (total.compute_us, total.queue_us, total.transfer_us) if times else ()
        cells.append((short_device(total.device), *map(str, counts), *map(duration_text, spent)))
    if times:
        header = (*header, "computing", "at queues", "receiving")
    return Table(header, tuple(cells), frozenset(range(1, len(header))))


def placement_table(nodes: Sequence[Placed], most: int = MOST_ROWS) -> Table:
    """Return where each node runs and why, device by device in the graph's order."""
    ordered = [node for members in by_device(nodes).values() for node in members]
    has_blocks = any(map(blocks_around, nodes))
    cells = [
        (
            short_device(node.device) or "nowhere",
            node.name,
            node.op,
            *([_innermost(node)] if has_blocks else []),
            short_device(node.requested),
            node.reason,
        )
        for node in ordered[:most]
    ]
    header = ("device", "node", "op", *(["in"] if has_blocks else []), "asked for", "reason")
    return Table(header, tuple(cells), note=_left_out(len(ordered), most))


def rounds_table(rows: Sequence[NodeRow], times: bool = True, most: int = MOST_ROUNDS) -> Table:
    """Return what each round of the loops in a step came to, the first and last `most` rounds.

    What only makes loops go round is not counted.

    Args:
      rows: of one step.
      times: whether to say when.
      most: rounds of a loop to show at its beginning, and as many at its end.
    """
    header: tuple[str, ...] = ("loop", "round", "nodes", "received", "bytes")
    found: dict[str, list[RoundTotal]] = {}
    machinery = machinery_of(rows)
    for total in round_totals(row for row in rows if (row.name, row.op) not in machinery):
        found.setdefault(total.rounds.loops[-1], []).append(total)
    cells: list[tuple[str, ...]] = []
    for loop, members in found.items():
        cells += [_round_cells(loop, total) for total in members[:most]]
        if len(members) > 2 * most:
            cells.append((loop, f"... {len(members) - 2 * most:,} more", *[""] * 5))
        cells += [_round_cells(loop, total) for total in members[max(len(members) - most, most) :]]
    if not times:
        return Table(header, tuple([each[:5] for each in cells]), frozenset({2, 3, 4}))
    return Table((*header, "start", "took"), tuple(cells), frozenset(range(2, 7)))


def duration_text(microseconds: float) -> str:
    """Return a duration in the unit that reads best: "0.4 µs", "12 µs", "1.3 ms", "2.5 s"."""
    if 0 < microseconds < 9.95:
        return f"{microseconds:.1f} µs"
    if microseconds < 999.5:
        return f"{microseconds:.0f} µs"
    if microseconds < 999_500:
        return f"{microseconds / 1e3:.3g} ms"
    return f"{microseconds / 1e6:.3g} s"


def bytes_text(count: float) -> str:
    """Return a size in the unit that reads best: "4 B", "1.5 MB"."""
    size, unit = next(
        ((size, unit) for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")) if count >= size),
        (1, "B"),
    )
    return f"{count / size:.3g} {unit}"


class _Column(NamedTuple):
    """A column of a step's table: its place among the others, its name, and its text."""

    place: int
    name: str
    cell: Callable[[NodeSum], str]
    is_time: bool = False
    is_numeric: bool = False


_STEP_COLUMNS = (
    _Column(0, "device", lambda each: short_device(each.row.device)),
    _Column(1, "node", lambda each: each.row.name),
    _Column(2, "op", lambda each: each.row.op),
    _Column(4, "bytes", lambda each: bytes_text(each.bytes) if each.bytes else "", False, True),
    _Column(5, "start", lambda each: duration_text(each.row.start_us), True, True),
    _Column(6, "took", lambda each: duration_text(each.total_us), True, True),
    _Column(8, "from", lambda each: short_device(each.row.source)),
)
_LOOP_COLUMNS = (
    _Column(3, "runs", lambda each: _if_in_loop(each, f"{each.runs:,}"), False, True),
    _Column(
        7, "longest", lambda each: _if_in_loop(each, duration_text(each.longest_us)), True, True
    ),
)


def _if_in_loop(each: NodeSum, text: str) -> str:
    return text if each.row.rounds.numbers else ""


def _innermost(node: Placed) -> str:
    """Return the loop, cond or side of a cond that a node is in."""
    around = blocks_around(node)
    if not around:
        return ""
    block = around[-1]
    if block.kind in (LOOP, COND):
        return block_name(block)
    return f"{block_name(around[-2])}, {block_name(block)}"


def _round_cells(loop: str, total: RoundTotal) -> tuple[str, ...]:
    size = bytes_text(total.received_bytes) if total.received_bytes else ""
    took = duration_text(total.end_us - total.start_us)
    counts = (str(total.nodes), str(total.transfers), size)
    return loop, str(total.rounds), *counts, duration_text(total.start_us), took


def _order_by_start(row: NodeRow) -> tuple[Any, ...]:
    return row.name.startswith(FOLDED), row.start_us


def _order_by_depth(rows: Sequence[NodeRow]) -> Callable[[NodeRow], tuple[Any, ...]]:
    some, _ = omit_iterations(rows, MOST_ORDERED)  # the first rounds are enough to tell
    first: dict[Any, tuple[Any, ...]] = {}
    for row, depth in zip(some, depths(some), strict=True):
        key, found = _identity(row), (row.rounds.numbers, depth)
        first[key] = min(first.get(key, found), found)

    def order(row: NodeRow) -> tuple[Any, ...]:
        _, depth = first.get(_identity(row), ((), MOST_ORDERED))
        return row.name.startswith(FOLDED), depth, row.kind != TRANSFER, row.name

    return order


def _with_machinery_folded(
    sums: Iterable[NodeSum], machinery: Collection[tuple[str, str]]
) -> list[NodeSum]:
    """Return the sums, those of one device and loop as one where the user made none of them."""
    found: list[NodeSum] = []
    folded: dict[Any, list[NodeSum]] = {}
    for each in sums:
        if (each.row.name, each.row.op) in machinery:
            folded.setdefault((each.row.device, each.row.rounds.loops), []).append(each)
        else:
            found.append(each)
    return found + [_folded(members) for members in folded.values()]


def _folded(members: Sequence[NodeSum]) -> NodeSum:
    loops = members[0].row.rounds.loops
    name = f"{FOLDED} of {loops[-1]})" if loops else f"{FOLDED})"
    first = min((each.row for each in members), key=lambda row: row.start_us)
    return NodeSum(
        replace(first, name=name, op=f"{len(members)} node{'s' * (len(members) > 1)}"),
        sum(each.runs for each in members),
        0,
        sum(each.total_us for each in members),
        max(each.longest_us for each in members),
    )


def _identity(row: NodeRow) -> tuple[Any, ...]:
    return row.device, row.kind, row.name, row.edge


def _grouped(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    above = [("",), *rows]
    return [
        ("", *row[1:]) if row[0] == before[0] else row
        for before, row in zip(above, rows, strict=False)
    ]


def _left_out(count: int, most: int) -> str:
    return f"... and {count - most} more rows" if count > most else ""
