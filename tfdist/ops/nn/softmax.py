"""Softmax and its logarithm: scores (logits) to distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.concat import concat
from tfdist.ops.array.range import range as range_of
from tfdist.ops.array.shape import rank
from tfdist.ops.convolution.onednn_windows import first_of
from tfdist.ops.convolution.windows import CHUNK_BYTES, pieces
from tfdist.ops.nn import softmax_onednn

__all__ = ["log_softmax", "softmax"]

# Kernels work on transposed scores [classes, ...], since NumPy reduces over the first axis several
# times faster than over a short last one. Up to so many classes that pays for a copy in this order;
# more classes stay in the order that they have, of which the transpose is a view.
_FEW_CLASSES = 32


def shifted_columns(logits: Any) -> Any:
    """Return logits [..., classes] as a new array [classes, ...], minus the greatest of each row.

    exp() of it cannot overflow.
    """
    columns = logits.T
    if len(columns) <= _FEW_CLASSES:
        columns = np.ascontiguousarray(columns)
    return columns - columns.max(0) if len(columns) else columns


def class_totals(exponentials: Any) -> Any:
    """Return the sums over classes; those of 16-bit floats, which would stall, go by float32."""
    if exponentials.itemsize == 2:
        return exponentials.sum(0, np.float32).astype(exponentials.dtype)
    return exponentials.sum(0)


def as_rows(columns: Any) -> Any:
    """Return columns [classes, ...] as [..., classes]."""
    return np.ascontiguousarray(columns.T)


def in_parts(kernel: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a kernel that goes over many long rows part by part: what it makes stays in cache."""

    def in_parts_kernel(logits: Any) -> Any:
        is_plain = type(logits) is np.ndarray and logits.ndim > 1
        if not is_plain or logits.shape[-1] <= _FEW_CLASSES or logits.nbytes < CHUNK_BYTES:
            return kernel(logits)
        rows = logits.reshape(-1, logits.shape[-1])
        made = np.empty_like(rows)
        for part in pieces(len(rows), 4 * rows[:1].nbytes):
            made[part] = kernel(rows[part])
        return made.reshape(logits.shape)

    return in_parts_kernel


@in_parts
def _softmax(logits: Any) -> Any:
    shifted = shifted_columns(logits)
    exponentials = np.exp(shifted, shifted)
    exponentials /= class_totals(exponentials)
    return as_rows(exponentials)


@in_parts
def _log_softmax(logits: Any) -> Any:
    shifted = shifted_columns(logits)
    shifted -= np.log(class_totals(np.exp(shifted)))
    return as_rows(shifted)


def _vector_or_more(logits: Shape) -> Shape:
    shapes.require_rank(logits, "logits", 1, 99)
    return logits


SOFTMAX = OpDef("Softmax(logits: T) -> softmax: T [T: type {floating}]")
SOFTMAX.shape(_vector_or_more)
SOFTMAX.kernel(first_of(softmax_onednn.softmax, _softmax))


@SOFTMAX.gradient
def softmax_gradient(op: Any, d_softmax: Any) -> Any:
    softmax = op.outputs[0]
    total = raw.Sum(raw.Mul(d_softmax, softmax, name="mul"), -1, keep_dims=True)
    return raw.Mul(raw.Sub(d_softmax, total, name="sub"), softmax, name="mul")


LOG_SOFTMAX = OpDef("LogSoftmax(logits: T) -> logsoftmax: T [T: type {floating}]")
LOG_SOFTMAX.shape(_vector_or_more)
LOG_SOFTMAX.kernel(first_of(softmax_onednn.log_softmax, _log_softmax))


@LOG_SOFTMAX.gradient
def log_softmax_gradient(op: Any, d_logsoftmax: Any) -> Any:
    total = raw.Sum(d_logsoftmax, -1, keep_dims=True)
    scaled = raw.Mul(total, raw.Exp(op.outputs[0]), name="mul")
    return raw.Sub(d_logsoftmax, scaled, name="sub")


def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Return exp(logits) divided by their sum along an axis: a distribution.

    Args:
      logits: float [..., classes], any finite values: large ones do not overflow.
      axis: of the classes; the last one by default.
      name: of the node.
      dim: the old spelling of axis.

    Raises:
      InvalidArgumentError: `axis` is out of range.
      ValueError: `logits` is of rank 0.

    Example:
      >>> Session().run(nn.softmax([1000.0, 1000.0]))
      array([0.5, 0.5], dtype=float32)
    """
    return _along(SOFTMAX, logits, dim if axis is None else axis, name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Return the logarithm of `softmax`, without overflow and without log(0).

    Args:
      logits: float [..., classes].
      axis: of the classes; the last one by default.
      name: of the node.
      dim: the old spelling of axis.

    Example:
      >>> Session().run(nn.log_softmax([1000.0, 1000.0]))
      array([-0.6931472, -0.6931472], dtype=float32)
    """
    return _along(LOG_SOFTMAX, logits, dim if axis is None else axis, name)


def _along(op_def: OpDef, logits: Any, axis: Any, name: str | None) -> Tensor:
    """Return what `op_def`, which works on the last axis, gives along another one."""
    if axis is None or axis == -1:
        tensor: Tensor = op_def(logits, name=name)
        return tensor
    logits = convert_to_tensor(logits, name="logits")
    count = _rank_with(logits, axis)
    if axis % count == count - 1:
        return op_def(logits, name=name)  # type: ignore[no-any-return]
    place: Any = rank(logits)
    place = axis if axis >= 0 else raw.AddV2(axis, place, name="add")
    ranks = rank(logits)
    place = axis if axis >= 0 else raw.FloorMod(place, count, name="mod")
    turned = op_def(_exchanged(logits, place, ranks), name=name)
    back = _exchanged(turned, place, ranks)
    back.set_shape(logits.get_shape())
    return back


def _exchanged(tensor: Tensor, axis: Any, ranks: Tensor) -> Tensor:
    """Return the tensor with `axis` and its last axis exchanged."""
    last = raw.Sub(ranks, 1)
    order = concat([range_of(axis), [last], range_of(axis + 1, last), [axis]], 0)
    return raw.Transpose(tensor, order, name="transpose")  # type: ignore[no-any-return]


def axis_moved_to_end(tensor: Tensor, axis: int, ranks: Tensor) -> Tensor:
    """Return the tensor with `axis` behind the others."""
    axis %= _rank_with(tensor, axis)
    order = concat([range_of(axis), range_of(axis + 1, ranks), [axis]], 0)
    return raw.Transpose(tensor, order, name="transpose")  # type: ignore[no-any-return]


def _rank_with(tensor: Tensor, axis: int) -> int:
    """Return how many axes there are.

    Raises:
      InvalidArgumentError: `axis` is none of them.
      ValueError: their number is unknown.
    """
    if tensor.plain_shape is None:
        raise ValueError(f"an axis other than the last needs a known rank, which {tensor!r} lacks")
    count = len(tensor.plain_shape)
    if not -count <= axis < count:
        raise InvalidArgumentError(
            f"Dimension ({axis}) must be in the range [{-count}, {count}) where {count} is the "
            "number of dimensions in the input"
        )
    return count
