"""Matrices as products of simpler ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor

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
    raise NotImplementedError(f"{op.name}: the gradient of qr is not supported yet")


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
    q, r = QR(input, full_matrices=full_matrices, name=name)
    return q, r
