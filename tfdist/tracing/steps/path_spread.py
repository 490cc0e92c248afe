"""What the critical paths of many runs of a step were made of, and how two sets of runs differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tfdist.tracing.steps.critical_path import SEGMENT_KINDS, CriticalPath
from tfdist.tracing.steps.significance import Shift, shift
from tfdist.tracing.steps.spread import Spread, spread

STEP = "step"  # the whole of it, beside the kinds of segments


class PartShift(NamedTuple):
    """How a part of the step differs between two sets of runs; microseconds.

    Attributes:
      part: "step", or a kind of segments of the critical path.
      a: of the first set.
      b: of the second.
      shift: by how much the second is longer.
    """

    part: str
    a: Spread
    b: Spread
    shift: Shift


def part_spreads(paths: Sequence[CriticalPath]) -> dict[str, Spread]:
    """Return the spread of the step, then of each kind that a path has; microseconds.

    Args:
      paths: of each run, one or more.
    """
    return {part: spread(numbers) for part, numbers in part_times(paths).items() if any(numbers)}


def compared_paths(a: Sequence[CriticalPath], b: Sequence[CriticalPath]) -> list[PartShift]:
    """Return how the step differs between two sets of runs, then how each kind does.

    Args:
      a: paths of the runs of one set, one or more.
      b: of the other.
    """
    first, second = part_times(a), part_times(b)
    return [
        PartShift(part, spread(first[part]), spread(second[part]), shift(first[part], second[part]))
        for part in first
        if any(first[part]) or any(second[part])
    ]


def typical(paths: Sequence[CriticalPath]) -> int:
    """Return which run took the median of all: its position."""
    order = sorted(range(len(paths)), key=lambda i: paths[i].span_us)
    return order[(len(order) - 1) // 2]


def part_times(paths: Sequence[CriticalPath]) -> dict[str, list[float]]:
    """Return the microseconds of each part, one a run."""
    kinds = [path.by_kind() for path in paths]
    found = {STEP: [path.span_us for path in paths]}
    found.update({kind: [each.get(kind, 0.0) for each in kinds] for kind in SEGMENT_KINDS})
    return found
