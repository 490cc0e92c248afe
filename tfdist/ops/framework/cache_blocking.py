"""Large arrays of one shape, part by part: what is held for a moment stays in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

PART = 262_144  # elements that are worked on at a time: smaller parts cost more calls


def in_parts(*arrays: Any) -> Iterator[Any]:
    """Yield the parts of each array, flat, for all arrays at once.

    To write to parts is to write to the arrays that are contiguous.
    """
    flat = [each.reshape(-1) for each in arrays]
    for start in range(0, flat[0].size, PART):
        yield [each[start : start + PART] for each in flat]
