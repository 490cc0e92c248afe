"""Philox4x32-10: random numbers of a counter and a key, bit for bit those of TensorFlow.

A block of four 32-bit numbers is a function of a 128-bit counter and a 64-bit key: ten rounds, each
of two products whose halves change places. Sample number i comes from the block at counter + i, or
some blocks further, so that all are made at once.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011); which bits become
which number was found by experiments with TensorFlow 1.15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType

__all__: list[str] = []

_FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_STEPS = 0x9E3779B9, 0xBB67AE85  # of the key, from round to round
_ROUNDS = 10
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_WORD = 1 << 64
_FEW = 6  # blocks
_AT_ONCE = 8192  # blocks: their words stay in a processor's cache

_STATELESS_KEY = 0x02461E29_3EC8F720  # with which the seed of a stateless op is scrambled

# Blocks of the stream that are kept for each number that may take several.
_KEPT = 64


class Stream(NamedTuple):
    """Where numbers come from.

    Attributes:
      counter: of the first block, a number of 128 bits.
      key: a number of 64 bits.
    """

    counter: int
    key: int

    def skipped(self, blocks: int) -> Stream:
        """Return the stream so many blocks further on."""
        return self._replace(counter=(self.counter + blocks) % (_WORD * _WORD))

    def blocks(self, count: int) -> Any:
        """Return the next blocks, uint32 [count, 4]."""
        return self.blocks_at(np.arange(count, dtype=np.uint64))

    def blocks_at(self, places: Any) -> Any:
        """Return the blocks so many further on, uint32 [places, 4]; `places` are uint64."""
        if len(places) <= _FEW:
            found = [_block(self.counter + int(place), self.key) for place in places]
            return np.array(found, np.uint32).reshape(-1, 4)
        made = np.empty((len(places), 4), np.uint32)
        for begin in range(0, len(places), _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            made[part] = np.stack(_rounds(*self._counters(places[part]), self.key), -1)
        return made

    def _counters(self, places: Any) -> tuple[Any, Any, Any, Any]:
        """Return the four words of the counters, in uint64, the lowest first."""
        start = np.uint64(self.counter % _WORD)
        with np.errstate(over="ignore"):
            low = places + start
        high = np.uint64(self.counter // _WORD) + (low < start).astype(np.uint64)
        return low & _LOW, low >> _HALF, high & _LOW, high >> _HALF


def of_seeds(seed: int, seed2: int) -> Stream:
    """Return the stream of an op that has two seeds as attributes, before its first run."""
    return Stream((seed2 % _WORD) << 64, seed % _WORD)


def of_stateless(seed: Any) -> Stream:
    """Return the stream of an op that takes a seed, integers [2], as an input."""
    first, second = (int(each) % _WORD for each in seed)
    a, b, c, d = _block(first | second << 64, _STATELESS_KEY)
    return Stream((c | d << 32) << 64, a | b << 32)


def _block(counter: int, key: int) -> tuple[int, int, int, int]:
    """Return one block; for few, Python's integers are quicker than NumPy's arrays."""
    a, b, c, d = ((counter >> shift) & 0xFFFFFFFF for shift in (0, 32, 64, 96))
    one, two = key & 0xFFFFFFFF, key >> 32
    for _ in range(_ROUNDS):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, c = (second >> 32) ^ b ^ one, (first >> 32) ^ d ^ two
        b, d = second & 0xFFFFFFFF, first & 0xFFFFFFFF
        one, two = (one + _STEPS[0]) & 0xFFFFFFFF, (two + _STEPS[1]) & 0xFFFFFFFF
    return a, b, c, d


def _rounds(a: Any, b: Any, c: Any, d: Any, key: int) -> tuple[Any, Any, Any, Any]:
    """Return the blocks at counters whose words are a, b, c and d, all in uint64: overwritten."""
    first, second = np.empty_like(a), np.empty_like(a)
    one, two = key & 0xFFFFFFFF, key >> 32
    for _ in range(_ROUNDS):
        np.multiply(a, _FACTORS[0], out=first)
        np.multiply(c, _FACTORS[1], out=second)
        np.right_shift(second, _HALF, out=a)
        a ^= b
        a ^= np.uint64(one)
        np.right_shift(first, _HALF, out=c)
        c ^= d
        c ^= np.uint64(two)
        np.bitwise_and(second, _LOW, out=b)
        np.bitwise_and(first, _LOW, out=d)
        one, two = (one + _STEPS[0]) & 0xFFFFFFFF, (two + _STEPS[1]) & 0xFFFFFFFF
    return a, b, c, d


# numbers, all of which take a stream, how many there are to be, and their type


def words(stream: Stream, count: int) -> Any:
    """Return uint32 numbers."""
    return stream.blocks(-(-count // 4)).reshape(-1)[:count]


def long_words(stream: Stream, count: int) -> Any:
    """Return uint64 numbers, each of two words, the low one first."""
    pairs = stream.blocks(-(-count // 2)).reshape(-1, 2)[:count].astype(np.uint64)
    return pairs[:, 0] | pairs[:, 1] << _HALF


def full_integers(stream: Stream, count: int, dtype: DType) -> Any:
    """Return integers from the whole range of their type."""
    made = words(stream, count) if dtype.size == 4 else long_words(stream, count)
    return made.view(dtype.as_numpy_dtype)


def integers(stream: Stream, count: int, low: Any, high: Any, dtype: DType) -> Any:
    """Return integers from [low, high)."""
    made = words(stream, count) if dtype.size == 4 else long_words(stream, count)
    span = (int(high) - int(low)) % (1 << dtype.size * 8)
    with np.errstate(over="ignore"):
        return (made % made.dtype.type(span)).view(dtype.as_numpy_dtype) + low


# float type -> how many bits of a word are its fraction, and the unsigned type of the same size
_FRACTIONS = {dtypes.float32: (23, np.uint32, 127), dtypes.float16: (10, np.uint16, 15),
              dtypes.bfloat16: (7, np.uint16, 127)}  # fmt: skip


def uniform(stream: Stream, count: int, dtype: DType) -> Any:
    """Return floats from [0, 1): the fraction of a float from [1, 2) is drawn."""
    if dtype is dtypes.float64:
        pairs = stream.blocks(-(-count // 2)).reshape(-1, 2)[:count]
        return doubles(pairs[:, 0], pairs[:, 1])
    bits, kind, bias = _FRACTIONS[dtype]
    drawn = (words(stream, count) & np.uint32((1 << bits) - 1)).astype(kind)
    return (drawn | kind(bias << bits)).view(dtype.as_numpy_dtype) - dtype.as_numpy_dtype(1)


def doubles(high: Any, low: Any) -> Any:
    """Return floats from [0, 1) of 20 bits of one word and all of another."""
    fraction = (high.astype(np.uint64) & np.uint64(0xFFFFF)) << _HALF | low.astype(np.uint64)
    return (fraction | np.uint64(1023 << 52)).view(np.float64) - 1.0


def _floats(drawn: Any) -> Any:
    return ((drawn & np.uint32(0x7FFFFF)) | np.uint32(127 << 23)).view(np.float32) - np.float32(1)


def normal_pairs(blocks: Any, dtype: DType) -> Any:
    """Return normal numbers, four of each block, or two of double precision, in their order."""
    if dtype is dtypes.float64:
        one = doubles(blocks[:, 0], blocks[:, 1])
        two = doubles(blocks[:, 2], blocks[:, 3])
    else:
        one, two = _floats(blocks[:, 0::2]), _floats(blocks[:, 1::2])
    kind = one.dtype.type
    angle = (2 * np.pi * two.astype(np.float64)).astype(kind, copy=False)
    length = np.sqrt(kind(-2) * _rounded(np.log, np.maximum(one, kind(1e-7))))
    both = [_rounded(function, angle) * length for function in (np.sin, np.cos)]
    return np.stack(both, -1)


def _rounded(function: Any, x: Any) -> Any:
    """Return function(x), computed in double precision as C libraries do; NumPy's is less exact."""
    return function(x.astype(np.float64)).astype(x.dtype, copy=False)


def normal(stream: Stream, count: int, dtype: DType) -> Any:
    """Return floats of the standard normal distribution, two of each pair of uniform ones."""
    return _of_groups(lambda groups: normal_pairs(stream.blocks_at(groups), dtype), count, dtype)


def truncated(stream: Stream, count: int, dtype: DType) -> Any:
    """Return floats of the standard normal distribution, none further than 2 from its mean.

    Four numbers (two of double precision) are made of as many blocks as it takes.
    """
    each = _group_size(dtype)
    spaced = np.uint64(each * _KEPT)
    return _of_groups(
        lambda groups: _first_good(stream, groups * spaced, each, 1, dtype), count, dtype
    )


def _group_size(dtype: DType) -> int:
    """Return how many numbers are made of one block."""
    return 2 if dtype is dtypes.float64 else 4


def _of_groups(make: Callable[[Any], Any], count: int, dtype: DType) -> Any:
    """Return numbers, some groups of them at a time: what they are made of takes much memory."""
    each = _group_size(dtype)
    drawn = np.empty((-(-count // each), each), dtype.as_numpy_dtype)
    for begin in range(0, len(drawn), _AT_ONCE):
        part = drawn[begin : begin + _AT_ONCE]
        part[:] = make(np.arange(begin, begin + len(part), dtype=np.uint64)).reshape(part.shape)
    return drawn.reshape(-1)[:count]


def _first_good(stream: Stream, groups: Any, each: int, tried: int, dtype: DType) -> Any:
    """Return the first `each` good numbers from the blocks at each of `groups`, [groups, each]."""
    places = (groups[:, None] + np.arange(tried, dtype=np.uint64)).reshape(-1)
    found = normal_pairs(stream.blocks_at(places), dtype).reshape(len(groups), tried * each)
    good = np.abs(found) < 2
    chosen = found if tried == 1 else _firsts(found, good, each)
    lacking = good.sum(1) < each
    if lacking.any():
        chosen[lacking] = _first_good(stream, groups[lacking], each, 2 * tried, dtype)
    return chosen


def _firsts(found: Any, good: Any, count: int) -> Any:
    """Return the first `count` good numbers of each row, and others where there are fewer."""
    return np.take_along_axis(found, np.argsort(~good, axis=1, kind="stable")[:, :count], 1)
