"""Linear operators with nothing beside the diagonal: the identity, multiples of it, zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.fill import eye, zeros
from tfdist.ops.autodiff.gradient_utils import conjugate
from tfdist.ops.linalg.diag import matrix_diag
from tfdist.ops.linalg.operators.linear_operator import LinearOperator, checked
from tfdist.ops.linalg.products import adjoint as adjoint_of
from tfdist.ops.math.reductions import reduce_prod, reduce_sum

__all__: list[str] = []  # its names are those of tf.linalg only


class LinearOperatorDiag(LinearOperator):
    """A matrix with nothing but a diagonal.

    Args:
      diag: [..., side].
      is_non_singular: as for all of them, see `LinearOperator`.
      is_self_adjoint: as for all of them, see `LinearOperator`; known for floats.
      is_positive_definite: as for all of them, see `LinearOperator`.
      is_square: as for all of them, see `LinearOperator`.
      name: in front of the names of its nodes.

    Example:
      >>> operator = linalg.LinearOperatorDiag([1.0, 2.0])
      >>> Session().run(operator.matvec([3.0, 4.0]))
      array([3., 8.], dtype=float32)
    """

    def __init__(
        self, diag: Any, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
        is_square: bool | None = None, name: str = "LinearOperatorDiag",
    ) -> None:  # fmt: skip
        if is_square is False:
            raise ValueError("Only square diagonal operators are there")
        self.diag = checked(diag, "diag", 1)
        if not self.diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        super().__init__(self.diag.dtype, [self.diag], is_non_singular, is_self_adjoint,
                         is_positive_definite, True, name)  # fmt: skip

    def _plain_shape(self) -> Shape:
        plain = self.diag.plain_shape
        return None if plain is None else (*plain, plain[-1])

    def _matrix(self) -> Tensor:
        return matrix_diag(self.diag)

    def _column(self, adjoint: bool) -> Tensor:
        column: Tensor = raw.ExpandDims(conjugate(self.diag) if adjoint else self.diag, -1)
        return column

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = adjoint_of(x) if adjoint_arg else x
        return raw.Mul(self._column(adjoint), x, name="mul")  # type: ignore[no-any-return]

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return raw.RealDiv(rhs, self._column(adjoint), name="truediv")  # type: ignore[no-any-return]

    def _determinant(self) -> Tensor:
        return reduce_prod(self.diag, axis=-1)

    def _log_abs_determinant(self) -> Tensor:
        return reduce_sum(raw.Log(raw.Abs(self.diag)), axis=-1)

    def _times(self, left: LinearOperator, right: LinearOperator) -> LinearOperator:
        if isinstance(left, LinearOperatorDiag) and isinstance(right, LinearOperatorDiag):
            return LinearOperatorDiag(raw.Mul(left.diag, right.diag, name="mul"))
        return super()._times(left, right)


class LinearOperatorScaledIdentity(LinearOperator):
    """A multiple of the identity.

    Args:
      num_rows: an int.
      multiplier: [...], a number for each matrix.
      is_non_singular: as for all of them, see `LinearOperator`.
      is_self_adjoint: as for all of them, see `LinearOperator`; known for floats.
      is_positive_definite: as for all of them, see `LinearOperator`.
      is_square: True.
      assert_proper_shapes: taken, and not needed: the shapes are looked at anyway.
      name: in front of the names of its nodes.

    Example:
      >>> operator = linalg.LinearOperatorScaledIdentity(2, 3.0)
      >>> Session().run(operator.matvec([1.0, 2.0]))
      array([3., 6.], dtype=float32)
    """

    def __init__(
        self, num_rows: int, multiplier: Any, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
        is_square: bool | None = True, assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:  # fmt: skip
        self.multiplier = checked(multiplier, "multiplier", 0)
        self._rows = _count(num_rows, "num_rows")
        if not self.multiplier.dtype.is_complex:
            is_self_adjoint = True
        if not is_square:
            raise ValueError("A scaled identity operator is always square.")
        super().__init__(self.multiplier.dtype, [], is_non_singular, is_self_adjoint,
                         is_positive_definite, True, name)  # fmt: skip

    def _plain_shape(self) -> Shape:
        plain = self.multiplier.plain_shape
        return None if plain is None else (*plain, self._rows, self._rows)

    def _factor(self, adjoint: bool = False) -> Tensor:
        factor = conjugate(self.multiplier) if adjoint else self.multiplier
        return raw.ExpandDims(raw.ExpandDims(factor, -1), -1)  # type: ignore[no-any-return]

    def _matrix(self) -> Tensor:
        identity = eye(self._rows, dtype=self.dtype)
        return raw.Mul(self._factor(), identity, name="mul")  # type: ignore[no-any-return]

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = adjoint_of(x) if adjoint_arg else x
        return raw.Mul(self._factor(adjoint), x, name="mul")  # type: ignore[no-any-return]

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return raw.RealDiv(rhs, self._factor(adjoint), name="truediv")  # type: ignore[no-any-return]

    def _determinant(self) -> Tensor:
        rows = np.array(self._rows, self.dtype.as_numpy_dtype)
        return raw.Pow(self.multiplier, rows)  # type: ignore[no-any-return]

    def _log_abs_determinant(self) -> Tensor:
        rows = np.array(self._rows, self.dtype.as_numpy_dtype)
        return raw.Mul(rows, raw.Log(raw.Abs(self.multiplier)), name="mul")  # type: ignore[no-any-return]


def _count(value: Any, name: str) -> int:
    known = convert_to_tensor(value, name=name)
    if not known.dtype.is_integer:
        raise TypeError(f"Argument {name} must be integer type.  Found: {known}")
    value = constant_value(known)
    if value is None or known.plain_shape != ():
        raise ValueError(f"{name} must be an integer that is known when the graph is built")
    if value < 0:
        raise ValueError(f"Argument {name} must be non-negative.  Found: {value}")
    return int(value)


class LinearOperatorIdentity(LinearOperatorScaledIdentity):
    """The identity, which changes nothing.

    Args:
      num_rows: an int.
      batch_shape: ints, of the batch; by default none.
      dtype: of the elements; by default float32.
      is_non_singular: True, as are the other three.
      is_self_adjoint: True.
      is_positive_definite: True.
      is_square: True.
      assert_proper_shapes: taken, and not needed: the shapes are looked at anyway.
      name: in front of the names of its nodes.

    Example:
      >>> Session().run(linalg.LinearOperatorIdentity(2).matvec([1.0, 2.0]))
      array([1., 2.], dtype=float32)
    """

    def __init__(
        self, num_rows: int, batch_shape: Any = None, dtype: Any = None,
        is_non_singular: bool | None = True, is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True, is_square: bool | None = True,
        assert_proper_shapes: bool = False, name: str = "LinearOperatorIdentity",
    ) -> None:  # fmt: skip
        if not (is_non_singular and is_self_adjoint and is_positive_definite and is_square):
            raise ValueError("An identity operator is always positive definite.")
        kind = dtypes.as_dtype(dtype or dtypes.float32).as_numpy_dtype
        ones = np.ones([] if batch_shape is None else list(batch_shape), kind)
        super().__init__(num_rows, ones, True, True, True, True, assert_proper_shapes, name)


class LinearOperatorZeros(LinearOperator):
    """A matrix of zeros.

    Args:
      num_rows: an int.
      num_columns: an int; by default as many as rows.
      batch_shape: ints, of the batch; by default none.
      dtype: of the elements; by default float32.
      is_non_singular: False.
      is_self_adjoint: True, if it is square.
      is_positive_definite: False.
      is_square: whether it is.
      assert_proper_shapes: taken, and not needed: the shapes are looked at anyway.
      name: in front of the names of its nodes.

    Example:
      >>> Session().run(linalg.LinearOperatorZeros(2).matvec([1.0, 2.0]))
      array([0., 0.], dtype=float32)
    """

    def __init__(
        self, num_rows: int, num_columns: int | None = None, batch_shape: Any = None,
        dtype: Any = None, is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True, is_positive_definite: bool | None = False,
        is_square: bool | None = True, assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:  # fmt: skip
        if is_non_singular or is_positive_definite:
            raise ValueError("A zero operator is always singular.")
        rows = _count(num_rows, "num_rows")
        columns = rows if num_columns is None else _count(num_columns, "num_columns")
        self._sizes = (*(batch_shape or ()), rows, columns)
        square = rows == columns
        super().__init__(dtype or dtypes.float32, [], False, is_self_adjoint and square, False,
                         square, name)  # fmt: skip

    def _plain_shape(self) -> Shape:
        return self._sizes

    def _matrix(self) -> Tensor:
        return zeros(self._sizes, self.dtype)

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """Raise InvalidArgumentError: nothing leads back from zeros."""
        raise InvalidArgumentError("Zero operators are always non-invertible.")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """Raise InvalidArgumentError: products with zeros are not positive."""
        raise InvalidArgumentError("Zero operators are always non-positive definite.")
