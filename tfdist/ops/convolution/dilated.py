"""Convolution with steps between the taps, over any number of spatial axes.

As TensorFlow 1.x makes it: blocks of space go into the batch, where the taps are neighbours, and
come back afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.concat import concat
from tfdist.ops.autodiff.gradient_utils import shape_of
from tfdist.ops.convolution.convolution_ops import CONV_2D
from tfdist.ops.convolution.depthwise import depthwise_conv2d_native
from tfdist.ops.convolution.functions import conv1d, conv3d, for_all_axes
from tfdist.ops.convolution.space_to_batch import (
    BATCH_TO_SPACE_ND,
    SPACE_TO_BATCH_ND,
    required_space_to_batch_paddings,
)
from tfdist.ops.convolution.windows import spatial

__all__ = [
    "atrous_conv2d", "convolution", "depthwise_conv2d", "separable_conv2d", "with_space_to_batch",
]  # fmt: skip


def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: Callable[..., Any],
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Return `op` of `input` with steps between the taps of its windows.

    Args:
      input: [batch, spatial axes..., channels], or as `data_format` says.
      dilation_rate: int [spatial axes], from tap to tap.
      padding: "SAME" or "VALID".
      op: takes a tensor, the number of spatial axes and a padding; its windows have a stride of 1.
      filter_shape: int [spatial axes] at least, sizes of the windows, which "SAME" needs.
      spatial_dims: numbers of the spatial axes; by default those after the batch.
      data_format: begins with "NC" if the channels stand in front.

    Raises:
      ValueError: a rate is less than 1, or the windows' sizes are not known.

    Example: without steps it is just `op`.
      >>> rows = with_space_to_batch([[1.0, 2.0]], [1], "VALID", lambda x, *_: x * 2.0)
      >>> Session().run(rows)
      array([[2., 4.]], dtype=float32)
    """
    input = convert_to_tensor(input, name="input")
    rate = convert_to_tensor(dilation_rate, "int32", name="dilation_rate")
    rates = constant_value(rate)
    if rate.plain_shape is not None and len(rate.plain_shape) != 1:
        raise ValueError(f"rate must be rank 1, but is {dilation_rate}")
    if rates is None:
        raise ValueError(f"dilation_rate must be known beforehand, but is {dilation_rate}")
    if (rates < 1).any():
        raise ValueError(f"dilation_rate must be positive, but is {dilation_rate}")
    count = len(rates)
    first = bool(data_format) and str(data_format).startswith("NC")
    axes = list(spatial_dims or range(1 + first, 1 + first + count))
    if (rates == 1).all():
        return op(input, count, padding)  # type: ignore[no-any-return]
    base = _base_paddings(rates, padding, filter_shape)
    paddings, crops = required_space_to_batch_paddings(_sizes(input, axes), rate, base)
    block = _for_leading_axes(rates, axes, 1)
    paddings, crops = (_for_leading_axes(each, axes, 0) for each in (paddings, crops))
    blocks = SPACE_TO_BATCH_ND(input, block, paddings)
    tensor: Tensor = BATCH_TO_SPACE_ND(op(blocks, count, "VALID"), block, crops)
    return tensor


def _base_paddings(rates: Any, padding: str, filter_shape: Any) -> Any:
    """Return what stands around the image before blocks are cut: [axes, 2]."""
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"Invalid padding method {padding!r}: it must be SAME or VALID")
    if padding == "VALID":
        return np.zeros([len(rates), 2], np.int32)
    if filter_shape is None:
        raise ValueError("padding SAME needs filter_shape, the sizes of the windows")
    sizes = constant_value(convert_to_tensor(filter_shape, "int32", name="filter_shape"))
    if sizes is None:
        raise ValueError("padding SAME needs a filter_shape that is known when the graph is built")
    full = (sizes[: len(rates)] - 1) * rates
    value = np.stack([full // 2, full - full // 2], 1).astype(np.int32)
    return raw.Const(value=value, dtype="int32", name="stack")


def _sizes(input: Tensor, axes: Sequence[int]) -> Any:
    """Return sizes of axes: an array if they are known, else a tensor."""
    shape = input.plain_shape
    if shape is not None and all(shape[axis] is not None for axis in axes):
        return np.array([shape[axis] for axis in axes], np.int32)
    sizes: Any = raw.Shape(input)
    return raw.Pack([sizes[axis] for axis in axes], name="stack")


def _for_leading_axes(values: Any, axes: Sequence[int], fill: int) -> Any:
    """Return values for the axes from 1 on, where those of `axes` have theirs, others `fill`."""
    before = axes[0] - 1
    if isinstance(values, Tensor):
        known = constant_value(values)
        if known is None:
            rows: Any = values
            parts = [np.full([before, 2], fill, np.int32)] if before else []
            return concat([*parts, rows[: values.shape.as_list()[0]]], 0)
        values = known
    return np.concatenate([np.full([before, *values.shape[1:]], fill, values.dtype), values])


def convolution(
    input: Any,
    filter: Any = None,
    padding: str = "VALID",
    strides: Any = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Return the convolution over one, two or three spatial axes.

    Args:
      input: [batch, spatial axes..., channels], or channels second if `data_format` says so.
      filter: [filter sizes..., channels, outputs].
      padding: "SAME" or "VALID".
      strides: from window to window, for each spatial axis.
      dilation_rate: from tap to tap, for each spatial axis.
      name: of the nodes' scope.
      data_format: begins with "NC" if the channels stand in front.
      filters: the later spelling of filter.
      dilations: the later spelling of dilation_rate.

    Raises:
      ValueError: both strides and steps between taps are more than 1.

    Example:
      >>> row, ones = [[[1.0], [2.0], [4.0], [8.0]]], [[[1.0]], [[1.0]]]
      >>> Session().run(nn.convolution(row, ones, "VALID", dilation_rate=[2]))[0, :, 0]
      array([ 5., 10.], dtype=float32)
    """
    filter = filter if filters is None else filters
    with name_scope(name, "convolution", [input, filter]) as scope:
        input, filter = convert_to_tensor(input, name="input"), convert_to_tensor(filter)
        axes = _spatial_axes(input, filter)
        rates = dilations if dilation_rate is None else dilation_rate
        rates, steps = steps_and_rates(
            for_spatial_axes(strides, axes, data_format, "strides"),
            for_spatial_axes(rates, axes, data_format, "dilations"),
        )
        _require_rank(input, axes + 2)

        def convolve(blocks: Tensor, _: int, padding: str) -> Tensor:
            return _undilated(blocks, filter, steps, padding, data_format, scope)

        if set(rates) == {1}:
            return convolve(input, axes, padding)
        sizes = filter.shape[:-2] if padding == "SAME" else None
        if sizes is not None and not filter.shape.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {sizes}")
        return with_space_to_batch(input, rates, padding, convolve, sizes, data_format=data_format)


def _spatial_axes(input: Tensor, filter: Tensor) -> int:
    """Return how many spatial axes there are; the filters or else the input tell."""
    for tensor in (filter, input):
        if tensor.plain_shape is not None:
            return len(tensor.plain_shape) - 2
    raise ValueError("rank of input or filter must be known")


def _require_rank(input: Tensor, rank: int) -> None:
    if input.plain_shape is not None and len(input.plain_shape) != rank:
        raise ValueError(f"input tensor must have rank {rank}, but has shape {input.shape}")


def for_spatial_axes(value: Any, axes: int, data_format: str | None, what: str) -> list[int]:
    """Return a step for each spatial axis, of one number, one for each, or one for all axes."""
    return list(spatial(for_all_axes(value, axes, layout_of(axes, data_format), what),
                        layout_of(axes, data_format).encode()))  # fmt: skip


def layout_of(axes: int, data_format: str | None) -> str:
    """Return the format of so many spatial axes, with the channels where `data_format` has them."""
    names = "DHW"[-axes:] if 0 < axes <= 3 else "?" * axes
    return f"NC{names}" if (data_format or "").startswith("NC") else f"N{names}C"


def steps_and_rates(strides: list[int], rates: list[int]) -> tuple[list[int], list[int]]:
    """Return (rates, strides), where one of them is 1 everywhere and none is less."""
    for what, values in (("strides", strides), ("dilation_rate", rates)):
        if min(values, default=1) < 1:
            raise ValueError(f"all values of {what} must be positive, got {values}")
    if max(rates, default=1) > 1 and max(strides, default=1) > 1:
        raise ValueError(
            f"strides > 1 not supported in conjunction with dilation_rate > 1, got {strides} "
            f"and {rates}"
        )
    return rates, strides


def _undilated(
    input: Tensor, filter: Tensor, strides: list[int], padding: str, data_format: str | None,
    name: str,
) -> Tensor:  # fmt: skip
    first = (data_format or "").startswith("NC")
    all_strides = [1, 1, *strides] if first else [1, *strides, 1]
    if len(strides) == 1:
        layout = "NCW" if first else "NWC"
        return conv1d(input, filter, strides[0], padding, data_format=layout, name=name)
    if len(strides) == 3:
        layout = "NCDHW" if first else "NDHWC"
        return conv3d(input, filter, all_strides, padding, data_format=layout, name=name)
    if len(strides) != 2:
        raise ValueError(f"convolution has 1, 2 or 3 spatial axes, not {len(strides)}")
    layout = "NCHW" if first else "NHWC"
    tensor: Tensor = CONV_2D(
        input, filter, strides=all_strides, padding=padding, data_format=layout, name=name
    )
    return tensor


def atrous_conv2d(
    value: Any, filters: Any, rate: Any, padding: str, name: str | None = None
) -> Tensor:
    """Return the convolution of images with `rate` from tap to tap.

    Args:
      value: [batch, height, width, channels].
      filters: [filter height, filter width, channels, outputs].
      rate: 1 or more, for both spatial axes or each of them.
      padding: "SAME" or "VALID".
      name: of the nodes' scope.

    Example:
      >>> image = [[[[1.0], [2.0], [4.0]]]]
      >>> Session().run(nn.atrous_conv2d(image, [[[[1.0]], [[1.0]]]], 2, "VALID"))
      array([[[[5.]]]], dtype=float32)
    """
    return convolution(value, filters, padding, dilation_rate=rate, name=name)


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Return the convolution of each channel with its own filters.

    Args:
      input: [batch, height, width, channels], or as `data_format` says.
      filter: [filter height, filter width, channels, filters of each channel].
      strides: from window to window, for each of the four axes.
      padding: "SAME" or "VALID".
      rate: from tap to tap, for each spatial axis.
      name: of the nodes' scope.
      data_format: "NHWC" (the default) or "NCHW".
      dilations: the later spelling of rate.

    Returns:
      [batch, height, width, channels * filters of each].

    Example:
      >>> Session().run(nn.depthwise_conv2d([[[[2.0, 5.0]]]], [[[[1.0], [10.0]]]], [1] * 4, "SAME"))
      array([[[[ 2., 50.]]]], dtype=float32)
    """
    with name_scope(name, "depthwise", [input, filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, input.dtype.base_dtype, name="filter_in")
        rate = dilations if rate is None else rate
        return _depthwise(input, filter, strides, padding, rate, data_format, scope)


def _depthwise(
    input: Tensor, filter: Tensor, strides: Any, padding: str, rate: Any, data_format: str | None,
    name: str,
) -> Tensor:  # fmt: skip
    rates = [1, 1] if rate is None else rate
    sizes = shape_of(filter)

    def convolve(blocks: Tensor, _: int, padding: str) -> Tensor:
        return depthwise_conv2d_native(blocks, filter, strides, padding, data_format, name=name)

    return with_space_to_batch(input, rates, padding, convolve, sizes, data_format=data_format)


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Return `depthwise_conv2d`, followed by a convolution that mixes the channels of each pixel.

    Args:
      input: [batch, height, width, channels], or as `data_format` says.
      depthwise_filter: [filter height, filter width, channels, filters of each channel].
      pointwise_filter: [1, 1, channels * filters of each, outputs].
      strides: from window to window, for each of the four axes.
      padding: "SAME" or "VALID".
      rate: from tap to tap, for each spatial axis.
      name: of the nodes' scope.
      data_format: "NHWC" (the default) or "NCHW".
      dilations: the later spelling of rate.

    Example: 2 * 1 + 5 * 10.
      >>> depthwise, pointwise = [[[[1.0], [10.0]]]], [[[[1.0], [1.0]]]]
      >>> Session().run(
      ...     nn.separable_conv2d([[[[2.0, 5.0]]]], depthwise, pointwise, [1] * 4, "SAME")
      ... )
      array([[[[52.]]]], dtype=float32)
    """
    given = [input, depthwise_filter, pointwise_filter]
    with name_scope(name, "separable_conv2d", given) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        dtype = input.dtype.base_dtype
        filter = convert_to_tensor(depthwise_filter, dtype, name="depthwise_filter")
        pointwise = convert_to_tensor(pointwise_filter, dtype, name="pointwise_filter")
        for size in pointwise.shape.with_rank(4)[:2]:
            size.assert_is_compatible_with(1)
        rate = dilations if rate is None else rate
        channels = _depthwise(input, filter, strides, padding, rate, data_format, "depthwise")
        tensor: Tensor = CONV_2D(
            channels, pointwise, strides=[1] * 4, padding="VALID",
            data_format=data_format or "NHWC", name=scope,
        )  # fmt: skip
        return tensor
