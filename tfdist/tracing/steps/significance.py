"""Whether two sets of runs differ: by how much, and how sure that is.

The shift is the median of the differences between each run of one set and each of the other. Its
interval holds the shifts that a rank test would not reject, so nothing is assumed of how runs are
distributed: a few that something held up count as large, whatever their size.

Source: J. L. Hodges and E. L. Lehmann, "Estimates of location based on rank tests" (1963); the test
is H. B. Mann's and D. R. Whitney's (1947).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf, sqrt
from statistics import NormalDist, median
from typing import NamedTuple

LEVEL = 0.95
MOST = 400  # runs of a set: of more, so many are taken, evenly


class Shift(NamedTuple):
    """How much larger the numbers of a second set are.

    Attributes:
      median: of the differences; negative if they are smaller.
      low: the least shift that the runs do not exclude; -inf if they are too few to tell.
      high: the greatest one; inf if they are too few.
    """

    median: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        """Return whether no shift at all is excluded."""
        return self.low > 0 or self.high < 0


def shift(a: Sequence[float], b: Sequence[float], level: float = LEVEL) -> Shift:
    """Return how much larger the numbers of `b` are than those of `a`.

    Args:
      a: one number a run.
      b: one number a run; as many or not.
      level: how sure the interval is to be.

    Raises:
      ValueError: one of them is empty.

    Example:
      >>> shift([10, 11, 12, 13, 14], [20, 21, 22, 23, 24])
      Shift(median=10, low=7, high=13)
    """
    if not a or not b:
        raise ValueError("each set has one run at least")
    a, b = _thinned(a), _thinned(b)
    differences = sorted(y - x for x in a for y in b)
    count, z = len(differences), NormalDist().inv_cdf((1 + level) / 2)
    outside = floor(count / 2 - z * sqrt(count * (len(a) + len(b) + 1) / 12))
    if outside < 1:
        return Shift(median(differences), -inf, inf)
    return Shift(median(differences), differences[outside - 1], differences[count - outside])


def _thinned(numbers: Sequence[float]) -> list[float]:
    """Return some hundred of the numbers, every second or third one."""
    return list(numbers)[:: -(-len(numbers) // MOST)]
