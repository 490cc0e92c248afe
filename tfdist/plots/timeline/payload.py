"""A timeline as plain data, for a browser that zooms into it and tells of each bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import ink_on
from tfdist.plots.text import step_notes
from tfdist.plots.timeline.layout import Bar, TimelineLayout, layout_timeline
from tfdist.tracing.steps.device_activity import spoken_device
from tfdist.tracing.steps.makers import makers
from tfdist.tracing.steps.node_row import COMPUTE, QUEUE, TRANSFER, NodeRow, devices

KINDS = (COMPUTE, QUEUE, TRANSFER)
MOST_EVENTS = 20_000  # beyond, the middle rounds of loops are left out


def timeline_payload(
    rows: Sequence[NodeRow], made_at: Mapping[str, str] | None = None
) -> dict[str, object]:
    """Return what a browser needs to draw a step and to tell of it.

    Bars are columns of numbers, in microseconds on the axis; names, ops and devices are positions
    in lists. `makers` are positions of bars.

    Args:
      rows: of one step.
      made_at: the line of the program that made a node, by its name.
    """
    layout = layout_timeline(rows, most_bars=MOST_EVENTS)
    names = [band.device for band in layout.bands]
    colours = device_colours(devices(rows))
    lines = made_at or {}
    ops, titles = _List(), _List()
    found: dict[str, object] = {
        "span": layout.span_us,
        "devices": [
            {
                "name": spoken_device(band.device), "count": band.count,
                "needed": band.needed, "colour": colours[band.device],
                "ink": ink_on(colours[band.device]),
            }
            for band in layout.bands
        ],
        "bars": _bars(layout, names, ops, titles),
        "cuts": [[cut.start, cut.width, cut.duration_us] for cut in layout.cuts],
        "notes": [*layout.notes, *step_notes(rows)],
    }  # fmt: skip
    made = [lines.get(name, "") for name in titles.items]
    return {**found, "ops": ops.items, "names": titles.items, "made": made}


class _List:
    """Texts, each once."""

    def __init__(self) -> None:
        self.items: list[str] = []
        self._place: dict[str, int] = {}

    def place(self, text: str) -> int:
        """Return the position of a text, which is added if it is new."""
        if text not in self._place:
            self._place[text] = len(self.items)
            self.items.append(text)
        return self._place[text]


def _bars(
    layout: TimelineLayout, names: Sequence[str], ops: _List, titles: _List
) -> dict[str, list[object]]:
    first = {band.device: band.first for band in layout.bands}
    device = {name: i for i, name in enumerate(names)}
    columns: dict[str, Callable[[Bar], object]] = {
        "start": lambda bar: _fine(bar.row.start_us),
        "end": lambda bar: _fine(bar.row.end_us),
        "lane": lambda bar: bar.lane - first[bar.row.device],
        "inner": lambda bar: bar.inner,
        "device": lambda bar: device[bar.row.device],
        "source": lambda bar: device.get(bar.row.source, -1),
        "kind": lambda bar: KINDS.index(bar.row.kind),
        "name": lambda bar: titles.place(bar.row.name),
        "op": lambda bar: ops.place(bar.row.op),
        "bytes": lambda bar: bar.row.bytes,
        "waited": lambda bar: _fine(bar.row.waited_us),
        "held": lambda bar: _fine(bar.held),
        "quiet": lambda bar: int(bar.is_quiet),
        "round": lambda bar: str(bar.row.rounds) if bar.row.rounds.numbers else "",
        "disturbed": lambda bar: bar.row.disturbed,
    }
    found = {name: [cell(bar) for bar in layout.bars] for name, cell in columns.items()}
    return {**found, "makers": list(map(list, makers([bar.row for bar in layout.bars])))}


def _fine(number: float) -> float:
    return round(number, 3)
