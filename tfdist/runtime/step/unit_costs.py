"""What the units of programs took: measured in every step, for who wants to know."""

from __future__ import annotations

from typing import NamedTuple


class UnitCost(NamedTuple):
    """What a unit of a program took lately, in steps that were not traced.

    Attributes:
      nodes: of the unit, (name, op).
      nanos: nanoseconds, a moving average.
    """

    nodes: tuple[tuple[str, str], ...]
    nanos: int
