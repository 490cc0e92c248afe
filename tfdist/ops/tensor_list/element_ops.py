"""The ops of TensorList that make a list, or take and give single elements.

A list is a value (`list_value`): what changes one gives another. Its tensor is a variant,
which loops carry as they carry any other: a While that has a gradient pushes what its rounds
compute, and the loop backwards pops it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType, int32
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.autodiff.gradient_utils import shape_of
from tfdist.ops.tensor_list.list_value import TensorList, as_list
from tfdist.ops.tensor_list.persistent_elements import Elements

__all__: list[str] = []

_MADE = "[element_dtype: type; shape_type: type {index}]"
_SCALAR = ()


# what ops say of the shape of elements: a vector with -1 for each unknown dimension, or just -1


def told_shape(value: Any) -> Shape:
    """Return the shape that an input `element_shape` spells.

    Raises:
      InvalidArgumentError: it spells none.
    """
    dims = value.tolist()
    if dims == -1:
        return None
    if np.ndim(value) == 0:
        raise InvalidArgumentError(
            "The only valid scalar shape tensor is the fully unknown shape specified as -1; "
            f"got {dims}"
        )
    if np.ndim(value) > 1:
        raise InvalidArgumentError(
            f"Shape must be at most rank 1 but is rank {np.ndim(value)}: a shape is a vector, or -1"
        )
    if min(dims, default=0) < -1:
        raise InvalidArgumentError(f"Invalid value in tensor used for shape: {min(dims)}")
    return tuple([None if dim < 0 else dim for dim in dims])


def known_shape(value: Any) -> Shape:
    """Return what the constant value of an input `element_shape` tells; nothing without one."""
    return None if value is None else told_shape(value)


def require_shape(element_shape: Shape) -> None:
    """Raise InvalidArgumentError if an input `element_shape` can spell no shape."""
    shapes.require_rank(element_shape, "element_shape", 0, 1)


def scalar_of(value: Any, what: str) -> int:
    """Return the number that an input holds; InvalidArgumentError if it is no scalar."""
    if np.ndim(value):
        raise InvalidArgumentError(
            f"{what} expected to be a scalar but got shape: {shapes.show(np.shape(value))}"
        )
    return int(value)


def element_shape_of(handle: Tensor) -> Tensor:
    """Return the shape of the elements of a list, as other ops take it."""
    shape: Tensor = raw.TensorListElementShape(handle, shape_type=int32)
    return shape


# new lists

EMPTY = OpDef(
    "EmptyTensorList(element_shape: shape_type, max_num_elements: int32) -> "
    f"handle: variant {_MADE}"
).not_differentiable()
RESERVE = OpDef(
    f"TensorListReserve(element_shape: shape_type, num_elements: int32) -> handle: variant {_MADE}"
).not_differentiable()


@EMPTY.shape
def empty_shape(
    element_shape: Shape, max_num_elements: Shape, *, element_shape_value: Any
) -> Shape:
    require_shape(element_shape)
    known_shape(element_shape_value)
    return _SCALAR


@RESERVE.shape
def reserve_shape(element_shape: Shape, num_elements: Shape, *, element_shape_value: Any) -> Shape:
    return empty_shape(element_shape, num_elements, element_shape_value=element_shape_value)


@EMPTY.kernel
def empty_kernel(element_shape: Any, max_num_elements: Any, *, element_dtype: DType) -> TensorList:
    most = scalar_of(max_num_elements, "max_num_elements")
    return TensorList(element_dtype, told_shape(element_shape), Elements.of(()), most)


@RESERVE.kernel
def reserve_kernel(element_shape: Any, num_elements: Any, *, element_dtype: DType) -> TensorList:
    count = scalar_of(num_elements, "num_elements")
    if count < 0:
        raise InvalidArgumentError(f"The num_elements to reserve must be non negative, got {count}")
    check_room([count], np.object_)
    return TensorList(element_dtype, told_shape(element_shape), Elements.of([None] * count))


# what is known of a list

LENGTH = OpDef("TensorListLength(input_handle: variant) -> length: int32").not_differentiable()
ELEMENT_SHAPE = OpDef(
    "TensorListElementShape(input_handle: variant) -> element_shape: shape_type "
    "[shape_type: type {index}]"
).not_differentiable()


@LENGTH.shape
def length_shape(input_handle: Shape) -> Shape:
    return _SCALAR


@LENGTH.kernel
def length_kernel(input_handle: Any) -> Any:
    return np.int32(as_list(input_handle).count)


@ELEMENT_SHAPE.kernel
def element_shape_kernel(input_handle: Any, *, shape_type: DType) -> Any:
    shape = as_list(input_handle).element_shape
    if shape is None:
        return shape_type.as_numpy_dtype(-1)
    return np.array([-1 if dim is None else dim for dim in shape], shape_type.as_numpy_dtype)


# the last element

PUSH_BACK = OpDef(
    "TensorListPushBack(input_handle: variant, tensor: element_dtype) -> output_handle: variant "
    "[element_dtype: type]"
)
POP_BACK = OpDef(
    "TensorListPopBack(input_handle: variant, element_shape: int32) -> "
    "output_handle: variant, tensor: element_dtype [element_dtype: type]"
)


@PUSH_BACK.shape
def push_back_shape(input_handle: Shape, tensor: Shape) -> Shape:
    return _SCALAR


@PUSH_BACK.kernel
def push_back_kernel(input_handle: Any, tensor: Any, *, element_dtype: DType) -> TensorList:
    before = as_list(input_handle)
    before.check_type(element_dtype)
    return before.pushed(tensor)


@PUSH_BACK.gradient
def push_back_gradient(op: Operation, d_list: Any) -> Any:
    tensor = op.inputs[1]
    return POP_BACK(d_list, shape_of(tensor), element_dtype=tensor.dtype.base_dtype)


@POP_BACK.shape
def pop_back_shape(input_handle: Shape, element_shape: Shape) -> list[Shape]:
    require_shape(element_shape)
    return [_SCALAR, None]


@POP_BACK.kernel
def pop_back_kernel(
    input_handle: Any, element_shape: Any, *, element_dtype: DType
) -> tuple[TensorList, Any]:
    before = as_list(input_handle)
    before.check_type(element_dtype)
    return before.popped(told_shape(element_shape))


@POP_BACK.gradient
def pop_back_gradient(op: Operation, d_list: Any, d_tensor: Any) -> Any:
    after, tensor = op.outputs
    d_list = raw.ZerosLike(after) if d_list is None else d_list
    d_tensor = raw.ZerosLike(tensor) if d_tensor is None else d_tensor
    return PUSH_BACK(d_list, d_tensor), None


# elements by their index

GET_ITEM = OpDef(
    "TensorListGetItem(input_handle: variant, index: int32, element_shape: Tshape) -> "
    "item: element_dtype [element_dtype: type; Tshape: type = int32 {index}]"
)
SET_ITEM = OpDef(
    "TensorListSetItem(input_handle: variant, index: int32, item: element_dtype) -> "
    "output_handle: variant [element_dtype: type; resize_if_index_out_of_bounds: bool = False]"
)


@GET_ITEM.shape
def get_item_shape(
    input_handle: Shape, index: Shape, element_shape: Shape, *, element_shape_value: Any
) -> Shape:
    require_shape(element_shape)
    return known_shape(element_shape_value)


@GET_ITEM.kernel
def get_item_kernel(
    input_handle: Any, index: Any, element_shape: Any, *, element_dtype: DType
) -> Any:
    elements = as_list(input_handle)
    elements.check_type(element_dtype)
    return elements.item(_index(index), told_shape(element_shape))


@GET_ITEM.gradient
def get_item_gradient(op: Operation, d_item: Any) -> Any:
    handle, index, _ = op.inputs
    none = RESERVE(
        element_shape_of(handle), LENGTH(handle), element_dtype=op.get_attr("element_dtype")
    )
    return SET_ITEM(none, index, d_item), None, None


@SET_ITEM.shape
def set_item_shape(input_handle: Shape, index: Shape, item: Shape) -> Shape:
    return _SCALAR


@SET_ITEM.kernel
def set_item_kernel(
    input_handle: Any,
    index: Any,
    item: Any,
    *,
    element_dtype: DType,
    resize_if_index_out_of_bounds: bool,
) -> TensorList:
    before, at = as_list(input_handle), _index(index)
    before.check_type(element_dtype)
    if resize_if_index_out_of_bounds and at >= before.count:
        before = before.resized(at + 1)
    return before.replaced(at, item)


@SET_ITEM.gradient
def set_item_gradient(op: Operation, d_list: Any) -> Any:
    _, index, item = op.inputs
    d_item = GET_ITEM(d_list, index, shape_of(item), element_dtype=item.dtype.base_dtype)
    return SET_ITEM(d_list, index, raw.ZerosLike(item)), None, d_item


def _index(value: Any) -> int:
    if np.size(value) != 1:  # TensorFlow takes a vector of one
        raise InvalidArgumentError(
            f"index expected to be a scalar but got shape: {shapes.show(np.shape(value))}"
        )
    return int(value.item())


# another length

RESIZE = OpDef("TensorListResize(input_handle: variant, size: int32) -> output_handle: variant")


@RESIZE.shape
def resize_shape(input_handle: Shape, size: Shape) -> Shape:
    shapes.require_rank(size, "size", 0)
    return _SCALAR


@RESIZE.kernel
def resize_kernel(input_handle: Any, size: Any) -> TensorList:
    wanted = scalar_of(size, "size")
    if wanted < 0:
        raise InvalidArgumentError(
            f"TensorListSlice expects size to be non-negative. Got: {wanted}"
        )
    check_room([wanted], np.object_)
    return as_list(input_handle).resized(wanted)


@RESIZE.gradient
def resize_gradient(op: Operation, d_list: Any) -> Any:
    return RESIZE(d_list, LENGTH(op.inputs[0])), None
