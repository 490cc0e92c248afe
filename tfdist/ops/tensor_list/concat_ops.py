"""The ops of TensorList that join elements one after the other, and those of several lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Operation
from tfdist.ops.tensor_array.element_array import shape_of
from tfdist.ops.tensor_list.element_ops import (
    element_shape_of,
    known_shape,
    require_shape,
    told_shape,
)
from tfdist.ops.tensor_list.list_value import TensorList, as_list, has_blanks, zeros
from tfdist.ops.tensor_list.persistent_elements import Elements
from tfdist.ops.tensor_list.stacked_ops import check_fits, lead, require_rows

__all__: list[str] = []

_TYPE = "element_dtype: type"
_TYPES = f"[{_TYPE}; shape_type: type {{index}}]"

# elements one after the other

CONCAT = OpDef(
    "TensorListConcat(input_handle: variant) -> tensor: element_dtype, lengths: int64 "
    f"[{_TYPE}; element_shape: shape = None]"
)
CONCAT_V2 = OpDef(
    "TensorListConcatV2(input_handle: variant, element_shape: shape_type, leading_dims: int64) -> "
    f"tensor: element_dtype, lengths: int64 {_TYPES}"
)
SPLIT = OpDef(
    "TensorListSplit(tensor: element_dtype, element_shape: shape_type, lengths: int64) -> "
    f"output_handle: variant {_TYPES}"
)


@CONCAT.shape
def concat_shape(input_handle: Shape, *, element_shape: TensorShape) -> list[Shape]:
    return _concat_shapes(element_shape.as_tuple())


@CONCAT_V2.shape
def concat_v2_shape(
    input_handle: Shape, element_shape: Shape, leading_dims: Shape, *, element_shape_value: Any
) -> list[Shape]:
    require_shape(element_shape)
    shapes.require_rank(leading_dims, "leading_dims", 1)
    return _concat_shapes(known_shape(element_shape_value))


def _concat_shapes(each: Shape) -> list[Shape]:
    return [lead(each[1:], None) if each else None, (None,)]


@CONCAT.kernel
def concat_kernel(
    input_handle: Any, *, element_dtype: DType, element_shape: TensorShape
) -> tuple[Any, Any]:
    shape = element_shape.as_tuple()
    free = lead(shape[1:], None) if shape else shape
    return _joined(as_list(input_handle), element_dtype, free, [])


@CONCAT_V2.kernel
def concat_v2_kernel(
    input_handle: Any, element_shape: Any, leading_dims: Any, *, element_dtype: DType
) -> tuple[Any, Any]:
    shape = told_shape(element_shape)
    return _joined(as_list(input_handle), element_dtype, shape, leading_dims.tolist())


def _joined(
    elements: TensorList, dtype: DType, shape: Shape, leads: Sequence[int]
) -> tuple[Any, Any]:
    """Return the elements of a list as one tensor, and how long each is.

    Args:
      elements: the list.
      dtype: of the tensor.
      shape: what an op says of every element.
      leads: how long those are that are not set, if the first dimension of `shape` is not known.
    """
    elements.check_type(dtype)
    values = list(elements.elements)
    first, rest = _dims(elements, shape, values)
    if rest is None or None in rest:
        raise InvalidArgumentError(
            "All except the first dimension must be fully defined when concating an empty tensor "
            f"list. element_shape: {shapes.show(lead(rest, first))}"
        )
    if has_blanks(values):
        length = _Lengths(first, leads, values)
        values = [
            zeros(dtype, (length.of(i), *rest)) if each is None else each
            for i, each in enumerate(values)
        ]
    lengths = np.array(list(map(len, values)), np.int64)
    return np.concatenate(values) if values else zeros(dtype, (0, *rest)), lengths


def _dims(elements: TensorList, shape: Shape, values: Sequence[Any]) -> tuple[int | None, Shape]:
    """Return the first dimension that elements are said to have, and the others, which all have."""
    if () in (shape, elements.element_shape):
        raise InvalidArgumentError(
            "Concat requires elements to be at least vectors, found scalars instead."
        )
    told = shapes.merge(shape, elements.element_shape, "the shapes that elements are said to have")
    first, rest = (told[0], told[1:]) if told else (None, None)
    for i, each in enumerate(values):
        if each is None:
            continue
        if shape_of(each) == ():
            raise InvalidArgumentError(
                f"Concat saw a scalar shape at index {i} but requires at least vectors."
            )
        if first not in (None, len(each)):
            raise InvalidArgumentError(
                "First entry of element_shape input does not match the first dim of list element "
                f"at index: {i} Expected: {first} Actual: {len(each)}"
            )
        rest = shapes.merge(rest, each.shape[1:], "all but the first dimensions of elements")
    return first, rest


class _Lengths:
    """Tells how long those elements are that are not set."""

    def __init__(self, first: int | None, leads: Sequence[int], values: Sequence[Any]) -> None:
        self._first, self._leads = first, leads
        if first is None and not leads:  # as all that are set are, if they are alike
            lengths = {len(each) for each in values if each is not None}
            self._first = lengths.pop() if len(lengths) == 1 else None

    def of(self, index: int) -> int:
        """Return the length of an element; InvalidArgumentError if nothing tells it."""
        if self._first is not None:
            return self._first
        if index >= len(self._leads):
            raise InvalidArgumentError(
                f"List contains uninitialized tensor at index {index} but leading_dims has only "
                f"{len(self._leads)} elements."
            )
        return self._leads[index]


@CONCAT.gradient
@CONCAT_V2.gradient
def concat_gradient(op: Operation, d_tensor: Any, d_lengths: Any) -> Any:
    handle, *others = op.inputs
    if d_tensor is None:
        return [None] * len(op.inputs)
    return SPLIT(d_tensor, element_shape_of(handle), op.outputs[1]), *[None for _ in others]


@SPLIT.shape
def split_shape(
    tensor: Shape, element_shape: Shape, lengths: Shape, *, element_shape_value: Any
) -> Shape:
    require_shape(element_shape)
    shapes.require_rank(lengths, "lengths", 1)
    if tensor == ():
        raise InvalidArgumentError("Shape must be at least rank 1 but is rank 0")
    each = known_shape(element_shape_value)
    if tensor is not None and each is not None:
        shapes.merge((None, *tensor[1:]), (None, *each[1:]) if each else each)
    return ()


@SPLIT.kernel
def split_kernel(
    tensor: Any, element_shape: Any, lengths: Any, *, element_dtype: DType
) -> TensorList:
    require_rows(tensor)
    shape, parts, start = told_shape(element_shape), [], 0
    for length in lengths.tolist():
        if length < 0:
            raise InvalidArgumentError(f"Invalid value in lengths: {length}")
        if start + length > len(tensor):
            raise InvalidArgumentError(
                f"Attempting to slice [{start}, {start + length}] from tensor with length "
                f"{len(tensor)}"
            )
        parts.append(tensor[start : start + length])
        check_fits(shape, parts[-1].shape)
        start += length
    if start < len(tensor):
        raise InvalidArgumentError(
            f"Unused values in tensor. Length of tensor: {len(tensor)} Values used: {start}"
        )
    return TensorList(element_dtype, shape, Elements.of(parts))


@SPLIT.gradient
def split_gradient(op: Operation, d_list: Any) -> Any:
    tensor, _, lengths = op.inputs
    shape = element_shape_of(op.outputs[0])
    joined, _ = CONCAT_V2(d_list, shape, lengths, element_dtype=tensor.dtype.base_dtype)
    return joined, None, None


# several lists

PUSH_BATCH = OpDef(
    "TensorListPushBackBatch(input_handles: variant, tensor: element_dtype) -> "
    f"output_handles: variant [{_TYPE}]"
).not_differentiable()
CONCAT_LISTS = OpDef(
    f"TensorListConcatLists(input_a: variant, input_b: variant) -> output: variant [{_TYPE}]"
).not_differentiable()


@PUSH_BATCH.shape
def push_batch_shape(input_handles: Shape, tensor: Shape) -> Shape:
    shapes.require_rank(input_handles, "input_handles", 1)
    count = tensor[:1] if tensor else None
    return shapes.merge(input_handles, count, "the numbers of lists and of elements")


@PUSH_BATCH.kernel
def push_batch_kernel(input_handles: Any, tensor: Any, *, element_dtype: DType) -> Any:
    if np.ndim(tensor) == 0:
        raise InvalidArgumentError("Expected tensor to be at least a vector, but saw shape: ()")
    if np.shape(input_handles) != tensor.shape[:1]:
        raise InvalidArgumentError(
            f"Expected tensor.shape[0] == input_handles.size, but saw {len(tensor)} vs. "
            f"{np.size(input_handles)}"
        )
    pushed = np.empty(len(tensor), object)
    for i, (handle, value) in enumerate(zip(input_handles, tensor, strict=True)):
        before = as_list(handle)
        before.check_type(element_dtype)
        pushed[i] = before.pushed(value)
    return pushed


@CONCAT_LISTS.shape
def concat_lists_shape(input_a: Shape, input_b: Shape) -> Shape:
    return shapes.merge(input_a, input_b)


@CONCAT_LISTS.kernel
def concat_lists_kernel(input_a: Any, input_b: Any, *, element_dtype: DType) -> Any:
    if np.shape(input_a) != np.shape(input_b):
        raise InvalidArgumentError(
            "input_a and input_b must have the same shape, but have "
            f"{shapes.show(np.shape(input_a))} and {shapes.show(np.shape(input_b))}"
        )
    if np.shape(input_a) == ():
        return _one_list(as_list(input_a), as_list(input_b), element_dtype)
    pairs = zip(input_a.flat, input_b.flat, strict=True)
    made = np.empty(input_a.size, object)
    made[:] = [_one_list(as_list(a), as_list(b), element_dtype) for a, b in pairs]
    return made.reshape(input_a.shape)


def _one_list(first: TensorList, second: TensorList, dtype: DType) -> TensorList:
    """Return a list of the elements of two."""
    first.check_type(dtype)
    second.check_type(dtype)
    if first.element_shape != second.element_shape:
        raise InvalidArgumentError(
            "input_a and input_b TensorList element shapes are not identical: "
            f"{shapes.show(first.element_shape)} vs. {shapes.show(second.element_shape)}"
        )
    return first.having(Elements.of([*first.elements, *second.elements]))
