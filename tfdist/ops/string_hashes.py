"""Hashes of strings, of many at once: numbers that are the same in every process and version.

All strings lie in one array of bytes, each followed by zeros, so that eight bytes from anywhere in
each of them are one look into it; strings of one class of length go through the steps of a hash
together. All arithmetic is of 64 bits and wraps around.

Source: FarmHash's Fingerprint64 (G. Pike, https://github.com/google/farmhash), MurmurHash64A (A.
Appleby, https://github.com/aappleby/smhasher), SipHash-2-4 (J.-P. Aumasson and D. J. Bernstein,
SipHash: a fast short-input PRF, 2012).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

_PAD = 24  # zeros behind each string: what is looked up last begins at its end, 16 bytes on
_U64 = np.uint64


class Texts:
    """Strings, to be looked into at one place in each.

    Args:
      strings: the strings.
    """

    def __init__(self, strings: Sequence[bytes]) -> None:
        self.lengths = np.fromiter(map(len, strings), np.int64, len(strings))
        data = (b"\0" * _PAD).join(strings) + b"\0" * _PAD
        self._starts = np.cumsum(self.lengths + _PAD) - self.lengths - _PAD
        self._words: Any = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))  # they overlap

    def some(self, which: Any) -> Texts:
        """Return those of the strings that an array of places or flags chooses."""
        chosen = object.__new__(Texts)
        chosen.lengths, chosen._starts = self.lengths[which], self._starts[which]
        chosen._words = self._words
        return chosen

    def words(self, at: Any) -> Any:
        """Return eight bytes of each string, as little-endian numbers.

        Args:
          at: where they begin, one place for all or one for each.
        """
        return self._words[self._starts + at]


def _rotated(word: Any, right: int) -> Any:
    return (word >> _U64(right)) | (word << _U64(64 - right))


def _mixed(word: Any, right: int = 47) -> Any:
    return word ^ (word >> _U64(right))


# FarmHash

_K0, _K1, _K2 = map(_U64, (0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F))


def fingerprints(strings: Sequence[bytes]) -> Any:
    """Return FarmHash's Fingerprint64 of each string, uint64."""
    texts = Texts(strings)
    result = np.empty(len(strings), np.uint64)
    least = 0
    with np.errstate(over="ignore"):
        for most, function in _BY_LENGTH:
            (places,) = np.nonzero((texts.lengths >= least) & (texts.lengths <= most))
            if len(places):
                result[places] = function(texts.some(places))
            least = most + 1
    return result


def _sealed(one: Any, other: Any, factor: Any) -> Any:
    """Return two numbers made to one."""
    first = _mixed((one ^ other) * factor)
    return _mixed((other ^ first) * factor) * factor


def _factor(texts: Texts) -> Any:
    return _K2 + texts.lengths.astype(np.uint64) * _U64(2)


def _of_0(texts: Texts) -> Any:
    return np.full(len(texts.lengths), _K2)


def _of_3(texts: Texts) -> Any:
    lengths = texts.lengths
    first, middle, last = (
        texts.words(at) & _U64(0xFF) for at in (0, lengths >> 1, lengths - 1)
    )  # fmt: skip
    high = first + (middle << _U64(8))
    low = lengths.astype(np.uint64) + (last << _U64(2))
    return _mixed(high * _K2 ^ low * _K0) * _K2


def _of_7(texts: Texts) -> Any:
    half = _U64(0xFFFFFFFF)
    first, last = texts.words(0) & half, texts.words(texts.lengths - 4) & half
    return _sealed(texts.lengths.astype(np.uint64) + (first << _U64(3)), last, _factor(texts))


def _of_16(texts: Texts) -> Any:
    factor = _factor(texts)
    first, last = texts.words(0) + _K2, texts.words(texts.lengths - 8)
    one = _rotated(last, 37) * factor + first
    return _sealed(one, (_rotated(first, 25) + last) * factor, factor)


def _of_32(texts: Texts) -> Any:
    factor = _factor(texts)
    return _sealed(*_both_ends(texts, factor, _K1)[:2], factor)


def _both_ends(texts: Texts, factor: Any, by: Any) -> tuple[Any, Any, Any]:
    """Return two numbers made of 16 bytes at each end, and the first word times `by`."""
    first, second = texts.words(0) * by, texts.words(8)
    last, before = texts.words(texts.lengths - 8) * factor, texts.words(texts.lengths - 16) * _K2
    one = _rotated(first + second, 43) + _rotated(last, 30) + before
    return one, first + _rotated(second + _K2, 18) + last, first


def _of_64(texts: Texts) -> Any:
    factor, lengths = _factor(texts), texts.lengths
    one, other, first = _both_ends(texts, factor, _K2)
    sealed = _sealed(one, other, factor)
    third, fourth = texts.words(16) * factor, texts.words(24)
    late = (one + texts.words(lengths - 32)) * factor
    later = (sealed + texts.words(lengths - 24)) * factor
    high = _rotated(third + fourth, 43) + _rotated(late, 30) + later
    return _sealed(high, third + _rotated(fourth + first, 18) + late, factor)


Pair = tuple[Any, Any]
State = tuple[Any, Any, Any, Pair, Pair]


def _of_any(texts: Texts) -> Any:
    """Return the fingerprints of strings longer than 64 bytes, block after block of 64."""
    order = np.argsort(-texts.lengths, kind="stable")
    texts = texts.some(order)
    blocks = (texts.lengths - 1) // 64
    states = _as_rows(_first_state(texts))
    for block in range(int(blocks[0])):
        live = np.searchsorted(-blocks, -block)  # strings that have another block
        ended = _round(texts.some(slice(live)), _as_state(states[:, :live]), block * 64)
        states[:, :live] = _as_rows(ended)
    result = np.empty(len(order), np.uint64)
    result[order] = _last_round(texts, _as_state(states))
    return result


def _as_rows(state: State) -> Any:
    x, y, z, v, w = state
    return np.stack([x, y, z, *v, *w])


def _as_state(rows: Any) -> State:
    x, y, z, v0, v1, w0, w1 = rows
    return x, y, z, (v0, v1), (w0, w1)


def _first_state(texts: Texts) -> State:
    seed = np.full(len(texts.lengths), 81, np.uint64)
    y = seed * _K1 + _U64(113)
    none = np.zeros_like(seed)
    z = _mixed(y * _K2 + _U64(113)) * _K2
    return seed * _K2 + texts.words(0), y, z, (none, none), (none, none)


def _round(texts: Texts, state: State, at: int) -> State:
    x, y, z, v, w = state
    x = _rotated(x + y + v[0] + texts.words(at + 8), 37) * _K1
    y = _rotated(y + v[1] + texts.words(at + 48), 42) * _K1
    x, y, z = x ^ w[1], y + v[0] + texts.words(at + 40), _rotated(z + w[0], 33) * _K1
    v = _weak(texts, at, v[1] * _K1, x + w[0])
    w = _weak(texts, at + 32, z + w[1], y + texts.words(at + 16))
    return z, y, x, v, w


def _weak(texts: Texts, at: Any, one: Any, other: Any) -> Pair:
    first, second, third, fourth = (texts.words(at + skip) for skip in (0, 8, 16, 24))
    one = one + first
    other = _rotated(other + one + fourth, 21)
    total = one + second + third
    return total + fourth, other + _rotated(total, 44) + one


def _last_round(texts: Texts, state: State) -> Any:
    """Return what is made of the last 64 bytes, which may overlap the last block."""
    x, y, z, v, w = state
    at, nine = texts.lengths - 64, _U64(9)
    factor = _K1 + ((z & _U64(0xFF)) << _U64(1))
    w0 = w[0] + ((texts.lengths - 1) & 63).astype(np.uint64)
    v0 = v[0] + w0
    w0 = w0 + v0
    x = _rotated(x + y + v0 + texts.words(at + 8), 37) * factor ^ w[1] * nine
    y = _rotated(y + v[1] + texts.words(at + 48), 42) * factor + v0 * nine + texts.words(at + 40)
    z = _rotated(z + w0, 33) * factor
    v = _weak(texts, at, v[1] * factor, x + w0)
    w = _weak(texts, at + 32, z + w[1], y + texts.words(at + 16))
    one = _sealed(v[0], w[0], factor) + _mixed(y) * _K0 + x
    return _sealed(one, _sealed(v[1], w[1], factor) + z, factor)


_BY_LENGTH: list[tuple[int, Callable[[Texts], Any]]] = [
    (0, _of_0), (3, _of_3), (7, _of_7), (16, _of_16), (32, _of_32), (64, _of_64),
    (np.iinfo(np.int64).max - 1, _of_any),
]  # fmt: skip


# word after word


def _over_words(texts: Texts, state: Any, step: Callable[[Any, Any], Any]) -> Any:
    """Return rows of state after all whole words of each string went through `step`."""
    counts = texts.lengths // 8
    for place in range(int(counts.max(initial=0))):
        live = counts > place
        state[:, live] = step(state[:, live], texts.some(live).words(place * 8))
    return state


def _tails(texts: Texts) -> Any:
    """Return the bytes after the last whole word of each string, the missing ones as zeros."""
    return texts.words(texts.lengths // 8 * 8)


_M = _U64(0xC6A4A7935BD1E995)
_MURMUR_SEED = _U64(0xDECAFCAFFE)


def murmurs(strings: Sequence[bytes]) -> Any:
    """Return MurmurHash64A of each string, uint64, with the seed that TensorFlow uses."""
    texts = Texts(strings)
    with np.errstate(over="ignore"):
        state = (_MURMUR_SEED ^ (texts.lengths.astype(np.uint64) * _M))[None]
        state = _over_words(texts, state, lambda rows, words: (rows ^ _stirred(words)) * _M)[0]
        has_tail = texts.lengths % 8 > 0
        state = np.where(has_tail, (state ^ _tails(texts)) * _M, state)
        return _mixed(_mixed(state) * _M)


def _stirred(words: Any) -> Any:
    return _mixed(words * _M) * _M


_SIP = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def siphashes(strings: Sequence[bytes], key: Sequence[int]) -> Any:
    """Return SipHash-2-4 of each string, uint64.

    Args:
      strings: the strings.
      key: two numbers of 64 bits.
    """
    texts = Texts(strings)
    words = [int(each) & (2**64 - 1) for each in key] * 2
    start = [_U64(secret ^ word) for secret, word in zip(_SIP, words, strict=True)]
    state = np.repeat(np.array(start, np.uint64)[:, None], len(strings), axis=1)
    with np.errstate(over="ignore"):
        state = _over_words(texts, state, partial(_sipped, rounds=2))
        last = _tails(texts) | (texts.lengths.astype(np.uint64) << _U64(56))
        state = _sipped(state, last, 2)
        state[2] ^= _U64(0xFF)
        return np.bitwise_xor.reduce(_sipped(state, np.zeros_like(last), 4))


def _sipped(rows: Any, words: Any, rounds: int) -> Any:
    a, b, c, d = rows[0], rows[1], rows[2], rows[3] ^ words
    for _ in range(rounds):
        a, c = a + b, c + d
        b, d = _rotated(b, 51) ^ a, _rotated(d, 48) ^ c
        a = _rotated(a, 32)
        c, a = c + b, a + d
        b, d = _rotated(b, 47) ^ c, _rotated(d, 43) ^ a
        c = _rotated(c, 32)
    return np.stack([a ^ words, b, c, d])
