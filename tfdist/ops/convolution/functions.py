"""tf.nn's convolutions of sequences, images and volumes, and those that lead gradients back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.convolution.convolution_ops import (
    CONV_2D,
    CONV_2D_BACKPROP_FILTER,
    CONV_2D_BACKPROP_INPUT,
    CONV_3D,
    CONV_3D_BACKPROP_FILTER_V2,
)

__all__ = [
    "conv1d", "conv2d", "conv2d_backprop_filter", "conv2d_backprop_input", "conv3d",
    "conv3d_backprop_filter", "conv3d_backprop_filter_v2",
]  # fmt: skip


def for_all_axes(value: Any, axes: int, data_format: str, what: str) -> list[int]:
    """Return a size or step for each axis of a tensor, batch and channels included.

    Args:
      value: one number, one for each spatial axis, or one for each axis; None for 1.
      axes: how many spatial axes there are.
      data_format: of the tensor, such as "NHWC".
      what: it is, for the message.

    Raises:
      ValueError: it has another length.
    """
    values = [1 if value is None else int(value)] if np.ndim(value) == 0 else list(value)
    if len(values) == axes + 2:
        return values
    if len(values) not in (1, axes):
        wanted = f"1, {axes} or {axes + 2}"
        raise ValueError(f"{what} should be of length {wanted} but was {len(values)}: {values}")
    values = values * axes if len(values) == 1 else values
    return [1, 1, *values] if data_format.startswith("NC") else [1, *values, 1]


def padding_attributes(padding: Any) -> dict[str, Any]:
    """Return the attributes for a padding, which is a name, or pairs of numbers for all axes."""
    if not isinstance(padding, list | tuple):
        if padding == "EXPLICIT":
            raise ValueError(
                '"EXPLICIT" is not a valid value for the padding parameter. To use explicit '
                "padding, the padding parameter must be a list."
            )
        return {"padding": padding}
    _require_pairs(padding)
    flat = [int(each) for pair in padding for each in pair]
    return {"padding": "EXPLICIT", "explicit_paddings": flat}


def _require_pairs(padding: Sequence[Any]) -> None:
    """Raise ValueError unless there is a pair for each axis of images."""
    where = "When padding is a list, each element of padding must be a list/tuple of size 2."
    for place, pair in enumerate(padding):
        if not isinstance(pair, list | tuple):
            raise ValueError(
                f"{where} Element with index {place} of padding is not a list/tuple: {pair}"
            )
        if len(pair) != 2:
            raise ValueError(f"{where} Element with index {place} of padding has size {len(pair)}")
    if len(padding) != 4:
        raise ValueError(
            f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}"
        )


def _of_images(
    op_def: OpDef, inputs: Sequence[Any], strides: Any, padding: Any, cudnn: bool,
    data_format: str | None, dilations: Any, name: str | None,
) -> Tensor:  # fmt: skip
    layout = data_format or "NHWC"
    tensor: Tensor = op_def(
        *inputs,
        strides=for_all_axes(strides, 2, layout, "strides"),
        dilations=for_all_axes(dilations, 2, layout, "dilations"),
        data_format=layout,
        use_cudnn_on_gpu=cudnn,
        **padding_attributes(padding),
        name=name,
    )
    return tensor


def conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Return the convolution of images with filters.

    Args:
      input: [batch, height, width, channels], or as `data_format` says.
      filter: [filter height, filter width, channels, outputs], of the same type.
      strides: from window to window: one number, one for each spatial axis, or one for each axis.
      padding: "SAME" (as many windows as the strides allow, with zeros around), "VALID" (none of
        them reaches outside), or pairs of numbers of zeros, for each axis.
      use_cudnn_on_gpu: taken and not needed.
      data_format: "NHWC" or "NCHW".
      dilations: from tap to tap within a window, in the form of strides.
      name: of the node.
      filters: the later spelling of filter.

    Returns:
      [batch, height, width, outputs]: the sum over the window and channels of pixel * filter.

    Raises:
      ValueError: the channels differ, or no window fits.

    Example: sums of four neighbours.
      >>> image = [[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]]]
      >>> sums = nn.conv2d(image, [[[[1.0]]] * 2] * 2, strides=1, padding="VALID")
      >>> Session().run(sums)[0, :, :, 0]
      array([[12., 16.]], dtype=float32)
    """
    inputs = input, filter if filters is None else filters
    return _of_images(
        CONV_2D, inputs, strides, padding, use_cudnn_on_gpu, data_format, dilations, name
    )


def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Return the gradient of the input of `conv2d`.

    Args:
      input_sizes: int32 [4], the shape of the input.
      filter: of the convolution.
      out_backprop: the gradient of its output.
      strides: of the convolution.
      padding: of the convolution.
      use_cudnn_on_gpu: taken and not needed.
      data_format: of the convolution.
      dilations: of the convolution.
      name: of the node.
      filters: the later spelling of filter.

    Example:
      >>> filter = [[[[3.0]]]]
      >>> Session().run(nn.conv2d_backprop_input([1, 1, 1, 1], filter, [[[[2.0]]]], 1, "SAME"))
      array([[[[6.]]]], dtype=float32)
    """
    inputs = input_sizes, filter if filters is None else filters, out_backprop
    return _of_images(
        CONV_2D_BACKPROP_INPUT, inputs, strides, padding, use_cudnn_on_gpu, data_format, dilations,
        name,
    )  # fmt: skip


def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Return the gradient of the filters of `conv2d`.

    Args:
      input: of the convolution.
      filter_sizes: int32 [4], the shape of the filters.
      out_backprop: the gradient of its output.
      strides: of the convolution.
      padding: of the convolution.
      use_cudnn_on_gpu: taken and not needed.
      data_format: of the convolution.
      dilations: of the convolution.
      name: of the node.

    Example:
      >>> image = [[[[3.0]]]]
      >>> Session().run(nn.conv2d_backprop_filter(image, [1, 1, 1, 1], [[[[2.0]]]], 1, "SAME"))
      array([[[[6.]]]], dtype=float32)
    """
    inputs = input, filter_sizes, out_backprop
    return _of_images(
        CONV_2D_BACKPROP_FILTER, inputs, strides, padding, use_cudnn_on_gpu, data_format,
        dilations, name,
    )  # fmt: skip


def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Return the convolution of sequences with filters: `conv2d` of images with one row.

    Args:
      value: [batch, width, channels], or [batch, channels, width] for "NCW".
      filters: [filter width, channels, outputs].
      stride: from window to window.
      padding: "SAME" or "VALID".
      use_cudnn_on_gpu: taken and not needed.
      data_format: "NWC" (the default) or "NCW"; "NHWC" and "NCHW" mean the same.
      name: of the nodes' scope.
      input: the later spelling of value.
      dilations: from tap to tap within a window.

    Example:
      >>> pairs = nn.conv1d([[[1.0], [2.0], [4.0]]], [[[1.0]], [[1.0]]], 1, "VALID")
      >>> Session().run(pairs)[0, :, 0]
      array([3., 6.], dtype=float32)
    """
    value = value if input is None else input
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW"):
        raise ValueError(f'data_format must be "NWC" or "NCW". Got {data_format!r}')
    first = (data_format or "NWC").startswith("NC")
    layout = "NCW" if first else "NWC"
    with name_scope(name, "conv1d", [value, filters]) as scope:
        axis = 2 if first else 1
        images = raw.ExpandDims(convert_to_tensor(value, name="value"), axis)
        matrix = raw.ExpandDims(filters, 0)
        rows: Tensor = CONV_2D(
            images,
            matrix,
            strides=[1, *for_all_axes(stride, 1, layout, "stride")],
            dilations=[1, *for_all_axes(dilations, 1, layout, "dilations")],
            padding=padding,
            data_format="NCHW" if first else "NHWC",
            name=scope,
        )
        return raw.Squeeze(rows, squeeze_dims=[axis])  # type: ignore[no-any-return]


def conv3d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: str | None = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Return the convolution of volumes with filters.

    Args:
      input: [batch, depth, height, width, channels], or as `data_format` says.
      filter: [filter depth, filter height, filter width, channels, outputs].
      strides: from window to window, for each of the five axes.
      padding: "SAME" or "VALID".
      data_format: "NDHWC" or "NCDHW".
      dilations: from tap to tap within a window, for each of the five axes.
      name: of the node.
      filters: the later spelling of filter.

    Example:
      >>> Session().run(nn.conv3d([[[[[2.0]]]]], [[[[[3.0]]]]], [1] * 5, "SAME"))
      array([[[[[6.]]]]], dtype=float32)
    """
    layout = data_format or "NDHWC"
    tensor: Tensor = CONV_3D(
        input,
        filter if filters is None else filters,
        strides=strides,
        dilations=dilations,
        padding=padding,
        data_format=layout,
        name=name,
    )
    return tensor


def conv3d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Return the gradient of the filters of `conv3d`.

    Args:
      input: of the convolution.
      filter_sizes: int32 [5], the shape of the filters.
      out_backprop: the gradient of its output.
      strides: of the convolution.
      padding: of the convolution.
      data_format: of the convolution.
      dilations: of the convolution.
      name: of the node.

    Example:
      >>> cube = [[[[[3.0]]]]]
      >>> gradient = nn.conv3d_backprop_filter(cube, [1] * 5, [[[[[2.0]]]]], [1] * 5, "SAME")
      >>> Session().run(gradient)
      array([[[[[6.]]]]], dtype=float32)
    """
    layout = data_format or "NDHWC"
    tensor: Tensor = CONV_3D_BACKPROP_FILTER_V2(
        input,
        filter_sizes,
        out_backprop,
        strides=for_all_axes(strides, 3, layout, "strides"),
        dilations=for_all_axes(dilations, 3, layout, "dilations"),
        padding=padding,
        data_format=layout,
        name=name,
    )
    return tensor


conv3d_backprop_filter_v2 = conv3d_backprop_filter
