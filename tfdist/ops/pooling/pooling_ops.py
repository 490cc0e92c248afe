"""Pooling of images and volumes: the ops, their gradients, and the gradients of these.

Each kind of pooling is defined once for both, by functions that take the names of the ops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError, UnimplementedError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.autodiff.gradient_utils import Needed, shape_of
from tfdist.ops.convolution.onednn_windows import first_of
from tfdist.ops.convolution.windows import (
    Windows,
    channels_back,
    channels_last,
    channels_of,
    inferred_size,
    output_size,
    require_spatial,
    require_steps,
    spatial,
    windows_over,
    with_axes,
)
from tfdist.ops.math.reduction_kernels import widened
from tfdist.ops.pooling import kernels
from tfdist.ops.pooling import onednn as pooling_onednn

IMAGES = "data_format: string = 'NHWC' {NHWC,NCHW}"
VOLUMES = "data_format: string = 'NDHWC' {NDHWC,NCDHW}"


def sizes_of(rank: int) -> str:
    """Return the attributes that say where the windows of a pooling stand."""
    return (
        f"ksize: list(int) >={rank}; strides: list(int) >={rank}; padding: string {{SAME,VALID}}; "
        + (IMAGES if rank == 4 else VOLUMES)
    )


class Pooling:
    """What the attributes of a pooling say; windows over channels are those of one more axis."""

    def __init__(
        self, ksize: Sequence[int], strides: Sequence[int], padding: bytes, data_format: bytes
    ) -> None:
        rank = len(data_format)
        for values, what in ((ksize, "ksize"), (strides, "stride")):
            if len(values) != rank:
                raise InvalidArgumentError(
                    f"Pooling requires the {what} attribute to contain {rank} values, but got: "
                    f"{len(values)}: {list(values)}"
                )
        require_steps(strides, rank, "stride")
        if min(ksize) < 1:
            raise InvalidArgumentError(f"Sliding window ksize must be > 0, got {list(ksize)}")
        self.is_over_batch = (ksize[0], strides[0]) != (1, 1)
        self.padding, self.data_format = padding, data_format
        self.kernel, self.strides = spatial(ksize, data_format), spatial(strides, data_format)
        deep = channels_of(ksize, data_format), channels_of(strides, data_format)
        self.is_deep = deep != (1, 1)
        if self.is_deep:
            self.kernel, self.strides = (*self.kernel, deep[0]), (*self.strides, deep[1])

    def checked(self) -> Pooling:
        """Return itself; UnimplementedError if no kernel takes such windows."""
        if self.is_over_batch:
            raise UnimplementedError("Pooling is not yet supported on the batch dimension.")
        return self

    def shape(self, input: Shape, size_of: Callable[..., Any] = inferred_size) -> Shape:
        """Return the shape of the output; `size_of` is a graph's or a kernel's rule of an axis."""
        require_spatial(input, "input", self.data_format)
        if input is None:
            return (None,) * len(self.data_format)
        sizes = list(spatial(input, self.data_format))
        sizes += [channels_of(input, self.data_format)] * self.is_deep
        parts = zip(sizes, self.kernel, self.strides, strict=True)
        out = [
            size_of(size, kernel, stride, 1, self.padding, (0, 0)) for size, kernel, stride in parts
        ]
        channels = out.pop() if self.is_deep else channels_of(input, self.data_format)
        shape: Shape = with_axes(input[0], out, channels, self.data_format)
        return shape

    def arranged(self, array: Any) -> Any:
        """Return [batch, axes..., channels], where the last axis has 1 if channels are pooled."""
        last = channels_last(array, self.data_format)
        return last[..., np.newaxis] if self.is_deep else last

    def back(self, array: Any) -> Any:
        """Return what is arranged so in the order of the data format."""
        return channels_back(array[..., 0] if self.is_deep else array, self.data_format)

    def windows(self, shape: Sequence[int]) -> Windows:
        """Return the windows over an input of that shape."""
        self.shape(tuple(shape), output_size)
        sizes = [*spatial(shape, self.data_format)]
        sizes += [channels_of(shape, self.data_format)] * self.is_deep
        ones = (1,) * len(sizes)
        around = ((0, 0),) * len(sizes)
        return windows_over(tuple(sizes), self.kernel, self.strides, ones, self.padding, around)


def in_attributes(function: Callable[..., Any], runs: bool = True) -> Callable[..., Any]:
    """Return a rule that takes the attributes one by one, for one that takes a `Pooling`.

    Args:
      function: the rule.
      runs: whether it computes, so that the windows must be such as kernels take.
    """

    def rule(
        one: Any, *others: Any, ksize: Any, strides: Any, padding: bytes, data_format: bytes
    ) -> Any:
        pooling = Pooling(ksize, strides, padding, data_format)
        return function(one, *others, pooling.checked() if runs else pooling)

    return rule


def in_inputs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that takes ksize and strides as its last two inputs."""

    def rule(one: Any, *others: Any, padding: bytes, data_format: bytes) -> Any:
        *others_, ksize, strides = others
        pooling = Pooling(ksize.tolist(), strides.tolist(), padding, data_format)
        return function(one, *others_, pooling.checked())

    return rule


# kernels


def max_kernel(input: Any, pooling: Pooling) -> Any:
    """Return the maximum of each window."""
    windows = pooling.windows(input.shape)
    return pooling.back(_maximum(pooling.arranged(input), windows))


def max_grad_kernel(orig_input: Any, orig_output: Any, grad: Any, pooling: Pooling) -> Any:
    """Return the gradient of the input: what belongs to a window goes to its maximum."""
    _require(pooling.shape(orig_input.shape, output_size), orig_output=orig_output, grad=grad)
    one, other, d = map(pooling.arranged, (orig_input, orig_output, grad))
    return pooling.back(_to_maximum(one, other, d, pooling.windows(orig_input.shape)))


_maximum = first_of(pooling_onednn.maximum, kernels.maximum)
_to_maximum = first_of(pooling_onednn.to_maximum, kernels.to_maximum)


def max_grad_grad_kernel(orig_input: Any, orig_output: Any, grad: Any, pooling: Pooling) -> Any:
    """Return for each window the element of `grad` that stands where its maximum does."""
    _require(pooling.shape(orig_input.shape, output_size), orig_output=orig_output)
    _require(orig_input.shape, grad=grad)
    one, other, d = map(pooling.arranged, (orig_input, orig_output, grad))
    return pooling.back(kernels.from_maximum(one, other, d, pooling.windows(orig_input.shape)))


def average_kernel(value: Any, pooling: Pooling) -> Any:
    """Return the mean of each window; what is outside of the input is not counted."""
    windows = pooling.windows(value.shape)
    total = kernels.total(widened(pooling.arranged(value)), windows)
    return pooling.back(
        (total / kernels.counts(windows, total.dtype)).astype(value.dtype, copy=False)
    )


def average_grad_kernel(orig_input_shape: Any, grad: Any, pooling: Pooling) -> Any:
    """Return the gradient of the input: what belongs to a window goes to its elements in parts."""
    shape = tuple(orig_input_shape.tolist())
    _require(pooling.shape(shape, output_size), grad=grad)
    windows = pooling.windows(shape)
    wide = widened(pooling.arranged(grad))
    spread = kernels.spread(wide / kernels.counts(windows, wide.dtype), windows)
    return pooling.back(spread.astype(grad.dtype, copy=False))


def _require(shape: Shape, **arrays: Any) -> None:
    for name, array in arrays.items():
        if array.shape != shape:
            raise InvalidArgumentError(
                f"Expected {name} shape to be {list(shape or ())}, but got {list(array.shape)}"
            )


# maxima


def max_pooling(name: str, signature: str, types: str, rank: int) -> tuple[OpDef, OpDef, OpDef]:
    """Define a pooling by maximum, its gradient, and the gradient of that.

    Args:
      name: of the op.
      signature: of its type and attributes, where ATTRS stands for the windows.
      types: of the gradients.
      rank: of what is pooled.
    """
    attrs = sizes_of(rank)
    text = f"{name}(input: T) -> output: T [{signature.replace('ATTRS', attrs)}]"
    pool = OpDef(text, gives_fresh=True)
    inputs = "orig_input: T, orig_output: T, grad: T"
    first = "orig_input: TInput, orig_output: TInput, grad: T" if rank == 5 else inputs
    more = f"; TInput: type = float {{{types}}}" if rank == 5 else ""
    text = f"{name}Grad({first}) -> output: T [{attrs}; T: type = float {{{types}}}{more}]"
    grad = OpDef(text, gives_fresh=True)
    grad_grad = OpDef(f"{name}GradGrad({inputs}) -> output: T [{attrs}; T: type {{real}}]")
    pool.shape(in_attributes(lambda input, pooling: pooling.shape(input), runs=False))
    grad.shape(lambda orig_input, orig_output, grad: _of_rank(orig_input, rank))
    grad_grad.shape(
        in_attributes(lambda input, output, grad, pooling: pooling.shape(input), runs=False)
    )
    pool.kernel(in_attributes(max_kernel))
    grad.kernel(in_attributes(max_grad_kernel))
    grad_grad.kernel(in_attributes(max_grad_grad_kernel))
    pool.gradient(lambda op, d: _like(op, grad)(op.inputs[0], op.outputs[0], d))
    grad.gradient(second(grad_grad))
    grad_grad.gradient(second(grad))
    return pool, grad, grad_grad


def _of_rank(shape: Shape, rank: int) -> Shape:
    shapes.require_rank(shape, "orig_input", rank)
    return (None,) * rank if shape is None else shape


def _like(op: Any, other: OpDef) -> Callable[..., Tensor]:
    """Return what adds a node of `other` with the windows of `op`."""
    windows = {"ksize", "strides", "padding", "data_format"} & set(other.signature.attrs)
    attrs = {name: op.get_attr(name) for name in windows}
    return lambda *inputs: getattr(raw, other.name)(*inputs, **attrs)


def second(other: OpDef) -> Callable[..., Any]:
    """Return the gradient of an op that moves its third input to where the maxima stand.

    Args:
      other: the op that moves it back.
    """

    def gradient(op: Any, d: Any, *, needed: Needed = (True,) * 5) -> Any:
        input, output, _, *sizes = op.inputs
        moved = _like(op, other)(input, output, d, *sizes) if needed[2] else None
        zeros = (raw.ZerosLike(each) if wanted else None
                 for each, wanted in zip((input, output), needed[:2], strict=True))  # fmt: skip
        return (*zeros, moved, *(None for _ in sizes))

    return gradient


MAX_POOL, MAX_POOL_GRAD, MAX_POOL_GRAD_GRAD = max_pooling(
    "MaxPool", "T: type = float {real}; ATTRS", "real", 4
)
MAX_POOL_3D, MAX_POOL_3D_GRAD, MAX_POOL_3D_GRAD_GRAD = max_pooling(
    "MaxPool3D", "ATTRS; T: type {floating}", "floating", 5
)

# the same with the windows as inputs

_LATER = f"padding: string {{SAME,VALID}}; {IMAGES}"
MAX_POOL_V2 = OpDef(
    "MaxPoolV2(input: T, ksize: int32, strides: int32) -> output: T "
    f"[T: type = float {{real}}; {_LATER}]"
)
MAX_POOL_GRAD_V2 = OpDef(
    "MaxPoolGradV2(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32) "
    f"-> output: T [{_LATER}; T: type = float {{real}}]"
)
MAX_POOL_GRAD_GRAD_V2 = OpDef(
    "MaxPoolGradGradV2(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32) "
    f"-> output: T [{_LATER}; T: type {{real}}]"
)


@MAX_POOL_V2.shape
def max_pool_v2_shape(
    input: Shape,
    ksize: Shape,
    strides: Shape,
    *,
    ksize_value: Any,
    strides_value: Any,
    padding: bytes,
    data_format: bytes,
) -> Shape:
    require_spatial(input, "input", data_format)
    shapes.require_rank(ksize, "ksize", 1)
    shapes.require_rank(strides, "strides", 1)
    if ksize_value is None or strides_value is None:
        return (None,) * 4
    pooling = Pooling(ksize_value.tolist(), strides_value.tolist(), padding, data_format)
    return pooling.shape(input)


@MAX_POOL_GRAD_GRAD_V2.shape
def max_pool_grad_grad_v2_shape(
    orig_input: Shape,
    orig_output: Shape,
    grad: Shape,
    ksize: Shape,
    strides: Shape,
    *,
    ksize_value: Any,
    strides_value: Any,
    padding: bytes,
    data_format: bytes,
) -> Shape:
    return max_pool_v2_shape(
        orig_input, ksize, strides, ksize_value=ksize_value, strides_value=strides_value,
        padding=padding, data_format=data_format,
    )  # fmt: skip


MAX_POOL_GRAD_V2.shape(lambda input, output, grad, ksize, strides: input or (None,) * 4)
MAX_POOL_V2.kernel(in_inputs(max_kernel))
MAX_POOL_GRAD_V2.kernel(in_inputs(max_grad_kernel))
MAX_POOL_GRAD_GRAD_V2.kernel(in_inputs(max_grad_grad_kernel))
MAX_POOL_GRAD_V2.gradient(second(MAX_POOL_GRAD_GRAD_V2))
MAX_POOL_GRAD_GRAD_V2.gradient(second(MAX_POOL_GRAD_V2))


@MAX_POOL_V2.gradient
def max_pool_v2_gradient(op: Any, d: Any) -> Any:
    input, ksize, strides = op.inputs
    moved = _like(op, MAX_POOL_GRAD_V2)(input, op.outputs[0], d, ksize, strides)
    return moved, None, None


# averages


def average_pooling(name: str, argument: str, rank: int) -> tuple[OpDef, OpDef]:
    """Define a pooling by mean, and its gradient.

    Args:
      name: of the op.
      argument: name of its input.
      rank: of what is pooled.
    """
    attrs = f"{sizes_of(rank)}; T: type {{floating}}"
    pool = OpDef(f"{name}({argument}: T) -> output: T [{attrs}]")
    grad = OpDef(f"{name}Grad(orig_input_shape: int32, grad: T) -> output: T [{attrs}]")
    pool.shape(in_attributes(lambda input, pooling: pooling.shape(input), runs=False))
    pool.kernel(in_attributes(average_kernel))
    grad.kernel(in_attributes(average_grad_kernel))

    @grad.shape
    def grad_shape(orig_input_shape: Shape, grad: Shape, *, orig_input_shape_value: Any) -> Shape:
        return _of_rank(shapes.from_constant(orig_input_shape_value), rank)

    pool.gradient(lambda op, d: _like(op, grad)(shape_of(op.inputs[0]), d))
    grad.gradient(lambda op, d: (None, _like(op, pool)(d)))
    return pool, grad


AVG_POOL, AVG_POOL_GRAD = average_pooling("AvgPool", "value", 4)
AVG_POOL_3D, AVG_POOL_3D_GRAD = average_pooling("AvgPool3D", "input", 5)
