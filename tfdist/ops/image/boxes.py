"""Boxes in images: drawn, drawn by lot, and those of many that do not overlap.

Source: TF 1.15 API documentation, tf.image.draw_bounding_boxes, sample_distorted_bounding_box,
non_max_suppression.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.random.random_ops import get_seed

__all__ = ["draw_bounding_boxes", "sample_distorted_bounding_box"]

# red, green, blue, alpha of one box after the other
COLOURS = np.array([
    [1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1],
    [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1],
], np.float32)  # fmt: skip

_DRAWN = "[T: type = float {float,half}]"
DRAW_BOUNDING_BOXES = OpDef(
    f"DrawBoundingBoxes(images: T, boxes: float) -> output: T {_DRAWN}"
).not_differentiable()
DRAW_BOUNDING_BOXES_V2 = OpDef(
    f"DrawBoundingBoxesV2(images: T, boxes: float, colors: float) -> output: T {_DRAWN}"
).not_differentiable()


@DRAW_BOUNDING_BOXES.checked_shape
def draw_bounding_boxes_shape(images: Shape, boxes: Shape) -> Shape:
    shapes.require_rank(images, "images", 4)
    shapes.require_rank(boxes, "boxes", 3)
    if images is not None and images[3] not in (None, 1, 3, 4):
        raise InvalidArgumentError(
            f"Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA), got {images[3]}"
        )
    if boxes is not None:
        shapes.merge_dim(boxes[2], 4, "boxes")
    return images


@DRAW_BOUNDING_BOXES_V2.checked_shape
def draw_bounding_boxes_v2_shape(images: Shape, boxes: Shape, colors: Shape) -> Shape:
    shapes.require_rank(colors, "colors", 2, 99)
    return draw_bounding_boxes_shape(images, boxes)


@DRAW_BOUNDING_BOXES.kernel
def draw_bounding_boxes_kernel(images: Any, boxes: Any) -> Any:
    return _drawn(images, boxes, COLOURS if images.shape[3] > 1 else np.ones_like(COLOURS))


@DRAW_BOUNDING_BOXES_V2.kernel
def draw_bounding_boxes_v2_kernel(images: Any, boxes: Any, colors: Any) -> Any:
    if not colors.size:
        return draw_bounding_boxes_kernel(images, boxes)
    if images.shape[3] == 1:
        return _drawn(images, boxes, np.ones_like(colors))
    if colors.shape[1] < images.shape[3]:
        raise InvalidArgumentError(
            "colors must have equal or more channels than the image provided: "
            f"{list(colors.shape)}, images {list(images.shape)}"
        )
    return _drawn(images, boxes, colors)


def _drawn(images: Any, boxes: Any, colours: Any) -> Any:
    """Return images with the edges of boxes in them, later ones above."""
    draw_bounding_boxes_shape(images.shape, boxes.shape)
    if len(boxes) != len(images):
        raise InvalidArgumentError(
            f"The batch sizes should be the same: {len(images)} images, boxes of {len(boxes)}"
        )
    drawn = images.copy()
    scale = np.tile(np.float32(images.shape[1:3]) - 1, 2)
    corners = np.trunc(boxes * scale).astype(np.intp)
    for image, own in zip(drawn, corners.tolist(), strict=True):
        for number, corner in enumerate(own):
            _draw(image, corner, colours[number % len(colours), : images.shape[3]])
    return drawn


def _draw(image: Any, corners: list[int], colour: Any) -> None:
    """Write the edges of one box into an image, as far as they lie in it."""
    top, left, bottom, right = corners
    height, width = image.shape[:2]
    if top > bottom or left > right or bottom < 0 or right < 0 or top >= height or left >= width:
        return
    rows, columns = slice(max(top, 0), bottom + 1), slice(max(left, 0), right + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            image[row, columns] = colour
    for column in (left, right):
        if 0 <= column < width:
            image[rows, column] = colour


def draw_bounding_boxes(
    images: Any, boxes: Any, name: str | None = None, colors: Any = None
) -> Tensor:
    """Return images with the edges of boxes drawn into them, one pixel wide.

    Args:
      images: floats [batch, height, width, channels]: 1, 3 or 4 channels.
      boxes: float32 [batch, boxes, 4]: top, left, bottom, right, from 0 to 1.
      name: of the node.
      colors: float32 [colours, channels], which take turns; ten are known.

    Example:
      >>> empty = zeros([1, 3, 3, 1])
      >>> Session().run(image.draw_bounding_boxes(empty, [[[0.0, 0.0, 0.5, 0.5]]]))[0, :, :, 0]
      array([[1., 1., 0.],
             [1., 1., 0.],
             [0., 0., 0.]], dtype=float32)
    """
    if colors is None:
        return DRAW_BOUNDING_BOXES(images, boxes, name=name)  # type: ignore[no-any-return]
    return DRAW_BOUNDING_BOXES_V2(images, boxes, colors, name=name)  # type: ignore[no-any-return]


# drawn by lot

_SAMPLED = (
    "begin: T, size: T, bboxes: float [T: type {uint8,int8,int16,int32,int64}; seed: int = 0; "
    "seed2: int = 0; aspect_ratio_range: list(float) = [0.75, 1.3300000429153442]; "
    "area_range: list(float) = [0.05000000074505806, 1.0]; max_attempts: int = 100; "
    "use_image_if_no_bounding_boxes: bool = False"
)
SAMPLE_DISTORTED_BOUNDING_BOX = OpDef(
    "SampleDistortedBoundingBox(image_size: T, bounding_boxes: float) -> "
    f"{_SAMPLED}; min_object_covered: float = 0.10000000149011612] !"
).not_differentiable()
SAMPLE_DISTORTED_BOUNDING_BOX_V2 = OpDef(
    "SampleDistortedBoundingBoxV2(image_size: T, bounding_boxes: float, min_object_covered: float) "
    f"-> {_SAMPLED}] !"
).not_differentiable()


@SAMPLE_DISTORTED_BOUNDING_BOX.checked_shape
def sample_shape(image_size: Shape, bounding_boxes: Shape) -> list[Shape]:
    shapes.require_sizes(image_size, (3,), "image_size")
    shapes.require_sizes(bounding_boxes, (None, None, 4), "bounding_boxes")
    return [(3,), (3,), (1, 1, 4)]


@SAMPLE_DISTORTED_BOUNDING_BOX_V2.checked_shape
def sample_v2_shape(
    image_size: Shape, bounding_boxes: Shape, min_object_covered: Shape
) -> list[Shape]:
    shapes.require_rank(min_object_covered, "min_object_covered", 0)
    return sample_shape(image_size, bounding_boxes)


@SAMPLE_DISTORTED_BOUNDING_BOX.kernel
def sample_kernel(
    ctx: Any, image_size: Any, bounding_boxes: Any, *, seed: int, seed2: int,
    aspect_ratio_range: Any, area_range: Any, max_attempts: int,
    use_image_if_no_bounding_boxes: bool, min_object_covered: float,
) -> Any:  # fmt: skip
    return sample_v2_kernel(
        ctx, image_size, bounding_boxes, min_object_covered, seed=seed, seed2=seed2,
        aspect_ratio_range=aspect_ratio_range, area_range=area_range, max_attempts=max_attempts,
        use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes,
    )  # fmt: skip


@SAMPLE_DISTORTED_BOUNDING_BOX_V2.kernel
def sample_v2_kernel(
    ctx: Any, image_size: Any, bounding_boxes: Any, min_object_covered: Any, *, seed: int,
    seed2: int, aspect_ratio_range: Any, area_range: Any, max_attempts: int,
    use_image_if_no_bounding_boxes: bool,
) -> Any:  # fmt: skip
    _check_ranges(aspect_ratio_range, area_range, max_attempts)
    if min_object_covered < 0:
        raise InvalidArgumentError(f"Min object covered must be non-negative: {min_object_covered}")
    height, width, _ = (int(each) for each in image_size)
    objects = _objects(bounding_boxes, use_image_if_no_bounding_boxes) * ([height, width] * 2)
    rng = ctx.rng(seed, seed2)
    sizes = _sizes(rng, max_attempts, height, width, aspect_ratio_range, area_range)
    places = np.floor(rng.random(sizes.shape) * ([height, width] - sizes + 1))
    found = np.concatenate([places, places + sizes], 1)
    good = np.flatnonzero((sizes.min(1) > 0) & _covers(found, objects, float(min_object_covered)))
    box = found[good[0]] if len(good) else np.array([0, 0, height, width])
    begin = np.array([*box[:2], 0], image_size.dtype)
    size = np.array([*(box[2:] - box[:2]), -1]).astype(image_size.dtype)
    return begin, size, (box / [height, width, height, width]).astype(np.float32).reshape(1, 1, 4)


def _check_ranges(ratios: Any, areas: Any, attempts: int) -> None:
    if len(ratios) != 2 or min(ratios) <= 0:
        raise InvalidArgumentError(f"Aspect ratio range must be non-negative: {list(ratios)}")
    if len(areas) != 2 or min(areas) <= 0 or max(areas) > 1:
        raise InvalidArgumentError(
            f"Area range must be non-negative, and in (0.0, 1.0]: {list(areas)}"
        )
    if attempts <= 0:
        raise InvalidArgumentError(f"Max attempts must be non-negative: {attempts}")


def _objects(boxes: Any, image_if_none: bool) -> Any:
    """Return the boxes [boxes, 4]; the whole image if there may be none."""
    boxes = boxes.reshape(-1, boxes.shape[-1]) if boxes.size else np.zeros([0, 4], np.float32)
    if len(boxes):
        if boxes.min() < 0 or boxes.max() > 1:
            worst = boxes.max() if boxes.max() > 1 else boxes.min()
            raise InvalidArgumentError(
                f"All bounding box coordinates must be in [0.0, 1.0]: {worst}"
            )
        return boxes.astype(np.float64)
    if not image_if_none:
        raise InvalidArgumentError(
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes "
            "if you wish to not provide any bounding boxes."
        )
    return np.array([[0.0, 0.0, 1.0, 1.0]])


def _sizes(rng: Any, count: int, height: int, width: int, ratios: Any, areas: Any) -> Any:
    """Return heights and widths [count, 2] of the ratios and areas; 0 for those that do not fit."""
    ratio = rng.uniform(min(ratios), max(ratios), count)
    least, most = (np.sqrt(area * height * width / ratio) for area in (areas[0], areas[1]))
    most = np.minimum(np.minimum(most, height), width / ratio)
    heights = np.rint(least + rng.random(count) * np.maximum(most - least, 0))
    found = np.stack([heights, np.rint(heights * ratio)], 1)
    area = found.prod(1) / (height * width)
    fits = (found <= [height, width]).all(1) & (area >= areas[0]) & (area <= areas[1])
    return found * fits[:, None]


def _covers(found: Any, objects: Any, least: float) -> Any:
    """Return for each found box whether it covers so much of some object."""
    inner = np.minimum(found[:, None, 2:], objects[:, 2:]) - np.maximum(
        found[:, None, :2], objects[:, :2]
    )
    whole = (objects[:, 2:] - objects[:, :2]).prod(1)
    covered = np.maximum(inner, 0).prod(2) / np.where(whole > 0, whole, np.inf)
    return (covered >= least).any(1)


def sample_distorted_bounding_box(
    image_size: Any, bounding_boxes: Any, seed: int | None = None, seed2: int | None = None,
    min_object_covered: Any = 0.1, aspect_ratio_range: Any = None, area_range: Any = None,
    max_attempts: int | None = None, use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return a random box that covers enough of some object, for `tf.slice`.

    Args:
      image_size: integers [3]: height, width, channels.
      bounding_boxes: float32 [batch, boxes, 4] of the objects: top, left, bottom, right, from 0
        to 1.
      seed: of this op; see `set_random_seed`.
      seed2: not needed.
      min_object_covered: least part of some object.
      aspect_ratio_range: least and largest width / height; 0.75 and 1.33 by default.
      area_range: least and largest part of the image; 0.05 and 1 by default.
      max_attempts: if none of so many boxes fits, it is the whole image; 100 by default.
      use_image_if_no_bounding_boxes: whether the image is the object if there is none.
      name: prefix for the nodes.

    Returns:
      (begin [3], size [3], box float32 [1, 1, 4]).

    Raises:
      InvalidArgumentError: there is no object, or one does not lie in the image (when it runs).

    Example:
      >>> begin, size, _ = image.sample_distorted_bounding_box(
      ...     [4, 5, 3], [[[0.0, 0.0, 1.0, 1.0]]], min_object_covered=1.0
      ... )
      >>> Session().run([begin, size])
      [array([0, 0, 0], dtype=int32), array([ 4,  5, -1], dtype=int32)]
    """
    given = {
        "aspect_ratio_range": aspect_ratio_range, "area_range": area_range,
        "max_attempts": max_attempts,
        "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
    }  # fmt: skip
    attrs = {key: value for key, value in given.items() if value is not None}
    with name_scope(name, "sample_distorted_bounding_box"):
        seeds = get_seed(seed) if seed else (0, 0)
        return SAMPLE_DISTORTED_BOUNDING_BOX_V2(
            image_size, bounding_boxes, min_object_covered, seed=seeds[0], seed2=seeds[1], **attrs
        )
