"""`TensorShape` and `Dimension`: shapes as users see them, in TensorFlow 1.x's interface.

Each holds a plain value: `as_shape` makes a plain shape of whatever describes one.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn, TypeAlias

from tfdist.base import lazy
from tfdist.base.shapes import Dim, Shape, compatible, merge, num_elements, show
from tfdist.errors import InvalidArgumentError

_shape_to_proto = lazy.function("tfdist.graph.tensor_proto", "shape_to_proto")

# What describes a shape: None, an int, ints, Dimensions and None in any iterable, a TensorShape, a
# TensorShapeProto.
ShapeLike: TypeAlias = Any


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "_as_tensor")


class Dimension:
    """One dimension of a `TensorShape`: an int or unknown (`value` None).

    Comparing with an unknown dimension gives None, as in TensorFlow 1.x.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        value = value.value if isinstance(value, Dimension) else value
        self.value: Dim = None if value is None else int(value)
        if self.value != value and not isinstance(value, str | bytes):
            raise ValueError(f"Ambiguous dimension: {value!r}, which is no whole number")
        if self.value is not None and self.value < 0:
            raise ValueError(f"Dimension {value} must be >= 0")

    def __repr__(self) -> str:
        return f"Dimension({self.value})"

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __int__(self) -> int:
        return self.value  # type: ignore[return-value]

    __index__ = __int__

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> Any:
        try:
            other = Dimension(other).value
        except (TypeError, ValueError):
            return NotImplemented
        return None if self.value is None or other is None else self.value == other

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is None or equal is NotImplemented else not equal

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether both could be the same number."""
        return self.value is None or Dimension(other).value in (None, self.value)

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless both could be the same number."""
        self.merge_with(other)

    def merge_with(self, other: Any) -> Dimension:
        """Return what is known of both; ValueError if they differ."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")
        return Dimension(other) if self.value is None else self

    def _with(self, other: Any, operation: Any) -> Any:
        if _is_tensor(other):
            return NotImplemented  # the tensor's operator takes the dimension
        other = Dimension(other).value
        known = self.value is not None and other is not None
        return Dimension(operation(self.value, other) if known else None)

    def __add__(self, other: Any) -> Any:
        return self._with(other, operator.add)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, operator.sub)

    def __truediv__(self, other: Any) -> NoReturn:
        kind = type(other).__name__
        raise TypeError(
            f"unsupported operand type(s) for /: 'Dimension' and {kind!r}, please use // instead"
        )

    def __rtruediv__(self, other: Any) -> NoReturn:
        kind = type(other).__name__
        raise TypeError(
            f"unsupported operand type(s) for /: {kind!r} and 'Dimension', please use // instead"
        )

    def __mul__(self, other: Any) -> Any:
        return self._with(other, operator.mul)

    def __floordiv__(self, other: Any) -> Any:
        return self._with(other, operator.floordiv)

    def __mod__(self, other: Any) -> Any:
        return self._with(other, operator.mod)

    def __rsub__(self, other: Any) -> Any:
        return Dimension(other) - self

    def __rfloordiv__(self, other: Any) -> Any:
        return Dimension(other) // self

    def __rmod__(self, other: Any) -> Any:
        return Dimension(other) % self

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge)

    def _compare(self, other: Any, operation: Any) -> Any:
        if _is_tensor(other):
            return NotImplemented
        other = Dimension(other).value
        return None if self.value is None or other is None else operation(self.value, other)


class TensorShape:
    """The static shape of a tensor, in TensorFlow 1.x's form.

    Args:
      dims: None (unknown rank), an int, or an iterable of ints, Dimensions and None; a
        TensorShapeProto is also taken.
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: ShapeLike = None) -> None:
        self._dims: Shape = as_shape(dims)

    def as_tuple(self) -> Shape:
        """Return the plain shape: None, or a tuple of `int | None`."""
        return self._dims

    @property
    def dims(self) -> list[Dimension] | None:
        """Return a list of Dimensions, None if the rank is unknown."""
        return None if self._dims is None else [Dimension(dim) for dim in self._dims]

    @property
    def ndims(self) -> int | None:
        """Return the rank, None if unknown."""
        return None if self._dims is None else len(self._dims)

    rank = ndims

    def as_list(self) -> list[Dim]:
        """Return a list of `int | None`; ValueError if the rank is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> Dim:
        """Return the number of elements, None if not fully known."""
        return num_elements(self._dims)

    def is_fully_defined(self) -> bool:
        """Return whether every dimension is known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether a tensor could have both shapes."""
        return compatible(self._dims, as_shape(other))

    def merge_with(self, other: Any) -> TensorShape:
        """Return what is known of both; ValueError if they contradict each other."""
        try:
            return TensorShape(merge(self._dims, as_shape(other)))
        except InvalidArgumentError:
            shapes = f"{self} and {show(as_shape(other))}"
            raise ValueError(f"Shapes {shapes} are not compatible") from None

    def concatenate(self, other: Any) -> TensorShape:
        """Return the dimensions of this shape followed by those of `other`."""
        other = as_shape(other)
        return TensorShape(None if self._dims is None or other is None else self._dims + other)

    def with_rank(self, rank: int) -> TensorShape:
        """Return this shape, known to have `rank`; ValueError if it has another."""
        try:
            return self.merge_with((None,) * rank)
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return this shape; ValueError if its rank is known to be less."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Return this shape; ValueError if its rank is known to be more."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_same_rank(self, other: Any) -> None:
        """Raise ValueError if both ranks are known and differ."""
        other = as_shape(other)
        if self._dims is not None and other is not None and len(self._dims) != len(other):
            raise ValueError(f"Shapes {self} and {show(other)} must have the same rank")

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """Return the shape that says what both say, unknown where they differ."""
        one, other = self._dims, as_shape(other)
        if one is None or other is None or len(one) != len(other):
            return TensorShape(None)
        return TensorShape([a if a == b else None for a, b in zip(one, other, strict=True)])

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError unless the rank is `rank` or unknown."""
        self.with_rank(rank)

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless a tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError unless every dimension is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def as_proto(self) -> Any:
        """Return a TensorShapeProto."""
        return _shape_to_proto(self.as_tuple())

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __iter__(self) -> Iterator[Dimension]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter([Dimension(dim) for dim in self._dims])

    def __getitem__(self, key: Any) -> Any:
        if self._dims is None:
            return TensorShape(_unknown_part(key)) if isinstance(key, slice) else Dimension(None)
        part = self._dims[key]
        return TensorShape(part) if isinstance(part, tuple) else Dimension(part)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        if self._dims is None:
            return "TensorShape(None)"
        return f"TensorShape({[Dimension(dim) for dim in self._dims]})"

    def __str__(self) -> str:
        return show(self._dims)


def _unknown_part(key: slice) -> Shape:
    """Return the shape of a part of an unknown shape, whose length the bounds may tell."""
    start, stop = key.start or 0, key.stop
    if stop is None or start < 0 or stop < 0:
        return None
    length: int = max(0, stop - start)
    return (None,) * length


def as_shape(value: ShapeLike) -> Shape:
    """Return the plain shape that `value` describes.

    Args:
      value: None, an int, an iterable of ints, Dimensions, None or -1, a TensorShape, or a
        TensorShapeProto.

    Raises:
      TypeError: `value` is none of these.
      ValueError: a dimension is negative.
    """
    if value is None or (type(value) is tuple and all(type(dim) is int for dim in value)):
        return _checked(value)
    if isinstance(value, TensorShape):
        return value.as_tuple()
    if hasattr(value, "unknown_rank"):
        dims = tuple(None if dim.size < 0 else dim.size for dim in value.dim)
        return None if value.unknown_rank else dims
    if isinstance(value, str | bytes):
        raise TypeError(
            "A string has ambiguous TensorShape, please wrap in a list or convert to an int: "
            f"{value!r}"
        )
    if isinstance(value, Dimension) or not isinstance(value, Iterable):
        return (Dimension(value).value,)
    return tuple(Dimension(dim).value for dim in value)


def _checked(value: Shape) -> Shape:
    if value and min(value) < 0:  # type: ignore[type-var, operator]
        raise ValueError(f"Dimension {min(value)} must be >= 0")  # type: ignore[type-var]
    return value
