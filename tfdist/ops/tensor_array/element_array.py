"""What a TensorArray holds while a step runs: its elements, and the gradients that come back.

The object is the value of the array's handle. No task keeps it: it dies with the step's values.

Units of one step may run side by side, and their writes may meet in one array. Elements therefore
stand in a dict, whose single operations are indivisible: an array that grows has no length that two
writers could both extend, and two sums that arrive at one element both count.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError

_NOT_ADDED = (dtypes.string, dtypes.bool_)
_GONE = {tuple, type(None)}  # types in the place of an element that is not there


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape of an element; a bare string has rank 0."""
    return () if type(value) is bytes else value.shape


class ElementArray:
    """Elements of one type, each written once.

    Attributes:
      name: for messages.
      dtype: of the elements.
      shape: what is known of the shape of every element.
      clears: whether an element is given up when it is read.
      identical: whether all elements have one shape, which the first one settles.
    """

    __slots__ = (
        "_closed", "_gradients", "_limit", "_read", "_size", "_slots", "clears", "dtype",
        "identical", "name", "shape",
    )  # fmt: skip

    adds_up = False  # whether an element may be written again, and is a sum then

    def __init__(
        self,
        name: str,
        dtype: DType,
        size: int,
        *,
        shape: Shape = None,
        grows: bool = False,
        clears: bool = True,
        identical: bool = False,
    ) -> None:
        if size < 0:
            raise InvalidArgumentError(f"TensorArray {name!r}: size should be >= 0, not {size}")
        self.name, self.dtype, self.shape = name, dtype, shape
        self.clears, self.identical = clears, identical
        self._size = size
        self._limit = sys.maxsize if grows else size
        self._slots: dict[int, Any] = {}  # of an element that is gone, or was never there, a shape
        self._read: set[int] = set()
        self._gradients: dict[str, GradientArray] = {}
        self._closed = False

    @property
    def value(self) -> ElementArray:
        """Return this array: old graphs hand it on by reference, as they do with variables."""
        return self

    @property
    def grows(self) -> bool:
        """Return whether a write behind the last element makes the array longer."""
        return self._limit > self._size

    @property
    def size(self) -> int:
        """Return the number of elements, written or not."""
        return max(self._size, 1 + max(self._slots, default=-1)) if self.grows else self._size

    def write(self, index: Any, value: Any) -> None:
        """Set an element.

        Raises:
          InvalidArgumentError: it was set before, is out of range, or has an unfit shape.
        """
        at = index.__index__()
        shape = () if type(value) is bytes else value.shape
        if shape != self.shape:
            self._settle_shape(at, shape)
        slots = self._slots
        if at in slots or not 0 <= at < self._limit:
            raise self._refusal(at)
        slots[at] = value

    def read(self, index: Any) -> Any:
        """Return an element; zeros if it was never written and its shape is known.

        Raises:
          InvalidArgumentError: it was given up by an earlier read, is out of range, or was never
            written and has no known shape.
        """
        at = index.__index__()
        value = self._slots.get(at)
        if value is None or type(value) is tuple:
            value = self._unwritten(at)
        elif self.clears:
            self._slots[at] = () if type(value) is bytes else value.shape
        else:
            self._read.add(at)
        return value

    def read_all(self, indices: list[int]) -> list[Any]:
        """Return elements."""
        slots = self._slots
        values = [slots.get(index) for index in indices]
        kinds = set(map(type, values))
        if kinds & _GONE or (self.clears and len(set(indices)) < len(indices)):
            return [self.read(index) for index in indices]
        if self.clears:
            slots.update(zip(indices, map(shape_of, values), strict=True))
        else:
            self._read.update(indices)
        return values

    def write_all(self, indices: list[int], values: Iterable[Any]) -> None:
        """Set elements."""
        for index, value in zip(indices, values, strict=True):
            self.write(index, value)

    def write_rows(self, indices: list[int], rows: Any) -> None:
        """Set elements to the slices of an array along its first axis."""
        shape = rows.shape[1:]
        if shape != self.shape and indices:
            self._settle_shape(indices[0], shape)
        new = dict(zip(indices, rows, strict=True))
        if self._takes(new, len(indices)):
            self._slots.update(new)
        else:
            self.write_all(indices, rows)

    def _takes(self, new: dict[int, Any], count: int) -> bool:
        """Return whether `count` writes of elements can be one write of them all, `new`."""
        in_range = not new or (min(new) >= 0 and max(new) < self._limit)
        return in_range and len(new) == count and self._slots.keys().isdisjoint(new)

    def close(self) -> None:
        """Give all elements up."""
        self._size, self._limit = self.size, 0
        self._slots, self._closed = {}, True

    def gradient(self, source: str, lead: tuple[int, ...] = ()) -> GradientArray:
        """Return the array of the gradients of this one's elements; this one grows no more.

        Args:
          source: which computation of gradients asks; each has an array of its own.
          lead: what stands before the shape of an element in the shape of its gradient.
        """
        self._check_open()
        self._size = self._limit = self.size
        found = self._gradients.get(source)
        return found or self._gradients.setdefault(source, GradientArray(self, source, lead))

    def slots_with_leads(self) -> tuple[tuple[dict[int, Any], tuple[int, ...]], ...]:
        """Return what tells the shapes of elements, with what stands before each shape."""
        return ((self._slots, ()),)

    def element_shape(self, at: int) -> Shape:
        """Return what is known of the shape of an element."""
        for slots, lead in self.slots_with_leads():
            found = slots.get(at)
            if found is not None:
                return lead + (found if type(found) is tuple else shape_of(found))
        return self.shape

    def _settle_shape(self, at: int, shape: tuple[int, ...]) -> None:
        """Take the shape of the first element for that of all, if all have one."""
        if not shapes.compatible(shape, self.shape):
            raise InvalidArgumentError(
                f"TensorArray {self.name!r}: Could not write to TensorArray index {at}: the shape "
                f"{shapes.show(shape)} does not fit the TensorArray's inferred element shape: "
                f"{shapes.show(self.shape)}; infer_shape=False allows several shapes"
            )
        if self.identical:
            self.shape = shape

    def _unwritten(self, at: int) -> Any:
        """Return zeros for an element that is not there."""
        self._check_open()
        if not 0 <= at < self.size:
            raise InvalidArgumentError(
                f"TensorArray {self.name!r}: Tried to read from index {at} but array size is: "
                f"{self.size}"
            )
        if self.clears and at in self._slots:
            raise InvalidArgumentError(
                f"TensorArray {self.name!r}: Could not read index {at} twice because it was "
                "cleared after a previous read; clear_after_read=False keeps elements"
            )
        shape = self.element_shape(at)
        if shape is None or None in shape:
            raise InvalidArgumentError(
                f"TensorArray {self.name!r}: Could not read from TensorArray index {at}: it was "
                f"never written, and the element shape is not fully defined: {shapes.show(shape)}; "
                "with a full element_shape= it would be zeros"
            )
        self._slots[at] = shape
        return self._zeros(shape)

    def _zeros(self, shape: tuple[Any, ...]) -> Any:
        if self.dtype is dtypes.string:
            raise InvalidArgumentError(
                f"TensorArray {self.name!r}: zeros are asked for, a type not supported: string"
            )
        zeros = np.zeros(shape, self.dtype.as_numpy_dtype)
        return zeros if shape else zeros[()]

    def _refusal(self, at: int) -> InvalidArgumentError:
        """Return the error for a write to an element that does not take it."""
        self._check_open()
        if not 0 <= at < self._limit:
            problem = f"array is not resizeable and size is: {self.size}"
            if self.grows:
                problem = "an index is 0 or more"
            return InvalidArgumentError(
                f"TensorArray {self.name!r}: Tried to write to index {at} but {problem}"
            )
        was_read = at in self._read or type(self._slots.get(at)) is tuple
        done = "read" if was_read else "written to"
        return InvalidArgumentError(
            f"TensorArray {self.name!r}: Could not write to TensorArray index {at} because it has "
            f"already been {done}"
        )

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidArgumentError(f"TensorArray {self.name!r} has already been closed")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} of {self.size} x {self.dtype.name}>"


class GradientArray(ElementArray):
    """The gradients of an array's elements: what is written to one of them adds up."""

    __slots__ = ("_forward",)

    adds_up = True

    def __init__(self, forward: ElementArray, source: str, lead: tuple[int, ...]) -> None:
        shape = None if forward.shape is None else lead + forward.shape
        super().__init__(
            f"{forward.name}@{source}",
            forward.dtype,
            forward.size,
            shape=shape,
            # the gradient of a sum goes to each of its parts, which all read it
            clears=forward.clears and not forward.adds_up,
            identical=forward.identical,
        )
        # not the array itself, which knows this one: a circle would outlive its step
        self._forward = tuple((slots, lead + more) for slots, more in forward.slots_with_leads())

    def slots_with_leads(self) -> tuple[tuple[dict[int, Any], tuple[int, ...]], ...]:
        """Return what tells the shapes of elements: of its own, then of those forward."""
        return *super().slots_with_leads(), *self._forward

    def write(self, index: Any, value: Any) -> None:
        """Add to an element.

        Raises:
          InvalidArgumentError: it was read before, is out of range, has another shape, or is of a
            type that has no sums.
        """
        at = index.__index__()
        if not 0 <= at < self._limit or at in self._read:
            raise self._refusal(at)
        shape = shape_of(value)
        if shape != self.shape or not self.identical:
            self._settle_shape(at, shape)
            self._check_shape(at, shape)
        slots = self._slots
        while True:  # until nobody has come in between
            before = slots.pop(at, None)
            if before is not None:
                value = self._sum(at, before, value)
            if slots.setdefault(at, value) is value:
                return

    def _takes(self, new: dict[int, Any], count: int) -> bool:
        """Return False: another writer may come between the question and the write."""
        return False

    def _check_shape(self, at: int, shape: tuple[int, ...]) -> None:
        known = self.element_shape(at)
        if not shapes.compatible(shape, known):
            raise InvalidArgumentError(
                f"TensorArray {self.name!r}: Could not aggregate to TensorArray index {at} because "
                f"the existing shape is {shapes.show(known)} but the new input shape is "
                f"{shapes.show(shape)}"
            )

    def _sum(self, at: int, before: Any, value: Any) -> Any:
        """Return the new value of an element; an element that is refused stays as it was."""
        if type(before) is not tuple and self.dtype not in _NOT_ADDED:
            return before + value
        self._slots[at] = before
        if type(before) is tuple:
            raise self._refusal(at)
        raise InvalidArgumentError(
            f"TensorArray {self.name!r}: index {at} was written twice, and sums are of a type not "
            f"supported: {self.dtype.name}"
        )
