"""Special functions of arrays, in float64: gamma and beta functions, zeta, Bessel functions.

NumPy has none of them. Each is a series or a continued fraction whose terms are added for all
elements at once, until the last one has what it needs; elements that are done are left in peace by
further terms, which are too small to matter.

Source: Abramowitz and Stegun 1964, the sections named below; Lentz 1976 for continued fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.ops.math.fitted_polynomials import horner

__all__: list[str] = []

_PRECISION = 4 * np.finfo(np.float64).eps
_TINY = 1e-300
_MOST_TERMS = 20_000  # for arguments in the millions; elements beyond are as exact as that is
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


# Below _FAR, a step up by 10 leads to where the series is exact. The sum or product of what lies
# between has a term for each pair x + k and x + 9 - k, whose product is x * (x + 9) + k * (9 - k).
_FAR = 10
_PAIRS = [k * (9 - k) for k in range(5)]

_each_log_gamma = np.frompyfunc(math.lgamma, 1, 1)


def log_gamma(x: Any) -> Any:
    """Return the logarithm of the gamma function of positive numbers."""
    return np.asarray(_each_log_gamma(x), np.float64)  # the library's own is quick enough


def in_parts(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what computes a function of any floats as doubles, in parts that the cache holds."""

    def computed(x: Any) -> Any:
        flat = x.reshape(-1)
        made = np.empty_like(flat)
        for start in range(0, len(flat), _AT_A_TIME):
            part = slice(start, start + _AT_A_TIME)
            made[part] = function(flat[part].astype(np.float64))
        return made.reshape(x.shape)

    return computed


def log_of_abs_gamma(x: Any) -> Any:
    """Return log |gamma(x)|, exact to 1e-14 or so: reflected (6.1.17), and its series (6.1.41)."""
    turned = np.where(x < 0, 1 - x, x)
    is_near = turned < _FAR
    far = np.where(is_near, turned + _FAR, turned)
    squares = far * far
    series = sum(
        bernoulli / ((2 * k + 2) * (2 * k + 1)) / squares**k
        for k, bernoulli in enumerate(_BERNOULLI[:5])
    )
    value = (far - 0.5) * np.log(far) - far + 0.5 * math.log(2 * math.pi) + series / far
    pairs = np.where(is_near, turned * (turned + 9), 0)
    product = math.prod(pairs + each for each in _PAIRS)
    value -= np.log(np.where(is_near, product, 1))
    if (x < 0).any():
        sines = np.abs(np.sin(math.pi * (x - np.rint(x))))
        value = np.where(x < 0, math.log(math.pi) - np.log(sines) - value, value)
    return np.where(np.isinf(x), np.inf, np.where((x == 1) | (x == 2), 0, value))


def digamma(x: Any) -> Any:
    """Return the derivative of log gamma: reflected (6.3.7), far from 0 its series (6.3.18)."""
    x = np.asarray(x, np.float64)
    is_pole = (x <= 0) & (x == np.floor(x))
    turned = np.where(x < 0, 1 - x, np.where(is_pole, 1.0, x))
    is_near = turned < _FAR
    far = np.where(is_near, turned + _FAR, turned)
    pairs = turned * (turned + 9)
    shift = np.where(is_near, (2 * turned + 9) * -sum(1 / (pairs + each) for each in _PAIRS), 0.0)
    squares = far * far
    series = sum(
        bernoulli / (2 * k + 2) / squares ** (k + 1) for k, bernoulli in enumerate(_BERNOULLI)
    )
    value = shift + np.log(far) - 0.5 / far - series
    if (x < 0).any():
        tangents = np.tan(math.pi * (x - np.rint(x)))
        value = np.where(x < 0, value - math.pi / tangents, value)
    return np.where(is_pole | np.isinf(x), np.inf, value)


# Source: Press et al., Numerical Recipes in C, 2nd edition 1992, section 6.2.
_ERFC = (
    0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418,
    0.37409196, 1.00002368, -1.26551223,
)  # fmt: skip


def complementary_erf(x: Any) -> Any:
    """Return 1 - erf(x), exact to 1.2e-7 of itself."""
    distance = np.abs(x)
    t = 1 / (1 + 0.5 * distance)
    value = t * np.exp(horner(t, _ERFC) - distance * distance)
    return np.where(x < 0, 2 - value, value)


def zeta(x: Any, q: Any) -> Any:
    """Return the sum of (q + k)**-x over all k: the far ones by Euler and Maclaurin (23.1.30).

    Infinite at its poles; NaN where x < 1, or q < 0 and x is not whole, or q is far below 0.
    """
    x, q = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(q, np.float64))
    below = np.maximum(0, np.ceil(-q))  # terms of a negative base
    total = np.zeros_like(q)
    is_near = below < _MOST_TERMS
    for k in range(int(below[is_near].max(initial=0))):
        total = np.where(k < below, total + (q + k) ** -x, total)
    start = q + below
    for k in range(12):
        total = total + (start + k) ** -x
    far = start + 12
    total = total + far ** (1 - x) / (x - 1) + far**-x / 2
    factor = x * far ** (-x - 1)
    for k, bernoulli in enumerate(_BERNOULLI, start=1):
        total = total + bernoulli / math.factorial(2 * k) * factor
        factor = factor * (x + 2 * k - 1) * (x + 2 * k) / (far * far)
    is_pole = (x == 1) | ((q <= 0) & (q == np.floor(q)))
    is_outside = (x < 1) | ~is_near | ((q < 0) & (x != np.floor(x)) & (q != np.floor(q)))
    return np.where(is_outside, np.nan, np.where(is_pole, np.inf, total))


def polygamma(order: Any, x: Any) -> Any:
    """Return the derivative of digamma of an order (6.4.10); NaN where it is not whole."""
    order, x = np.broadcast_arrays(np.asarray(order, np.float64), np.asarray(x, np.float64))
    is_whole = (order >= 0) & (order == np.floor(order))
    n = np.where(is_whole, order, 1.0)
    sign = np.where(n % 2 == 0, -1.0, 1.0)
    value = sign * np.exp(log_gamma(n + 1)) * zeta(n + 1, x)
    value = np.where(n == 0, digamma(x), value)
    return np.where(is_whole, value, np.nan)


def _gamma_factor(a: Any, x: Any) -> Any:
    """Return x**a * exp(-x) / gamma(a)."""
    return np.exp(a * np.log(x) - x - log_gamma(a))


def _gamma_series(a: Any, x: Any) -> Any:
    """Return the lower incomplete gamma function by its series (6.5.29)."""
    term = total = 1 / a
    for n in range(1, _MOST_TERMS):
        term = term * (x / (a + n))
        total = total + term
        if not np.any(term > _PRECISION * total):
            break
    return _gamma_factor(a, x) * total


def _gamma_slope(a: Any, x: Any) -> Any:
    """Return the derivative of the lower incomplete gamma function along a: that of its series."""
    term = total = 1 / a
    slope_of_term = slope = -term / a
    for n in range(1, _MOST_TERMS):
        slope_of_term = (slope_of_term - term / (a + n)) * x / (a + n)
        term = term * x / (a + n)
        total, slope = total + term, slope + slope_of_term
        if not np.any(np.abs(slope_of_term) > _PRECISION * np.abs(slope)):
            break
    return _gamma_factor(a, x) * (slope + (np.log(x) - digamma(a)) * total)


def _gamma_fraction(a: Any, x: Any) -> Any:
    """Return the upper incomplete gamma function by its continued fraction (6.5.31)."""
    b = x + 1 - a
    c = np.full_like(x, 1 / _TINY)
    d = 1 / np.where(b == 0, _TINY, b)
    value = d
    for n in range(1, _MOST_TERMS):
        numerator = -n * (n - a)
        b = b + 2
        d = 1 / _not_0(numerator * d + b)
        c = _not_0(b + numerator / c)
        change = d * c
        value = value * change
        if not np.any(np.abs(change - 1) > _PRECISION):
            break
    return _gamma_factor(a, x) * value


def _not_0(values: Any) -> Any:
    return np.where(np.abs(values) < _TINY, _TINY, values)


def _gamma_parts(a: Any, x: Any, upper: bool) -> Any:
    """Return the lower or upper part of the gamma function, from the quicker one."""
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    is_valid = (a > 0) & (x >= 0)
    inside = is_valid & (x > 0) & np.isfinite(x)
    by_fraction = inside & (x > a + 6)  # from where on the upper part is small
    by_series = inside & ~by_fraction
    all_below = (x <= 0) if upper else (x > 0)
    value = np.where(is_valid, np.where(all_below, 1.0, 0.0), np.nan)
    some = _gamma_series(a[by_series], x[by_series])
    value[by_series] = 1 - some if upper else some
    some = _gamma_fraction(a[by_fraction], x[by_fraction])
    value[by_fraction] = some if upper else 1 - some
    return value


def igamma(a: Any, x: Any) -> Any:
    """Return the lower regularised incomplete gamma function; NaN where a <= 0 or x < 0."""
    return _gamma_parts(a, x, upper=False)


def igammac(a: Any, x: Any) -> Any:
    """Return the upper regularised incomplete gamma function; NaN where a <= 0 or x < 0."""
    return _gamma_parts(a, x, upper=True)


def igamma_slope(a: Any, x: Any) -> Any:
    """Return the derivative of `igamma` along a; 0 where x is 0, or so great that igamma is 1."""
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    is_valid = (a > 0) & (x >= 0)
    inside = is_valid & (x > 0) & (x < a + 40 * np.sqrt(a) + 400)
    value = np.where(is_valid, 0.0, np.nan)
    value[inside] = _gamma_slope(a[inside], x[inside])
    return value


def betainc(a: Any, b: Any, x: Any) -> Any:
    """Return the regularised incomplete beta function (26.5.8); NaN outside of its range."""
    a, b, x = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (a, b, x)))
    is_valid = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
    inside = is_valid & (x > 0) & (x < 1)
    value = np.where(is_valid, np.where(x >= 1, 1.0, 0.0), np.nan)
    p, q, t = a[inside], b[inside], x[inside]
    turned = t > (p + 1) / (p + q + 2)
    p, q, t = np.where(turned, q, p), np.where(turned, p, q), np.where(turned, 1 - t, t)
    logarithm = p * np.log(t) + q * np.log1p(-t) + log_gamma(p + q) - log_gamma(p) - log_gamma(q)
    part = np.exp(logarithm) * _beta_fraction(p, q, t) / p
    value[inside] = np.where(turned, 1 - part, part)
    return value


def _beta_fraction(a: Any, b: Any, x: Any) -> Any:
    c = np.ones_like(x)
    d = 1 / _not_0(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for numerator in (even, odd):
            d = 1 / _not_0(1 + numerator * d)
            c = _not_0(1 + numerator / c)
            change = c * d
            value = value * change
        if not np.any(np.abs(change - 1) > _PRECISION):
            break
    return value


_NEAR = 30.0  # up to where the integral below needs no more than this many angles
_ANGLES = 24


def bessel_e(order: int, x: Any) -> Any:
    """Return exp(-|x|) times the modified Bessel function of order 0 or 1.

    Near 0 it is the mean of exp(|x| cos t) cos(order t) over all angles t (9.6.19), for which equal
    steps are exact; farther on, the asymptotic series (9.7.1).
    """
    x = np.asarray(x, np.float64)
    size = np.abs(x)
    near = np.minimum(size, _NEAR)
    mean = 0.5 * (1 + (1 - 2 * order) * np.exp(-2 * near))
    for k in range(1, _ANGLES):
        cosine = math.cos(math.pi * k / _ANGLES)
        mean = mean + (cosine if order else 1.0) * np.exp(near * (cosine - 1))
    far = np.maximum(size, _NEAR)
    total = term = np.ones_like(far)
    for k in range(1, 20):
        term = -term * (4 * order * order - (2 * k - 1) ** 2) / (8 * k * far)
        total = total + term
    value = np.where(size <= _NEAR, mean / _ANGLES, total / np.sqrt(2 * math.pi * far))
    return value * np.sign(x) if order else value


_AT_A_TIME = 1 << 14  # numbers: they stay in the cache
