"""tf.keras.backend: convolutions, poolings, paddings, and CTC.

Source: TF 1.15 API documentation, tf.keras.backend.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.keras_impl.backend.resizing import resized
from tfdist.keras_impl.settings import data_format_of, epsilon
from tfdist.models.layers import window_shapes
from tfdist.ops.array.cast import cast
from tfdist.ops.array.gather_nd import gather_nd
from tfdist.ops.array.pad import pad
from tfdist.ops.array.range import sequence_mask
from tfdist.ops.array.repeat import repeat
from tfdist.ops.array.reshape import expand_dims, reshape, squeeze
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.math.comparison import where
from tfdist.ops.math.elementwise import log
from tfdist.ops.nn import functions as nn
from tfdist.ops.nn.ctc_decode import ctc_beam_search_decoder, ctc_greedy_decoder
from tfdist.ops.nn.ctc_loss import ctc_loss
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.ops.sparse.to_dense import sparse_tensor_to_dense

__all__ = [
    "bias_add", "conv1d", "conv2d", "conv2d_transpose", "conv3d", "ctc_batch_cost", "ctc_decode",
    "ctc_label_dense_to_sparse", "pool2d", "pool3d", "resize_images", "resize_volumes",
    "separable_conv2d", "spatial_2d_padding", "spatial_3d_padding", "temporal_padding",
]  # fmt: skip


def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Any:
    """Return x with a bias for each channel, or for each element of an example, added."""
    x, bias = convert_to_tensor(x), convert_to_tensor(bias)
    rank, first = len(x.plain_shape), window_shapes.is_first(data_format_of(data_format))
    sizes = list(bias.get_shape().as_list())
    if len(sizes) == 1 and not first:
        return nn.bias_add(x, bias) if rank in (2, 4) else x + bias
    if len(sizes) == 1:
        return x + reshape(bias, [1, sizes[0], *[1] * (rank - 2)])
    return x + reshape(bias, [1, sizes[-1], *sizes[:-1]] if first else [1, *sizes])


def _convolved(x: Any, kernel: Any, rank: int, options: tuple[Any, Any, Any, Any]) -> Any:
    strides, padding, data_format, dilation_rate = options
    return nn.convolution(
        x, kernel, window_shapes.padding_of(padding), window_shapes.sizes(strides, rank, "strides"),
        window_shapes.sizes(dilation_rate, rank, "dilation_rate"),
        data_format=window_shapes.layout(rank, window_shapes.is_first(data_format_of(data_format))),
    )  # fmt: skip


def conv1d(
    x: Any, kernel: Any, strides: Any = 1, padding: str = "valid", data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:  # fmt: skip
    """Return what a kernel [window, channels, filters] gives along [batch, steps, channels]."""
    if padding == "causal":
        before = dilation_rate * (kernel.get_shape().as_list()[0] - 1)
        x, padding = temporal_padding(x, (before, 0)), "valid"
    return _convolved(x, kernel, 1, (strides, padding, data_format, dilation_rate))


def conv2d(
    x: Any, kernel: Any, strides: Any = (1, 1), padding: str = "valid",
    data_format: str | None = None, dilation_rate: Any = (1, 1),
) -> Any:  # fmt: skip
    """Return what a kernel [rows, columns, channels, filters] gives over images."""
    return _convolved(x, kernel, 2, (strides, padding, data_format, dilation_rate))


def conv3d(
    x: Any, kernel: Any, strides: Any = (1, 1, 1), padding: str = "valid",
    data_format: str | None = None, dilation_rate: Any = (1, 1, 1),
) -> Any:  # fmt: skip
    """Return what a kernel [planes, rows, columns, channels, filters] gives in volumes."""
    return _convolved(x, kernel, 3, (strides, padding, data_format, dilation_rate))


def conv2d_transpose(
    x: Any, kernel: Any, output_shape: Any, strides: Any = (1, 1), padding: str = "valid",
    data_format: str | None = None, dilation_rate: Any = (1, 1),
) -> Any:  # fmt: skip
    """Return images, each of whose elements is spread over a window of the output."""
    first = window_shapes.is_first(data_format_of(data_format))
    steps = window_shapes.with_channels(window_shapes.sizes(strides, 2, "strides"), first)
    return nn.conv2d_transpose(
        x,
        kernel,
        output_shape,
        steps,
        window_shapes.padding_of(padding),
        window_shapes.layout(2, first),
    )


def separable_conv2d(
    x: Any, depthwise_kernel: Any, pointwise_kernel: Any, strides: Any = (1, 1),
    padding: str = "valid", data_format: str | None = None, dilation_rate: Any = (1, 1),
) -> Any:  # fmt: skip
    """Return what kernels of each channel alone give, mixed by another."""
    first = window_shapes.is_first(data_format_of(data_format))
    return nn.separable_conv2d(
        x, depthwise_kernel, pointwise_kernel, window_shapes.with_channels(strides, first),
        window_shapes.padding_of(padding), window_shapes.sizes(dilation_rate, 2, "dilation_rate"),
        data_format=window_shapes.layout(2, first),
    )  # fmt: skip


def _pooled(x: Any, rank: int, options: tuple[Any, Any, Any, Any], mode: str) -> Any:
    pool_size, strides, padding, data_format = options
    if mode not in ("max", "avg"):
        raise ValueError(f"Invalid pooling mode: {mode}")
    first = window_shapes.is_first(data_format_of(data_format))
    name = ("MaxPool" if mode == "max" else "AvgPool") + ("3D" if rank == 3 else "")
    return getattr(raw, name)(
        x, ksize=window_shapes.with_channels(pool_size, first),
        strides=window_shapes.with_channels(strides, first),
        padding=window_shapes.padding_of(padding), data_format=window_shapes.layout(rank, first),
    )  # fmt: skip


def pool2d(
    x: Any, pool_size: Any, strides: Any = (1, 1), padding: str = "valid",
    data_format: str | None = None, pool_mode: str = "max",
) -> Any:  # fmt: skip
    """Return the greatest element ("max") or the mean ("avg") of each window of images."""
    return _pooled(x, 2, (pool_size, strides, padding, data_format), pool_mode)


def pool3d(
    x: Any, pool_size: Any, strides: Any = (1, 1, 1), padding: str = "valid",
    data_format: str | None = None, pool_mode: str = "max",
) -> Any:  # fmt: skip
    """Return the greatest element ("max") or the mean ("avg") of each window of volumes."""
    return _pooled(x, 3, (pool_size, strides, padding, data_format), pool_mode)


def temporal_padding(x: Any, padding: Any = (1, 1)) -> Any:
    """Return [batch, steps, channels] with steps of zeros before and after."""
    return pad(x, [[0, 0], list(padding), [0, 0]])


def _around(padding: Any, data_format: str | None) -> list[Any]:
    pairs = [list(each) for each in padding]
    is_first = window_shapes.is_first(data_format_of(data_format))
    return [[0, 0], [0, 0], *pairs] if is_first else [[0, 0], *pairs, [0, 0]]


def spatial_2d_padding(
    x: Any, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None
) -> Any:
    """Return images with zeros around them."""
    return pad(x, _around(padding, data_format))


def spatial_3d_padding(
    x: Any, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None
) -> Any:
    """Return volumes with zeros around them."""
    return pad(x, _around(padding, data_format))


def resize_images(
    x: Any, height_factor: int, width_factor: int, data_format: str, interpolation: str = "nearest"
) -> Any:
    """Return images with several times as many rows and columns."""
    times = (height_factor, width_factor)
    return resized(x, times, window_shapes.is_first(data_format), interpolation)


def resize_volumes(
    x: Any, depth_factor: int, height_factor: int, width_factor: int, data_format: str
) -> Any:
    """Return volumes with each plane, row and column repeated."""
    start = 2 if window_shapes.is_first(data_format) else 1
    for axis, times in enumerate((depth_factor, height_factor, width_factor)):
        x = repeat(x, times, start + axis)
    return x


def ctc_label_dense_to_sparse(labels: Any, label_lengths: Any) -> Any:
    """Return rows of labels [batch, length], each with its own length, as a SparseTensor."""
    known: Any = shape(labels)
    kept = where(sequence_mask(label_lengths, known[1]))
    return SparseTensor(kept, gather_nd(labels, kept), cast(known, dtypes.int64))


def ctc_decode(
    y_pred: Any, input_length: Any, greedy: bool = True, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[Any], Any]:
    """Return the likeliest labels, -1 after their ends, and how likely they are.

    Args:
      y_pred: probabilities [batch, steps, classes].
      input_length: number of steps [batch].
      greedy: whether the likeliest class of each step is taken.
      beam_width: how many beginnings are followed otherwise.
      top_paths: how many rows of labels are returned, if it is not greedy.
    """
    steps_first: Any = transpose(y_pred, [1, 0, 2])
    scores, steps = log(steps_first + epsilon()), cast(input_length, dtypes.int32)
    if greedy:
        decoded, likely = ctc_greedy_decoder(scores, steps)
    else:
        decoded, likely = ctc_beam_search_decoder(
            scores, steps, beam_width, top_paths, merge_repeated=False
        )
    return [sparse_tensor_to_dense(each, default_value=-1) for each in decoded], likely


def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Any:
    """Return the CTC loss [batch, 1] of probabilities.

    Args:
      y_true: labels [batch, length].
      y_pred: probabilities [batch, steps, classes].
      input_length: number of steps [batch, 1].
      label_length: number of labels [batch, 1].
    """
    labels = squeeze(cast(label_length, dtypes.int32), [-1])
    steps = squeeze(cast(input_length, dtypes.int32), [-1])
    wanted = cast(ctc_label_dense_to_sparse(y_true, labels), dtypes.int32)
    steps_first: Any = transpose(y_pred, [1, 0, 2])
    scores = log(steps_first + epsilon())
    return expand_dims(ctc_loss(labels=wanted, inputs=scores, sequence_length=steps), 1)
