"""Matrices as products of triangular ones: lu."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.linalg import shape_rules as linalg_shape_rules
from tfdist.ops.linalg.shape_rules import TYPES
from tfdist.ops.linalg.solve import triangular_solve

__all__: list[str] = []  # its name is one of tf.linalg only

LU = OpDef(
    f"Lu(input: T) -> lu: T, p: output_idx_type [T: type {{{TYPES}}}; "
    "output_idx_type: type = int32 {index}]",
    takes_threads="linear algebra",
)


@LU.shape
def lu_shape(input: Shape) -> list[Shape]:
    matrices = linalg_shape_rules.square(input)
    return [None, None] if matrices is None else [matrices, matrices[:-1]]


@LU.kernel
def lu_kernel(input: Any, *, output_idx_type: Any) -> Any:
    linalg_shape_rules.check_square(input)
    side = input.shape[-1]
    matrices = input.reshape(math.prod(input.shape[:-2]), side, side).copy()
    rows = np.tile(np.arange(side), (len(matrices), 1))
    for start in range(0, side, _PANEL):
        _factor_panel(matrices, rows, start, min(start + _PANEL, side))
    shape = input.shape
    return matrices.reshape(shape), rows.reshape(shape[:-1]).astype(output_idx_type.as_numpy_dtype)


_PANEL = 32  # columns that are eliminated one by one, before all others at once


def _factor_panel(matrices: Any, rows: Any, start: int, stop: int) -> None:
    """Replace some columns of a batch of matrices by those of the factors, and change the rest."""
    for column in range(start, stop):
        _exchange(matrices, rows, column)
        below = matrices[:, column + 1 :, column]
        below /= matrices[:, column, column, None]
        beside = matrices[:, None, column, column + 1 : stop]
        matrices[:, column + 1 :, column + 1 : stop] -= below[:, :, None] * beside
    panel, right = matrices[:, start:stop, start:stop], matrices[:, start:stop, stop:]
    if right.size:
        right[...] = triangular_solve(np.tril(panel, -1) + np.eye(stop - start, dtype=panel.dtype),
                                      right, lower=True)  # fmt: skip
        matrices[:, stop:, stop:] -= matrices[:, stop:, start:stop] @ right


def _exchange(matrices: Any, rows: Any, column: int) -> None:
    """Exchange a row of each matrix with that one below which has the greatest number there."""
    batch = np.arange(len(matrices))
    pivot = column + np.abs(matrices[:, column:, column]).argmax(1)
    for array in (matrices, rows):
        array[batch, pivot], array[:, column] = array[:, column].copy(), array[batch, pivot]
    if not (np.abs(matrices[:, column, column]) > 0).all():  # NaN is not, either
        raise InvalidArgumentError("Input is not invertible.")


def lu(
    input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return both triangular factors of each matrix in one, and the order of its rows.

    With L the part below the diagonal of `lu` and ones on it, and U the rest of `lu`, the rows `p`
    of the input are L @ U.

    Args:
      input: floats or complex numbers [..., side, side].
      output_idx_type: int32 or int64, of p.
      name: of the node.

    Returns:
      (lu, p): [..., side, side] and [..., side].

    Raises:
      InvalidArgumentError: a matrix is not invertible.

    Example:
      >>> Session().run(linalg.lu([[0.0, 2.0], [4.0, 1.0]]))
      Lu(lu=array([[4., 1.],
             [0., 2.]], dtype=float32), p=array([1, 0], dtype=int32))
    """
    return LU(input, output_idx_type=output_idx_type, name=name)
