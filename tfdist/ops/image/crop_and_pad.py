"""Parts of images, and images with a border: cropped and padded to a size."""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import stack
from tfdist.ops.array.reshape import reshape
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.image.checks import (
    alone,
    as_batch,
    asserted,
    checked_image,
    dimensions,
    image_checks,
    is_tensor,
    known,
)

__all__ = [
    "central_crop", "crop_to_bounding_box", "pad_to_bounding_box", "resize_image_with_crop_or_pad",
]  # fmt: skip


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Return the part of an image that begins at the offsets and has the target's size.

    Args:
      image: [height, width, channels], or [batch, height, width, channels].
      offset_height: first row.
      offset_width: first column.
      target_height: how many rows.
      target_width: how many columns.

    Raises:
      ValueError: it does not lie within the image; InvalidArgumentError where only a run tells.

    Example:
      >>> pixels = reshape(range(12), [3, 4, 1])
      >>> Session().run(image.crop_to_bounding_box(pixels, 1, 2, 2, 2))[..., 0]
      array([[ 6,  7],
             [10, 11]], dtype=int32)
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, was_batch = as_batch(image)
        checks = image_checks(image)
        batch, height, width, channels = dimensions(image, 4)
        checks += asserted(offset_width >= 0, "offset_width must be >= 0.")
        checks += asserted(offset_height >= 0, "offset_height must be >= 0.")
        checks += asserted(target_width > 0, "target_width must be > 0.")
        checks += asserted(target_height > 0, "target_height must be > 0.")
        end = target_width + offset_width
        checks += asserted(width >= end, "width must be >= target + offset.")
        end = target_height + offset_height
        checks += asserted(height >= end, "height must be >= target + offset.")
        image = with_dependencies(checks, image)
        begin = stack([0, offset_height, offset_width, 0])
        cropped = raw.Slice(image, begin, stack([-1, target_height, target_width, -1]))
        cropped.set_shape(known([batch, target_height, target_width, channels]))
        return alone(cropped, was_batch)


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Return an image of the target's size with `image` in it at the offsets, zeros around.

    Args:
      image: [height, width, channels], or [batch, height, width, channels].
      offset_height: rows of zeros above.
      offset_width: columns of zeros to the left.
      target_height: height of the result.
      target_width: width of the result.

    Raises:
      ValueError: the image does not fit in; InvalidArgumentError where only a run tells.

    Example:
      >>> Session().run(image.pad_to_bounding_box([[[7]]], 0, 1, 2, 3))[..., 0]
      array([[0, 7, 0],
             [0, 0, 0]], dtype=int32)
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, was_batch = as_batch(image)
        checks = image_checks(image)
        batch, height, width, channels = dimensions(image, 4)
        right = target_width - offset_width - width
        below = target_height - offset_height - height
        checks += asserted(offset_height >= 0, "offset_height must be >= 0")
        checks += asserted(offset_width >= 0, "offset_width must be >= 0")
        checks += asserted(right >= 0, "width must be <= target - offset")
        checks += asserted(below >= 0, "height must be <= target - offset")
        image = with_dependencies(checks, image)
        sides = reshape(stack([0, 0, offset_height, below, offset_width, right, 0, 0]), [4, 2])
        padded = raw.Pad(image, sides)
        padded.set_shape(known([batch, target_height, target_width, channels]))
        return alone(padded, was_batch)


def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """Return an image of the target's size with the middle of `image` in its middle.

    What is too large is cropped on both sides, what is too small gets zeros on both sides.

    Args:
      image: [height, width, channels], or [batch, height, width, channels].
      target_height: height of the result.
      target_width: width of the result.

    Raises:
      ValueError: the target's size is not positive.

    Example:
      >>> pixels = reshape(range(4), [1, 4, 1])
      >>> Session().run(image.resize_image_with_crop_or_pad(pixels, 3, 2))[..., 0]
      array([[0, 0],
             [1, 2],
             [0, 0]], dtype=int32)
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, was_batch = as_batch(image)
        checks = image_checks(image)
        checks += asserted(target_width > 0, "target_width must be > 0.")
        checks += asserted(target_height > 0, "target_height must be > 0.")
        image = with_dependencies(checks, image)
        _, height, width, _ = dimensions(image, 4)
        left, columns = _halves(target_width, width)
        above, rows = _halves(target_height, height)
        height, width = _least(target_height, height), _least(target_width, width)
        cropped = crop_to_bounding_box(image, above, left, height, width)
        resized = pad_to_bounding_box(cropped, rows, columns, target_height, target_width)
        _, height, width, _ = dimensions(resized, 4)
        checks = asserted(_same(height, target_height), "resized height is not correct.")
        checks += asserted(_same(width, target_width), "resized width is not correct.")
        return alone(with_dependencies(checks, resized), was_batch)


def _halves(target: Any, size: Any) -> tuple[Any, Any]:
    """Return how much is cropped, and how much is padded, before an axis."""
    missing = target - size
    return _at_least_0(-missing // 2), _at_least_0(missing // 2)


def _at_least_0(value: Any) -> Any:
    return raw.Maximum(value, 0) if is_tensor(value) else max(value, 0)


def _least(one: Any, other: Any) -> Any:
    return raw.Minimum(one, other) if is_tensor(one) or is_tensor(other) else min(one, other)


def _same(one: Any, other: Any) -> Any:
    return raw.Equal(one, other) if is_tensor(one) or is_tensor(other) else one == other


def central_crop(image: Any, central_fraction: float) -> Tensor:
    """Return the middle of an image.

    Args:
      image: [height, width, channels], or [batch, height, width, channels].
      central_fraction: of height and of width, above 0, at most 1.

    Raises:
      ValueError: the fraction is another one.

    Example:
      >>> pixels = reshape(range(16), [4, 4, 1])
      >>> Session().run(image.central_crop(pixels, 0.5))[..., 0]
      array([[ 5,  6],
             [ 9, 10]], dtype=int32)
    """
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        if not 0.0 < central_fraction <= 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image
        shape = image.plain_shape
        if shape is None or len(shape) not in (3, 4):
            raise ValueError(
                "`image` should either be a Tensor with rank = 3 or rank = 4, and "
                f"'image' must be at least three-dimensional: it has shape {shape}."
            )
        image = checked_image(image)
        first = len(shape) - 3
        sizes = [_size(image, axis) for axis in (first, first + 1)]
        starts = [_start(size, central_fraction) for size in sizes]
        kept = [size - start * 2 for size, start in zip(sizes, starts, strict=True)]
        begin, size = stack([0] * first + [*starts, 0]), stack([-1] * first + [*kept, -1])
        cropped = raw.Slice(image, begin, size)
        cropped.set_shape([*shape[:first], *known(kept), shape[-1]])
        return cropped  # type: ignore[no-any-return]


def _size(image: Tensor, axis: int) -> Any:
    assert image.plain_shape is not None
    size = image.plain_shape[axis]
    return raw.Shape(image)[axis] if size is None else size


def _start(size: Any, fraction: float) -> Any:
    if not is_tensor(size):
        return int((size - size * fraction) / 2)
    wide = cast(size, "float64")
    return cast((wide - wide * fraction) / 2, "int32")
