"""protobuf's wire format: a message is a row of fields, each a tag and a value.

A tag is a number: the field's own, and in its last three bits how the value is written. Nothing
here allocates by what a message claims, and what it claims beyond its end is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfdist.base.varints import read_varint, varint
from tfdist.errors import InvalidArgumentError

Field = tuple[int, int, int]  # tag; value, or where the content begins; where the field ends

_VARINT, _FIXED64, _DELIMITED, _FIXED32 = 0, 1, 2, 5  # how values are written


def tag_of(number: int) -> int:
    """Return the tag of field `number` if its values have a length: messages, strings, bytes."""
    return number << 3 | _DELIMITED


def delimited(tag: int, content: bytes) -> bytes:
    """Return a field that has a length."""
    return varint(tag) + varint(len(content)) + content


def broken(text: str) -> InvalidArgumentError:
    """Return the error for a message that cannot be read."""
    return InvalidArgumentError(
        f"a received message is malformed: {text}. Check that the other side speaks TensorFlow's "
        "protocol and that both sides are of versions that work together"
    )


def fields(data: memoryview, at: int, end: int) -> Iterator[Field]:
    """Yield the fields that stand between two places of a message.

    Raises:
      InvalidArgumentError: they are malformed, or the last one ends elsewhere.
    """
    try:
        while at < end:
            tag, at = data[at], at + 1
            if tag > 127:
                tag, at = read_varint(data, at - 1)
            value, at = _value(tag & 7, data, at)
            if at > end:
                break
            yield tag, value, at
    except IndexError:
        at = end + 1
    except ValueError as error:
        raise broken(str(error)) from None
    if at > end:
        raise broken("it ends within a field")


def _value(kind: int, data: memoryview, at: int) -> tuple[int, int]:
    """Return (value or where the content begins, where it ends)."""
    if kind == _DELIMITED or kind == _VARINT:
        value, at = data[at], at + 1
        if value > 127:
            value, at = read_varint(data, at - 1)
        return (value, at) if kind == _VARINT else (at, at + value)
    if kind == _FIXED32 or kind == _FIXED64:
        return at, at + (4 if kind == _FIXED32 else 8)
    raise broken(f"values of kind {kind} do not occur in it")
