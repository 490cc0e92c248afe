"""Local response normalization: each channel divided by what its neighbours have.

y = x * n ** -beta with n = bias + alpha * (sum of the squares of the channels around). That sum is
a product with a matrix that has ones around its diagonal.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.math.reduction_kernels import widened

__all__ = ["local_response_normalization", "lrn"]

_ATTRS = (
    "[depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; "
    "T: type = float {floating}]"
)
LRN = OpDef(f"LRN(input: T) -> output: T {_ATTRS}", takes_threads="products")
LRN_GRAD = OpDef(
    f"LRNGrad(input_grads: T, input_image: T, output_image: T) -> output: T {_ATTRS}",
    takes_threads="products",
).not_differentiable()


@LRN.checked_shape
def lrn_shape(input: Shape) -> Shape:
    shapes.require_rank(input, "input", 4)
    return input or (None,) * 4


@LRN.kernel
def lrn_kernel(input: Any, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    x = widened(input)
    norm = _norms(x, depth_radius, bias, alpha)
    return (x * _power(norm, -beta)).astype(input.dtype, copy=False)


def _norms(x: Any, radius: int, bias: float, alpha: float) -> Any:
    return _around(np.square(x), radius) * x.dtype.type(alpha) + x.dtype.type(bias)


def _around(x: Any, radius: int) -> Any:
    """Return the sums of the channels at most `radius` away."""
    channels = x.shape[-1]
    return np.dot(x.reshape(-1, channels), _band(channels, radius, x.dtype)).reshape(x.shape)


@lru_cache(maxsize=64)
def _band(channels: int, radius: int, dtype: Any) -> Any:
    places = np.arange(channels)
    return (np.abs(places[:, np.newaxis] - places) <= radius).astype(dtype)


def _power(norm: Any, exponent: float) -> Any:
    """Return norm ** exponent; roots are quicker than powers, and 1/2 and 3/4 are usual."""
    if exponent == -0.5:
        return 1 / np.sqrt(norm)
    if exponent == -0.75:
        root = np.sqrt(norm)
        return 1 / (root * np.sqrt(root))
    return np.power(norm, norm.dtype.type(exponent))


@LRN.gradient
def lrn_gradient(op: Any, d_output: Any) -> Any:
    attrs = {key: op.get_attr(key) for key in ("depth_radius", "bias", "alpha", "beta")}
    return raw.LRNGrad(d_output, op.inputs[0], op.outputs[0], **attrs)


@LRN_GRAD.checked_shape
def lrn_grad_shape(input_grads: Shape, input_image: Shape, output_image: Shape) -> Shape:
    one = shapes.merge(input_grads, input_image, "input_grads and input_image")
    merged = shapes.merge(one, output_image, "input_grads and output_image")
    shapes.require_rank(merged, "input_grads", 4)
    return merged or (None,) * 4


@LRN_GRAD.kernel
def lrn_grad_kernel(
    input_grads: Any, input_image: Any, output_image: Any, *, depth_radius: int, bias: float,
    alpha: float, beta: float,
) -> Any:  # fmt: skip
    d, x, y = map(widened, (input_grads, input_image, output_image))
    norm = _norms(x, depth_radius, bias, alpha)
    others = _around(d * y / norm, depth_radius) * x
    own = d * _power(norm, -beta)
    return (own - x.dtype.type(2 * alpha * beta) * others).astype(input_grads.dtype, copy=False)


def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Return each element divided by (bias + alpha * squares of the channels around) ** beta.

    Args:
      input: float [batch, height, width, channels].
      depth_radius: how many channels on each side count.
      bias: what keeps the divisor from being 0.
      alpha: factor of the squares.
      beta: exponent.
      name: of the node.

    Source: Krizhevsky, Sutskever and Hinton 2012, section 3.3.

    Example: 2 / sqrt(1 + 2 * 2), and so on.
      >>> Session().run(nn.local_response_normalization([[[[2.0, 0.0]]]], depth_radius=0))
      array([[[[0.8944272, 0.       ]]]], dtype=float32)
    """
    tensor: Tensor = LRN(
        input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name
    )
    return tensor


lrn = local_response_normalization
