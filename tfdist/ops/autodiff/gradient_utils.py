"""What gradient rules share: conjugates, shapes known or not, and sums over broadcast axes.

A gradient rule may name the keyword-only parameter `needed` (one bool per input, all True by
default): `gradients` then tells it which inputs lie on a way to the tensors asked for, and the
rule gives None for the others, so that no nodes are made for the gradients of constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.handles import value_behind
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor

Needed = tuple[bool, ...]

BROADCAST_GRADIENT_ARGS = OpDef(
    "BroadcastGradientArgs(s0: T, s1: T) -> r0: T, r1: T [T: type = int32 {index}]"
).not_differentiable()


@BROADCAST_GRADIENT_ARGS.shape
def broadcast_gradient_args_shape(s0: Shape, s1: Shape) -> list[Shape]:
    return [(None,), (None,)]


@BROADCAST_GRADIENT_ARGS.kernel
def broadcast_gradient_args_kernel(s0: Any, s1: Any) -> Any:
    one, other = s0.tolist(), s1.tolist()
    if one == other:
        return [np.empty(0, s0.dtype)] * 2
    rank = max(len(one), len(other))
    one, other = [1] * (rank - len(one)) + one, [1] * (rank - len(other)) + other
    if any(a != b and 1 not in (a, b) for a, b in zip(one, other, strict=True)):
        raise InvalidArgumentError(f"incompatible shapes: {s0.tolist()} and {s1.tolist()}")
    return [
        np.array([axis for axis, dim in enumerate(dims) if dim == 1], s0.dtype)
        for dims in (one, other)
    ]


def conjugate(tensor: Tensor) -> Tensor:
    """Return the complex conjugate; `tensor` itself if it is real."""
    return raw.Conj(tensor) if tensor.dtype.is_complex else tensor


def shape_of(tensor: Tensor) -> Tensor:
    """Return the shape as a vector: a constant if it is known, else a node that asks for it."""
    shape = value_behind(tensor).shape
    if shape is None or None in shape:
        return (raw.VariableShape if tensor.dtype is dtypes.resource else raw.Shape)(tensor)
    return raw.Const(value=np.array(shape, np.int32), dtype=dtypes.int32, name="Shape")


def sum_to_inputs(x: Tensor, y: Tensor, d_x: Any, d_y: Any) -> tuple[Any, Any]:
    """Return gradients summed over the axes along which `x` and `y` were broadcast.

    Args:
      x: an input of an op that broadcasts.
      y: the other one.
      d_x: gradient of x in the shape of the result, or None.
      d_y: gradient of y in the shape of the result, or None.
    """
    if x._shape == y._shape and x._shape is not None and None not in x._shape:
        return d_x, d_y
    x_axes, y_axes = broadcast_axes(x._shape, y._shape), broadcast_axes(y._shape, x._shape)
    if (d_x is None or x_axes is not None) and (d_y is None or y_axes is not None):
        return _sum_static(x, d_x, x_axes), _sum_static(y, d_y, y_axes)
    x_shape, y_shape = raw.Shape(x), raw.Shape(y)
    x_sum, y_sum = raw.BroadcastGradientArgs(x_shape, y_shape)
    return _sum_dynamic(d_x, x_sum, x_shape), _sum_dynamic(d_y, y_sum, y_shape)


def broadcast_axes(own: Shape, other: Shape) -> list[int] | None:
    """Return the axes of the result along which `own` is repeated; None if that is not known.

    An axis counts as repeated where it might have size 1 anyway: summing there does no harm.
    """
    if own is None or other is None:
        return None
    rank = max(len(own), len(other))
    lead = rank - len(own)
    axes = list(range(lead))
    for axis, one, two in zip(range(lead, rank), own, _padded(other, rank)[lead:], strict=True):
        if one == 1 and two != 1:
            axes.append(axis)
        elif one is None and two != 1:
            return None
    return axes


def _padded(shape: tuple[Any, ...], rank: int) -> tuple[Any, ...]:
    return (1,) * (rank - len(shape)) + shape


def _sum_static(tensor: Tensor, gradient: Any, axes: list[int] | None) -> Any:
    if gradient is None or not axes:
        return gradient
    total = raw.Sum(gradient, np.array(axes, np.int32))
    shape = tensor.plain_shape
    known = shape is not None and None not in shape
    return raw.Reshape(total, np.array(shape, np.int32) if known else raw.Shape(tensor))


def _sum_dynamic(gradient: Any, axes: Tensor, shape: Tensor) -> Any:
    return None if gradient is None else raw.Reshape(raw.Sum(gradient, axes), shape)


def known_count(tensor: Tensor) -> int | None:
    """Return the number of elements, None if it is not known."""
    return shapes.num_elements(tensor.plain_shape)
