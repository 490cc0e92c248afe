"""Changes of rows of a variable that has many of them in each of its first axes.

Source: TF 1.15 API documentation, tf.batch_scatter_update.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import ones_like
from tfdist.ops.array.reshape import expand_dims, reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.variables.scatter import scatter_nd_update

__all__ = ["batch_scatter_update"]


def batch_scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None
) -> Any:
    """Set rows of a variable: ref[i, ..., indices[i, ..., j]] to updates[i, ..., j].

    Args:
      ref: a variable.
      indices: integers [..., n]; the axes but the last are the first ones of the variable.
      updates: [..., n, ...], a row for each index.
      use_locking: taken and not needed: a change is always whole.
      name: prefix for the nodes.

    Returns:
      The changed variable.

    Raises:
      ValueError: the shapes do not fit.

    Example:
      >>> rows = Variable([[1, 2, 3], [4, 5, 6]])
      >>> session = Session()
      >>> session.run(global_variables_initializer())
      >>> session.run(batch_scatter_update(rows, [[0], [2]], [[-1], [-2]]))
      array([[-1,  2,  3],
             [ 4,  5, -2]], dtype=int32)
    """
    with name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        given = getattr(updates, "plain_shape", np.shape(updates))
        _check(ref.shape.as_tuple(), indices.plain_shape, given)
        places = _places(indices)
        return scatter_nd_update(ref, places, updates, use_locking)


def _check(variable: Shape, indices: Shape, updates: Shape) -> None:
    """Raise ValueError unless there is a row of the variable for each index."""
    if variable is None or indices is None:
        return
    wanted = indices + variable[len(indices) :]
    if not shapes.compatible(wanted, updates):
        raise ValueError(
            f"updates must have a row for each index, as shape {shapes.show(wanted)} has; got "
            f"{shapes.show(updates)}"
        )


def _places(indices: Tensor) -> Tensor:
    """Return `indices` with the places in the axes before them: [..., n, rank]."""
    count = indices.shape.ndims
    if count is None:
        raise ValueError("the rank of indices must be known; set_shape tells it")
    sizes: Any = shape(indices)
    last = expand_dims(indices, -1)
    parts = []
    for axis in range(count - 1):
        size = sizes[axis]
        numbers = reshape(raw.Range(0, size, 1), [1] * axis + [size] + [1] * (count - axis))
        parts.append(cast(numbers, indices.dtype) * ones_like(last))
    return concat([*parts, last], -1)
