"""Philox4x32-10: random numbers of a counter and a key, bit for bit those of TensorFlow.

A block of four 32-bit numbers is a function of a 128-bit counter and a 64-bit key: ten rounds, each
of two products whose halves change places. Sample number i comes from the block at counter + i, or
some blocks further, so that all are made at once.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011); the seeds were found by
experiments with TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base.machine_code import Compiler, MachineCode

__all__: list[str] = []

_FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_STEPS = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)  # of the key, from round to round
_WHOLE_FACTORS, _WHOLE_STEPS = tuple(map(int, _FACTORS)), tuple(map(int, _STEPS))
_ROUNDS = 10
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_WORD = 1 << 64
_FEW = 6  # blocks
_AT_ONCE = 8192  # blocks: their words stay in a processor's cache

_STATELESS_KEY = 0x02461E29_3EC8F720  # with which the seed of a stateless op is scrambled


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
        words = self.counter % _WORD, self.counter // _WORD, self.key & 0xFFFFFFFF, self.key >> 32
        write = _CODE.instead_of(_CALL + _BLOCK * len(places)) or _write_parts
        write(made.reshape(-1), places, *map(np.uint64, words))
        return made


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
        first, second = _WHOLE_FACTORS[0] * a, _WHOLE_FACTORS[1] * c
        a, c = (second >> 32) ^ b ^ one, (first >> 32) ^ d ^ two
        b, d = second & 0xFFFFFFFF, first & 0xFFFFFFFF
        one, two = (one + _WHOLE_STEPS[0]) & 0xFFFFFFFF, (two + _WHOLE_STEPS[1]) & 0xFFFFFFFF
    return a, b, c, d


def _write_parts(made: Any, places: Any, *words: Any) -> None:
    for begin in range(0, len(places), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        made.reshape(-1, 4)[part] = np.stack(_rounds(places[part], *words), -1)


def _rounds(places: Any, low: Any, high: Any, one: Any, two: Any) -> tuple[Any, Any, Any, Any]:
    """Return the words of blocks that lie `places` after a counter: all are uint64.

    Args:
      places: an array, or a single number.
      low: half of the counter.
      high: the other half.
      one: half of the key.
      two: the other half.
    """
    near = places + low
    far = high + np.uint64(near < low)
    a, b, c, d = near & _LOW, near >> _HALF, far & _LOW, far >> _HALF
    for _ in range(_ROUNDS):
        first, second = a * _FACTORS[0], c * _FACTORS[1]
        a = (second >> _HALF) ^ b ^ one
        c = (first >> _HALF) ^ d ^ two
        b = second & _LOW
        d = first & _LOW
        one, two = (one + _STEPS[0]) & _LOW, (two + _STEPS[1]) & _LOW
    return a, b, c, d


def _compiled(compiler: Compiler) -> Any:
    rounds = compiler.function(_rounds, inlined=True)

    def write(made: Any, places: Any, low: Any, high: Any, one: Any, two: Any) -> None:
        for i in range(places.size):  # of arrays of several axes compilers make no vectors
            a, b, c, d = rounds(places[i], low, high, one, two)
            made[4 * i], made[4 * i + 1], made[4 * i + 2], made[4 * i + 3] = a, b, c, d

    arrays = compiler.written(np.uint32), compiler.read(np.uint64)
    return compiler.procedure(write, *arrays, *[compiler.number(np.uint64)] * 4)


_CODE = MachineCode(_compiled)
_CALL, _BLOCK = 100_000, 30  # nanoseconds that NumPy takes for any blocks, and for each


# numbers of a stream, and how many there are to be


def words(stream: Stream, count: int) -> Any:
    """Return uint32 numbers."""
    return stream.blocks(-(-count // 4)).reshape(-1)[:count]


def long_words(stream: Stream, count: int) -> Any:
    """Return uint64 numbers, each of two words, the low one first."""
    pairs = stream.blocks(-(-count // 2)).reshape(-1, 2)[:count].astype(np.uint64)
    return pairs[:, 0] | pairs[:, 1] << _HALF
