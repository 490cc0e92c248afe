"""Orders that are drawn as TensorFlow draws them, from the 32-bit words of a stream.

All its ways to shuffle exchange two places at a time: what leaves comes from the place that a word
tells, and what stood first (or last) fills the gap. The rules were found by experiments with
TensorFlow 1.15.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import numpy as np

from tfdist.base.philox import Stream, of_seeds

__all__: list[str] = []

# Blocks of four words that are made at once: few at first, as many streams are left soon.
_AT_ONCE = (4, 256, 1024)
_NONE = np.zeros(0, np.uint32)
_FEW = 48  # exchanges that are quicker one by one


class Words:
    """The words of a stream, in turn.

    Args:
      stream: where they come from.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._made, self._begin = _NONE, 0
        self._sizes = chain(_AT_ONCE, repeat(_AT_ONCE[-1]))

    def take(self, count: int) -> Any:
        """Return the next words, uint32 [count]."""
        begin = self._begin
        self._begin = begin + count
        lacking = self._begin - len(self._made)
        if lacking > 0:
            self._made = np.concatenate([self._made[begin:], self._more(lacking)])
            begin, self._begin = 0, count
        return self._made[begin : self._begin]

    def one(self) -> int:
        """Return the next word."""
        if self._begin == len(self._made):
            self._made, self._begin = self._more(1), 0
        self._begin += 1
        word: int = self._made.item(self._begin - 1)
        return word

    def _more(self, count: int) -> Any:
        """Return words that follow those that were made, `count` at least."""
        blocks = max(-(-count // 4), next(self._sizes))
        found = self._stream.blocks(blocks).reshape(-1)
        self._stream = self._stream.skipped(blocks)
        return found


class AnyWords(Words):
    """Words that a generator of NumPy draws: nobody minds which they are.

    Args:
      rng: draws them.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(Stream(0, 0))
        self.rng = rng

    def take(self, count: int) -> Any:
        """See `Words`."""
        return self.rng.integers(0, 1 << 32, count, np.uint32)

    def _more(self, count: int) -> Any:
        return self.take(256)


def words_of(seed: int, seed2: int) -> Words:
    """Return TensorFlow's words for two seeds; words that nobody can predict if both are 0."""
    if seed or seed2:
        return Words(of_seeds(seed, seed2))
    return AnyWords(np.random.default_rng())


def one_by_one(words: Words) -> Iterator[int]:
    """Return words without end, each when it is asked for; some more are taken at once."""
    sizes = chain((4 * blocks for blocks in _AT_ONCE), repeat(4 * _AT_ONCE[-1]))
    return chain.from_iterable(words.take(size).tolist() for size in sizes)


def exchange(values: Any, others: Any) -> None:
    """Exchange values[i] and values[others[i]] for each i in turn; no others[i] is below i.

    Args:
      values: [n], changed in place.
      others: whole numbers [m], m <= n.
    """
    if len(others) > _FEW:
        _exchange_at_once(values, others)
        return
    for place, other in enumerate(others.tolist()):
        values[place], values[other] = values[other], values[place]


def _exchange_at_once(values: Any, others: Any) -> None:
    """Do as `exchange` does.

    Of the turns that have one place in common, each finds there what stood first at the turn
    before. So the turns are sorted by place, and what stood first is followed back to where nobody
    had put anything.
    """
    count = len(others)
    bits = count.bit_length()
    sorted_turns = (others.astype(np.int64) << bits) + np.arange(count)
    sorted_turns.sort()
    places, turns = sorted_turns >> bits, sorted_turns & ((1 << bits) - 1)
    firsts = values[_origins(places, turns)]
    found, put = values[places], firsts[turns]
    again = places[1:] == places[:-1]
    values[places] = put  # of several for one place, the last one stays
    np.copyto(found[1:], put[:-1], where=again)
    values[turns] = found


def _origins(places: Any, turns: Any) -> Any:
    """Return for each turn the place from which what stands first then has come."""
    count = len(turns)
    origins = np.arange(count)
    near = slice(np.searchsorted(places, count))  # the others never come first
    earlier = turns[near] < places[near]
    if not earlier.any():
        return origins
    origins[places[near][earlier]] = turns[near][earlier]  # of several, the last one stays
    while (further := origins[origins]).tobytes() != origins.tobytes():
        origins = further
    return origins
