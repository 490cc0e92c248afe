"""`LinearOperator`: a matrix, or a batch of them, by what it does to vectors.

A kind of operator says its shape and its matrix; what it can do quicker than with the matrix, it
says besides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, lazy
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.shape import shape as shape_tensor
from tfdist.ops.checks.assertions import assert_greater, assert_near
from tfdist.ops.linalg.broadcast_solve import (
    cholesky_solve_with_broadcast,
    matrix_solve_with_broadcast,
)
from tfdist.ops.linalg.cholesky import cholesky
from tfdist.ops.linalg.diag import matrix_diag_part
from tfdist.ops.linalg.inverse import matrix_determinant, slogdet
from tfdist.ops.linalg.products import adjoint as adjoint_of
from tfdist.ops.linalg.svd import svd
from tfdist.ops.math.matmul import matmul
from tfdist.ops.math.reductions import reduce_min, reduce_sum

__all__: list[str] = []  # its names are those of tf.linalg only

# Kinds that methods turn an operator into; they are made of its class, and so stand above it.
_full_matrix = lazy.function("tfdist.ops.linalg.operators.dense", "LinearOperatorFullMatrix")
_lower_triangular = lazy.function(
    "tfdist.ops.linalg.operators.dense", "LinearOperatorLowerTriangular"
)
_adjoint = lazy.function("tfdist.ops.linalg.operators.inversion", "LinearOperatorAdjoint")
_inversion = lazy.function("tfdist.ops.linalg.operators.inversion", "LinearOperatorInversion")

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
        return _full_matrix(matmul(left.to_dense(), right.to_dense()))

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
            return self._solve(adjoint_of(rhs) if adjoint_arg else rhs, adjoint)

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
        return self if self.is_self_adjoint else _adjoint(self)

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """Return the inverse operator.

        Raises:
          ValueError: it is not square, or known to have no inverse.
        """
        if self.is_square is False:
            raise ValueError(f"cannot take the inverse of {self!r}, which is not square")
        if self.is_non_singular is False:
            raise ValueError(f"cannot take the inverse of {self!r}, which is singular")
        return _inversion(self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """Return the lower triangular factor of a positive definite operator.

        Raises:
          ValueError: it is not known to be positive definite and self-adjoint.
        """
        if not self._has_factor:
            raise ValueError("Cannot take the Cholesky decomposition: not a positive definite "
                             "self adjoint matrix, as far as is known.")  # fmt: skip
        with self._scope(name):
            return _lower_triangular(cholesky(self._matrix()), is_non_singular=True)

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
            return assert_near(
                matrix, adjoint_of(matrix), message="Matrix was not equal to adjoint"
            )

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
