"""Products of tensors as tf.keras.backend has them.

Source: TF 1.15 API documentation, tf.keras.backend.dot and batch_dot.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.ops.array.reshape import expand_dims, reshape, squeeze
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.math.matmul import matmul
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.math.tensordot import tensordot

__all__ = ["batch_dot", "dot"]


def dot(x: Any, y: Any) -> Any:
    """Return the products of the rows of x with the columns of y.

    Args:
      x: [..., inner].
      y: [..., inner, outer].

    Example:
      >>> keras.backend.dot(zeros([2, 3, 4]), zeros([5, 4, 6])).shape.as_list()
      [2, 3, 5, 6]
    """
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    ranks = len(x.plain_shape), len(y.plain_shape)
    if ranks[0] > 2 or ranks[1] > 2:
        return tensordot(x, y, [[ranks[0] - 1], [max(ranks[1] - 2, 0)]])
    return matmul(x, y)


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """Return the products of x and y, example by example.

    Args:
      x: [batch, ...].
      y: [batch, ...].
      axes: over which products are summed, one for both or one for each; by default the last one
        of x, and that of y before the last.

    Example:
      >>> keras.backend.batch_dot(zeros([2, 3, 4]), zeros([2, 4, 5])).shape.as_list()
      [2, 3, 5]
    """
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    ranks = len(x.plain_shape), len(y.plain_shape)
    if axes is None:
        axes = (ranks[0] - 1, 1 if ranks[1] == 2 else ranks[1] - 2)
    first, second = (axes, axes) if isinstance(axes, int) else axes
    first, second = first % ranks[0], second % ranks[1]
    if ranks == (2, 2):
        return reduce_sum(x * y, 1, keepdims=True)
    left, outer = _matrices(x, first, last=True)
    right, inner = _matrices(y, second, last=False)
    found = matmul(left, right)
    return _shaped(found, outer, inner)


def _matrices(x: Any, axis: int, last: bool) -> tuple[Any, list[Any]]:
    """Return x with one axis for the sum, last or second, and one for all others; and those."""
    rest = [each for each in range(1, len(x.plain_shape)) if each != axis]
    if not rest:
        return expand_dims(x, 1 if last else 2), []
    sizes: Any = shape(x)
    others = [x.plain_shape[each] for each in rest]
    others = [sizes[a] if s is None else s for a, s in zip(rest, others, strict=True)]
    turned = transpose(x, [0, *rest, axis] if last else [0, axis, *rest])
    if len(rest) == 1:
        return turned, others
    kept = sizes[axis] if x.plain_shape[axis] is None else x.plain_shape[axis]
    wanted = [sizes[0], -1, kept] if last else [sizes[0], kept, -1]
    return reshape(turned, wanted), others


def _shaped(found: Any, outer: list[Any], inner: list[Any]) -> Any:
    if not outer:
        found = squeeze(found, [1])
    if not inner:
        found = squeeze(found, [-1])
    if len(outer) > 1 or len(inner) > 1:
        sizes: Any = shape(found)
        found = reshape(found, [sizes[0], *outer, *inner])
    return found
