"""Matrices with three diagonals: products, and systems of equations.

A row i of such a matrix holds three numbers: one below the diagonal, at column i - 1, one on it,
and one above it, at column i + 1. Diagonals stand as [..., 3, rows]: above, on, below. The last
number above and the first one below are at no column, and do not count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.transpose import matrix_transpose, transpose
from tfdist.ops.autodiff.gradient_utils import conjugate
from tfdist.ops.linalg import shape_rules as linalg_shape_rules
from tfdist.ops.linalg.shape_rules import TYPES

__all__: list[str] = []  # its names are those of tf.linalg only

TRIDIAGONAL_MAT_MUL = OpDef(
    "TridiagonalMatMul(superdiag: T, maindiag: T, subdiag: T, rhs: T) -> output: T "
    f"[T: type {{{TYPES}}}]"
)


@TRIDIAGONAL_MAT_MUL.checked_shape
def tridiagonal_mat_mul_shape(
    superdiag: Shape, maindiag: Shape, subdiag: Shape, rhs: Shape
) -> Shape:
    diagonals = shapes.merge(shapes.merge(superdiag, maindiag), subdiag)
    shapes.require_rank(diagonals, "diagonals", 2, 99)
    shapes.require_rank(rhs, "rhs", 2, 99)
    if diagonals is None or rhs is None:
        return rhs
    shapes.merge_dim(diagonals[-2], 1, "rows of each diagonal, and 1,")
    batch = shapes.merge(diagonals[:-2], rhs[:-2])
    rows = shapes.merge_dim(diagonals[-1], rhs[-2], "numbers of a diagonal and rows of rhs")
    return (*(batch or ()), rows, rhs[-1])


@TRIDIAGONAL_MAT_MUL.kernel
def tridiagonal_mat_mul_kernel(superdiag: Any, maindiag: Any, subdiag: Any, rhs: Any) -> Any:
    if maindiag.shape != (*rhs.shape[:-2], 1, rhs.shape[-2]):
        raise InvalidArgumentError(
            f"diagonals of shape {shapes.show(maindiag.shape)} do not fit rhs, whose shape is "
            f"{shapes.show(rhs.shape)}: the last dimension must be its rows"
        )
    above, on, below = (np.swapaxes(each, -1, -2) for each in (superdiag, maindiag, subdiag))
    output = on * rhs
    output[..., :-1, :] += above[..., :-1, :] * rhs[..., 1:, :]
    output[..., 1:, :] += below[..., 1:, :] * rhs[..., :-1, :]
    return output


@TRIDIAGONAL_MAT_MUL.gradient
def tridiagonal_mat_mul_gradient(op: Any, d_output: Any) -> Any:
    above, on, below, rhs = (conjugate(each) for each in op.inputs)
    d_diagonals = [raw.ExpandDims(each, -2) for each in _d_diagonals(d_output, rhs)]
    turned = _moved(below, -1, up=True), on, _moved(above, -1, up=False)
    return (*d_diagonals, TRIDIAGONAL_MAT_MUL(*turned, d_output))


def _d_diagonals(d_output: Tensor, rhs: Tensor) -> list[Tensor]:
    """Return the gradients of the diagonals above, on and below, [..., rows]."""
    parts = (_moved(rhs, -2, up=True), rhs, _moved(rhs, -2, up=False))
    return [raw.Sum(raw.Mul(d_output, each), np.int32(-1)) for each in parts]


def _moved(tensor: Tensor, axis: int, up: bool) -> Tensor:
    """Return what stands one place further (or before, if not `up`) on an axis; 0 at the end."""
    if tensor.plain_shape is None:
        raise ValueError(f"the gradient needs a tensor of known rank, got {tensor!r}")
    rank = len(tensor.plain_shape)
    begin, size = np.zeros(rank, np.int32), np.full(rank, -1, np.int32)
    begin[axis] = 1
    paddings = np.zeros((rank, 2), np.int32)
    paddings[axis] = (0, 1) if up else (1, 0)
    if up:
        return raw.Pad(raw.Slice(tensor, begin, size), paddings)  # type: ignore[no-any-return]
    padded = raw.Pad(tensor, paddings)
    return raw.Slice(padded, 0 * begin, raw.Shape(tensor))  # type: ignore[no-any-return]


TRIDIAGONAL_SOLVE = OpDef(
    "TridiagonalSolve(diagonals: T, rhs: T) -> output: T "
    f"[partial_pivoting: bool = True; T: type {{{TYPES}}}]",
    takes_threads="linear algebra",
)
_DENSE = 12  # rows up to which the library's elimination of whole matrices is quicker


@TRIDIAGONAL_SOLVE.shape
def tridiagonal_solve_shape(diagonals: Shape, rhs: Shape) -> Shape:
    shapes.require_rank(diagonals, "diagonals", 2, 99)
    shapes.require_rank(rhs, "rhs", 2, 99)
    if diagonals is None or rhs is None:
        return rhs
    shapes.merge_dim(diagonals[-2], 3, "diagonals, and 3,")
    batch = shapes.merge(diagonals[:-2], rhs[:-2])
    rows = shapes.merge_dim(diagonals[-1], rhs[-2], "numbers of a diagonal and rows of rhs")
    return (*(batch or ()), rows, rhs[-1])


@TRIDIAGONAL_SOLVE.kernel
def tridiagonal_solve_kernel(diagonals: Any, rhs: Any, *, partial_pivoting: bool) -> Any:
    if diagonals.shape != (*rhs.shape[:-2], 3, rhs.shape[-2]):
        raise InvalidArgumentError(
            f"Expected diagonals [..., 3, rows] and rhs [..., rows, columns], got shapes "
            f"{shapes.show(diagonals.shape)} and {shapes.show(rhs.shape)}"
        )
    rows = rhs.shape[-2]
    if partial_pivoting and 0 < rows <= _DENSE:
        message = "The matrix is not invertible."
        return linalg_shape_rules.told(np.linalg.solve, message, _dense(diagonals), rhs)
    flat = diagonals.reshape(-1, 3, rows), rhs.reshape(-1, rows, rhs.shape[-1])
    with np.errstate(all="ignore"):
        solved = _reduced(*flat)
        if not _fits(*flat, solved):
            solved = _eliminated(*flat, partial_pivoting)
    return solved.reshape(rhs.shape)


def _reduced(diagonals: Any, rhs: Any) -> Any:
    """Return the solutions by cyclic reduction: every other row is eliminated, all at once.

    Nothing is exchanged, so that the result must be looked at. Hockney 1965.
    """
    rows = rhs.shape[-2]
    if rows <= 1:
        return rhs / diagonals[:, 1, :, None]
    if rows % 2 == 0:  # one more row, which says that its unknown is 0
        diagonals = np.pad(diagonals, ((0, 0), (0, 0), (0, 1)))
        diagonals[:, 1, -1] = 1
        rhs = np.pad(rhs, ((0, 0), (0, 1), (0, 0)))
    above, on, below = diagonals.swapaxes(0, 1)
    before, after = -below[:, 1::2] / on[:, :-2:2], -above[:, 1::2] / on[:, 2::2]
    middle = on[:, 1::2] + before * above[:, :-2:2] + after * below[:, 2::2]
    fewer = np.stack([after * above[:, 2::2], middle, before * below[:, :-2:2]], 1)
    given = before[..., None] * rhs[:, :-2:2] + after[..., None] * rhs[:, 2::2]
    solved = np.empty_like(rhs)
    solved[:, 1::2] = _reduced(fewer, rhs[:, 1::2] + given)
    rest = rhs[:, ::2].copy()
    rest[:, 1:] -= below[:, 2::2, None] * solved[:, 1::2]
    rest[:, :-1] -= above[:, :-2:2, None] * solved[:, 1::2]
    solved[:, ::2] = rest / on[:, ::2, None]
    return solved[:, :rows]


def _fits(diagonals: Any, rhs: Any, solved: Any) -> bool:
    """Return whether solutions are as exact as the type allows."""
    parts = np.swapaxes(diagonals, 0, 1)[:, :, None, :]
    size = np.abs(diagonals).max(initial=0) * np.abs(solved).max(initial=0) * 3
    error = np.abs(tridiagonal_mat_mul_kernel(*parts, solved) - rhs).max(initial=0)
    return bool(error <= 8 * np.finfo(rhs.dtype).eps * (size + np.abs(rhs).max(initial=0)))


def _dense(diagonals: Any) -> Any:
    """Return whole matrices."""
    rows = diagonals.shape[-1]
    matrices = np.zeros_like(diagonals, shape=(*diagonals.shape[:-2], rows, rows))
    places = np.arange(rows)
    matrices[..., places, places] = diagonals[..., 1, :]
    matrices[..., places[:-1], places[1:]] = diagonals[..., 0, :-1]
    matrices[..., places[1:], places[:-1]] = diagonals[..., 2, 1:]
    return matrices


def _eliminated(diagonals: Any, rhs: Any, exchanges: bool) -> Any:
    """Return the solutions row by row: each needs the one before, so the batch goes at once.

    A row that was exchanged with the next reaches one further to the right: `far`.
    """
    rows = rhs.shape[-2]
    above, on, below = (np.moveaxis(diagonals[:, i], -1, 0).copy() for i in range(3))
    far, given = np.zeros_like(on), np.moveaxis(rhs, -2, 0).copy()
    above[-1:] = 0
    for i in range(rows - 1):
        if exchanges:
            _exchange(i, above, on, below, far, given)
        _check_pivot(on[i], exchanges)
        factor = below[i + 1] / on[i]
        on[i + 1] -= factor * above[i]
        above[i + 1] -= factor * far[i]
        given[i + 1] -= factor[:, None] * given[i]
    _check_pivot(on[-1:], exchanges)
    for i in reversed(range(rows)):
        for coefficients, next_row in ((above, i + 1), (far, i + 2)):
            if next_row < rows:
                given[i] -= coefficients[i][:, None] * given[next_row]
        given[i] /= on[i][:, None]
    return np.moveaxis(given, 0, -2)


def _exchange(i: int, above: Any, on: Any, below: Any, far: Any, given: Any) -> None:
    """Exchange rows i and i + 1 where the second one has the greater number in column i."""
    where = np.abs(below[i + 1]) > np.abs(on[i])
    pairs = ((on[i], below[i + 1]), (above[i], on[i + 1]), (far[i], above[i + 1]))
    for one, other in pairs:
        one[...], other[...] = np.where(where, other, one), np.where(where, one, other)
    wide = where[..., None]
    given[i], given[i + 1] = (
        np.where(wide, given[i + 1], given[i]),
        np.where(wide, given[i], given[i + 1]),
    )


def _check_pivot(pivot: Any, exchanges: bool) -> None:
    if not np.all(pivot):
        raise InvalidArgumentError(
            "The matrix is not invertible."
            if exchanges
            else "The matrix is either not invertible, or requires pivoting. "
            "Try setting partial_pivoting = True."
        )


@TRIDIAGONAL_SOLVE.gradient
def tridiagonal_solve_gradient(op: Any, d_output: Any) -> Any:
    above, on, below = raw.Unpack(conjugate(op.inputs[0]), num=3, axis=-2)
    turned = [_moved(below, -1, up=True), on, _moved(above, -1, up=False)]
    pivoting = op.get_attr("partial_pivoting")
    d_rhs = TRIDIAGONAL_SOLVE(raw.Pack(turned, axis=-2), d_output, partial_pivoting=pivoting)
    parts = _d_diagonals(d_rhs, conjugate(op.outputs[0]))
    return raw.Neg(raw.Pack(parts, axis=-2)), d_rhs


def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """Return the product of each matrix of three diagonals and a matrix.

    Args:
      diagonals: "compact": [..., 3, rows], above, on and below; "sequence": these three, each [...,
        rows]; "matrix": [..., rows, rows].
      rhs: [..., rows, columns], of the same type.
      diagonals_format: one of the three.
      name: of the node.

    Raises:
      ValueError: there is no such format.

    Example:
      >>> Session().run(linalg.tridiagonal_matmul([[1.0, 0], [2, 2], [0, 1]], [[1.0], [1.0]]))
      array([[3.],
             [3.]], dtype=float32)
    """
    if diagonals_format == "compact":
        diagonals = convert_to_tensor(diagonals)
        parts = [diagonals[..., i, :] for i in range(3)]
    elif diagonals_format == "sequence":
        parts = [convert_to_tensor(each) for each in diagonals]
    elif diagonals_format == "matrix":
        parts = _parts(convert_to_tensor(diagonals))
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    rows = [raw.ExpandDims(each, -2) for each in parts]
    product: Tensor = TRIDIAGONAL_MAT_MUL(*rows, rhs, name=name)
    return product


def _rank_and_rows(matrices: Tensor) -> tuple[int, int]:
    sizes: Any = matrices.plain_shape
    if sizes is None or None in sizes[-2:]:
        raise ValueError(f"the format 'matrix' needs a known number of rows, got {matrices!r}")
    return len(sizes), sizes[-1]


def _parts(matrices: Tensor) -> list[Tensor]:
    """Return the diagonals above, on and below of whole matrices, [..., rows] each."""
    rank, rows = _rank_and_rows(matrices)
    on = raw.MatrixDiagPart(matrices, name="diag_part")
    first = transpose(matrices, [rank - 2, rank - 1, *range(rank - 2)])
    above, below = (
        transpose(raw.GatherNd(first, np.array(places, np.int32)), [*range(1, rank - 1), 0])
        for places in (
            [[i, min(i + 1, rows - 1)] for i in range(rows)],
            [[i, max(i - 1, 0)] for i in range(rows)],
        )
    )
    return [above, on, below]


def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
) -> Tensor:
    """Return the X with matrix @ X = rhs, for matrices of three diagonals.

    Args:
      diagonals: "compact": [..., 3, rows], above, on and below; "sequence": these three, each [...,
        rows] (or one number less above and below); "matrix": [..., rows, rows].
      rhs: [..., rows] or [..., rows, columns], of the same type.
      diagonals_format: one of the three.
      transpose_rhs: whether rhs and result are [..., columns, rows].
      conjugate_rhs: whether rhs is conjugated before.
      name: of the node.
      partial_pivoting: whether rows are exchanged for the sake of exactness.

    Raises:
      InvalidArgumentError: a matrix is not invertible, or not without exchanging rows.
      ValueError: there is no such format, or the ranks do not fit.

    Example:
      >>> rhs = [3.0, 3.0]
      >>> Session().run(linalg.tridiagonal_solve([[1.0, 0], [2, 2], [0, 1]], rhs)).round(3)
      array([1., 1.], dtype=float32)
    """
    compact = _compact(diagonals, diagonals_format)
    rhs = convert_to_tensor(rhs)
    if compact.plain_shape is None or rhs.plain_shape is None:
        raise ValueError("tridiagonal_solve needs diagonals and rhs of known rank")
    is_vector = len(rhs.plain_shape) == len(compact.plain_shape) - 1
    if conjugate_rhs:
        rhs = conjugate(rhs)
    if is_vector:
        rhs = raw.ExpandDims(rhs, -1)
    elif transpose_rhs:
        rhs = matrix_transpose(rhs)
    result = TRIDIAGONAL_SOLVE(compact, rhs, partial_pivoting=partial_pivoting, name=name)
    if is_vector:
        return raw.Squeeze(result, squeeze_dims=[-1])  # type: ignore[no-any-return]
    return matrix_transpose(result) if transpose_rhs else result


def _compact(diagonals: Any, diagonals_format: str) -> Tensor:
    """Return diagonals of any format as [..., 3, rows]."""
    if diagonals_format == "compact":
        compact = convert_to_tensor(diagonals)
        sizes = compact.plain_shape
        if sizes is not None and sizes[-2] not in (3, None):
            raise ValueError(f"Expected 3 diagonals got {sizes[-2]}")
        return compact
    if diagonals_format == "sequence":
        above, on, below = (convert_to_tensor(each) for each in diagonals)
        below, above = _padded(below, on, (1, 0)), _padded(above, on, (0, 1))
        return raw.Pack([above, on, below], axis=-2, name="stack")  # type: ignore[no-any-return]
    if diagonals_format == "matrix":
        return _compact_of(convert_to_tensor(diagonals))
    raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")


def _compact_of(matrices: Tensor) -> Tensor:
    """Return the diagonals of whole matrices."""
    rank, rows = _rank_and_rows(matrices)
    places = [[[i, min(i + 1, rows - 1)], [i, i], [i, max(i - 1, 0)]] for i in range(rows)]
    first = transpose(matrices, [rank - 2, rank - 1, *range(rank - 2)])
    found = raw.GatherNd(first, np.array(places, np.int32))
    return transpose(found, [*range(2, rank), 1, 0])


def _padded(part: Tensor, whole: Tensor, sides: tuple[int, int]) -> Tensor:
    """Return a diagonal with a 0 where it has one number less than the one in the middle."""
    own, other = (each.plain_shape for each in (part, whole))
    if own is None or other is None or own[-1] is None or own[-1] == other[-1]:
        return part
    paddings = [(0, 0)] * (len(own) - 1) + [sides]
    return raw.Pad(part, np.array(paddings, np.int32))  # type: ignore[no-any-return]
