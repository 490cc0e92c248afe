"""Determinants and inverses of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.linalg import shape_rules as linalg_shape_rules
from tfdist.ops.linalg.diag import matrix_diag_part
from tfdist.ops.linalg.shape_rules import TYPES
from tfdist.ops.math.matmul import matmul

__all__ = [
    "batch_matrix_determinant",
    "batch_matrix_inverse",
    "matrix_determinant",
    "matrix_inverse",
]  # the others are names of tf.linalg only

_INVERSE = "(input: T) -> output: T [adjoint: bool = False; T: type {%s}]"
MATRIX_INVERSE = OpDef(f"MatrixInverse{_INVERSE % TYPES}", takes_threads="linear algebra")
BATCH_MATRIX_INVERSE = OpDef(
    f"BatchMatrixInverse{_INVERSE % 'double,float'}", takes_threads="linear algebra"
)


def matrix_inverse_kernel(input: Any, *, adjoint: bool) -> Any:
    """Return the inverse of each matrix, or of its adjoint."""
    linalg_shape_rules.check_square(input)
    matrices = linalg_shape_rules.adjoint(input) if adjoint else input
    return linalg_shape_rules.told(np.linalg.inv, "Input is not invertible.", matrices)


@MATRIX_INVERSE.gradient
def matrix_inverse_gradient(op: Any, d_output: Any) -> Any:
    inverse = op.outputs[0]
    if op.get_attr("adjoint"):
        return raw.Neg(matmul(matmul(inverse, d_output, adjoint_b=True), inverse))
    return raw.Neg(matmul(inverse, matmul(d_output, inverse, adjoint_b=True), adjoint_a=True))


for _op_def in (MATRIX_INVERSE, BATCH_MATRIX_INVERSE):
    _op_def.shape(linalg_shape_rules.square)
    _op_def.kernel(matrix_inverse_kernel)

_DETERMINANT = f"(input: T) -> output: T [T: type {{{TYPES}}}]"
MATRIX_DETERMINANT = OpDef(f"MatrixDeterminant{_DETERMINANT}", takes_threads="linear algebra")
BATCH_MATRIX_DETERMINANT = OpDef(
    f"BatchMatrixDeterminant{_DETERMINANT}", takes_threads="linear algebra"
)


def matrix_determinant_shape(input: Shape) -> Shape:
    """Return the shape of a number for each matrix."""
    return linalg_shape_rules.batch_of(linalg_shape_rules.square(input))


def matrix_determinant_kernel(input: Any) -> Any:
    """Return the determinant of each matrix."""
    linalg_shape_rules.check_square(input)
    return np.linalg.det(input)


@MATRIX_DETERMINANT.gradient
def matrix_determinant_gradient(op: Any, d_output: Any) -> Any:
    determinant = op.outputs[0]
    if determinant.dtype.is_complex:
        determinant = raw.Conj(determinant)
    return _along_inverse(op.inputs[0], raw.Mul(d_output, determinant, name="mul"))


for _op_def in (MATRIX_DETERMINANT, BATCH_MATRIX_DETERMINANT):
    _op_def.shape(matrix_determinant_shape)
    _op_def.kernel(matrix_determinant_kernel)


def _along_inverse(matrices: Tensor, factors: Tensor) -> Tensor:
    """Return the adjoint inverse of each matrix times its factor."""
    inverse = MATRIX_INVERSE(matrices, adjoint=True)
    factors = raw.ExpandDims(raw.ExpandDims(factors, -1), -1)
    product: Tensor = raw.Mul(factors, inverse, name="mul")
    return product


LOG_MATRIX_DETERMINANT = OpDef(
    f"LogMatrixDeterminant(input: T) -> sign: T, log_abs_determinant: T [T: type {{{TYPES}}}]",
    takes_threads="linear algebra",
)


@LOG_MATRIX_DETERMINANT.shape
def log_matrix_determinant_shape(input: Shape) -> list[Shape]:
    return [matrix_determinant_shape(input)] * 2


@LOG_MATRIX_DETERMINANT.kernel
def log_matrix_determinant_kernel(input: Any) -> Any:
    linalg_shape_rules.check_square(input)
    sign, logarithm = np.linalg.slogdet(input)
    return sign, logarithm.astype(input.dtype)


@LOG_MATRIX_DETERMINANT.gradient
def log_matrix_determinant_gradient(op: Any, d_sign: Any, d_logarithm: Any) -> Any:
    """Return the gradient through the logarithm; the sign is constant where it has a slope."""
    return _along_inverse(op.inputs[0], d_logarithm)


def matrix_inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Return the inverse of each matrix.

    Args:
      input: floats or complex numbers [..., side, side].
      adjoint: whether the matrices are transposed and conjugated before.
      name: of the node.

    Raises:
      InvalidArgumentError: a matrix is not invertible, or not square.

    Example:
      >>> Session().run(matrix_inverse([[2.0, 0.0], [0.0, 4.0]]))
      array([[0.5 , 0.  ],
             [0.  , 0.25]], dtype=float32)
    """
    inverse: Tensor = MATRIX_INVERSE(input, adjoint=adjoint, name=name)
    return inverse


def matrix_determinant(input: Any, name: str | None = None) -> Tensor:
    """Return the determinant of each matrix.

    Args:
      input: floats or complex numbers [..., side, side].
      name: of the node.

    Example:
      >>> Session().run(matrix_determinant([[2.0, 0.0], [1.0, 4.0]]))
      np.float32(8.0)
    """
    determinant: Tensor = MATRIX_DETERMINANT(input, name=name)
    return determinant


def slogdet(input: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return sign and logarithm of the absolute value of each matrix's determinant.

    Args:
      input: floats or complex numbers [..., side, side].
      name: of the node.

    Returns:
      (sign, logarithm), both of the type of the input; 0 and -inf for a singular matrix.

    Example:
      >>> Session().run(linalg.slogdet([[1.0, 0.0], [0.0, -1.0]]))
      LogMatrixDeterminant(sign=np.float32(-1.0), log_abs_determinant=np.float32(0.0))
    """
    return LOG_MATRIX_DETERMINANT(input, name=name)


def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """Return the logarithm of the determinant of each matrix, which is positive definite.

    Args:
      matrix: floats or complex numbers [..., side, side], self-adjoint.
      name: of the nodes' scope.

    Raises:
      InvalidArgumentError: a matrix is not positive definite.

    Example:
      >>> Session().run(linalg.logdet([[1.0, 0.0], [0.0, 1.0]]))
      np.float32(0.0)
    """
    with name_scope(name, "logdet", [matrix]):
        factor = raw.Cholesky(matrix)
        logarithms = raw.Log(matrix_diag_part(factor, name="diag_part"))
        if logarithms.dtype.is_complex:
            logarithms = raw.Real(logarithms, Tout=logarithms.dtype.real_dtype)
        total: Tensor = raw.Mul(2.0, raw.Sum(logarithms, np.array([-1], np.int32)), name="mul")
        return total


det, inv = matrix_determinant, matrix_inverse


# as TensorFlow 0.x named what takes a batch
batch_matrix_determinant = matrix_determinant
batch_matrix_inverse = matrix_inverse
