"""Numbers of seven bits a byte, the lowest first: what tables and strings in checkpoints have."""

from __future__ import annotations

from collections.abc import Iterable

from tfdist.errors import DataLossError

_LONGEST = 10  # bytes


def varint(number: int) -> bytes:
    """Return a number, 0 or more, as a varint.

    Example:
      >>> varint(300).hex(" ")
      'ac 02'
    """
    if number < 128:
        return bytes((number,))
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes((*parts, number))


def varints(numbers: Iterable[int]) -> bytes:
    """Return numbers as varints, one behind the other."""
    return b"".join(map(varint, numbers))


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the varint at a place in `data`, and where it ends.

    Raises:
      DataLossError: there is none.
    """
    number = 0
    for index, byte in enumerate(data[at : at + _LONGEST]):
        number |= (byte & 127) << 7 * index
        if byte < 128:
            return number, at + index + 1
    raise DataLossError(f"no number at byte {at} of {len(data)}")


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
