"""Sparse tensors in other forms: from dense ones, transposed, with more axes or another shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import constant, convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import control_dependencies, name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat, stack
from tfdist.ops.array.dynamic_partition import setdiff1d
from tfdist.ops.array.fill import fill, ones, ones_like, zeros
from tfdist.ops.array.gather import gather
from tfdist.ops.array.range import range as range_
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.array.shape import rank, shape
from tfdist.ops.array.slice import slice as slice_
from tfdist.ops.array.transpose import transpose
from tfdist.ops.checks.assertions import assert_equal, assert_less_equal
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.math.comparison import where_v2
from tfdist.ops.math.reductions import reduce_max
from tfdist.ops.sparse.sparse_tensor import (
    SparseTensor,
    SparseTensorValue,
    as_sparse,
    sparse_reorder,
)
from tfdist.ops.sparse.to_dense import sparse_tensor_to_dense

__all__ = [
    "sparse_mask", "sparse_merge", "sparse_reset_shape", "sparse_to_indicator", "sparse_transpose",
]  # fmt: skip


def sparse_eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: str | None = None
) -> SparseTensor:
    """Return a sparse matrix with ones on its diagonal: `tf.sparse.eye`.

    Args:
      num_rows: an integer or a scalar tensor.
      num_columns: an integer or a scalar tensor; as many as rows by default.
      dtype: of the elements.
      name: of the scope.

    Example:
      >>> Session().run(sparse.to_dense(sparse_eye(2, 3)))
      array([[1., 0., 0.],
             [0., 1., 0.]], dtype=float32)
    """
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _int64(num_columns, "num_columns")
        length = raw.Minimum(rows, columns)
        diagonal = range_(length, dtype="int64")
        return SparseTensor(stack([diagonal, diagonal], 1), ones(length, dtype), [rows, columns])


def _int64(value: Any, name: str) -> Tensor:
    if isinstance(value, Tensor):
        found: Tensor = cast(value, "int64")
        return found
    return convert_to_tensor(value, "int64", name)


def sparse_from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """Return a dense tensor as a sparse one, of those elements that are not zero or empty.

    Args:
      tensor: a tensor, or anything that converts to one.
      name: of the scope.

    Example:
      >>> found = sparse_from_dense([[0, 5], [6, 0]])
      >>> [part.tolist() for part in Session().run(found)]
      [[[0, 1], [1, 0]], [5, 6], [2, 2]]
    """
    with name_scope(name, "dense_to_sparse"):
        dense = convert_to_tensor(tensor)
        nothing = "" if dense.dtype.base_dtype is dtypes.string else 0
        zero = constant(nothing, dense.dtype.base_dtype)
        indices = raw.Where(raw.NotEqual(dense, zero))
        return SparseTensor(indices, raw.GatherNd(dense, indices), shape(dense, out_type="int64"))


def sparse_transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """Return a sparse tensor with its axes in another order: `tf.sparse.transpose`.

    Args:
      sp_input: a SparseTensor.
      perm: which axis stands where; reversed by default.
      name: of the scope.

    Raises:
      TypeError: `sp_input` is not sparse.
      ValueError: `perm` has not one number for each axis.

    Example:
      >>> x = SparseTensor([[0, 1], [1, 2]], [5, 6], [2, 3])
      >>> Session().run(sparse.to_dense(sparse_transpose(x))).tolist()
      [[0, 0], [5, 0], [0, 6]]
    """
    sparse = as_sparse(sp_input)
    with name_scope(name, "SparseTranspose", [sparse.indices, sparse.values]):
        order = _reversed_axes(sparse) if perm is None else perm
        columns = gather(transpose(sparse.indices, [1, 0]), order)
        indices = transpose(columns, [1, 0])
        dense_shape: Any = None if perm is None else _transposed_shape(sparse, perm)
        if dense_shape is None:
            dense_shape = gather(sparse.dense_shape, order)
        return sparse_reorder(SparseTensor(indices, sparse.values, dense_shape))


def _reversed_axes(sparse: SparseTensor) -> Any:
    count: Any = rank(sparse)
    return (count - 1) - range_(0, count, 1)


def _transposed_shape(sparse: SparseTensor, perm: Any) -> list[int] | None:
    """Return the shape in another order of axes, None if not all is known."""
    order = constant_value(convert_to_tensor(perm))
    known = sparse.shape
    if order is None or not known.is_fully_defined():
        return None
    if order.shape != (known.ndims,):
        raise ValueError(f"perm must order {known.ndims} axes, got {order.tolist()}")
    dims = known.as_list()
    return [int(dims[axis]) for axis in order]  # type: ignore[arg-type]


def sparse_expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """Return a sparse tensor with one more axis, of length 1: `tf.sparse.expand_dims`.

    Args:
      sp_input: a SparseTensor.
      axis: where the new one stands; the last by default.
      name: of the scope.

    Raises:
      TypeError: `sp_input` is not sparse.
      ValueError: `axis` is beyond the rank.

    Example:
      >>> x = SparseTensor([[1]], [5], [3])
      >>> [part.tolist() for part in Session().run(sparse_expand_dims(x, 0))]
      [[[0, 1]], [5], [1, 3]]
    """
    sparse = as_sparse(sp_input)
    known = sparse.shape.ndims
    with name_scope(name, "expand_dims", [sparse.indices]):
        place: Any = convert_to_tensor(-1 if axis is None else axis, name="axis")
        _check_place(constant_value(place), known)
        ranks = rank(sparse) if known is None else known
        place = where_v2(place >= 0, place, place + ranks + 1)
        sizes: Any = shape(sparse.indices)
        new_column = zeros([sizes[0], 1], "int64")
        before = slice_(sparse.indices, [0, 0], [-1, place])
        after = slice_(sparse.indices, [0, place], [-1, -1])
        indices = concat([before, new_column, after], 1)
        before = slice_(sparse.dense_shape, [0], [place])
        after = slice_(sparse.dense_shape, [place], [-1])
        new_size = convert_to_tensor([1], "int64", "new_shape")
        dense_shape = concat([before, new_size, after], 0)
        if known is not None:
            indices.set_shape([None, known + 1])
            dense_shape.set_shape([known + 1])
        return SparseTensor(indices, sparse.values, dense_shape)


def _check_place(axis: Any, rank: int | None) -> None:
    if axis is not None and rank is not None and not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis must be in [{-rank - 1}, {rank}], got {axis}")


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """Return the same elements in a larger shape, or in the smallest that holds them.

    Args:
      sp_input: a SparseTensor.
      new_shape: as long as the old one or longer along each axis; None for the smallest.

    Raises:
      TypeError: `sp_input` is not sparse.
      ValueError: `new_shape` has another rank, or is smaller.
      InvalidArgumentError: the same, where that is known only when it runs.

    Example:
      >>> x = SparseTensor([[0, 1], [1, 0]], [5, 6], [4, 9])
      >>> Session().run(sparse_reset_shape(x).dense_shape)
      array([2, 2])
    """
    sparse = as_sparse(sp_input)
    indices, values = raw.Identity(sparse.indices), raw.Identity(sparse.values)
    old = raw.Identity(sparse.dense_shape)
    if new_shape is None:
        highest = reduce_max(indices, 0)
        smallest = raw.Maximum(constant(0, "int64"), raw.Add(highest, ones_like(old)))
        return SparseTensor(indices, values, smallest)
    wanted = cast(convert_to_tensor(new_shape), "int64")
    wanted.shape.with_rank(1)[0].merge_with(old.shape[0])
    return SparseTensor(indices, values, _not_smaller(wanted, sparse, old))


def _not_smaller(wanted: Tensor, sparse: SparseTensor, old: Tensor) -> Any:
    """Return the shape `wanted`, checked: at once if it is known, else when it runs."""
    known, before = constant_value(wanted), sparse.shape
    if known is not None and before.is_fully_defined():
        if (known < np.array(before.as_list())).any():
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  Found "
                f"new_shape ({known.tolist()}), sp_input.shape ({before.as_list()})."
            )
        return known
    with control_dependencies([assert_equal(shape(old), shape(wanted))]):
        wanted = raw.Identity(wanted)
    with control_dependencies([assert_less_equal(old, wanted)]):
        checked: Tensor = raw.Identity(wanted)
        return checked


def sparse_merge(
    sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:  # fmt: skip
    """Return values in columns that ids tell: `tf.sparse.merge`.

    Args:
      sp_ids: a SparseTensor of integers, which become the last column of the indices; or a list
        of such, for several columns.
      sp_values: a SparseTensor at the same places.
      vocab_size: how many ids there are; for a list, a list.
      name: of the scope.
      already_sorted: whether the result needs no new order.

    Raises:
      TypeError: the ids are not sparse, or `vocab_size` is no list where the ids are one.
      ValueError: the lists are of different lengths.

    Example:
      >>> ids = SparseTensor([[0, 0], [1, 0], [1, 1]], [7, 3, 1], [2, 2])
      >>> values = SparseTensor([[0, 0], [1, 0], [1, 1]], [0.5, 0.6, 0.7], [2, 2])
      >>> merged = sparse_merge(ids, values, 10)
      >>> Session().run(merged.indices).tolist()
      [[0, 7], [1, 1], [1, 3]]
    """
    ids, sizes = _id_lists(sp_ids, vocab_size)
    values = as_sparse(sp_values)
    with name_scope(name, "SparseMerge", [each.values for each in ids] + [values.values]):
        return merged(ids, values, sizes, already_sorted)


def _id_lists(sp_ids: Any, vocab_size: Any) -> tuple[list[SparseTensor], list[Any]]:
    """Return the ids and the sizes as lists of one length."""
    kinds = (SparseTensor, SparseTensorValue)
    if isinstance(sp_ids, kinds):
        return [as_sparse(sp_ids)], [vocab_size]
    if not isinstance(sp_ids, list | tuple):
        kind = type(sp_ids)
        raise TypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {kind}")
    if not isinstance(vocab_size, list | tuple):
        raise TypeError(
            f"vocab_size has to be a list of Tensors or Python ints. Found {type(vocab_size)}"
        )
    if len(sp_ids) != len(vocab_size):
        raise ValueError(
            f"sp_ids and vocab_size have to have equal lengths, got {len(sp_ids)} and "
            f"{len(vocab_size)}"
        )
    return [as_sparse(each) for each in sp_ids], list(vocab_size)


def merged(
    ids: list[SparseTensor], values: SparseTensor, sizes: list[Any], already_sorted: bool
) -> SparseTensor:
    """Return values in columns that ids tell, in the current scope; see `sparse_merge`."""
    columns = [expand_dims(cast(each.values, "int64"), 1) for each in ids]
    lengths = [cast(size, "int64") for size in sizes]
    indices = concat([ids[0].indices[:, :-1], *columns], 1)  # type: ignore[index]
    dense_shape = concat([ids[0].dense_shape[:-1], lengths], 0)  # type: ignore[index]
    whole = SparseTensor(indices, values.values, dense_shape)
    if already_sorted:
        return whole
    ordered = sparse_reorder(whole)
    return SparseTensor(ordered.indices, ordered.values, dense_shape)


def sparse_to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """Return a dense tensor of bools: at [..., id] whether the row has this id.

    Args:
      sp_input: a SparseTensor of ids, int32 or int64.
      vocab_size: how many ids there are.
      name: of the scope.

    Raises:
      TypeError: `sp_input` is not sparse.

    Example:
      >>> x = SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 5])
      >>> Session().run(sparse_to_indicator(x, 3))
      array([[ True, False,  True],
             [False,  True, False]])
    """
    sparse = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sparse.values]) as scope:
        sizes: Any = shape(sparse.indices)
        flags = fill(expand_dims(sizes[0], 0), True)
        values = SparseTensor(sparse.indices, flags, sparse.dense_shape)
        found = merged([sparse], values, [vocab_size], False)
        return sparse_tensor_to_dense(found, False, validate_indices=False, name=scope)


def sparse_mask(a: IndexedSlices, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """Return the slices whose indices are not in a list.

    Args:
      a: IndexedSlices.
      mask_indices: the indices that are left out.
      name: of the scope.

    Example:
      >>> slices = IndexedSlices(constant([5, 6, 7]), constant([1, 3, 8]))
      >>> Session().run(sparse_mask(slices, [3]).values)
      array([5, 7], dtype=int32)
    """
    with name_scope(name, "sparse_mask", [a.values, a.indices, mask_indices]) as scope:
        kept, places = setdiff1d(a.indices, mask_indices)
        return IndexedSlices(gather(a.values, places, name=scope), kept, a.dense_shape)
