"""What the ops on matrices share: shape rules, and what NumPy's errors are told as.

Matrices stand in the last two axes; those in front are a batch, over which NumPy loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError

__all__: list[str] = []

# What NumPy's library of matrices takes. TensorFlow has kernels for these types only, too.
TYPES = "double,float,complex64,complex128"


def square(matrices: Shape, what: str = "input") -> Shape:
    """Return the shape of square matrices.

    Raises:
      InvalidArgumentError: they are not square, or not of rank 2 at least.
    """
    shapes.require_rank(matrices, what, 2, 99)
    if matrices is None:
        return None
    *batch, rows, columns = matrices
    side = shapes.merge_dim(rows, columns, f"rows and columns of {what}")
    return (*batch, side, side)


def batch_of(matrices: Shape) -> Shape:
    """Return the shape without its last two axes."""
    return None if matrices is None else matrices[:-2]


def solution(matrix: Shape, rhs: Shape, rows: Any, columns: Any) -> Shape:
    """Return the shape of the X with matrix @ X = rhs.

    Args:
      matrix: shape of the matrices.
      rhs: shape of the right-hand sides.
      rows: of rhs, as the matrices have it.
      columns: of the matrices, the rows of X.
    """
    shapes.require_rank(matrix, "matrix", 2, 99)
    shapes.require_rank(rhs, "rhs", 2, 99)
    batch = shapes.merge(batch_of(matrix), batch_of(rhs), "batches of matrix and rhs")
    if rhs is not None:
        shapes.merge_dim(rows, rhs[-2], "rows of matrix and rhs")
    if batch is None:
        return None
    return (*batch, columns, None if rhs is None else rhs[-1])


def check_square(matrices: Any) -> None:
    """Raise InvalidArgumentError unless an array holds square matrices."""
    if matrices.ndim < 2 or matrices.shape[-1] != matrices.shape[-2]:
        raise InvalidArgumentError(
            f"Input matrix must be square, but its shape is {shapes.show(matrices.shape)}"
        )


def check_rhs(matrix: Any, rhs: Any) -> None:
    """Raise InvalidArgumentError unless the right-hand sides fit the matrices."""
    if matrix.shape[:-1] != rhs.shape[:-1]:
        raise InvalidArgumentError(
            "Input matrix and rhs are incompatible: they need the same batch and the same rows, "
            f"but have shapes {shapes.show(matrix.shape)} and {shapes.show(rhs.shape)}"
        )


def told(function: Callable[..., Any], message: str, *arguments: Any) -> Any:
    """Return what one of NumPy's functions of matrices gives.

    Raises:
      InvalidArgumentError: with `message`, where it finds no result, or has a NaN to invert.
    """
    if function in (np.linalg.inv, np.linalg.solve) and np.isnan(arguments[0]).any():
        raise InvalidArgumentError(f"{message} (a matrix has NaN)")
    try:
        return function(*arguments)
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError(f"{message} ({error})") from None


def adjoint(matrices: Any) -> Any:
    """Return arrays of matrices transposed, and conjugated if complex."""
    turned = np.swapaxes(matrices, -1, -2)
    return np.conjugate(turned) if turned.dtype.kind == "c" else turned
