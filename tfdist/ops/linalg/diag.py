"""Matrices and their diagonals: diag, matrix_diag, matrix_band_part."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Dim, Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.fill import zeros_like

__all__ = [
    "batch_matrix_band_part",
    "batch_matrix_diag",
    "batch_matrix_diag_part",
    "batch_matrix_set_diag",
    "diag",
    "diag_part",
    "matrix_band_part",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_set_diag",
]

_ANY = 1 << 30

MATRIX_DIAG = OpDef("MatrixDiag(diagonal: T) -> output: T [T: type]")


@MATRIX_DIAG.shape
def matrix_diag_shape(diagonal: Shape) -> Shape:
    shapes.require_rank(diagonal, "diagonal", 1, _ANY)
    return None if diagonal is None else (*diagonal, diagonal[-1])


@MATRIX_DIAG.kernel
def matrix_diag_kernel(diagonal: Any) -> Any:
    if not diagonal.ndim:
        raise InvalidArgumentError("diagonal must be at least 1-dim, received shape: []")
    dims = (*diagonal.shape, diagonal.shape[-1])
    check_room(dims, diagonal.dtype)
    output = np.zeros_like(diagonal, shape=dims)
    places = np.arange(diagonal.shape[-1])
    output[..., places, places] = diagonal
    return output


@MATRIX_DIAG.gradient
def matrix_diag_gradient(op: Any, d_output: Any) -> Any:
    return matrix_diag_part(d_output)


def matrix_diag(
    diagonal: Any, name: str | None = "diag", k: Any = 0, num_rows: Any = -1, num_cols: Any = -1,
    padding_value: Any = 0,
) -> Tensor:  # fmt: skip
    """Return matrices with the diagonals `diagonal`, and with `padding_value` elsewhere.

    TensorFlow 1.15 itself leaves out of account all that comes after `name`.

    Args:
      diagonal: [..., n]; with several diagonals [..., diagonals, n], the uppermost first, each
        filled up at its end.
      name: of the node.
      k: which diagonal it is, 0 the main one, 1 the one above; or the lowest and the uppermost.
      num_rows: of a matrix; by default it is square, or as small as it can be for `num_cols`.
      num_cols: of a matrix; by default it is square, or as small as it can be for `num_rows`.
      padding_value: what stands outside of the diagonals.

    Example:
      >>> Session().run(matrix_diag([1, 2]))
      array([[1, 0],
             [0, 2]], dtype=int32)
      >>> Session().run(matrix_diag([1, 2], k=-1, num_rows=3, padding_value=9))
      array([[9, 9],
             [1, 9],
             [9, 2]], dtype=int32)
    """
    if _is(0, k) and _is(0, padding_value) and _is(-1, num_rows) and _is(-1, num_cols):
        return raw.MatrixDiag(diagonal, name=name)  # type: ignore[no-any-return]
    result: Tensor = raw.MatrixDiagV2(diagonal, k, num_rows, num_cols, padding_value, name=name)
    return result


def _is(default: int, given: Any) -> bool:
    """Return whether `given` is a plain number, the one that means nothing special."""
    return not hasattr(given, "_as_tensor") and np.ndim(given) == 0 and bool(given == default)


MATRIX_DIAG_PART = OpDef("MatrixDiagPart(input: T) -> diagonal: T [T: type]")


def _least(one: Dim, other: Dim) -> Dim:
    return None if one is None or other is None else min(one, other)


def _require_matrices(input: Shape) -> None:
    shapes.require_rank(input, "matrices", 2, _ANY)


@MATRIX_DIAG_PART.shape
def matrix_diag_part_shape(input: Shape) -> Shape:
    _require_matrices(input)
    return None if input is None else (*input[:-2], _least(*input[-2:]))


@MATRIX_DIAG_PART.kernel
def matrix_diag_part_kernel(input: Any) -> Any:
    return np.diagonal(input, axis1=-2, axis2=-1)


@MATRIX_DIAG_PART.gradient
def matrix_diag_part_gradient(op: Any, d_output: Any) -> Any:
    return matrix_set_diag(zeros_like(op.inputs[0]), d_output)


def matrix_diag_part(
    input: Any, name: str | None = "diag_part", k: Any = 0, padding_value: Any = 0
) -> Tensor:
    """Return the diagonals [..., min(n, m)] of matrices [..., n, m].

    TensorFlow 1.15 itself leaves out of account all that comes after `name`.

    Args:
      input: [..., n, m].
      name: of the node.
      k: which diagonal to take, 0 the main one, 1 the one above; or the lowest and the uppermost,
        then the result has another axis: [..., diagonals, length], the uppermost first.
      padding_value: what stands after the end of the shorter ones of several diagonals.

    Example:
      >>> Session().run(matrix_diag_part([[1, 2, 3], [4, 5, 6]]))
      array([1, 5], dtype=int32)
      >>> Session().run(matrix_diag_part([[1, 2, 3], [4, 5, 6]], k=(-1, 0)))
      array([[1, 5],
             [4, 0]], dtype=int32)
    """
    if not _is(0, k):
        return raw.MatrixDiagPartV2(input, k, padding_value, name=name)  # type: ignore[no-any-return]
    result: Tensor = raw.MatrixDiagPart(input, name=name)
    return result


MATRIX_SET_DIAG = OpDef("MatrixSetDiag(input: T, diagonal: T) -> output: T [T: type]")


@MATRIX_SET_DIAG.shape
def matrix_set_diag_shape(input: Shape, diagonal: Shape) -> Shape:
    shapes.merge_dims(matrix_diag_part_shape(input), diagonal, "the shapes of both diagonals")
    return input


@MATRIX_SET_DIAG.kernel
def matrix_set_diag_kernel(input: Any, diagonal: Any) -> Any:
    matrix_set_diag_shape(input.shape, diagonal.shape)
    output, places = input.copy(), np.arange(diagonal.shape[-1])
    output[..., places, places] = diagonal
    return output


@MATRIX_SET_DIAG.gradient
def matrix_set_diag_gradient(op: Any, d_output: Any) -> Any:
    return matrix_set_diag(d_output, zeros_like(op.inputs[1])), matrix_diag_part(d_output)


def matrix_set_diag(input: Any, diagonal: Any, name: str | None = "set_diag", k: Any = 0) -> Tensor:
    """Return matrices `input` [..., n, m] with `diagonal` [..., min(n, m)] in place of their own.

    Args:
      input: [..., n, m].
      diagonal: what `matrix_diag_part(input, k=k)` has the shape of.
      name: of the node.
      k: which diagonal it is, 0 the main one, or the lowest and the uppermost; TensorFlow 1.15
        itself leaves it out of account.

    Example:
      >>> Session().run(matrix_set_diag([[1, 2], [3, 4]], [8, 9]))
      array([[8, 2],
             [3, 9]], dtype=int32)
      >>> Session().run(matrix_set_diag([[1, 2], [3, 4]], [8], k=1))
      array([[1, 8],
             [3, 4]], dtype=int32)
    """
    if not _is(0, k):
        return raw.MatrixSetDiagV2(input, diagonal, k, name=name)  # type: ignore[no-any-return]
    result: Tensor = raw.MatrixSetDiag(input, diagonal, name=name)
    return result


MATRIX_BAND_PART = OpDef(
    "MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> band: T "
    "[T: type; Tindex: type = int64 {index}]"
)


@MATRIX_BAND_PART.shape
def matrix_band_part_shape(input: Shape, num_lower: Shape, num_upper: Shape) -> Shape:
    _require_matrices(input)
    return input


@MATRIX_BAND_PART.kernel
def matrix_band_part_kernel(input: Any, num_lower: Any, num_upper: Any) -> Any:
    for name, bound, what, length in (
        ("num_lower", num_lower, "rows", input.shape[-2]),
        ("num_upper", num_upper, "columns", input.shape[-1]),
    ):
        if bound > length:
            raise InvalidArgumentError(
                f"{name} must be negative or less or equal to number of {what} ({length}) got: "
                f"{bound}"
            )
    rows, columns = input.shape[-2:]
    lower, upper = (length if num < 0 else int(num)
                    for length, num in ((rows, num_lower), (columns, num_upper)))  # fmt: skip
    band = np.zeros_like(input)
    for row in range(min(rows, columns + lower)):
        kept = slice(max(row - lower, 0), row + upper + 1)
        band[..., row, kept] = input[..., row, kept]
    return band


@MATRIX_BAND_PART.gradient
def matrix_band_part_gradient(op: Any, d_output: Any) -> Any:
    return raw.MatrixBandPart(d_output, *op.inputs[1:]), None, None


def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Return matrices with zeros outside of a band around their diagonal.

    Args:
      input: [..., n, m].
      num_lower: how many diagonals below the main one to keep; below 0 for all.
      num_upper: how many above it.
      name: of the node.

    Example: a lower triangle.
      >>> Session().run(matrix_band_part([[1, 2], [3, 4]], -1, 0))
      array([[1, 0],
             [3, 4]], dtype=int32)
    """
    result: Tensor = raw.MatrixBandPart(input, num_lower, num_upper, name=name)
    return result


_DIAGONAL_TYPES = "bfloat16,float16,float32,float64,int32,int64,complex64,complex128"
DIAG = OpDef(f"Diag(diagonal: T) -> output: T [T: type {{{_DIAGONAL_TYPES}}}]")


@DIAG.shape
def diag_shape(diagonal: Shape) -> Shape:
    shapes.require_rank(diagonal, "diagonal", 1, _ANY)
    return None if diagonal is None else diagonal * 2


@DIAG.kernel
def diag_kernel(diagonal: Any) -> Any:
    if not diagonal.ndim:
        raise InvalidArgumentError("Input must be at least rank 1, got 0")
    check_room(diagonal.shape * 2, diagonal.dtype)
    output = np.zeros((diagonal.size, diagonal.size), diagonal.dtype)
    np.fill_diagonal(output, diagonal)
    return output.reshape(diagonal.shape * 2)


@DIAG.gradient
def diag_gradient(op: Any, d_output: Any) -> Any:
    return diag_part(d_output)


def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """Return zeros [d0, ..., dn, d0, ..., dn] with `diagonal` [d0, ..., dn] on the diagonal.

    Example:
      >>> Session().run(diag([1, 2]))
      array([[1, 0],
             [0, 2]], dtype=int32)
    """
    result: Tensor = raw.Diag(diagonal, name=name)
    return result


DIAG_PART = OpDef(f"DiagPart(input: T) -> diagonal: T [T: type {{{_DIAGONAL_TYPES}}}]")


@DIAG_PART.shape
def diag_part_shape(input: Shape) -> Shape:
    if input is None:
        return None
    half, odd = divmod(len(input), 2)
    if odd or not input:
        raise InvalidArgumentError(
            f"Input must have even and non-zero rank, input rank is {len(input)}"
        )
    return shapes.merge_dims(input[:half], input[half:], "both halves of the shape")


@DIAG_PART.kernel
def diag_part_kernel(input: Any) -> Any:
    dims = diag_part_shape(input.shape)
    side = shapes.num_elements(dims)
    return input.reshape(side, side).diagonal().reshape(dims)


@DIAG_PART.gradient
def diag_part_gradient(op: Any, d_output: Any) -> Any:
    return diag(d_output)


def diag_part(input: Any, name: str | None = None) -> Tensor:
    """Return the diagonal [d0, ..., dn] of a tensor of shape [d0, ..., dn, d0, ..., dn].

    Example:
      >>> Session().run(diag_part([[1, 2], [3, 4]]))
      array([1, 4], dtype=int32)
    """
    result: Tensor = raw.DiagPart(input, name=name)
    return result


# as TensorFlow 0.x named what takes a batch
batch_matrix_band_part = matrix_band_part
batch_matrix_diag = matrix_diag
batch_matrix_diag_part = matrix_diag_part
batch_matrix_set_diag = matrix_set_diag
