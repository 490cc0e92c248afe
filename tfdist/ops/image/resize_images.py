"""Images of another size, by the method that is named: resize_images, resize_image_with_pad."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.framework.shared_values import partial_shape
from tfdist.ops.image.checks import alone, as_batch, asserted, dimensions, image_checks, is_tensor
from tfdist.ops.image.crop_and_pad import pad_to_bounding_box
from tfdist.ops.image.resize_ops import (
    resize_area,
    resize_bicubic,
    resize_bilinear,
    resize_nearest_neighbor,
)

__all__ = ["ResizeMethod", "resize_image_with_pad", "resize_images"]


class ResizeMethod:
    """What `resize_images` may do.

    Attributes:
      BILINEAR: linear interpolation along both axes.
      NEAREST_NEIGHBOR: each pixel is like the nearest old one.
      BICUBIC: cubic convolution along both axes.
      AREA: each pixel is the mean of those it covers.

    Example:
      >>> image.ResizeMethod.BICUBIC
      2
    """

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_METHODS: dict[Any, Callable[..., Tensor]] = {
    ResizeMethod.BILINEAR: resize_bilinear,
    ResizeMethod.NEAREST_NEIGHBOR: resize_nearest_neighbor,
    ResizeMethod.BICUBIC: resize_bicubic,
    ResizeMethod.AREA: resize_area,
    "bilinear": resize_bilinear,  # version 2's names
    "nearest": resize_nearest_neighbor,
    "bicubic": resize_bicubic,
    "area": resize_area,
}


def resize_images(
    images: Any, size: Any, method: int = ResizeMethod.BILINEAR, align_corners: bool = False,
    preserve_aspect_ratio: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return images of another size; float32 unless by nearest neighbour or of the same size.

    Args:
      images: [height, width, channels], or [batch, height, width, channels].
      size: int32 [2], the new height and width; before 1.0 they were two arguments, which stand
        at the places of `size` and `method` then, and the method at that of `align_corners`.
      method: of `ResizeMethod`.
      align_corners: whether the corners' pixels stay at the corners.
      preserve_aspect_ratio: whether the size is the largest that fits into `size` and has the
        old ratio of height and width.
      name: prefix for the nodes.

    Raises:
      ValueError: the shapes are others, or there is no such method.

    Example:
      >>> Session().run(image.resize_images([[[1.0], [3.0]]], [1, 4]))[..., 0]
      array([[1., 2., 3., 3.]], dtype=float32)
    """
    if isinstance(size, int | np.integer) and method:  # as TensorFlow before 1.0 took them
        size, method, align_corners = [size, method], int(align_corners), False
    way = _METHODS.get(method)

    def how(images: Tensor, size: Any) -> Tensor:
        if way is None:
            raise ValueError(f"Resize method is not implemented: {method!r}; see ResizeMethod.")
        return way(images, size, align_corners=align_corners)

    return resized(images, size, how, preserve_aspect_ratio, name)


def resized(
    images: Any, size: Any, how: Callable[[Tensor, Any], Tensor], preserve_aspect_ratio: bool,
    name: str | None, keeps_same: bool = True,
) -> Tensor:  # fmt: skip
    """Return one or more images of another size.

    Args:
      images: see `resize_images`.
      size: see `resize_images`.
      how: resizes a batch of images.
      preserve_aspect_ratio: see `resize_images`.
      name: prefix for the nodes.
      keeps_same: whether images that have the size are given as they are.
    """
    with name_scope(name, "resize", [images, size]):
        images, was_batch = _batch(images)
        size = _new_size(size)
        static = _static_size(size)
        if preserve_aspect_ratio:
            size, static = _fitted(size, images)
        if keeps_same and static == images.plain_shape[1:3] and None not in static:
            return alone(images, was_batch)
        found = how(images, size)
        found.set_shape([None, *static, None])
        return alone(found, was_batch)


def _batch(images: Any) -> tuple[Tensor, bool]:
    images = convert_to_tensor(images, name="images")
    if images.plain_shape is None:
        raise ValueError("'images' contains no shape.")
    if len(images.plain_shape) not in (3, 4):
        shape = images.plain_shape
        raise ValueError(f"'images' must have either 3 or 4 dimensions, but has shape {shape}.")
    return as_batch(images)


def _new_size(size: Any) -> Tensor:
    try:
        size = convert_to_tensor(size, "int32", name="size")
    except (TypeError, ValueError) as error:
        raise ValueError(f"'size' must be a 1-D int32 Tensor, got {size!r}") from error
    if size.plain_shape not in (None, (2,), (None,)):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return size  # type: ignore[no-any-return]


def _static_size(size: Tensor) -> tuple[Any, Any]:
    """Return what is known of a new height and width."""
    height, width = partial_shape(size) or (None, None)
    return height, width


def _fitted(size: Any, images: Tensor) -> tuple[Tensor, tuple[Any, Any]]:
    """Return the largest size within `size` that has the images' ratio, and what is known of it."""
    _, height, width, _ = dimensions(images, 4)
    wanted = constant_value(size)
    rows, columns = (size[0], size[1]) if wanted is None else wanted.tolist()
    one = cast(rows, "float32") / cast(height, "float32")
    other = cast(columns, "float32") / cast(width, "float32")
    scale = raw.Minimum(one, other)
    scaled = [cast(raw.Round(scale * cast(each, "float32")), "int32") for each in (height, width)]
    fitted = convert_to_tensor(scaled, "int32", name="size")
    if any(map(is_tensor, (rows, height, width))):
        return fitted, (None, None)
    numbers = np.array([rows, columns, height, width], np.float32)
    least = np.min(numbers[:2] / numbers[2:])
    found = np.rint(least * numbers[2:])
    return fitted, (int(found[0]), int(found[1]))


def resize_image_with_pad(
    image: Any, target_height: Any, target_width: Any, method: int = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Tensor:  # fmt: skip
    """Return an image that fits into the target's size in its old ratio, zeros around it.

    Args:
      image: [height, width, channels], or [batch, height, width, channels].
      target_height: height of the result.
      target_width: width of the result.
      method: of `ResizeMethod`.
      align_corners: whether the corners' pixels stay at the corners.

    Raises:
      ValueError: the target's size is not positive.

    Example:
      >>> Session().run(image.resize_image_with_pad([[[1.0], [3.0]]], 3, 2))[..., 0]
      array([[0., 0.],
             [1., 3.],
             [0., 0.]], dtype=float32)
    """
    how = partial(resize_images, method=method, align_corners=align_corners)
    return padded(image, target_height, target_width, how)


def padded(
    image: Any, target_height: Any, target_width: Any, how: Callable[[Tensor, Any], Tensor]
) -> Tensor:
    """Return an image that was resized so that it fits into a size, zeros around it.

    Args:
      image: see `resize_image_with_pad`.
      target_height: height of the result.
      target_width: width of the result.
      how: resizes images.
    """
    with name_scope(None, "resize_image_with_pad", [image]):
        image, was_batch = as_batch(image)
        checks = image_checks(image)
        checks += asserted(target_width > 0, "target_width must be > 0.")
        checks += asserted(target_height > 0, "target_height must be > 0.")
        image = with_dependencies(checks, image)
        _, height, width, _ = dimensions(image, 4)
        sizes = [cast(each, "float32") for each in (height, width, target_height, target_width)]
        offsets, inner = _inner(*sizes)
        above, left = offsets
        result = pad_to_bounding_box(how(image, inner), above, left, target_height, target_width)
        if result.plain_shape is None:
            raise ValueError("padded contains no shape.")
        return alone(result, was_batch)


def _inner(height: Any, width: Any, rows: Any, columns: Any) -> Any:
    """Return the offsets, and the size, of what fits in."""
    ratio = raw.Maximum(width / columns, height / rows)
    inner_height, inner_width = height / ratio, width / ratio
    size = [cast(raw.Floor(each), "int32") for each in (inner_height, inner_width)]
    above, left = (rows - inner_height) / 2.0, (columns - inner_width) / 2.0
    halves = [raw.Floor(each) for each in (above, left)]
    offsets = [raw.Maximum(0, cast(each, "int32")) for each in halves]
    return offsets, size
