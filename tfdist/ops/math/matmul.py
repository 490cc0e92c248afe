"""Products of matrices, single ones and batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import Known, OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.autodiff.gradient_utils import Needed, conjugate, shape_of
from tfdist.ops.math import matmul_onednn

__all__ = ["batch_matmul", "matmul", "matvec"]

MAT_MUL = OpDef(
    "MatMul(a: T, b: T) -> product: T "
    "[transpose_a: bool = False; transpose_b: bool = False; T: type {inexact,int32,int64}]",
    takes_threads="products",
    gives_fresh=True,
)


@MAT_MUL.shape
def mat_mul_shape(a: Shape, b: Shape, *, transpose_a: bool, transpose_b: bool) -> Shape:
    shapes.require_rank(a, "a", 2)
    shapes.require_rank(b, "b", 2)
    rows, inner = _turned(a, transpose_a)
    other_inner, columns = _turned(b, transpose_b)
    shapes.merge_dim(inner, other_inner, f"inner dimensions of {shapes.show(a)}, {shapes.show(b)}")
    return rows, columns


def _turned(shape: Shape, transpose: bool) -> Any:
    """Return the last two dimensions, exchanged if `transpose`."""
    last = (None, None) if shape is None else shape[-2:]
    return last[::-1] if transpose else last


@MAT_MUL.kernel
def mat_mul_kernel(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    if transpose_a:
        a = a.T
    if transpose_b:
        b = b.T
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise _unfit(a, b)
    return matmul_onednn.dot(a, b) if a.dtype.char in "fdFD" else _product(a, b)


@MAT_MUL.specialize
def mat_mul_specialized(known: Known) -> Any:
    """Return the product of matrices whose shapes fit for sure."""
    if known.dtypes[0] not in _OF_BLAS or not known.has_shapes:
        return None
    (rows, inner), shape = _turned(known.shapes[0], known.attrs["transpose_a"]), known.shapes[1]
    columns = _turned(shape, known.attrs["transpose_b"])[1]
    table = _LARGE if matmul_onednn.is_large(rows, inner, columns) else _SMALL
    return table[known.attrs["transpose_a"], known.attrs["transpose_b"]]


_OF_BLAS = (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


def _by_turns(dot: Any) -> dict[tuple[bool, bool], Any]:
    """Return what multiplies by `dot`, by whether the factors are transposed first."""
    return {
        (False, False): dot,
        (True, False): lambda a, b: dot(a.T, b),
        (False, True): lambda a, b: dot(a, b.T),
        (True, True): lambda a, b: dot(a.T, b.T),
    }


_SMALL, _LARGE = _by_turns(np.dot), _by_turns(matmul_onednn.dot)


def _unfit(a: Any, b: Any) -> InvalidArgumentError:
    one, other = (",".join(map(str, each.shape)) for each in (a, b))
    return InvalidArgumentError(
        f"Matrix size-incompatible: In[0]: [{one}], In[1]: [{other}]: {_why(a, b)}"
    )


def _why(a: Any, b: Any) -> str:
    """Return what is wrong with two arrays that have no product, as batches are told."""
    for place, each in enumerate((a, b)):
        if each.ndim < 2:
            return f"In[{place}] ndims must be >= 2: {each.ndim}"
    return "they have no product"


def _product(a: Any, b: Any) -> Any:
    made = matmul_onednn.matmul(a, b)
    if made is not None:
        return made
    return np.matmul(a, b).astype(a.dtype, copy=False)  # NumPy widens bfloat16 on its own


def _factor_gradients(turned: tuple[bool, bool], a: Any, b: Any, d: Any) -> Any:
    """Return the factors and their transpositions that make the gradient of a, and that of b."""
    cases: dict[tuple[bool, bool], Any] = {
        (False, False): ((d, b, False, True), (a, d, True, False)),
        (False, True): ((d, b, False, False), (d, a, True, False)),
        (True, False): ((b, d, False, True), (a, d, False, False)),
        (True, True): ((b, d, True, True), (d, a, True, True)),
    }
    return cases[turned]


@MAT_MUL.gradient
def mat_mul_gradient(op: Any, d_product: Any, *, needed: Needed = (True, True)) -> Any:
    a, b = conjugate(op.inputs[0]), conjugate(op.inputs[1])
    turned = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    cases = _factor_gradients(turned, a, b, d_product)
    return [
        raw.MatMul(one, other, transpose_a=first, transpose_b=second) if wanted else None
        for (one, other, first, second), wanted in zip(cases, needed, strict=True)
    ]


def _batch_mat_mul(name: str) -> OpDef:
    op_def = OpDef(
        f"{name}(x: T, y: T) -> output: T "
        "[T: type {inexact,int32,int64}; adj_x: bool = False; adj_y: bool = False]",
        takes_threads="products",
    )
    op_def.shape(batch_mat_mul_shape)
    op_def.kernel(batch_mat_mul_kernel)
    op_def.gradient(batch_mat_mul_gradient)
    return op_def


def batch_mat_mul_shape(x: Shape, y: Shape, *, adj_x: bool, adj_y: bool) -> Shape:
    """Return the shape of products of matrices in the last two axes; the others broadcast."""
    shapes.require_rank(x, "x", 2, 99)
    shapes.require_rank(y, "y", 2, 99)
    rows, inner = _turned(x, adj_x)
    other_inner, columns = _turned(y, adj_y)
    shapes.merge_dim(inner, other_inner, f"inner dimensions of {shapes.show(x)}, {shapes.show(y)}")
    if x is None or y is None:
        return None
    batch = shapes.broadcast(x[:-2], y[:-2])
    return None if batch is None else (*batch, rows, columns)


def batch_mat_mul_kernel(x: Any, y: Any, *, adj_x: bool, adj_y: bool) -> Any:
    """Return products of matrices in the last two axes; adjoint: transposed and conjugated."""
    x = _adjoint(x) if adj_x else x
    y = _adjoint(y) if adj_y else y
    if x.ndim < 2 or y.ndim < 2 or x.shape[-1] != y.shape[-2]:
        raise _unfit(x, y)
    return _product(x, y)


def _adjoint(matrices: Any) -> Any:
    turned = np.swapaxes(matrices, -1, -2)
    return np.conjugate(turned) if turned.dtype.kind == "c" else turned


def batch_mat_mul_gradient(op: Any, d: Any, *, needed: Needed = (True, True)) -> Any:
    """Return the gradients of both factors, summed over the axes that were broadcast."""
    x, y = op.inputs
    cases = _factor_gradients((op.get_attr("adj_x"), op.get_attr("adj_y")), x, y, d)
    parts = [
        getattr(raw, op.type)(one, other, adj_x=first, adj_y=second, name="MatMul")
        if wanted
        else None
        for (one, other, first, second), wanted in zip(cases, needed, strict=True)
    ]
    return _sum_batches(x, y, *parts)


def _sum_batches(x: Tensor, y: Tensor, d_x: Any, d_y: Any) -> Any:
    """Return gradients summed over broadcast batch axes, in the shapes of x and y."""
    one, other = x.plain_shape, y.plain_shape
    if one is not None and other is not None:
        if one[:-2] == other[:-2] and None not in one[:-2]:
            return d_x, d_y
        if len(one) == 2 and len(other) == 2:
            return d_x, d_y
    batches = [raw.Slice(shape, [0], raw.ExpandDims(raw.Sub(raw.Size(shape), 2), 0))
               for shape in (raw.Shape(x), raw.Shape(y))]  # fmt: skip
    axes = raw.BroadcastGradientArgs(*batches)
    return [
        None if part is None else raw.Reshape(raw.Sum(part, gone), shape_of(tensor))
        for tensor, part, gone in zip((x, y), (d_x, d_y), axes, strict=True)
    ]


BATCH_MAT_MUL = _batch_mat_mul("BatchMatMul")
BATCH_MAT_MUL_V2 = _batch_mat_mul("BatchMatMulV2")


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the product of two matrices, or of each pair of matrices in the last two axes.

    Args:
      a: [..., rows, inner], a tensor or anything that converts to one.
      b: [..., inner, columns], of the same type; the axes in front broadcast.
      transpose_a: whether `a` comes as [..., inner, rows].
      transpose_b: whether `b` comes as [..., columns, inner].
      adjoint_a: whether `a` comes transposed and conjugated.
      adjoint_b: whether `b` comes transposed and conjugated.
      a_is_sparse: a hint that many elements are 0: float32 and bfloat16 matrices, which may be
        mixed then, become a SparseMatMul.
      b_is_sparse: the same for b.
      name: of the node.

    Returns:
      [..., rows, columns], of the type of a and b.

    Raises:
      TypeError: the types differ.
      ValueError: the inner dimensions differ, or both transpose and adjoint are asked for.

    Example:
      >>> Session().run(matmul([[1, 2], [3, 4]], [[5], [6]]))
      array([[17],
             [39]], dtype=int32)
    """
    _check_flags(transpose_a, adjoint_a, "a")
    _check_flags(transpose_b, adjoint_b, "b")
    turn_a, turn_b = transpose_a or adjoint_a, transpose_b or adjoint_b
    hints = a_is_sparse, b_is_sparse
    if hasattr(a, "_as_tensor") and hasattr(b, "_as_tensor") and not a.dtype.is_complex:
        if any(hints) or a.dtype != b.dtype:
            with name_scope(name, "MatMul", [a, b]) as scope:
                a, b = a._as_tensor(False), b._as_tensor(False)
                return _maybe_sparse(a, b, turn_a, turn_b, hints, scope)
        return _multiplied(
            a._as_tensor(False), b._as_tensor(False), turn_a, turn_b, name or "MatMul"
        )
    with name_scope(name, "MatMul", [a, b]) as scope:
        a, b = factors(a, b)
        if _is_matrix(a) and _is_matrix(b):  # the op transposes only
            a, b = conjugate(a) if adjoint_a else a, conjugate(b) if adjoint_b else b
        else:  # the op takes adjoints only
            a, b = conjugate(a) if transpose_a else a, conjugate(b) if transpose_b else b
        return _maybe_sparse(a, b, turn_a, turn_b, hints, scope)


def _maybe_sparse(
    a: Tensor, b: Tensor, turn_a: bool, turn_b: bool, hints: tuple[bool, bool], name: str
) -> Tensor:
    """Return a SparseMatMul where it is hinted, or types that only it takes are mixed."""
    types = {a.dtype.base_dtype, b.dtype.base_dtype}
    if not types <= {dtypes.float32, dtypes.bfloat16} or not (any(hints) or len(types) == 2):
        return _multiplied(a, b, turn_a, turn_b, name)
    product: Tensor = raw.SparseMatMul(
        a, b, transpose_a=turn_a, transpose_b=turn_b, a_is_sparse=hints[0],
        b_is_sparse=hints[1], name=name,
    )  # fmt: skip
    return raw.Cast(product, DstT=dtypes.bfloat16) if types == {dtypes.bfloat16} else product


def _multiplied(a: Tensor, b: Tensor, turn_a: bool, turn_b: bool, name: str) -> Tensor:
    if _is_matrix(a) and _is_matrix(b):
        tensor: Tensor = MAT_MUL(a, b, transpose_a=turn_a, transpose_b=turn_b, name=name)
    else:
        tensor = BATCH_MAT_MUL_V2(a, b, adj_x=turn_a, adj_y=turn_b, name=name)
    return tensor


def _check_flags(transpose: bool, adjoint: bool, which: str) -> None:
    if transpose and adjoint:
        raise ValueError(f"Only one of transpose_{which} and adjoint_{which} can be True.")


def factors(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Return both as tensors; a Python value takes the type of the tensor beside it."""
    if hasattr(b, "_as_tensor") and not hasattr(a, "_as_tensor"):
        return convert_to_tensor(a, b.dtype.base_dtype, "a"), b._as_tensor(False)
    a = convert_to_tensor(a, name="a")
    if hasattr(b, "_as_tensor"):
        return a, b._as_tensor(False)
    return a, convert_to_tensor(b, a.dtype.base_dtype, "b")


def _is_matrix(tensor: Tensor) -> bool:
    """Return whether the rank is 2 (or less, which is an error that MatMul tells)."""
    shape = tensor.plain_shape
    return shape is not None and len(shape) < 3


def batch_matmul(
    x: Any, y: Any, adj_x: bool = False, adj_y: bool = False, name: str | None = None
) -> Tensor:
    """Return the product of each pair of matrices in the last two axes: the old `matmul`.

    Args:
      x: [..., rows, inner].
      y: [..., inner, columns].
      adj_x: whether the matrices of x come transposed and conjugated.
      adj_y: whether the matrices of y come transposed and conjugated.
      name: of the node.

    Example:
      >>> Session().run(batch_matmul([[[1, 2]]], [[[3], [4]]]))
      array([[[11]]], dtype=int32)
    """
    product: Tensor = BATCH_MAT_MUL(x, y, adj_x=adj_x, adj_y=adj_y, name=name)
    return product


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the product of a matrix and a vector, or of each pair of such.

    Args:
      a: [..., rows, inner].
      b: [..., inner].
      transpose_a: whether `a` comes as [..., inner, rows].
      adjoint_a: whether `a` comes transposed and conjugated.
      a_is_sparse: a hint for speed.
      b_is_sparse: a hint for speed.
      name: of the nodes' scope.

    Example:
      >>> Session().run(matvec([[1, 2], [3, 4]], [5, 6]))
      array([17, 39], dtype=int32)
    """
    with name_scope(name, "MatVec", [a, b]):
        column = raw.ExpandDims(convert_to_tensor(b), -1)
        product = matmul(
            a, column, transpose_a=transpose_a, adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse,
        )  # fmt: skip
        vector: Tensor = raw.Squeeze(product, squeeze_dims=[-1])
        return vector
