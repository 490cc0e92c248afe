"""The ops of TensorList that take or give several elements as the slices of one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.autodiff.gradient_utils import shape_of
from tfdist.ops.tensor_list.element_ops import (
    LENGTH,
    RESERVE,
    element_shape_of,
    known_shape,
    require_shape,
    scalar_of,
    told_shape,
)
from tfdist.ops.tensor_list.list_value import TensorList, as_list, has_blanks, zeros
from tfdist.ops.tensor_list.persistent_elements import Elements

__all__: list[str] = []

_TYPE = "element_dtype: type"
_TYPES = f"[{_TYPE}; shape_type: type {{index}}]"
_SCALAR = ()


def rows_shape(tensor: Tensor) -> Any:
    """Return the shape of the slices of a tensor along its first axis."""
    return shape_of(tensor)[1:]  # type: ignore[index]


def lead(shape: Shape, count: int | None) -> Shape:
    """Return a shape with one more dimension before the others."""
    return None if shape is None else (count, *shape)


def require_rows(tensor: Any) -> None:
    """Raise InvalidArgumentError if a tensor has no first axis."""
    if np.ndim(tensor) == 0:
        raise InvalidArgumentError("Tensor must be at least a vector, but saw shape: ()")


def check_fits(shape: Shape, rows: tuple[int, ...]) -> None:
    """Raise InvalidArgumentError unless a list of elements of `shape` can have these."""
    if not shapes.compatible(shape, rows):
        raise InvalidArgumentError(
            f"Specified a list with shape {shapes.show(shape)} from a tensor with shape "
            f"{shapes.show(rows)}"
        )


# all elements, stacked

STACK = OpDef(
    "TensorListStack(input_handle: variant, element_shape: int32) -> tensor: element_dtype "
    f"[{_TYPE}; num_elements: int = -1]"
)
FROM_TENSOR = OpDef(
    "TensorListFromTensor(tensor: element_dtype, element_shape: shape_type) -> "
    f"output_handle: variant {_TYPES}"
)


@STACK.shape
def stack_shape(
    input_handle: Shape, element_shape: Shape, *, element_shape_value: Any, num_elements: int
) -> Shape:
    require_shape(element_shape)
    return lead(known_shape(element_shape_value), None if num_elements < 0 else num_elements)


@STACK.kernel
def stack_kernel(
    input_handle: Any, element_shape: Any, *, element_dtype: DType, num_elements: int
) -> Any:
    elements = as_list(input_handle)
    elements.check_type(element_dtype)
    if 0 <= num_elements != elements.count:
        raise InvalidArgumentError(
            f"Operation expected a list with {num_elements} elements but got a list with "
            f"{elements.count} elements."
        )
    values = list(elements.elements)
    shape = elements.common_shape(told_shape(element_shape), values)
    if shape is None or None in shape:
        what = "elements of an empty list with"
        if values:
            what = "list which only contains uninitialized tensors and has a"
        raise InvalidArgumentError(
            f"Tried to stack {what} non-fully-defined element_shape: {shapes.show(shape)}"
        )
    return _stacked(element_dtype, shape, values)


def _stacked(dtype: DType, shape: Any, values: Sequence[Any]) -> Any:
    """Return elements of one shape along a new first axis."""
    if has_blanks(values):
        blank = zeros(dtype, shape)
        values = [blank if each is None else each for each in values]
    if not values:
        return np.empty((0, *shape), dtype.as_numpy_dtype)
    if not shape:
        return np.array([_bare(each) for each in values], dtype.as_numpy_dtype)
    return np.concatenate(values).reshape((len(values), *shape))


def _bare(value: Any) -> Any:
    """Return a scalar without the array of rank 0 that a string or a variant may come in."""
    return value.item() if isinstance(value, np.ndarray) and value.dtype.hasobject else value


@STACK.gradient
def stack_gradient(op: Operation, d_tensor: Any) -> Any:
    return FROM_TENSOR(d_tensor, rows_shape(op.outputs[0])), None


@FROM_TENSOR.shape
def from_tensor_shape(tensor: Shape, element_shape: Shape, *, element_shape_value: Any) -> Shape:
    require_shape(element_shape)
    rows = None if not tensor else tensor[1:]
    shapes.merge(rows, known_shape(element_shape_value))
    return _SCALAR


@FROM_TENSOR.kernel
def from_tensor_kernel(tensor: Any, element_shape: Any, *, element_dtype: DType) -> TensorList:
    require_rows(tensor)
    shape = told_shape(element_shape)
    check_fits(shape, tensor.shape[1:])
    return TensorList(element_dtype, shape, Elements.of(tensor))


@FROM_TENSOR.gradient
def from_tensor_gradient(op: Operation, d_list: Any) -> Any:
    tensor = op.inputs[0]
    count = (tensor.plain_shape or (None,))[0]
    return STACK(
        d_list,
        rows_shape(tensor),
        element_dtype=tensor.dtype.base_dtype,
        num_elements=-1 if count is None else count,
    ), None


# some elements, stacked

GATHER = OpDef(
    "TensorListGather(input_handle: variant, indices: int32, element_shape: int32) -> "
    f"values: element_dtype [{_TYPE}]"
)
SCATTER = OpDef(
    "TensorListScatter(tensor: element_dtype, indices: int32, element_shape: shape_type) -> "
    f"output_handle: variant {_TYPES}"
)
SCATTER_V2 = OpDef(
    "TensorListScatterV2(tensor: element_dtype, indices: int32, element_shape: shape_type, "
    f"num_elements: int32) -> output_handle: variant {_TYPES}"
)
SCATTER_INTO = OpDef(
    "TensorListScatterIntoExistingList(input_handle: variant, tensor: element_dtype, "
    f"indices: int32) -> output_handle: variant [{_TYPE}]"
)


@GATHER.shape
def gather_shape(
    input_handle: Shape, indices: Shape, element_shape: Shape, *, element_shape_value: Any
) -> Shape:
    require_shape(element_shape)
    count = shapes.num_elements(indices)
    return lead(known_shape(element_shape_value), count)


@GATHER.kernel
def gather_kernel(
    input_handle: Any, indices: Any, element_shape: Any, *, element_dtype: DType
) -> Any:
    elements = as_list(input_handle)
    elements.check_type(element_dtype)
    wanted = np.ravel(indices).tolist()
    for index in wanted:
        if not 0 <= index < elements.count:
            raise InvalidArgumentError(
                f"Index {index} out of range; list only has {elements.count} elements."
            )
    values = [elements.elements.at(index) for index in wanted]
    shape = elements.common_shape(told_shape(element_shape), values)
    if has_blanks(values):  # those that are not asked for tell the shape, too
        shape = elements.common_shape(shape)
    if shape is None or None in shape:
        what = "uninitialized tensors" if values else "0-elements"
        raise InvalidArgumentError(
            f"Tried to gather {what} from a list with non-fully-defined element_shape: "
            f"{shapes.show(shape)}"
        )
    return _stacked(element_dtype, shape, values)


@GATHER.gradient
def gather_gradient(op: Operation, d_values: Any) -> Any:
    handle, indices, _ = op.inputs
    # an element that was gathered twice has the sum for its gradient
    places, numbers = raw.Unique(raw.Reshape(indices, [-1]))
    sums = raw.UnsortedSegmentSum(d_values, numbers, raw.Size(places))
    none = RESERVE(
        element_shape_of(handle), LENGTH(handle), element_dtype=op.get_attr("element_dtype")
    )
    return SCATTER_INTO(none, sums, places), None, None


@SCATTER.shape
def scatter_shape(
    tensor: Shape, indices: Shape, element_shape: Shape, *, element_shape_value: Any
) -> Shape:
    require_shape(element_shape)
    known_shape(element_shape_value)
    return _SCALAR


@SCATTER_V2.shape
def scatter_v2_shape(
    tensor: Shape,
    indices: Shape,
    element_shape: Shape,
    num_elements: Shape,
    *,
    element_shape_value: Any,
) -> Shape:
    return scatter_shape(tensor, indices, element_shape, element_shape_value=element_shape_value)


@SCATTER_INTO.shape
def scatter_into_shape(input_handle: Shape, tensor: Shape, indices: Shape) -> Shape:
    return _SCALAR


@SCATTER.kernel
def scatter_kernel(
    tensor: Any, indices: Any, element_shape: Any, *, element_dtype: DType
) -> TensorList:
    return _scattered(tensor, indices, element_shape, element_dtype, -1)


@SCATTER_V2.kernel
def scatter_v2_kernel(
    tensor: Any, indices: Any, element_shape: Any, num_elements: Any, *, element_dtype: DType
) -> TensorList:
    count = scalar_of(num_elements, "num_elements")
    return _scattered(tensor, indices, element_shape, element_dtype, count)


def _scattered(
    tensor: Any, indices: Any, element_shape: Any, dtype: DType, count: int
) -> TensorList:
    """Return a list of `count` elements, or as many as the last index wants if that is -1."""
    wanted = _indices(tensor, indices)
    last = max(wanted, default=-1)
    if 0 <= count <= last:
        raise InvalidArgumentError(
            f"TensorListScatter: Trying to scatter at index {last} in list with size {count}"
        )
    if count < -1:
        raise InvalidArgumentError(f"TensorListScatter expects num_elements >= -1, found: {count}")
    check_room([max(count, last + 1)], np.object_)
    shape = told_shape(element_shape)
    check_fits(shape, tensor.shape[1:])
    values: list[Any] = [None] * max(count, last + 1)
    return TensorList(dtype, shape, _with_rows(values, wanted, tensor))


@SCATTER_INTO.kernel
def scatter_into_kernel(
    input_handle: Any, tensor: Any, indices: Any, *, element_dtype: DType
) -> TensorList:
    before = as_list(input_handle)
    before.check_type(element_dtype)
    wanted = _indices(tensor, indices)
    check_fits(before.element_shape, tensor.shape[1:])
    values = list(before.elements)
    values += [None] * (1 + max(wanted, default=-1) - len(values))
    return before.having(_with_rows(values, wanted, tensor))


def _indices(tensor: Any, indices: Any) -> list[int]:
    """Return where the rows of a tensor go."""
    require_rows(tensor)
    if np.shape(indices) != (len(tensor),):
        raise InvalidArgumentError(
            "Invalid number of rows in input tensor. Expected one for each of the indices, of "
            f"shape: {shapes.show(np.shape(indices))} Actual: {len(tensor)}"
        )
    wanted: list[int] = indices.tolist()
    if min(wanted, default=0) < 0:
        raise InvalidArgumentError(
            f"Indices in TensorListScatter must all be non-negative, but one is {min(wanted)}"
        )
    return wanted


def _with_rows(values: list[Any], indices: list[int], rows: Any) -> Elements:
    for index, row in zip(indices, rows, strict=True):
        values[index] = row
    return Elements.of(values)


@SCATTER.gradient
@SCATTER_V2.gradient
def scatter_gradient(op: Operation, d_list: Any) -> Any:
    tensor, indices, *others = op.inputs
    return _gathered(d_list, tensor, indices), None, *[None for _ in others]


@SCATTER_INTO.gradient
def scatter_into_gradient(op: Operation, d_list: Any) -> Any:
    _, tensor, indices = op.inputs
    d_before = SCATTER_INTO(d_list, raw.ZerosLike(tensor), indices)
    return d_before, _gathered(d_list, tensor, indices), None


def _gathered(d_list: Tensor, tensor: Tensor, indices: Tensor) -> Any:
    return GATHER(d_list, indices, rows_shape(tensor), element_dtype=tensor.dtype.base_dtype)
