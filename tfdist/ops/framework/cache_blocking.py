"""Large arrays of one shape, part by part: what is held for a moment stays in the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PART = 262_144  # elements that are worked on at a time: smaller parts cost more calls


Share = Callable[[Callable[[int, int], None], int], None]


def alone(work: Callable[[int, int], None], size: int) -> None:
    """Call `work(start, end)` for all of `size` elements at once, on this thread."""
    work(0, size)


def in_parts(work: Callable[[list[Any]], object], *arrays: Any, share: Share = alone) -> None:
    """Call `work` with the parts of each array, flat, for all arrays at once.

    To write to parts is to write to the arrays that are contiguous.

    Args:
      work: takes a part of each array.
      arrays: of one shape.
      share: as `alone`, perhaps on several threads: that of a variable.
    """
    flat = [each.reshape(-1) for each in arrays]

    def work_on(start: int, end: int) -> None:
        for at in range(start, end, PART):
            work([each[at : min(at + PART, end)] for each in flat])

    share(work_on, flat[0].size)
