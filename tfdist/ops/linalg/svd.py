"""Matrices by their singular values: svd, and what follows from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import matrix_transpose
from tfdist.ops.linalg import shape_rules as linalg_shape_rules
from tfdist.ops.linalg.diag import matrix_diag, matrix_set_diag
from tfdist.ops.linalg.shape_rules import TYPES
from tfdist.ops.math.matmul import matmul
from tfdist.ops.math.reductions import reduce_max, reduce_sum

__all__ = ["batch_svd", "svd"]  # the others are names of tf.linalg only

_SVD = (
    "(input: T) -> s: T, u: T, v: T "
    f"[compute_uv: bool = True; full_matrices: bool = False; T: type {{{TYPES}}}]"
)
SVD = OpDef(f"Svd{_SVD}", takes_threads="linear algebra")
BATCH_SVD = OpDef(f"BatchSvd{_SVD}", takes_threads="linear algebra")


def svd_shape(input: Shape, *, compute_uv: bool, full_matrices: bool) -> list[Shape]:
    """Return the shapes of the singular values, the left vectors and the right vectors."""
    shapes.require_rank(input, "input", 2, 99)
    if input is None:
        return [None, None, None] if compute_uv else [None, (0,), (0,)]
    *batch, rows, columns = input
    least = None if rows is None or columns is None else min(rows, columns)
    if not compute_uv:
        return [(*batch, least), (0,), (0,)]
    left, right = (rows, columns) if full_matrices else (least, least)
    return [(*batch, least), (*batch, rows, left), (*batch, columns, right)]


def svd_kernel(input: Any, *, compute_uv: bool, full_matrices: bool) -> Any:
    """Return the singular values, greatest first, and the vectors as columns.

    The values of a matrix that holds NaN or infinity are NaN.
    """
    is_finite = np.isfinite(input).all(axis=(-2, -1), keepdims=True)
    matrices = input if is_finite.all() else np.where(is_finite, input, input.dtype.type(0))
    u, values, v = _decomposed(matrices, compute_uv, full_matrices)
    values = np.where(is_finite[..., 0], values, np.nan).astype(input.dtype)
    if not compute_uv:
        return values, *(np.empty(0, input.dtype),) * 2
    return values, u, linalg_shape_rules.adjoint(v)


def _decomposed(matrices: Any, compute_uv: bool, full_matrices: bool) -> Any:
    try:
        if compute_uv:
            return np.linalg.svd(matrices, full_matrices)
        return None, np.linalg.svd(matrices, compute_uv=False), None
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError(f"the singular values were not found ({error})") from None


for _op_def in (SVD, BATCH_SVD):
    _op_def.shape(svd_shape)
    _op_def.kernel(svd_kernel)


@SVD.gradient
def svd_gradient(op: Any, d_s: Any, d_u: Any, d_v: Any) -> Any:
    """Return the gradient: Giles 2008, section 3.2, and Townsend 2016 for rectangles."""
    if not op.get_attr("compute_uv"):
        if d_s is None:
            return None
        _, u, v = SVD(op.inputs[0], compute_uv=True)
        return matmul(u, matmul(matrix_diag(d_s), v, adjoint_b=True))
    _check_gradient(op)
    s, u, v = op.outputs
    d_u, d_v = (zeros_like(x) if d is None else d for x, d in ((u, d_u), (v, d_v)))
    if op.get_attr("full_matrices"):
        rows, columns = op.inputs[0].plain_shape[-2:]
        u, d_u = _without_last(u, d_u, rows > columns)
        v, d_v = _without_last(v, d_v, columns > rows)
    return _svd_gradient(s, u, v, d_s, d_u, d_v)


def _check_gradient(op: Any) -> None:
    """Raise NotImplementedError where TensorFlow 1.x does as well."""
    matrices = op.inputs[0]
    if matrices.dtype.is_complex:
        raise NotImplementedError(
            f"{op.name}: the svd gradient is not implemented for complex numbers with vectors; "
            "tf.svd(x, compute_uv=False) has one"
        )
    sizes = matrices.plain_shape
    if sizes is None or None in sizes[-2:]:
        raise NotImplementedError(
            f"{op.name}: the svd gradient needs the number of rows and columns: set_shape tells it"
        )
    if op.get_attr("full_matrices") and abs(sizes[-1] - sizes[-2]) > 1:
        raise NotImplementedError(
            f"{op.name}: the svd gradient is not implemented for full matrices whose rows and "
            f"columns differ by more than 1, got {sizes[-2]} and {sizes[-1]}"
        )


def _without_last(vectors: Tensor, gradient: Tensor, is_longer: bool) -> tuple[Tensor, Tensor]:
    """Return the vectors but the last one, which the others determine, and their gradient."""
    if not is_longer:
        return vectors, gradient
    (first, last), (d_first, d_last) = _split(vectors), _split(gradient)
    moved = matmul(last, matmul(d_last, first, transpose_a=True))
    return first, raw.Sub(d_first, moved)


def _split(vectors: Tensor) -> tuple[Tensor, Tensor]:
    sizes: Any = vectors.plain_shape
    first, last = raw.SplitV(vectors, np.array([sizes[-1] - 1, 1], np.int32), -1, num_split=2)
    return first, last


def _svd_gradient(s: Tensor, u: Tensor, v: Tensor, d_s: Any, d_u: Any, d_v: Any) -> Any:
    """Return the gradient from as many vectors as there are singular values."""
    values = matrix_diag(s)
    squares = raw.Square(s)
    gaps = raw.Sub(raw.ExpandDims(squares, -2), raw.ExpandDims(squares, -1))
    factors = matrix_set_diag(raw.Reciprocal(gaps), zeros_like(s))
    ut_du, vt_dv = matmul(u, d_u, transpose_a=True), matmul(v, d_v, transpose_a=True)
    left, right = (raw.Mul(factors, _antisymmetric(each)) for each in (ut_du, vt_dv))
    inner = raw.AddV2(matmul(left, values), matmul(values, right), name="add")
    if d_s is not None:
        inner = raw.AddV2(inner, matrix_diag(d_s), name="add")
    across = raw.RealDiv(raw.Sub(d_u, matmul(u, ut_du)), raw.ExpandDims(s, -2))
    along = raw.RealDiv(raw.Sub(d_v, matmul(v, vt_dv)), raw.ExpandDims(s, -2))
    whole = raw.AddV2(matmul(u, inner), across, name="add")
    first = matmul(whole, v, transpose_b=True)
    return raw.AddV2(first, matmul(u, along, transpose_b=True), name="add")


def _antisymmetric(matrices: Tensor) -> Tensor:
    difference: Tensor = raw.Sub(matrices, matrix_transpose(matrices))
    return difference


def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """Return singular values and vectors: tensor = u @ diag(s) @ adjoint(v), for each matrix.

    Args:
      tensor: floats or complex numbers [..., rows, columns].
      full_matrices: whether u and v are square; else they have least = min(rows, columns) columns.
      compute_uv: whether the vectors are wanted.
      name: of the node.

    Returns:
      (s, u, v): singular values [..., least], greatest first, left vectors as columns of [...,
      rows, least], and right ones as columns of [..., columns, least]. Without `compute_uv`: s
      alone. The signs of the vectors are not determined.

    Example:
      >>> s, u, v = svd([[0.0, 3.0], [2.0, 0.0]])
      >>> Session().run(s)
      array([3., 2.], dtype=float32)
    """
    s, u, v = SVD(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    if s.dtype.is_complex:
        s = raw.Real(s, Tout=s.dtype.real_dtype)
    return (s, u, v) if compute_uv else s


def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Return how many singular values of each matrix are greater than a tolerance.

    Args:
      a: floats [..., rows, columns].
      tol: the tolerance; by default the greatest singular value times the precision of the type
        times the greater one of rows and columns.
      validate_args: whether the rank of the tensor is checked when it runs, where it is not known.
      name: of the nodes' scope.

    Raises:
      TypeError: `a` does not hold floats.
      ValueError: `a` has fewer than two axes.

    Example:
      >>> Session().run(linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]))
      np.int32(1)
    """
    with name_scope(name, "matrix_rank", [a]):
        a = _matrices(a)
        s = svd(a, compute_uv=False)
        if tol is None:
            precision = np.finfo(a.dtype.as_numpy_dtype).eps
            tol = raw.Mul(raw.Mul(precision, _longest(a), name="mul"),
                          reduce_max(s, axis=-1, keepdims=True), name="mul")  # fmt: skip
        return reduce_sum(raw.Cast(raw.Greater(s, tol), DstT="int32"), axis=-1)


def _matrices(a: Any) -> Tensor:
    """Return `a` as a tensor of float matrices."""
    tensor = convert_to_tensor(a, name="a")
    if not tensor.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {tensor.dtype.name}).")
    if tensor.plain_shape is not None and len(tensor.plain_shape) < 2:
        raise ValueError(
            f"Input `a` must have at least 2 dimensions (saw: {len(tensor.plain_shape)})."
        )
    return tensor


def _longest(a: Tensor) -> Tensor:
    """Return the greater one of rows and columns, in the type of `a`."""
    sizes: Any = a.plain_shape
    if sizes is not None and None not in sizes[-2:]:
        longest: Any = np.int64(max(sizes[-2:]))
    else:
        known: Any = shape(a)
        longest = reduce_max(known[-2:])
    cast: Tensor = raw.Cast(longest, DstT=a.dtype.base_dtype)
    return cast


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """Return the Moore-Penrose inverse of each matrix.

    Args:
      a: floats [..., rows, columns].
      rcond: singular values less than `rcond` times the greatest count as 0; [...]. By default 10
        times the precision of the type times the greater one of rows and columns.
      validate_args: whether the rank of the tensor is checked when it runs, where it is not known.
      name: of the nodes' scope.

    Returns:
      [..., columns, rows].

    Raises:
      TypeError: `a` does not hold floats.
      ValueError: `a` has fewer than two axes.

    Example:
      >>> Session().run(linalg.pinv([[2.0], [0.0]])).round(3) + 0.0
      array([[0.5, 0. ]], dtype=float32)
    """
    with name_scope(name, "pinv", [a]):
        a = _matrices(a)
        limit = _cutoff(a, rcond)
        s, u, v = svd(a)
        limit = raw.ExpandDims(raw.Mul(limit, reduce_max(s, axis=-1), name="mul"), -1)
        infinity = np.array(np.inf, a.dtype.as_numpy_dtype)
        s = raw.SelectV2(raw.Greater(s, limit), s, infinity)
        product = matmul(raw.RealDiv(v, raw.ExpandDims(s, -2), name="truediv"), u, adjoint_b=True)
        if a.plain_shape is not None:
            *batch, rows, columns = a.plain_shape
            product.set_shape([*batch, columns, rows])
        return product


def _size(a: Tensor, axis: int) -> Any:
    sizes: Any = shape(a)
    return sizes[axis]


def _cutoff(a: Tensor, rcond: Any) -> Tensor:
    """Return the part of the greatest singular value up to which others count as 0."""
    dtype = a.dtype.base_dtype
    sizes: Any = a.plain_shape
    if rcond is None:
        precision = np.finfo(dtype.as_numpy_dtype).eps
        if sizes is None or None in sizes[-2:]:
            rows, columns = (_size(a, axis) for axis in (-2, -1))
            longest = raw.Cast(raw.Maximum(rows, columns), DstT=dtype)
            scaled: Tensor = raw.Mul(raw.Mul(10.0, longest, name="mul"), precision, name="mul")
            return scaled
        rcond = 10 * precision * max(sizes[-2:])
    return convert_to_tensor(rcond, dtype, name="rcond")


# as TensorFlow 0.x named what takes a batch
batch_svd = svd
