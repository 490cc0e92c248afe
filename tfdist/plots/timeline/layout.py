"""Where the bars of a timeline stand: plain data, computed without drawing anything.

Most nodes take a few microseconds of a step of many hundred: their bars are slivers, and names
would not fit into them. In a step of few nodes a bar keeps room for its name (inside when it is
long enough, else beside it), and lanes are given out so that neither bars nor names meet. A step of
many nodes is packed: bars have lanes of their own only where they really overlap, and a name where
there happens to be room. However much overlaps, a picture has no more than `MOST_DRAWN` lanes
(`lanes.py`): it stays as high as a screen.

Above the bars of a device stand its rounds of loops. The nodes that make a loop go round have bars
without names. Of a long loop the first and the last rounds are drawn (`shared.time_axis_breaks`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tfdist.plots.shared.machinery import machinery_of
from tfdist.plots.shared.short_names import MOST_CHARACTERS, shorten
from tfdist.plots.shared.time_axis_breaks import MOST_BARS, Cut, excerpt
from tfdist.plots.timeline.lanes import shared
from tfdist.tracing.steps.entries import fed_tensor
from tfdist.tracing.steps.lanes import free_lanes
from tfdist.tracing.steps.loop_iterations import OUTSIDE, Rounds, around
from tfdist.tracing.steps.makers import makers
from tfdist.tracing.steps.node_row import TRANSFER, NodeRow, devices

MOST_LANES = 20  # of the roomy layout
MOST_ROOMY = 120  # rows; a step of more is packed at once
FEW_CHARACTERS = 16  # where there is no room for more
MOST_NAMES = 240  # beside the bars of a step that is packed: the longest keep theirs
CHARACTER = 0.0095  # width of one, as a share of the time axis
SLIVER = 0.004  # least width of a bar, as a share of the time axis

Side = Literal["inside", "right", "left", "none"]


@dataclass(frozen=True, slots=True)
class Bar:
    """One row's place.

    Attributes:
      row: what is drawn.
      lane: its line, counted from the top of the picture.
      start: left end, microseconds since the step's first start.
      width: microseconds, or more if the bar would not be seen.
      label: the name, shortened if it is long.
      side: where the name stands.
      waited: microseconds before the start in which what is received was waited for.
      is_quiet: whether it only makes loops and branches go.
      inner: number of its lane among those of its device, if all of them are drawn.
    """

    row: NodeRow
    lane: int
    start: float
    width: float
    label: str
    side: Side
    waited: float = 0.0
    is_quiet: bool = False
    inner: int = 0

    @property
    def end(self) -> float:
        """Return its right end."""
        return self.start + self.width

    @property
    def held(self) -> float:
        """Return the microseconds at its end in which a tensor had come and was not taken."""
        return min(self.row.end_us - self.row.arrived_us, self.width)


@dataclass(frozen=True, slots=True)
class Band:
    """The lanes of one device.

    Attributes:
      device: whose they are.
      first: number of the first, from the top.
      count: how many are drawn.
      needed: how many it needs for nothing to lie over each other.
    """

    device: str
    first: int
    count: int
    needed: int


@dataclass(frozen=True, slots=True)
class RoundBar:
    """The time of one round of a loop on one device.

    Attributes:
      rounds: which it is.
      lane: its line, above the bars of the device.
      start: left end.
      end: right end.
      label: as much as there is room for, the number at least.
    """

    rounds: Rounds
    lane: int
    start: float
    end: float
    label: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """A transfer, from (microseconds, lane) at the sender to the same at the receiver."""

    start: tuple[float, int]
    end: tuple[float, int]


@dataclass(frozen=True, slots=True)
class TimelineLayout:
    """Everything a picture of a step shows.

    Attributes:
      bars: in the rows' order.
      bands: one per device, from the top.
      arrows: from what was sent to what was received.
      span_us: microseconds from the first start to the last end, as far as they are drawn.
      rounds: those of loops.
      cuts: where time is left out.
      notes: a sentence on each loop of which rounds are left out.
    """

    bars: tuple[Bar, ...]
    bands: tuple[Band, ...]
    arrows: tuple[Arrow, ...]
    span_us: float
    rounds: tuple[RoundBar, ...] = ()
    cuts: tuple[Cut, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def lanes(self) -> int:
        """Return how many lanes there are."""
        return sum(band.count for band in self.bands)

    @property
    def still_notes(self) -> tuple[str, ...]:
        """Return the notes of a picture, in which no device can be opened."""
        hidden, count = sum(band.needed > band.count for band in self.bands), len(self.bands)
        if not hidden:
            return self.notes
        where = "of a device" if count == 1 else f"of {hidden} of {count} devices"
        told = f"more runs at once than there is room for: the lowest lanes {where}"
        return (*self.notes, f"{told} lie over each other")


def layout_timeline(
    rows: Sequence[NodeRow], least_span: float = 0.0, most_bars: int = MOST_BARS
) -> TimelineLayout:
    """Return the layout of a step's rows.

    Args:
      rows: of the step.
      least_span: microseconds that the time axis has at least: beside another step's.
      most_bars: of a step with loops; beyond, rounds in their middle are left out.
    """
    shown = excerpt(rows, most_bars)
    span = max(max((row.end_us for row in shown.rows), default=0.0), least_span) or 1.0
    machinery = machinery_of(shown.rows)
    drawn = [(row, (row.name, row.op) in machinery) for row in shown.rows]
    bars, bands, rounds = _roomy_or_packed(drawn, span)
    return TimelineLayout(
        tuple(bars), tuple(bands), tuple(_arrows(bars)), span,
        tuple(rounds), shown.cuts, tuple(shown.notes()),
    )  # fmt: skip


def _roomy_or_packed(
    drawn: Sequence[tuple[NodeRow, bool]], span: float
) -> tuple[list[Bar], list[Band], list[RoundBar]]:
    """Return bars with lanes and names: room for every name if that does not grow too tall."""
    if len(drawn) <= MOST_ROOMY:
        found = _stack([_roomy(row, span, quiet) for row, quiet in drawn], span)
        if sum(band.count for band in found[1]) <= MOST_LANES:
            return found
    bars, bands, rounds = _stack([_packed(row, span, quiet) for row, quiet in drawn], span)
    return _named_where_room(_widened(bars, span), span), bands, rounds


def _label(row: NodeRow) -> str:
    fed = fed_tensor(row.name) if row.kind == TRANSFER else ""
    return f"{fed} (fed)" if fed else row.name


def _room(label: str, span: float) -> float:
    """Return the microseconds that a name beside a bar takes."""
    return (len(label) + 1.5) * CHARACTER * span


def _roomy(row: NodeRow, span: float, is_quiet: bool) -> tuple[Bar, float, float]:
    """Return a bar (lane still open) and the interval that it and its name take."""
    label = "" if is_quiet else shorten(_label(row))
    width = max(row.duration_us, SLIVER * span)
    bar = Bar(row, 0, row.start_us, width, label, "inside", row.waited_us, is_quiet)
    asked, room = bar.start - bar.waited, _room(label, span)
    if not label:
        return replace(bar, side="none"), asked, bar.end
    if room <= width:
        return bar, asked, bar.end
    if bar.end + room <= span:
        return replace(bar, side="right"), asked, bar.end + room
    return replace(bar, side="left"), min(asked, bar.start - room), bar.end


def _packed(row: NodeRow, span: float, is_quiet: bool) -> tuple[Bar, float, float]:
    """Return a bar and its interval: just when it ran, and what it waited for is not shown."""
    label = "" if is_quiet else _label(row)
    bar = Bar(row, 0, row.start_us, row.duration_us, label, "none", is_quiet=is_quiet)
    return bar, bar.start, bar.end


def _in_lanes(bars: Sequence[Bar]) -> list[list[int]]:
    """Return the positions of the bars of each lane, in the order of their starts."""
    lanes: dict[int, list[int]] = {}
    for i in sorted(range(len(bars)), key=lambda i: (bars[i].start, bars[i].end)):
        lanes.setdefault(bars[i].lane, []).append(i)
    return list(lanes.values())


def _widened(bars: Sequence[Bar], span: float) -> list[Bar]:
    """Return the bars, slivers as wide as one can see if the next bar leaves that room."""
    found = list(bars)
    for members in _in_lanes(bars):
        for i, following in zip(members, [*members[1:], None], strict=True):
            room = (span if following is None else bars[following].start) - bars[i].start
            width = max(bars[i].width, min(SLIVER * span, room))
            if width > bars[i].width:
                found[i] = replace(bars[i], width=width)
    return found


def _named_where_room(bars: Sequence[Bar], span: float) -> list[Bar]:
    """Return the bars, with their names in or beside them where nothing else is in the way."""
    named = list(bars)
    for members in _in_lanes(bars):
        free_from = 0.0
        for i, following in zip(members, [*members[1:], None], strict=True):
            free_to = span if following is None else bars[following].start
            named[i], free_from = _named(bars[i], free_from, free_to, span)
    there = [i for i, bar in enumerate(named) if bar.side != "none"]
    for i in sorted(there, key=lambda i: -named[i].row.duration_us)[MOST_NAMES:]:
        named[i] = replace(named[i], side="none")
    return named


def _named(bar: Bar, free_from: float, free_to: float, span: float) -> tuple[Bar, float]:
    """Return a bar with its name if there is room, and where room begins behind it."""
    end = max(bar.end, free_from)
    if not bar.label or bar.start < free_from or bar.end > free_to:  # others lie over it
        return bar, end
    for most in (MOST_CHARACTERS, FEW_CHARACTERS):
        label = shorten(bar.label, most)
        room = _room(label, span)
        if room <= bar.width:
            return replace(bar, label=label, side="inside"), end
        if bar.end + room <= free_to:
            return replace(bar, label=label, side="right"), bar.end + room
        if bar.start - room >= free_from:
            return replace(bar, label=label, side="left"), end
    return bar, end


def _stack(
    placed: Sequence[tuple[Bar, float, float]], span: float
) -> tuple[list[Bar], list[Band], list[RoundBar]]:
    """Return bars with their lanes, device under device: rounds, transfers, nodes."""
    of_device: dict[str, list[int]] = {
        device: [] for device in devices(bar.row for bar, _, _ in placed)
    }
    for i, (bar, _, _) in enumerate(placed):
        of_device[bar.row.device].append(i)
    rounds = {d: _round_bars([placed[i][0] for i in found], span) for d, found in of_device.items()}
    lanes = {device: _device_lanes(found, placed) for device, found in of_device.items()}
    needed = [
        [max((bar.lane + 1 for bar in rounds[device]), default=0), *map(_count, lanes[device])]
        for device in of_device
    ]
    bars: dict[int, Bar] = {}
    bands: list[Band] = []
    round_bars: list[RoundBar] = []
    top = 0
    for (device, both), parts, shown in zip(lanes.items(), needed, shared(needed), strict=True):
        round_bars += [replace(b, lane=top + min(b.lane, shown[0] - 1)) for b in rounds[device]]
        first, inner = top + shown[0], parts[0]
        for part, most, count in zip(both, shown[1:], parts[1:], strict=True):
            for i, lane in part.items():
                at = first + min(lane, most - 1)
                bars[i] = replace(placed[i][0], lane=at, inner=inner + lane)
            first, inner = first + most, inner + count
        height = max(sum(shown), 1)  # a device that only sent has an empty lane
        bands.append(Band(device, top, height, max(sum(parts), 1)))
        top += height
    return [bars[i] for i in range(len(placed))], bands, round_bars


def _count(lanes: Mapping[int, int]) -> int:
    return max(lanes.values(), default=-1) + 1


def _device_lanes(
    members: Sequence[int], placed: Sequence[tuple[Bar, float, float]]
) -> list[dict[int, int]]:
    """Return the lane of each bar of a device: of the transfers, then of the nodes."""
    found = []
    for transfers in (True, False):
        part = [i for i in members if (placed[i][0].row.kind == TRANSFER) is transfers]
        part.sort(key=lambda i: placed[i][1:])
        found.append(dict(zip(part, free_lanes(placed[i][1:] for i in part), strict=True)))
    return found


def _round_bars(bars: Sequence[Bar], span: float) -> list[RoundBar]:
    """Return the rounds of one device, outer loops above those inside, lanes from 0.

    A round lasts as long as what the user made runs: what makes it go round is early.
    """
    spans: dict[Rounds, tuple[float, float]] = {}
    for bar in bars:
        for rounds in around(OUTSIDE if bar.is_quiet else bar.row.rounds):
            start, end = spans.get(rounds, (bar.start, bar.end))
            spans[rounds] = min(start, bar.start), max(end, bar.end)
    found = []
    top = 0
    for depth in sorted({len(rounds.numbers) for rounds in spans}):
        members = sorted((s for s in spans.items() if len(s[0].numbers) == depth), key=_by_time)
        lanes = free_lanes(_with_number(rounds, *at, span) for rounds, at in members)
        for (rounds, (start, end)), lane in zip(members, lanes, strict=True):
            label = _round_label(rounds, end - start, span)
            found.append(RoundBar(rounds, top + lane, start, end, label))
        top += max(lanes) + 1
    return found


def _with_number(rounds: Rounds, start: float, end: float, span: float) -> tuple[float, float]:
    """Return the interval that a round takes with its number, which may be wider than itself."""
    beyond = max(_room(str(rounds), span) - (end - start), 0.0) / 2
    return start - beyond, end + beyond


def _by_time(member: tuple[Rounds, tuple[float, float]]) -> tuple[float, float]:
    return member[1]


def _round_label(rounds: Rounds, width: float, span: float) -> str:
    labels = (f"round {rounds} of {rounds.loops[-1]}", f"round {rounds}")
    return next((label for label in labels if _room(label, span) <= width), str(rounds))


def _arrows(bars: Sequence[Bar]) -> list[Arrow]:
    made_by = makers([bar.row for bar in bars])
    return [
        Arrow((bars[i].row.end_us, bars[i].lane), (bar.row.arrived_us, bar.lane))
        for bar, each in zip(bars, made_by, strict=True)
        if bar.row.kind == TRANSFER
        for i in each
    ]
