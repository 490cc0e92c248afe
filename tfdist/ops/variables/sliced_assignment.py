"""Assignment to parts: `variable[1:3].assign(x)` for both kinds of variable, and for a tensor.

Source: TF 1.15 API documentation, tf.strided_slice with `var`; the ops StridedSliceAssign,
ResourceStridedSliceAssign and TensorStridedSliceUpdate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import UnimplementedError
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.array.strided_slice import STRIDED_MASKS, Masks, index_of, indexed_shape

__all__: list[str] = []

_INPUTS = "begin: Index, end: Index, strides: Index, value: T"
_ATTRS = f"T: type; Index: type {{index}}; {STRIDED_MASKS}"


def _setter(begin: Any, end: Any, strides: Any, value: Any, masks: Masks) -> Callable[..., Any]:
    """Return what sets a part of an array to `value`, in `out` if there is one, as for `update`."""
    index = index_of(begin.tolist(), end.tolist(), strides.tolist(), masks)

    def changed(old: Any, out: Any) -> Any:
        new = np.array(old) if out is None else out
        indexed_shape(new.shape, index)  # says which entry does not fit
        if new[index].shape != np.shape(value):
            raise UnimplementedError(
                f"sliced l-value shape {_show(new[index])} does not match r-value shape "
                f"{_show(value)}. Automatic broadcasting not yet implemented."
            )
        new[index] = value
        return new if new.ndim else new[()]

    return changed


def _show(value: Any) -> str:
    return f"[{','.join(map(str, np.shape(value)))}]"


STRIDED_SLICE_ASSIGN = OpDef(
    f"StridedSliceAssign(ref: Ref(T), {_INPUTS}) -> output_ref: Ref(T) [{_ATTRS}]"
).not_differentiable()


@STRIDED_SLICE_ASSIGN.shape
def strided_slice_assign_shape(
    ref: Shape, begin: Shape, end: Shape, strides: Shape, value: Shape
) -> Shape:
    return ref


@STRIDED_SLICE_ASSIGN.kernel
def strided_slice_assign_kernel(
    ref: Any, begin: Any, end: Any, strides: Any, value: Any, *,
    begin_mask: int, end_mask: int, ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> Any:  # fmt: skip
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    ref.update(_setter(begin, end, strides, value, masks))
    return ref


RESOURCE_STRIDED_SLICE_ASSIGN = OpDef(
    f"ResourceStridedSliceAssign(ref: resource, {_INPUTS}) -> () [{_ATTRS}] !"
).not_differentiable()


@RESOURCE_STRIDED_SLICE_ASSIGN.kernel
def resource_strided_slice_assign_kernel(
    ref: Any, begin: Any, end: Any, strides: Any, value: Any, *,
    begin_mask: int, end_mask: int, ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> None:  # fmt: skip
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    ref.update(_setter(begin, end, strides, value, masks))


TENSOR_STRIDED_SLICE_UPDATE = OpDef(
    f"TensorStridedSliceUpdate(input: T, {_INPUTS}) -> output: T [{_ATTRS}]"
)


@TENSOR_STRIDED_SLICE_UPDATE.shape
def tensor_strided_slice_update_shape(
    input: Shape, begin: Shape, end: Shape, strides: Shape, value: Shape
) -> Shape:
    return input


@TENSOR_STRIDED_SLICE_UPDATE.kernel
def tensor_strided_slice_update_kernel(
    input: Any, begin: Any, end: Any, strides: Any, value: Any, *,
    begin_mask: int, end_mask: int, ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> Any:  # fmt: skip
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return _setter(begin, end, strides, value, masks)(input, None)


def assigned(part: Tensor, op_def: OpDef, variable: Any, value: Any, name: str | None) -> Any:
    """Return the node that sets the part of a variable that `part` reads.

    Args:
      part: the output of a StridedSlice.
      op_def: StridedSliceAssign or ResourceStridedSliceAssign.
      variable: the reference or the handle that it changes.
      value: what converts to a tensor of the part's type and shape.
      name: of the node; by default that of the slice and `_assign`.
    """
    masks = {key: attr for key, attr in part.op._attrs.items() if key.endswith("_mask")}
    name = name or f"{part.op.name}/_assign"
    return op_def(variable, *part.op.inputs[1:], value, name=name, **masks)


class ReferencePart(Tensor):
    """A slice of a reference variable, which can be assigned to."""

    __slots__ = ()

    def assign(self, value: Any, name: str | None = None) -> Any:
        """Return an op that sets this part to `value`, and gives the variable.

        Args:
          value: of the part's type and shape; no broadcasting.
          name: of the node; by default that of the slice and `_assign`.

        Raises:
          UnimplementedError: when it runs and the shapes differ.
        """
        return assigned(self, STRIDED_SLICE_ASSIGN, _reference_behind(self), value, name)


_HANDS_ON = frozenset({"Enter", "Identity", "Switch"})


def _reference_behind(part: Tensor) -> Tensor:
    """Return the reference that `part` is read from: conditionals and loops hand its value on."""
    read = part.op.inputs[0]
    while not read.dtype.is_ref:
        if read.op.type not in _HANDS_ON:
            raise ValueError("Sliced assignment is only supported for variables")
        read = read.op.inputs[0]
    return read
