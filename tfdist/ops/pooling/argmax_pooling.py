"""Pooling by maximum that also tells where the maxima stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.ops.convolution.functions import for_all_axes
from tfdist.ops.pooling import kernels
from tfdist.ops.pooling.pooling_ops import Pooling

__all__ = ["max_pool_with_argmax"]

_WINDOWS = "ksize: list(int) >=4; strides: list(int) >=4; "
_REST = "padding: string {SAME,VALID}; include_batch_in_index: bool = False"
MAX_POOL_WITH_ARGMAX = OpDef(
    "MaxPoolWithArgmax(input: T) -> output: T, argmax: Targmax "
    f"[{_WINDOWS}Targmax: type = int64 {{index}}; {_REST}; T: type {{real}}]"
)
MAX_POOL_GRAD_WITH_ARGMAX = OpDef(
    "MaxPoolGradWithArgmax(input: T, grad: T, argmax: Targmax) -> output: T "
    f"[{_WINDOWS}{_REST}; Targmax: type {{index}}; T: type {{real}}]"
)
MAX_POOL_GRAD_GRAD_WITH_ARGMAX = OpDef(
    "MaxPoolGradGradWithArgmax(input: T, grad: T, argmax: Targmax) -> output: T "
    f"[{_WINDOWS}{_REST}; Targmax: type {{index}}; T: type {{real}}]"
)


@MAX_POOL_WITH_ARGMAX.shape
def max_pool_with_argmax_shape(
    input: Shape, *, ksize: Any, strides: Any, padding: bytes
) -> list[Shape]:
    return [Pooling(ksize, strides, padding, b"NHWC").shape(input)] * 2


@MAX_POOL_WITH_ARGMAX.kernel
def max_pool_with_argmax_kernel(
    input: Any,
    *,
    ksize: Any,
    strides: Any,
    padding: bytes,
    include_batch_in_index: bool,
    Targmax: DType,
) -> Any:
    pooling = Pooling(ksize, strides, padding, b"NHWC").checked()
    windows = pooling.windows(input.shape)
    arranged = pooling.arranged(input)
    output = kernels.maximum(arranged, windows)
    found = kernels.places(arranged, output, windows, include_batch_in_index)
    return [pooling.back(output), pooling.back(found.astype(Targmax.as_numpy_dtype))]


@MAX_POOL_WITH_ARGMAX.gradient
def max_pool_with_argmax_gradient(op: Any, d_output: Any, _: Any) -> Any:
    if d_output is None:
        return None
    return raw.MaxPoolGradWithArgmax(op.inputs[0], d_output, op.outputs[1], **_attributes(op))


def _attributes(op: Any) -> dict[str, Any]:
    names = ("ksize", "strides", "padding", "include_batch_in_index")
    return {name: op.get_attr(name) for name in names}


MAX_POOL_GRAD_WITH_ARGMAX.shape(lambda input, grad, argmax: input or (None,) * 4)


@MAX_POOL_GRAD_WITH_ARGMAX.kernel
def max_pool_grad_with_argmax_kernel(
    input: Any, grad: Any, argmax: Any, *, include_batch_in_index: bool
) -> Any:
    d_input = np.zeros(input.size, grad.dtype)
    np.add.at(d_input, _places(input, argmax, include_batch_in_index), grad.reshape(-1))
    return d_input.reshape(input.shape)


def _places(input: Any, argmax: Any, with_batch: bool) -> Any:
    """Return places in the whole flat input."""
    rows = argmax.reshape(len(argmax), -1).astype(np.int64)
    if not with_batch:
        rows = rows + np.arange(len(rows))[:, np.newaxis] * (input.size // max(len(input), 1))
    if rows.size and not 0 <= rows.min() <= rows.max() < input.size:
        raise InvalidArgumentError(
            f"argmax must be in [0, {input.size}) for an input of shape {list(input.shape)}, but "
            f"has {rows.min()} and {rows.max()}"
        )
    return rows.reshape(-1)


MAX_POOL_GRAD_WITH_ARGMAX.gradient(
    lambda op, d: (
        raw.ZerosLike(op.inputs[0]),
        raw.MaxPoolGradGradWithArgmax(op.inputs[0], d, op.inputs[2], **_attributes(op)),
        None,
    )
)
MAX_POOL_GRAD_GRAD_WITH_ARGMAX.shape(lambda input, grad, argmax: argmax or (None,) * 4)


@MAX_POOL_GRAD_GRAD_WITH_ARGMAX.kernel
def max_pool_grad_grad_with_argmax_kernel(
    input: Any, grad: Any, argmax: Any, *, include_batch_in_index: bool
) -> Any:
    return grad.reshape(-1)[_places(input, argmax, include_batch_in_index)].reshape(argmax.shape)


MAX_POOL_GRAD_GRAD_WITH_ARGMAX.gradient(
    lambda op, d: (
        raw.ZerosLike(op.inputs[0]),
        raw.MaxPoolGradWithArgmax(op.inputs[0], d, op.inputs[2], **_attributes(op)),
        None,
    )
)


def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    Targmax: Any = None,
    name: str | None = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> Any:
    """Return the maximum of each window of images, and where it stands.

    Args:
      input: [batch, height, width, channels].
      ksize: sizes of the windows.
      strides: from window to window.
      padding: "SAME" or "VALID".
      data_format: "NHWC".
      Targmax: type of the places, int64 or int32.
      name: of the node.
      output_dtype: the later spelling of Targmax.
      include_batch_in_index: whether the places count on from image to image.

    Returns:
      The maxima, and their places: (row * width + column) * channels + channel.

    Raises:
      ValueError: the data format is another.

    Example:
      >>> image = [[[[1.0], [2.0], [3.0], [0.0]]]]
      >>> best, places = nn.max_pool_with_argmax(image, [1, 1, 2, 1], [1, 1, 2, 1], "VALID")
      >>> Session().run(places)[0, 0, :, 0]
      array([1, 2])
    """
    if data_format != "NHWC":
        raise ValueError(f"data_format must be NHWC, but is {data_format}")
    return MAX_POOL_WITH_ARGMAX(
        input,
        ksize=for_all_axes(ksize, 2, data_format, "ksize"),
        strides=for_all_axes(strides, 2, data_format, "strides"),
        padding=padding,
        Targmax=Targmax or output_dtype or dtypes.int64,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )
