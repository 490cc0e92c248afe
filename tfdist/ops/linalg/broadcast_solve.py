"""Systems of equations whose matrices and right sides have batch axes that broadcast.

Source: TF 1.15 API documentation, tf.linalg.LinearOperator.solve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array import shape as array_shape
from tfdist.ops.array.broadcast import broadcast_dynamic_shape, broadcast_static_shape, broadcast_to
from tfdist.ops.array.concat import concat


def assert_is_batch_matrix(tensor: Any) -> None:
    """Raise ValueError if a tensor has fewer than two axes."""
    shape = tensor.get_shape()
    if shape.ndims is not None and shape.ndims < 2:
        raise ValueError(
            f"Expected [batch] matrix to have at least two dimensions.  Found: {tensor}"
        )


def broadcast_matrix_batch_dims(
    batch_matrices: Iterable[Any], name: str | None = None
) -> list[Tensor]:
    """Return matrices whose batch axes are all of the shape that those given broadcast to."""
    with scopes.name_scope(name or "broadcast_matrix_batch_dims"):
        matrices = [convert_to_tensor(each) for each in batch_matrices]
        for each in matrices:
            assert_is_batch_matrix(each)
        static = reduce(
            broadcast_static_shape, [each.shape[:-2] for each in matrices], TensorShape([])
        )
        if static.is_fully_defined():
            return [_with_batch(each, static) for each in matrices]
        batch = reduce(broadcast_dynamic_shape, [_shape(each)[:-2] for each in matrices])
        return [broadcast_to(each, concat([batch, _shape(each)[-2:]], 0)) for each in matrices]


def _shape(matrix: Tensor) -> Any:  # for it is indexed
    return array_shape.shape(matrix)


def _with_batch(matrix: Tensor, batch: TensorShape) -> Tensor:
    if matrix.shape[:-2] == batch:
        return matrix
    whole = batch.concatenate(matrix.shape[-2:])
    if whole.is_fully_defined():
        return broadcast_to(matrix, whole.as_list())
    return broadcast_to(matrix, concat([batch.as_list(), _shape(matrix)[-2:]], 0))


def _solved(solve: Callable[[Tensor, Tensor], Any], matrix: Any, rhs: Any, name: str) -> Tensor:
    with scopes.name_scope(name, values=[matrix, rhs]):
        matrix = convert_to_tensor(matrix, name="matrix")
        rhs = convert_to_tensor(rhs, matrix.dtype.base_dtype, "rhs")
        return solve(*broadcast_matrix_batch_dims([matrix, rhs]))  # type: ignore[no-any-return]


def matrix_triangular_solve_with_broadcast(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Return x with matrix @ x = rhs, for a triangular matrix; batch axes broadcast."""
    return _solved(
        lambda *both: raw.MatrixTriangularSolve(*both, lower=lower, adjoint=adjoint),
        matrix,
        rhs,
        name or "MatrixTriangularSolve",
    )


def matrix_solve_with_broadcast(
    matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Return x with matrix @ x = rhs; batch axes broadcast."""
    return _solved(
        lambda *both: raw.MatrixSolve(*both, adjoint=adjoint), matrix, rhs, name or "MatrixSolve"
    )


def cholesky_solve_with_broadcast(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """Return x with chol @ chol^H @ x = rhs, for a lower triangle; batch axes broadcast."""

    def solve(matrix: Tensor, right: Tensor) -> Any:
        half = raw.MatrixTriangularSolve(matrix, right, lower=True, adjoint=False)
        return raw.MatrixTriangularSolve(matrix, half, lower=True, adjoint=True)

    return _solved(solve, chol, rhs, name or "CholeskySolveWithBroadcast")
