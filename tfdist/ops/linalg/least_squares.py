"""Systems of linear equations with more equations than unknowns, or fewer."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.fill import eye
from tfdist.ops.array.shape import shape
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.linalg import shape_rules as linalg_shape_rules
from tfdist.ops.linalg.cholesky import cholesky_solve
from tfdist.ops.linalg.shape_rules import TYPES
from tfdist.ops.math.matmul import matmul

__all__ = ["batch_matrix_solve_ls", "matrix_solve_ls"]

_SOLVE_LS = (
    "(matrix: T, rhs: T, l2_regularizer: double) -> output: T [T: type {%s}; fast: bool = True]"
)
MATRIX_SOLVE_LS = OpDef(f"MatrixSolveLs{_SOLVE_LS % TYPES}", takes_threads="linear algebra")
BATCH_MATRIX_SOLVE_LS = OpDef(
    f"BatchMatrixSolveLs{_SOLVE_LS % 'double,float'}", takes_threads="linear algebra"
)


def matrix_solve_ls_shape(matrix: Shape, rhs: Shape, l2_regularizer: Shape) -> Shape:
    """Return the shape of the solutions."""
    rows, columns = (None, None) if matrix is None or len(matrix) < 2 else matrix[-2:]
    return linalg_shape_rules.solution(matrix, rhs, rows, columns)


def matrix_solve_ls_kernel(matrix: Any, rhs: Any, l2_regularizer: Any, *, fast: bool) -> Any:
    """Return the X that makes the squares of matrix @ X - rhs least."""
    linalg_shape_rules.check_rhs(matrix, rhs)
    if not fast:
        precision = np.finfo(matrix.dtype).eps * max(matrix.shape[-2:])
        inverse = linalg_shape_rules.told(np.linalg.pinv, "Input is not valid.", matrix, precision)
        return inverse @ rhs
    turned = linalg_shape_rules.adjoint(matrix)
    is_tall = matrix.shape[-2] >= matrix.shape[-1]
    products = turned @ matrix if is_tall else matrix @ turned
    products = products + matrix.dtype.type(l2_regularizer) * np.eye(
        products.shape[-1], dtype=matrix.dtype
    )
    given = turned @ rhs if is_tall else rhs
    message = "Input matrix was rank deficient or ill-conditioned. Try setting fast=False."
    solved = linalg_shape_rules.told(np.linalg.solve, message, products, given)
    return solved if is_tall else turned @ solved


for _op_def in (MATRIX_SOLVE_LS, BATCH_MATRIX_SOLVE_LS):
    _op_def.shape(matrix_solve_ls_shape)
    _op_def.kernel(matrix_solve_ls_kernel)


@MATRIX_SOLVE_LS.gradient
def matrix_solve_ls_gradient(op: Any, d_output: Any) -> Any:
    """Return the gradients of the normal equations that the fast way solves."""
    matrix, rhs, regularizer = op.inputs
    if not op.get_attr("fast"):
        raise ValueError(f"{op.name}: Gradient not defined for fast=False")
    if None in (matrix.plain_shape or (None,))[-2:]:
        raise ValueError(f"{op.name}: Gradient not defined for a matrix of unknown shape")
    rows, columns = matrix.plain_shape[-2:]
    rule = _d_overdetermined if rows >= columns else _d_underdetermined
    return (*rule(matrix, rhs, op.outputs[0], regularizer, d_output), None)


def _d_overdetermined(matrix: Any, rhs: Any, x: Any, regularizer: Any, d_x: Any) -> Any:
    """Return the gradients of X = inverse(A* A + lambda) A* B."""
    factor = _gramian_factor(matrix, regularizer, True)
    z = cholesky_solve(factor, d_x)
    around = raw.AddV2(matmul(x, z, adjoint_b=True), matmul(z, x, adjoint_b=True), name="add")
    d_matrix = raw.Sub(matmul(rhs, z, adjoint_b=True), matmul(matrix, around))
    return d_matrix, matmul(matrix, z)


def _d_underdetermined(matrix: Any, rhs: Any, x: Any, regularizer: Any, d_x: Any) -> Any:
    """Return the gradients of X = A* inverse(A A* + lambda) B."""
    factor = _gramian_factor(matrix, regularizer, False)
    d_rhs = cholesky_solve(factor, matmul(matrix, d_x))
    solved = cholesky_solve(factor, rhs)
    rest = raw.Sub(d_x, matmul(matrix, d_rhs, adjoint_a=True))
    one = matmul(solved, rest, adjoint_b=True)
    return raw.Sub(one, matmul(d_rhs, x, adjoint_b=True)), d_rhs


def _gramian_factor(matrix: Tensor, regularizer: Any, is_tall: bool) -> Tensor:
    """Return the Cholesky factor of A* A + lambda, or of A A* + lambda."""
    product = matmul(matrix, matrix, adjoint_a=is_tall, adjoint_b=not is_tall)
    if isinstance(regularizer, Tensor) or regularizer:
        if isinstance(regularizer, Tensor):
            regularizer = raw.Cast(regularizer, DstT=matrix.dtype.base_dtype)
        product = raw.AddV2(product, raw.Mul(regularizer, _identity_like(product)), name="add")
    factor: Tensor = raw.Cholesky(product)
    return factor


def _identity_like(matrices: Tensor) -> Tensor:
    """Return identity matrices in the shape of square ones."""
    sizes: Any = shape(matrices)
    return eye(sizes[-1], dtype=matrices.dtype.base_dtype)


def matrix_solve_ls(
    matrix: Any,
    rhs: Any,
    l2_regularizer: float = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """Return the X that makes the squares of matrix @ X - rhs least, for each pair of matrices.

    Args:
      matrix: floats or complex numbers [..., rows, columns].
      rhs: [..., rows, others], of the same type and batch.
      l2_regularizer: factor of the squares of X, which are made small as well; a number.
      fast: whether the normal equations are solved, which takes matrices of full rank; otherwise
        the least X of all is found, without regularizer and gradient.
      name: of the node, or of the nodes' scope.

    Returns:
      [..., columns, others].

    Raises:
      InvalidArgumentError: a matrix is not of full rank, and `fast`.

    Example:
      >>> Session().run(matrix_solve_ls([[1.0], [1.0]], [[1.0], [3.0]]))
      array([[2.]], dtype=float32)
    """
    tensor = convert_to_tensor(matrix, name="matrix")
    if not fast:
        slow: Tensor = MATRIX_SOLVE_LS(tensor, rhs, l2_regularizer, fast=False, name=name)
        return slow
    with name_scope(name, "matrix_solve_ls", [tensor, rhs]):
        return _normal_equations(tensor, rhs, l2_regularizer)


def _normal_equations(matrix: Tensor, rhs: Any, regularizer: float) -> Tensor:
    sizes: Any = matrix.plain_shape
    if sizes is not None and None not in sizes[-2:]:
        solve = _overdetermined if sizes[-2] >= sizes[-1] else _underdetermined
        return solve(matrix, rhs, regularizer)
    known: Any = shape(matrix)
    last = known[-2:]
    chosen: Tensor = cond(
        raw.GreaterEqual(last[0], last[1]),
        lambda: _overdetermined(matrix, rhs, regularizer),
        lambda: _underdetermined(matrix, rhs, regularizer),
    )
    return chosen


def _overdetermined(matrix: Tensor, rhs: Any, regularizer: float) -> Tensor:
    factor = _gramian_factor(matrix, regularizer, True)
    return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))


def _underdetermined(matrix: Tensor, rhs: Any, regularizer: float) -> Tensor:
    factor = _gramian_factor(matrix, regularizer, False)
    return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


# as TensorFlow 0.x named what takes a batch
batch_matrix_solve_ls = matrix_solve_ls
