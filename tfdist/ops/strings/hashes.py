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
    turned = word >> _U64(right)
    turned |= word << _U64(64 - right)
    return turned


def _mixed(word: Any, right: int = 47) -> Any:
    mixed = word >> _U64(right)
    mixed ^= word
    return mixed


# FarmHash

_K0, _K1, _K2 = map(_U64, (0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F))


# Fingerprints of words as eight bytes each. Features name the same categories again and again: for
# a batch of them this takes a tenth of the time. When it is full, it stays as it is.
_known: dict[bytes, bytes] = {}
_MOST_KNOWN, _LONGEST_KNOWN, _MOST_AT_ONCE = 1 << 14, 64, 1 << 12


def fingerprints(strings: Sequence[bytes]) -> Any:
    """Return FarmHash's Fingerprint64 of each string, uint64."""
    try:
        return np.frombuffer(b"".join(map(_known.__getitem__, strings)), np.uint64)
    except KeyError:
        found = _computed(strings)
    if len(strings) <= _MOST_AT_ONCE and len(_known) + len(strings) <= _MOST_KNOWN:
        data = found.tobytes()
        marks = (data[start : start + 8] for start in range(0, len(data), 8))
        pairs = zip(strings, marks, strict=True)
        _known.update(pair for pair in pairs if len(pair[0]) <= _LONGEST_KNOWN)
    return found


def _computed(strings: Sequence[bytes]) -> Any:
    texts = Texts(strings)
    result = np.empty(len(strings), np.uint64)
    if not len(strings):
        return result
    classes = np.searchsorted(_LENGTHS, texts.lengths)
    first, last = int(classes.min()), int(classes.max())
    if first == last:
        return _BY_LENGTH[first][1](texts)
    for number in range(first, last + 1):
        (places,) = np.nonzero(classes == number)
        if len(places):
            result[places] = _BY_LENGTH[number][1](texts.some(places))
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
    state = _first_state(texts)
    for block in range(int(blocks[0])):
        live = int(np.searchsorted(-blocks, -block))  # strings that have another block
        if live == len(blocks):
            state = _round(texts, state, block * 64)
        else:
            rows = _as_rows(state)
            ended = _round(texts.some(slice(live)), _as_state(rows[:, :live]), block * 64)
            rows[:, :live] = _as_rows(ended)
            state = _as_state(rows)
    result = np.empty(len(order), np.uint64)
    result[order] = _last_round(texts, state)
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
_LENGTHS = np.array([most for most, _ in _BY_LENGTH])


# word after word


def _over_words(texts: Texts, state: Any, step: Callable[[Any, Any], None]) -> None:
    """Change rows of state: all whole words of each string go through `step`, longer ones first.

    Args:
      texts: the strings, the longest first.
      state: rows of as many numbers.
      step: changes rows by a word for each string.
    """
    counts = texts.lengths // 8
    for place in range(int(counts[0]) if len(counts) else 0):
        live = int(np.searchsorted(-counts, -place))
        step(state[:, :live], texts.some(slice(live)).words(place * 8))


def _longest_first(strings: Sequence[bytes], hashes: Callable[[Texts], Any]) -> Any:
    """Return the hashes of strings, which are put into order for that."""
    texts = Texts(strings)
    if not (texts.lengths[1:] > texts.lengths[:-1]).any():
        return hashes(texts)
    order = np.argsort(-texts.lengths, kind="stable")
    result = np.empty(len(order), np.uint64)
    result[order] = hashes(texts.some(order))
    return result


def _tails(texts: Texts) -> Any:
    """Return the bytes after the last whole word of each string, the missing ones as zeros."""
    return texts.words(texts.lengths // 8 * 8)


_M = _U64(0xC6A4A7935BD1E995)
_MURMUR_SEED = _U64(0xDECAFCAFFE)


def murmurs(strings: Sequence[bytes]) -> Any:
    """Return MurmurHash64A of each string, uint64, with the seed that TensorFlow uses."""
    return _longest_first(strings, _murmurs)


def _murmurs(texts: Texts) -> Any:
    state = (_MURMUR_SEED ^ (texts.lengths.astype(np.uint64) * _M))[None]
    _over_words(texts, state, _murmured)
    has_tail = texts.lengths % 8 > 0
    last = np.where(has_tail, (state[0] ^ _tails(texts)) * _M, state[0])
    return _mixed(_mixed(last) * _M)


def _murmured(rows: Any, words: Any) -> None:
    rows ^= _mixed(words * _M) * _M
    rows *= _M


_SIP = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def siphashes(strings: Sequence[bytes], key: Sequence[int]) -> Any:
    """Return SipHash-2-4 of each string, uint64.

    Args:
      strings: the strings.
      key: two numbers of 64 bits.
    """
    words = [int(each) & (2**64 - 1) for each in key] * 2
    start = [secret ^ word for secret, word in zip(_SIP, words, strict=True)]
    return _longest_first(strings, partial(_siphashes, start=np.array(start, np.uint64)))


def _siphashes(texts: Texts, start: Any) -> Any:
    state = np.repeat(start[:, None], len(texts.lengths), axis=1)
    _over_words(texts, state, _sipped)
    _sipped(state, _tails(texts) | (texts.lengths.astype(np.uint64) << _U64(56)))
    state[2] ^= _U64(0xFF)
    for _ in range(4):
        _sip_round(*state)
    return np.bitwise_xor.reduce(state)


def _sipped(rows: Any, words: Any) -> None:
    a, b, c, d = rows
    d ^= words
    for _ in range(2):
        _sip_round(a, b, c, d)
    a ^= words


def _sip_round(a: Any, b: Any, c: Any, d: Any) -> None:
    for first, second in ((51, 48), (47, 43)):
        a += b
        c += d
        _turn(b, first)
        _turn(d, second)
        b ^= a
        d ^= c
        _turn(a, 32)
        a, c = c, a


def _turn(words: Any, right: int) -> None:
    """Rotate words in place."""
    low = words >> _U64(right)
    words <<= _U64(64 - right)
    words |= low
