"""What random ops draw: TensorFlow's numbers where they have seeds, any numbers where they do not.

Without seeds nobody can tell which numbers they are, and NumPy's generators are the fastest.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes, philox, shapes
from tfdist.base.dtypes import DType
from tfdist.base.philox import Stream
from tfdist.base.room import check_room
from tfdist.base.shuffling import exchange
from tfdist.errors import InvalidArgumentError
from tfdist.ops.random import drawn_numbers

__all__: list[str] = []

_EACH = 256  # blocks that a run reserves for each of its numbers
# NumPy draws these itself; the others are converted from float32
_NATIVE = {dtypes.float32, dtypes.float64}


class Distribution(NamedTuple):
    """A standard distribution of floats.

    Attributes:
      exact: draws from a stream; takes that, how many numbers, and their type.
      quick: draws by a generator of NumPy; takes that, a shape and a type.
    """

    exact: Callable[[Stream, int, DType], Any]
    quick: Callable[[Any, Any, DType], Any]


def _drawn(method: Any, shape: Any, dtype: DType) -> Any:
    drawn_type = dtype.as_numpy_dtype if dtype in _NATIVE else np.float32
    drawn = method(shapes.from_sizes(shape), drawn_type)
    return drawn if dtype in _NATIVE else np.asarray(drawn).astype(dtype.as_numpy_dtype)


def _quick_uniform(rng: Any, shape: Any, dtype: DType) -> Any:
    drawn = _drawn(rng.random, shape, dtype)
    if dtype not in _NATIVE:  # rounding may reach 1, which is not in [0, 1)
        drawn = np.where(drawn == 1, drawn.dtype.type(0), drawn)
    return drawn


def _quick_normal(rng: Any, shape: Any, dtype: DType) -> Any:
    return _drawn(rng.standard_normal, shape, dtype)


def _quick_truncated(rng: Any, shape: Any, dtype: DType) -> Any:
    return _drawn(lambda size, numpy_type: _truncated(rng, size, numpy_type), shape, dtype)


def _truncated(rng: Any, size: tuple[int, ...], numpy_type: Any) -> Any:
    """Return normal numbers, each drawn again until it lies within 2 of the mean."""
    drawn = np.atleast_1d(rng.standard_normal(size, numpy_type))
    while (far := np.abs(drawn) > 2).any():
        drawn[far] = rng.standard_normal(int(far.sum()), numpy_type)
    return drawn.reshape(size)


UNIFORM = Distribution(drawn_numbers.uniform, _quick_uniform)  # [0, 1)
NORMAL = Distribution(drawn_numbers.normal, _quick_normal)
TRUNCATED = Distribution(drawn_numbers.truncated, _quick_truncated)  # within 2 of the mean


def floats(
    ctx: Any, distribution: Distribution, shape: Any, seed: int, seed2: int, dtype: DType
) -> Any:
    """Return numbers for one run of a node, in an array of that shape."""
    size = shapes.from_sizes(shape)
    check_room(size, dtype.as_numpy_dtype)
    if not (seed or seed2):
        return distribution.quick(ctx.rng(seed, seed2), shape, dtype)
    stream = reserved(ctx, seed, seed2, prod(size) * _EACH)
    return distribution.exact(stream, prod(size), dtype).reshape(size)


def integers(
    ctx: Any, shape: Any, minval: Any, maxval: Any, seed: int, seed2: int, dtype: DType
) -> Any:
    """Return integers from [minval, maxval) for one run of a node."""
    require_interval(minval, maxval)
    size = shapes.from_sizes(shape)
    check_room(size, dtype.as_numpy_dtype)
    if not (seed or seed2):
        rng = ctx.rng(seed, seed2)
        return np.asarray(rng.integers(minval, maxval, size, dtype.as_numpy_dtype))
    stream = reserved(ctx, seed, seed2, prod(size) * _EACH)
    return drawn_numbers.integers(stream, prod(size), minval, maxval, dtype).reshape(size)


def require_interval(minval: Any, maxval: Any) -> None:
    """Raise InvalidArgumentError if there is no integer in [minval, maxval)."""
    if minval >= maxval:
        raise InvalidArgumentError(f"need minval < maxval, got {minval} >= {maxval}")


def order(ctx: Any, count: int, seed: int, seed2: int) -> Any:
    """Return the numbers below `count` in an order that is drawn for one run of a node."""
    if not (seed or seed2):
        return ctx.rng(seed, seed2).permutation(count)
    swaps = max(count - 1, 0)
    drawn = philox.words(reserved(ctx, seed, seed2, -(-swaps // 4)), swaps)
    others = np.arange(swaps) + drawn % np.arange(count, count - swaps, -1, dtype=np.uint32)
    found = np.arange(count)
    exchange(found, others)
    return found


def classes(ctx: Any, logits: Any, count: int, seed: int, seed2: int, dtype: DType) -> Any:
    """Return `count` classes for each row of `logits`, for one run of a node."""
    check_room((len(logits), count), np.float64)
    if not (seed or seed2):
        return classes_at(ctx.rng(seed, seed2).random((len(logits), count)), logits, dtype)
    places = -(-count // 4) * 4  # a run reserves for so many doubles a row
    stream = reserved(ctx, seed, seed2, len(logits) * places * 2 * _EACH)
    return classes_of(stream, logits, count, dtype)


def classes_of(stream: Stream, logits: Any, count: int, dtype: DType) -> Any:
    """Return `count` classes for each row of `logits`, one for each double of a stream."""
    drawn = drawn_numbers.uniform(stream, len(logits) * count, dtypes.float64)
    return classes_at(drawn.reshape(len(logits), count), logits, dtype)


def classes_at(places: Any, logits: Any, dtype: DType) -> Any:
    """Return the classes at places from [0, 1) of the cumulative distributions of `logits`.

    Args:
      places: [rows, count].
      logits: [rows, classes].
      dtype: of the result.
    """
    found = np.zeros(places.shape, dtype.as_numpy_dtype)
    if not found.size:
        return found
    weights = logits.astype(np.float64)
    highest = np.max(weights, -1, keepdims=True, where=np.isfinite(weights), initial=-np.inf)
    sums = np.where(np.isfinite(weights), np.exp(weights - highest), 0).cumsum(-1)
    for row, (ends, place) in enumerate(zip(sums, places, strict=True)):
        found[row] = np.searchsorted(ends, place * ends[-1], side="right")
    return found


def reserved(ctx: Any, seed: int, seed2: int, blocks: int) -> Stream:
    """Return the node's stream from where this run may take so many blocks."""
    return philox.of_seeds(seed, seed2).skipped(ctx.reserve(blocks))
