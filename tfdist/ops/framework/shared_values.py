"""What several op families share: bare strings, missing gradients, tensors that spell shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.partial_values import partial_value


def as_elements(value: Any) -> Any:
    """Return `value` with NumPy's methods: a bare string or handle becomes an array of rank 0."""
    if hasattr(value, "dtype"):
        return value
    array = np.empty((), object)
    array[()] = value
    return array


def or_zeros(op: Operation, d_outputs: Sequence[Any]) -> list[Any]:
    """Return the gradients of the outputs of `op`, zeros for those that have none."""
    pairs = zip(op.outputs, d_outputs, strict=True)
    return [raw.ZerosLike(output) if d is None else d for output, d in pairs]


def partial_shape(tensor: Tensor) -> Shape:
    """Return what is known of the shape that an integer vector spells, None if not even its length.

    `[tf.shape(x)[0], 10]` spells (?, 10): what a Reshape or Fill makes of it has ten columns,
    whatever is fed.
    """
    known = partial_value(tensor)
    if known is None or known.ndim != 1:
        return None
    return tuple(None if dim is None or dim < 0 else int(dim) for dim in known)


def refine(result: Tensor, spelled: Any) -> Tensor:
    """Return `result` with what is known of its shape where a constant did not tell all of it.

    Args:
      result: a tensor of the shape that `spelled` spells.
      spelled: an integer vector.
    """
    shape = result.plain_shape
    if shape is None or None in shape:
        result.set_shape(partial_shape(spelled))
    return result
