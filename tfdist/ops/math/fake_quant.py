"""Numbers rounded as quantising would round them, so that training meets what will come.

The range is an attribute, two tensors, or a pair for each channel; it is moved a little, so that 0
is one of the steps. Gradients go through inside of the range, and outside of it to its ends.

Source: TF 1.15 API documentation, tf.quantization.fake_quant_with_min_max_vars; B. Jacob et al.,
Quantization and training of neural networks for efficient integer-arithmetic-only inference, 2018.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.convolution.windows import pieces
from tfdist.ops.math.quantize import require_scalars, rounded_away

__all__ = [
    "fake_quant_with_min_max_args", "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars", "fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient",
]  # fmt: skip

_BITS = "num_bits: int = 8; narrow_range: bool = False"
_RANGE = f"min: float = -6.0; max: float = 6.0; {_BITS}"
_VARS = "inputs: float, min: float, max: float"
_BACKPROPS = (
    f"-> backprops_wrt_input: float, backprop_wrt_min: float, backprop_wrt_max: float [{_BITS}]"
)

ARGS = OpDef(f"FakeQuantWithMinMaxArgs(inputs: float) -> outputs: float [{_RANGE}]")
ARGS_GRADIENT = OpDef(
    f"FakeQuantWithMinMaxArgsGradient(gradients: float, inputs: float) -> backprops: float "
    f"[{_RANGE}]"
).not_differentiable()
VARS = OpDef(f"FakeQuantWithMinMaxVars({_VARS}) -> outputs: float [{_BITS}]")
VARS_GRADIENT = OpDef(
    f"FakeQuantWithMinMaxVarsGradient(gradients: float, {_VARS}) {_BACKPROPS}"
).not_differentiable()
PER_CHANNEL = OpDef(f"FakeQuantWithMinMaxVarsPerChannel({_VARS}) -> outputs: float [{_BITS}]")
PER_CHANNEL_GRADIENT = OpDef(
    f"FakeQuantWithMinMaxVarsPerChannelGradient(gradients: float, {_VARS}) {_BACKPROPS}"
).not_differentiable()


_PASSES = 4  # how much smaller than the cache the parts are that are worked on


class _Steps(NamedTuple):
    """The steps from `least` to `most`, `size` each: float32, one or one for each channel."""

    least: Any
    most: Any
    size: Any


def _steps(least: Any, most: Any, num_bits: int, narrow_range: bool) -> _Steps:
    """Return the steps of a range, moved so that 0 is one of them."""
    if not 2 <= num_bits <= 16:
        raise InvalidArgumentError(f"num_bits must be between 2 and 16, inclusive, not {num_bits}")
    low, high = np.float32(int(narrow_range)), np.float32((1 << num_bits) - 1)
    size = (most - least) / (high - low)
    with np.errstate(all="ignore"):  # a range of no width has steps of no size
        zero = np.clip(low - least / size, low, high)
    zero = np.where(size == 0, low, rounded_away(zero))
    return _Steps((low - zero) * size, (high - zero) * size, size)


def _rounded(inputs: Any, least: Any, most: Any, num_bits: int, narrow_range: bool) -> Any:
    steps = _steps(least, most, num_bits, narrow_range)
    with np.errstate(all="ignore"):
        each = np.where(steps.size == 0, 0, 1 / steps.size).astype(np.float32)
    flat = inputs.reshape(-1, inputs.shape[-1]) if inputs.ndim else inputs.reshape(1, 1)
    found = np.empty_like(flat)
    for rows in pieces(len(flat), _PASSES * flat[:1].nbytes):
        part = np.clip(flat[rows], steps.least, steps.most, out=found[rows])
        part -= steps.least
        part *= each
        part += np.float32(0.5)
        np.floor(part, out=part)
        part *= steps.size
        part += steps.least
    return found.reshape(inputs.shape)


def _inside(inputs: Any, steps: _Steps) -> Any:
    return (inputs >= steps.least) & (inputs <= steps.most)


@ARGS.shape
def args_shape(inputs: Shape) -> Shape:
    return inputs


def _as_range(min: float, max: float) -> tuple[Any, Any]:
    if not min < max:
        raise InvalidArgumentError(f"min has to be smaller than max, was: {min} >= {max}")
    return np.float32(min), np.float32(max)


@ARGS.kernel
def args_kernel(inputs: Any, *, min: float, max: float, num_bits: int, narrow_range: bool) -> Any:
    return _rounded(np.asarray(inputs), *_as_range(min, max), num_bits, narrow_range)


@ARGS.gradient
def args_gradient(op: Any, d_outputs: Any) -> Any:
    names = ("min", "max", "num_bits", "narrow_range")
    return ARGS_GRADIENT(d_outputs, op.inputs[0], **{name: op.get_attr(name) for name in names})


@ARGS_GRADIENT.shape
def args_gradient_shape(gradients: Shape, inputs: Shape) -> Shape:
    return shapes.merge(gradients, inputs, "the shapes of gradients and inputs")


@ARGS_GRADIENT.kernel
def args_gradient_kernel(
    gradients: Any, inputs: Any, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> Any:
    args_gradient_shape(gradients.shape, inputs.shape)
    return gradients * _inside(inputs, _steps(*_as_range(min, max), num_bits, narrow_range))


@VARS.shape
def vars_shape(inputs: Shape, min: Shape, max: Shape) -> Shape:
    require_scalars(min, max)
    return inputs


@VARS.kernel
def vars_kernel(inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool) -> Any:
    return _rounded(np.asarray(inputs), min, max, num_bits, narrow_range)


def _gradient_of(gradient_op: OpDef) -> Any:
    def gradient(op: Any, d_outputs: Any) -> Any:
        attrs = {name: op.get_attr(name) for name in ("num_bits", "narrow_range")}
        return list(gradient_op(d_outputs, *op.inputs, **attrs))

    return gradient


VARS.gradient(_gradient_of(VARS_GRADIENT))
PER_CHANNEL.gradient(_gradient_of(PER_CHANNEL_GRADIENT))


@VARS_GRADIENT.shape
def vars_gradient_shape(gradients: Shape, inputs: Shape, min: Shape, max: Shape) -> list[Shape]:
    require_scalars(min, max)
    return [args_gradient_shape(gradients, inputs), (), ()]


@VARS_GRADIENT.kernel
def vars_gradient_kernel(
    gradients: Any, inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> list[Any]:
    args_gradient_shape(gradients.shape, inputs.shape)
    if min == max == 0:
        return [gradients, np.float32(0), np.float32(0)]
    steps = _steps(min, max, num_bits, narrow_range)
    to_min, to_max = (gradients[hit].sum() for hit in (inputs < steps.least, inputs > steps.most))
    return [gradients * _inside(inputs, steps), to_min, to_max]


@PER_CHANNEL.shape
def per_channel_shape(inputs: Shape, min: Shape, max: Shape) -> Shape:
    shapes.require_rank(inputs, "inputs", 1, 99)
    depth = None if inputs is None else inputs[-1]
    for each in (min, max):
        shapes.require_rank(each, "the ends of the ranges", 1)
        if each is not None:
            depth = shapes.merge_dim(depth, each[0], "the channels and the ranges")
    return None if inputs is None else (*inputs[:-1], depth)


@PER_CHANNEL.kernel
def per_channel_kernel(
    inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> Any:
    per_channel_shape(inputs.shape, min.shape, max.shape)
    return _rounded(inputs, min, max, num_bits, narrow_range)


@PER_CHANNEL_GRADIENT.shape
def per_channel_gradient_shape(
    gradients: Shape, inputs: Shape, min: Shape, max: Shape
) -> list[Shape]:
    both = args_gradient_shape(gradients, inputs)
    both = per_channel_shape(both, min, max)
    depth = None if both is None else both[-1]
    ends = shapes.merge(min, max, "the shapes of min and max")
    return [both, *[shapes.merge(ends, (depth,))] * 2]


@PER_CHANNEL_GRADIENT.kernel
def per_channel_gradient_kernel(
    gradients: Any, inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> list[Any]:
    per_channel_gradient_shape(gradients.shape, inputs.shape, min.shape, max.shape)
    steps = _steps(min, max, num_bits, narrow_range)
    none = (min == 0) & (max == 0)  # a range of no width lets everything through
    rows = tuple(range(inputs.ndim - 1))
    below, above = (inputs < steps.least) & ~none, (inputs > steps.most) & ~none
    ends = [np.sum(gradients, axis=rows, where=hit) for hit in (below, above)]
    return [gradients * ~(below | above), *ends]


# public functions


def fake_quant_with_min_max_args(
    inputs: Any, min: float = -6, max: float = 6, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `inputs` rounded to the steps of a range, and cut off at its ends.

    Args:
      inputs: float32.
      min: lower end of the range, a number.
      max: upper end.
      num_bits: of the integers, from 2 to 16: the range has 2**num_bits - 1 steps.
      narrow_range: whether it has one step less.
      name: of the node.

    Example:
      >>> Session().run(fake_quant_with_min_max_args([-3.0, 0.4, 9.0], 0.0, 3.0, num_bits=2))
      array([0., 0., 3.], dtype=float32)
    """
    attrs = {"min": min, "max": max, "num_bits": num_bits, "narrow_range": narrow_range}
    tensor: Tensor = ARGS(inputs, **attrs, name=name)
    return tensor


def fake_quant_with_min_max_args_gradient(
    gradients: Any, inputs: Any, min: float = -6, max: float = 6, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the gradient of `fake_quant_with_min_max_args`: 0 outside of the range.

    Args:
      gradients: of its result.
      inputs: see `fake_quant_with_min_max_args`.
      min: see `fake_quant_with_min_max_args`.
      max: see `fake_quant_with_min_max_args`.
      num_bits: see `fake_quant_with_min_max_args`.
      narrow_range: see `fake_quant_with_min_max_args`.
      name: see `fake_quant_with_min_max_args`.

    Example:
      >>> Session().run(fake_quant_with_min_max_args_gradient([1.0, 2.0], [-7.0, 3.0]))
      array([0., 2.], dtype=float32)
    """
    attrs = {"min": min, "max": max, "num_bits": num_bits, "narrow_range": narrow_range}
    tensor: Tensor = ARGS_GRADIENT(gradients, inputs, **attrs, name=name)
    return tensor


def _of_vars(public: str, op_def: OpDef, ends: str, arguments: str, result: str) -> Any:
    """Return the public function of an op whose range is made of tensors.

    Args:
      public: its name.
      op_def: the op.
      ends: form of the ends of the range.
      arguments: of an example.
      result: of that example, as Python prints it.
    """

    def function(
        inputs: Any, min: Any, max: Any, num_bits: int = 8, narrow_range: bool = False,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        tensor: Tensor = op_def(
            inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
        )
        return tensor

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return `inputs` rounded to the steps of a range, and cut off at its ends.

    Args:
      inputs: float32 [..., channels].
      min: lower end of the range, float32 {ends}.
      max: upper end.
      num_bits: of the integers, from 2 to 16: the range has 2**num_bits - 1 steps.
      narrow_range: whether it has one step less.
      name: of the node.

    Example:
      >>> Session().run({public}({arguments}))
      {result}
    """
    return function


def _gradient_of_vars(public: str, op_def: OpDef, of: str, arguments: str, result: str) -> Any:
    """Return the public function of the gradient of `of`; see `_of_vars`."""

    def function(
        gradients: Any, inputs: Any, min: Any, max: Any, num_bits: int = 8,
        narrow_range: bool = False, name: str | None = None,
    ) -> Any:  # fmt: skip
        return op_def(
            gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
        )

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return the gradients of `{of}`.

    Args:
      gradients: of its result.
      inputs: see `{of}`.
      min: see `{of}`.
      max: see `{of}`.
      num_bits: see `{of}`.
      narrow_range: see `{of}`.
      name: see `{of}`.

    Returns:
      The gradients of inputs, min and max: what lies below the range moves its lower end.

    Example:
      >>> Session().run({public}({arguments}))
      {result}
    """
    return function


fake_quant_with_min_max_vars = _of_vars(
    "fake_quant_with_min_max_vars", VARS, "[]", "[-1.0, 0.4, 9.0], 0.0, 3.0, num_bits=2",
    "array([0., 0., 3.], dtype=float32)",
)  # fmt: skip
fake_quant_with_min_max_vars_per_channel = _of_vars(
    "fake_quant_with_min_max_vars_per_channel", PER_CHANNEL, "[channels]",
    "[[1.4, 1.4]], [0.0, 0.0], [3.0, 6.0], num_bits=2", "array([[1., 2.]], dtype=float32)",
)  # fmt: skip
fake_quant_with_min_max_vars_gradient = _gradient_of_vars(
    "fake_quant_with_min_max_vars_gradient", VARS_GRADIENT, "fake_quant_with_min_max_vars",
    "[5.0, 7.0], [-1.0, 0.4], 0.0, 3.0, num_bits=2",
    "FakeQuantWithMinMaxVarsGradient(backprops_wrt_input=array([0., 7.], dtype=float32), "
    "backprop_wrt_min=np.float32(5.0), backprop_wrt_max=np.float32(0.0))",
)  # fmt: skip
fake_quant_with_min_max_vars_per_channel_gradient = _gradient_of_vars(
    "fake_quant_with_min_max_vars_per_channel_gradient", PER_CHANNEL_GRADIENT,
    "fake_quant_with_min_max_vars_per_channel",
    "[[5.0, 7.0]], [[-1.0, 0.4]], [0.0, 0.0], [3.0, 6.0], num_bits=2",
    "FakeQuantWithMinMaxVarsPerChannelGradient(backprops_wrt_input=array([[0., 7.]], "
    "dtype=float32), backprop_wrt_min=array([5., 0.], dtype=float32), "
    "backprop_wrt_max=array([0., 0.], dtype=float32))",
)  # fmt: skip
