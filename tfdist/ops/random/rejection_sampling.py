"""Numbers that are drawn again and again until one fits: gamma and Poisson distributions.

Each number has a stream of its own, from which uniform and normal numbers of double precision are
taken when they are needed, two of a block, the second one first. Many numbers are drawn at a time;
the fewer are left, the fewer are drawn again.

Sources: Marsaglia and Tsang, "A simple method for generating gamma variables" (2000); Hörmann,
"The transformed rejection method for generating Poisson random variables" (1993), algorithm PTRS.
Which numbers of a stream they take was found by experiments with TensorFlow 1.15.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.philox import Stream
from tfdist.ops.random import drawn_numbers
from tfdist.ops.random.random_sampling import reserved

__all__: list[str] = []

_EACH = 256  # blocks of a number's own stream
_AT_ONCE = 8192  # numbers
_FEW = 10  # a rate below it: waiting times are summed up

Draw = Callable[["_Sources", Any], Any]


def gammas(stream: Stream, alphas: Any, count: int) -> Any:
    """Return numbers of gamma distributions, float64 [count, alphas].

    Args:
      stream: where they come from.
      alphas: float64 [alphas].
      count: of numbers for each of `alphas`.
    """
    return _of_each(_gammas, stream, alphas, count)


def poissons(stream: Stream, rates: Any, count: int) -> Any:
    """Return numbers of Poisson distributions, float64 [count, rates]; see `gammas`."""
    return _of_each(_poissons, stream, rates, count)


def drawn_of_each(
    ctx: Any, draw: Callable[[Stream, Any, int], Any], size: tuple[int, ...], parameters: Any,
    seed: int, seed2: int,
) -> Any:  # fmt: skip
    """Return numbers for one run of a node, float64 [*size].

    Args:
      ctx: the kernel's.
      draw: `gammas` or `poissons`.
      size: of the result; it ends with the shape of `parameters`.
      parameters: of the distributions, an array.
      seed: the node's.
      seed2: the node's.
    """
    each = np.asarray(parameters, np.float64).reshape(-1)
    count = math.prod(size[: len(size) - np.ndim(parameters)])
    stream = reserved(ctx, seed, seed2, count * len(each) * _EACH)
    return draw(stream, each, count).reshape(size)


def _of_each(draw: Draw, stream: Stream, parameters: Any, count: int) -> Any:
    """Return what `draw` gives for each parameter `count` times; some are drawn at a time."""
    each = np.repeat(parameters, count)
    drawn = np.empty(len(each))
    with np.errstate(all="ignore"):  # parameters may be anything
        for begin in range(0, len(each), _AT_ONCE):
            part = each[begin : begin + _AT_ONCE]
            sources = _Sources(stream.skipped(begin * _EACH), len(part))
            drawn[begin : begin + len(part)] = draw(sources, part)
    return drawn.reshape(len(parameters), count).T


class _Pairs:
    """Random numbers for many takers, made in pairs.

    Args:
      make: a pair of each block.
      count: of takers.
    """

    def __init__(self, make: Callable[[Any], Any], count: int) -> None:
        self._make = make
        self._pairs = np.empty((count, 2))
        self._has_one = np.zeros(count, bool)  # of its pair left

    def taken(self, who: Any, blocks: Callable[[Any], Any]) -> Any:
        """Return the next number of each of `who`, for whom `blocks` gives blocks."""
        has_one = self._has_one[who]
        without = who[~has_one]
        if len(without):
            self._pairs[without] = self._make(blocks(without)).reshape(-1, 2)
        self._has_one[who] = ~has_one
        return self._pairs[who, np.where(has_one, 0, 1)]


def _uniform_pairs(blocks: Any) -> Any:
    pairs = blocks.reshape(-1, 2)
    return drawn_numbers.doubles(pairs[:, 0], pairs[:, 1])


def _normal_pairs(blocks: Any) -> Any:
    return drawn_numbers.normal_of_blocks(blocks, dtypes.float64)


class _Sources:
    """What each of many numbers draws from."""

    def __init__(self, stream: Stream, count: int) -> None:
        self._stream = stream
        self._next = np.arange(count, dtype=np.uint64) * np.uint64(_EACH)
        self._uniforms, self._normals = _Pairs(_uniform_pairs, count), _Pairs(_normal_pairs, count)

    def uniform(self, who: Any) -> Any:
        """Return for each of `who` a number from [0, 1)."""
        return self._uniforms.taken(who, self._blocks)

    def normal(self, who: Any) -> Any:
        """Return for each of `who` a number of the standard normal distribution."""
        return self._normals.taken(who, self._blocks)

    def _blocks(self, who: Any) -> Any:
        places = self._next[who]
        self._next[who] = places + np.uint64(1)
        return self._stream.blocks_at(places)


def _gammas(sources: _Sources, alphas: Any) -> Any:
    drawn = np.empty(len(alphas))
    is_exponential = alphas == 1
    alone = np.flatnonzero(is_exponential)
    drawn[alone] = -np.log1p(-sources.uniform(alone))
    is_small = alphas < 1  # then for alpha + 1, and made smaller
    d = alphas + np.where(is_small, 2 / 3, -1 / 3)
    left = np.flatnonzero(~is_exponential)
    while len(left):
        left = left[~_fitting(sources, left, d[left], drawn)]
    small = np.flatnonzero(is_small)
    drawn[small] *= sources.uniform(small) ** (1 / alphas[small])
    return drawn


def _fitting(sources: _Sources, who: Any, d: Any, drawn: Any) -> Any:
    """Draw a gamma number for each of `who`; returns which of them fit, those of no number too."""
    x = sources.normal(who)
    v = 1 + x / 3 / np.sqrt(d)
    fits = ~(v <= 0)
    who, x, v, d = who[fits], x[fits], v[fits] ** 3, d[fits]
    u = sources.uniform(who)
    fails = (u >= 1 - 0.0331 * x**4) & (np.log(u) >= x**2 / 2 + d * (1 - v + np.log(v)))
    drawn[who] = d * v
    fits[fits] = ~fails
    return fits


def _poissons(sources: _Sources, rates: Any) -> Any:
    drawn = np.full(len(rates), np.nan)  # for what is no rate
    few = np.flatnonzero(rates < _FEW)
    drawn[few] = _counted(sources, few, np.exp(-rates[few]))
    left = np.flatnonzero((rates >= _FEW) & np.isfinite(rates))
    while len(left):
        left = left[~_hit(sources, left, rates[left], drawn)]
    return drawn


def _counted(sources: _Sources, who: Any, ends: Any) -> Any:
    """Return how many uniform numbers have a product above `ends`."""
    counts, products, left = np.zeros(len(who)), np.ones(len(who)), np.arange(len(who))
    while len(left):
        products[left] *= sources.uniform(who[left])
        left = left[products[left] > ends[left]]
        counts[left] += 1
    return counts


def _hit(sources: _Sources, who: Any, rate: Any, drawn: Any) -> Any:
    """Draw a number for each of `who`, whose rates are not small; returns which of them fit."""
    b = 0.931 + 2.53 * np.sqrt(rate)
    a = -0.059 + 0.02483 * b
    u = sources.uniform(who) - 0.5
    v = sources.uniform(who)
    from_edge = 0.5 - np.abs(u)
    drawn[who] = k = np.floor((2 * a / from_edge + b) * u + rate + 0.43)
    fits = (from_edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
    is_in_doubt = ~fits & (k >= 0) & ((from_edge >= 0.013) | (v <= from_edge))
    a, b, v, k, rate, from_edge = (each[is_in_doubt] for each in (a, b, v, k, rate, from_edge))
    height = np.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / from_edge**2 + b))
    fits[is_in_doubt] = height <= k * np.log(rate) - rate - _log_factorials(k)
    return fits


def _log_factorials(numbers: Any) -> Any:
    return np.fromiter((math.lgamma(each + 1) for each in numbers.tolist()), float, len(numbers))
