"""Systems of linear equations: square ones, triangular ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.linalg import shape_rules as linalg_shape_rules
from tfdist.ops.linalg.diag import matrix_band_part
from tfdist.ops.linalg.shape_rules import TYPES
from tfdist.ops.math.matmul import matmul

__all__ = [
    "batch_matrix_solve",
    "batch_matrix_triangular_solve",
    "matrix_solve",
    "matrix_triangular_solve",
]

_SOLVE = "(matrix: T, rhs: T) -> output: T [adjoint: bool = False; T: type {%s}]"
MATRIX_SOLVE = OpDef(f"MatrixSolve{_SOLVE % TYPES}", takes_threads="linear algebra")
BATCH_MATRIX_SOLVE = OpDef(
    f"BatchMatrixSolve{_SOLVE % 'double,float'}", takes_threads="linear algebra"
)


def matrix_solve_shape(matrix: Shape, rhs: Shape) -> Shape:
    """Return the shape of the solutions."""
    matrix = linalg_shape_rules.square(matrix, "matrix")
    side = None if matrix is None else matrix[-1]
    if side is None and rhs is not None and len(rhs) > 1:
        side = rhs[-2]
    return linalg_shape_rules.solution(matrix, rhs, side, side)


def matrix_solve_kernel(matrix: Any, rhs: Any, *, adjoint: bool) -> Any:
    """Return the X with matrix @ X = rhs."""
    linalg_shape_rules.check_square(matrix)
    linalg_shape_rules.check_rhs(matrix, rhs)
    matrix = linalg_shape_rules.adjoint(matrix) if adjoint else matrix
    return linalg_shape_rules.told(np.linalg.solve, "Input matrix is not invertible.", matrix, rhs)


@MATRIX_SOLVE.gradient
def matrix_solve_gradient(op: Any, d_output: Any) -> Any:
    adjoint = op.get_attr("adjoint")
    d_rhs = MATRIX_SOLVE(op.inputs[0], d_output, adjoint=not adjoint)
    return _d_matrix(op.outputs[0], d_rhs, adjoint), d_rhs


def _d_matrix(output: Tensor, d_rhs: Tensor, adjoint: bool) -> Tensor:
    """Return the gradient of the matrices, from the solutions and the gradient of what they fit."""
    one, other = (output, d_rhs) if adjoint else (d_rhs, output)
    gradient: Tensor = raw.Neg(matmul(one, other, adjoint_b=True))
    return gradient


for _op_def in (MATRIX_SOLVE, BATCH_MATRIX_SOLVE):
    _op_def.shape(matrix_solve_shape)
    _op_def.kernel(matrix_solve_kernel)

_TRIANGULAR = (
    "(matrix: T, rhs: T) -> output: T [lower: bool = True; adjoint: bool = False; T: type {%s}]"
)
MATRIX_TRIANGULAR_SOLVE = OpDef(
    f"MatrixTriangularSolve{_TRIANGULAR % TYPES}", takes_threads="linear algebra"
)
BATCH_MATRIX_TRIANGULAR_SOLVE = OpDef(
    f"BatchMatrixTriangularSolve{_TRIANGULAR % 'double,float'}", takes_threads="linear algebra"
)
_BLOCK = 48  # rows from which on two halves and a product are quicker than one system


def matrix_triangular_solve_kernel(matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    """Return the X with matrix @ X = rhs, of whose matrices one half counts."""
    linalg_shape_rules.check_square(matrix)
    linalg_shape_rules.check_rhs(matrix, rhs)
    if adjoint:
        matrix, lower = linalg_shape_rules.adjoint(matrix), not lower
    if not (np.abs(np.diagonal(matrix, axis1=-2, axis2=-1)) > 0).all():  # NaN is not, either
        raise InvalidArgumentError(
            "Input matrix is not invertible: there is a zero on its diagonal"
        )
    return triangular_solve(matrix, rhs, lower)


def triangular_solve(matrix: Any, rhs: Any, lower: bool) -> Any:
    """Return the solutions of triangular systems of arrays: by halves, the last ones at once."""
    if lower:  # backwards it is an upper one, whose elimination has nothing to exchange
        return triangular_solve(matrix[..., ::-1, ::-1], rhs[..., ::-1, :], False)[..., ::-1, :]
    rows = matrix.shape[-1]
    if rows <= _BLOCK:
        return np.linalg.solve(np.triu(matrix), rhs)
    half = rows // 2
    below = triangular_solve(matrix[..., half:, half:], rhs[..., half:, :], False)
    rest = rhs[..., :half, :] - matrix[..., :half, half:] @ below
    above = triangular_solve(matrix[..., :half, :half], rest, False)
    return np.concatenate([above, below], axis=-2)


@MATRIX_TRIANGULAR_SOLVE.gradient
def matrix_triangular_solve_gradient(op: Any, d_output: Any) -> Any:
    lower, adjoint = op.get_attr("lower"), op.get_attr("adjoint")
    d_rhs = MATRIX_TRIANGULAR_SOLVE(op.inputs[0], d_output, lower=lower, adjoint=not adjoint)
    d_matrix = _d_matrix(op.outputs[0], d_rhs, adjoint)
    half = (-1, 0) if lower else (0, -1)
    return matrix_band_part(d_matrix, *half), d_rhs


for _op_def in (MATRIX_TRIANGULAR_SOLVE, BATCH_MATRIX_TRIANGULAR_SOLVE):
    _op_def.shape(matrix_solve_shape)
    _op_def.kernel(matrix_triangular_solve_kernel)


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Return the X with matrix @ X = rhs, for each pair of matrices.

    Args:
      matrix: floats or complex numbers [..., side, side].
      rhs: [..., side, columns], of the same type and batch.
      adjoint: whether the matrices are transposed and conjugated before.
      name: of the node.

    Returns:
      [..., side, columns].

    Raises:
      InvalidArgumentError: a matrix is not invertible.

    Example:
      >>> Session().run(matrix_solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]))
      array([[1. ],
             [0.5]], dtype=float32)
    """
    solutions: Tensor = MATRIX_SOLVE(matrix, rhs, adjoint=adjoint, name=name)
    return solutions


def matrix_triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Return the X with matrix @ X = rhs, where half of each matrix counts as zeros.

    Args:
      matrix: floats or complex numbers [..., side, side].
      rhs: [..., side, columns], of the same type and batch.
      lower: whether what is above the diagonal counts as zeros; otherwise what is below.
      adjoint: whether the triangular matrices are transposed and conjugated before.
      name: of the node.

    Raises:
      InvalidArgumentError: there is a zero on a diagonal.

    Example:
      >>> Session().run(matrix_triangular_solve([[2.0, 9.0], [2.0, 4.0]], [[2.0], [6.0]]))
      array([[1.],
             [1.]], dtype=float32)
    """
    solutions: Tensor = MATRIX_TRIANGULAR_SOLVE(
        matrix, rhs, lower=lower, adjoint=adjoint, name=name
    )
    return solutions


# as TensorFlow 0.x named what takes a batch
batch_matrix_solve = matrix_solve
batch_matrix_triangular_solve = matrix_triangular_solve
