"""Tensors of known shape side by side on a new first axis: tf.parallel_stack.

Source: TF 1.15 API documentation, tf.parallel_stack.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor

__all__ = ["parallel_stack"]

PARALLEL_CONCAT = OpDef(
    "ParallelConcat(values: N*T) -> output: T [N: int >=1; T: type; shape: shape]"
)


@PARALLEL_CONCAT.shape
def parallel_concat_shape(values: list[Shape], *, shape: TensorShape) -> Shape:
    if not shape.is_fully_defined():
        raise InvalidArgumentError(
            f"shape attr must be fully defined, got {shape}; tf.stack does without"
        )
    dims: Any = shape.as_tuple()
    if not dims or dims[0] != len(values):
        raise InvalidArgumentError(f"{len(values)} values make no tensor of shape {shape}")
    for value in values:
        shapes.merge(value, (1, *dims[1:]), "the shape of a value and that of a row of the result")
    return dims  # type: ignore[no-any-return]


@PARALLEL_CONCAT.kernel
def parallel_concat_kernel(values: Any, *, shape: TensorShape) -> Any:
    parallel_concat_shape([np.shape(value) for value in values], shape=shape)
    return np.concatenate(values)


def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """Return `stack(values)` for values of known shape; it has no gradient.

    Args:
      values: tensors, or what converts to such, all of one type and shape.
      name: prefix for the nodes.

    Raises:
      ValueError: a shape is not known; tf.stack does without.

    Example:
      >>> Session().run(parallel_stack([[1, 4], [2, 5], [3, 6]]))
      array([[1, 4],
             [2, 5],
             [3, 6]], dtype=int32)
    """
    with scopes.name_scope(name):
        first = convert_to_tensor(values[0])
        rows = [raw.ExpandDims(value, 0, name="ExpandDims") for value in values]
        shape = TensorShape([len(rows), *first.shape]) if first.shape.ndims is not None else None
        result: Tensor = raw.ParallelConcat(rows, shape=TensorShape(shape), name="ParallelConcat")
        return result
