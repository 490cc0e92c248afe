"""Images scaled and moved at once: ScaleAndTranslate and its gradient.

Each axis is a product with a matrix: how much each old place counts for each new one.

Source: TF 1.15 API documentation, tf.raw_ops.ScaleAndTranslate; the kernels are those of
Duchon, "Lanczos Filtering in One and Two Dimensions", 1979, and of Mitchell and Netravali,
"Reconstruction Filters in Computer Graphics", 1988.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw

__all__: list[str] = []


def _lanczos(radius: int) -> Callable[[Any], Any]:
    return lambda x: np.sinc(x) * np.sinc(x / radius)


def _cubic(b: float, c: float) -> Callable[[Any], Any]:
    """Return the cubic kernel with Mitchell's and Netravali's parameters, for x of 0 or more."""

    def kernel(x: Any) -> Any:
        near = (12 - 9 * b - 6 * c) * x**3 + (-18 + 12 * b + 6 * c) * x**2 + 6 - 2 * b
        far = (-b - 6 * c) * x**3 + (6 * b + 30 * c) * x**2 + (-12 * b - 48 * c) * x
        return np.where(x < 1, near, far + 8 * b + 24 * c) / 6

    return kernel


# How far a kernel reaches, and what it is at a distance.
KERNELS: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "lanczos1": (1, _lanczos(1)),
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, lambda x: np.where(x < 1.5, np.exp(-2 * x * x), 0)),
    "box": (0.5, lambda x: np.where(x == 0.5, 0.5, 1.0)),
    "triangle": (1, lambda x: 1 - x),
    "keyscubic": (2, _cubic(0, 0.5)),
    "mitchellcubic": (2, _cubic(1 / 3, 1 / 3)),
}


def _weights(old: int, new: int, scale: Any, move: Any, kernel_type: str, antialias: bool) -> Any:
    """Return how much each old place counts for each new one, float32 [new, old]."""
    radius, kernel = KERNELS[kernel_type]
    shrunk = np.float32(1) / np.float32(scale)
    centres = (np.arange(new, dtype=np.float32) + np.float32(0.5) - np.float32(move)) * shrunk
    width = max(shrunk, np.float32(1)) if antialias else np.float32(1)
    distances = np.abs(np.arange(old) + 0.5 - centres[:, None].astype(np.float64)) / width
    weights = np.where(distances <= radius, kernel(distances), 0)
    weights[(centres < 0) | (centres > old)] = 0  # what comes from outside of the image is black
    total = weights.sum(1, keepdims=True)
    return np.divide(weights, total, out=weights, where=np.abs(total) > 1e-35).astype(np.float32)


def _matrices(
    old: Any, new: Any, scale: Any, translation: Any, kernel_type: bytes, antialias: bool
) -> list[Any]:
    name = kernel_type.decode(errors="replace")
    if name not in KERNELS:
        raise InvalidArgumentError(f"kernel_type is one of {sorted(KERNELS)}, got {name!r}")
    if min(scale) <= 0:
        raise InvalidArgumentError(f"scale must be greater than zero, got {scale.tolist()}")
    axes = zip(old, new, scale, translation, strict=True)
    return [_weights(*axis, name, antialias) for axis in axes]


def _resampled(images: Any, rows: Any, columns: Any) -> Any:
    """Return images [batch, h, w, depth] with products of matrices in place of both axes."""
    batch, height, width, depth = images.shape
    images = (rows @ images.reshape(batch, height, width * depth)).reshape(-1, width, depth)
    return (columns @ images).reshape(batch, len(rows), len(columns), depth)


_HOW = "kernel_type: string = 'lanczos3'; antialias: bool = True"
SCALE_AND_TRANSLATE = OpDef(
    "ScaleAndTranslate(images: T, size: int32, scale: float, translation: float) "
    "-> resized_images: float [T: type {int8,uint8,int16,uint16,int32,int64,bfloat16,float16,"
    f"float32,float64}}; {_HOW}]"
)


@SCALE_AND_TRANSLATE.shape
def scale_and_translate_shape(
    images: Shape, size: Shape, scale: Shape, translation: Shape, *, size_value: Any
) -> Shape:
    shapes.require_rank(images, "images", 4)
    for name, shape in (("size", size), ("scale", scale), ("translation", translation)):
        shapes.merge(shape, (2,), f"the shape of {name} and [2]")
    batch, depth = (None, None) if images is None else (images[0], images[3])
    sides: Any = (None, None) if size_value is None else size_value.tolist()
    return (batch, *sides, depth)


@SCALE_AND_TRANSLATE.kernel
def scale_and_translate_kernel(
    images: Any, size: Any, scale: Any, translation: Any, *, kernel_type: bytes, antialias: bool
) -> Any:
    scale_and_translate_shape(images.shape, size.shape, scale.shape, translation.shape,
                              size_value=size)  # fmt: skip
    if min(size) <= 0:
        raise InvalidArgumentError(f"output dimensions must be positive, got {size.tolist()}")
    check_room((len(images), *size, images.shape[3]), np.float32)
    matrices = _matrices(images.shape[1:3], size, scale, translation, kernel_type, antialias)
    return _resampled(images.astype(np.float32), *matrices)


SCALE_AND_TRANSLATE_GRAD = OpDef(
    "ScaleAndTranslateGrad(grads: T, original_image: T, scale: float, translation: float) "
    f"-> output: T [T: type {{float32}}; {_HOW}]"
)


@SCALE_AND_TRANSLATE_GRAD.shape
def scale_and_translate_grad_shape(
    grads: Shape, original_image: Shape, scale: Shape, translation: Shape
) -> Shape:
    return original_image


@SCALE_AND_TRANSLATE_GRAD.kernel
def scale_and_translate_grad_kernel(
    grads: Any, original_image: Any, scale: Any, translation: Any, *, kernel_type: bytes,
    antialias: bool,
) -> Any:  # fmt: skip
    old, new = original_image.shape[1:3], grads.shape[1:3]
    rows, columns = _matrices(old, new, scale, translation, kernel_type, antialias)
    return _resampled(grads, rows.T, columns.T)


@SCALE_AND_TRANSLATE.gradient
def scale_and_translate_gradient(op: Any, d_output: Any) -> Any:
    images, _, scale, translation = op.inputs
    how = {name: op.get_attr(name) for name in ("kernel_type", "antialias")}
    d_images = raw.ScaleAndTranslateGrad(d_output, images, scale, translation, **how)
    return d_images, None, None, None
