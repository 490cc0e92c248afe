"""What functions of images ask of their arguments: at once, or when a run tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.base.shapes import Shape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.checks.assertions import assert_greater_equal, assert_positive
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.control_flow.identity_group import with_dependencies


def is_tensor(value: Any) -> bool:
    """Return whether `value` is known only when the graph runs."""
    return hasattr(value, "_as_tensor")


def asserted(condition: Any, message: str) -> list[Any]:
    """Return the nodes that check a condition, none if it is known.

    Raises:
      ValueError: it does not hold.
    """
    if is_tensor(condition):
        return [Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def checked_image(image: Any, most: int | None = None) -> Tensor:
    """Return an image, of rank 3 or more and no side empty, as a tensor."""
    image = convert_to_tensor(image, name="image")
    return with_dependencies(image_checks(image, most), image)


def image_checks(image: Tensor, most: int | None = None) -> list[Any]:
    """Return the nodes that check that an image has a rank of 3 or more, and no empty side.

    Raises:
      ValueError: it has not.
    """
    shape = image.plain_shape
    if shape is not None and len(shape) < 3:
        raise ValueError(f"'image' must be at least three-dimensional, but has shape {shape}.")
    if shape is not None and most is not None and len(shape) > most:
        raise ValueError(f"'image' must have either 3 or {most} dimensions, but has shape {shape}.")
    if shape is not None and None not in shape[-3:]:
        if 0 in shape:
            raise ValueError(f"all dims of 'image.shape' must be > 0: {shape}")
        return []
    positive = assert_positive(raw.Shape(image), ["all dims of 'image.shape' must be > 0."])
    message = "'image' must be at least three-dimensional."
    return [positive, assert_greater_equal(_rank(image), 3, message=message)]


def _rank(image: Tensor) -> Tensor:
    if image.plain_shape is None:
        return raw.Rank(image)  # type: ignore[no-any-return]
    return convert_to_tensor(len(image.plain_shape), "int32", name="Rank")


def as_batch(image: Any) -> tuple[Tensor, bool]:
    """Return one image or a batch of them as a batch, and whether it was one.

    Raises:
      ValueError: it has neither rank.
    """
    image = convert_to_tensor(image, name="image")
    shape = image.plain_shape
    if shape is None:
        image = raw.ExpandDims(image, 0)
        image.set_shape([None] * 4)
        return image, False
    if len(shape) not in (3, 4):
        raise ValueError(f"'image' must have either 3 or 4 dimensions, but has shape {shape}.")
    return (image, True) if len(shape) == 4 else (raw.ExpandDims(image, 0), False)


def alone(images: Tensor, was_batch: bool) -> Tensor:
    """Return what `as_batch` was given, made of a batch."""
    return images if was_batch else raw.Squeeze(images, squeeze_dims=[0])


def dimensions(image: Tensor, rank: int) -> Sequence[Any]:
    """Return the sizes of an image's axes, a tensor for each that is not known."""
    shape: Shape = image.plain_shape
    if shape is not None and None not in shape:
        return shape
    found = raw.Unpack(raw.Shape(image), num=rank, name="unstack")
    known = shape or (None,) * rank
    return [each if size is None else size for size, each in zip(known, found, strict=True)]


def known(sizes: Sequence[Any]) -> list[Any]:
    """Return sizes as a static shape, None for those that are tensors."""
    return [None if is_tensor(size) else size for size in sizes]
