"""Products with sparse matrices: with a dense one, and of dense ones that are full of zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.gather import gather
from tfdist.ops.autodiff.gradient_utils import conjugate
from tfdist.ops.math.matmul import mat_mul_kernel, mat_mul_shape, matmul
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.sparse import products_scipy
from tfdist.ops.sparse.components import brackets
from tfdist.ops.sparse.products_scipy import MANY_NUMBERS
from tfdist.ops.sparse.segments import Segments, summed_rows
from tfdist.ops.sparse.sparse_tensor import as_sparse

__all__ = ["sparse_matmul", "sparse_tensor_dense_matmul"]

DENSE_MAT_MUL = OpDef(
    "SparseTensorDenseMatMul(a_indices: Tindices, a_values: T, a_shape: int64, b: T) -> product: T "
    "[T: type {numeric}; Tindices: type = int64 {index}; adjoint_a: bool = False; "
    "adjoint_b: bool = False]"
)


@DENSE_MAT_MUL.shape
def dense_mat_mul_shape(
    a_indices: Shape, a_values: Shape, a_shape: Shape, b: Shape, *,
    adjoint_a: bool, adjoint_b: bool, a_shape_value: Any,
) -> Shape:  # fmt: skip
    shapes.require_rank(a_indices, "a_indices", 2)
    shapes.require_rank(a_values, "a_values", 1)
    shapes.require_rank(a_shape, "a_shape", 1)
    a = (None, None) if a_shape_value is None else tuple(map(int, a_shape_value))
    return mat_mul_shape(a, b, transpose_a=adjoint_a, transpose_b=adjoint_b)


@DENSE_MAT_MUL.kernel
def dense_mat_mul_kernel(
    a_indices: Any, a_values: Any, a_shape: Any, b: Any, *, adjoint_a: bool, adjoint_b: bool
) -> Any:
    _check_matrices(a_indices, a_values, a_shape, b)
    a_indices = a_indices.copy(order="F")  # its columns are read several times
    if adjoint_a:
        a_indices, a_values, a_shape = a_indices[:, ::-1], np.conjugate(a_values), a_shape[::-1]
    if adjoint_b:
        b = np.ascontiguousarray(np.conjugate(b.T))
    _check_inner(a_indices, a_shape, b, 1 - int(adjoint_a))
    check_room((a_shape[0], b.shape[1]), b.dtype)
    order = _by_row(a_indices[:, 0], a_shape[0])
    rows, columns, values = a_indices[order, 0], a_indices[order, 1], a_values[order]
    count = int(a_shape[0])
    found = products_scipy.summed(rows, columns, values, b, count)
    if found is not None:
        return found

    def terms(some: Any) -> Any:
        products = b.take(columns[some], 0)
        products *= values[some, None]
        return products

    if len(rows) * b.shape[1] < MANY_NUMBERS:
        return summed_rows(terms(slice(None)), rows, count)
    product = np.zeros((count, b.shape[1]), b.dtype)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    segments = Segments(starts, np.diff(starts, append=len(rows)))
    product[rows[segments.starts]] = segments.summed(terms)
    return product


def _by_row(rows: Any, count: int) -> Any:
    """Return what puts rows into order: nothing if they are."""
    if (rows[1:] >= rows[:-1]).all():
        return slice(None)
    small = rows.astype(np.uint16) if count <= 1 << 16 else rows  # sorted in a pass for each byte
    return np.argsort(small, kind="stable")


def _check_matrices(indices: Any, values: Any, dense_shape: Any, b: Any) -> None:
    for what, array, rank in (("b", b, 2), ("a_shape", dense_shape, 1), ("a_indices", indices, 2),
                              ("a_values", values, 1)):  # fmt: skip
        if np.ndim(array) != rank:
            kind = "matrix" if rank == 2 else "vector"
            raise InvalidArgumentError(f"Tensor '{what}' is not a {kind}: {np.shape(array)}")
    if len(dense_shape) != 2:
        raise InvalidArgumentError("Tensor 'a_shape' must have 2 elements")
    if indices.shape != (len(values), 2):
        raise InvalidArgumentError(
            f"{len(values)} elements of a matrix need indices of shape {(len(values), 2)}, got "
            f"{indices.shape}"
        )


def _check_inner(indices: Any, dense_shape: Any, b: Any, inner: int) -> None:
    """Raise InvalidArgumentError unless matrices have a product, and all indices are in bounds.

    Args:
      indices: of the first matrix, as it is multiplied.
      dense_shape: of the first matrix, as it is multiplied.
      b: the second one.
      inner: which column of the indices as they were given runs along the inner dimension.
    """
    if dense_shape[1] != len(b):
        raise InvalidArgumentError(
            "Cannot multiply A and B because inner dimension does not match: "
            f"{dense_shape[1]} vs. {len(b)}.  Did you forget a transpose?  Dimensions of A: "
            f"{brackets(dense_shape)}).  Dimensions of B: {brackets(b.shape)}"
        )
    for letter, column, given in (("k", 1, inner), ("m", 0, 1 - inner)):
        numbers, size = indices[:, column], dense_shape[column]
        if not len(numbers) or 0 <= numbers.min() <= numbers.max() < size:
            continue
        for row in np.flatnonzero((numbers < 0) | (numbers >= size))[:1]:
            raise InvalidArgumentError(
                f"{letter} ({indices[row, column]}) from index[{row},{given}] out of bounds "
                f"(>={dense_shape[column]})"
            )


@DENSE_MAT_MUL.gradient
def dense_mat_mul_gradient(op: Operation, d_product: Any) -> list[Any]:
    indices: Any = op.inputs[0]
    _, values, a_shape, b = op.inputs
    adjoint_a, adjoint_b = op.get_attr("adjoint_a"), op.get_attr("adjoint_b")
    d_b = raw.SparseTensorDenseMatMul(indices, values, a_shape, d_product, adjoint_a=not adjoint_a)
    rows, columns = indices[:, 0], indices[:, 1]
    if adjoint_a:
        rows, columns = columns, rows
    of_b = gather(_adjoint(b) if adjoint_b else b, columns)
    d_values = reduce_sum(raw.Mul(gather(d_product, rows), conjugate(of_b)), 1)
    return [
        None,
        conjugate(d_values) if adjoint_a else d_values,
        None,
        _adjoint(d_b) if adjoint_b else d_b,
    ]


def _adjoint(matrix: Tensor) -> Tensor:
    turned: Tensor = raw.Transpose(conjugate(matrix), [1, 0])
    return turned


def sparse_tensor_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """Return the product of a sparse matrix and a dense one: `tf.sparse.matmul`.

    Args:
      sp_a: a SparseTensor of rank 2.
      b: a matrix of the same type.
      adjoint_a: whether the first is transposed, and conjugated.
      adjoint_b: whether the second is.
      name: of the scope.

    Raises:
      TypeError: `sp_a` is not sparse.
      ValueError: the inner dimensions differ.
      InvalidArgumentError: an index is out of bounds (when it runs).

    Example:
      >>> x = SparseTensor([[0, 1], [1, 2]], [5, 6], [2, 3])
      >>> Session().run(sparse_tensor_dense_matmul(x, [[1], [2], [3]]))
      array([[10],
             [18]], dtype=int32)
    """
    sparse = as_sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sparse.indices, sparse.values, b]):
        dense = convert_to_tensor(b, name="b")
        product: Tensor = raw.SparseTensorDenseMatMul(
            sparse.indices, sparse.values, sparse.dense_shape, dense,
            adjoint_a=adjoint_a, adjoint_b=adjoint_b,
        )  # fmt: skip
        return product


SPARSE_MAT_MUL = OpDef(
    "SparseMatMul(a: Ta, b: Tb) -> product: float32 "
    "[transpose_a: bool = False; transpose_b: bool = False; a_is_sparse: bool = False; "
    "b_is_sparse: bool = False; Ta: type = float32 {float32,bfloat16}; "
    "Tb: type = float32 {float32,bfloat16}]",
    takes_threads="products",
)
SPARSE_MAT_MUL.shape(mat_mul_shape)


@SPARSE_MAT_MUL.kernel
def sparse_mat_mul_kernel(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
    return mat_mul_kernel(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


@SPARSE_MAT_MUL.gradient
def sparse_mat_mul_gradient(op: Operation, d_product: Any) -> list[Any]:
    a, b = op.inputs
    turned = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    wide_a, wide_b = cast(a, dtypes.float32), cast(b, dtypes.float32)
    d_a = matmul(d_product, wide_b, transpose_b=not turned[1])
    d_b = matmul(wide_a, d_product, transpose_a=not turned[0])
    return [_as(d_a, turned[0], a.dtype), _as(d_b, turned[1], b.dtype)]


def _as(gradient: Tensor, turned: bool, dtype: DType) -> Any:
    return cast(raw.Transpose(gradient, [1, 0]) if turned else gradient, dtype)


def sparse_matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the product of dense matrices, which may be full of zeros: `tf.sparse_matmul`.

    Args:
      a: a matrix of float32 or bfloat16.
      b: a matrix of float32 or bfloat16.
      transpose_a: whether the first is transposed.
      transpose_b: whether the second is.
      a_is_sparse: whether the first has many zeros; changes nothing here.
      b_is_sparse: whether the second has; changes nothing here.
      name: of the node.

    Example:
      >>> Session().run(sparse_matmul([[1.0, 0.0]], [[2.0], [3.0]]))
      array([[2.]], dtype=float32)
    """
    product: Tensor = raw.SparseMatMul(
        a, b, transpose_a=transpose_a, transpose_b=transpose_b, a_is_sparse=a_is_sparse,
        b_is_sparse=b_is_sparse, name=name,
    )  # fmt: skip
    return product
