"""Dilation and erosion of images: the greatest or least of a window, raised by a filter.

Source: TF 1.15 API documentation, tf.nn.dilation2d, tf.nn.erosion2d.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import as_dtype
from tfdist.base.shapes import Shape
from tfdist.errors import UnimplementedError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.convolution.windows import (
    Windows,
    inferred_size,
    output_size,
    require_steps,
    taps,
    windows_over,
)

__all__ = ["dilation2d", "erosion2d"]

Ints = Sequence[int]

_ATTRS = (
    "[T: type {real}; strides: list(int) >=4; rates: list(int) >=4; padding: string {SAME,VALID}]"
)
DILATION = OpDef(f"Dilation2D(input: T, filter: T) -> output: T {_ATTRS}")
BACKPROP_INPUT = OpDef(
    f"Dilation2DBackpropInput(input: T, filter: T, out_backprop: T) -> in_backprop: T {_ATTRS}"
).not_differentiable()
BACKPROP_FILTER = OpDef(
    f"Dilation2DBackpropFilter(input: T, filter: T, out_backprop: T) -> filter_backprop: T {_ATTRS}"
).not_differentiable()


@DILATION.shape
def dilation_shape(
    input: Shape, filter: Shape, *, strides: Ints, rates: Ints, padding: bytes
) -> Shape:
    return _shape(input, filter, strides, rates, padding, inferred_size)


def _shape(
    input: Shape, filter: Shape, strides: Ints, rates: Ints, padding: bytes, size_of: Any
) -> Shape:
    require_steps(strides, 4, "stride")
    require_steps(rates, 4, "dilation")
    shapes.require_rank(input, "input", 4)
    shapes.require_rank(filter, "filter", 3)
    batch, *sizes, depth = (None,) * 4 if input is None else input
    kernel = (None,) * 3 if filter is None else filter
    depth = shapes.merge_dim(depth, kernel[2], "the channels of input and filter")
    axes = zip(sizes, kernel[:2], strides[1:3], rates[1:3], strict=True)
    out = [size_of(*axis, padding, (0, 0)) for axis in axes]
    return (batch, *([None] * len(out) if None in out else out), depth)


def _windows(input: Any, filter: Any, strides: Ints, rates: Ints, padding: bytes) -> Windows:
    _shape(input.shape, filter.shape, strides, rates, padding, output_size)
    for what, values in (("Stride", strides), ("Rate", rates)):
        if (values[0], values[3]) != (1, 1):
            raise UnimplementedError(
                f"{what} is only supported across spatial dimensions, got {list(values)}"
            )
    return windows_over(
        input.shape[1:3], filter.shape[:2], tuple(strides[1:3]), tuple(rates[1:3]), padding,
        ((0, 0), (0, 0)),
    )  # fmt: skip


@DILATION.kernel
def dilation_kernel(input: Any, filter: Any, *, strides: Ints, rates: Ints, padding: bytes) -> Any:
    return _dilated(input, filter, _windows(input, filter, strides, rates, padding))


def _dilated(input: Any, filter: Any, windows: Windows) -> Any:
    """Return the greatest sum of an element and the filter at its place, in each window."""
    lowest = as_dtype(input.dtype).min
    out = np.full((len(input), *windows.out, input.shape[-1]), lowest, input.dtype)
    for tap in taps(windows):
        seen = out[tap.outputs]
        np.maximum(seen, input[tap.inputs] + filter[tap.place], out=seen)
    return out


def _winners(input: Any, filter: Any, windows: Windows) -> Any:
    """Yield each tap, and in which windows it is the first to have the greatest sum."""
    out = _dilated(input, filter, windows)
    free = np.ones(out.shape, bool)
    for tap in taps(windows):
        hit = input[tap.inputs] + filter[tap.place] == out[tap.outputs]
        hit &= free[tap.outputs]
        free[tap.outputs] &= ~hit
        yield tap, hit


@BACKPROP_INPUT.shape
def backprop_input_shape(input: Shape, filter: Shape, out_backprop: Shape) -> Shape:
    return input


@BACKPROP_FILTER.shape
def backprop_filter_shape(input: Shape, filter: Shape, out_backprop: Shape) -> Shape:
    return filter


@BACKPROP_INPUT.kernel
def backprop_input_kernel(
    input: Any, filter: Any, out_backprop: Any, *, strides: Ints, rates: Ints, padding: bytes
) -> Any:
    windows = _windows(input, filter, strides, rates, padding)
    d_input = np.zeros_like(input)
    for tap, hit in _winners(input, filter, windows):
        d_input[tap.inputs] += out_backprop[tap.outputs] * hit
    return d_input


@BACKPROP_FILTER.kernel
def backprop_filter_kernel(
    input: Any, filter: Any, out_backprop: Any, *, strides: Ints, rates: Ints, padding: bytes
) -> Any:
    windows = _windows(input, filter, strides, rates, padding)
    d_filter = np.zeros_like(filter)
    for tap, hit in _winners(input, filter, windows):
        d_filter[tap.place] = np.sum(out_backprop[tap.outputs], axis=(0, 1, 2), where=hit)
    return d_filter


@DILATION.gradient
def dilation_gradient(op: Any, d_output: Any) -> Any:
    attrs = {name: op.get_attr(name) for name in ("strides", "rates", "padding")}
    return [op_def(*op.inputs, d_output, **attrs) for op_def in (BACKPROP_INPUT, BACKPROP_FILTER)]


def dilation2d(
    input: Any, filter: Any = None, strides: Any = None, rates: Any = None, padding: Any = None,
    name: str | None = None, filters: Any = None, dilations: Any = None,
) -> Tensor:  # fmt: skip
    """Return the greatest sum of image and filter in each window, channel by channel.

    Args:
      input: [batch, rows, columns, channels].
      filter: [rows, columns, channels].
      strides: [1, rows, columns, 1], from window to window.
      rates: [1, rows, columns, 1], from one element of a window to the next.
      padding: "SAME" or "VALID".
      name: of the node.
      filters: the later name of filter.
      dilations: the later name of rates.

    Returns:
      [batch, windows down, windows across, channels].

    Example:
      >>> images = reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1])
      >>> ones_ = [1, 1, 1, 1]
      >>> Session().run(nn.dilation2d(images, zeros([2, 2, 1]), ones_, ones_, "VALID"))
      array([[[[4.]]]], dtype=float32)
    """
    return DILATION(  # type: ignore[no-any-return]
        input, _one_of(filter, filters, "filter and filters"), strides=strides,
        rates=_one_of(rates, dilations, "rates and dilations"), padding=padding, name=name,
    )  # fmt: skip


def _one_of(one: Any, other: Any, what: str) -> Any:
    if one is not None and other is not None:
        raise ValueError(f"{what} are two names of one argument: give one")
    return other if one is None else one


def erosion2d(
    value: Any, kernel: Any, strides: Any, rates: Any, padding: Any, name: str | None = None
) -> Tensor:
    """Return the least difference of image and kernel in each window, channel by channel.

    Args:
      value: [batch, rows, columns, channels].
      kernel: [rows, columns, channels], turned by 180 degrees.
      strides: [1, rows, columns, 1], from window to window.
      rates: [1, rows, columns, 1], from one element of a window to the next.
      padding: "SAME" or "VALID".
      name: prefix for the nodes.

    Example:
      >>> images = reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1])
      >>> ones_ = [1, 1, 1, 1]
      >>> Session().run(nn.erosion2d(images, zeros([2, 2, 1]), ones_, ones_, "VALID"))
      array([[[[1.]]]], dtype=float32)
    """
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        lowered = DILATION(
            raw.Neg(value), raw.ReverseV2(kernel, [0, 1]), strides=strides, rates=rates,
            padding=padding, name=scope,
        )  # fmt: skip
        return raw.Neg(lowered)  # type: ignore[no-any-return]
