"""Plain shapes: what the rules of ops combine.

A shape is `None` (rank unknown) or a tuple of `int | None` (dimension unknown); `tensor_shape` has
the form in which users see them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tfdist.base.aliases import Structure, TensorValue
from tfdist.errors import InvalidArgumentError

Dim = int | None
Shape = tuple[Dim, ...] | None


def show(shape: Shape) -> str:
    """Return `shape` as TensorFlow prints it: "(5, ?)", "<unknown>"."""
    if shape is None:
        return "<unknown>"
    inner = ", ".join("?" if dim is None else str(dim) for dim in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def merge_dim(one: Dim, other: Dim, what: str = "dimensions") -> Dim:
    """Return what is known of a dimension that is both; InvalidArgumentError if they differ."""
    if one is None or one == other:
        return other
    if other is None:
        return one
    raise InvalidArgumentError(f"{what}: Dimensions must be equal, but are {one} and {other}")


def brackets(shape: Shape) -> str:
    """Return `shape` as TensorFlow's shape rules print it: "[5,?]", "?" if the rank is unknown."""
    if shape is None:
        return "?"
    return "[" + ",".join("?" if dim is None else str(dim) for dim in shape) + "]"


def merge(one: Shape, other: Shape, what: str = "shapes") -> Shape:
    """Return what is known of a shape that is both `one` and `other`.

    Raises:
      InvalidArgumentError: the ranks or a dimension contradict each other.
    """
    if one is None or one == other:
        return other
    if other is None:
        return one
    if len(one) != len(other):
        ranks = f"{len(one)} and {len(other)}"
        raise InvalidArgumentError(f"{what}: Shapes must be equal rank, but are {ranks}")
    for axis, (a, b) in enumerate(zip(one, other, strict=True)):
        if a is not None and b is not None and a != b:
            raise InvalidArgumentError(
                f"{what}: Dimension {axis} in both shapes must be equal, but are {a} and {b}. "
                f"Shapes are {brackets(one)} and {brackets(other)}."
            )
    return tuple(b if a is None else a for a, b in zip(one, other, strict=True))


def merge_dims(one: Shape, other: Shape, what: str) -> Shape:
    """Return the same as `merge`, dimension by dimension: the error tells of one alone."""
    if one is None or other is None or len(one) != len(other):
        return merge(one, other, what)
    return tuple(merge_dim(a, b, what) for a, b in zip(one, other, strict=True))


def compatible(one: Shape, other: Shape) -> bool:
    """Return whether one tensor could have both shapes."""
    if one is None or other is None or one == other:
        return True
    return len(one) == len(other) and all(
        a is None or b is None or a == b for a, b in zip(one, other, strict=True)
    )


def broadcast(one: Shape, other: Shape) -> Shape:
    """Return the shape of an elementwise operation on both, by NumPy's broadcasting.

    Raises:
      InvalidArgumentError: two known dimensions differ and neither is 1.
    """
    if one == other and one is not None and None not in one:
        return one
    if one is None or other is None:
        return None
    if len(one) < len(other):
        one, other = other, one
    lead = len(one) - len(other)
    return one[:lead] + tuple(map(_broadcast_dim, one[lead:], other))


def _broadcast_dim(one: Dim, other: Dim) -> Dim:
    if one == other or other == 1:
        return one
    if one == 1:
        return other
    if one is None or other is None:
        return one if other is None else other
    raise InvalidArgumentError(
        f"Dimensions must be equal, but are {one} and {other}: of shapes that broadcast, counted "
        "from the last axis, they are equal or 1"
    )


ANY_RANK = 1 << 30  # for `require_rank`, where there is no most


def require_rank(shape: Shape, what: str, least: int, most: int | None = None) -> None:
    """Raise InvalidArgumentError unless `shape` has from `least` to `most` dimensions."""
    most = least if most is None else most
    if shape is not None and not least <= len(shape) <= most:
        wanted = f"at least rank {least}" if len(shape) < least else f"at most rank {most}"
        wanted = f"rank {least}" if least == most else wanted
        raise InvalidArgumentError(f"{what}: Shape must be {wanted} but is rank {len(shape)}")


def require_sizes(shape: Shape, wanted: Sequence[Dim], what: str) -> None:
    """Raise InvalidArgumentError unless `shape` has the sizes that are wanted; None is any."""
    require_rank(shape, what, len(wanted))
    for got, size in zip(shape or (), wanted, strict=False):
        if None not in (got, size) and got != size:
            raise InvalidArgumentError(f"{what}: Dimension must be {size} but is {got}")


def axis_of(axis: int, rank: int, what: str = "axis") -> int:
    """Return `axis` counted from the front; InvalidArgumentError if out of [-rank, rank)."""
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"{what} = {axis} not in [{-rank}, {rank})")
    return axis % rank if rank else 0


def num_elements(shape: Shape) -> Dim:
    """Return the number of elements, None if it is not known."""
    if shape is None or None in shape:
        return None
    count = 1
    for dim in shape:
        count *= dim  # type: ignore[operator]
    return count


_LARGEST = 2**63 - 1  # elements


def from_sizes(sizes: Structure) -> tuple[int, ...]:
    """Return the shape that an array of integers spells, in which nothing may be open.

    Raises:
      InvalidArgumentError: it is no vector, or no tensor can have that shape.
    """
    if sizes.ndim != 1:
        raise InvalidArgumentError(f"shape must be a vector, got shape {show(sizes.shape)}")
    found = tuple(map(int, sizes.tolist()))
    for size in found:
        if size < 0:
            raise InvalidArgumentError(f"Dimension {size} must be >= 0")
    if math.prod(found) > _LARGEST:
        raise InvalidArgumentError(f"Shape {list(found)} would have more than 2**63 - 1 elements")
    return found


def from_constant(values: Sequence[TensorValue] | None) -> Shape:
    """Return the shape that an integer vector spells (-1 or None for unknown), None for None."""
    if values is None:
        return None
    for value in values:
        if value is not None and value < -1:
            raise InvalidArgumentError(f"Invalid value in tensor used for shape: {value}")
    return tuple(None if value is None or value < 0 else int(value) for value in values)
