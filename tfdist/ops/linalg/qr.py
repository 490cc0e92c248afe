"""Matrices as products of simpler ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.transpose import matrix_transpose
from tfdist.ops.math.matmul import matmul

__all__ = ["qr"]

QR = OpDef(
    "Qr(input: T) -> q: T, r: T "
    "[full_matrices: bool = False; T: type {double,float,half,complex64,complex128}]"
)


@QR.shape
def qr_shape(input: Shape, *, full_matrices: bool) -> list[Shape]:
    shapes.require_rank(input, "input", 2, 99)
    if input is None:
        return [None, None]
    *batch, rows, columns = input
    known = None if rows is None or columns is None else min(rows, columns)
    inner = rows if full_matrices else known
    return [(*batch, rows, inner), (*batch, inner, columns)]


@QR.kernel
def qr_kernel(input: Any, *, full_matrices: bool) -> Any:
    wide = input.astype(np.float32) if input.dtype == np.float16 else input
    q, r = np.linalg.qr(wide, "complete" if full_matrices else "reduced")
    return q.astype(input.dtype), r.astype(input.dtype)


@QR.gradient
def qr_gradient(op: Any, d_q: Any, d_r: Any) -> Any:
    """Return the gradient for as many rows as columns, or more: Walter and Lehmann 2010."""
    _check_gradient(op)
    q, r = op.outputs
    d_q, d_r = (raw.ZerosLike(x) if d is None else d for x, d in ((q, d_q), (r, d_r)))
    turned = matmul(q, d_q, transpose_a=True)
    both = raw.AddV2(_antisymmetric(turned), _antisymmetric(matmul(r, d_r, transpose_b=True)))
    lower = raw.MatrixBandPart(both, np.int64(-1), np.int64(0))
    first = matmul(q, raw.AddV2(d_r, _over(lower, r)))
    return raw.AddV2(first, _over(raw.Sub(d_q, matmul(q, turned)), r))


def _check_gradient(op: Any) -> None:
    """Raise NotImplementedError where TensorFlow 1.x does as well."""
    matrices, sizes = op.inputs[0], op.inputs[0].plain_shape
    if matrices.dtype.is_complex:
        raise NotImplementedError(
            f"{op.name}: the qr gradient is not implemented for complex numbers"
        )
    if sizes is None or None in sizes[-2:]:
        raise NotImplementedError(
            f"{op.name}: the qr gradient needs the number of rows and columns: set_shape tells it"
        )
    rows, columns = sizes[-2:]
    if columns > rows or (op.get_attr("full_matrices") and columns != rows):
        raise NotImplementedError(
            f"{op.name}: the qr gradient is not implemented for more columns than rows, nor for "
            f"full matrices of other than square ones, got {rows} rows and {columns} columns"
        )


def _antisymmetric(matrices: Tensor) -> Tensor:
    difference: Tensor = raw.Sub(matrices, matrix_transpose(matrices))
    return difference


def _over(matrices: Tensor, r: Tensor) -> Tensor:
    """Return matrices @ inverse(transposed(r)), for an upper triangular r."""
    return matrix_transpose(raw.MatrixTriangularSolve(r, matrix_transpose(matrices), lower=False))


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return Q and R with Q @ R = input: Q's columns are orthonormal, R is upper triangular.

    Args:
      input: floats or complex numbers [..., rows, columns].
      full_matrices: whether Q is [rows, rows]; otherwise it has min(rows, columns) columns.
      name: of the node.

    Returns:
      (q, r).

    Example:
      >>> q, r = linalg.qr([[3.0, 1.0], [4.0, 2.0]])
      >>> Session().run(matmul(q, r)).round(3)
      array([[3., 1.],
             [4., 2.]], dtype=float32)
    """
    return QR(input, full_matrices=full_matrices, name=name)
