"""The ops of TensorArray that take or give several elements: stacked, or one after the other."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType, string
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError, UnimplementedError
from tfdist.graph import scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.tensor_array.element_array import ElementArray, shape_of
from tfdist.ops.tensor_array.element_ops import gradients_of, other_type, versions

__all__: list[str] = []

# stacked

SCATTER = versions(
    "TensorArrayScatter", ", indices: int32, value: T, flow_in: float", "flow_out: float", "T: type"
)
UNPACK = OpDef(
    "TensorArrayUnpack(handle: Ref(string), value: T, flow_in: float) -> flow_out: float [T: type]"
)


@SCATTER.shape
def scatter_shape(handle: Shape, indices: Shape, value: Shape, flow_in: Shape) -> Shape:
    shapes.require_rank(indices, "indices", 1)
    shapes.require_rank(flow_in, "flow_in", 0)
    if value == ():
        raise InvalidArgumentError("value must have rank 1 at least, but is a scalar")
    if indices is not None and value is not None:
        shapes.merge_dim(indices[0], value[0], "the numbers of indices and values")
    return ()


@UNPACK.shape
def unpack_shape(handle: Shape, value: Shape, flow_in: Shape) -> Shape:
    return scatter_shape(handle, (None,), value, flow_in)


@SCATTER.kernel
def scatter_kernel(
    handle: ElementArray, indices: Any, value: Any, flow_in: Any, *, T: DType
) -> Any:
    if T is not handle.dtype:
        raise other_type(handle, f"is trying to write dtype {T.name}")
    if np.ndim(value) == 0:
        raise InvalidArgumentError("values to scatter must be at least a vector, got a scalar")
    if indices.ndim != 1 or len(indices) != len(value):
        raise InvalidArgumentError(
            f"indices must be a vector with one element per value, got shape: {indices.shape} "
            f"for {len(value)} values"
        )
    handle.write_rows(indices.tolist(), value)
    return flow_in


@UNPACK.kernel
def unpack_kernel(handle: ElementArray, value: Any, flow_in: Any, *, T: DType) -> Any:
    return scatter_kernel(handle, np.arange(len(value)), value, flow_in, T=T)


@SCATTER.gradient
def scatter_gradient(op: Operation, d_flow: Any) -> Any:
    _, indices, value, _ = op.inputs
    handle, flow = gradients_of(op, d_flow)
    d_value = raw.TensorArrayGatherV3(
        handle, indices, flow, dtype=value.dtype.base_dtype, element_shape=value.shape[1:]
    )
    return None, None, d_value, d_flow


_ELEMENTS = "dtype: type; element_shape: shape = None"
GATHER = versions(
    "TensorArrayGather", ", indices: int32, flow_in: float", "value: dtype", _ELEMENTS
)
PACK = OpDef(f"TensorArrayPack(handle: Ref(string), flow_in: float) -> value: dtype [{_ELEMENTS}]")


@GATHER.shape
def gather_shape(
    handle: Shape, indices: Shape, flow_in: Shape, *, element_shape: TensorShape
) -> Shape:
    shapes.require_rank(indices, "indices", 1)
    shapes.require_rank(flow_in, "flow_in", 0)
    each = element_shape.as_tuple()
    return None if each is None else (None, *each)  # TensorFlow does not count the indices


@PACK.shape
def pack_shape(handle: Shape, flow_in: Shape, *, element_shape: TensorShape) -> Shape:
    return gather_shape(handle, (None,), flow_in, element_shape=element_shape)


@GATHER.kernel
def gather_kernel(
    handle: ElementArray, indices: Any, flow_in: Any, *, dtype: DType, element_shape: TensorShape
) -> Any:
    if dtype is not handle.dtype:
        raise other_type(handle, f"requested dtype {dtype.name}")
    if np.ndim(indices) != 1:
        raise InvalidArgumentError(f"indices must be a vector, got shape: {np.shape(indices)}")
    wanted = element_shape.as_tuple()
    elements = handle.read_all(indices.tolist())
    if not elements:
        return _nothing(handle, wanted, handle.shape, "stacking")
    shape = _common_shape(handle, elements)
    if wanted != shape and not shapes.compatible(wanted, shape):
        raise _unlike(handle, "element_shape", wanted, shape)
    if not shape:
        if dtype is string:  # each is bytes, or an array of rank 0
            elements = [as_elements(each)[()] for each in elements]
        return np.array(elements, dtype.as_numpy_dtype)
    return np.concatenate(elements).reshape((len(elements), *shape))


@PACK.kernel
def pack_kernel(
    handle: ElementArray, flow_in: Any, *, dtype: DType, element_shape: TensorShape
) -> Any:
    indices = np.arange(handle.size)
    return gather_kernel(handle, indices, flow_in, dtype=dtype, element_shape=element_shape)


@GATHER.gradient
def gather_gradient(op: Operation, d_value: Any) -> Any:
    handle, flow = gradients_of(op, op.inputs[2])
    with scopes.name_scope("TensorArrayScatter"):
        return None, None, raw.TensorArrayScatterV3(handle, op.inputs[1], d_value, flow)


def _common_shape(array: ElementArray, elements: list[Any]) -> tuple[int, ...]:
    first = shape_of(elements[0])
    if not array.identical:
        for position, element in enumerate(elements):
            if shape_of(element) != first:
                raise InvalidArgumentError(
                    f"TensorArray {array.name!r} has inconsistent shapes: element 0 has shape "
                    f"{first}, element {position} {shape_of(element)}"
                )
    return first


def _unlike(array: ElementArray, what: str, wanted: Shape, found: Shape) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"TensorArray {array.name!r}: {what} is {shapes.show(wanted)}, which does not match "
        f"{shapes.show(found)}, the shape that is there"
    )


def _nothing(array: ElementArray, wanted: Shape, known: Shape, doing: str) -> Any:
    """Return no elements, of a shape that has to be known."""
    try:
        shape = shapes.merge(wanted, known)
    except InvalidArgumentError:
        raise _unlike(array, "element_shape", wanted, known) from None
    if shape is None or None in shape:
        raise UnimplementedError(
            f"TensorArray {array.name!r} has size zero, but element shape {shapes.show(shape)} is "
            f"not fully defined: {doing} nothing gives no shape"
        )
    return np.zeros((0, *shape), array.dtype.as_numpy_dtype)


# one after the other

SPLIT = versions(
    "TensorArraySplit", ", value: T, lengths: int64, flow_in: float", "flow_out: float", "T: type"
)


@SPLIT.shape
def split_shape(handle: Shape, value: Shape, lengths: Shape, flow_in: Shape) -> Shape:
    shapes.require_rank(lengths, "lengths", 1)
    shapes.require_rank(flow_in, "flow_in", 0)
    return ()


@SPLIT.kernel
def split_kernel(handle: ElementArray, value: Any, lengths: Any, flow_in: Any, *, T: DType) -> Any:
    if T is not handle.dtype:
        raise other_type(handle, f"is trying to write dtype {T.name}")
    _check_split(handle, value, lengths)
    ends = list(itertools.accumulate(lengths.tolist(), initial=0))
    pieces = (value[start:end] for start, end in itertools.pairwise(ends))
    handle.write_all(list(range(len(lengths))), pieces)
    return flow_in


def _check_split(array: ElementArray, value: Any, lengths: Any) -> None:
    if np.ndim(lengths) != 1 or np.ndim(value) == 0:
        raise InvalidArgumentError(
            f"lengths must be a vector, and what is split at least a vector; got shapes: "
            f"{np.shape(lengths)}, {np.shape(value)}"
        )
    if lengths.sum() != len(value) or lengths.min(initial=0) < 0:
        raise InvalidArgumentError(
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
            f"{lengths.sum()} and value's shape is: {list(value.shape)}; they are "
            f"{lengths.tolist()}, of which none may be negative"
        )
    if len(lengths) < array.size or (len(lengths) > array.size and not array.grows):
        raise InvalidArgumentError(
            f"TensorArray's size is not equal to the size of lengths ({array.size} vs. "
            f"{len(lengths)}), and the TensorArray is not marked as dynamically resizeable: "
            f"{array.name!r}"
        )


@SPLIT.gradient
def split_gradient(op: Operation, d_flow: Any) -> Any:
    value = op.inputs[1]
    handle, flow = gradients_of(op, d_flow)
    d_value, _ = raw.TensorArrayConcatV3(
        handle, flow, dtype=value.dtype.base_dtype, element_shape_except0=value.shape[1:]
    )
    return None, d_value, None, d_flow


CONCAT = versions(
    "TensorArrayConcat", ", flow_in: float", "value: dtype, lengths: int64",
    "dtype: type; element_shape_except0: shape = None",
)  # fmt: skip


@CONCAT.shape
def concat_shape(
    handle: Shape, flow_in: Shape, *, element_shape_except0: TensorShape
) -> list[Shape]:
    shapes.require_rank(flow_in, "flow_in", 0)
    rest = element_shape_except0.as_tuple()
    return [None if rest is None else (None, *rest), (None,)]


@CONCAT.kernel
def concat_kernel(
    handle: ElementArray, flow_in: Any, *, dtype: DType, element_shape_except0: TensorShape
) -> tuple[Any, Any]:
    if dtype is not handle.dtype:
        raise other_type(handle, f"requested dtype {dtype.name}")
    wanted = element_shape_except0.as_tuple()
    elements = handle.read_all(list(range(handle.size)))
    if not elements:
        known = handle.shape[1:] if handle.shape and wanted is None else None
        return _nothing(handle, wanted, known, "concatenating"), np.zeros(0, np.int64)
    try:
        joined = np.concatenate(elements)
    except ValueError:
        raise _not_in_line(handle, elements) from None
    if wanted is not None and not shapes.compatible(wanted, joined.shape[1:]):
        raise _unlike(handle, "element_shape_except0", wanted, joined.shape[1:])
    return joined, np.array([len(element) for element in elements], np.int64)


@CONCAT.gradient
def concat_gradient(op: Operation, d_value: Any, d_lengths: Any) -> Any:
    handle, flow = gradients_of(op, op.inputs[1])
    with scopes.name_scope("TensorArraySplit"):
        return None, raw.TensorArraySplitV3(handle, d_value, op.outputs[1], flow)


def _not_in_line(array: ElementArray, elements: list[Any]) -> InvalidArgumentError:
    """Return the error for elements that cannot stand one after the other."""
    found = [shape_of(element) for element in elements]
    if () in found:
        return InvalidArgumentError(
            f"TensorArray {array.name!r}: to concatenate needs vectors at least, but element "
            f"{found.index(())} is a scalar; stack() takes those"
        )
    odd = next(i for i, shape in enumerate(found) if shape[1:] != found[0][1:])
    return InvalidArgumentError(
        f"TensorArray {array.name!r} has inconsistent shapes (excepting dimension 0): element 0 "
        f"has shape {found[0]}, element {odd} {found[odd]}"
    )
