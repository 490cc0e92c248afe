"""Tensors that stay on their task between steps, and go by handle: strings that are fed.

A session has one store of them on each task; it ends with the session. A handle names the device
that keeps its tensor, so that what gets or deletes it is placed there.

Source: TF 1.15 API documentation, tf.get_session_handle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.devices import DeviceSpec
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.constants import placeholder

__all__ = ["delete_session_tensor", "get_session_handle", "get_session_tensor"]

GET_SESSION_HANDLE = OpDef(
    "GetSessionHandle(value: T) -> handle: string [T: type] !", keeps_inputs=True
).not_differentiable()
GET_SESSION_TENSOR = OpDef(
    "GetSessionTensor(handle: string) -> value: dtype [dtype: type] !"
).not_differentiable()
DELETE_SESSION_TENSOR = OpDef("DeleteSessionTensor(handle: string) -> () !").not_differentiable()


def store(ctx: Any) -> Any:
    """Return the store of the session that a kernel runs for, on its task."""
    name = ctx.own_name().removesuffix(ctx.node_name) + "tensors"
    return ctx.resource("session tensors", b"", name, lambda SessionTensors: SessionTensors())


def _unknown(handle: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"The tensor with handle {handle!r} is not in the session store: it was deleted, or is of "
        "another session; a session's tensors end with it"
    )


def _text(handle: Any) -> str:
    text: bytes = handle if isinstance(handle, bytes) else handle.item()
    return text.decode(errors="replace")


@GET_SESSION_HANDLE.shape
def get_session_handle_shape(value: Shape) -> Shape:
    return ()


@GET_SESSION_HANDLE.kernel
def get_session_handle_kernel(ctx: Any, value: Any) -> Any:
    found = np.empty((), object)
    found[()] = store(ctx).keep(ctx.node_name, ctx.device, value).encode()
    return found


@GET_SESSION_TENSOR.shape
def get_session_tensor_shape(handle: Shape) -> Shape:
    shapes.require_rank(handle, "handle", 0)
    return None


@GET_SESSION_TENSOR.kernel
def get_session_tensor_kernel(ctx: Any, handle: Any, *, dtype: DType) -> Any:
    text = _text(handle)
    try:
        value = store(ctx).get(text)
    except KeyError:
        raise _unknown(text) from None
    if getattr(value, "dtype", object) != np.dtype(dtype.as_numpy_dtype):
        raise InvalidArgumentError(f"the tensor with handle {text!r} is not of type {dtype.name}")
    return value


@DELETE_SESSION_TENSOR.shape
def delete_session_tensor_shape(handle: Shape) -> list[Shape]:
    shapes.require_rank(handle, "handle", 0)
    return []


@DELETE_SESSION_TENSOR.kernel
def delete_session_tensor_kernel(ctx: Any, handle: Any) -> list[Any]:
    text = _text(handle)
    try:
        store(ctx).delete(text)
    except KeyError:
        raise _unknown(text) from None
    return []


def get_session_handle(data: Any, name: str | None = None) -> Tensor:
    """Return a tensor whose run keeps `data` on its task, and gives a handle for it.

    Args:
      data: a tensor.
      name: of the node.

    Returns:
      A string; `Session.run` gives a `TensorHandle`, with `handle`, `eval()` and `delete()`.

    Raises:
      TypeError: `data` is no tensor.

    Example:
      >>> session = Session()
      >>> kept = session.run(get_session_handle(constant(3.0) * 2.0))
      >>> handle, value = get_session_tensor(kept.handle, float32)
      >>> session.run(value + 1.0, {handle: kept.handle})
      np.float32(7.0)
    """
    if not isinstance(data, Tensor):
        raise TypeError(f"data must be a Tensor, got {data!r}")
    with scopes.colocate_with(data):
        return GET_SESSION_HANDLE(data, name=name)  # type: ignore[no-any-return]


def get_session_tensor(handle: str, dtype: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return a placeholder for handles, and the tensor that is behind what it is fed.

    Args:
      handle: any handle of the device that will keep the tensors.
      dtype: of the tensors.
      name: of the node.

    Example:
      >>> session = Session()
      >>> kept = session.run(get_session_handle(constant([1, 2])))
      >>> place, value = get_session_tensor(kept.handle, int32)
      >>> session.run(value, {place: kept.handle})
      array([1, 2], dtype=int32)
    """
    with scopes.device(device_of(handle)):
        holder = placeholder("string")
        return holder, GET_SESSION_TENSOR(holder, dtype=dtype, name=name)


def delete_session_tensor(handle: str, name: str | None = None) -> tuple[Tensor, Operation]:
    """Return a placeholder for handles, and an operation that forgets the tensor behind one.

    Args:
      handle: any handle of the device that will keep the tensors.
      name: of the node.

    Example:
      >>> session = Session()
      >>> kept = session.run(get_session_handle(constant([1, 2])))
      >>> place, delete = delete_session_tensor(kept.handle)
      >>> session.run(delete, {place: kept.handle})
    """
    with scopes.device(device_of(handle)):
        holder = placeholder("string")
        return holder, DELETE_SESSION_TENSOR(holder, name=name)


def device_of(handle: Any) -> str:
    """Return the device that keeps the tensor of a handle.

    Raises:
      ValueError: it is no handle.
    """
    text = handle.decode() if isinstance(handle, bytes) else str(handle)
    return DeviceSpec.from_string(text.split(";")[-1]).to_string()
