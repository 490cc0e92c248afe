"""Tensors repeated to a greater shape, and the shape that two shapes broadcast to."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape, as_shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.framework.shared_values import as_elements

__all__ = ["broadcast_dynamic_shape", "broadcast_static_shape", "broadcast_to"]

BROADCAST_TO = OpDef(
    "BroadcastTo(input: T, shape: Tidx) -> output: T [T: type; Tidx: type = int32 {index}]"
)


@BROADCAST_TO.shape
def broadcast_to_shape(input: Shape, shape: Shape, *, shape_partial: Any) -> Shape:
    if shape_partial is None:
        return None if shape is None or shape[0] is None else (None,) * shape[0]
    target = shapes.from_constant(shape_partial)
    if input is not None and target is not None:
        shapes.require_rank(input, "input", 0, len(target))
        shapes.broadcast(input, target)
    return target


@BROADCAST_TO.kernel
def broadcast_to_kernel(input: Any, shape: Any) -> Any:
    value, sizes = as_elements(input), shapes.from_sizes(shape)
    if value.ndim > len(sizes):  # the assignment below would drop leading axes of length 1
        raise InvalidArgumentError(
            f"Rank of input ({value.ndim}) must be no greater than rank of output shape "
            f"({len(sizes)})."
        )
    check_room(sizes, value.dtype)
    try:  # new memory: a view with stride 0 looks like an array, but cannot be kept by a variable
        result = np.empty_like(value, shape=sizes)
        result[...] = value
    except ValueError:
        pair = f"{shapes.brackets(value.shape)} vs. {shapes.brackets(sizes)}"
        raise InvalidArgumentError(f"Incompatible shapes: {pair}") from None
    return result


@BROADCAST_TO.gradient
def broadcast_to_gradient(op: Any, d_output: Any) -> Any:
    source = shape(op.inputs[0])
    target = op.inputs[1]
    axes, _ = raw.BroadcastGradientArgs(source, raw.Cast(target, SrcT=target.dtype, DstT="int32"))
    return reshape(raw.Sum(d_output, axes), source), None


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return `input` repeated along axes of length 1 and new leading axes until it has `shape`.

    Example:
      >>> Session().run(broadcast_to([1, 2], [3, 2]))
      array([[1, 2],
             [1, 2],
             [1, 2]], dtype=int32)
    """
    result: Tensor = raw.BroadcastTo(input, shape, name=name)
    return result


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """Return the TensorShape that an elementwise operation on both shapes gives.

    Raises:
      ValueError: they do not broadcast.

    Example:
      >>> broadcast_static_shape(TensorShape([2, 1]), TensorShape([3])).as_list()
      [2, 3]
    """
    try:
        joint = shapes.broadcast(as_shape(shape_x), as_shape(shape_y))
    except InvalidArgumentError as error:
        raise ValueError(error.message) from None
    return TensorShape(joint)


BROADCAST_ARGS = OpDef(
    "BroadcastArgs(s0: T, s1: T) -> r0: T [T: type = int32 {index}]"
).not_differentiable()


@BROADCAST_ARGS.shape
def broadcast_args_shape(s0: Shape, s1: Shape) -> Shape:
    if not s0 or not s1 or s0[0] is None or s1[0] is None:
        return (None,)
    return (max(s0[0], s1[0]),)


@BROADCAST_ARGS.kernel
def broadcast_args_kernel(s0: Any, s1: Any) -> Any:
    return np.array(shapes.broadcast(tuple(s0.tolist()), tuple(s1.tolist())), s0.dtype)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """Return the shape that an elementwise operation gives, from two shapes as int vectors.

    Example:
      >>> Session().run(broadcast_dynamic_shape([2, 1], [3]))
      array([2, 3], dtype=int32)
    """
    result: Tensor = raw.BroadcastArgs(shape_x, shape_y)
    return result
