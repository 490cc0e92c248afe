"""Tables as plain data, and their plain text: steps, devices, placements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfdist.plots.placement_data import Placed, by_device
from tfdist.tracing.rows import TRANSFER, NodeRow, depths, device_order, short_device, totals

MOST_ROWS = 200


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


def step_table(rows: Sequence[NodeRow], times: bool = True, most: int = MOST_ROWS) -> Table:
    """Return what ran where in a step.

    Args:
      rows: of one step.
      times: whether to say when; without, the order is the graph's and the same in every run.
      most: rows to show; the note says how many were left out.
    """
    ordered = _by_start(rows) if times else _by_depth(rows)
    header: tuple[str, ...] = ("device", "node", "op", "bytes", "from")
    cells = [_step_cells(row) for row in ordered[:most]]
    if times:
        header = (*header[:4], "start", "took", header[4])
        cells = [
            (*some[:4], duration_text(row.start_us), duration_text(row.duration_us), some[4])
            for some, row in zip(cells, ordered, strict=False)
        ]
    numeric = frozenset({3, 4, 5}) if times else frozenset({3})
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
    cells = [
        (short_device(n.device) or "nowhere", n.name, n.op, short_device(n.requested), n.reason)
        for n in ordered[:most]
    ]
    header = ("device", "node", "op", "asked for", "reason")
    return Table(header, tuple(cells), note=_left_out(len(ordered), most))


def duration_text(microseconds: float) -> str:
    """Return a duration in the unit that reads best: "0.4 µs", "12 µs", "1.3 ms", "2.5 s"."""
    if 0 < microseconds < 9.95:
        return f"{microseconds:.1f} µs"
    if microseconds < 999.5:
        return f"{microseconds:.0f} µs"
    if microseconds < 999_500:
        return f"{microseconds / 1e3:.3g} ms"
    return f"{microseconds / 1e6:.3g} s"


def bytes_text(count: int) -> str:
    """Return a size in the unit that reads best: "4 B", "1.5 MB"."""
    size, unit = next(
        ((size, unit) for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")) if count >= size),
        (1, "B"),
    )
    return f"{count / size:.3g} {unit}"


def _step_cells(row: NodeRow) -> tuple[str, ...]:
    size = bytes_text(row.bytes) if row.bytes else ""
    return short_device(row.device), row.name, row.op, size, short_device(row.source)


def _by_start(rows: Sequence[NodeRow]) -> list[NodeRow]:
    return sorted(rows, key=lambda row: (device_order(row.device), row.start_us))


def _by_depth(rows: Sequence[NodeRow]) -> list[NodeRow]:
    depth = depths(rows)

    def order(i: int) -> tuple[Any, ...]:
        row = rows[i]
        return device_order(row.device), depth[i], row.kind != TRANSFER, row.name

    return [rows[i] for i in sorted(range(len(rows)), key=order)]


def _grouped(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    above = [("",), *rows]
    return [
        ("", *row[1:]) if row[0] == before[0] else row
        for before, row in zip(above, rows, strict=False)
    ]


def _left_out(count: int, most: int) -> str:
    return f"... and {count - most} more rows" if count > most else ""
