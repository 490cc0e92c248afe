"""The sum of products of two tensors over any of their axes.

The nodes are TensorFlow 1.15's, one by one: the seeds of random ops made later count them.

Source: TF 1.15 API documentation, tf.tensordot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array import reshape as array_reshape
from tfdist.ops.array import shape as array_shape
from tfdist.ops.array.concat import concat, stack
from tfdist.ops.array.dynamic_partition import setdiff1d
from tfdist.ops.array.gather import gather
from tfdist.ops.array.range import range as range_of
from tfdist.ops.math.comparison import where
from tfdist.ops.math.matmul import factors
from tfdist.ops.math.reductions import reduce_prod

__all__ = ["tensordot"]


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Return the sum of products of `a` and `b` over axes of both: a matrix product, generalised.

    Args:
      a: a tensor.
      b: a tensor of the same type.
      axes: an integer n (the last n axes of a, the first n of b), or two lists of axes, or an
        int32 tensor of two rows.
      name: of the nodes' scope.

    Returns:
      The remaining axes of a, followed by those of b.

    Raises:
      ValueError: the axes do not fit.
      IndexError: there is no such axis.

    Example:
      >>> Session().run(tensordot([[1, 2], [3, 4]], [[5, 6], [7, 8]], axes=2))
      np.int32(70)
    """
    with name_scope(name, "Tensordot", [a, b]) as scope:
        a, b = factors(a, b)
        first, second = _axes(a, axes)
        rows, left = _as_matrix(a, first, last=True)
        columns, right = _as_matrix(b, second, last=False)
        product = raw.MatMul(rows, columns)
        if isinstance(left, list) and isinstance(right, list):
            tensor: Tensor = array_reshape.reshape(product, left + right, name=scope)
            return tensor
        sizes = [convert_to_tensor(each, "int32", name="Const") for each in (left, right)]
        tensor = array_reshape.reshape(product, concat(sizes, 0), name=scope)
        return _with_shape(tensor, a, b, first, second)


def _axes(a: Tensor, axes: Any) -> tuple[Any, Any]:
    """Return the axes of a, and those of b."""
    if isinstance(axes, int | np.integer):
        return _last_and_first(a, int(axes))
    if isinstance(axes, str):
        raise TypeError(f"Expected int32, got {axes!r} of type 'str' instead.")
    if hasattr(axes, "_as_tensor"):
        both: Any = axes._as_tensor(False)
        return both[0], both[1]
    first, second = (_listed(each) for each in axes)
    if isinstance(first, list) and isinstance(second, list) and len(first) != len(second):
        raise ValueError(
            f"Different number of contraction axes 'a' and 'b', {len(first)} != {len(second)}."
        )
    return first, second


def _last_and_first(a: Tensor, count: int) -> tuple[Any, Any]:
    """Return the last `count` axes of `a`, a tensor if its rank is unknown, and the first ones."""
    if count < 0:
        raise ValueError(f"'axes' must be at least 0, got {count}")
    if a.plain_shape is None:
        found = array_shape.rank(a)
        return range_of(raw.Sub(found, count, name="sub"), found), range_of(count)
    rank = len(a.plain_shape)
    if count > rank:
        raise ValueError(
            f"'axes' must not be larger than the number of dimensions of tensor {a}: {count}"
        )
    return list(range(rank - count, rank)), list(range(count))


def _listed(axes: Any) -> Any:
    if hasattr(axes, "_as_tensor"):
        return axes
    return [int(axis) for axis in np.atleast_1d(axes)]


def _as_matrix(tensor: Tensor, axes: Any, last: bool) -> tuple[Tensor, Any]:
    """Return a matrix with `axes` as its rows (or as columns if `last`), and the other sizes."""
    known: Any = tensor.plain_shape
    if known is None or not isinstance(axes, list):
        return _as_later_matrix(tensor, axes, last)
    for axis in axes:
        if not -len(known) <= axis < len(known):
            raise IndexError(f"axis {axis} is out of range of the shape {known}")
    axes = [axis % len(known) for axis in axes]
    rest = [axis for axis in range(len(known)) if axis not in axes]
    if None in known:
        return _turned(
            tensor, convert_to_tensor(axes, "int32", name="axes"),
            convert_to_tensor(rest, "int32", name="free"), array_shape.shape(tensor), last,
        )  # fmt: skip
    order = rest + axes if last else axes + rest
    turned = raw.Transpose(tensor, np.array(order, np.int32), name="transpose")
    sizes = [int(np.prod([known[axis] for axis in each])) for each in (rest, axes)]
    return array_reshape.reshape(turned, sizes if last else sizes[::-1]), [
        known[axis] for axis in rest
    ]


def _as_later_matrix(tensor: Tensor, axes: Any, last: bool) -> tuple[Tensor, Any]:
    """Return the same where rank or axes are known only when it runs."""
    sizes, rank = array_shape.shape(tensor), array_shape.rank(tensor)
    axes = convert_to_tensor(axes, "int32", name="axes")
    axes = where(raw.GreaterEqual(axes, 0), axes, raw.AddV2(axes, rank, name="add"))
    rest = setdiff1d(range_of(rank), axes)[0]
    return _turned(tensor, axes, rest, sizes, last)


def _turned(
    tensor: Tensor, axes: Tensor, rest: Tensor, sizes: Tensor, last: bool
) -> tuple[Tensor, Tensor]:
    kept, summed = gather(sizes, rest), gather(sizes, axes)
    counts = [reduce_prod(kept), reduce_prod(summed)]
    order = concat([rest, axes] if last else [axes, rest], 0)
    flat = stack(counts if last else counts[::-1])
    return array_reshape.reshape(raw.Transpose(tensor, order, name="transpose"), flat), kept


def _with_shape(tensor: Tensor, a: Tensor, b: Tensor, first: Any, second: Any) -> Tensor:
    """Let the tensor know the sizes that are known before it runs."""
    known: list[int | None] = []
    for factor, axes in ((a, first), (b, second)):
        shape = factor.plain_shape
        if shape is None or not isinstance(axes, list):
            return tensor
        summed = [axis % len(shape) for axis in axes]
        known += [size for axis, size in enumerate(shape) if axis not in summed]
    tensor.set_shape(known)
    return tensor
