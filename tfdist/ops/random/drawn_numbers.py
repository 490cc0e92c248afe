"""Numbers of a stream of Philox's blocks, bit for bit those that TensorFlow draws.

All functions take a stream, how many numbers there are to be, and their type. They work on some
blocks at a time, which stay in a processor's cache.

Source: which bits become which number was found by experiments with TensorFlow 1.15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.base.machine_code import Compiler, MachineCode
from tfdist.base.philox import Stream, long_words, words
from tfdist.ops.random.box_muller import normal_pairs

__all__: list[str] = []

_AT_ONCE = 8192  # blocks
_KEPT = 64  # blocks of the stream for each number that may take several
_HALF = np.uint64(32)


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
    return _of_groups(lambda groups: _uniform(stream.blocks_at(groups), dtype), count, dtype)


def _uniform(blocks: Any, dtype: DType) -> Any:
    if dtype is dtypes.float64:
        return doubles(blocks[:, 0::2], blocks[:, 1::2])
    bits, kind, bias = _FRACTIONS[dtype]
    blocks &= np.uint32((1 << bits) - 1)
    drawn = blocks.astype(kind, copy=False)
    drawn |= kind(bias << bits)
    floats = drawn.view(dtype.as_numpy_dtype)
    floats -= dtype.as_numpy_dtype(1)
    return floats


def doubles(high: Any, low: Any) -> Any:
    """Return floats from [0, 1) of 20 bits of one word and all of another."""
    fraction = (high.astype(np.uint64) & np.uint64(0xFFFFF)) << _HALF | low.astype(np.uint64)
    return (fraction | np.uint64(1023 << 52)).view(np.float64) - 1.0


def normal_of_blocks(blocks: Any, dtype: DType) -> Any:
    """Return normal numbers, four of each block, or two of double precision, in their order."""
    floats = _uniform(blocks, dtypes.float64 if dtype is dtypes.float64 else dtypes.float32)
    return normal_pairs(floats.reshape(len(floats), -1, 2))


def normal(stream: Stream, count: int, dtype: DType) -> Any:
    """Return floats of the standard normal distribution, two of each pair of uniform ones."""
    return _of_groups(
        lambda groups: normal_of_blocks(stream.blocks_at(groups), dtype), count, dtype
    )


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
    found = normal_of_blocks(stream.blocks_at(places), dtype).reshape(len(groups), tried * each)
    chosen, lacking = _firsts(found, each)
    if len(lacking):
        chosen[lacking] = _first_good(stream, groups[lacking], each, 2 * tried, dtype)
    return chosen


def _firsts(found: Any, count: int) -> tuple[Any, Any]:
    """Return the first `count` good numbers of each row, and the rows that have fewer."""
    write = _CODES[found.dtype].instead_of(_CALL + _NUMBER * found.size)
    if write is not None:
        chosen, is_lacking = np.empty((len(found), count), found.dtype), np.empty(len(found), bool)
        write(chosen, is_lacking, found)
        return chosen, np.flatnonzero(is_lacking)
    good = np.abs(found) < 2
    if found.shape[1] == count:  # NumPy takes long to reduce many short rows
        rows = np.flatnonzero(~good) // count
        return found, rows[np.diff(rows, prepend=-1) > 0]
    counted = np.cumsum(good, 1)
    is_enough = counted[:, -1] >= count
    chosen = np.empty((len(found), count), found.dtype)
    taken = good & (counted <= count) & is_enough[:, None]
    chosen[is_enough] = found[taken].reshape(-1, count)
    return chosen, np.flatnonzero(~is_enough)


def _write_firsts(chosen: Any, is_lacking: Any, found: Any) -> None:
    for row in range(found.shape[0]):
        count = 0
        for i in range(found.shape[1]):
            if abs(found[row, i]) < 2 and count < chosen.shape[1]:
                chosen[row, count] = found[row, i]
                count += 1
        is_lacking[row] = count < chosen.shape[1]


def _machine_code(dtype: Any) -> MachineCode:
    def compile(compiler: Compiler) -> Any:
        made = compiler.written(dtype, 2), compiler.written(np.bool_)
        return compiler.procedure(_write_firsts, *made, compiler.read(dtype, 2))

    return MachineCode(compile)


_CODES = {np.dtype(each): _machine_code(np.dtype(each)) for each in (np.float32, np.float64)}
_CALL, _NUMBER = 20_000, 5  # nanoseconds that NumPy takes, and for each number
