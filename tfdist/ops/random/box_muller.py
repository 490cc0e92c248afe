"""Normal numbers of pairs of uniform ones.

Functions of float32 are computed in double precision, as C libraries do; NumPy's are less exact.

Source: Box and Muller, A note on the generation of random normal deviates (1958).
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, log, pi, sqrt
from typing import Any

import numpy as np

from tfdist.base.machine_code import Compiler, MachineCode

__all__: list[str] = []

_LEAST, _LEAST_SINGLE = 1e-7, np.float32(1e-7)  # whose logarithm is taken
# A quarter of a turn in two parts, whose first one times 0 to 4 is exact.
_QUARTER = float(np.float32(pi / 2))
_REST = 6.123233995736766e-17 + (pi / 2 - _QUARTER)
_SINE = tuple((-1) ** k / factorial(2 * k + 1) for k in range(7, 0, -1))  # highest powers first
_COSINE = tuple((-1) ** k / factorial(2 * k) for k in range(7, 0, -1))
# Of doubles: bits of the fraction, which they are, and what makes them numbers from 1/2 to 1.
_FRACTION, _MASK, _HALF = map(np.uint64, (52, (1 << 52) - 1, 1022 << 52))
_LOGARITHM = tuple(1 / (2 * k + 1) for k in range(10, 0, -1))
_LOG_2, _MIDDLE = log(2), sqrt(0.5)
_CALL, _PAIR = 100_000, 50  # nanoseconds that NumPy takes, and for each pair


def normal_pairs(uniform: Any) -> Any:
    """Return normal numbers of pairs of uniform ones from [0, 1), both [..., 2] and of one type."""
    made, kind = np.empty(uniform.shape, uniform.dtype), uniform.dtype.type
    if kind is np.float32:
        write = _CODE.instead_of(_CALL + _PAIR * (uniform.size // 2))
        if write is not None:
            write(made.reshape(-1), uniform.reshape(-1))
            return made
        pair = _pair_of(_log, _sine_and_cosine)
        made[..., 0], made[..., 1] = pair(uniform[..., 0], uniform[..., 1])
        return made
    angle = 2 * pi * uniform[..., 1]
    length = np.sqrt(-2 * np.log(np.maximum(uniform[..., 0], _LEAST)))
    made[..., 0], made[..., 1] = np.sin(angle) * length, np.cos(angle) * length
    return made


def _pair_of(log: Any, sine_and_cosine: Any) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Return what makes two normal numbers of two uniform ones, all float32."""

    def pair(one: Any, two: Any) -> tuple[Any, Any]:
        sine, cosine = sine_and_cosine(np.float64(np.float32(np.float64(two) * (2 * pi))))
        logarithm = np.float32(log(np.float64(np.maximum(one, _LEAST_SINGLE))))
        length = np.sqrt(np.float32(-2) * logarithm)
        return np.float32(sine) * length, np.float32(cosine) * length

    return pair


def _log(x: Any) -> Any:
    """Return the logarithm of doubles, exact to 1e-14 of itself.

    It is twice the series of the inverse hyperbolic tangent, Abramowitz and Stegun 1964, 4.1.27.
    """
    bits = np.float64(x).view(np.uint64)
    exponent = np.float64(np.int32(bits >> _FRACTION)) - 1022.0
    number = np.uint64((bits & _MASK) | _HALF).view(np.float64)
    is_low = np.float64(number < _MIDDLE)  # then it is doubled
    number = number + number * is_low
    near = (number - 1.0) / (number + 1.0)
    square = near * near
    series = square * _LOGARITHM[0]
    for i in range(1, 10):
        series += _LOGARITHM[i]
        series *= square
    return (near + near * series) * 2.0 + (exponent - is_low) * _LOG_2


def _sine_and_cosine(angle: Any) -> tuple[Any, Any]:
    """Return both of doubles from [0, 2 pi], exact to 1e-14 of themselves: Taylor's series."""
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


def _compiled(compiler: Compiler) -> Any:
    functions: Any = _log, _sine_and_cosine
    pair = compiler.function(_pair_of(*map(compiler.function, functions)), inlined=True)

    def write(made: Any, uniform: Any) -> None:
        for i in range(made.size // 2):  # of arrays of two axes compilers make no vectors
            made[2 * i], made[2 * i + 1] = pair(uniform[2 * i], uniform[2 * i + 1])

    return compiler.procedure(write, compiler.written(np.float32), compiler.read(np.float32))


_CODE = MachineCode(_compiled)
