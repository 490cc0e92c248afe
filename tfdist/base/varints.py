"""Varints: numbers of seven bits a byte, the lowest first, as protobuf and LevelDB write them.

Messages, checkpoints, tensors of strings and handles are made of them. Readers say what went wrong
by Python's own exceptions; whoever reads a format knows what such an error means there.
"""

from __future__ import annotations

from collections.abc import Iterable

_WORD = 2**64 - 1
_LONGEST = 10  # bytes
_SHORT = [bytes((number,)) for number in range(128)]


def varint(number: int) -> bytes:
    """Return a number, 0 or more, as a varint.

    Raises:
      ValueError: it is negative.

    Example:
      >>> varint(300).hex(" ")
      'ac 02'
    """
    if 0 <= number < 128:
        return _SHORT[number]
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes((*parts, number))


def varints(numbers: Iterable[int]) -> bytes:
    """Return numbers as varints, one behind the other."""
    values = list(numbers)
    if max(values, default=0) < 128:
        return bytes(values)
    return b"".join(map(varint, values))


def read_varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """Return the varint at a place in `data`, below 2**64, and where it ends.

    Raises:
      IndexError: the data end first.
      ValueError: it has more than ten bytes.
    """
    number = 0
    for shift in range(0, 7 * _LONGEST, 7):
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number & _WORD, at
    raise ValueError("a number has more than ten bytes")


def read_varints(data: bytes, at: int, count: int) -> tuple[list[int], int]:
    """Return `count` varints from a place in `data` on, and where they end; see `read_varint`."""
    some = data[at : at + count]
    if len(some) == count and some.isascii():
        return list(some), at + count  # one byte each
    numbers = []
    for _ in range(count):
        number, at = read_varint(data, at)
        numbers.append(number)
    return numbers, at
