"""Bands of diagonals of matrices: the ops behind tf.matrix_diag and its like with `k`.

A band [..., diagonals, n] holds its diagonals from the uppermost down, each from its first element
on and filled up at its end; diagonal d of a matrix is where the column less the row is d.

Source: TF 1.15 API documentation, tf.matrix_diag, tf.matrix_diag_part, tf.matrix_set_diag.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Dim, Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw

__all__: list[str] = []

_MOST = 254  # axes of a tensor


class Band(NamedTuple):
    """The diagonals `lower` to `upper` of a matrix, both included."""

    lower: int
    upper: int

    @property
    def width(self) -> int:
        """Return how many diagonals there are."""
        return self.upper - self.lower + 1


def _band(k: Any) -> Band:
    """Return the band that `k` spells: one diagonal, or the lowest and the uppermost."""
    ends = np.ravel(k).tolist()
    if np.ndim(k) > 1 or len(ends) not in (1, 2):
        raise InvalidArgumentError(
            f"diag_index must be a scalar or a vector with one or two elements, got {k}"
        )
    if ends[0] > ends[-1]:
        raise InvalidArgumentError(
            f"lower_diag_index is greater than upper_diag_index: {ends[0]} > {ends[-1]}"
        )
    return Band(ends[0], ends[-1])


def _band_within(k: Any, rows: Dim, columns: Dim) -> Band:
    """Return the band that `k` spells; InvalidArgumentError if it leaves the matrix."""
    band = _band(k)
    for name, at in zip(("lower", "upper"), band, strict=True):
        if (rows is not None and at and at <= -rows) or (
            columns is not None and at and at >= columns
        ):
            raise InvalidArgumentError(
                f"{name}_diag_index is out of bound: a matrix of {rows} rows and {columns} columns "
                f"has no diagonal {at}"
            )
    return band


def _longest(band: Band, rows: Dim, columns: Dim) -> Dim:
    if rows is None or columns is None:
        return None
    return min(rows + min(band.upper, 0), columns - max(band.lower, 0))


def _places(band: Band, shape: Any, length: int) -> tuple[Any, Any, Any]:
    """Return which elements of a band [diagonals, length] are of the matrix, and where there."""
    offsets = np.arange(band.upper, band.lower - 1, -1)[:, None]
    row = np.arange(length) - np.minimum(offsets, 0)
    column = np.arange(length) + np.maximum(offsets, 0)
    inside = (row < shape[0]) & (column < shape[1])
    return inside, row[inside], column[inside]


def _with_diagonals(array: Any, count: int) -> Any:
    """Return a single diagonal as a band of one; a band as it is."""
    return array[..., None, :] if count == 1 else array


MATRIX_DIAG_V2 = OpDef(
    "MatrixDiagV2(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) "
    "-> output: T [T: type]"
)


@MATRIX_DIAG_V2.shape
def matrix_diag_v2_shape(
    diagonal: Shape, k: Shape, num_rows: Shape, num_cols: Shape, padding_value: Shape, *,
    k_value: Any, num_rows_value: Any, num_cols_value: Any,
) -> Shape:  # fmt: skip
    shapes.require_rank(diagonal, "diagonal", 1, _MOST)
    if diagonal is None or k_value is None:
        return None
    band = _band(k_value)
    if band.width > 1:
        shapes.require_rank(diagonal, "diagonal", 2, _MOST)
        shapes.merge_dim(diagonal[-2], band.width, "the number of diagonals, given and of k")
    batch = diagonal[: -1 if band.width == 1 else -2]
    if diagonal[-1] is None or num_rows_value is None or num_cols_value is None:
        return (*batch, None, None)
    return (*batch, *_size(band, diagonal[-1], int(num_rows_value), int(num_cols_value)))


def _size(band: Band, length: int, rows: int, columns: int) -> tuple[int, int]:
    """Return rows and columns of the matrix with that band; -1 for what is not asked for."""
    least_rows, least_columns = length - min(band.upper, 0), length + max(band.lower, 0)
    if rows == columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    for name, got, least in (("rows", rows, least_rows), ("cols", columns, least_columns)):
        if got < least:
            raise InvalidArgumentError(f"num_{name} is too small: {got}, but must be {least}")
    if rows != least_rows and columns != least_columns:
        raise InvalidArgumentError(
            "num_rows and num_cols are not consistent with lower_diag_index, upper_diag_index, and "
            f"the length of the given diagonals: of {least_rows} rows or {least_columns} columns, "
            f"got {rows} and {columns}"
        )
    return rows, columns


@MATRIX_DIAG_V2.kernel
def matrix_diag_v2_kernel(
    diagonal: Any, k: Any, num_rows: Any, num_cols: Any, padding_value: Any
) -> Any:
    dims: Any = matrix_diag_v2_shape(
        diagonal.shape, (), (), (), (), k_value=k, num_rows_value=num_rows, num_cols_value=num_cols
    )
    check_room(dims, diagonal.dtype)
    band = _band(k)
    inside, row, column = _places(band, dims[-2:], diagonal.shape[-1])
    output = np.full(dims, padding_value, diagonal.dtype)
    output[..., row, column] = _with_diagonals(diagonal, band.width)[..., inside]
    return output


@MATRIX_DIAG_V2.gradient
def matrix_diag_v2_gradient(op: Any, d_output: Any) -> Any:
    d_diagonal = raw.MatrixDiagPartV2(d_output, op.inputs[1], _zero(d_output))
    return d_diagonal, None, None, None, None


def _zero(like: Any) -> Any:
    return raw.Const(value=np.zeros((), like.dtype.as_numpy_dtype), dtype=like.dtype, name="zero")


MATRIX_DIAG_PART_V2 = OpDef(
    "MatrixDiagPartV2(input: T, k: int32, padding_value: T) -> diagonal: T [T: type]"
)


@MATRIX_DIAG_PART_V2.shape
def matrix_diag_part_v2_shape(
    input: Shape, k: Shape, padding_value: Shape, *, k_value: Any
) -> Shape:
    shapes.require_rank(input, "input", 2, _MOST)
    if input is None or k_value is None:
        return None
    band = _band_within(k_value, *input[-2:])
    length = _longest(band, *input[-2:])
    return (*input[:-2], *((band.width,) if band.width > 1 else ()), length)


@MATRIX_DIAG_PART_V2.kernel
def matrix_diag_part_v2_kernel(input: Any, k: Any, padding_value: Any) -> Any:
    dims: Any = matrix_diag_part_v2_shape(input.shape, (), (), k_value=k)
    band = _band(k)
    inside, row, column = _places(band, input.shape[-2:], dims[-1])
    output = np.full((*input.shape[:-2], band.width, dims[-1]), padding_value, input.dtype)
    output[..., inside] = input[..., row, column]
    return output.reshape(dims)


@MATRIX_DIAG_PART_V2.gradient
def matrix_diag_part_v2_gradient(op: Any, d_diagonal: Any) -> Any:
    zeros = raw.ZerosLike(op.inputs[0])
    return raw.MatrixSetDiagV2(zeros, d_diagonal, op.inputs[1]), None, None


MATRIX_SET_DIAG_V2 = OpDef(
    "MatrixSetDiagV2(input: T, diagonal: T, k: int32) -> output: T [T: type]"
)


@MATRIX_SET_DIAG_V2.shape
def matrix_set_diag_v2_shape(input: Shape, diagonal: Shape, k: Shape, *, k_value: Any) -> Shape:
    shapes.require_rank(input, "input", 2, _MOST)
    shapes.require_rank(diagonal, "diagonal", 1, _MOST)
    if input is not None and k_value is not None:
        wanted = matrix_diag_part_v2_shape(input, None, None, k_value=k_value)
        shapes.merge(diagonal, wanted, "the shapes of both diagonals")
    return input


@MATRIX_SET_DIAG_V2.kernel
def matrix_set_diag_v2_kernel(input: Any, diagonal: Any, k: Any) -> Any:
    matrix_set_diag_v2_shape(input.shape, diagonal.shape, (), k_value=k)
    band = _band(k)
    inside, row, column = _places(band, input.shape[-2:], diagonal.shape[-1])
    output = input.copy()
    output[..., row, column] = _with_diagonals(diagonal, band.width)[..., inside]
    return output


@MATRIX_SET_DIAG_V2.gradient
def matrix_set_diag_v2_gradient(op: Any, d_output: Any) -> Any:
    _, diagonal, k = op.inputs
    d_input = raw.MatrixSetDiagV2(d_output, raw.ZerosLike(diagonal), k)
    return d_input, raw.MatrixDiagPartV2(d_output, k, _zero(d_output)), None
