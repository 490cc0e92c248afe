"""Rows and shapes of sparse tensors: sparse_fill_empty_rows, sparse_retain, sparse_reshape."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.gather import gather
from tfdist.ops.array.reshape import reshape
from tfdist.ops.sparse.sparse_tensor import SparseTensor, as_sparse

__all__ = ["sparse_fill_empty_rows", "sparse_reshape", "sparse_retain"]

FILL_EMPTY_ROWS = OpDef(
    "SparseFillEmptyRows(indices: int64, values: T, dense_shape: int64, default_value: T) -> "
    "output_indices: int64, output_values: T, empty_row_indicator: bool, "
    "reverse_index_map: int64 [T: type]"
)


@FILL_EMPTY_ROWS.checked_shape
def fill_empty_rows_shape(
    indices: Shape, values: Shape, dense_shape: Shape, default_value: Shape, *,
    dense_shape_value: Any,
) -> list[Shape]:  # fmt: skip
    shapes.require_rank(indices, "indices", 2)
    shapes.require_rank(values, "values", 1)
    shapes.require_rank(default_value, "default_value", 0)
    rank = None if indices is None else indices[1]
    rows = None if dense_shape_value is None else int(dense_shape_value[0])
    return [(None, rank), (None,), (rows,), (None if values is None else values[0],)]


@FILL_EMPTY_ROWS.kernel
def fill_empty_rows_kernel(
    indices: Any, values: Any, dense_shape: Any, default_value: Any
) -> tuple[Any, Any, Any, Any]:
    count = int(dense_shape[0]) if len(dense_shape) else 0
    rows = indices[:, 0]
    _check_rows(rows, count)
    check_room((count, indices.shape[1]), np.int64)
    (empty,) = np.nonzero(np.bincount(rows, minlength=count) == 0)
    if not len(empty) and (rows[1:] >= rows[:-1]).all():
        return indices, values, np.zeros(count, bool), np.arange(len(rows))
    order = np.argsort(np.concatenate([rows, empty]), kind="stable")
    added = np.zeros((len(empty), indices.shape[1]), np.int64)
    added[:, 0] = empty
    filled = np.concatenate([values, np.full_like(values, default_value, shape=len(empty))])
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    is_empty = np.zeros(count, bool)
    is_empty[empty] = True
    return np.concatenate([indices, added])[order], filled[order], is_empty, places[: len(rows)]


def _check_rows(rows: Any, count: int) -> None:
    if len(rows) and not 0 <= rows.min() <= rows.max() < count:
        at = np.flatnonzero((rows < 0) | (rows >= count))[0]
        message = f"indices({at}, 0) is invalid: {rows[at]} is not in [0, {count})"
        raise InvalidArgumentError(message)


@FILL_EMPTY_ROWS.gradient
def fill_empty_rows_gradient(op: Any, _: Any, d_values: Any, *__: Any) -> Any:
    d_values, d_default = raw.SparseFillEmptyRowsGrad(op.outputs[3], d_values)
    return None, d_values, None, d_default


FILL_EMPTY_ROWS_GRAD = OpDef(
    "SparseFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> d_values: T, "
    "d_default_value: T [T: type {numeric}]"
).not_differentiable()


@FILL_EMPTY_ROWS_GRAD.checked_shape
def fill_empty_rows_grad_shape(reverse_index_map: Shape, grad_values: Shape) -> list[Shape]:
    shapes.require_rank(reverse_index_map, "reverse_index_map", 1)
    shapes.require_rank(grad_values, "grad_values", 1)
    return [reverse_index_map, ()]


@FILL_EMPTY_ROWS_GRAD.kernel
def fill_empty_rows_grad_kernel(reverse_index_map: Any, grad_values: Any) -> tuple[Any, Any]:
    _check_rows(reverse_index_map, len(grad_values))
    of_default = np.ones(len(grad_values), bool)
    of_default[reverse_index_map] = False
    return grad_values[reverse_index_map], grad_values[of_default].sum(dtype=grad_values.dtype)


def sparse_fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Return a sparse tensor with an element in every row, and which rows had none.

    Args:
      sp_input: a SparseTensor; its elements come row by row in the result.
      default_value: what rows without elements get, in their first column.
      name: of the scope.

    Returns:
      A SparseTensor, and bools [rows].

    Raises:
      TypeError: `sp_input` is no SparseTensor.

    Example:
      >>> filled, empty = sparse_fill_empty_rows(SparseTensor([[1, 0]], [5], [2, 3]), 7)
      >>> [values.tolist() for values in Session().run([filled.indices, filled.values, empty])]
      [[[0, 0], [1, 0]], [7, 5], [True, False]]
    """
    sparse = as_sparse(sp_input)
    with scopes.name_scope(name, "SparseFillEmptyRows", [sparse.values]):
        default = convert_to_tensor(default_value, sparse.values.dtype)
        indices, values, empty, _ = raw.SparseFillEmptyRows(
            sparse.indices, sparse.values, sparse.dense_shape, default
        )
    return SparseTensor(indices, values, sparse.dense_shape), empty


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """Return those elements of a sparse tensor for which a flag is true.

    Args:
      sp_input: a SparseTensor.
      to_retain: bools, one an element.

    Raises:
      TypeError: `sp_input` is no SparseTensor.

    Example:
      >>> kept = sparse_retain(SparseTensor([[0], [2]], [5, 6], [4]), [False, True])
      >>> Session().run(kept.values)
      array([6], dtype=int32)
    """
    sparse = as_sparse(sp_input)
    flags = convert_to_tensor(to_retain)
    flags.shape[0].merge_with(sparse.values.shape[0])
    places = reshape(raw.Where(flags), [-1])
    indices, values = gather(sparse.indices, places), gather(sparse.values, places)
    return SparseTensor(indices, values, raw.Identity(sparse.dense_shape))


RESHAPE = OpDef(
    "SparseReshape(input_indices: int64, input_shape: int64, new_shape: int64) -> "
    "output_indices: int64, output_shape: int64"
).not_differentiable()


@RESHAPE.shape
def sparse_reshape_shape(input_indices: Shape, input_shape: Shape, new_shape: Shape) -> list[Shape]:
    shapes.require_rank(input_indices, "input_indices", 2)
    shapes.require_rank(new_shape, "new_shape", 1)
    rank = None if new_shape is None else new_shape[0]
    return [(None if input_indices is None else input_indices[0], rank), (rank,)]


@RESHAPE.kernel
def sparse_reshape_kernel(input_indices: Any, input_shape: Any, new_shape: Any) -> Any:
    new = _full_shape(input_shape, new_shape)
    if new.tolist() == input_shape.tolist():
        return input_indices, new
    flat = np.ravel_multi_index(tuple(input_indices.T), tuple(input_shape))
    places = np.stack(np.unravel_index(flat, tuple(new)), axis=1) if len(new) else None
    return (np.empty((0, 0), np.int64) if places is None else places.astype(np.int64)), new


def _full_shape(old: Any, new: Any) -> Any:
    """Return `new` with its -1, if there is one, replaced by what remains of `old`."""
    total, sizes = prod(old.tolist()), new.tolist()
    if sizes.count(-1) > 1:
        raise InvalidArgumentError(f"only one output dimension may be -1, got {sizes}")
    if min(sizes, default=0) < -1:
        worst = next(place for place, size in enumerate(sizes) if size < -1)
        raise InvalidArgumentError(f"size {worst} must be non-negative, not {sizes[worst]}")
    known = prod(size for size in sizes if size != -1)
    rest = total // known if known else 0
    full = np.array([rest if size == -1 else size for size in sizes], np.int64)
    if -1 in sizes and not known:
        raise InvalidArgumentError(
            "reshape cannot infer the missing input size for an empty tensor unless all specified "
            f"input sizes are non-zero: {sizes}"
        )
    if prod(full.tolist()) != total:
        problem = f"a tensor with {total} dense values, but the requested shape has {known}"
        if -1 in sizes:
            problem = (
                f"a SparseTensor with {total} dense values, but the requested shape requires a "
                f"multiple of {known}"
            )
        raise InvalidArgumentError(
            f"Input to reshape is {problem}. input_shape={old.tolist()} output_shape={sizes}"
        )
    return full


def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """Return a sparse tensor whose elements stand in the same order in another shape.

    Args:
      sp_input: a SparseTensor.
      shape: integers; one may be -1, for what remains.
      name: of the node.

    Raises:
      TypeError: `sp_input` is no SparseTensor.
      ValueError: the number of places differs, as far as is known beforehand.
      InvalidArgumentError: it does (when it runs).

    Example:
      >>> flat = sparse_reshape(SparseTensor([[0, 1], [1, 2]], [5, 6], [2, 3]), [-1])
      >>> Session().run(flat.indices).tolist()
      [[1], [5]]
    """
    sparse = as_sparse(sp_input)
    wanted = cast(shape, "int64")
    with scopes.name_scope(name, "SparseReshape", [sparse.values]) as scope:
        indices, dims = raw.SparseReshape(sparse.indices, sparse.dense_shape, wanted, name=scope)
        sizes = shape if isinstance(shape, list | tuple) else [shape]
        is_computed = any(isinstance(size, Tensor) and size.op.type != "Const" for size in sizes)
        known = None if is_computed else _known_shape(sparse, wanted)
        dense_shape = dims if known is None else convert_to_tensor(known, "int64")
        return SparseTensor(indices, raw.Identity(sparse.values), dense_shape)


def _known_shape(sparse: SparseTensor, wanted: Tensor) -> Any:
    """Return the shape of what is reshaped to `wanted`, None if not all is known."""
    new = constant_value(wanted)
    if new is None or np.ndim(new) != 1 or not sparse.shape.is_fully_defined():
        return None
    if list(new).count(-1) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {new}")
    sizes: Any = sparse.shape.as_list()
    total, known = prod(sizes), prod(size for size in new.tolist() if size != -1)
    if total != known if -1 not in new else known and total % known:
        raise ValueError(
            f"Cannot reshape a tensor with {total} elements to shape {new.tolist()} "
            f"({known} elements)."
        )
    if -1 in new and not known:
        return None
    return _full_shape(np.array(sparse.shape.as_list(), np.int64), new) if -1 in new else new
