"""Norms of vectors and of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.math import reductions

__all__ = ["norm"]  # the other is a name of tf.linalg only


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Return a norm of vectors, of matrices, or of all elements as one vector.

    Args:
      tensor: floats or complex numbers, or anything that converts to a tensor of such.
      ord: of vectors "euclidean" (or "fro"), 1, 2, another positive number, or infinity; of
        matrices "euclidean" (or "fro"), 1, 2 (the greatest singular value) or infinity.
      axis: along which vectors stand; None for all elements; two axes for matrices.
      keepdims: whether the axes stay, with size 1.
      name: of the nodes' scope.
      keep_dims: the old spelling of keepdims.

    Raises:
      ValueError: `ord` is none of these, or there are more than two axes.

    Example:
      >>> Session().run(norm([[3.0, 4.0], [0.0, 5.0]], axis=1))
      array([5., 5.], dtype=float32)
    """
    kept = bool(keep_dims if keepdims is None else keepdims)
    axes = _axes(ord, axis)
    with name_scope(name, "norm", [tensor]):
        tensor = convert_to_tensor(tensor)
        result = _norm(tensor, ord, axis if axes is None else axes)
        if kept:
            return result
        gone = [] if axis is None else axes or [axis]
        squeezed: Tensor = raw.Squeeze(result, squeeze_dims=gone)
        return squeezed


def _axes(ord: Any, axis: Any) -> list[int] | None:
    """Return the two axes of matrices, None for vectors; ValueError if `ord` does not fit."""
    if isinstance(axis, tuple | list):
        axes = list(axis)
        if len(axes) != 2 or axes[0] == axes[1]:
            raise ValueError(
                f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
            )
        choices: list[Any] = ["euclidean", "fro", 1, 2, np.inf]
        if ord not in choices:
            raise ValueError(f"'ord' must be a supported matrix norm in {choices}, got {ord}")
        return axes
    if ord not in ("euclidean", "fro") and (not np.isreal(ord) or isinstance(ord, str) or ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    return None


def _norm(tensor: Tensor, ord: Any, axis: Any) -> Tensor:
    """Return the norm, with its axes of size 1."""
    is_matrix = isinstance(axis, list)
    if ord in ("euclidean", "fro") or (ord == 2 and not is_matrix):
        other = raw.Conj(tensor) if tensor.dtype.is_complex else tensor
        squares = raw.Mul(tensor, other, name="mul")
        root: Tensor = raw.Sqrt(reductions.reduce_sum(squares, axis, keepdims=True))
        return root
    if is_matrix and ord == 2:
        return _spectral_norm(tensor, axis)
    size = _absolute(tensor)
    if is_matrix:
        across, along = axis if ord == 1 else axis[::-1]
        sums = reductions.reduce_sum(size, across, keepdims=True)
        return reductions.reduce_max(sums, along, keepdims=True)
    if ord == np.inf:
        return reductions.reduce_max(size, axis, keepdims=True)
    if ord == 1:
        return reductions.reduce_sum(size, axis, keepdims=True)
    total = reductions.reduce_sum(raw.Pow(size, float(ord)), axis, keepdims=True)
    result: Tensor = raw.Pow(total, 1.0 / ord)
    return result


def _absolute(tensor: Tensor) -> Tensor:
    """Return absolute values, of complex numbers too."""
    if tensor.dtype.is_complex:
        return raw.ComplexAbs(tensor, Tout=tensor.dtype.real_dtype, name="Abs")  # type: ignore[no-any-return]
    return raw.Abs(tensor)  # type: ignore[no-any-return]


def _spectral_norm(tensor: Tensor, axes: list[int]) -> Tensor:
    """Return the greatest singular value of matrices in two axes, which stay with size 1."""
    if tensor.plain_shape is None:
        raise ValueError(f"the norm of matrices needs a tensor of known rank, got {tensor!r}")
    rank = len(tensor.plain_shape)
    last = [shapes.axis_of(axis, rank) for axis in axes]
    order = [axis for axis in range(rank) if axis not in last] + last
    turned = raw.Transpose(tensor, np.array(order, np.int32), name="transpose")
    values, _, _ = raw.Svd(turned, compute_uv=False)
    greatest = reductions.reduce_max(raw.Abs(values), axis=-1, keepdims=True)
    result: Tensor = raw.Transpose(
        raw.ExpandDims(greatest, -1), np.argsort(order).astype(np.int32), name="transpose"
    )
    return result


def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return a tensor divided by its norm, and the norm.

    Args:
      tensor: floats or complex numbers, or anything that converts to a tensor of such.
      ord: as in `tf.norm`.
      axis: as in `tf.norm`.
      name: of the nodes' scope.

    Returns:
      (quotients, norm): the norm has its axes with size 1.

    Example:
      >>> Session().run(linalg.normalize([3.0, 4.0]))
      (array([0.6, 0.8], dtype=float32), array([5.], dtype=float32))
    """
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        size = norm(tensor, ord, axis, keepdims=True)
        if size.dtype is not tensor.dtype.base_dtype:
            size = raw.Cast(size, DstT=tensor.dtype.base_dtype)
        return raw.RealDiv(tensor, size, name="truediv"), size
