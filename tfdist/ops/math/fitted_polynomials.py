"""Polynomials, and quotients of two, that come near to a function: factors for loops over float32.

Found by least squares at Chebyshev's places.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__: list[str] = []

Factors = tuple[np.float32, ...]  # highest powers first


def _places(count: int) -> Any:
    """Return places from 0 to 1, more of them near the ends."""
    return (np.cos(math.pi * (np.arange(count) + 0.5) / count) + 1) / 2


def polynomial(function: Callable[[Any], Any], start: float, end: float, degree: int) -> Factors:
    """Return the factors of a polynomial that comes near to a function, relative to it."""
    places = start + (end - start) * _places(400)
    rows = np.vander(places, degree + 1) / function(places)[:, None]
    return tuple(np.linalg.lstsq(rows, np.ones(len(rows)), rcond=None)[0].astype(np.float32))


def quotient(function: Callable[[Any], Any], end: float, degree: int) -> tuple[Factors, Factors]:
    """Return two polynomials whose quotient comes near to a function from 0 to `end`.

    The denominator of one round weighs the next: Sanathanan and Koerner, 1963.
    """
    places = _places(400)
    values = function(end * places)[:, None]
    powers = np.vander(places, degree + 1, increasing=True)
    weights = np.ones_like(values)
    for _ in range(60):
        rows = np.hstack([powers, -values * powers[:, 1:]]) * weights / values
        found = np.linalg.lstsq(rows, weights[:, 0], rcond=None)[0]
        below = np.append(1.0, found[degree + 1 :])
        weights = 1 / (powers @ below)[:, None]
    scales = end ** -np.arange(degree + 1.0)
    both = [(each * scales)[::-1].astype(np.float32) for each in (found[: degree + 1], below)]
    return tuple(both[0]), tuple(both[1])


def horner(x: Any, factors: Sequence[Any]) -> Any:
    """Return the polynomial of an array with factors, that of the highest power first."""
    total = x * factors[0]
    total += factors[1]
    for factor in factors[2:]:
        total *= x
        total += factor
    return total
