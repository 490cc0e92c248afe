"""The ops of TensorArray: arrays of tensors that live for one step, as loops fill and read them.

An array's handle is the object itself (`element_array`). The flow, a number of no meaning, orders
what happens to it: every write takes one and gives the next, every read takes that of the writes
it has to wait for. Gradients go the same way back, through a second array beside the first.

The ops have three spellings, of which the later ones differ in the handle's type: `Ref(string)`,
`string` (V2), `resource` (V3). The older two are there for graphs that were stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.framework.op_aliases import Spellings
from tfdist.ops.tensor_array.element_array import ElementArray

__all__: list[str] = []  # tensor_array_class has the public class

_HANDLE = (2,)  # what TensorFlow says of a handle's shape
_NO_FLOW = np.float32(0)
_HANDLES = {"": "Ref(string)", "V2": "string", "V3": "resource"}


def versions(name: str, inputs: str, outputs: str, attrs: str = "") -> Spellings:
    """Return an op on an array, in its spellings."""
    attrs = f" [{attrs}]" if attrs else ""
    ends = zip(_HANDLES.items(), ("", "", " !"), strict=True)
    return Spellings(*[
        OpDef(f"{name}{version}(handle: {handle}{inputs}) -> {outputs}{attrs}{end}")
        for (version, handle), end in ends
    ])  # fmt: skip


# arrays

_ARRAY = "dynamic_size: bool = False; clear_after_read: bool = True"
_NAMED = "tensor_array_name: string = ''"

TENSOR_ARRAY = OpDef(
    f"TensorArray(size: int32) -> handle: Ref(string) [dtype: type; {_ARRAY}; {_NAMED}; "
    "element_shape: shape = None] !"
).not_differentiable()
TENSOR_ARRAY_V2 = OpDef(
    "TensorArrayV2(size: int32) -> handle: string [dtype: type; element_shape: shape = None; "
    f"{_ARRAY}; {_NAMED}] !"
).not_differentiable()
TENSOR_ARRAY_V3 = OpDef(
    "TensorArrayV3(size: int32) -> handle: resource, flow: float [dtype: type; "
    f"element_shape: shape = None; {_ARRAY}; identical_element_shapes: bool = False; {_NAMED}] !"
).not_differentiable()


@TENSOR_ARRAY.shape
@TENSOR_ARRAY_V2.shape
def array_shape(size: Shape) -> Shape:
    shapes.require_rank(size, "size", 0)
    return _HANDLE


@TENSOR_ARRAY_V3.shape
def array_v3_shape(size: Shape) -> list[Shape]:
    return [array_shape(size), ()]


@TENSOR_ARRAY.kernel
@TENSOR_ARRAY_V2.kernel
def array_kernel(
    ctx: Any,
    size: Any,
    *,
    dtype: DType,
    element_shape: TensorShape,
    dynamic_size: bool,
    clear_after_read: bool,
    tensor_array_name: bytes,
) -> ElementArray:
    if np.ndim(size):
        raise InvalidArgumentError(
            f"a TensorArray's size must be scalar, but had shape {size.shape}"
        )
    check_room([size], np.object_)
    return ElementArray(
        tensor_array_name.decode() or ctx.node_name,
        dtype,
        int(size),
        shape=element_shape.as_tuple(),
        grows=dynamic_size,
        clears=clear_after_read,
    )


@TENSOR_ARRAY_V3.kernel
def array_v3_kernel(
    ctx: Any,
    size: Any,
    *,
    dtype: DType,
    element_shape: TensorShape,
    dynamic_size: bool,
    clear_after_read: bool,
    identical_element_shapes: bool,
    tensor_array_name: bytes,
) -> tuple[ElementArray, Any]:
    array = array_kernel(
        ctx,
        size,
        dtype=dtype,
        element_shape=element_shape,
        dynamic_size=dynamic_size,
        clear_after_read=clear_after_read,
        tensor_array_name=tensor_array_name,
    )
    array.identical = identical_element_shapes
    return array, _NO_FLOW


SIZE = versions("TensorArraySize", ", flow_in: float", "size: int32").not_differentiable()


@SIZE.shape
def size_shape(handle: Shape, flow_in: Shape) -> Shape:
    return ()


@SIZE.kernel
def size_kernel(handle: ElementArray, flow_in: Any) -> Any:
    return np.int32(handle.size)


CLOSE = versions("TensorArrayClose", "", "()").not_differentiable()


@CLOSE.kernel
def close_kernel(handle: ElementArray) -> None:
    handle.close()


# arrays of gradients

_GRAD = "[source: string] !"
GRAD = OpDef(
    f"TensorArrayGrad(handle: string, flow_in: float) -> grad_handle: Ref(string) {_GRAD}"
).not_differentiable()
GRAD_V2 = OpDef(
    f"TensorArrayGradV2(handle: string, flow_in: float) -> grad_handle: string {_GRAD}"
).not_differentiable()
GRAD_V3 = OpDef(
    "TensorArrayGradV3(handle: resource, flow_in: float) -> grad_handle: resource, "
    f"flow_out: float {_GRAD}"
).not_differentiable()
GRAD_WITH_SHAPE = OpDef(
    "TensorArrayGradWithShape(handle: resource, flow_in: float, shape_to_prepend: int32) -> "
    f"grad_handle: resource, flow_out: float {_GRAD}"
).not_differentiable()


@GRAD.shape
@GRAD_V2.shape
def grad_shape(handle: Shape, flow_in: Shape) -> Shape:
    return _HANDLE


@GRAD_V3.shape
def grad_v3_shape(handle: Shape, flow_in: Shape) -> list[Shape]:
    return [_HANDLE, ()]


@GRAD_WITH_SHAPE.shape
def grad_with_shape_shape(handle: Shape, flow_in: Shape, shape_to_prepend: Shape) -> list[Shape]:
    return [_HANDLE, ()]


@GRAD.kernel
@GRAD_V2.kernel
def grad_kernel(handle: ElementArray, flow_in: Any, *, source: bytes) -> ElementArray:
    return handle.gradient(source.decode())


@GRAD_V3.kernel
def grad_v3_kernel(handle: ElementArray, flow_in: Any, *, source: bytes) -> tuple[Any, Any]:
    return handle.gradient(source.decode()), flow_in


@GRAD_WITH_SHAPE.kernel
def grad_with_shape_kernel(
    handle: ElementArray, flow_in: Any, shape_to_prepend: Any, *, source: bytes
) -> tuple[Any, Any]:
    lead = tuple(np.atleast_1d(shape_to_prepend).tolist())
    return handle.gradient(source.decode(), lead), flow_in


def gradient_array(
    handle: Tensor, flow: Tensor, source: str, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return handle and flow of the array of gradients of the array at `handle`.

    Args:
      handle: of the array whose elements have gradients.
      flow: what has to happen before.
      source: tells computations of gradients apart.
      name: of the nodes.
    """
    graph = handle.graph
    with graph.colocate_with(handle), scopes.name_scope(name, "TensorArrayGrad", [handle]):
        made, _ = raw.TensorArrayGradV3(handle, flow, source=source, name=name)
        with graph.control_dependencies([made]):
            return made, raw.Identity(flow, name="gradient_flow")


def gradients_of(op: Operation, flow: Tensor) -> tuple[Tensor, Tensor]:
    """Return handle and flow of the array of gradients of the array that `op` works on.

    The scope of a call of `tf.gradients` is unique, and rules are called in "SCOPE/NODE_grad".
    """
    scope = op.graph.get_name_scope()
    source = scope.rpartition(f"/{op.name}_grad")[0] or scope
    return gradient_array(op.inputs[0], flow, source)


# single elements

WRITE = versions(
    "TensorArrayWrite", ", index: int32, value: T, flow_in: float", "flow_out: float", "T: type"
)


@WRITE.shape
def write_shape(handle: Shape, index: Shape, value: Shape, flow_in: Shape) -> Shape:
    shapes.require_rank(index, "index", 0)
    shapes.require_rank(flow_in, "flow_in", 0)
    return ()


@WRITE.kernel
def write_kernel(handle: ElementArray, index: Any, value: Any, flow_in: Any, *, T: DType) -> Any:
    if T is not handle.dtype:
        raise other_type(handle, f"is trying to write dtype {T.name}")
    try:
        handle.write(index, value)
    except TypeError:
        raise _not_scalar(handle, index) from None
    return flow_in


@WRITE.gradient
def write_gradient(op: Operation, d_flow: Any) -> Any:
    _, index, value, _ = op.inputs
    handle, flow = gradients_of(op, d_flow)
    d_value = raw.TensorArrayReadV3(handle, index, flow, dtype=value.dtype.base_dtype)
    return None, None, d_value, d_flow


READ = versions("TensorArrayRead", ", index: int32, flow_in: float", "value: dtype", "dtype: type")


@READ.shape
def read_shape(handle: Shape, index: Shape, flow_in: Shape) -> Shape:
    shapes.require_rank(index, "index", 0)
    shapes.require_rank(flow_in, "flow_in", 0)
    return None


@READ.kernel
def read_kernel(handle: ElementArray, index: Any, flow_in: Any, *, dtype: DType) -> Any:
    if dtype is not handle.dtype:
        raise other_type(handle, f"requested dtype {dtype.name}")
    try:
        return handle.read(index)
    except TypeError:
        raise _not_scalar(handle, index) from None


@READ.gradient
def read_gradient(op: Operation, d_value: Any) -> Any:
    handle, flow = gradients_of(op, op.inputs[2])
    with scopes.name_scope("TensorArrayWrite"):
        return None, None, raw.TensorArrayWriteV3(handle, op.inputs[1], d_value, flow)


def other_type(array: ElementArray, what: str) -> InvalidArgumentError:
    """Return the error for an op that takes elements for those of another type."""
    return InvalidArgumentError(
        f"TensorArray {array.name!r}: dtype is {array.dtype.name} but an op {what}"
    )


def _not_scalar(array: ElementArray, index: Any) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"TensorArray {array.name!r}: an index must be scalar, but had shape: {np.shape(index)}"
    )
