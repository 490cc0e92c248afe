"""Linear operators made of several: their product, blocks along a diagonal, Kronecker's product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.broadcast import broadcast_dynamic_shape
from tfdist.ops.array.split import split
from tfdist.ops.linalg.broadcast_solve import broadcast_matrix_batch_dims
from tfdist.ops.linalg.operators.linear_operator import LinearOperator
from tfdist.ops.linalg.products import adjoint as adjoint_of
from tfdist.ops.math.matmul import matmul

__all__: list[str] = []  # its names are those of tf.linalg only


def _dtype(operators: list[LinearOperator]) -> Any:
    if not operators:
        raise ValueError("Expected a non-empty list of operators. Found: []")
    kinds = {each.dtype for each in operators}
    if len(kinds) > 1:
        raise TypeError(f"Expected all operators to have the same dtype. Found: {operators}")
    return operators[0].dtype


def _joined_batch(operators: list[LinearOperator]) -> Any:
    """Return the batch of several operators, which broadcasts; None if it is not known."""
    batches: list[Any] = [each._plain_shape() for each in operators]
    if any(plain is None or None in plain[:-2] for plain in batches):
        return None
    return np.broadcast_shapes(*(plain[:-2] for plain in batches))


class _Joined(LinearOperator):
    """An operator made of several."""

    _sign = ""

    def __init__(
        self, operators: list[LinearOperator], is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
        is_square: bool | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        self.operators = list(operators)
        dtype = _dtype(self.operators)
        parents = [parent for each in self.operators for parent in each.graph_parents]
        if is_non_singular is None and all(each.is_non_singular for each in self.operators):
            is_non_singular = True
        names = self._sign.join(each.name for each in self.operators)
        super().__init__(dtype, parents, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name or names)  # fmt: skip


class LinearOperatorComposition(_Joined):
    """The product of operators: the last one is applied first.

    Args:
      operators: LinearOperators, each with as many columns as the next one has rows.
      is_non_singular: as for all of them, see `LinearOperator`.
      is_self_adjoint: as for all of them, see `LinearOperator`.
      is_positive_definite: as for all of them, see `LinearOperator`.
      is_square: as for all of them, see `LinearOperator`.
      name: in front of the names of its nodes.

    Example:
      >>> twice = linalg.LinearOperatorScaledIdentity(2, 2.0)
      >>> product = linalg.LinearOperatorComposition([twice, linalg.LinearOperatorDiag([1.0, 3.0])])
      >>> Session().run(product.matvec([1.0, 1.0]))
      array([2., 6.], dtype=float32)
    """

    _sign = "_o_"

    def __init__(self, operators: list[LinearOperator], *args: Any, **kwargs: Any) -> None:
        super().__init__(operators, *args, **kwargs)
        for left, right in zip(self.operators, self.operators[1:], strict=False):
            left.domain_dimension.assert_is_compatible_with(right.range_dimension)

    def _plain_shape(self) -> Shape:
        batch = _joined_batch(self.operators)
        if batch is None:
            return None
        ends = self.operators[0].range_dimension, self.operators[-1].domain_dimension
        return (*batch, *(end.value for end in ends))

    def _matrix(self) -> Tensor:
        return reduce(matmul, (each._matrix() for each in self.operators))

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = adjoint_of(x) if adjoint_arg else x
        for each in self.operators if adjoint else reversed(self.operators):
            x = each._matmul(x, adjoint, False)
        return x

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        for each in reversed(self.operators) if adjoint else self.operators:
            rhs = each._solve(rhs, adjoint)
        return rhs

    def _determinant(self) -> Tensor:
        return reduce(raw.Mul, (each.determinant() for each in self.operators))

    def _log_abs_determinant(self) -> Tensor:
        return reduce(raw.AddV2, (each.log_abs_determinant() for each in self.operators))


class LinearOperatorBlockDiag(_Joined):
    """Operators as blocks along the diagonal, with zeros beside them.

    Args:
      operators: LinearOperators.
      is_non_singular: as for all of them, see `LinearOperator`.
      is_self_adjoint: as for all of them, see `LinearOperator`.
      is_positive_definite: as for all of them, see `LinearOperator`.
      is_square: as for all of them, see `LinearOperator`.
      name: in front of the names of its nodes.

    Example:
      >>> blocks = [linalg.LinearOperatorDiag([1.0, 3.0]), linalg.LinearOperatorIdentity(1)]
      >>> Session().run(linalg.LinearOperatorBlockDiag(blocks).diag_part())
      array([1., 3., 1.], dtype=float32)
    """

    _sign = "_ds_"

    def _plain_shape(self) -> Shape:
        batch = _joined_batch(self.operators)
        if batch is None:
            return None
        sizes = [each._plain_shape() or (None, None) for each in self.operators]
        rows, columns = (_total([size[axis] for size in sizes]) for axis in (-2, -1))
        return (*batch, rows, columns)

    def _matrix(self) -> Tensor:
        rows, columns = ([_size(each, axis) for each in self.operators] for axis in (-2, -1))
        padded = [
            raw.Pad(each._matrix(), _paddings(each, _around(rows, i), _around(columns, i)))
            for i, each in enumerate(self.operators)
        ]
        return reduce(raw.AddV2, padded)

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """Return the shape, known when it runs: [..., rows, columns]."""
        if self.shape.is_fully_defined():
            return super().shape_tensor(name)
        with self._scope(name):
            ends = [sum(_size(each, axis) for each in self.operators) for axis in (-2, -1)]
            batches = [each.batch_shape_tensor() for each in self.operators]
            return raw.ConcatV2([reduce(broadcast_dynamic_shape, batches), raw.Pack(ends)], 0)

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = adjoint_of(x) if adjoint_arg else x
        return self._of_blocks(x, adjoint, lambda each, part: each._matmul(part, adjoint, False))

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return self._of_blocks(rhs, not adjoint, lambda each, part: each._solve(part, adjoint))

    def _of_blocks(self, x: Tensor, by_rows: bool, apply: Callable[..., Tensor]) -> Tensor:
        """Return what each block makes of its rows of `x`, one below the other."""
        sizes = [_size(each, -2 if by_rows else -1) for each in self.operators]
        parts = split(x, sizes, -2)
        found = [apply(*pair) for pair in zip(self.operators, parts, strict=True)]
        joined: Tensor = raw.ConcatV2(broadcast_matrix_batch_dims(found), -2)
        return joined

    def _determinant(self) -> Tensor:
        return reduce(raw.Mul, (each.determinant() for each in self.operators))

    def _log_abs_determinant(self) -> Tensor:
        return reduce(raw.AddV2, (each.log_abs_determinant() for each in self.operators))


def _total(sizes: list[Any]) -> Any:
    return None if None in sizes else sum(sizes)


def _size(operator: LinearOperator, axis: int) -> Any:
    """Return the number of rows or columns, a tensor if it is known only when it runs."""
    is_rows = axis == -2
    known = (operator.range_dimension if is_rows else operator.domain_dimension).value
    if known is not None:
        return known
    return operator.range_dimension_tensor() if is_rows else operator.domain_dimension_tensor()


def _around(sizes: Sequence[Any], position: int) -> list[Any]:
    return [sum(sizes[:position]), sum(sizes[position + 1 :])]


def _paddings(operator: LinearOperator, rows: list[Any], columns: list[Any]) -> Any:
    rank: Any = operator.shape.ndims
    return [[0, 0]] * (rank - 2) + [rows, columns]


class LinearOperatorKronecker(_Joined):
    """The Kronecker product of operators: each element of the first times all of the second.

    Args:
      operators: LinearOperators.
      is_non_singular: as for all of them, see `LinearOperator`.
      is_self_adjoint: as for all of them, see `LinearOperator`.
      is_positive_definite: as for all of them, see `LinearOperator`.
      is_square: as for all of them, see `LinearOperator`.
      name: in front of the names of its nodes.

    Example:
      >>> factors = [linalg.LinearOperatorDiag([1.0, 3.0]), linalg.LinearOperatorDiag([1.0, 2.0])]
      >>> Session().run(linalg.LinearOperatorKronecker(factors).diag_part())
      array([1., 2., 3., 6.], dtype=float32)
    """

    _sign = "_x_"

    def _plain_shape(self) -> Shape:
        batch = _joined_batch(self.operators)
        if batch is None:
            return None
        sizes: list[Any] = [each._plain_shape() or (None, None) for each in self.operators]
        rows, columns = ([size[axis] for size in sizes] for axis in (-2, -1))
        return (*batch, *(None if None in part else int(np.prod(part)) for part in (rows, columns)))

    def _matrix(self) -> Tensor:
        return reduce(_kronecker, (each._matrix() for each in self.operators))


def _kronecker(one: Tensor, other: Tensor) -> Tensor:
    """Return the Kronecker product of matrices of known shapes."""
    first: Any = one.shape.as_list()
    second: Any = other.shape.as_list()
    left = raw.ExpandDims(raw.ExpandDims(one, -2), -1)
    right = raw.ExpandDims(raw.ExpandDims(other, -3), -2)
    batch = np.broadcast_shapes(tuple(first[:-2]), tuple(second[:-2]))
    shape = [*batch, first[-2] * second[-2], first[-1] * second[-1]]
    product: Tensor = raw.Reshape(raw.Mul(left, right, name="mul"), np.array(shape, np.int32))
    return product
