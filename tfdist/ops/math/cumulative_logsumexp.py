"""Running sums of numbers that are there as logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor

__all__: list[str] = []  # its name is one of tf.math only

CUMULATIVE_LOGSUMEXP = OpDef(
    "CumulativeLogsumexp(x: T, axis: Tidx) -> out: T [exclusive: bool = False; "
    "reverse: bool = False; T: type {half,float,double}; Tidx: type = int32 {index}]"
)


@CUMULATIVE_LOGSUMEXP.shape
def cumulative_logsumexp_shape(x: Shape, axis: Shape) -> Shape:
    return x


@CUMULATIVE_LOGSUMEXP.kernel
def cumulative_logsumexp_kernel(x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
    along = shapes.axis_of(int(axis), x.ndim)
    source = np.flip(x, along) if reverse else x
    out = np.logaddexp.accumulate(source, along)
    out = np.maximum(out, np.finfo(x.dtype).min)  # TensorFlow's logarithm of 0
    if exclusive:
        first = np.full_like(out[(slice(None),) * along + (slice(1),)], np.finfo(x.dtype).min)
        rest = out[(slice(None),) * along + (slice(-1),)]
        out = np.concatenate([first, rest], along)
    return np.flip(out, along) if reverse else out


@CUMULATIVE_LOGSUMEXP.gradient
def cumulative_logsumexp_gradient(op: Any, d_out: Any) -> Any:
    """Return the gradient: the positive and negative parts are summed as logarithms, too."""
    x, axis = op.inputs
    least = np.finfo(x.dtype.as_numpy_dtype).min
    flags = {"exclusive": op.get_attr("exclusive"), "reverse": not op.get_attr("reverse")}
    parts = []
    for sign in (1.0, -1.0):
        signed = raw.Mul(d_out, sign, name="mul")
        is_positive = raw.Greater(signed, 0.0)
        safe = raw.SelectV2(is_positive, signed, raw.OnesLike(signed))
        logarithm = raw.SelectV2(
            is_positive, raw.Log(safe), np.array(least, x.dtype.as_numpy_dtype)
        )
        total = CUMULATIVE_LOGSUMEXP(raw.Sub(logarithm, op.outputs[0]), axis, **flags)
        parts.append(raw.Exp(raw.AddV2(total, x, name="add")))
    return raw.Sub(*parts), None


def cumulative_logsumexp(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Return the logarithms of the running sums of exp(x) along an axis, without overflow.

    Args:
      x: floats.
      axis: an integer, counted from the end if negative.
      exclusive: whether an element is left out of its own sum.
      reverse: whether to start at the end.
      name: of the node.

    Example:
      >>> Session().run(math.cumulative_logsumexp([0.0, 0.0, 0.0])).round(3)
      array([0.   , 0.693, 1.099], dtype=float32)
    """
    tensor: Tensor = CUMULATIVE_LOGSUMEXP(x, axis, exclusive=exclusive, reverse=reverse, name=name)
    return tensor
