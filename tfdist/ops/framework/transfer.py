"""`_Send` and `_Recv`: how a tensor crosses from one task to another; and between its devices.

Source: docs/wire.md section 5.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from tfdist.graph.op_def import OpDef

_ATTRS = (
    "tensor_name: string; send_device: string; send_device_incarnation: int; "
    "recv_device: string; client_terminated: bool = False"
)

_SEND = f"Send(tensor: T) -> () [T: type; {_ATTRS}] !"
_RECV = f"Recv() -> tensor: tensor_type [tensor_type: type; {_ATTRS}] !"
SEND, HOST_SEND = (OpDef(f"{kind}{_SEND}").not_differentiable() for kind in ("_", "_Host"))
COPY = OpDef(
    "_DeviceCopy(tensor: T) -> copy: T "
    "[T: type; tensor_name: string; send_device: string; recv_device: string]"
).not_differentiable()
RECV, HOST_RECV = (OpDef(f"{kind}{_RECV}").not_differentiable() for kind in ("_", "_Host"))


@lru_cache(maxsize=65536)
def rendezvous_key(source: bytes, incarnation: int, target: bytes, name: bytes) -> str:
    """Return the key under which both sides of a transfer meet, without loop and round."""
    life = incarnation & (2**64 - 1)
    return f"{source.decode()};{life:016x};{target.decode()};{name.decode()}"


@HOST_SEND.kernel
@SEND.kernel
def send_kernel(
    ctx: Any,
    tensor: Any,
    *,
    tensor_name: bytes,
    send_device: bytes,
    send_device_incarnation: int,
    recv_device: bytes,
) -> None:
    key = rendezvous_key(send_device, send_device_incarnation, recv_device, tensor_name)
    ctx.send(key, tensor)


@COPY.kernel
def copy_kernel(tensor: Any) -> Any:
    return np.array(tensor) if isinstance(tensor, np.ndarray) else tensor


@HOST_RECV.kernel
@RECV.kernel
def recv_kernel(
    ctx: Any,
    *,
    tensor_name: bytes,
    send_device: bytes,
    send_device_incarnation: int,
    recv_device: bytes,
) -> Iterator[Any]:
    key = rendezvous_key(send_device, send_device_incarnation, recv_device, tensor_name)
    tensor = yield ctx.receive(key)
    return tensor
