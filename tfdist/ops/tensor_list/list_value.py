"""What a TensorList is: the value of a variant tensor that holds other tensors.

A list never changes; what works on one gives a new list. An element may be not set yet: it counts
as zeros where its shape can be told.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.ops.tensor_array.element_array import shape_of
from tfdist.ops.tensor_list.persistent_elements import Elements

__all__: list[str] = []

_FEW = 8  # elements that are added one by one rather than with all others anew


class TensorList:
    """Tensors of one type.

    Attributes:
      shape: of the variant tensor, a scalar.
      dtype: of the elements.
      element_shape: what is known of the shape of every element.
      elements: the tensors, None for those that are not set.
      most: how many elements may be pushed; any number if negative.
    """

    __slots__ = ("dtype", "element_shape", "elements", "most")

    shape = ()

    def __init__(
        self, dtype: DType, element_shape: Shape, elements: Elements, most: int = -1
    ) -> None:
        self.dtype, self.element_shape = dtype, element_shape
        self.elements, self.most = elements, most

    @property
    def count(self) -> int:
        """Return the number of elements, set or not."""
        return self.elements.count

    def having(self, elements: Elements) -> TensorList:
        """Return a list like this one of other elements."""
        return TensorList(self.dtype, self.element_shape, elements, self.most)

    def pushed(self, value: Any) -> TensorList:
        """Return this list and one more element.

        Raises:
          InvalidArgumentError: the list is full, or the element has another shape.
        """
        if shape_of(value) != self.element_shape:
            self._check_shape(value, "Tried to append a tensor with incompatible shape to a list.")
        if 0 <= self.most <= self.count:
            raise InvalidArgumentError(
                f"Tried to push item into a full list list size: {self.count} max_num_elements: "
                f"{self.most}"
            )
        return self.having(self.elements.with_last(value))

    def popped(self, shape: Shape) -> tuple[TensorList, Any]:
        """Return this list without its last element, and that; `shape` is what is known of it.

        Raises:
          InvalidArgumentError: the list is empty.
        """
        if not self.count:
            raise InvalidArgumentError("Trying to pop from an empty list.")
        value = self.elements.at(self.count - 1)
        if value is None:
            value = self.zeros(self.common_shape(shape, ()))
        return self.having(self.elements.without_last()), value

    def item(self, index: int, shape: Shape) -> Any:
        """Return an element; `shape` is what is known of it.

        Raises:
          InvalidArgumentError: it is out of range, of another shape, or not set and of a shape
            that cannot be told.
        """
        if not 0 <= index < self.count:
            raise InvalidArgumentError(
                f"Trying to access element {index} in a list with {self.count} elements."
            )
        value = self.elements.at(index)
        if value is None:
            return self.zeros(self.common_shape(shape))
        if shape is not None and shape_of(value) != shape:
            _merge(shape, shape_of(value))
        return value

    def replaced(self, index: int, value: Any) -> TensorList:
        """Return this list with another element at `index`.

        Raises:
          InvalidArgumentError: it is out of range, or the element has another shape.
        """
        if not 0 <= index < self.count:
            raise InvalidArgumentError(
                f"Trying to modify element {index} in a list with {self.count} elements."
            )
        if shape_of(value) != self.element_shape:
            self._check_shape(
                value, "Tried to set a tensor with incompatible shape at a list index."
            )
        return self.having(self.elements.replaced(index, value))

    def resized(self, size: int) -> TensorList:
        """Return the first `size` elements, and as many that are not set as are missing."""
        missing = size - self.count
        if 0 <= missing <= _FEW:
            return self.having(reduce(Elements.with_last, [None] * missing, self.elements))
        values = list(self.elements)[:size]
        return self.having(Elements.of(values + [None] * missing))

    def common_shape(self, shape: Shape, values: Iterable[Any] | None = None) -> Shape:
        """Return the shape that all elements have which are set.

        Args:
          shape: what an op says of it.
          values: which elements; all by default.

        Raises:
          InvalidArgumentError: their shapes differ.
        """
        shape = _merge(shape, self.element_shape)
        for each in self.elements if values is None else values:
            if each is not None and shape_of(each) != shape:
                shape = _merge(shape, shape_of(each))
        return shape

    def zeros(self, shape: Shape) -> Any:
        """Return what an element of `shape` is that is not set."""
        if shape is None or None in shape:
            raise InvalidArgumentError(
                "Trying to read an uninitialized tensor but element_shape is not fully defined: "
                f"{shapes.show(shape)} and no list element is set."
            )
        return zeros(self.dtype, shape)

    def check_type(self, dtype: DType) -> None:
        """Raise InvalidArgumentError if an op takes or gives elements of another type."""
        if dtype is not self.dtype:
            raise InvalidArgumentError(
                f"Invalid data types; op elements {dtype.name} but list elements {self.dtype.name}"
            )

    def _check_shape(self, value: Any, what: str) -> None:
        if not shapes.compatible(shape_of(value), self.element_shape):
            raise InvalidArgumentError(
                f"{what} Op element shape: {shapes.show(shape_of(value))} list shape: "
                f"{shapes.show(self.element_shape)}"
            )

    def __add__(self, other: Any) -> TensorList:
        """Return the list of the sums of elements, as AddN wants it."""
        other = as_list(other)
        if self.dtype is not other.dtype:
            raise InvalidArgumentError(
                "Trying to add two lists of tensors of different dtypes. One is "
                f"{self.dtype.name} and the other is {other.dtype.name}"
            )
        if self.count != other.count:
            raise InvalidArgumentError(
                "Trying to add two lists of tensors with different lengths. One is "
                f"{self.count} and the other is {other.count}"
            )
        shape, more = self.element_shape, other.element_shape
        if not shapes.compatible(shape, more):
            raise _unlike(shape, more)
        pairs = zip(self.elements, other.elements, strict=True)
        sums = Elements.of([_sum(self.dtype, *pair) for pair in pairs])
        return TensorList(self.dtype, shapes.merge(shape, more), sums, self.most)

    def zeros_like(self) -> TensorList:
        """Return the list of zeros in the shapes of the elements, as ZerosLike wants it."""
        blanks = [None if each is None else _blank(self.dtype, each) for each in self.elements]
        return self.having(Elements.of(blanks))

    def __repr__(self) -> str:
        return f"<TensorList of {self.count} x {self.dtype.name}{shapes.show(self.element_shape)}>"


def as_list(handle: Any) -> TensorList:
    """Return the list that a variant tensor holds.

    Raises:
      InvalidArgumentError: it is no scalar, or holds something else.
    """
    if isinstance(handle, np.ndarray):
        if handle.ndim:
            raise InvalidArgumentError(
                f"Input list must be a scalar saw: {shapes.show(handle.shape)}"
            )
        handle = handle.item()
    if type(handle) is not TensorList:
        raise InvalidArgumentError(f"Input handle is not a list. Saw: {handle!r}")
    return handle


def has_blanks(values: Iterable[Any]) -> bool:
    """Return whether some elements are not set."""
    return any([each is None for each in values])


def zeros(dtype: DType, shape: Any) -> Any:
    """Return zeros (empty strings) as kernels hand them on: no array for a scalar."""
    blank: Any = b"" if dtype is dtypes.string else 0
    array = np.full(shape, blank, dtype.as_numpy_dtype)
    return array if array.ndim else array[()]


def _merge(shape: Shape, other: Shape) -> Shape:
    if not shapes.compatible(shape, other):
        kind = "shapes" if len(shape or ()) == len(other or ()) else "ranks"
        raise InvalidArgumentError(
            f"Incompatible {kind} during merge: {shapes.show(shape)} vs. {shapes.show(other)}"
        )
    return shapes.merge(shape, other)


def _unlike(shape: Shape, other: Shape) -> InvalidArgumentError:
    return InvalidArgumentError(
        "Trying to add two tensors with incompatible element shapes. One is "
        f"{shapes.show(shape)} and the other is {shapes.show(other)}"
    )


def _sum(dtype: DType, first: Any, second: Any) -> Any:
    """Return the sum of two elements; one that is not set adds nothing."""
    if first is None or second is None:
        return first if second is None else second
    if dtype in (dtypes.string, dtypes.bool_):
        raise InvalidArgumentError(f"Trying to add unsupported dtype {dtype.name}")
    if shape_of(first) != shape_of(second):
        raise _unlike(shape_of(first), shape_of(second))
    return first + second


def _blank(dtype: DType, value: Any) -> Any:
    if dtype is dtypes.string:
        raise InvalidArgumentError("Trying to compute zeros_like for unsupported dtype string")
    if dtype is not dtypes.variant:
        return zeros(dtype, value.shape)
    return as_list(value).zeros_like()
