"""Self-adjoint matrices by their eigenvalues and eigenvectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.array.transpose import matrix_transpose
from tfdist.ops.linalg import shape_rules as linalg_shape_rules
from tfdist.ops.linalg.diag import matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
from tfdist.ops.linalg.shape_rules import TYPES
from tfdist.ops.math.matmul import matmul

__all__ = [
    "batch_self_adjoint_eig",
    "batch_self_adjoint_eigvals",
    "self_adjoint_eig",
    "self_adjoint_eigvals",
]

_V2 = "(input: T) -> e: T, v: T [compute_v: bool = True; T: type {%s}]"
SELF_ADJOINT_EIG_V2 = OpDef(f"SelfAdjointEigV2{_V2 % TYPES}", takes_threads="linear algebra")
BATCH_SELF_ADJOINT_EIG_V2 = OpDef(
    f"BatchSelfAdjointEigV2{_V2 % 'double,float'}", takes_threads="linear algebra"
)
_MESSAGE = "Self-adjoint eigen decomposition was not successful. The input might not be valid."


def self_adjoint_eig_v2_shape(input: Shape, *, compute_v: bool) -> list[Shape]:
    """Return the shapes of the eigenvalues and of the matrix of eigenvectors."""
    matrices = linalg_shape_rules.square(input)
    if matrices is None:
        return [None, None if compute_v else (0,)]
    return [matrices[:-1], matrices if compute_v else (0,)]


def self_adjoint_eig_v2_kernel(input: Any, *, compute_v: bool) -> Any:
    """Return the eigenvalues, least first, and the eigenvectors as columns."""
    _check(input)
    if not compute_v:
        values = linalg_shape_rules.told(np.linalg.eigvalsh, _MESSAGE, input)
        return values.astype(input.dtype), np.empty(0, input.dtype)
    values, vectors = linalg_shape_rules.told(np.linalg.eigh, _MESSAGE, input)
    return values.astype(input.dtype), vectors


def _check(input: Any) -> None:
    linalg_shape_rules.check_square(input)
    if not np.isfinite(input).all():  # the library gives numbers for these
        raise InvalidArgumentError(_MESSAGE)


for _op_def in (SELF_ADJOINT_EIG_V2, BATCH_SELF_ADJOINT_EIG_V2):
    _op_def.shape(self_adjoint_eig_v2_shape)
    _op_def.kernel(self_adjoint_eig_v2_kernel)

_V1 = "(input: T) -> output: T [T: type {double,float}]"
SELF_ADJOINT_EIG = OpDef(f"SelfAdjointEig{_V1}", takes_threads="linear algebra")
BATCH_SELF_ADJOINT_EIG = OpDef(f"BatchSelfAdjointEig{_V1}", takes_threads="linear algebra")


def self_adjoint_eig_shape(input: Shape) -> Shape:
    """Return the shape of the eigenvectors with a row of eigenvalues above them."""
    matrices = linalg_shape_rules.square(input)
    if matrices is None:
        return None
    side = matrices[-1]
    return (*matrices[:-2], None if side is None else side + 1, side)


def self_adjoint_eig_kernel(input: Any) -> Any:
    """Return the eigenvalues in the first row, and below them the eigenvectors as columns."""
    _check(input)
    values, vectors = linalg_shape_rules.told(np.linalg.eigh, _MESSAGE, input)
    return np.concatenate([values[..., None, :], vectors], axis=-2)


for _op_def in (SELF_ADJOINT_EIG, BATCH_SELF_ADJOINT_EIG):
    _op_def.shape(self_adjoint_eig_shape)
    _op_def.kernel(self_adjoint_eig_kernel)


@SELF_ADJOINT_EIG_V2.gradient
def self_adjoint_eig_v2_gradient(op: Any, d_e: Any, d_v: Any) -> Any:
    """Return the gradient, of what is on and below the diagonal: Giles 2008, section 3.1."""
    values, vectors = op.outputs
    inner = None if d_e is None else matrix_diag(d_e)
    if not op.get_attr("compute_v"):
        if d_e is None:
            return None
        values, vectors = SELF_ADJOINT_EIG_V2(op.inputs[0])
    elif d_v is not None:
        turning = raw.Mul(_gaps(values), matmul(vectors, d_v, adjoint_a=True))
        inner = turning if inner is None else raw.AddV2(inner, turning, name="add")
    whole = matmul(vectors, matmul(inner, vectors, adjoint_b=True))
    both = raw.AddV2(whole, matrix_transpose(whole, conjugate=whole.dtype.is_complex), name="add")
    half = matrix_band_part(both, -1, 0)
    return matrix_set_diag(half, raw.Mul(0.5, matrix_diag_part(half), name="mul"))


def _gaps(values: Tensor) -> Tensor:
    """Return 1 / (e_j - e_i) at row i and column j, and 0 on the diagonal."""
    gaps = raw.Reciprocal(raw.Sub(raw.ExpandDims(values, -2), raw.ExpandDims(values, -1)))
    return matrix_set_diag(gaps, zeros_like(values))


def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return eigenvalues and eigenvectors of each self-adjoint matrix.

    Args:
      tensor: floats or complex numbers [..., side, side]; only what is on and below the diagonal
        is looked at.
      name: of the node.

    Returns:
      (e, v): the eigenvalues [..., side], least first, and the eigenvectors as columns of [...,
      side, side]. Their signs are not determined.

    Raises:
      InvalidArgumentError: a number is not finite, or a matrix is not square.

    Example:
      >>> e, v = self_adjoint_eig([[2.0, 1.0], [1.0, 2.0]])
      >>> Session().run(e).round(3)
      array([1., 3.], dtype=float32)
    """
    values, vectors = SELF_ADJOINT_EIG_V2(tensor, compute_v=True, name=name)
    return values, vectors


def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Return the eigenvalues of each self-adjoint matrix, least first.

    Args:
      tensor: floats or complex numbers [..., side, side]; only what is on and below the diagonal
        is looked at.
      name: of the node.

    Example:
      >>> Session().run(self_adjoint_eigvals([[2.0, 1.0], [1.0, 2.0]])).round(3)
      array([1., 3.], dtype=float32)
    """
    values, _ = SELF_ADJOINT_EIG_V2(tensor, compute_v=False, name=name)
    result: Tensor = values
    return result


# as TensorFlow 0.x named what takes a batch
batch_self_adjoint_eig = self_adjoint_eig
batch_self_adjoint_eigvals = self_adjoint_eigvals
