"""Pooling by maximum that also tells where the maxima stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.ops import pooling_kernels as kernels
from tfdist.ops.pooling import Pooling

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
    pooling = Pooling(ksize, strides, padding, b"NHWC")
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
