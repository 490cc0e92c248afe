"""Non-maximum suppression of many classes and images at once.

Source: TF 1.15 API documentation, tf.image.combined_non_max_suppression.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef
from tfdist.graph.scopes import name_scope
from tfdist.ops.image.non_max_suppression import overlaps_of, select

__all__ = ["combined_non_max_suppression"]

COMBINED = OpDef(
    "CombinedNonMaxSuppression(boxes: float, scores: float, max_output_size_per_class: int32, "
    "max_total_size: int32, iou_threshold: float, score_threshold: float) "
    "-> nmsed_boxes: float, nmsed_scores: float, nmsed_classes: float, valid_detections: int32 "
    "[pad_per_class: bool = False; clip_boxes: bool = True]"
).not_differentiable()


class CombinedNonMaxSuppression(NamedTuple):
    """The boxes that are left of each image, their scores and classes, and how many there are."""

    nmsed_boxes: Any
    nmsed_scores: Any
    nmsed_classes: Any
    valid_detections: Any


def _require_positive(value: Any, what: str) -> None:
    if value is not None and value <= 0:
        raise InvalidArgumentError(f"{what} must be > 0, got {value}")


@COMBINED.checked_shape
def combined_shape(
    boxes: Shape, scores: Shape, per_class: Shape, total: Shape, iou: Shape, score: Shape, *,
    pad_per_class: bool, max_output_size_per_class_value: Any, max_total_size_value: Any,
) -> list[Shape]:  # fmt: skip
    shapes.require_rank(boxes, "boxes", 4)
    shapes.require_rank(scores, "scores", 3)
    for each in (per_class, total, iou, score):
        shapes.require_rank(each, "sizes and thresholds", 0)
    _require_positive(max_output_size_per_class_value, "max_output_size_per_class")
    _require_positive(max_total_size_value, "max_total_size")
    batch, number, copies, corners = (None,) * 4 if boxes is None else boxes
    images, scored, classes = (None,) * 3 if scores is None else scores
    shapes.merge_dim(corners, 4, "the numbers of a box and 4")
    shapes.merge_dim(number, scored, "the numbers of boxes and scores")
    if copies not in (None, 1):
        shapes.merge_dim(copies, classes, "the boxes' third axis and the classes")
    batch = shapes.merge_dim(batch, images, "the batches of boxes and scores")
    sizes = max_output_size_per_class_value, max_total_size_value, classes
    size = _output_size(*sizes, pad_per_class)
    return [(batch, size, 4), (batch, size), (batch, size), (batch,)]


def _output_size(per_class: Any, total: Any, classes: Any, pad_per_class: bool) -> int | None:
    if total is None:
        return None
    if not pad_per_class:
        return int(total)
    if per_class is None or classes is None:
        return None
    return min(int(total), int(per_class) * classes)


@COMBINED.kernel
def combined_kernel(
    boxes: Any, scores: Any, per_class: Any, total: Any, iou: Any, score: Any, *,
    pad_per_class: bool, clip_boxes: bool,
) -> list[Any]:  # fmt: skip
    combined_shape(
        boxes.shape, scores.shape, (), (), (), (), pad_per_class=pad_per_class,
        max_output_size_per_class_value=per_class, max_total_size_value=total,
    )  # fmt: skip
    if not 0 <= iou <= 1:
        raise InvalidArgumentError(f"iou_threshold must be in [0, 1], got {iou}")
    size = _output_size(per_class, total, scores.shape[2], pad_per_class)
    check_room((len(boxes), size, 4), np.float32)
    found = [np.zeros((len(boxes), size, *rest), np.float32) for rest in ((4,), (), ())]  # type: ignore[arg-type]
    counts = np.zeros(len(boxes), np.int32)
    for image in range(len(boxes)):
        parts = _of_image(boxes[image], scores[image], per_class, iou, score)
        best = np.argsort(-parts[1], kind="stable")[:size]
        counts[image] = len(best)
        for output, part in zip(found, parts, strict=True):
            output[image, : len(best)] = part[best]
    if clip_boxes:
        np.clip(found[0], 0, 1, out=found[0])
    return [*found, counts]


def _of_image(boxes: Any, scores: Any, per_class: Any, iou: Any, score: Any) -> list[Any]:
    """Return boxes, scores and classes of what is left in each class."""
    parts: list[tuple[Any, Any, Any]] = []
    for number in range(scores.shape[1]):
        own = boxes[:, number if boxes.shape[1] > 1 else 0]
        chosen, left = select(overlaps_of(own), scores[:, number], per_class, iou, score)
        parts.append((own[chosen], left, np.full(len(chosen), number, np.float32)))
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def combined_non_max_suppression(
    boxes: Any, scores: Any, max_output_size_per_class: Any, max_total_size: Any,
    iou_threshold: Any = 0.5, score_threshold: Any = float("-inf"), pad_per_class: bool = False,
    clip_boxes: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """Return of each image the boxes with the highest scores that overlap with no better one.

    Boxes of different classes do not compete.

    Args:
      boxes: float32 [batch, boxes, 1 or classes, 4]: two opposite corners, (row, column) each.
      scores: float32 [batch, boxes, classes].
      max_output_size_per_class: at most so many are taken of a class.
      max_total_size: at most so many of an image.
      iou_threshold: what two boxes share, as a part of both together, from which on they overlap.
      score_threshold: boxes are taken above this one only.
      pad_per_class: whether the result is no longer than max_output_size_per_class * classes.
      clip_boxes: whether corners are moved into [0, 1].
      name: prefix for the nodes.

    Returns:
      (boxes [batch, size, 4], scores [batch, size], classes [batch, size], int32 [batch] how many
      of them there are), the best first, filled up with zeros.

    Example:
      >>> boxes = [[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.1, 1.0, 1.0]]]]
      >>> found = image.combined_non_max_suppression(boxes, [[[0.9], [0.8]]], 2, 2)
      >>> Session().run(found.valid_detections)
      array([1], dtype=int32)
    """
    with name_scope(name, "combined_non_max_suppression"):
        iou = convert_to_tensor(iou_threshold, "float32", name="iou_threshold")
        least = convert_to_tensor(score_threshold, "float32", name="score_threshold")
        found = COMBINED(
            boxes, scores, max_output_size_per_class, max_total_size, iou, least,
            pad_per_class=pad_per_class, clip_boxes=clip_boxes,
        )  # fmt: skip
    return CombinedNonMaxSuppression(*found)
