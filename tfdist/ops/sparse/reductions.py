"""Sparse tensors reduced along axes, their softmax, and the greater or lesser of two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.range import range as range_
from tfdist.ops.array.shape import rank
from tfdist.ops.math.reductions import kept_dynamic
from tfdist.ops.sparse.add import runs
from tfdist.ops.sparse.components import (
    check_same_shape,
    checked,
    indices_at,
    places,
    require_ranks,
)
from tfdist.ops.sparse.sparse_tensor import SparseTensor, as_sparse

__all__ = [
    "sparse_maximum", "sparse_minimum", "sparse_reduce_max", "sparse_reduce_max_sparse",
    "sparse_reduce_sum", "sparse_reduce_sum_sparse", "sparse_softmax",
]  # fmt: skip


def _axes(reduction_axes: Any, rank: int) -> list[int]:
    """Return the axes to reduce, from 0 and in order; InvalidArgumentError if one is not there."""
    axes = np.reshape(reduction_axes, -1).tolist()
    for axis in axes:
        if not -rank <= axis < rank:
            raise InvalidArgumentError(
                f"Invalid reduction dimension {axis}, for input with {rank} dimensions."
            )
    return sorted({axis % rank for axis in axes})


def _reduced_shape(dense_shape: Any, axes: list[int], keep_dims: bool) -> list[int]:
    kept = [1 if axis in axes else int(size) for axis, size in enumerate(dense_shape)]
    return kept if keep_dims else [size for axis, size in enumerate(kept) if axis not in axes]


def _reduced(
    ufunc: Any, indices: Any, values: Any, dense_shape: Any, axes: list[int]
) -> tuple[Any, Any, Any]:
    """Return the numbers of the places of what is reduced, in order, its values and its shape."""
    rest = [axis for axis in range(len(dense_shape)) if axis not in axes]
    kept = np.asarray(dense_shape)[rest].astype(np.int64)
    numbers = places(indices[:, rest], kept)
    order, starts = runs(numbers)
    found = values[order]
    if len(starts):
        found = ufunc.reduceat(found, starts, dtype=values.dtype)
    return numbers[order[starts]], found, kept


def _reducing(kind: str, ufunc: Any, types: str) -> None:
    """Define the op that gives a dense tensor, and the one that gives a sparse tensor."""
    inputs = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32"
    attrs = f"[keep_dims: bool = False; T: type {{{types}}}]"
    dense = OpDef(f"SparseReduce{kind}({inputs}) -> output: T {attrs}")
    sparse = OpDef(
        f"SparseReduce{kind}Sparse({inputs}) -> output_indices: int64, output_values: T, "
        f"output_shape: int64 {attrs}"
    )
    dense.shape(_dense_shape)
    sparse.shape(_sparse_shapes)

    @dense.kernel
    def dense_kernel(
        input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any, *,
        keep_dims: bool,
    ) -> Any:  # fmt: skip
        checked(input_indices, input_values, input_shape)
        axes = _axes(reduction_axes, len(input_shape))
        numbers, found, kept = _reduced(ufunc, input_indices, input_values, input_shape, axes)
        check_room(kept, input_values.dtype)
        output = np.zeros(tuple(kept), input_values.dtype)
        output.reshape(-1)[numbers] = found
        return output.reshape(_reduced_shape(input_shape, axes, keep_dims))[()]

    @sparse.kernel
    def sparse_kernel(
        input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any, *,
        keep_dims: bool,
    ) -> Any:  # fmt: skip
        checked(input_indices, input_values, input_shape)
        axes = _axes(reduction_axes, len(input_shape))
        numbers, found, kept = _reduced(ufunc, input_indices, input_values, input_shape, axes)
        indices = indices_at(numbers, kept)
        if keep_dims:
            rest = [axis for axis in range(len(input_shape)) if axis not in axes]
            indices, narrow = np.zeros((len(indices), len(input_shape)), np.int64), indices
            indices[:, rest] = narrow
        shape = np.array(_reduced_shape(input_shape, axes, keep_dims), np.int64)
        return indices, found, shape

    if kind == "Sum":
        dense.gradient(_sum_gradient)


def _dense_shape(
    input_indices: Shape, input_values: Shape, input_shape: Shape, reduction_axes: Shape, *,
    keep_dims: bool, input_shape_value: Any, reduction_axes_value: Any,
) -> Shape:  # fmt: skip
    require_ranks(input_indices, input_values, input_shape)
    if input_shape_value is None or reduction_axes_value is None:
        return None
    rank = len(input_shape_value)
    # an axis that is not there is an error when it runs, as in TensorFlow
    axes = [axis % rank for axis in np.reshape(reduction_axes_value, -1).tolist() if rank]
    return tuple(_reduced_shape(input_shape_value, axes, keep_dims))


def _sparse_shapes(
    input_indices: Shape, input_values: Shape, input_shape: Shape, reduction_axes: Shape
) -> list[Shape]:
    require_ranks(input_indices, input_values, input_shape)
    return [None, None, None]


def _sum_gradient(op: Operation, d_output: Any) -> list[Any]:
    """Return the gradient of each element's sum."""
    indices, _, dense_shape, axes = op.inputs
    shape = raw.Cast(dense_shape, DstT="int32")
    kept = kept_dynamic(shape, raw.Reshape(axes, [-1]))
    spread = raw.Reshape(d_output, kept)
    scale = raw.FloorDiv(dense_shape, raw.Cast(kept, DstT="int64"))
    return [None, raw.GatherNd(spread, raw.FloorDiv(indices, scale)), None, None]


_reducing("Sum", np.add, "numeric")
_reducing("Max", np.maximum, "real")


def _public(kind: str, what: str, gives_sparse: bool) -> Callable[..., Any]:
    """Return the public function of a reduction.

    Args:
      kind: "Sum" or "Max".
      what: the result is of the elements.
      gives_sparse: whether it gives a SparseTensor.
    """
    op_name = f"SparseReduce{kind}{'Sparse' * gives_sparse}"

    def function(
        sp_input: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        reduction_axes: Any = None,
        keep_dims: bool | None = None,
    ) -> Any:
        sparse = as_sparse(sp_input)
        axis = reduction_axes if axis is None else axis
        keep = keepdims if keep_dims is None else keep_dims
        if axis is None:
            axis = _all_axes(sparse)
        found = getattr(raw, op_name)(
            sparse.indices, sparse.values, sparse.dense_shape, axis, keep_dims=bool(keep)
        )
        return SparseTensor(*found) if gives_sparse else found

    function.__name__ = function.__qualname__ = _name_of(kind, gives_sparse)
    function.__doc__ = _documentation(kind, what, gives_sparse)
    return function


def _name_of(kind: str, gives_sparse: bool) -> str:
    return f"sparse_reduce_{kind.lower()}{'_sparse' * gives_sparse}"


def _documentation(kind: str, what: str, gives_sparse: bool) -> str:
    name = _name_of(kind, gives_sparse)
    result = "a SparseTensor" if gives_sparse else "a dense tensor"
    example = f"Session().run({name}(x, 1){'.values' * gives_sparse})"
    numbers = " 5, 13" if kind == "Sum" else "5, 7"
    return f"""Return the {what} of the elements along axes, as {result}.

    Args:
      sp_input: a SparseTensor of numbers.
      axis: the axes that are reduced, one or a list; None for all.
      keepdims: whether they stay, of length 1.
      reduction_axes: the name of `axis` in earlier versions.
      keep_dims: the name of `keepdims` in earlier versions.

    Raises:
      TypeError: `sp_input` is not sparse.
      InvalidArgumentError: there is no such axis (when it runs).

    Example:
      >>> x = SparseTensor([[0, 1], [1, 0], [1, 2]], [5, 6, 7], [2, 3])
      >>> {example}
      array([{numbers}], dtype=int32)
    """


def _all_axes(sparse: SparseTensor) -> Any:
    """Return the numbers of the axes of a sparse tensor: a constant if their number is known."""
    known = sparse.dense_shape.shape.as_tuple()
    if known is not None and known[0] is not None:
        return raw.Const(value=np.arange(known[0], dtype=np.int32), dtype="int32")
    return range_(0, rank(sparse))


sparse_reduce_sum = _public("Sum", "sum", False)
sparse_reduce_sum_sparse = _public("Sum", "sum", True)
sparse_reduce_max = _public("Max", "greatest", False)
sparse_reduce_max_sparse = _public("Max", "greatest", True)


SOFTMAX = OpDef(
    "SparseSoftmax(sp_indices: int64, sp_values: T, sp_shape: int64) -> output: T "
    "[T: type {float16,float32,float64}]"
)


@SOFTMAX.shape
def softmax_shape(sp_indices: Shape, sp_values: Shape, sp_shape: Shape) -> Shape:
    require_ranks(sp_indices, sp_values, sp_shape)
    return sp_values or (None,)


@SOFTMAX.kernel
def softmax_kernel(sp_indices: Any, sp_values: Any, sp_shape: Any) -> Any:
    checked(sp_indices, sp_values, sp_shape)
    if len(sp_shape) < 2:
        raise InvalidArgumentError(f"Input should have rank >= 2, but got: {len(sp_shape)}")
    if not len(sp_values):
        return sp_values
    order, starts = runs(places(sp_indices[:, :-1], sp_shape[:-1]))
    counts = np.diff(np.append(starts, len(order)))
    found = sp_values[order]
    found -= np.repeat(np.maximum.reduceat(found, starts), counts)
    np.exp(found, out=found)
    found /= np.repeat(np.add.reduceat(found, starts), counts)
    output = np.empty_like(found)
    output[order] = found
    return output


@SOFTMAX.gradient
def softmax_gradient(op: Operation, d_output: Any) -> list[Any]:
    indices, _, dense_shape = op.inputs
    output = op.outputs[0]
    sums = raw.SparseReduceSum(
        indices, raw.Mul(output, d_output), dense_shape, [-1], keep_dims=True
    )
    rest = raw.SparseDenseCwiseAdd(indices, d_output, dense_shape, raw.Neg(sums))
    return [None, raw.Mul(rest, output), None]


def sparse_softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Return the softmax along the last axis, of the elements that are there: `tf.sparse.softmax`.

    Args:
      sp_input: a SparseTensor of floats, of rank 2 or more.
      name: of the scope.

    Raises:
      TypeError: `sp_input` is not sparse, or not of floats.

    Example:
      >>> x = SparseTensor([[0, 1], [1, 0], [1, 2]], [5.0, 6.0, 6.0], [2, 3])
      >>> Session().run(sparse_softmax(x).values)
      array([1. , 0.5, 0.5], dtype=float32)
    """
    sparse = as_sparse(sp_input)
    with name_scope(name, "SparseSoftmax", [sparse.indices, sparse.values]):
        values = raw.SparseSoftmax(sparse.indices, sparse.values, sparse.dense_shape)
        return SparseTensor(sparse.indices, values, sparse.dense_shape)


def _extreme(kind: str, ufunc: Any, types: str) -> None:
    op_def = OpDef(
        f"SparseSparse{kind}(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, "
        "b_values: T, b_shape: int64) -> output_indices: int64, output_values: T "
        f"[T: type {{{types}}}]"
    ).not_differentiable()

    @op_def.shape
    def shape(
        a_indices: Shape, a_values: Shape, a_shape: Shape,
        b_indices: Shape, b_values: Shape, b_shape: Shape,
    ) -> list[Shape]:  # fmt: skip
        require_ranks(a_indices, a_values, a_shape)
        require_ranks(b_indices, b_values, b_shape)
        return [(None, None), (None,)]

    @op_def.kernel
    def kernel(
        a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any, b_values: Any, b_shape: Any
    ) -> Any:
        a, b = checked(a_indices, a_values, a_shape), checked(b_indices, b_values, b_shape)
        check_same_shape(a_shape, b_shape)
        indices = np.concatenate([a.indices, b.indices])
        order, starts = runs(places(indices, a_shape))
        values = np.concatenate([a.values, b.values])[order]
        if not len(starts):
            return indices, values
        found = ufunc.reduceat(values, starts)
        alone = np.diff(np.append(starts, len(order))) == 1  # the other one has 0 there
        found[alone] = ufunc(found[alone], found.dtype.type(0))
        return indices[order[starts]], found


_extreme("Maximum", np.maximum, "real")
_extreme("Minimum", np.minimum, "numeric")


def sparse_maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """Return the greater elements of two sparse tensors; where one has none it counts as 0.

    Args:
      sp_a: a SparseTensor.
      sp_b: another one, of the same shape and type.
      name: of the scope.

    Raises:
      TypeError: one of them is not sparse.
      InvalidArgumentError: the shapes differ (when it runs).

    Example:
      >>> x, y = SparseTensor([[0]], [-5], [3]), SparseTensor([[2]], [6], [3])
      >>> Session().run(sparse_maximum(x, y).values)
      array([0, 6], dtype=int32)
    """
    return _of_both(raw.SparseSparseMaximum, "SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """Return the lesser elements of two sparse tensors; where one has none it counts as 0.

    Args:
      sp_a: a SparseTensor.
      sp_b: another one, of the same shape and type.
      name: of the scope.

    Raises:
      TypeError: one of them is not sparse.
      InvalidArgumentError: the shapes differ (when it runs).

    Example:
      >>> x, y = SparseTensor([[0]], [-5], [3]), SparseTensor([[2]], [6], [3])
      >>> Session().run(sparse_minimum(x, y).values)
      array([-5,  0], dtype=int32)
    """
    return _of_both(raw.SparseSparseMinimum, "SparseSparseMinimum", sp_a, sp_b, name)


def _of_both(
    op_def: Callable[..., Any], scope: str, sp_a: Any, sp_b: Any, name: str | None
) -> SparseTensor:
    a, b = as_sparse(sp_a), as_sparse(sp_b)
    with name_scope(name, scope, [a.indices, a.values, b.indices, b.values]) as own:
        indices, values = op_def(
            a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, name=own
        )
    return SparseTensor(indices, values, a.dense_shape)
