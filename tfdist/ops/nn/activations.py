"""Activation functions: what a layer does to each of its sums.

Each op is one call: name, types, kernel, and the op that makes its gradient from the gradient of
the result and, as the case may be, the input or the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.fill import zeros
from tfdist.ops.array.shape import shape
from tfdist.ops.framework.cache_blocking import PART, in_parts
from tfdist.ops.math import eltwise_onednn, exponentials
from tfdist.ops.math.comparison import chosen
from tfdist.ops.nn import rectifier_onednn

__all__ = ["crelu", "elu", "leaky_relu", "relu", "relu6", "selu", "softplus", "softsign", "swish"]

SELU_SCALE = 1.0507009873554805  # fixed point of mean 0 and variance 1; Klambauer et al. 2017
SELU_ALPHA = 1.6732632423543772


def activation(name: str, types: str, kernel: Callable[[Any], Any], from_result: bool) -> OpDef:
    """Define an activation whose gradient is the op `NAMEGrad`.

    Args:
      name: of the op.
      types: that input and result may have.
      kernel: takes an array.
      from_result: whether the gradient op takes the result, not the input.
    """
    op_def = OpDef(f"{name}(features: T) -> activations: T [T: type {{{types}}}]")
    op_def.shape(lambda features: features)
    op_def.kernel(kernel)

    @op_def.gradient
    def gradient(op: Any, d_activations: Any) -> Any:
        other = op.outputs[0] if from_result else op.inputs[0]
        return getattr(raw, f"{name}Grad")(d_activations, other)

    return op_def


def activation_gradient(
    name: str, other: str, types: str, kernel: Callable[..., Any], second: Callable[..., Any]
) -> OpDef:
    """Define the gradient op of an activation.

    Args:
      name: of the op, `...Grad`.
      other: name of its second input, "features" or "outputs".
      types: that its inputs may have.
      kernel: takes the gradient of the activations and the features (or outputs).
      second: takes the op's inputs and its result's gradient, returns the gradients of both
        inputs.
    """
    op_def = OpDef(f"{name}(gradients: T, {other}: T) -> backprops: T [T: type {{{types}}}]")
    op_def.shape(_both_shapes)
    op_def.kernel(kernel)
    op_def.gradient(lambda op, g: second(*op.inputs, g))
    return op_def


def _both_shapes(gradients: Shape, other: Shape) -> Shape:
    return gradients if other is None else other


def _no_slope(features: Tensor) -> Any:
    """Return the gradient of what is constant but for steps: zeros, not None, as in TensorFlow."""
    return zeros(shape(features), features.dtype)


def _relu_kernel(features: Any, out: Any = None) -> Any:
    if not features.ndim:
        return np.maximum(features, 0)
    made = rectifier_onednn.rectified(features, out)
    if made is not None:
        return made
    if features.size > PART and type(features) is np.ndarray and features.flags.c_contiguous:
        return _relu_in_parts(features, out)
    # NumPy compares two arrays three times faster than an array and a number
    zeros = np.zeros(features.shape, features.dtype, like=features)
    return np.maximum(features, zeros, out=zeros if out is None else out)


def _relu_in_parts(features: Any, out: Any) -> Any:
    """Return the same of a large array, for which as many zeros would be memory that is new."""
    made = np.empty_like(features) if out is None else out
    zeros = np.zeros(PART, features.dtype)

    def rectify(parts: list[Any]) -> None:
        part, new = parts
        np.maximum(part, zeros[: len(part)], out=new)

    in_parts(rectify, features, made)
    return made


def _where_positive(gradients: Any, features: Any, out: Any = None) -> Any:
    out = out if gradients.shape == features.shape else None
    made = rectifier_onednn.to_features(gradients, features, out)
    return np.multiply(gradients, features > 0, out=out) if made is None else made


RELU = activation("Relu", "real", _relu_kernel, from_result=True)
RELU_GRAD = activation_gradient(
    "ReluGrad",
    "features",
    "real",
    _where_positive,
    lambda gradients, features, g: (raw.ReluGrad(g, features), _no_slope(features)),
)
RELU6 = activation(
    "Relu6", "real", lambda x: np.clip(x, 0, 6).astype(x.dtype, copy=False), from_result=True
)
RELU6_GRAD = activation_gradient(
    "Relu6Grad",
    "features",
    "real",
    lambda gradients, x: np.multiply(gradients, (x > 0) & (x < 6)),
    lambda gradients, features, g: (raw.Relu6Grad(g, features), _no_slope(features)),
)


def _below_zero(features: Any) -> Any:
    """Return exp(x) - 1; not `expm1`, which is exact where TensorFlow's kernels are not."""
    if not features.ndim:
        return np.exp(np.minimum(features, 0)) - features.dtype.type(1)
    below = np.zeros(features.shape, features.dtype, like=features)
    np.minimum(features, below, out=below)
    np.exp(below, out=below)
    below -= features.dtype.type(1)
    return below


def _elu_kernel(features: Any) -> Any:
    found = eltwise_onednn.elu(features)
    if found is not None:
        return found
    below = _below_zero(features)  # which is never less than a negative x, and 0 for others
    return np.maximum(below, features, out=below) if below.ndim else np.maximum(below, features)


ELU = activation("Elu", "floating", _elu_kernel, from_result=True)
ELU_GRAD = activation_gradient(
    "EluGrad",
    "outputs",
    "floating",
    lambda gradients, y: chosen(y < 0, gradients * (y + 1), gradients),
    lambda d, y, g: (
        raw.EluGrad(g, y),
        raw.SelectV2(raw.Less(y, 0.0), raw.Mul(d, g), 0.0),
    ),
)


def _selu_kernel(features: Any) -> Any:
    scale, alpha = features.dtype.type(SELU_SCALE), features.dtype.type(SELU_SCALE * SELU_ALPHA)
    return alpha * _below_zero(features) + scale * _relu_kernel(features)


def _selu_grad_kernel(gradients: Any, outputs: Any) -> Any:
    scale, alpha = outputs.dtype.type(SELU_SCALE), outputs.dtype.type(SELU_SCALE * SELU_ALPHA)
    return gradients * chosen(outputs < 0, outputs + alpha, scale)


SELU = activation("Selu", "floating", _selu_kernel, from_result=True)
SELU_GRAD = activation_gradient(
    "SeluGrad",
    "outputs",
    "floating",
    _selu_grad_kernel,
    lambda d, y, g: (
        raw.SeluGrad(g, y),
        raw.SelectV2(raw.Less(y, 0.0), raw.Mul(d, g), 0.0),
    ),
)


def _softplus_second(gradients: Any, features: Any, g: Any) -> Any:
    slope = raw.Sigmoid(features)
    curve = raw.Mul(slope, 1.0 - slope)
    return raw.SoftplusGrad(g, features), raw.Mul(raw.Mul(g, gradients), curve)


SOFTPLUS = activation("Softplus", "floating", exponentials.softplus, from_result=False)
SOFTPLUS_GRAD = activation_gradient(
    "SoftplusGrad",
    "features",
    "floating",
    lambda gradients, x: gradients * exponentials.sigmoid(x),
    _softplus_second,
)


def _softsign_second(gradients: Any, features: Any, g: Any) -> Any:
    cube = raw.Pow(raw.AddV2(raw.Abs(features), 1.0), 3.0)
    curve = raw.RealDiv(raw.Mul(raw.Sign(features), -2.0), cube)
    return raw.SoftsignGrad(g, features), raw.Mul(raw.Mul(g, gradients), curve)


SOFTSIGN = activation("Softsign", "floating", lambda x: x / (1 + np.absolute(x)), from_result=False)
SOFTSIGN_GRAD = activation_gradient(
    "SoftsignGrad",
    "features",
    "floating",
    lambda gradients, x: gradients / np.square(1 + np.absolute(x)),
    _softsign_second,
)

_ALPHA = "[alpha: float = 0.20000000298023224; T: type = float {floating}]"
LEAKY_RELU = OpDef(f"LeakyRelu(features: T) -> activations: T {_ALPHA}")
LEAKY_RELU.shape(lambda features: features)


@LEAKY_RELU.kernel
def leaky_relu_kernel(features: Any, *, alpha: float) -> Any:
    below = features.dtype.type(alpha) * features
    if 0 < alpha <= 1:
        return np.maximum(features, below, out=below if below.ndim else None)
    return chosen(features > 0, features, below)


@LEAKY_RELU.gradient
def leaky_relu_gradient(op: Any, d_activations: Any) -> Any:
    return raw.LeakyReluGrad(d_activations, op.inputs[0], alpha=op.get_attr("alpha"))


LEAKY_RELU_GRAD = OpDef(f"LeakyReluGrad(gradients: T, features: T) -> backprops: T {_ALPHA}")
LEAKY_RELU_GRAD.shape(_both_shapes)


@LEAKY_RELU_GRAD.kernel
def leaky_relu_grad_kernel(gradients: Any, features: Any, *, alpha: float) -> Any:
    return chosen(features > 0, gradients, features.dtype.type(alpha) * gradients)


@LEAKY_RELU_GRAD.gradient
def leaky_relu_grad_gradient(op: Any, d_backprops: Any) -> Any:
    features = op.inputs[1]
    again = raw.LeakyReluGrad(d_backprops, features, alpha=op.get_attr("alpha"))
    return again, _no_slope(features)


def _public(
    public: str, op_def: OpDef, formula: str, argument: str, result: str
) -> Callable[..., Tensor]:
    """Return the public function of an activation.

    Args:
      public: its name.
      op_def: the op.
      formula: what it gives for x.
      argument: of an example.
      result: of that example, as Python prints it.
    """

    def function(features: Any, name: str | None = None) -> Tensor:
        tensor: Tensor = op_def(features, name=name)
        return tensor

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return {formula} for each element x of `features`.

    Args:
      features: a tensor, or anything that converts to one.
      name: of the node.

    Example:
      >>> Session().run(nn.{public}({argument}))
      {result}
    """
    return function


relu = _public("relu", RELU, "max(x, 0)", "[-1.0, 2.0]", "array([0., 2.], dtype=float32)")
relu6 = _public(
    "relu6", RELU6, "min(max(x, 0), 6)", "[-1.0, 8.0]", "array([0., 6.], dtype=float32)"
)
elu = _public(
    "elu", ELU, "exp(x) - 1 if x < 0, x otherwise,", "[0.0, 2.0]", "array([0., 2.], dtype=float32)"
)
selu = _public(
    "selu",
    SELU,
    "1.0507 * x if x > 0, 1.7581 * (exp(x) - 1) otherwise,",
    "[0.0, 1.0]",
    "array([0.      , 1.050701], dtype=float32)",
)
softplus = _public("softplus", SOFTPLUS, "log(1 + exp(x))", "0.0", "np.float32(0.6931472)")
softsign = _public("softsign", SOFTSIGN, "x / (1 + |x|)", "3.0", "np.float32(0.75)")


def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Tensor:
    """Return x if x > 0, alpha * x otherwise, for each element x of `features`.

    Args:
      features: a tensor, or anything that converts to one; integers become float32.
      alpha: slope for negative elements.
      name: of the node.

    Example:
      >>> Session().run(nn.leaky_relu([-10.0, 3.0]))
      array([-2.,  3.], dtype=float32)
    """
    with name_scope(name, "LeakyRelu", [features]) as scope:
        tensor = convert_to_tensor(features, name="features")
        if tensor.dtype.is_integer:
            tensor = raw.Cast(tensor, DstT="float32")
        activations: Tensor = LEAKY_RELU(tensor, alpha=alpha, name=scope)
        return activations


def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """Return the positive parts of x and of -x, one after the other along `axis`.

    Args:
      features: a tensor, or anything that converts to one.
      name: of the nodes' scope.
      axis: along which the two are joined.

    Example:
      >>> Session().run(nn.crelu([-1.0, 2.0]))
      array([0., 2., 1., 0.], dtype=float32)
    """
    with name_scope(name, "CRelu", [features]) as scope:
        tensor = convert_to_tensor(features, name="features")
        both = raw.ConcatV2([tensor, raw.Neg(tensor)], axis, name=scope)
        activations: Tensor = RELU(both)
        return activations


def swish(features: Any) -> Tensor:
    """Return x * sigmoid(x) for each element x of `features`.

    Args:
      features: float tensor, or anything that converts to one.

    Example:
      >>> Session().run(nn.swish(0.0))
      np.float32(0.0)
    """
    tensor = convert_to_tensor(features, name="features")
    activations: Tensor = raw.Mul(tensor, raw.Sigmoid(tensor), name="mul")
    return activations
