"""`LinearOperator`: a matrix, or a batch of them, by what it does to vectors.

A kind of operator says its shape and its matrix; what it can do quicker than with the matrix, it
says besides. Here are those kinds that others are turned into.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.reshape import shape as shape_tensor
from tfdist.ops.checks.assertions import assert_greater, assert_near
from tfdist.ops.linalg.broadcast_solve import (
    cholesky_solve_with_broadcast,
    matrix_solve_with_broadcast,
    matrix_triangular_solve_with_broadcast,
)
from tfdist.ops.linalg.cholesky import cholesky
from tfdist.ops.linalg.diag import matrix_band_part, matrix_diag_part
from tfdist.ops.linalg.inverse import matrix_determinant, slogdet
from tfdist.ops.linalg.products import adjoint
from tfdist.ops.linalg.svd import svd
from tfdist.ops.math.matmul import matmul
from tfdist.ops.math.reductions import reduce_min, reduce_prod, reduce_sum

__all__: list[str] = []  # its names are those of tf.linalg only

_KINDS = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


class LinearOperator:
    """A matrix of any kind; kinds give `_plain_shape` and `_matrix`.

    Args:
      dtype: of the elements.
      graph_parents: the tensors that it is made of.
      is_non_singular: whether it has an inverse; None if that is not known, as for the others.
      is_self_adjoint: whether it equals its adjoint.
      is_positive_definite: whether x* A x is positive for each x but 0.
      is_square: whether it has as many rows as columns.
      name: in front of the names of its nodes.

    Raises:
      ValueError: what is said of it cannot be true at once.

    Example:
      >>> operator = linalg.LinearOperatorDiag([1.0, 2.0])
      >>> isinstance(operator, linalg.LinearOperator), operator.shape.as_list()
      (True, [2, 2])
    """

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self.dtype = dtypes.as_dtype(dtype)
        self.graph_parents = list(graph_parents or ())
        self.is_non_singular = _implied(is_positive_definite, is_non_singular, "positive definite")
        square = _implied(self.is_non_singular, is_square, "non-singular")
        self._is_square = _implied(is_self_adjoint, square, "self-adjoint")
        self.is_self_adjoint = is_self_adjoint
        self.is_positive_definite = is_positive_definite
        self.name = name or type(self).__name__

    def _plain_shape(self) -> Shape:
        """Return the shape as far as it is known."""
        raise NotImplementedError(f"{type(self).__name__} does not say its shape")

    def _matrix(self) -> Tensor:
        """Return the matrix."""
        raise NotImplementedError(f"{type(self).__name__} does not say its matrix")

    def __repr__(self) -> str:
        return f"<tf.linalg.{type(self).__name__} {self.name!r} shape={self.shape}>"

    @property
    def shape(self) -> TensorShape:
        """Return the static shape."""
        return TensorShape(self._plain_shape())

    @property
    def batch_shape(self) -> TensorShape:
        """Return the static shape without rows and columns."""
        return self.shape[:-2]  # type: ignore[no-any-return]

    @property
    def is_square(self) -> bool | None:
        """Return whether there are as many rows as columns, None if that is not known."""
        plain = self._plain_shape()
        if plain is None or None in plain[-2:]:
            return self._is_square
        return plain[-1] == plain[-2]

    @property
    def tensor_rank(self) -> int | None:
        """Return the number of axes."""
        return self.shape.ndims

    @property
    def range_dimension(self) -> Any:
        """Return the number of rows."""
        return self.shape[-2]

    @property
    def domain_dimension(self) -> Any:
        """Return the number of columns."""
        return self.shape[-1]

    @property
    def H(self) -> LinearOperator:
        """Return the adjoint operator."""
        return self.adjoint()

    def shape_tensor(self, name: str = "shape_tensor") -> Any:
        """Return the shape as a tensor."""
        with self._scope(name):
            plain = self._plain_shape()
            if plain is not None and None not in plain:
                return convert_to_tensor(np.array(plain, np.int32))
            return shape_tensor(self._matrix())

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Any:
        """Return the number of axes as a tensor."""
        if self.tensor_rank is not None:
            return convert_to_tensor(self.tensor_rank, "int32", name=name)
        return raw.Size(self.shape_tensor(), name=name)

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """Return the shape without rows and columns, as a tensor."""
        return self.shape_tensor(name)[:-2]

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Any:
        """Return the number of columns as a tensor."""
        return self.shape_tensor(name)[-1]

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Any:
        """Return the number of rows as a tensor."""
        return self.shape_tensor(name)[-2]

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """Return the matrix as a tensor."""
        with self._scope(name):
            return self._matrix()

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """Return the product with matrices, [..., rows, columns of x]; of an operator, an operator.

        Args:
          x: [..., columns, others], or a LinearOperator.
          adjoint: whether this operator is transposed and conjugated.
          adjoint_arg: whether x is.
          name: of the nodes' scope.
        """
        if isinstance(x, LinearOperator):
            return self._times(self.adjoint() if adjoint else self, x.H if adjoint_arg else x)
        with self._scope(name):
            x = self._of_own_type(x, "x")
            rows = self.shape[-2 if adjoint else -1]
            rows.assert_is_compatible_with(x.shape[-1 if adjoint_arg else -2])
            return self._matmul(x, adjoint, adjoint_arg)

    def _times(self, left: LinearOperator, right: LinearOperator) -> LinearOperator:
        return LinearOperatorFullMatrix(matmul(left.to_dense(), right.to_dense()))

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return matmul(self._matrix(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """Return the product with vectors [..., columns]: [..., rows]."""
        column = raw.ExpandDims(convert_to_tensor(x, self.dtype, name="x"), -1)
        return raw.Squeeze(self.matmul(column, adjoint, name=name), squeeze_dims=[-1])

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """Return the X with A X = rhs.

        Raises:
          NotImplementedError: it is known to have no inverse.
        """
        self._check_invertible("solve")
        with self._scope(name):
            rhs = self._of_own_type(rhs, "rhs")
            rows = self.shape[-1 if adjoint else -2]
            rows.assert_is_compatible_with(rhs.shape[-1 if adjoint_arg else -2])
            return self._solve(_adjoint(rhs) if adjoint_arg else rhs, adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        if self._has_factor:
            return cholesky_solve_with_broadcast(cholesky(self._matrix()), rhs)
        return matrix_solve_with_broadcast(self._matrix(), rhs, adjoint=adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """Return the vectors x with A x = rhs."""
        column = raw.ExpandDims(convert_to_tensor(rhs, self.dtype, name="rhs"), -1)
        return raw.Squeeze(self.solve(column, adjoint, name=name), squeeze_dims=[-1])

    def determinant(self, name: str = "det") -> Tensor:
        """Return the determinant of each matrix."""
        self._check_square("determinant")
        with self._scope(name):
            return self._determinant()

    def _determinant(self) -> Tensor:
        return matrix_determinant(self._matrix())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """Return the logarithm of the absolute value of the determinant of each matrix."""
        self._check_square("log_abs_determinant")
        with self._scope(name):
            return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Tensor:
        return slogdet(self._matrix())[1]

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """Return the diagonal of each matrix."""
        with self._scope(name):
            return matrix_diag_part(self._matrix())

    def trace(self, name: str = "trace") -> Tensor:
        """Return the sum of the diagonal of each matrix."""
        return reduce_sum(self.diag_part(name), axis=-1)

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        """Return the matrix plus a tensor."""
        with self._scope(name):
            total: Tensor = raw.AddV2(self._matrix(), convert_to_tensor(x, self.dtype), name="add")
            return total

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Return the operator whose matrix is transposed and conjugated."""
        return self if self.is_self_adjoint else LinearOperatorAdjoint(self)

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """Return the inverse operator.

        Raises:
          ValueError: it is not square, or known to have no inverse.
        """
        if self.is_square is False:
            raise ValueError(f"cannot take the inverse of {self!r}, which is not square")
        if self.is_non_singular is False:
            raise ValueError(f"cannot take the inverse of {self!r}, which is singular")
        return LinearOperatorInversion(self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """Return the lower triangular factor of a positive definite operator.

        Raises:
          ValueError: it is not known to be positive definite and self-adjoint.
        """
        if not self._has_factor:
            raise ValueError("Cannot take the Cholesky decomposition: not a positive definite "
                             "self adjoint matrix, as far as is known.")  # fmt: skip
        with self._scope(name):
            return LinearOperatorLowerTriangular(cholesky(self._matrix()), is_non_singular=True)

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """Return an operation that fails if a matrix is not invertible, as far as one can see."""
        with self._scope(name):
            values = svd(self._matrix(), compute_uv=False)
            limit = np.finfo(values.dtype.as_numpy_dtype).eps
            return assert_greater(reduce_min(values), raw.Mul(limit, values[..., 0], name="mul"))

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """Return an operation that fails unless the matrix equals its adjoint."""
        with self._scope(name):
            matrix = self._matrix()
            return assert_near(matrix, _adjoint(matrix), message="Matrix was not equal to adjoint")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """Return an operation that fails unless there is a Cholesky factor."""
        with self._scope(name):
            return cholesky(self._matrix()).op

    def _of_own_type(self, value: Any, name: str) -> Any:
        """Return an argument as a tensor; TypeError if it is of another type than the operator."""
        kept = value if hasattr(value, "dtype") else np.asarray(value, self.dtype.as_numpy_dtype)
        tensor = convert_to_tensor(kept, name=name)
        if self.dtype is not None and tensor.dtype.base_dtype != self.dtype:
            raise TypeError(
                f"Expected argument to have dtype {self.dtype}.  Found: {tensor.dtype} in tensor "
                f"{tensor}"
            )
        return tensor

    def _scope(self, name: str) -> Any:
        return name_scope(f"{self.name}/{name}")

    @property
    def _has_factor(self) -> bool:
        return bool(self.is_positive_definite and self.is_self_adjoint)

    def _check_square(self, what: str) -> None:
        if self.is_square is False:
            raise NotImplementedError(f"{what} needs a square operator, but this is {self!r}")

    def _check_invertible(self, what: str) -> None:
        self._check_square(what)
        if self.is_non_singular is False:
            raise NotImplementedError(
                f"Exact {what} not implemented for an operator that is expected to be singular: "
                f"{self!r}"
            )


def _implied(reason: bool | None, known: bool | None, what: str) -> bool | None:
    """Return what is known of a property that another one implies."""
    if reason and known is False:
        raise ValueError(f"A {what} operator is always square and non-singular, if it is positive")
    return True if reason else known


def _adjoint(matrix: Tensor) -> Tensor:
    return adjoint(matrix)


def checked(tensor: Any, name: str, least_rank: int) -> Tensor:
    """Return a tensor that an operator is made of; TypeError or ValueError if it cannot be."""
    tensor = convert_to_tensor(tensor, name=name)
    if tensor.dtype.base_dtype not in _KINDS:
        choices = ", ".join(each.name for each in _KINDS)
        raise TypeError(
            f"Argument {name} must have dtype in [{choices}]. Found: {tensor.dtype.name}"
        )
    if tensor.plain_shape is not None and len(tensor.plain_shape) < least_rank:
        raise ValueError(
            f"Argument {name} must have at least {least_rank} dimensions. Found: {tensor!r}"
        )
    return tensor


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
        return _adjoint(self.operator._matrix())

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
        return self.operator._solve(_adjoint(x) if adjoint_arg else x, adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return self.operator._matmul(rhs, adjoint, False)

    def _determinant(self) -> Tensor:
        return raw.Reciprocal(self.operator._determinant())  # type: ignore[no-any-return]

    def _log_abs_determinant(self) -> Tensor:
        return raw.Neg(self.operator._log_abs_determinant())  # type: ignore[no-any-return]

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """Return the operator that this is the inverse of."""
        return self.operator
