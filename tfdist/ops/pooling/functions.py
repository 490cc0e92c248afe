"""tf.nn's poolings of sequences, images and volumes, in the spellings of all versions."""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.convolution.dilated import layout_of, steps_and_rates, with_space_to_batch
from tfdist.ops.convolution.functions import for_all_axes
from tfdist.ops.pooling.pooling_ops import AVG_POOL, AVG_POOL_3D, MAX_POOL, MAX_POOL_3D

__all__ = [
    "avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d", "avg_pool_v2", "max_pool", "max_pool1d",
    "max_pool2d", "max_pool3d", "max_pool_v2", "pool",
]  # fmt: skip


def _pooled(
    op_def: OpDef, value: Any, ksize: Any, strides: Any, padding: str, data_format: str | None,
    name: str,
) -> Tensor:  # fmt: skip
    axes = 3 if op_def in (MAX_POOL_3D, AVG_POOL_3D) else 2
    layout = data_format or ("NHWC" if axes == 2 else "NDHWC")
    tensor: Tensor = op_def(
        value,
        ksize=for_all_axes(ksize, axes, layout, "ksize"),
        strides=for_all_axes(strides, axes, layout, "strides"),
        padding=padding,
        data_format=layout,
        name=name,
    )
    return tensor


def _pooled_row(
    op_def: OpDef, value: Any, ksize: Any, strides: Any, padding: str, data_format: str | None,
    name: str,
) -> Tensor:  # fmt: skip
    """Return the pooling of sequences: that of images with one row."""
    first = (data_format or "NWC").startswith("NC")
    layout, axis = ("NCW", 2) if first else ("NWC", 1)
    images = raw.ExpandDims(value, axis)
    rows = op_def(
        images,
        ksize=[1, *for_all_axes(ksize, 1, layout, "ksize")],
        strides=[1, *for_all_axes(strides, 1, layout, "strides")],
        padding=padding,
        data_format="NCHW" if first else "NHWC",
        name=name,
    )
    return raw.Squeeze(rows, squeeze_dims=[axis])  # type: ignore[no-any-return]


def max_pool(
    value: Any = None,
    ksize: Any = None,
    strides: Any = None,
    padding: str = "VALID",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """Return the maximum of each window of images.

    Args:
      value: [batch, height, width, channels], or as `data_format` says.
      ksize: sizes of the windows: one number, one for each spatial axis, or one for each axis.
      strides: from window to window, in the same form.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      name: of the node.
      input: the later spelling of value.

    Raises:
      ValueError: no window fits.

    Example:
      >>> image = [[[[1.0], [2.0], [3.0], [0.0]]]]
      >>> Session().run(nn.max_pool(image, [1, 1, 2, 1], [1, 1, 2, 1], "VALID"))[0, 0, :, 0]
      array([2., 3.], dtype=float32)
    """
    value = value if input is None else input
    with name_scope(name, "MaxPool", [value]) as scope:
        return _pooled(MAX_POOL, value, ksize, strides, padding, data_format, scope)


def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """Return the maximum of each window of images.

    Args:
      input: [batch, height, width, channels], or as `data_format` says.
      ksize: sizes of the windows: one number, one for each spatial axis, or one for each axis.
      strides: from window to window, in the same form.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      name: of the node.

    Example:
      >>> Session().run(nn.max_pool2d([[[[1.0], [2.0]], [[4.0], [3.0]]]], 2, 2, "SAME"))
      array([[[[4.]]]], dtype=float32)
    """
    with name_scope(name, "MaxPool2d", [input]) as scope:
        return _pooled(MAX_POOL, input, ksize, strides, padding, data_format, scope)


def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """Return the maximum of each window of sequences.

    Args:
      input: [batch, width, channels], or [batch, channels, width] for "NCW".
      ksize: size of the windows.
      strides: from window to window.
      padding: "SAME" or "VALID".
      data_format: "NWC" or "NCW".
      name: of the nodes' scope.

    Example:
      >>> Session().run(nn.max_pool1d([[[1.0], [2.0], [3.0], [0.0]]], 2, 2, "VALID"))[0, :, 0]
      array([2., 3.], dtype=float32)
    """
    with name_scope(name, "MaxPool1d", [input]) as scope:
        return _pooled_row(MAX_POOL, input, ksize, strides, padding, data_format, scope)


def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """Return the maximum of each window of volumes.

    Args:
      input: [batch, depth, height, width, channels], or as `data_format` says.
      ksize: sizes of the windows: one number, one for each spatial axis, or one for each axis.
      strides: from window to window, in the same form.
      padding: "SAME" or "VALID".
      data_format: "NDHWC" or "NCDHW".
      name: of the node.

    Example:
      >>> Session().run(nn.max_pool3d([[[[[1.0], [2.0]]]]], [1, 1, 2], 1, "VALID"))
      array([[[[[2.]]]]], dtype=float32)
    """
    with name_scope(name, "MaxPool3D", [input]) as scope:
        return _pooled(MAX_POOL_3D, input, ksize, strides, padding, data_format, scope)


def avg_pool(
    value: Any = None,
    ksize: Any = None,
    strides: Any = None,
    padding: str = "VALID",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """Return the mean of each window of images; what is outside is not counted.

    Args:
      value: [batch, height, width, channels], or as `data_format` says.
      ksize: sizes of the windows: one number, one for each spatial axis, or one for each axis.
      strides: from window to window, in the same form.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      name: of the node.
      input: the later spelling of value.

    Example:
      >>> image = [[[[1.0], [2.0], [3.0]]]]
      >>> Session().run(nn.avg_pool(image, [1, 1, 2, 1], [1, 1, 2, 1], "SAME"))[0, 0, :, 0]
      array([1.5, 3. ], dtype=float32)
    """
    value = value if input is None else input
    with name_scope(name, "AvgPool", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        return _pooled(AVG_POOL, value, ksize, strides, padding, data_format, scope)


avg_pool2d = avg_pool


def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """Return the mean of each window of sequences; what is outside is not counted.

    Args:
      input: [batch, width, channels], or [batch, channels, width] for "NCW".
      ksize: size of the windows.
      strides: from window to window.
      padding: "SAME" or "VALID".
      data_format: "NWC" or "NCW".
      name: of the nodes' scope.

    Example:
      >>> Session().run(nn.avg_pool1d([[[1.0], [2.0], [3.0], [0.0]]], 2, 2, "VALID"))[0, :, 0]
      array([1.5, 1.5], dtype=float32)
    """
    with name_scope(name, "AvgPool1D", [input]) as scope:
        return _pooled_row(AVG_POOL, input, ksize, strides, padding, data_format, scope)


def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """Return the mean of each window of volumes; what is outside is not counted.

    Args:
      input: [batch, depth, height, width, channels], or as `data_format` says.
      ksize: sizes of the windows: one number, one for each spatial axis, or one for each axis.
      strides: from window to window, in the same form.
      padding: "SAME" or "VALID".
      data_format: "NDHWC" or "NCDHW".
      name: of the node.

    Example:
      >>> Session().run(nn.avg_pool3d([[[[[1.0], [2.0]]]]], [1, 1, 2], 1, "VALID"))
      array([[[[[1.5]]]]], dtype=float32)
    """
    with name_scope(name, "AvgPool3D", [input]) as scope:
        return _pooled(AVG_POOL_3D, input, ksize, strides, padding, data_format, scope)


def _by_rank(functions: Any, input: Any, *arguments: Any) -> Tensor:
    tensor = convert_to_tensor(input, name="input")
    rank = 4 if tensor.plain_shape is None else len(tensor.plain_shape)
    if rank not in (3, 4, 5):
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank}")
    result: Tensor = functions[rank - 3](tensor, *arguments)
    return result


def max_pool_v2(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Return `max_pool1d`, `max_pool` or `max_pool3d`, by the rank of `input`.

    Args:
      input: of rank 3, 4 or 5.
      ksize: sizes of the windows.
      strides: from window to window.
      padding: "SAME" or "VALID".
      data_format: by default with the channels at the end.
      name: of the nodes.

    Example:
      >>> Session().run(nn.max_pool_v2([[[1.0], [2.0]]], 2, 2, "VALID"))
      array([[[2.]]], dtype=float32)
    """
    return _by_rank(
        (max_pool1d, max_pool, max_pool3d), input, ksize, strides, padding, data_format, name
    )


def avg_pool_v2(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Return `avg_pool1d`, `avg_pool` or `avg_pool3d`, by the rank of `input`.

    Args:
      input: of rank 3, 4 or 5.
      ksize: sizes of the windows.
      strides: from window to window.
      padding: "SAME" or "VALID".
      data_format: by default with the channels at the end.
      name: of the nodes.

    Example:
      >>> Session().run(nn.avg_pool_v2([[[1.0], [2.0]]], 2, 2, "VALID"))
      array([[[1.5]]], dtype=float32)
    """
    return _by_rank(
        (avg_pool1d, avg_pool, avg_pool3d), input, ksize, strides, padding, data_format, name
    )


def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    padding: str,
    dilation_rate: Any = None,
    strides: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Return the maximum or mean of each window, over one, two or three spatial axes.

    Args:
      input: [batch, spatial axes..., channels], or channels second if `data_format` says so.
      window_shape: sizes of the windows, for each spatial axis.
      pooling_type: "MAX" or "AVG".
      padding: "SAME" or "VALID".
      dilation_rate: from tap to tap within a window, for each spatial axis.
      strides: from window to window, for each spatial axis.
      name: of the nodes' scope.
      data_format: begins with "NC" if the channels stand in front.
      dilations: the later spelling of dilation_rate.

    Raises:
      ValueError: the type is another, or both strides and steps between taps are more than 1.

    Example:
      >>> Session().run(nn.pool([[[1.0], [2.0], [4.0]]], [2], "MAX", "VALID"))[0, :, 0]
      array([2., 4.], dtype=float32)
    """
    kinds = {"MAX": (MAX_POOL, MAX_POOL_3D), "AVG": (AVG_POOL, AVG_POOL_3D)}
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        tensor = convert_to_tensor(input, name="input")
        axes = len(window_shape)
        tensor.shape.assert_has_rank(axes + 2)
        rates = dilations if dilation_rate is None else dilation_rate
        rates, steps = steps_and_rates(
            _for_each(strides, axes, "strides"), _for_each(rates, axes, "dilation_rate")
        )
        if padding == "SAME" and max(rates, default=1) > 1:
            raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")
        if pooling_type not in kinds or not 1 <= axes <= 3:
            raise ValueError(
                f"{axes}-D {pooling_type} pooling is not supported: pool takes MAX or AVG, over "
                "1, 2 or 3 spatial axes"
            )
        function = _pooled_row if axes == 1 else _pooled

        def pooled(blocks: Tensor, _: int, padding: str) -> Tensor:
            op_def, layout = kinds[pooling_type][axes == 3], layout_of(axes, data_format)
            return function(op_def, blocks, window_shape, steps, padding, layout, scope)

        return with_space_to_batch(
            tensor, rates, padding, pooled, window_shape, data_format=data_format
        )


def _for_each(values: Any, axes: int, what: str) -> list[int]:
    """Return a step for each of the spatial axes: 1 by default."""
    steps = [1] * axes if values is None else [int(each) for each in values]
    if len(steps) != axes:
        raise ValueError(f"len({what})={len(steps)} but should be {axes}")
    return steps
