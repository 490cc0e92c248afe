"""Linear operators made of another one: its adjoint and its inverse."""

from __future__ import annotations

from tfdist.base.shapes import Shape
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.linalg.operators.linear_operator import LinearOperator
from tfdist.ops.linalg.products import adjoint as adjoint_of

__all__: list[str] = []  # its names are those of tf.linalg only


def _first(own: bool | None, other: bool | None) -> bool | None:
    return other if own is None else own


class _Turned(LinearOperator):
    """An operator made of another one that is square, or whose rows and columns are exchanged."""

    def __init__(
        self, operator: LinearOperator, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
        is_square: bool | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        self.operator = operator
        super().__init__(
            operator.dtype,
            operator.graph_parents,
            _first(is_non_singular, operator.is_non_singular),
            _first(is_self_adjoint, operator.is_self_adjoint),
            _first(is_positive_definite, operator.is_positive_definite),
            _first(is_square, operator.is_square),
            name or f"{operator.name}_{self._suffix}",
        )

    _suffix = ""

    def _plain_shape(self) -> Shape:
        plain = self.operator._plain_shape()
        return None if plain is None else (*plain[:-2], plain[-1], plain[-2])


class LinearOperatorAdjoint(_Turned):
    """The adjoint of an operator: its matrix transposed and conjugated.

    Args:
      operator: a LinearOperator.
      is_non_singular: as for all of them, see `LinearOperator`; by default as the operator's.
      is_self_adjoint: as for all of them, see `LinearOperator`; by default as the operator's.
      is_positive_definite: as for all of them, see `LinearOperator`; by default as the operator's.
      is_square: as for all of them, see `LinearOperator`; by default as the operator's.
      name: in front of the names of its nodes.

    Example:
      >>> operator = linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
      >>> Session().run(linalg.LinearOperatorAdjoint(operator).to_dense())
      array([[1., 3.],
             [2., 4.]], dtype=float32)
    """

    _suffix = "adjoint"

    def _matrix(self) -> Tensor:
        return adjoint_of(self.operator._matrix())

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self.operator._matmul(x, not adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return self.operator._solve(rhs, not adjoint)

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Return the operator that this is the adjoint of."""
        return self.operator


class LinearOperatorInversion(_Turned):
    """The inverse of an operator.

    Args:
      operator: a LinearOperator that is square.
      is_non_singular: as for all of them, see `LinearOperator`; by default as the operator's.
      is_self_adjoint: as for all of them, see `LinearOperator`; by default as the operator's.
      is_positive_definite: as for all of them, see `LinearOperator`; by default as the operator's.
      is_square: as for all of them, see `LinearOperator`; by default as the operator's.
      name: in front of the names of its nodes.

    Example:
      >>> operator = linalg.LinearOperatorDiag([2.0, 4.0])
      >>> Session().run(linalg.LinearOperatorInversion(operator).matvec([1.0, 1.0]))
      array([0.5 , 0.25], dtype=float32)
    """

    _suffix = "inv"

    def _matrix(self) -> Tensor:
        matrix = self.operator._matrix()
        identity = raw.MatrixDiag(raw.OnesLike(raw.MatrixDiagPart(matrix)))
        return self.operator._solve(identity, False)

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self.operator._solve(adjoint_of(x) if adjoint_arg else x, adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return self.operator._matmul(rhs, adjoint, False)

    def _determinant(self) -> Tensor:
        return raw.Reciprocal(self.operator._determinant())  # type: ignore[no-any-return]

    def _log_abs_determinant(self) -> Tensor:
        return raw.Neg(self.operator._log_abs_determinant())  # type: ignore[no-any-return]

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """Return the operator that this is the inverse of."""
        return self.operator
