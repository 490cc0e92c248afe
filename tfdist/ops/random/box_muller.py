"""Normal numbers of pairs of uniform ones.

Functions of float32 are computed in double precision, as C libraries do; NumPy's are less exact.

Source: Box and Muller, A note on the generation of random normal deviates (1958).
"""

from __future__ import annotations

from math import factorial, pi
from typing import Any

import numpy as np

from tfdist.ops.framework.compiled_loops import Elementwise, one_pass

__all__: list[str] = []

_LEAST = 1e-7  # whose logarithm is taken
# A quarter of a turn in two parts, whose first one times 0 to 4 is exact.
_QUARTER = float(np.float32(pi / 2))
_REST = 6.123233995736766e-17 + (pi / 2 - _QUARTER)
_SINE = tuple((-1) ** k / factorial(2 * k + 1) for k in range(7, 0, -1))  # highest powers first
_COSINE = tuple((-1) ** k / factorial(2 * k) for k in range(7, 0, -1))


def normal_pairs(one: Any, two: Any) -> Any:
    """Return normal numbers [..., 2], of two arrays of uniform ones from [0, 1), of their type."""
    kind = one.dtype.type
    angle = (2 * pi * two.astype(np.float64)).astype(kind, copy=False)
    logarithm = np.log(np.maximum(one, kind(_LEAST)).astype(np.float64))
    length = np.sqrt(kind(-2) * logarithm.astype(kind, copy=False))
    made = np.empty((*angle.shape, 2), kind)
    for place, part in enumerate(_sine_and_cosine(angle)):
        np.multiply(part, length, out=made[..., place])
    return made


def _sine_and_cosine(angle: Any) -> tuple[Any, Any]:
    """Return both of angles from [0, 2 pi]."""
    if angle.dtype == np.float64:
        return np.sin(angle), np.cos(angle)
    wide = angle.astype(np.float64)
    sine, cosine = np.empty_like(wide), np.empty_like(wide)
    work = Elementwise(_turn, (), cost=25)
    (one_pass(work, 2, wide) or work)(sine, cosine, wide)
    return sine.astype(np.float32), cosine.astype(np.float32)


def _turn(sine: Any, cosine: Any, angle: Any) -> tuple[Any, Any]:
    """Return sine and cosine of double precision, exact to 1e-14 of themselves: Taylor's series."""
    quarters = np.floor(angle * (2 / pi) + 0.5)
    near = angle - quarters * _QUARTER
    near -= quarters * _REST
    square = near * near
    odd, even = square * _SINE[0], square * _COSINE[0]
    for i in range(1, 7):
        odd += _SINE[i]
        odd *= square
        even += _COSINE[i]
        even *= square
    odd *= near
    odd += near
    even += 1.0
    swapped = quarters - 2.0 * np.floor(quarters * 0.5)
    kept = 1.0 - swapped
    # 1 where the sine, where the cosine is negative
    down = np.floor(quarters * 0.5) - 2.0 * np.floor(quarters * 0.25)
    left = np.floor((quarters + 1.0) * 0.5) - 2.0 * np.floor((quarters + 1.0) * 0.25)
    return (
        (odd * kept + even * swapped) * (1.0 - 2.0 * down),
        (even * kept + odd * swapped) * (1.0 - 2.0 * left),
    )
