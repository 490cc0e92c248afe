"""Constants and placeholders: where values enter a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import as_dtype
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor

CONST = OpDef("Const() -> output: dtype [value: tensor; dtype: type]").not_differentiable()


@CONST.shape
def const_shape(*, value: Any) -> Shape:
    return value.shape


@CONST.kernel
def const_kernel(*, value: Any) -> Any:
    return value


def constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """Return a tensor that always has `value`.

    Args:
      value: a number, string, nested list or array.
      dtype: wanted type; by default float32 for Python floats, int32 for Python ints.
      shape: wanted shape; a single value is repeated, fewer values repeat the last.
      name: of the node.
      verify_shape: whether `value` must have `shape` itself, nothing repeated.

    Raises:
      TypeError: the values are not of that type.
      ValueError: they do not fit `shape`.

    Example:
      >>> Session().run(constant([1, 2], shape=[2, 2]))
      array([[1, 2],
             [2, 2]], dtype=int32)
    """
    if verify_shape and shape is not None and np.shape(value) != tuple(shape):
        raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {np.shape(value)}.")
    return convert.constant(value, dtype, shape, name)


PLACEHOLDER = OpDef(
    "Placeholder() -> output: dtype [dtype: type; shape: shape = None]"
).not_differentiable()


# of TensorFlow 0.12
PLACEHOLDER_V2 = OpDef(
    "PlaceholderV2() -> output: dtype [dtype: type; shape: shape]"
).not_differentiable()


@PLACEHOLDER_V2.shape
@PLACEHOLDER.shape
def placeholder_shape(*, shape: TensorShape) -> Shape:
    return shape.as_tuple()


@PLACEHOLDER_V2.kernel
@PLACEHOLDER.kernel
def placeholder_kernel(ctx: Any, *, dtype: Any, shape: TensorShape) -> Any:
    name = {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)
    known = "" if shape.ndims is None else f" and shape {shapes.brackets(shape.as_tuple())}"
    raise InvalidArgumentError(
        f"You must feed a value for placeholder tensor {ctx.node_name!r} with dtype {name}{known}: "
        "session.run(..., feed_dict={placeholder: value})"
    )


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """Return a tensor whose value must be fed to `session.run`.

    Args:
      dtype: of the values.
      shape: that they must have; None for any, None as a dimension for any size there.
      name: of the node, by which it can also be fed: "x:0".

    Example:
      >>> x = placeholder("float32", [None])
      >>> Session().run(x * 2.0, {x: [1.0, 2.0]})
      array([2., 4.], dtype=float32)
    """
    tensor: Tensor = raw.Placeholder(dtype=as_dtype(dtype), shape=TensorShape(shape), name=name)
    return tensor


PLACEHOLDER_WITH_DEFAULT = OpDef(
    "PlaceholderWithDefault(input: dtype) -> output: dtype [dtype: type; shape: shape]"
)


@PLACEHOLDER_WITH_DEFAULT.shape
def placeholder_with_default_shape(input: Shape, *, shape: TensorShape) -> Shape:
    shapes.merge(input, shape.as_tuple(), "the shapes of default and placeholder")
    return shape.as_tuple()


@PLACEHOLDER_WITH_DEFAULT.kernel
def placeholder_with_default_kernel(input: Any) -> Any:
    return input


@PLACEHOLDER_WITH_DEFAULT.gradient
def placeholder_with_default_gradient(op: Any, d_output: Any) -> Any:
    return d_output


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return a tensor that has the value of `input` unless another one is fed.

    Args:
      input: a tensor or anything that converts to one.
      shape: that fed values must have; None for any.
      name: of the node.

    Example:
      >>> x = placeholder_with_default(3.0, [])
      >>> Session().run(x), Session().run(x, {x: 4.0})
      (np.float32(3.0), np.float32(4.0))
    """
    tensor: Tensor = raw.PlaceholderWithDefault(input, shape=TensorShape(shape), name=name)
    return tensor
