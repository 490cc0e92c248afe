"""Boxes in tensors: how checkpoints name the parts of partitioned variables.

A slice is a tuple with a (start, length) for each dimension; the length -1 is the whole dimension.
`5 2 0,3:-` says that a tensor of shape [5, 2] is meant, and its first three rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tfdist.errors import InternalError, InvalidArgumentError
from tfdist.protos import pb

FULL = -1
Shape = tuple[int, ...]
TensorSlice = tuple[tuple[int, int], ...]


class ShapeAndSlice(NamedTuple):
    """The shape of a whole tensor, and a slice of it."""

    shape: Shape
    slice: TensorSlice

    @property
    def sizes(self) -> Shape:
        """Return the shape of the slice."""
        return sizes(self.slice, self.shape)


def parse_shape_and_slice(text: str) -> ShapeAndSlice:
    """Return what a specification says.

    Raises:
      InvalidArgumentError: it is none.
      InternalError: the slice is not within the shape.

    Example:
      >>> parse_shape_and_slice("5 2 0,3:-").sizes
      (3, 2)
    """
    parts = text.split(" ")
    if len(parts) < 2:
        raise InvalidArgumentError(
            f"Need least two elements in shape_and_slice specification: {text}"
        )
    *dims, last = parts
    try:
        shape = tuple(map(_dimension, dims))
        found = tuple(map(_extent, last.split(":") if last else ()))
    except ValueError:
        raise InvalidArgumentError(
            f"Could not parse shape_and_slice specification {text!r}: it has the form `5 2 0,3:-`, "
            "the dimensions of the whole tensor and for each of them start,length or - (all)"
        ) from None
    check(found, shape)
    return ShapeAndSlice(shape, found)


def _dimension(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(text)
    return int(text)


def _extent(text: str) -> tuple[int, int]:
    if text == "-":
        return 0, FULL
    start, length = map(_dimension, text.split(","))
    if not length:
        raise ValueError(text)
    return start, length


def check(part: TensorSlice, shape: Shape) -> None:
    """Raise InternalError if a slice is not within a shape."""
    if len(part) != len(shape):
        raise InternalError(f"Mismatching ranks: shape = {brackets(shape)}, slice = {show(part)}")
    for axis, ((start, length), size) in enumerate(zip(part, shape, strict=True)):
        if length != FULL and start + length > size:
            raise InternalError(
                f"Extent in dimension {axis} out of bounds: shape = {brackets(shape)}, "
                f"slice = {show(part)}"
            )


def show(part: TensorSlice) -> str:
    """Return a slice as specifications write it."""
    return ":".join("-" if length == FULL else f"{start},{length}" for start, length in part)


def brackets(shape: Iterable[int]) -> str:
    """Return a shape as TensorFlow's messages write it, `[5,2]`."""
    return f"[{','.join(map(str, shape))}]"


def whole(shape: Shape) -> TensorSlice:
    """Return the slice that is all of a tensor."""
    return ((0, FULL),) * len(shape)


def sizes(part: TensorSlice, shape: Shape) -> Shape:
    """Return the shape of a slice."""
    return tuple(
        size if length == FULL else length for (_, length), size in zip(part, shape, strict=True)
    )


def is_whole(part: TensorSlice, shape: Shape) -> bool:
    """Return whether a slice is all of a tensor."""
    return sizes(part, shape) == shape and not any(start for start, _ in part)


def common(first: TensorSlice, second: TensorSlice, shape: Shape) -> TensorSlice | None:
    """Return what two slices of a tensor have in common, as starts and lengths; None for nothing.

    Example:
      >>> common(((0, 3), (0, -1)), ((2, 3), (0, 2)), (5, 2))
      ((2, 1), (0, 2))
    """
    found = []
    for (start, _), size, (other, _), length in zip(
        first, sizes(first, shape), second, sizes(second, shape), strict=True
    ):
        begin, end = max(start, other), min(start + size, other + length)
        if end <= begin:
            return None
        found.append((begin, end - begin))
    return tuple(found)


def within(part: TensorSlice, outer: TensorSlice) -> tuple[slice, ...]:
    """Return the index of `part`, which has lengths, in an array that holds the slice `outer`."""
    return tuple(
        slice(start - begin, start - begin + length)
        for (start, length), (begin, _) in zip(part, outer, strict=True)
    )


# as messages


def to_proto(part: TensorSlice) -> Any:
    """Return a TensorSliceProto."""
    proto = pb.TensorSliceProto()
    for start, length in part:
        if length == FULL:
            proto.extent.add()
        else:
            proto.extent.add(start=start, length=length)
    return proto


def from_proto(proto: Any) -> TensorSlice:
    """Return the slice in a TensorSliceProto."""
    return tuple(
        (each.start, each.length) if each.WhichOneof("has_length_hack") else (0, FULL)
        for each in proto.extent
    )


# as keys of tables, in an order that is that of their bytes


def slice_key(name: bytes, part: TensorSlice) -> bytes:
    """Return the key of a part of a tensor.

    Example:
      >>> slice_key(b"p/x", ((0, 3), (134, -1))).hex(" ")
      '00 70 2f 78 00 01 01 02 80 83 c0 86 7f'
    """
    escaped = b"\0\xff".join(each.replace(b"\xff", b"\xff\0") for each in name.split(b"\0"))
    rank = bytes((1, len(part))) if part else b"\0"
    numbers = b"".join(_ordered(number) for extent in part for number in extent)
    return b"\0" + escaped + b"\0\1" + rank + numbers


def _ordered(number: int) -> bytes:
    """Return a number so that bytes compare as numbers do.

    As many ones as there are bytes, a zero, the number; of a negative one all bits turned.
    """
    if number < 0:
        return bytes(255 - byte for byte in _ordered(~number))
    length = next(size for size in range(1, 11) if number < 1 << 7 * size - 1)
    ones = (1 << length) - 1 << 7 * length
    return (ones | number).to_bytes(length, "big")
