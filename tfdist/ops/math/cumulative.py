"""Running sums and products along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor

__all__ = ["cumprod", "cumsum"]


def _scan(name: str, function: Any, neutral: int) -> OpDef:
    """Define a running reduction; `neutral` is what an exclusive one starts with."""
    op_def = OpDef(
        f"{name}(x: T, axis: Tidx) -> out: T [exclusive: bool = False; reverse: bool = False; "
        "T: type {numeric}; Tidx: type = int32 {index}]"
    )

    @op_def.shape
    def scan_shape(x: Shape, axis: Shape) -> Shape:
        return x

    @op_def.kernel
    def scan_kernel(x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
        if axis.ndim:
            given = shapes.brackets(axis.shape)
            raise InvalidArgumentError(f"ScanOp: axis must be a scalar, not {given}")
        along = int(axis)
        if not -x.ndim <= along < x.ndim:
            at = along if along >= 0 else along + x.ndim
            raise InvalidArgumentError(
                f"ScanOp: Expected scan axis in the range [{-x.ndim}, {x.ndim}), but got {at}"
            )
        source = np.flip(x, along) if reverse else x
        out = _running(function, source, along % x.ndim)
        if exclusive:
            out = _shifted(out, along, neutral)
        return np.flip(out, along) if reverse else out

    return op_def


# CuPy's ufuncs do not accumulate
_SCANS: dict[Any, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}
_WIDE = 64  # numbers of a row, from which NumPy is quicker row by row than along columns


def _running(function: Any, source: Any, along: int) -> Any:
    wide = not along and np.prod(source.shape[1:], dtype=int) >= _WIDE
    if not wide or type(source) is not np.ndarray:
        return _SCANS[function](source, axis=along, dtype=source.dtype)
    out = np.empty(source.shape, source.dtype)
    out[:1] = source[:1]
    for row in range(1, len(source)):
        function(out[row - 1], source[row], out=out[row])
    return out


def _shifted(array: Any, axis: int, neutral: int) -> Any:
    """Return `array` moved on by one along `axis`, with `neutral` at the start."""
    out = np.full_like(array, neutral)
    lead = (slice(None),) * (axis % array.ndim)
    out[(*lead, slice(1, None))] = array[(*lead, slice(None, -1))]
    return out


CUMSUM = _scan("Cumsum", np.add, 0)
CUMPROD = _scan("Cumprod", np.multiply, 1)


@CUMSUM.gradient
def cumsum_gradient(op: Any, d_out: Any) -> Any:
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    return raw.Cumsum(d_out, op.inputs[1], exclusive=exclusive, reverse=not reverse), None


@CUMPROD.gradient
def cumprod_gradient(op: Any, d_out: Any) -> Any:
    """Return the gradient, which is undefined where x holds zeros, as in TensorFlow."""
    x, axis = op.inputs
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    scaled = raw.Mul(op.outputs[0], d_out, name="mul")
    total = raw.Cumsum(scaled, axis, exclusive=exclusive, reverse=not reverse)
    return raw.RealDiv(total, x, name="truediv"), None


def cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Return the running sum along an axis.

    Args:
      x: a tensor, or anything that converts to one.
      axis: an integer, counted from the end if negative.
      exclusive: whether an element is left out of its own sum.
      reverse: whether to start at the end.
      name: of the node.

    Example:
      >>> Session().run([cumsum([1, 2, 3]), cumsum([1, 2, 3], exclusive=True, reverse=True)])
      [array([1, 3, 6], dtype=int32), array([5, 3, 0], dtype=int32)]
    """
    tensor: Tensor = CUMSUM(x, axis, exclusive=exclusive, reverse=reverse, name=name)
    return tensor


def cumprod(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Return the running product along an axis.

    Args:
      x: a tensor, or anything that converts to one.
      axis: an integer, counted from the end if negative.
      exclusive: whether an element is left out of its own product.
      reverse: whether to start at the end.
      name: of the node.

    Example:
      >>> Session().run(cumprod([2, 3, 4]))
      array([ 2,  6, 24], dtype=int32)
    """
    tensor: Tensor = CUMPROD(x, axis, exclusive=exclusive, reverse=reverse, name=name)
    return tensor
