"""The Cholesky factor of a positive definite matrix, and systems solved with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.transpose import matrix_transpose
from tfdist.ops.linalg import shape_rules as linalg_shape_rules
from tfdist.ops.linalg.diag import matrix_band_part, matrix_diag_part, matrix_set_diag
from tfdist.ops.linalg.shape_rules import TYPES
from tfdist.ops.math.matmul import matmul

__all__ = ["batch_cholesky", "batch_cholesky_solve", "cholesky", "cholesky_solve"]

CHOLESKY = OpDef(
    f"Cholesky(input: T) -> output: T [T: type {{{TYPES}}}]", takes_threads="linear algebra"
)
BATCH_CHOLESKY = OpDef(
    "BatchCholesky(input: T) -> output: T [T: type {double,float}]", takes_threads="linear algebra"
)


def cholesky_kernel(input: Any) -> Any:
    """Return the lower triangular L with L @ adjoint(L) = input, of which the lower half counts."""
    linalg_shape_rules.check_square(input)
    message = "Cholesky decomposition was not successful. The input might not be valid."
    return linalg_shape_rules.told(np.linalg.cholesky, message, input)


for _op_def in (CHOLESKY, BATCH_CHOLESKY):
    _op_def.shape(linalg_shape_rules.square)
    _op_def.kernel(cholesky_kernel)


@CHOLESKY.gradient
def cholesky_gradient(op: Any, d_output: Any) -> Any:
    """Return the gradient as a self-adjoint matrix: Murray 2016, arXiv 1602.07527, eq. 10."""
    factor = op.outputs[0]
    middle = matmul(factor, d_output, adjoint_a=True)
    middle = matrix_set_diag(middle, raw.Mul(0.5, matrix_diag_part(middle)))
    middle = matrix_band_part(middle, -1, 0)
    half = raw.MatrixTriangularSolve(factor, middle, adjoint=True)
    whole = _adjoint(raw.MatrixTriangularSolve(factor, _adjoint(half), adjoint=True))
    return raw.Mul(0.5, raw.AddV2(whole, _adjoint(whole), name="add"), name="mul")


def _adjoint(matrices: Tensor) -> Tensor:
    return matrix_transpose(matrices, conjugate=matrices.dtype.is_complex)


CHOLESKY_GRAD = OpDef("CholeskyGrad(l: T, grad: T) -> output: T [T: type {float,double}]")
BATCH_CHOLESKY_GRAD = OpDef(
    "BatchCholeskyGrad(l: T, grad: T) -> output: T [T: type {float,double}]"
)


def cholesky_grad_shape(l: Shape, grad: Shape) -> Shape:  # noqa: E741  TensorFlow's name
    """Return the shape of the matrices."""
    return shapes.merge(linalg_shape_rules.square(l, "l"), linalg_shape_rules.square(grad, "grad"))


def cholesky_grad_kernel(l: Any, grad: Any) -> Any:  # noqa: E741
    """Return the gradient of the input of Cholesky: half of it above the diagonal, half below."""
    linalg_shape_rules.check_square(l)
    middle = np.tril(np.swapaxes(l, -1, -2) @ np.tril(grad))
    diagonal = np.arange(l.shape[-1])
    middle[..., diagonal, diagonal] *= 0.5
    inverse = linalg_shape_rules.told(np.linalg.inv, "Input matrix is not invertible.", l)
    whole = np.swapaxes(inverse, -1, -2) @ middle @ inverse
    return 0.5 * (whole + np.swapaxes(whole, -1, -2))


for _op_def in (CHOLESKY_GRAD, BATCH_CHOLESKY_GRAD):
    _op_def.checked_shape(cholesky_grad_shape)
    _op_def.kernel(cholesky_grad_kernel)


def cholesky(input: Any, name: str | None = None) -> Tensor:
    """Return the lower triangular L with L @ adjoint(L) = input, for each matrix.

    Args:
      input: floats or complex numbers [..., side, side], self-adjoint and positive definite; only
        what is on and below the diagonal is looked at.
      name: of the node.

    Raises:
      InvalidArgumentError: a matrix is not positive definite, or not square.

    Example:
      >>> Session().run(cholesky([[4.0, 2.0], [2.0, 5.0]]))
      array([[2., 0.],
             [1., 2.]], dtype=float32)
    """
    factor: Tensor = CHOLESKY(input, name=name)
    return factor


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """Return the X with A @ X = rhs, from the Cholesky factor of A.

    Args:
      chol: what `cholesky` gave for A, [..., side, side].
      rhs: [..., side, columns].
      name: of the nodes' scope.

    Example:
      >>> Session().run(cholesky_solve(cholesky([[4.0, 2.0], [2.0, 5.0]]), [[8.0], [12.0]]))
      array([[1.],
             [2.]], dtype=float32)
    """
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        first = raw.MatrixTriangularSolve(chol, rhs)
        both: Tensor = raw.MatrixTriangularSolve(chol, first, adjoint=True)
        return both


# as TensorFlow 0.x named what takes a batch
batch_cholesky = cholesky
batch_cholesky_solve = cholesky_solve
