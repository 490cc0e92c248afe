"""tf.nn's transposed convolutions: what leads gradients back, used forwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.partial_values import partial_value
from tfdist.graph.scopes import name_scope
from tfdist.ops.array import shape as array_shape
from tfdist.ops.convolution.convolution_ops import CONV_2D_BACKPROP_INPUT, CONV_3D_BACKPROP_INPUT_V2
from tfdist.ops.convolution.functions import for_all_axes
from tfdist.ops.convolution.space_to_batch import BATCH_TO_SPACE_ND, SPACE_TO_BATCH_ND

__all__ = [
    "atrous_conv2d_transpose", "conv1d_transpose", "conv2d_transpose", "conv3d_transpose",
    "conv_transpose",
]  # fmt: skip


def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Return images of which `conv2d` has the shape of `value`: it spreads what `conv2d` gathers.

    Args:
      value: [batch, height, width, channels], or as `data_format` says.
      filter: [filter height, filter width, outputs, channels].
      output_shape: int [4], the shape of the result.
      strides: one number, one for each spatial axis, or one for each axis.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      name: of the node.
      input: the later spelling of value.
      filters: the later spelling of filter.
      dilations: from tap to tap within a window, in the form of strides.

    Example: each pixel becomes two.
      >>> image, ones = [[[[1.0], [2.0]]]], [[[[1.0]], [[1.0]]]]
      >>> Session().run(nn.conv2d_transpose(image, ones, [1, 1, 4, 1], [1, 2]))[0, 0, :, 0]
      array([1., 1., 2., 2.], dtype=float32)
    """
    value, filter = (value if input is None else input), (filter if filters is None else filters)
    layout = data_format or "NHWC"
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        tensor: Tensor = CONV_2D_BACKPROP_INPUT(
            output_shape,
            filter,
            value,
            strides=for_all_axes(strides, 2, layout, "strides"),
            dilations=for_all_axes(dilations, 2, layout, "dilations"),
            padding=padding,
            data_format=layout,
            name=scope,
        )
        return tensor


def conv3d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str | None = "NDHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Return volumes of which `conv3d` has the shape of `value`.

    Args:
      value: [batch, depth, height, width, channels], or as `data_format` says.
      filter: [filter depth, filter height, filter width, outputs, channels].
      output_shape: int [5], the shape of the result.
      strides: one number, one for each spatial axis, or one for each axis.
      padding: "SAME" or "VALID".
      data_format: "NDHWC" or "NCDHW".
      name: of the node.
      input: the later spelling of value.
      filters: the later spelling of filter.
      dilations: from tap to tap within a window, in the form of strides.

    Example:
      >>> cube = nn.conv3d_transpose([[[[[2.0]]]]], [[[[[3.0]]]]], [1] * 5, 1)
      >>> Session().run(cube)
      array([[[[[6.]]]]], dtype=float32)
    """
    value, filter = (value if input is None else input), (filter if filters is None else filters)
    layout = data_format or "NDHWC"
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as scope:
        tensor: Tensor = CONV_3D_BACKPROP_INPUT_V2(
            output_shape,
            filter,
            value,
            strides=for_all_axes(strides, 3, layout, "strides"),
            dilations=for_all_axes(dilations, 3, layout, "dilations"),
            padding=padding,
            data_format=layout,
            name=scope,
        )
        return tensor


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return sequences of which `conv1d` has the shape of `input`.

    Args:
      input: [batch, width, channels], or [batch, channels, width] for "NCW".
      filters: [filter width, outputs, channels].
      output_shape: int [3], the shape of the result.
      strides: from window to window.
      padding: "SAME" or "VALID".
      data_format: "NWC" or "NCW".
      dilations: from tap to tap within a window.
      name: of the nodes' scope.

    Example: each element becomes two.
      >>> row, ones = [[[1.0], [2.0]]], [[[1.0]], [[1.0]]]
      >>> Session().run(nn.conv1d_transpose(row, ones, [1, 4, 1], 2))[0, :, 0]
      array([1., 1., 2., 2.], dtype=float32)
    """
    first = (data_format or "NWC").startswith("NC")
    layout, axis = ("NCW", 2) if first else ("NWC", 1)
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as scope:
        images = raw.ExpandDims(input, axis)
        matrix = raw.ExpandDims(filters, 0)
        rows: Tensor = CONV_2D_BACKPROP_INPUT(
            _with_one(output_shape, axis),
            matrix,
            images,
            strides=[1, *for_all_axes(strides, 1, layout, "strides")],
            dilations=[1, *for_all_axes(dilations, 1, layout, "dilations")],
            padding=padding,
            data_format="NCHW" if first else "NHWC",
            name=scope,
        )
        return raw.Squeeze(rows, squeeze_dims=[axis])  # type: ignore[no-any-return]


def _with_one(shape: Any, axis: int) -> Any:
    """Return a shape with one more axis, of size 1."""
    if hasattr(shape, "_as_tensor"):
        tensor: Any = convert_to_tensor(shape)
        return raw.ConcatV2([tensor[:axis], [1], tensor[axis:]], 0, name="concat")
    values = [int(size) for size in shape]
    return raw.ConcatV2([values[:axis], [1], values[axis:]], 0, name="concat")


def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return `conv1d_transpose`, `conv2d_transpose` or `conv3d_transpose`, by the rank.

    Args:
      input: [batch, spatial axes..., channels], or as `data_format` says.
      filters: [filter sizes..., outputs, channels].
      output_shape: the shape of the result, whose length is known.
      strides: from window to window.
      padding: "SAME" or "VALID".
      data_format: by default with the channels at the end.
      dilations: from tap to tap within a window.
      name: of the nodes' scope.

    Raises:
      ValueError: there are not one to three spatial axes.

    Example:
      >>> Session().run(nn.conv_transpose([[[1.0], [2.0]]], [[[1.0]]], [1, 2, 1], 1))[0, :, 0]
      array([1., 2.], dtype=float32)
    """
    rank = output_shape.shape[0] if hasattr(output_shape, "shape") else len(output_shape)
    function: Any = {3: conv1d_transpose, 4: conv2d_transpose, 5: conv3d_transpose}.get(int(rank))
    if function is None:
        raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {rank}")
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as scope:
        tensor: Tensor = function(
            input, filters, output_shape, strides, padding, data_format, dilations=dilations,
            name=scope,
        )  # fmt: skip
        return tensor


def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """Return images of which `atrous_conv2d` has the shape of `value`.

    Args:
      value: [batch, height, width, channels].
      filters: [filter height, filter width, outputs, channels], of known sizes.
      output_shape: int [4], the shape of the result.
      rate: from tap to tap within a window.
      padding: "SAME" or "VALID".
      name: of the nodes' scope.

    Raises:
      ValueError: rate is less than 1, or padding is neither.

    Example:
      >>> image, ones = [[[[3.0]]]], [[[[1.0]], [[1.0]]]]
      >>> spread = nn.atrous_conv2d_transpose(image, ones, [1, 1, 3, 1], 2, "VALID")
      >>> Session().run(spread)[0, 0, :, 0]
      array([3., 0., 3.], dtype=float32)
    """
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]):
        value = convert_to_tensor(value, name="value")
        filters = convert_to_tensor(filters, name="filters")
        _require_channels(value.shape, filters.shape, rate)
        if rate == 1:
            return conv2d_transpose(value, filters, output_shape, 1, padding)
        shape = convert_to_tensor(output_shape, "int32", name="output_shape")
        _require_sizes(shape, filters.shape, padding)
        return _spread_in_blocks(value, filters, shape, rate, padding)


def _require_channels(value: TensorShape, filters: TensorShape, rate: int) -> None:
    """Raise ValueError unless `value` has the channels of the filters, and the rate is one."""
    if not value.with_rank(4)[3].is_compatible_with(filters.with_rank(4)[3]):
        raise ValueError(
            "value's input channels does not match filters' input channels, "
            f"{value[3]} != {filters[3]}"
        )
    if rate < 1:
        raise ValueError(f"rate {rate} cannot be less than one")


def _require_sizes(output_shape: Tensor, filters: TensorShape, padding: str) -> None:
    """Raise ValueError unless the filters can make images of that shape."""
    if not output_shape.shape.is_compatible_with([4]):
        raise ValueError(f"output_shape must have shape (4,), got {output_shape.shape}")
    known = constant_value(output_shape)
    if known is not None and not filters[2].is_compatible_with(int(known[3])):
        raise ValueError(
            f"output_shape does not match filter's output channels, {known[3]} != {filters[2]}"
        )
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"padding must be either VALID or SAME: {padding}")


def _spread_in_blocks(
    value: Tensor, filters: Tensor, shape: Tensor, rate: int, padding: str
) -> Tensor:
    """Return the transposed convolution of blocks in the batch, put together again."""
    taps = np.array(filters.shape.as_list()[:2], np.int32)
    around = (taps - 1) * rate if padding == "SAME" else np.array([0, 0], np.int32)
    before, after = around // 2, around - around // 2
    known = constant_value(shape)
    sizes: Any = shape if known is None else known.astype(np.int32)
    # the result with its borders is cut into blocks; so is what was gathered from it
    full = sizes[1:3] + around
    added = -full % rate
    blocks = (full + added) // rate
    gathered = blocks - taps + 1
    block = np.array([rate, rate], np.int32)
    inside = SPACE_TO_BATCH_ND(value, block, _pairs(0, gathered * rate - _height_width(value)))
    whole = [sizes[0] * rate * rate, blocks[0], blocks[1], sizes[3]]
    spread = CONV_2D_BACKPROP_INPUT(
        _vector(whole), filters, inside, strides=[1] * 4, padding="VALID",
    )  # fmt: skip
    tensor: Tensor = BATCH_TO_SPACE_ND(spread, block, _pairs(before, after + added))
    tensor.set_shape(partial_value(shape))
    return tensor


def _height_width(images: Tensor) -> Any:
    known = images.plain_shape
    if known is None or None in known[1:3]:
        return array_shape.shape(images)[1:3]  # type: ignore[index]
    return np.array(known[1:3], np.int32)


def _pairs(before: Any, after: Any) -> Any:
    """Return [before, after] for height and width, a tensor if one of them is."""
    if not isinstance(after, Tensor):
        return np.stack([np.broadcast_to(before, 2), after], 1).astype(np.int32)
    return raw.Pack([np.broadcast_to(np.int32(before), 2), after], axis=1)


def _vector(numbers: list[Any]) -> Any:
    is_known = not any(isinstance(each, Tensor) for each in numbers)
    return np.array(numbers, np.int32) if is_known else raw.Pack(numbers)
