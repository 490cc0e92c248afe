"""How many lanes the devices of a timeline are drawn with, when there is not room for all."""

from __future__ import annotations

from collections.abc import Sequence

MOST_DRAWN = 48  # lanes of a picture as high as a screen


def shared(needed: Sequence[Sequence[int]], most: int = MOST_DRAWN) -> list[list[int]]:
    """Return how many lanes each part of each device gets: all it needs, as far as there is room.

    A part that needs lanes has one at least. What does not need its share leaves it to others.

    Args:
      needed: lanes of the parts (rounds, transfers, nodes) of each device.
      most: lanes of all together, if every part can have one.
    """
    wholes = _parted([max(sum(parts), 1) for parts in needed], most)
    return [_parted(parts, whole) for parts, whole in zip(needed, wholes, strict=True)]


def _parted(wanted: Sequence[int], most: int) -> list[int]:
    """Return shares of `most`: the smallest wishes are granted first."""
    found = list(wanted)
    left, count = most, len(wanted)
    for i in sorted(range(len(wanted)), key=lambda i: (wanted[i], i)):
        found[i] = min(wanted[i], max(left // count, 1))
        left, count = left - found[i], count - 1
    return found
