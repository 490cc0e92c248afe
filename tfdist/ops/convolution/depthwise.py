"""Convolution of each channel on its own, with filters of its own.

There is no matrix product in it: where oneDNN does not compute it, every tap multiplies what it
sees by its factor for each channel, a part of the batch at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.convolution import onednn as convolution_onednn
from tfdist.ops.convolution.convolution_ops import linear_gradients
from tfdist.ops.convolution.convolution_rules import Attributes, spelled
from tfdist.ops.convolution.kernels import in_wide_type
from tfdist.ops.convolution.onednn_windows import first_of
from tfdist.ops.convolution.windows import (
    Windows,
    channels_back,
    channels_last,
    channels_of,
    inferred_size,
    output_size,
    pieces,
    require_spatial,
    spatial,
    taps,
    with_axes,
)

__all__ = [
    "depthwise_conv2d_backprop_filter", "depthwise_conv2d_backprop_input",
    "depthwise_conv2d_native", "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input",
]  # fmt: skip

# `explicit_paddings` came with TensorFlow 2
_ATTRS = (
    "[T: type {floating}; strides: list(int); padding: string {SAME,VALID}; "
    "data_format: string = 'NHWC' {NHWC,NCHW}; dilations: list(int) = [1, 1, 1, 1]]"
)
DEPTHWISE = OpDef(f"DepthwiseConv2dNative(input: T, filter: T) -> output: T {_ATTRS}")
DEPTHWISE_BACKPROP_INPUT = OpDef(
    "DepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T) "
    f"-> output: T {_ATTRS}"
)
DEPTHWISE_BACKPROP_FILTER = OpDef(
    "DepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) "
    f"-> output: T {_ATTRS}"
)


@DEPTHWISE.shape
def depthwise_shape(
    input: Shape,
    filter: Shape,
    *,
    strides: Sequence[int],
    padding: bytes,
    data_format: bytes,
    dilations: Sequence[int],
) -> Shape:
    return _shape(input, filter, Attributes(strides, padding, data_format, dilations))


def _shape(
    input: Shape, filter: Shape, attributes: Attributes, size_of: Any = inferred_size
) -> Shape:
    data_format = attributes.data_format
    require_spatial(input, "input", data_format)
    shapes.require_rank(filter, "filter", 4)
    input, filter = input or (None,) * 4, filter or (None,) * 4
    channels = shapes.merge_dim(
        channels_of(input, data_format), filter[2], "input and filter must have the same depth"
    )
    outputs = None if None in (channels, filter[3]) else channels * filter[3]  # type: ignore
    out = attributes.out(spatial(input, data_format), filter[:2], size_of)
    shape: Shape = with_axes(input[0], out, outputs, data_format)
    return shape


@DEPTHWISE.kernel
def depthwise_kernel(
    input: Any,
    filter: Any,
    *,
    strides: Sequence[int],
    padding: bytes,
    data_format: bytes,
    dilations: Sequence[int],
) -> Any:
    attributes = Attributes(strides, padding, data_format, dilations).checked()
    shape = _shape(input.shape, filter.shape, attributes, output_size)
    if not (input.size and filter.size):
        return np.zeros(shape or (), input.dtype)
    last = channels_last(input, data_format)
    windows = attributes.windows(last.shape[1:-1], filter.shape[:2])
    return channels_back(_convolve(last, filter, windows), data_format)


def _forwards(input: Any, filters: Any, windows: Windows) -> Any:
    channels, multiplier = filters.shape[-2:]
    out = np.zeros((len(input), *windows.out, channels * multiplier), input.dtype)
    rows = _rows(filters, windows)
    for part in pieces(len(input), out[:1].nbytes):
        for tap in taps(windows):
            seen = input[part][tap.inputs]
            if multiplier != 1:
                seen = np.repeat(seen, multiplier, axis=-1)
            out[part][tap.outputs] += seen * rows[tap.place][tap.outputs[-1]]
    return out


def _rows(filters: Any, windows: Windows) -> Any:
    """Return the filters once for each column of the output: NumPy is quick with long rows."""
    flat = filters.reshape(*windows.kernel, 1, -1)
    return np.repeat(flat, windows.out[-1], axis=-2)


@DEPTHWISE_BACKPROP_INPUT.shape
def depthwise_backprop_input_shape(
    input_sizes: Shape, filter: Shape, out_backprop: Shape, *, input_sizes_partial: Any
) -> Shape:
    return spelled(input_sizes_partial, None, 4)


@DEPTHWISE_BACKPROP_INPUT.kernel
def depthwise_backprop_input_kernel(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    *,
    strides: Sequence[int],
    padding: bytes,
    data_format: bytes,
    dilations: Sequence[int],
) -> Any:
    attributes = Attributes(strides, padding, data_format, dilations).checked()
    windows = _checked(input_sizes.tolist(), filter.shape, out_backprop, attributes)
    d_output = channels_last(out_backprop, data_format)
    return channels_back(_convolve_to_input(filter, d_output, windows), data_format)


def _to_input(filters: Any, d_output: Any, windows: Windows) -> Any:
    channels, multiplier = filters.shape[-2:]
    d_input = np.zeros((len(d_output), *windows.sizes, channels), d_output.dtype)
    rows = _rows(filters, windows)
    for part in pieces(len(d_output), d_output[:1].nbytes):
        for tap in taps(windows):
            weighted = d_output[part][tap.outputs] * rows[tap.place][tap.outputs[-1]]
            if multiplier != 1:
                weighted = weighted.reshape(*weighted.shape[:-1], channels, multiplier).sum(-1)
            d_input[part][tap.inputs] += weighted
    return d_input


@DEPTHWISE_BACKPROP_FILTER.shape
def depthwise_backprop_filter_shape(
    input: Shape, filter_sizes: Shape, out_backprop: Shape, *, filter_sizes_value: Any
) -> Shape:
    return spelled(filter_sizes_value, None, 4)


@DEPTHWISE_BACKPROP_FILTER.kernel
def depthwise_backprop_filter_kernel(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    *,
    strides: Sequence[int],
    padding: bytes,
    data_format: bytes,
    dilations: Sequence[int],
) -> Any:
    attributes = Attributes(strides, padding, data_format, dilations).checked()
    sizes = filter_sizes.tolist()
    windows = _checked(input.shape, sizes, out_backprop, attributes)
    last, d_last = (channels_last(each, data_format) for each in (input, out_backprop))
    return _convolve_to_filters(last, d_last, windows, sizes[-1])


def _to_filters(input: Any, d_output: Any, windows: Windows, multiplier: int) -> Any:
    channels = input.shape[-1]
    d_filters = np.zeros((*windows.kernel, channels * multiplier), input.dtype)
    for part in pieces(len(input), d_output[:1].nbytes):
        for tap in taps(windows):
            seen = input[part][tap.inputs]
            if multiplier != 1:
                seen = np.repeat(seen, multiplier, axis=-1)
            d_filters[tap.place] += np.einsum("nhwc,nhwc->c", seen, d_output[part][tap.outputs])
    return d_filters.reshape(*windows.kernel, channels, multiplier)


_convolve = in_wide_type(first_of(convolution_onednn.convolve_each, _forwards))
_convolve_to_input = in_wide_type(first_of(convolution_onednn.convolve_each_to_input, _to_input))
_convolve_to_filters = in_wide_type(
    first_of(convolution_onednn.convolve_each_to_filters, _to_filters)
)


def _checked(
    input: Sequence[int], filter: Sequence[int], d_output: Any, attributes: Attributes
) -> Windows:
    """Return the windows; InvalidArgumentError if the convolution has not such an output."""
    wanted = _shape(tuple(input), tuple(filter), attributes, output_size)
    if wanted != d_output.shape:
        raise InvalidArgumentError(
            f"the depthwise convolution of {list(input)} with filters {list(filter)} has the "
            f"output {list(wanted or ())}, but out_backprop is {list(d_output.shape)}"
        )
    return attributes.windows(spatial(input, attributes.data_format), filter[:2])


linear_gradients(DEPTHWISE, DEPTHWISE_BACKPROP_INPUT, DEPTHWISE_BACKPROP_FILTER)


# public functions


def _depthwise(
    op_def: OpDef, inputs: Sequence[Any], strides: Any, padding: str, data_format: str | None,
    dilations: Any, name: str | None,
) -> Tensor:  # fmt: skip
    layout = data_format or "NHWC"
    tensor: Tensor = op_def(
        *inputs,
        strides=strides,
        dilations=dilations,
        padding=padding,
        data_format=layout,
        name=name,
    )
    return tensor


def depthwise_conv2d_native(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Return the convolution of each channel with its own filters: `depthwise_conv2d` as one node.

    Args:
      input: [batch, height, width, channels], or as `data_format` says.
      filter: [filter height, filter width, channels, filters of each channel].
      strides: from window to window, for each of the four axes.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      dilations: from tap to tap within a window, for each of the four axes.
      name: of the node.

    Returns:
      [batch, height, width, channels * filters of each].

    Example:
      >>> filters = [[[[1.0], [10.0]]]]
      >>> both = nn.depthwise_conv2d_native([[[[2.0, 5.0]]]], filters, [1] * 4, "SAME")
      >>> Session().run(both)
      array([[[[ 2., 50.]]]], dtype=float32)
    """
    return _depthwise(DEPTHWISE, (input, filter), strides, padding, data_format, dilations, name)


def depthwise_conv2d_native_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Return the gradient of the input of `depthwise_conv2d_native`.

    Args:
      input_sizes: int32 [4], the shape of the input.
      filter: of the convolution.
      out_backprop: the gradient of its output.
      strides: of the convolution.
      padding: of the convolution.
      data_format: of the convolution.
      dilations: of the convolution.
      name: of the node.

    Example:
      >>> sizes, filter = [1, 1, 1, 1], [[[[3.0]]]]
      >>> gradient = nn.depthwise_conv2d_native_backprop_input(
      ...     sizes, filter, [[[[2.0]]]], [1] * 4, "SAME"
      ... )
      >>> Session().run(gradient)
      array([[[[6.]]]], dtype=float32)
    """
    inputs = input_sizes, filter, out_backprop
    return _depthwise(
        DEPTHWISE_BACKPROP_INPUT, inputs, strides, padding, data_format, dilations, name
    )


def depthwise_conv2d_native_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Return the gradient of the filters of `depthwise_conv2d_native`.

    Args:
      input: of the convolution.
      filter_sizes: int32 [4], the shape of the filters.
      out_backprop: the gradient of its output.
      strides: of the convolution.
      padding: of the convolution.
      data_format: of the convolution.
      dilations: of the convolution.
      name: of the node.

    Example:
      >>> image, sizes = [[[[3.0]]]], [1, 1, 1, 1]
      >>> gradient = nn.depthwise_conv2d_native_backprop_filter(
      ...     image, sizes, [[[[2.0]]]], [1] * 4, "SAME"
      ... )
      >>> Session().run(gradient)
      array([[[[6.]]]], dtype=float32)
    """
    inputs = input, filter_sizes, out_backprop
    return _depthwise(
        DEPTHWISE_BACKPROP_FILTER, inputs, strides, padding, data_format, dilations, name
    )


depthwise_conv2d_backprop_input = depthwise_conv2d_native_backprop_input
depthwise_conv2d_backprop_filter = depthwise_conv2d_native_backprop_filter
