"""What stays true of loop variables in all iterations: types, and more or less of shapes.

A shape that no invariant mentions stays as it was before the first iteration.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import nest
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.operation import Tensor

__all__: list[str] = []


def invariant_shapes(loop_vars: Any, starts: list[Tensor], given: Any) -> list[Shape]:
    """Return what must stay true of the shape of each variable.

    Args:
      loop_vars: the structure of the variables.
      starts: their first values, flat.
      given: a TensorShape for each in the same structure, None for that of the first value; None
        for all.

    Raises:
      TypeError: the structure has other kinds (a tuple for a list, say).
      ValueError: it has another form, something in it is no shape, or the first value does not
        have the shape.
    """
    if given is None:
        return [start.plain_shape for start in starts]
    nest.check_same(loop_vars, given)
    pairs = zip(starts, nest.flatten(given), strict=True)
    return [_invariant(start, shape) for start, shape in pairs]


def _invariant(start: Tensor, given: Any) -> Shape:
    if given is None:
        return start.plain_shape
    if not isinstance(given, TensorShape):
        raise ValueError(
            "`shapes` must be a (possibly nested) list of shapes: each invariant is a TensorShape, "
            f"or None, not {given!r}"
        )
    kept = given.as_tuple()
    if not _includes(kept, start.plain_shape):
        raise ValueError(
            f"The shape invariant specified for {start.name} is not compatible with the initial "
            f"shape of the loop variable. It enters the loop with shape {start.shape}, but the "
            f"specified shape invariant is {given}."
        )
    return kept


def check_next(value: Tensor, start: Tensor, kept: Shape) -> None:
    """Check that a value fits the next iteration.

    Args:
      value: what the body gives for a variable.
      start: the variable's first value.
      kept: what stays true of its shape.

    Raises:
      TypeError: it has another type.
      ValueError: it has another shape, or less is known of its shape.
    """
    if value.dtype.base_dtype is not start.dtype.base_dtype:
        raise TypeError(
            f"loop variable {start.name!r} has type {start.dtype.base_dtype.name}, but the body "
            f"returns {value!r} for it, of type {value.dtype.base_dtype.name}"
        )
    if not _includes(kept, value.plain_shape):
        raise ValueError(
            f"Input tensor {start.name!r} enters the loop with shape {start.shape}, but has shape "
            f"{value.shape} after one iteration. To allow the shape to vary across iterations, use "
            "the `shape_invariants` argument of tf.while_loop to specify a less-specific shape."
        )


def _includes(general: Shape, shape: Shape) -> bool:
    """Return whether every tensor of `shape` has shape `general` too."""
    if general is None:
        return True
    if shape is None or len(shape) != len(general):
        return False
    return all(wide is None or wide == dim for wide, dim in zip(general, shape, strict=True))
