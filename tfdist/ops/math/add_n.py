"""Sums of several tensors, and multiples of one."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import Known, OpDef, raw
from tfdist.graph.operation import Tensor

__all__ = ["accumulate_n", "add_n", "scalar_mul"]

ADD_N = OpDef("AddN(inputs: N*T) -> sum: T [N: int >=1; T: type {numeric,variant}]")


@ADD_N.shape
def add_n_shape(inputs: list[Shape]) -> Shape:
    return reduce(shapes.merge, inputs)


@ADD_N.kernel
def add_n_kernel(inputs: list[Any]) -> Any:
    if len(inputs) == 1:
        return inputs[0]
    for each in inputs[1:]:
        _check_same(inputs[0], each)
    total = np.add(inputs[0], inputs[1])
    if not isinstance(total, np.ndarray):  # a number, or a list of tensors
        return reduce(np.add, inputs[2:], total)
    for each in inputs[2:]:
        np.add(total, each, out=total)  # `total` is ours: nobody else has seen it
    return total


_PLAIN = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


@ADD_N.specialize
def add_n_specialized(known: Known) -> Any:
    """Return NumPy's sum of two, as most are, and of numbers, not lists of tensors."""
    if len(known.shapes) != 2 or known.dtypes[0] not in _PLAIN:
        return None
    return operator.add if known.has_shapes else _sum_of_two


def _sum_of_two(x: Any, y: Any) -> Any:
    _check_same(x, y)
    return x + y


def _check_same(one: Any, other: Any) -> None:
    """Raise InvalidArgumentError unless the shapes are equal: NumPy would stretch one."""
    if one.shape != other.shape:
        raise InvalidArgumentError(
            "Inputs to operation AddN of type AddN must have the same size and shape.  Input 0: "
            f"{list(one.shape)} != input: {list(other.shape)}"
        )


ADD_N.elementwise(lambda known: "inputs0 + inputs1" if len(known.shapes) == 2 else None)


@ADD_N.gradient
def add_n_gradient(op: Any, d_sum: Any) -> Any:
    return [d_sum] * len(op.inputs)


ACCUMULATE_N_V2 = OpDef(
    "AccumulateNV2(inputs: N*T) -> sum: T [N: int >=1; T: type {numeric}; shape: shape]"
)
ACCUMULATE_N_V2.shape(lambda inputs, *, shape: reduce(shapes.merge, inputs, shape.as_tuple()))
ACCUMULATE_N_V2.kernel(add_n_kernel)
ACCUMULATE_N_V2.gradient(add_n_gradient)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Tensor:
    """Return `x` multiplied by one number.

    Args:
      scalar: a number or a tensor of rank 0.
      x: a tensor, or anything that converts to one.
      name: of the node.

    Raises:
      ValueError: `scalar` is not of rank 0.

    Example:
      >>> Session().run(scalar_mul(2.0, [1.0, 3.0]))
      array([2., 6.], dtype=float32)
    """
    dtype = x.dtype.base_dtype if hasattr(x, "_as_tensor") else None
    scalar = convert_to_tensor(scalar, dtype, "scalar")
    if scalar.plain_shape not in ((), None):
        raise ValueError(f"Only scalar multiply works, got shape {scalar.shape}")
    tensor: Tensor = raw.Mul(scalar, x, name=name)
    return tensor


def add_n(inputs: Sequence[Any], name: str | None = None) -> Tensor:
    """Return the sum of tensors of one type and shape; a single one is returned as it is.

    Args:
      inputs: a list of them.
      name: of the node.

    Raises:
      ValueError: the list is empty, or the shapes differ.

    Example:
      >>> Session().run(add_n([[1, 2], [3, 4], [5, 6]]))
      array([ 9, 12], dtype=int32)
    """
    inputs = _listed("add_n", inputs)
    if len(inputs) == 1:
        only = convert_to_tensor(inputs[0])
        return only if name is None else raw.Identity(only, name=name)
    tensor: Tensor = ADD_N(inputs, name=name)
    return tensor


def _listed(function: str, inputs: Any) -> list[Any]:
    if not isinstance(inputs, list | tuple) or not inputs:
        raise ValueError(
            "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and "
            f"shape: {function} got "
            f"{inputs!r}"
        )
    return list(inputs)


def accumulate_n(
    inputs: Sequence[Any], shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """Return the sum of tensors of one type and shape.

    Args:
      inputs: a list of them.
      shape: that they have, where it is not known.
      tensor_dtype: their type, for a check.
      name: of the node.

    Raises:
      TypeError: they are not of `tensor_dtype`.
      ValueError: the list is empty, or the shapes differ.

    Example:
      >>> Session().run(accumulate_n([[1, 2], [3, 4]]))
      array([4, 6], dtype=int32)
    """
    tensors = [convert_to_tensor(each) for each in _listed("accumulate_n", inputs)]
    first = tensors[0]
    if any(each.dtype.base_dtype is not first.dtype.base_dtype for each in tensors):
        raise ValueError(f"accumulate_n takes tensors of one type, got {tensors}")
    if tensor_dtype is not None and first.dtype != dtypes.as_dtype(tensor_dtype):
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but the inputs are {first.dtype.name}")
    if len(tensors) == 1 and name is None:
        return first
    known = first.shape if shape is None else TensorShape(shape)
    total: Tensor = ACCUMULATE_N_V2(tensors, shape=known, name=name)
    return total
