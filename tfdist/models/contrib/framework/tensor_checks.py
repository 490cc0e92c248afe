"""What tf.contrib.framework checks of tensors, and small functions of several of them.

Source: TF 1.15 API documentation, tf.contrib.framework.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes, nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import control_dependencies, device, name_scope
from tfdist.models.losses import weights
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.checks.rank_assertions import assert_scalar
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.functions import py_func as calls
from tfdist.ops.math.add_n import add_n
from tfdist.ops.math.reductions import reduce_all, reduce_sum

__all__ = [
    "assert_scalar_int", "py_func", "reduce_sum_n", "remove_squeezable_dimensions",
    "with_same_shape", "with_shape",
]  # fmt: skip


def assert_scalar_int(tensor: Any, name: str | None = None) -> Tensor:
    """Return `tensor`, of which it must be known that it is one integer.

    Raises:
      ValueError: it has another shape or type, or its shape is not known.

    Example:
      >>> Session().run(contrib.framework.assert_scalar_int(constant(3)))
      np.int32(3)
    """
    with name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(
                f"Expected integer type for {tensor.name}, received type: {tensor.dtype.name}."
            )
        return assert_scalar(tensor, name=scope)


def with_same_shape(expected_tensor: Any, tensor: Any) -> Tensor:
    """Return `tensor`, of which it is checked that it has the shape of another one.

    Raises:
      ValueError: it is known that it has another one.
      InvalidArgumentError: when it runs and has another one.

    Example:
      >>> contrib.framework.with_same_shape(zeros([2]), ones([2])).name
      'ones:0'
    """
    with name_scope(None, "with_same_shape", [expected_tensor, tensor]):
        expected = convert_to_tensor(expected_tensor)
        known = expected.plain_shape
        wanted = known if known is not None and None not in known else raw.Shape(expected)
    return with_shape(wanted, tensor)


def with_shape(expected_shape: Any, tensor: Any) -> Tensor:
    """Return `tensor`, of which it is checked that it has a shape.

    Args:
      expected_shape: list of integers, a TensorShape, or a tensor.
      tensor: the tensor.

    Raises:
      ValueError: it is known that the tensor has another shape, or the shape is not of integers.
      InvalidArgumentError: when it runs and has another one.

    Example:
      >>> contrib.framework.with_shape([2, 3], placeholder_with_default(zeros([2, 3]), None)).shape
      TensorShape([Dimension(2), Dimension(3)])
    """
    tensor = convert_to_tensor(tensor)
    if isinstance(expected_shape, TensorShape):
        expected_shape = expected_shape.as_list()
    wanted = _known(expected_shape)
    if wanted is None:
        return _checked(tensor, convert_to_tensor(expected_shape))
    if wanted.dtype.kind not in "iu":
        raise ValueError(
            f"Invalid dtype {wanted.dtype} for shape {wanted} expected of tensor {tensor.name}."
        )
    if not tensor.get_shape().is_compatible_with(wanted.tolist()):
        raise ValueError(
            f"Invalid shape for tensor {tensor.name}, expected {wanted}, got {tensor.get_shape()}."
        )
    known = tensor.plain_shape
    if known is not None and None not in known and not isinstance(expected_shape, Tensor):
        return tensor
    checked = _checked(tensor, convert_to_tensor(wanted, dtypes.int32))
    checked.set_shape(wanted.tolist())
    return checked


def _known(shape: Any) -> Any:
    """Return a shape as an array; None if it is not known yet."""
    if isinstance(shape, Tensor):
        return constant_value(shape)
    return np.asarray(shape)


def _checked(tensor: Tensor, wanted: Tensor) -> Tensor:
    with device(tensor.device), name_scope(tensor.op.name + "/"):
        actual = raw.Shape(tensor)
        is_same = reduce_all(raw.Equal(wanted, actual, name="is_correct_shape"))
        told = [f"Wrong shape for {tensor.name} [expected] [actual].", wanted, actual]
        with control_dependencies([Assert(is_same, told)]):
            return identity(tensor, name="Identity")


def reduce_sum_n(tensors: Sequence[Any], name: str | None = None) -> Tensor:
    """Return the sum of all elements of all tensors.

    Args:
      tensors: list of tensors of one type.
      name: of the result.

    Raises:
      ValueError: there are none.

    Example:
      >>> Session().run(contrib.framework.reduce_sum_n([constant([1.0, 2.0]), constant(3.0)]))
      np.float32(6.0)
    """
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [reduce_sum(each, name=f"{each.op.name}/sum") for each in tensors]
        return sums[0] if len(sums) == 1 else add_n(sums, name=scope)


def remove_squeezable_dimensions(
    predictions: Any, labels: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return both, without a last axis of size 1 that one has too many.

    Args:
      predictions: a tensor.
      labels: a tensor.
      name: of the nodes' scope.

    Example:
      >>> contrib.framework.remove_squeezable_dimensions(zeros([2, 1]), zeros([2]))[0].shape
      TensorShape([Dimension(2)])
    """
    labels, predictions = weights.remove_squeezable_dimensions(labels, predictions, name=name)
    return predictions, labels


def py_func(
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: dict[str, Any] | None = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Return the results of calling a Python function in each step; see `tf.py_func`.

    Args:
      func: takes a NumPy value for each of `args` and `kwargs`; returns a structure of arrays.
      args: list of tensors.
      kwargs: dict of tensors.
      output_types: structure of types, as `func` returns its results.
      output_shapes: the same of shapes, if they are known.
      stateful: whether two calls with the same inputs may differ.
      name: of the node.

    Raises:
      ValueError: `func` cannot be called, or there are more shapes than types.

    Example:
      >>> double = contrib.framework.py_func(lambda x: {"y": x * 2}, [[1, 2]], None, {"y": int32})
      >>> Session().run(double)
      {'y': array([2, 4], dtype=int32)}
    """
    types, names = nest.flatten(output_types), list(kwargs or {})
    given = [*args, *(kwargs or {}).values()]

    def call(*values: Any) -> list[Any]:
        positional, named = values[: len(args)], values[len(args) :]
        return nest.flatten(func(*positional, **dict(zip(names, named, strict=True))))

    results = calls.py_func(call, given, types, stateful, name)
    if output_shapes is not None:
        shapes = _shapes(output_types, output_shapes)
        for result, shape in zip(results, shapes, strict=True):
            result.set_shape(shape)
    return nest.pack_as(output_types, results)


def _shapes(types: Any, shapes: Any) -> list[Any]:
    """Return the shapes one by one; a list of sizes counts as one where a type stands."""
    if not nest.is_nested(types):
        return [shapes]
    if isinstance(types, dict):
        return [s for key in sorted(types) for s in _shapes(types[key], shapes[key])]
    return [s for t, shape in zip(types, shapes, strict=True) for s in _shapes(t, shape)]
