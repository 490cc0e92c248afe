"""Sparse tensors to dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.fill import zeros
from tfdist.ops.framework.shared_values import as_elements, refine
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.sparse.components import are_inside, brackets, check_order, numbered
from tfdist.ops.sparse.sparse_tensor import as_sparse

__all__ = ["sparse_tensor_to_dense", "sparse_to_dense"]

SPARSE_TO_DENSE = OpDef(
    "SparseToDense(sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, "
    "default_value: T) -> dense: T "
    "[validate_indices: bool = True; T: type; Tindices: type {int32,int64}]"
)


@SPARSE_TO_DENSE.shape
def sparse_to_dense_shape(
    sparse_indices: Shape,
    output_shape: Shape,
    sparse_values: Shape,
    default_value: Shape,
    *,
    output_shape_value: Any,
) -> Shape:
    shapes.require_rank(output_shape, "output_shape", 1, 1)
    if output_shape_value is not None:
        return _sizes(output_shape_value)
    return None if output_shape is None or output_shape[0] is None else (None,) * output_shape[0]


def _sizes(output_shape: Any) -> tuple[int, ...]:
    sizes = tuple(np.asarray(output_shape).tolist())
    for size in sizes:
        if size < 0:
            raise InvalidArgumentError(f"Dimension {size} must be >= 0")
    return sizes


@SPARSE_TO_DENSE.kernel
def sparse_to_dense_kernel(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any,
    *,
    validate_indices: bool,
) -> Any:
    values, default = as_elements(sparse_values), as_elements(default_value)
    indices = _matrix(sparse_indices)
    _check(indices, output_shape, values, default)
    sizes = _sizes(output_shape)
    if validate_indices:
        check_order(indices, output_shape)
    elif not are_inside(indices, output_shape):
        raise InvalidArgumentError(
            f"Indices are not valid (out of bounds).  Shape: {brackets(output_shape)}"
        )
    check_room(sizes, values.dtype)
    dense = np.zeros(sizes, values.dtype)
    if values.dtype == object or default:  # zeros are made faster than other numbers
        dense[...] = default
    if not sizes:
        return values.reshape(-1)[-1] if len(indices) else dense[()]
    dense.reshape(-1)[numbered(indices, sizes)] = values
    return dense


def _matrix(indices: Any) -> Any:
    """Return indices as [n, rank]: a vector has those of n elements, a scalar that of one."""
    if np.ndim(indices) > 2:
        raise InvalidArgumentError(
            "sparse_indices should be a scalar, vector, or matrix, got shape "
            f"{brackets(indices.shape)}"
        )
    return indices if np.ndim(indices) == 2 else np.reshape(indices, (-1, 1))


def _check(indices: Any, output_shape: Any, values: Any, default: Any) -> None:
    count, rank = indices.shape
    if np.ndim(output_shape) != 1:
        raise InvalidArgumentError(
            f"output_shape should be a vector, got shape {brackets(np.shape(output_shape))}"
        )
    if len(output_shape) != rank:
        raise InvalidArgumentError(
            f"output_shape has incorrect number of elements: {len(output_shape)} should be: {rank}"
        )
    if values.shape not in ((), (count,)):
        raise InvalidArgumentError(
            f"sparse_values has incorrect shape {brackets(values.shape)}, should be [] or [{count}]"
        )
    if default.ndim:
        raise InvalidArgumentError("default_value should be a scalar.")


@SPARSE_TO_DENSE.gradient
def sparse_to_dense_gradient(op: Operation, d_dense: Any) -> Any:
    indices, shape, values, _ = op.inputs
    if indices.shape.ndims != 2:
        indices = raw.Reshape(indices, raw.Pack([-1, raw.Size(shape)]))
    d_each = raw.GatherNd(d_dense, indices)
    d_default = raw.Sub(reduce_sum(d_dense), reduce_sum(d_each))
    return None, None, reduce_sum(d_each) if values.shape.ndims == 0 else d_each, d_default


def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """Return a dense tensor with values at some places: `tf.sparse_to_dense`.

    Args:
      sparse_indices: int32 or int64 [n, rank]; [n] or [] for a vector.
      output_shape: of the same type [rank].
      sparse_values: [n], or [] for the same value at all those places.
      default_value: scalar, for all other places.
      validate_indices: whether the indices must be in order, each there once.
      name: of the node.

    Raises:
      InvalidArgumentError: an index is out of bounds, or not in order (when it runs).

    Example:
      >>> Session().run(sparse_to_dense([1, 3], [5], 7))
      array([0, 7, 0, 7, 0], dtype=int32)
    """
    dense: Tensor = raw.SparseToDense(
        sparse_indices,
        output_shape,
        sparse_values,
        default_value,
        validate_indices=validate_indices,
        name=name,
    )
    return refine(dense, dense.op.inputs[1])


def sparse_tensor_to_dense(
    sp_input: Any,
    default_value: Any = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """Return a SparseTensor as a dense tensor: `tf.sparse.to_dense`.

    Args:
      sp_input: a SparseTensor or SparseTensorValue.
      default_value: scalar, for the places that it has nothing for; 0 or "" by default.
      validate_indices: whether the indices must be in order, each there once.
      name: of the node.

    Raises:
      TypeError: `sp_input` is not sparse.
      InvalidArgumentError: an index is out of bounds, or not in order (when it runs).

    Example:
      >>> Session().run(sparse_tensor_to_dense(SparseTensor([[0, 1], [1, 2]], [5, 6], [2, 3])))
      array([[0, 5, 0],
             [0, 0, 6]], dtype=int32)
    """
    sparse = as_sparse(sp_input)
    if default_value is None:
        default_value = zeros([], sparse.dtype.base_dtype)
    return sparse_to_dense(
        sparse.indices, sparse.dense_shape, sparse.values, default_value, validate_indices, name
    )
