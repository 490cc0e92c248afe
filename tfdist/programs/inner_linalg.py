"""Names of linear_operator_util and linear_operator_addition in tensorflow.python.ops.linalg."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.checks.assertions import assert_equal, assert_none_equal
from tfdist.ops.linalg.broadcast_solve import (
    assert_is_batch_matrix,
    broadcast_matrix_batch_dims,
    cholesky_solve_with_broadcast,
    matrix_solve_with_broadcast,
    matrix_triangular_solve_with_broadcast,
)
from tfdist.ops.linalg.operators.dense import (
    LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular,
)
from tfdist.ops.linalg.operators.diagonal import LinearOperatorDiag, LinearOperatorScaledIdentity
from tfdist.ops.linalg.operators.linear_operator import LinearOperator
from tfdist.ops.variables.variable import Variable

__all__ = [
    "add_operators", "assert_is_batch_matrix", "assert_no_entries_with_modulus_zero",
    "assert_not_ref_type", "assert_zero_imag_part", "base_dtype", "broadcast_matrix_batch_dims",
    "cholesky_solve_with_broadcast", "convert_nonref_to_tensor", "dtype_name", "is_ref",
    "matrix_solve_with_broadcast", "matrix_triangular_solve_with_broadcast", "shape_tensor",
    "use_operator_or_provided_hint_unless_contradicting",
]  # fmt: skip


# values


def is_ref(x: Any) -> bool:
    """Return whether this is a variable, whose value may change."""
    return isinstance(x, Variable) or bool(getattr(getattr(x, "dtype", None), "is_ref", False))


def assert_not_ref_type(x: Any, arg_name: str) -> None:
    """Raise TypeError if this is a reference to a variable."""
    if getattr(getattr(x, "dtype", None), "is_ref", False):
        raise TypeError(f"Argument {arg_name} cannot be reference type. Found: {type(x)}.")


def convert_nonref_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Any:
    """Return a value as a tensor; a variable, and None, as they are.

    Raises:
      TypeError: a variable has another type than `dtype`.
    """
    if value is None:
        return None
    if not is_ref(value):
        return convert_to_tensor(value, dtype, name, dtype_hint=dtype_hint)
    if dtype is not None and dtypes.as_dtype(dtype) != base_dtype(value.dtype):
        raise TypeError(f"Mutable type must be of dtype {dtype} but is {value.dtype.name}.")
    return value


def base_dtype(dtype: Any) -> Any:
    """Return a type that is no reference."""
    return dtypes.as_dtype(dtype).base_dtype


def dtype_name(dtype: Any) -> str:
    """Return the name of a type."""
    return dtypes.as_dtype(dtype).name


def shape_tensor(shape: Any, name: str | None = None) -> Tensor:
    """Return a shape as a tensor; an empty one is of int32."""
    is_empty = isinstance(shape, list | tuple) and not shape
    return convert_to_tensor(shape, dtypes.int32 if is_empty else None, name or "shape")


# checks


def assert_no_entries_with_modulus_zero(
    x: Any, message: str | None = None, name: str = "assert_no_entries_with_modulus_zero"
) -> Any:
    """Return an operation that fails if an entry is 0."""
    with scopes.name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        sizes = raw.ComplexAbs(x) if x.dtype.base_dtype.is_complex else raw.Abs(x)
        return assert_none_equal(sizes, convert_to_tensor(0, sizes.dtype), message=message)


def assert_zero_imag_part(
    x: Any, message: str | None = None, name: str = "assert_zero_imag_part"
) -> Any:
    """Return an operation that fails if an entry has an imaginary part."""
    with scopes.name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.base_dtype.is_complex:
            return raw.NoOp()
        imaginary = raw.Imag(x)
        return assert_equal(imaginary, convert_to_tensor(0, imaginary.dtype), message=message)


def use_operator_or_provided_hint_unless_contradicting(
    operator: Any, hint_attr_name: str, provided_hint_value: bool | None, message: str
) -> bool | None:
    """Return what an operator, or else the caller, knows of a property.

    Raises:
      ValueError: they say the opposite.
    """
    own = getattr(operator, hint_attr_name)
    if None not in (own, provided_hint_value) and own != provided_hint_value:
        raise ValueError(message)
    return provided_hint_value if own is None else own  # type: ignore[no-any-return]


# addition


def add_operators(
    operators: Iterable[LinearOperator],
    operator_name: str | None = None,
    addition_tiers: Any = None,
    name: str | None = None,
) -> list[LinearOperator]:
    """Return the sum of linear operators, as a list of one, of the narrowest kind that they allow.

    Args:
      operators: their batch axes broadcast.
      operator_name: of the sum.
      addition_tiers: kept for TensorFlow's sake: everything is added.
      name: of the scope.
    """
    with scopes.name_scope(name or "add_operators"):
        return [reduce(lambda one, other: _sum(one, other, operator_name), operators)]


def _sum(one: LinearOperator, other: LinearOperator, name: str | None) -> LinearOperator:
    both = (one, other)
    flags = {
        flag: True if all(getattr(each, flag) for each in both) else None
        for flag in ("is_self_adjoint", "is_positive_definite")
    }
    flags["is_non_singular"] = flags["is_positive_definite"]
    named = {} if name is None else {"name": name}
    if all(isinstance(each, LinearOperatorDiag | LinearOperatorScaledIdentity) for each in both):
        return LinearOperatorDiag(raw.Add(one.diag_part(), other.diag_part()), **flags, **named)  # type: ignore[arg-type]
    dense = raw.Add(one.to_dense(), other.to_dense())
    triangular = (LinearOperatorDiag, LinearOperatorScaledIdentity, LinearOperatorLowerTriangular)
    kind = (
        LinearOperatorLowerTriangular
        if all(isinstance(each, triangular) for each in both)
        else LinearOperatorFullMatrix
    )
    return kind(dense, **flags, **named)  # type: ignore[arg-type]
