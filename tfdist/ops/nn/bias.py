"""Biases, and the small functions of `tf.nn` that are made of them or of sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.constants import constant
from tfdist.ops.array.fill import ones_like, zeros_like
from tfdist.ops.array.shape import size
from tfdist.ops.autodiff.gradient_utils import Needed
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.math.matmul import matmul
from tfdist.ops.math.reduction_kernels import summed, sums_of_columns, widened
from tfdist.ops.math.reductions import reduce_sum

__all__ = ["bias_add", "l2_loss", "log_poisson_loss", "relu_layer", "xw_plus_b", "zero_fraction"]

BIAS_ADD = OpDef(
    "BiasAdd(value: T, bias: T) -> output: T "
    "[T: type {numeric}; data_format: string = 'NHWC' {NHWC,NCHW}]"
)


@BIAS_ADD.checked_shape
def bias_add_shape(value: Shape, bias: Shape, *, data_format: bytes) -> Shape:
    shapes.require_rank(value, "value", 3 if data_format == b"NCHW" else 2, 99)
    shapes.require_rank(bias, "bias", 1)
    if value is None or bias is None:
        return value
    axis = _channel_axis(data_format, len(value))
    channels = shapes.merge_dim(value[axis], bias[0], "the channels of value and bias")
    return (*value[:axis], channels, *value[axis + 1 :])


def _channel_axis(data_format: bytes, rank: int) -> int:
    return 1 if data_format == b"NCHW" else rank - 1


@BIAS_ADD.kernel
def bias_add_kernel(value: Any, bias: Any, *, data_format: bytes) -> Any:
    if value.ndim < 2:
        raise InvalidArgumentError(f"Input tensor must be at least 2D: {list(value.shape)}")
    if data_format == b"NCHW":
        bias = bias.reshape(-1, *(1,) * (value.ndim - 2))
    elif value.shape[-1:] != bias.shape:
        raise InvalidArgumentError(
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{shapes.brackets(bias.shape)} vs. {shapes.brackets(value.shape)}"
        )
    return np.add(value, bias)


@BIAS_ADD.gradient
def bias_add_gradient(op: Any, d_output: Any, *, needed: Needed = (True, True)) -> Any:
    data_format = op.get_attr("data_format")
    return d_output, raw.BiasAddGrad(d_output, data_format=data_format) if needed[1] else None


BIAS_ADD_V1 = OpDef("BiasAddV1(value: T, bias: T) -> output: T [T: type {numeric}]")
BIAS_ADD_V1.checked_shape(lambda value, bias: bias_add_shape(value, bias, data_format=b"NHWC"))
BIAS_ADD_V1.kernel(np.add)
BIAS_ADD_V1.gradient(lambda op, d_output: (d_output, raw.BiasAddGrad(d_output)))

BIAS_ADD_GRAD = OpDef(
    "BiasAddGrad(out_backprop: T) -> output: T "
    "[T: type {numeric}; data_format: string = 'NHWC' {NHWC,NCHW}]"
)


@BIAS_ADD_GRAD.checked_shape
def bias_add_grad_shape(out_backprop: Shape, *, data_format: bytes) -> Shape:
    shapes.require_rank(out_backprop, "out_backprop", 2, 99)
    if out_backprop is None:
        return (None,)
    return (out_backprop[_channel_axis(data_format, len(out_backprop))],)


@BIAS_ADD_GRAD.kernel
def bias_add_grad_kernel(out_backprop: Any, *, data_format: bytes) -> Any:
    total = sums_of_columns(out_backprop) if out_backprop.ndim == 2 else None
    if total is not None:  # as of most: no time is lost with axes
        return total
    channel = _channel_axis(data_format, out_backprop.ndim)
    axes = tuple(axis for axis in range(out_backprop.ndim) if axis != channel)
    return summed(out_backprop, axes, False)


@BIAS_ADD_GRAD.gradient
def bias_add_grad_gradient(op: Any, d_output: Any) -> Any:
    zeros = raw.ZerosLike(op.inputs[0])
    return raw.BiasAdd(zeros, d_output, data_format=op.get_attr("data_format"))


def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """Return `value` with `bias` added to each channel.

    Args:
      value: [batch, ..., channels], or [batch, channels, ...] for "NCHW".
      bias: [channels], of the same type.
      data_format: where the channels are: at the end, as in "NHWC" (the default), "NWC" and
        "N...C", or second, as in "NCHW" and "NC...".
      name: of the node.

    Raises:
      ValueError: the numbers of channels differ, or the format is neither.

    Example:
      >>> Session().run(nn.bias_add([[1.0, 2.0]], [10.0, 20.0]))
      array([[11., 22.]], dtype=float32)
    """
    tensor: Tensor = BIAS_ADD(value, bias, data_format=_layout(data_format), name=name)
    return tensor


def _layout(data_format: str | None) -> str:
    """Return the one of BiasAdd's formats that has the channels at the same place."""
    if data_format is None or (data_format.startswith("N") and data_format.endswith("C")):
        return "NHWC" if data_format != "NC" else "NCHW"
    if data_format.startswith("NC"):
        return "NCHW"
    raise ValueError(f"data_format must be of the form `N...C` or `NC...`, got {data_format!r}")


L2_LOSS = OpDef("L2Loss(t: T) -> output: T [T: type {floating}]")
L2_LOSS.shape(lambda t: ())


@L2_LOSS.kernel
def l2_loss_kernel(t: Any) -> Any:
    flat = np.ravel(widened(t))
    return (flat.dot(flat) / 2).astype(t.dtype)


@L2_LOSS.gradient
def l2_loss_gradient(op: Any, d_output: Any) -> Any:
    return raw.Mul(op.inputs[0], d_output, name="mul")


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Return half of the sum of squares.

    Args:
      t: float tensor, or anything that converts to one.
      name: of the node.

    Example:
      >>> Session().run(nn.l2_loss([3.0, 4.0]))
      np.float32(12.5)
    """
    tensor: Tensor = L2_LOSS(t, name=name)
    return tensor


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """Return matmul(x, weights) + biases.

    Args:
      x: [batch, inputs].
      weights: [inputs, outputs].
      biases: [outputs].
      name: of the node.

    Example:
      >>> Session().run(nn.xw_plus_b([[1.0, 2.0]], [[3.0], [4.0]], [0.5]))
      array([[11.5]], dtype=float32)
    """
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        tensor: Tensor = BIAS_ADD(matmul(x, weights), biases, name=scope)
        return tensor


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """Return relu(matmul(x, weights) + biases).

    Args:
      x: [batch, inputs].
      weights: [inputs, outputs].
      biases: [outputs].
      name: of the node.

    Example:
      >>> Session().run(nn.relu_layer([[1.0, 2.0]], [[3.0, -3.0], [4.0, -4.0]], [0.5, 0.5]))
      array([[11.5,  0. ]], dtype=float32)
    """
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        tensor: Tensor = raw.Relu(BIAS_ADD(matmul(x, weights), biases), name=scope)
        return tensor


def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """Return the loss of counts `targets` under Poisson rates exp(`log_input`).

    Args:
      targets: float tensor of counts.
      log_input: logarithms of the rates, of the same type and shape.
      compute_full_loss: whether log(targets!) is added, by Stirling's formula.
      name: of the nodes' scope.

    Example:
      >>> Session().run(nn.log_poisson_loss([2.0], [0.0]))
      array([1.], dtype=float32)
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        rate = convert_to_tensor(log_input, name="log_input")
        count: Any = convert_to_tensor(targets, name="targets")
        if not rate.shape.is_compatible_with(count.shape):
            raise ValueError(
                f"log_input and targets must have the same shape ({rate.shape} vs {count.shape})"
            )
        loss: Any = raw.Sub(raw.Exp(rate), raw.Mul(rate, count, name="mul"), name="sub")
        return loss + _stirling(count) if compute_full_loss else loss


def _stirling(count: Any) -> Any:
    """Return log(count!) by Stirling's formula, and 0 up to 1, where the formula is wrong."""
    half, turn = (constant(each, count.dtype.base_dtype) for each in (0.5, 2 * np.pi))
    logarithm = count * raw.Log(count) - count + half * raw.Log(turn * count)
    zeros, ones = zeros_like(count), ones_like(count)
    few = raw.LogicalAnd(raw.GreaterEqual(count, zeros), raw.LessEqual(count, ones))
    return raw.Select(few, zeros, logarithm)


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """Return the part of the elements that are 0, as float32.

    Args:
      value: a tensor of numbers, or anything that converts to one.
      name: of the nodes' scope.

    Example:
      >>> Session().run(nn.zero_fraction([0, 1, 0, 4]))
      np.float32(0.5)
    """
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        count = size(value, out_type=dtypes.int64)
        is_small = raw.LessEqual(count, dtypes.int32.max)
        others = cond(
            is_small,
            lambda: cast(_others_than_zero(value, dtypes.int32), dtypes.int64),
            lambda: _others_than_zero(value, dtypes.int64),
        )
        with name_scope("counts_to_fraction"):
            zeros = raw.Cast(raw.Sub(count, others, name="sub"), DstT=dtypes.float32)
            part = raw.RealDiv(zeros, raw.Cast(count, DstT=dtypes.float32), name="truediv")
        return raw.Identity(part, name="fraction")  # type: ignore[no-any-return]


def _others_than_zero(value: Tensor, dtype: Any) -> Tensor:
    with name_scope("count_nonzero"):
        zero = constant(0, value.dtype.base_dtype, name="zeros")
        others = raw.Cast(raw.NotEqual(value, zero), DstT=dtype)
        return reduce_sum(others, name="nonzero_count")
