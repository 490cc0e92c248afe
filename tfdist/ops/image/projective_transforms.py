"""Images seen through a projective transform: turned, moved, or distorted in perspective.

A transform (a0, a1, a2, b0, b1, b2, c0, c1) tells for a pixel (x, y) of the result where in the
image it comes from: ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1.

Source: TF 1.15 API documentation, tf.contrib.image.transform.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw

__all__: list[str] = []  # models.contrib.image has the public functions

_REST = "[dtype: type {uint8,int32,int64,float16,float32,float64}; interpolation: string]"
TRANSFORM = OpDef(
    "ImageProjectiveTransform(images: dtype, transforms: float) -> transformed_images: dtype "
    f"{_REST}"
)
TRANSFORM_V2 = OpDef(
    "ImageProjectiveTransformV2(images: dtype, transforms: float, output_shape: int32) -> "
    f"transformed_images: dtype {_REST}"
)


@TRANSFORM.shape
def transform_shape(images: Shape, transforms: Shape) -> Shape:
    shapes.require_rank(images, "images", 4)
    return images


@TRANSFORM_V2.shape
def transform_v2_shape(
    images: Shape, transforms: Shape, output_shape: Shape, *, output_shape_value: Any
) -> Shape:
    shapes.require_rank(images, "images", 4)
    batch, channels = (None, None) if images is None else (images[0], images[3])
    if output_shape_value is None:
        return batch, None, None, channels
    height, width = (int(each) for each in output_shape_value)
    return batch, height, width, channels


@TRANSFORM.kernel
def transform_kernel(images: Any, transforms: Any, *, interpolation: bytes) -> Any:
    return _transformed(images, transforms, images.shape[1:3], interpolation)


@TRANSFORM_V2.kernel
def transform_v2_kernel(
    images: Any, transforms: Any, output_shape: Any, *, interpolation: bytes
) -> Any:
    if output_shape.shape != (2,) or (output_shape <= 0).any():
        raise InvalidArgumentError(
            f"new_height, new_width must be positive, two numbers; got {output_shape.tolist()}"
        )
    return _transformed(images, transforms, tuple(output_shape.tolist()), interpolation)


def _transformed(images: Any, transforms: Any, size: tuple[int, int], interpolation: bytes) -> Any:
    _check(images, transforms, interpolation)
    check_room((len(images), *size, *images.shape[3:]), images.dtype)
    x, y, seen = _sources(transforms, size)
    looked = _nearest if interpolation == b"NEAREST" else _bilinear
    return looked(images, x, y, seen)


def _check(images: Any, transforms: Any, interpolation: bytes) -> None:
    count = len(images)
    if transforms.ndim != 2 or transforms.shape[1] != 8 or len(transforms) not in (1, count):
        raise InvalidArgumentError(
            "Input transform should be num_images x 8 or 1 x 8: there are "
            f"{count} images; got shape {list(transforms.shape)}"
        )
    if interpolation not in (b"NEAREST", b"BILINEAR"):
        raise InvalidArgumentError(
            f"interpolation must be NEAREST or BILINEAR, got {interpolation.decode()!r}"
        )


def _sources(transforms: Any, size: tuple[int, int]) -> tuple[Any, Any, Any]:
    """Return where pixels come from, x and y, and whether they come from anywhere."""
    y, x = np.meshgrid(*(np.arange(n, dtype=np.float32) for n in size), indexing="ij")
    a0, a1, a2, b0, b1, b2, c0, c1 = (each[:, None, None] for each in transforms.T)
    with np.errstate(divide="ignore", invalid="ignore"):
        k = c0 * x + c1 * y + np.float32(1)
        from_x, from_y = (a0 * x + a1 * y + a2) / k, (b0 * x + b1 * y + b2) / k
    seen = np.isfinite(from_x) & np.isfinite(from_y)
    return np.where(seen, from_x, 0), np.where(seen, from_y, 0), seen


def _picked(images: Any, x: Any, y: Any, seen: Any) -> Any:
    """Return the pixels at whole places, 0 beyond the edges."""
    height, width = images.shape[1:3]
    inside = seen & (x >= 0) & (x < width) & (y >= 0) & (y < height)
    column = np.where(inside, x, 0).astype(np.intp)
    row = np.where(inside, y, 0).astype(np.intp)
    batch = np.arange(len(images))[:, None, None]
    return np.where(inside[..., None], images[batch, row, column], images.dtype.type(0))


def _nearest(images: Any, x: Any, y: Any, seen: Any) -> Any:
    def whole(place: Any) -> Any:
        return np.copysign(np.floor(np.abs(place) + np.float32(0.5)), place)

    return _picked(images, whole(x), whole(y), seen)


def _bilinear(images: Any, x: Any, y: Any, seen: Any) -> Any:
    left, top = np.floor(x), np.floor(y)
    right, bottom = left + 1, top + 1
    kind = np.float64 if images.dtype == np.float64 else np.float32
    total: Any = 0
    for column, row, weight in (
        (left, top, (right - x) * (bottom - y)), (right, top, (x - left) * (bottom - y)),
        (left, bottom, (right - x) * (y - top)), (right, bottom, (x - left) * (y - top)),
    ):  # fmt: skip
        pixels = _picked(images, column, row, seen).astype(kind)
        total = total + weight[..., None].astype(kind) * pixels
    return total.astype(images.dtype)


def matrices_of(transforms: Any) -> Any:
    """Return transforms, [count, 8], as matrices, [count, 3, 3]."""
    ones = raw.Fill(raw.ConcatV2([raw.Shape(transforms)[:1], [1]], 0), np.float32(1))
    return raw.Reshape(raw.ConcatV2([transforms, ones], 1), [-1, 3, 3])


def transforms_of(matrices: Any) -> Any:
    """Return matrices, [count, 3, 3], as transforms, [count, 8]: their last element is made 1."""
    flat = raw.Reshape(matrices, [-1, 9])
    return raw.RealDiv(flat, flat[:, 8:9])[:, :8]


@TRANSFORM_V2.gradient
@TRANSFORM.gradient
def transform_gradient(op: Any, d_images: Any) -> Any:
    """Return the gradient taken back by the inverse transform, as TensorFlow does."""
    images, transforms = op.inputs[:2]
    inverse = transforms_of(raw.MatrixInverse(matrices_of(transforms)))
    back = raw.ImageProjectiveTransformV2(
        d_images, inverse, raw.Shape(images)[1:3],
        interpolation=op.get_attr("interpolation").decode(),
    )  # fmt: skip
    return [back, *[None] * (len(op.inputs) - 1)]
