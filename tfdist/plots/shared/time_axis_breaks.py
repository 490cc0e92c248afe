"""Time that is cut out of a picture: that of a long loop's middle rounds, which are left out.

What is kept of a step is drawn on an axis of its own, on which the gaps are narrow.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tfdist.tracing.steps.loop_excerpt import OmittedIterations, omit_iterations
from tfdist.tracing.steps.node_row import NodeRow

MOST_BARS = 240  # of a picture of a step with loops
LEAST = 0.25  # of a gap that is cut out, as a share of the time axis with it
WIDTH = 0.05  # of what stands for it, as a share of the time axis


@dataclass(frozen=True, slots=True)
class Cut:
    """A gap in the time axis.

    Attributes:
      start: where it begins on the axis, in microseconds as all places there.
      width: of the gap.
      start_us: what time it is there.
      duration_us: how much time is cut out.
    """

    start: float
    width: float
    start_us: float
    duration_us: float

    @property
    def end(self) -> float:
        """Return where it ends on the axis."""
        return self.start + self.width


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is drawn of a step.

    Attributes:
      rows: with times as places on the axis.
      cuts: from left to right.
      left_out: what is not drawn.
    """

    rows: tuple[NodeRow, ...]
    cuts: tuple[Cut, ...] = ()
    left_out: tuple[OmittedIterations, ...] = ()

    def notes(self) -> list[str]:
        """Return a sentence for each loop of which rounds are left out."""
        by_loop: dict[tuple[str, ...], list[OmittedIterations]] = {}
        for each in self.left_out:
            by_loop.setdefault(each.loops, []).append(each)
        return [_note(members) for members in by_loop.values()]


def excerpt(rows: Sequence[NodeRow], most: int) -> Excerpt:
    """Return the first and last rounds of a step's loops, if it has more than `most` rows."""
    kept, left_out = omit_iterations(rows, most)
    if not left_out:
        return Excerpt(tuple(rows))
    drawn = set(map(id, kept))
    cuts = _cuts(kept, sorted(row.start_us for row in rows if id(row) not in drawn))
    place = _Axis(cuts)
    moved = tuple(
        replace(
            row,
            start_us=place(row.start_us),
            duration_us=place(row.end_us) - place(row.start_us),
            waited_us=place(row.start_us) - place(row.start_us - row.waited_us),
        )
        for row in kept
    )
    return Excerpt(moved, tuple(cuts), tuple(left_out))


class _Axis:
    """Returns the place of a time on the axis."""

    def __init__(self, cuts: Sequence[Cut]) -> None:
        self._cuts = cuts
        self._starts = [cut.start_us for cut in cuts]

    def __call__(self, time: float) -> float:
        i = bisect_right(self._starts, time) - 1
        if i < 0:
            return time
        cut = self._cuts[i]
        inside = min(time - cut.start_us, cut.duration_us)
        behind = time - cut.start_us - inside
        return cut.start + cut.width * inside / cut.duration_us + behind


def _cuts(kept: Iterable[NodeRow], left_out: Sequence[float]) -> list[Cut]:
    """Return the gaps in which only what is left out ran; it started at those times, in order."""
    busy = _merged([(row.start_us, row.end_us) for row in kept])
    gaps = [
        (start, end)
        for (_, start), (end, _) in pairwise(busy)
        if bisect_left(left_out, start) < bisect_right(left_out, end)
    ]
    span = busy[-1][1] - busy[0][0]
    found: list[tuple[float, float]] = []
    for start, end in sorted(gaps, key=lambda gap: gap[0] - gap[1]):
        if end - start < LEAST * span:  # it does not disturb
            break
        found.append((start, end))
        span -= end - start
    width = WIDTH * span / (1 - WIDTH * len(found))
    return _placed(sorted(found), width)


def _placed(gaps: Iterable[tuple[float, float]], width: float) -> list[Cut]:
    cuts: list[Cut] = []
    saved = 0.0
    for start, end in gaps:
        cuts.append(Cut(start - saved, width, start, end - start))
        saved += end - start - width
    return cuts


def _merged(intervals: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def _note(members: Sequence[OmittedIterations]) -> str:
    first = members[0]
    if len(members) == 1:
        return str(first)
    count = sum(each.rounds for each in members)
    return f"{count:,} rounds of {first.loops[-1]} left out, in {len(members)} runs of it"
