"""Linear operators that a few vectors determine: reflections, updates of low rank, Toeplitz's."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.shape import shape as shape_tensor
from tfdist.ops.linalg.diag import matrix_diag
from tfdist.ops.linalg.operators.linear_operator import LinearOperator, checked
from tfdist.ops.linalg.products import adjoint as adjoint_of
from tfdist.ops.math.matmul import matmul
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn.functions import l2_normalize

__all__: list[str] = []  # its names are those of tf.linalg only


class LinearOperatorHouseholder(LinearOperator):
    """The reflection at the plane that is at right angles to a vector: I - 2 v v*.

    Args:
      reflection_axis: the vector, [..., side], of any length.
      is_non_singular: True, as it is its own inverse.
      is_self_adjoint: True.
      is_positive_definite: False.
      is_square: True.
      name: in front of the names of its nodes.

    Example:
      >>> Session().run(linalg.LinearOperatorHouseholder([2.0, 0.0]).matvec([1.0, 1.0]))
      array([-1.,  1.], dtype=float32)
    """

    def __init__(
        self, reflection_axis: Any, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
        is_square: bool | None = None, name: str = "LinearOperatorHouseholder",
    ) -> None:  # fmt: skip
        self.reflection_axis = checked(reflection_axis, "reflection_axis", 1)
        for known, wanted, what in (
            (is_self_adjoint, True, "self adjoint"),
            (is_positive_definite, False, "not positive definite"),
            (is_square, True, "square"),
        ):
            if known is (not wanted):
                raise ValueError(f"A Householder operator is always {what}.")
        super().__init__(self.reflection_axis.dtype, [self.reflection_axis], is_non_singular, True,
                         False, True, name)  # fmt: skip

    def _plain_shape(self) -> Shape:
        plain = self.reflection_axis.plain_shape
        return None if plain is None else (*plain, plain[-1])

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = adjoint_of(x) if adjoint_arg else x
        axis = raw.ExpandDims(l2_normalize(self.reflection_axis, axis=-1), -1)
        along = matmul(axis, matmul(axis, x, adjoint_a=True))
        return raw.Sub(x, raw.Mul(2.0, along, name="mul"))  # type: ignore[no-any-return]

    def _matrix(self) -> Tensor:
        return self._matmul(matrix_diag(raw.OnesLike(self.reflection_axis)), False, False)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return self._matmul(rhs, adjoint, False)

    def _determinant(self) -> Tensor:
        return raw.Neg(self._ones())  # type: ignore[no-any-return]

    def _log_abs_determinant(self) -> Tensor:
        return raw.ZerosLike(self._ones())  # type: ignore[no-any-return]

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """Raise InvalidArgumentError: the vector itself is turned round."""
        raise InvalidArgumentError("Householder operators are always non-positive definite.")

    def _ones(self) -> Tensor:
        """Return a one for each matrix."""
        return raw.OnesLike(reduce_sum(self.reflection_axis, axis=-1))  # type: ignore[no-any-return]


class LinearOperatorLowRankUpdate(LinearOperator):
    """An operator to which a product of few columns is added: L + U D V*.

    Args:
      base_operator: L, a LinearOperator.
      u: U, [..., rows, few].
      diag_update: the diagonal of D, [..., few]; by default ones.
      v: V, [..., columns, few]; by default U.
      is_diag_update_positive: whether D is known to be positive.
      is_non_singular: as for all of them, see `LinearOperator`.
      is_self_adjoint: as for all of them, see `LinearOperator`.
      is_positive_definite: as for all of them, see `LinearOperator`.
      is_square: as for all of them, see `LinearOperator`.
      name: in front of the names of its nodes.

    Example:
      >>> base = linalg.LinearOperatorDiag([1.0, 2.0])
      >>> operator = linalg.LinearOperatorLowRankUpdate(base, [[1.0], [1.0]])
      >>> Session().run(operator.to_dense())
      array([[2., 1.],
             [1., 3.]], dtype=float32)
    """

    def __init__(
        self, base_operator: LinearOperator, u: Any, diag_update: Any = None, v: Any = None,
        is_diag_update_positive: bool | None = None, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
        is_square: bool | None = None, name: str = "LinearOperatorLowRankUpdate",
    ) -> None:  # fmt: skip
        self.base_operator, self.u = base_operator, checked(u, "u", 2)
        self.v = self.u if v is None else checked(v, "v", 2)
        self.diag_update = None if diag_update is None else checked(diag_update, "diag_update", 1)
        self.is_diag_update_positive = is_diag_update_positive or diag_update is None
        if v is None and base_operator.is_self_adjoint and not self.u.dtype.is_complex:
            is_self_adjoint = True
            if base_operator.is_positive_definite and self.is_diag_update_positive:
                is_positive_definite = True
        parts = [self.u, self.diag_update, None if v is None else self.v]
        parents = base_operator.graph_parents + [each for each in parts if each is not None]
        super().__init__(base_operator.dtype, parents, is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)  # fmt: skip

    def _plain_shape(self) -> Shape:
        base, u = self.base_operator._plain_shape(), self.u.plain_shape
        if base is None or u is None or None in (*base[:-2], *u[:-2]):
            return None
        batches: Any = base[:-2], u[:-2]
        return (*np.broadcast_shapes(*batches), *base[-2:])

    def _matrix(self) -> Tensor:
        scaled = self.u
        if self.diag_update is not None:
            scaled = raw.Mul(self.u, raw.ExpandDims(self.diag_update, -2), name="mul")
        update = matmul(scaled, self.v, adjoint_b=True)
        return raw.AddV2(self.base_operator._matrix(), update, name="add")  # type: ignore[no-any-return]


class LinearOperatorToeplitz(LinearOperator):
    """A matrix whose diagonals hold one number each.

    Args:
      col: its first column, [..., side].
      row: its first row, [..., side], with the same first element.
      is_non_singular: as for all of them, see `LinearOperator`.
      is_self_adjoint: as for all of them, see `LinearOperator`.
      is_positive_definite: as for all of them, see `LinearOperator`.
      is_square: as for all of them, see `LinearOperator`.
      name: in front of the names of its nodes.

    Example:
      >>> Session().run(linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]).to_dense())
      array([[1., 3.],
             [2., 1.]], dtype=float32)
    """

    def __init__(
        self, col: Any, row: Any, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
        is_square: bool | None = None, name: str = "LinearOperatorToeplitz",
    ) -> None:  # fmt: skip
        self.col, self.row = checked(col, "col", 1), checked(row, "row", 1)
        if is_square is False:
            raise ValueError("Only square Toeplitz operators are there")
        super().__init__(self.row.dtype, [self.row, self.col], is_non_singular, is_self_adjoint,
                         is_positive_definite, True, name)  # fmt: skip

    def _plain_shape(self) -> Shape:
        plain = self.row.plain_shape
        return None if plain is None else (*plain, plain[-1])

    def _matrix(self) -> Tensor:
        sizes: Any = shape_tensor(self.row)
        column: Any = self.col
        place = raw.Range(0, sizes[-1], 1)
        # the row backwards, and the column after its first element: one number for each diagonal
        values = raw.ConcatV2([raw.ReverseV2(self.row, [-1]), column[..., 1:]], -1)
        ahead = raw.Sub(raw.ExpandDims(place, 1), raw.ExpandDims(place, 0))
        matrix: Tensor = raw.GatherV2(values, raw.AddV2(ahead, sizes[-1] - 1), -1)
        matrix.set_shape(self.shape)
        return matrix
