"""Batch normalization in one op: forwards, its gradient, and the gradient of that.

What `is_training` is False for takes mean and variance as they come; otherwise they are those of
the batch. The second and third versions have 16-bit images with float32 numbers for each channel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.autodiff.gradients import gradients
from tfdist.ops.convolution.windows import (
    channels_back,
    channels_last,
    channels_of,
    has_channels_first,
    pieces,
)
from tfdist.ops.math.reduction_kernels import widened
from tfdist.ops.nn import batch_normalization_onednn

__all__ = ["fused_batch_norm"]

LEAST_EPSILON = 1.001e-5  # cuDNN takes no less, and TensorFlow makes it this everywhere
_ATTRS = (
    "epsilon: float = 9.999999747378752e-05; data_format: string = 'NHWC' {FORMATS}; "
    "is_training: bool = True"
)


def batch_norm(version: str, x: str, channel: str) -> tuple[OpDef, OpDef]:
    """Define a version of the op and of its gradient.

    Args:
      version: "", "V2" or "V3", as the names end.
      x: the types of the images.
      channel: the attribute with the type of what there is for each channel.
    """
    types = f"T: type {{{x}}}; " + ("" if channel == "T" else "U: type {float32}; ")
    attrs = types + _ATTRS.replace("FORMATS", "NHWC,NCHW")
    third = f", reserve_space_3: {channel}" if version == "V3" else ""
    scale = channel if version == "" else "float32"
    forward = OpDef(
        f"FusedBatchNorm{version}(x: T, scale: {channel}, offset: {channel}, mean: {channel}, "
        f"variance: {channel}) -> y: T, batch_mean: {channel}, batch_variance: {channel}, "
        f"reserve_space_1: {channel}, reserve_space_2: {channel}{third} [{attrs}]"
    )
    last = (4, 5) if version == "V3" else (3, 4)
    backward = OpDef(
        f"FusedBatchNormGrad{version}(y_backprop: T, x: T, scale: {scale}, "
        f"reserve_space_1: {channel}, reserve_space_2: {channel}{third}) -> x_backprop: T, "
        f"scale_backprop: {channel}, offset_backprop: {channel}, "
        f"reserve_space_{last[0]}: {channel}, reserve_space_{last[1]}: {channel} [{attrs}]"
    )
    has_third = version == "V3"
    forward.checked_shape(_forward_shape_3 if has_third else _forward_shape)
    forward.kernel(_forward_kernel_3 if has_third else _forward_kernel)
    forward.gradient(_forward_gradient)
    backward.checked_shape(_backward_shape_3 if has_third else _backward_shape)
    backward.kernel(_backward_kernel_3 if has_third else _backward_kernel)
    backward.gradient(_backward_gradient)
    return forward, backward


def _forward_shape(
    x: Shape, scale: Shape, offset: Shape, mean: Shape, variance: Shape, *, data_format: bytes,
    is_training: bool,
) -> list[Shape]:  # fmt: skip
    shapes.require_rank(x, "x", 4)
    channels = None if x is None else channels_of(x, data_format)
    own = {"scale": scale, "offset": offset}
    own |= {} if is_training else {"mean": mean, "variance": variance}
    for name, shape in own.items():
        shapes.require_rank(shape, name, 1)
        of_one = None if shape is None else shape[0]
        channels = shapes.merge_dim(channels, of_one, f"channels of x and {name}")
    if x is None:
        return [(None,) * 4] + [(channels,)] * 4
    first = has_channels_first(data_format)
    y: Shape = (x[0], channels, *x[2:]) if first else (*x[:-1], channels)
    return [y] + [(channels,)] * 4


def _forward_shape_3(
    x: Shape, scale: Shape, offset: Shape, mean: Shape, variance: Shape, *, data_format: bytes,
    is_training: bool,
) -> list[Shape]:  # fmt: skip
    found = _forward_shape(
        x, scale, offset, mean, variance, data_format=data_format, is_training=is_training
    )
    return [*found, ()]


def _forward_kernel(
    x: Any, scale: Any, offset: Any, mean: Any, variance: Any, *, epsilon: float,
    data_format: bytes, is_training: bool,
) -> list[Any]:  # fmt: skip
    images = channels_last(x, data_format)
    if not is_training:
        made = _scaled(images, mean, variance + scale.dtype.type(epsilon), scale, offset)
        return [channels_back(made, data_format), mean, variance, mean, variance]
    if mean.size or variance.size:
        raise InvalidArgumentError(
            f"mean and variance must be empty for training, got the shapes "
            f"{list(mean.shape)} and {list(variance.shape)}"
        )
    made, mean, variance = _normalized(images, scale, offset, epsilon)
    count = images.size // max(images.shape[-1], 1)
    unbiased = variance * scale.dtype.type(count / max(count - 1, 1))
    return [channels_back(made, data_format), mean, unbiased, mean, variance]


def _normalized(images: Any, scale: Any, offset: Any, epsilon: float) -> Any:
    """Return images normalized by their own moments, and these."""
    found = batch_normalization_onednn.normalized(images, scale, offset, epsilon)
    if found is not None:
        return found
    mean, variance = _moments(_rows(images))
    made = _scaled(images, mean, variance + scale.dtype.type(epsilon), scale, offset)
    return made, mean, variance


def _rows(images: Any) -> Any:
    """Return [batch * height * width, channels]."""
    return images.reshape(-1, images.shape[-1])


def _forward_kernel_3(
    x: Any, scale: Any, offset: Any, mean: Any, variance: Any, *, epsilon: float,
    data_format: bytes, is_training: bool,
) -> list[Any]:  # fmt: skip
    found = _forward_kernel(
        x, scale, offset, mean, variance, epsilon=epsilon, data_format=data_format,
        is_training=is_training,
    )  # fmt: skip
    return [*found, scale.dtype.type(0)]


def _moments(rows: Any) -> tuple[Any, Any]:
    """Return mean and variance of each column, in float32 at least; NaN for no rows."""
    count, dtype = len(rows), widened(rows[:1]).dtype
    if not count:
        return (np.full(rows.shape[1], np.nan, dtype),) * 2
    mean = _column_sums(rows) / dtype.type(count)
    squares = np.zeros_like(mean)
    for distance, _ in _distances(rows, mean):
        squares += np.einsum("ij,ij->j", distance, distance)
    return mean, squares / dtype.type(count)


def _distances(rows: Any, mean: Any) -> Iterator[tuple[Any, slice]]:
    """Yield parts of rows - mean, all in one place, and where they are from."""
    place = None
    for part in pieces(len(rows), rows[:1].nbytes):
        place = np.empty(rows[part].shape, mean.dtype) if place is None else place
        yield np.subtract(rows[part], mean, out=place[: len(rows[part])]), part


def _column_sums(rows: Any) -> Any:
    wide = widened(rows)
    return np.dot(np.ones(len(wide), wide.dtype), wide)


def _scaled(images: Any, mean: Any, variance: Any, scale: Any, offset: Any) -> Any:
    factor = scale / np.sqrt(variance)
    rest = offset - mean * factor
    rows = _rows(images)
    out = np.empty(rows.shape, rows.dtype)
    for part in pieces(len(rows), rows[:1].nbytes):
        if out.dtype == factor.dtype:
            np.add(np.multiply(rows[part], factor, out=out[part]), rest, out=out[part])
        else:
            out[part] = rows[part] * factor + rest
    return out.reshape(images.shape)


def _forward_gradient(op: Any, d_y: Any, *_: Any) -> Any:
    """Return the gradients that go through y: moments that are fetched besides give none."""
    if d_y is None:
        return (None,) * 5
    training = op.get_attr("is_training")
    moments = op.outputs[3:] if training else [*op.inputs[3:5], *op.outputs[5:]]
    name = op.type.replace("Norm", "NormGrad")
    attrs = {key: op.get_attr(key) for key in ("epsilon", "data_format", "is_training")}
    found = getattr(raw, name)(d_y, op.inputs[0], op.inputs[1], *moments, **attrs)
    return (*found[:3], None, None)


def _backward_shape(
    y_backprop: Shape, x: Shape, scale: Shape, reserve_space_1: Shape, reserve_space_2: Shape, *,
    data_format: bytes,
) -> list[Shape]:  # fmt: skip
    both = shapes.merge(y_backprop, x, "x and y_backprop")
    shapes.require_rank(both, "x", 4)
    channels = None if both is None else channels_of(both, data_format)
    shapes.require_rank(scale, "scale", 1)
    if scale is not None:
        channels = shapes.merge_dim(channels, scale[0], "channels of x and scale")
    return [both or (None,) * 4, (channels,), (channels,), (0,), (0,)]


def _backward_shape_3(
    y_backprop: Shape, x: Shape, scale: Shape, reserve_space_1: Shape, reserve_space_2: Shape,
    reserve_space_3: Shape, *, data_format: bytes,
) -> list[Shape]:  # fmt: skip
    return _backward_shape(
        y_backprop, x, scale, reserve_space_1, reserve_space_2, data_format=data_format
    )


def _backward_kernel(
    y_backprop: Any, x: Any, scale: Any, reserve_space_1: Any, reserve_space_2: Any, *,
    epsilon: float, data_format: bytes, is_training: bool,
) -> list[Any]:  # fmt: skip
    images, d_made = channels_last(x, data_format), channels_last(y_backprop, data_format)
    moments = reserve_space_1, reserve_space_2
    found = None
    if is_training:
        found = batch_normalization_onednn.to_images(d_made, images, scale, *moments, epsilon)
    if found is None:
        found = _to_rows(_rows(d_made), _rows(images), scale, *moments, epsilon, is_training)
    d_images, d_scale, d_offset = found
    none = np.zeros(0, scale.dtype)
    d_x = channels_back(d_images.reshape(images.shape), data_format)
    return [d_x, d_scale, d_offset, none, none]


def _to_rows(
    d_rows: Any, rows: Any, scale: Any, mean: Any, variance: Any, epsilon: float, is_training: bool
) -> tuple[Any, Any, Any]:
    """Return the gradients of rows, scale and offset."""
    root = 1 / np.sqrt(variance + scale.dtype.type(epsilon))
    d_offset, d_scale = _sums(rows, d_rows, mean, root)
    d_rows_of_x = np.empty(rows.shape, rows.dtype)
    factor, count = scale * root, scale.dtype.type(max(len(rows), 1))
    if is_training:  # mean and variance move with x, so what is along them does not count
        slope, level = -factor * root * d_scale / count, -factor * d_offset / count
        for along, part in _distances(rows, mean):
            along *= slope
            along += level
            along += d_rows[part] * factor
            d_rows_of_x[part] = along
    else:
        np.multiply(d_rows, factor, out=d_rows_of_x, casting="same_kind")
    return d_rows_of_x, d_scale, d_offset


def _backward_kernel_3(
    y_backprop: Any, x: Any, scale: Any, reserve_space_1: Any, reserve_space_2: Any,
    reserve_space_3: Any, *, epsilon: float, data_format: bytes, is_training: bool,
) -> list[Any]:  # fmt: skip
    return _backward_kernel(
        y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon=epsilon,
        data_format=data_format, is_training=is_training,
    )  # fmt: skip


def _sums(rows: Any, d_rows: Any, mean: Any, root: Any) -> tuple[Any, Any]:
    """Return the sums of the gradient of y, and of it times the normalized x."""
    d_scale = np.zeros_like(mean)
    for distance, part in _distances(rows, mean):
        d_scale += np.einsum("ij,ij->j", distance, widened(d_rows[part]))
    return _column_sums(d_rows), d_scale * root


def _backward_gradient(op: Any, d_x: Any, d_scale: Any, d_offset: Any, *_: Any) -> Any:
    """Return the gradients of what `_backward_kernel` computes, made of small ops."""
    # one tensor may be several of the inputs: each gets what belongs to it
    d_y, x, scale = map(raw.Identity, op.inputs[:3])
    mean, variance = op.inputs[3:5]
    found = _composed(op, d_y, x, scale, mean, variance)
    pairs = [(y, d) for y, d in zip(found, (d_x, d_scale, d_offset), strict=True) if d is not None]
    ys, d_ys = zip(*pairs, strict=True)
    return (*gradients(ys, [d_y, x, scale], list(d_ys)), *(None for _ in op.inputs[3:]))


def _composed(op: Any, d_y: Any, x: Any, scale: Any, mean: Any, variance: Any) -> list[Tensor]:
    """Return the first three outputs of the gradient op as functions of its inputs.

    For training, mean and variance are made of x once more, since they move with it.
    """
    first, training = has_channels_first(op.get_attr("data_format")), op.get_attr("is_training")
    axes = [0, 2, 3] if first else [0, 1, 2]
    dtype = x.dtype

    def of_channels(tensor: Any) -> Any:
        return raw.Reshape(tensor, [1, -1, 1, 1] if first else [1, 1, 1, -1])

    x, d_y = (raw.Cast(each, DstT=dtypes.float32) for each in (x, d_y))
    mean, variance, scale = map(of_channels, (mean, variance, scale))
    if training:
        mean = raw.Mean(x, axes, keep_dims=True)
        variance = raw.Mean(raw.SquaredDifference(x, mean), axes, keep_dims=True)
    root = raw.Rsqrt(variance + op.get_attr("epsilon"))
    normal = (x - mean) * root
    rest = d_y
    if training:
        rest = d_y - raw.Mean(d_y, axes, keep_dims=True)
        rest = rest - normal * raw.Mean(d_y * normal, axes, keep_dims=True)
    d_x = raw.Cast(rest * scale * root, DstT=dtype)
    return [d_x, raw.Sum(d_y * normal, axes), raw.Sum(d_y, axes)]


FUSED_BATCH_NORM, FUSED_BATCH_NORM_GRAD = batch_norm("", "float32", "T")
FUSED_BATCH_NORM_V2, FUSED_BATCH_NORM_GRAD_V2 = batch_norm("V2", "float16,bfloat16,float32", "U")
FUSED_BATCH_NORM_V3, FUSED_BATCH_NORM_GRAD_V3 = batch_norm("V3", "float16,bfloat16,float32", "U")


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return images normalized for each channel, in one node.

    Args:
      x: [batch, height, width, channels], or as `data_format` says.
      scale: [channels], factor of what is normalized.
      offset: [channels], added to it.
      mean: [channels], of the population, where it is not for training.
      variance: [channels], of the population, where it is not for training.
      epsilon: added to the variance.
      data_format: "NHWC" or "NCHW".
      is_training: whether mean and variance are those of the batch.
      name: of the node.

    Returns:
      The normalized images, the mean, and the variance (unbiased, where it is the batch's).

    Raises:
      ValueError: mean or variance are given for training.

    Source: Ioffe and Szegedy 2015, algorithm 1.

    Example:
      >>> image = [[[[1.0], [3.0]]]]
      >>> y, mean, variance = nn.fused_batch_norm(image, [10.0], [0.0], epsilon=1e-4)
      >>> Session().run([mean, variance])
      [array([2.], dtype=float32), array([2.], dtype=float32)]
    """
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    if is_training and (mean is not None or variance is not None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True")
    nothing = np.zeros(0, np.float32)
    if mean is None:
        mean = raw.Const(value=nothing, dtype=dtypes.float32)
    if variance is None:
        variance = raw.Const(value=nothing, dtype=dtypes.float32)
    y, batch_mean, batch_variance, *_ = FUSED_BATCH_NORM_V3(
        x, scale, offset, mean, variance, epsilon=max(epsilon, LEAST_EPSILON),
        data_format=data_format, is_training=is_training, name=name,
    )  # fmt: skip
    return y, batch_mean, batch_variance
