"""Linear operators that hold their matrix: the whole of it, or its lower triangle."""

from __future__ import annotations

from typing import Any

from tfdist.base.shapes import Shape
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.linalg.broadcast_solve import matrix_triangular_solve_with_broadcast
from tfdist.ops.linalg.diag import matrix_band_part, matrix_diag_part
from tfdist.ops.linalg.operators.linear_operator import LinearOperator, checked
from tfdist.ops.math.reductions import reduce_prod, reduce_sum

__all__: list[str] = []  # its names are those of tf.linalg only


class LinearOperatorFullMatrix(LinearOperator):
    """A matrix as it is.

    Args:
      matrix: [..., rows, columns].
      is_non_singular: as for all of them, see `LinearOperator`.
      is_self_adjoint: as for all of them, see `LinearOperator`.
      is_positive_definite: as for all of them, see `LinearOperator`.
      is_square: as for all of them, see `LinearOperator`.
      name: in front of the names of its nodes.

    Example:
      >>> operator = linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
      >>> Session().run(operator.matvec([1.0, 1.0]))
      array([3., 7.], dtype=float32)
    """

    def __init__(
        self, matrix: Any, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
        is_square: bool | None = None, name: str = "LinearOperatorFullMatrix",
    ) -> None:  # fmt: skip
        self._tensor = checked(matrix, "matrix", 2)
        super().__init__(self._tensor.dtype, [self._tensor], is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)  # fmt: skip

    def _plain_shape(self) -> Shape:
        return self._tensor.plain_shape

    def _matrix(self) -> Tensor:
        return self._tensor


class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangle of a matrix; what is above the diagonal counts as zeros.

    Args:
      tril: [..., side, side].
      is_non_singular: as for all of them, see `LinearOperator`.
      is_self_adjoint: as for all of them, see `LinearOperator`.
      is_positive_definite: as for all of them, see `LinearOperator`.
      is_square: as for all of them, see `LinearOperator`.
      name: in front of the names of its nodes.

    Example:
      >>> operator = linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [3.0, 4.0]])
      >>> Session().run(operator.determinant())
      np.float32(8.0)
    """

    def __init__(
        self, tril: Any, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
        is_square: bool | None = None, name: str = "LinearOperatorLowerTriangular",
    ) -> None:  # fmt: skip
        if is_square is False:
            raise ValueError("Only square lower triangular operators are there")
        self._tril = checked(tril, "tril", 2)
        super().__init__(self._tril.dtype, [self._tril], is_non_singular, is_self_adjoint,
                         is_positive_definite, True, name)  # fmt: skip

    def _plain_shape(self) -> Shape:
        return self._tril.plain_shape

    def _matrix(self) -> Tensor:
        return matrix_band_part(self._tril, -1, 0)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return matrix_triangular_solve_with_broadcast(self._tril, rhs, adjoint=adjoint)

    def _determinant(self) -> Tensor:
        return reduce_prod(matrix_diag_part(self._tril), axis=-1)

    def _log_abs_determinant(self) -> Tensor:
        return reduce_sum(raw.Log(raw.Abs(matrix_diag_part(self._tril))), axis=-1)
