"""Assertions on types, which are always known when the graph is built, and so fail then.

Source: TF 1.15 API documentation, tf.debugging.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.checks.assertion_messages import prefix
from tfdist.ops.control_flow.identity_group import no_op

__all__ = [
    "assert_integer", "assert_proper_iterable", "assert_same_float_dtype", "assert_type",
    "is_numeric_tensor",
]  # fmt: skip


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> Operation:
    """Return an operation that does nothing; fail now unless `tensor` has the type `tf_type`.

    Args:
      tensor: a tensor, or anything that converts to one.
      tf_type: a type or its name.
      message: first words of the error.
      name: prefix for the nodes.

    Raises:
      TypeError: it has another type.

    Example:
      >>> assert_type(constant(1.0), "float32").type
      'NoOp'
    """
    wanted = dtypes.as_dtype(tf_type)
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype.base_dtype is not wanted:
            raise TypeError(
                f"{prefix(message, '')}{tensor.name} must be of type {wanted.name}, but is "
                f"{tensor.dtype.name}"
            )
        return no_op("statically_determined_correct_type")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Operation:
    """Return an operation that does nothing; fail now unless `x` is of integers.

    Args:
      x: a tensor, or anything that converts to one.
      message: first words of the error.
      name: prefix for the nodes.

    Raises:
      TypeError: it has another type.

    Example:
      >>> assert_integer([1, 2]).type
      'NoOp'
    """
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.base_dtype.is_integer:
            raise TypeError(
                f'{prefix(message, "")}Expected "x" to be integer type.  Found: {x.name} of dtype '
                f"{x.dtype.name}"
            )
        return no_op("statically_determined_was_integer")


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> DType:
    """Return the one type of floats that all tensors have.

    Args:
      tensors: list of tensors or variables; None in it is skipped.
      dtype: the type that is wanted; by default that of the first tensor, float32 without any.

    Raises:
      ValueError: a tensor has another type, or it is no type of floats.

    Example:
      >>> assert_same_float_dtype([constant(1.0), constant(2.0)])
      tf.float32
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    first = ""
    for tensor in tensors or ():
        if tensor is None:
            continue
        found = tensor.dtype.base_dtype
        if wanted is None:
            wanted, first = found, f" as {tensor.name}"
        elif found is not wanted:
            raise ValueError(
                f"{tensor.name}, type={found}, must be of the same type ({wanted}){first}"
            )
    wanted = wanted or dtypes.float32
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted.name}.")
    return wanted


def is_numeric_tensor(tensor: Any) -> bool:
    """Return whether `tensor` is a Tensor of numbers; a variable or an array is none.

    Example:
      >>> is_numeric_tensor(constant(1)), is_numeric_tensor(constant("a")), is_numeric_tensor(1)
      (True, False, False)
    """
    dtype = tensor.dtype.base_dtype if isinstance(tensor, Tensor) else dtypes.string
    return dtype.is_floating or dtype.is_integer or dtype.is_complex


def assert_proper_iterable(values: Any) -> None:
    """Fail unless `values` can be iterated over and is neither string, nor array, nor tensor.

    Raises:
      TypeError: it is something else.

    Example:
      >>> assert_proper_iterable([1, 2])
    """
    is_one = isinstance(values, str | bytes | np.ndarray) or hasattr(values, "_as_tensor")
    if is_one or not hasattr(values, "__iter__"):
        proper = 'a "proper" iterable' if is_one else "iterable"
        raise TypeError(f'Expected argument "values" to be {proper}.  Found: {type(values)}')
