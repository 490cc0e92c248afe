"""Sparse tensors kept in the task, by number: so they go through queues, which hold dense ones.

The numbers mean something on the task that gave them only, and each can be taken once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.sparse.components import (
    Parts,
    as_one,
    check_fit,
    check_ranks,
    require_ranks,
    rows_of,
    wrong_type,
)
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__: list[str] = []  # TensorFlow has no public names for them either

_INPUTS = "sparse_indices: int64, sparse_values: T, sparse_shape: int64"
_NAMES = "container: string = ''; shared_name: string = ''"

ADD = OpDef(
    f"AddSparseToTensorsMap({_INPUTS}) -> sparse_handle: int64 [T: type; {_NAMES}] !",
    keeps_inputs=True,
).not_differentiable()
ADD_MANY = OpDef(
    f"AddManySparseToTensorsMap({_INPUTS}) -> sparse_handles: int64 [T: type; {_NAMES}] !",
    keeps_inputs=True,
).not_differentiable()
TAKE_MANY = OpDef(
    "TakeManySparseFromTensorsMap(sparse_handles: int64) -> sparse_indices: int64, "
    f"sparse_values: dtype, sparse_shape: int64 [dtype: type; {_NAMES}] !"
).not_differentiable()


@ADD.shape
def add_sparse_shape(sparse_indices: Shape, sparse_values: Shape, sparse_shape: Shape) -> Shape:
    require_ranks(sparse_indices, sparse_values, sparse_shape)
    return ()


@ADD_MANY.shape
def add_many_sparse_shape(
    sparse_indices: Shape, sparse_values: Shape, sparse_shape: Shape
) -> Shape:
    require_ranks(sparse_indices, sparse_values, sparse_shape)
    return (None,)


@TAKE_MANY.shape
def take_many_sparse_shape(sparse_handles: Shape) -> list[Shape]:
    shapes.require_rank(sparse_handles, "sparse_handles", 1, 1)
    return [(None, None), (None,), (None,)]


def _find(ctx: Any, container: bytes, name: str) -> Any:
    return ctx.resource("tensors map", container, name, lambda TensorsMap: TensorsMap(name))


def _added(ctx: Any, rows: list[Parts], container: bytes, shared_name: bytes) -> Any:
    """Keep sparse tensors in the map of a node; returns their numbers."""
    # even an unnamed map is found by its node's name: the node that takes from it has no other way
    kept = _find(ctx, container, shared_name.decode() or ctx.node_name)
    return np.array(kept.add(rows), np.int64)


@ADD.kernel
def add_sparse_kernel(
    ctx: Any,
    sparse_indices: Any,
    sparse_values: Any,
    sparse_shape: Any,
    *,
    container: bytes,
    shared_name: bytes,
) -> Any:
    check_ranks(sparse_indices, sparse_values, sparse_shape)
    parts = Parts(sparse_indices, sparse_values, sparse_shape)
    check_fit(parts)
    return _added(ctx, [parts], container, shared_name)[0]


@ADD_MANY.kernel
def add_many_sparse_kernel(
    ctx: Any,
    sparse_indices: Any,
    sparse_values: Any,
    sparse_shape: Any,
    *,
    container: bytes,
    shared_name: bytes,
) -> Any:
    check_ranks(sparse_indices, sparse_values, sparse_shape)
    rows = rows_of(Parts(sparse_indices, sparse_values, sparse_shape))
    return _added(ctx, rows, container, shared_name)


@TAKE_MANY.kernel
def take_many_sparse_kernel(
    ctx: Any, sparse_handles: Any, *, dtype: DType, container: bytes, shared_name: bytes
) -> Any:
    if np.ndim(sparse_handles) != 1:
        raise InvalidArgumentError(
            f"sparse_handles should be a vector but received shape {list(sparse_handles.shape)}"
        )
    if not len(sparse_handles):
        raise InvalidArgumentError(
            "Must have at least 1 serialized SparseTensor, but input matrix has 0 rows"
        )
    kept = _find(ctx, container, shared_name.decode() or ctx.own_name())
    rows = [_taken(kept, number) for number in sparse_handles.tolist()]
    for place, row in enumerate(rows):
        _check(row, place, dtype, rows[0])
    return as_one(rows, (len(rows),))


def _taken(kept: Any, number: int) -> Parts:
    try:
        parts: Parts = kept.take(number)
    except KeyError:
        raise InvalidArgumentError(
            f"Unable to find SparseTensor: {number} in map: {kept.name}"
        ) from None
    return parts


def _check(row: Parts, place: int, dtype: DType, first: Parts) -> None:
    found = dtypes.as_dtype(row.values.dtype)
    if found is not dtype:
        raise wrong_type(dtype, place, found)
    before, rank = len(first.dense_shape) + 1, len(row.dense_shape) + 1
    if rank != before:
        raise InvalidArgumentError(
            f"Inconsistent rank across SparseTensors: rank prior to SparseTensor[{place}] was: "
            f"{before} but rank of SparseTensor[{place}] is: {rank}"
        )


def add_sparse(sparse: SparseTensor, many: bool, shared_name: str | None = None) -> Tensor:
    """Return the number under which a sparse tensor is kept, or those of its rows.

    Args:
      sparse: of any rank; of rank 2 or more if `many`.
      many: whether each row has a number of its own.
      shared_name: of the map; that of the node by default.
    """
    add = raw.AddManySparseToTensorsMap if many else raw.AddSparseToTensorsMap
    numbers: Tensor = add(
        sparse.indices, sparse.values, sparse.dense_shape, shared_name=shared_name or ""
    )
    return numbers


def take_many_sparse(numbers: Tensor, added_by: Operation, rank: int | None) -> SparseTensor:
    """Return what is kept under some numbers as one SparseTensor, whose first axis counts them.

    Args:
      numbers: int64 [n].
      added_by: one of the nodes that gave such numbers; its map is meant.
      rank: of the result, None if it is not known.
    """
    shared_name = added_by.get_attr("shared_name").decode() or added_by.name
    with scopes.colocate_with(added_by):
        indices, values, dense_shape = raw.TakeManySparseFromTensorsMap(
            numbers, dtype=added_by.get_attr("T"), shared_name=shared_name
        )
    indices.set_shape([None, rank])
    dense_shape.set_shape([rank])
    return SparseTensor(indices, values, dense_shape)
