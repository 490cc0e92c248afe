"""Images of another size as version 2 has them: pixels have their middles at halves.

Source: TF 1.15 API documentation, tf.compat.v2.image.resize, tf.compat.v2.image.resize_with_pad.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.constants import constant
from tfdist.ops.array.shape import shape
from tfdist.ops.image.resize_images import padded, resized
from tfdist.ops.image.resize_ops import (
    resize_area,
    resize_bicubic,
    resize_bilinear,
    resize_nearest_neighbor,
)

__all__ = ["ResizeMethod", "resize", "resize_with_pad"]


class ResizeMethod:
    """What version 2's `resize` may do.

    Attributes:
      BILINEAR: linear interpolation along both axes.
      NEAREST_NEIGHBOR: each pixel is like the nearest old one.
      BICUBIC: Keys's cubic convolution along both axes.
      AREA: each pixel is the mean of those it covers.
      LANCZOS3: a windowed sinc that reaches over 3 pixels.
      LANCZOS5: one that reaches over 5.
      GAUSSIAN: a Gaussian that reaches over 1.5 pixels.
      MITCHELLCUBIC: Mitchell's and Netravali's cubic convolution.

    Example:
      >>> compat.v2.image.ResizeMethod.BICUBIC
      'bicubic'
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


# Methods that have an op of their own, which knows no antialiasing.
_OWN: dict[str, Callable[..., Tensor]] = {
    ResizeMethod.BILINEAR: partial(resize_bilinear, half_pixel_centers=True),
    ResizeMethod.NEAREST_NEIGHBOR: partial(resize_nearest_neighbor, half_pixel_centers=True),
    ResizeMethod.BICUBIC: partial(resize_bicubic, half_pixel_centers=True),
    ResizeMethod.AREA: resize_area,
}

# The kernels of ScaleAndTranslate by which the others are computed, and those with antialiasing.
_KERNELS = {
    ResizeMethod.BILINEAR: "triangle",
    ResizeMethod.BICUBIC: "keyscubic",
    ResizeMethod.LANCZOS3: "lanczos3",
    ResizeMethod.LANCZOS5: "lanczos5",
    ResizeMethod.GAUSSIAN: "gaussian",
    ResizeMethod.MITCHELLCUBIC: "mitchellcubic",
}


def resize(
    images: Any, size: Any, method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False, antialias: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return images of another size; float32 unless by nearest neighbour.

    Args:
      images: [height, width, channels], or [batch, height, width, channels].
      size: int32 [2], the new height and width.
      method: of `ResizeMethod`.
      preserve_aspect_ratio: whether the size is the largest that fits into `size` and has the
        old ratio of height and width.
      antialias: whether what shrinks is smoothed first; nearest neighbour and area know no such.
      name: prefix for the nodes.

    Raises:
      ValueError: the shapes are others, or there is no such method.

    Example:
      >>> Session().run(compat.v2.image.resize([[[1.0], [3.0]]], [1, 4]))[..., 0]
      array([[1. , 1.5, 2.5, 3. ]], dtype=float32)
    """
    how = _method(method, antialias)
    return resized(images, size, how, preserve_aspect_ratio, name, keeps_same=False)


def resize_with_pad(
    image: Any, target_height: Any, target_width: Any, method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Return an image that fits into the target's size in its old ratio, zeros around it.

    Args:
      image: [height, width, channels], or [batch, height, width, channels].
      target_height: height of the result.
      target_width: width of the result.
      method: of `ResizeMethod`.
      antialias: see `resize`.

    Raises:
      ValueError: the target's size is not positive.

    Example:
      >>> Session().run(compat.v2.image.resize_with_pad([[[1.0], [3.0]]], 3, 2))[..., 0]
      array([[0., 0.],
             [1., 3.],
             [0., 0.]], dtype=float32)
    """
    how = partial(resize, method=method, antialias=antialias)
    return padded(image, target_height, target_width, how)


def _method(method: str, antialias: bool) -> Callable[[Tensor, Any], Tensor]:
    """Return what resizes a batch of images by a method."""
    if method in _OWN and not (antialias and method in _KERNELS):
        return _OWN[method]
    if method in _KERNELS:
        return partial(_scaled, kernel_type=_KERNELS[method], antialias=antialias)
    raise ValueError(f"Resize method is not implemented: {method!r}; see ResizeMethod.")


def _scaled(images: Tensor, size: Any, kernel_type: str, antialias: bool) -> Tensor:
    new = cast(size, "float32")
    old: Any = shape(images)
    scale = raw.RealDiv(new, cast(old[1:3], "float32"), name="truediv")
    tensor: Tensor = raw.ScaleAndTranslate(
        images, size, scale, constant(np.zeros(2, np.float32), name="zeros"),
        kernel_type=kernel_type, antialias=antialias,
    )  # fmt: skip
    return tensor
