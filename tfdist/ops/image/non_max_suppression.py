"""Non-maximum suppression: of boxes that overlap, those with the highest scores.

Source: TF 1.15 API documentation, tf.image.non_max_suppression; N. Bodla et al., Soft-NMS, 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope

__all__ = [
    "non_max_suppression", "non_max_suppression_overlaps", "non_max_suppression_padded",
    "non_max_suppression_with_scores",
]  # fmt: skip

_SELECTED = "selected_indices: int32"
_TYPES = "T: type = float {half,float}"
_TWO = f"{_TYPES}; T_threshold: type = float {{half,float}}"
_PADDED = "pad_to_max_output_size: bool = False"
_BOXES = "boxes: T, scores: T, max_output_size: int32"

NON_MAX_SUPPRESSION = OpDef(
    "NonMaxSuppression(boxes: float, scores: float, max_output_size: int32) "
    f"-> {_SELECTED} [iou_threshold: float = 0.5]"
).not_differentiable()
NON_MAX_SUPPRESSION_V2 = OpDef(
    f"NonMaxSuppressionV2({_BOXES}, iou_threshold: T_threshold) -> {_SELECTED} [{_TWO}]"
).not_differentiable()
NON_MAX_SUPPRESSION_V3 = OpDef(
    f"NonMaxSuppressionV3({_BOXES}, iou_threshold: T_threshold, score_threshold: T_threshold) "
    f"-> {_SELECTED} [{_TWO}]"
).not_differentiable()
NON_MAX_SUPPRESSION_V4 = OpDef(
    f"NonMaxSuppressionV4({_BOXES}, iou_threshold: T_threshold, score_threshold: T_threshold) "
    f"-> {_SELECTED}, valid_outputs: int32 [{_TWO}; {_PADDED}]"
).not_differentiable()
NON_MAX_SUPPRESSION_V5 = OpDef(
    f"NonMaxSuppressionV5({_BOXES}, iou_threshold: T, score_threshold: T, soft_nms_sigma: T) "
    f"-> {_SELECTED}, selected_scores: T, valid_outputs: int32 [{_TYPES}; {_PADDED}]"
).not_differentiable()
NON_MAX_SUPPRESSION_WITH_OVERLAPS = OpDef(
    "NonMaxSuppressionWithOverlaps(overlaps: float, scores: float, max_output_size: int32, "
    f"overlap_threshold: float, score_threshold: float) -> {_SELECTED}"
).not_differentiable()


def _check(boxes: Shape, scores: Shape, *scalars: Shape) -> None:
    shapes.require_rank(boxes, "boxes", 2)
    shapes.require_rank(scores, "scores", 1)
    if boxes is not None and scores is not None:
        shapes.merge_dim(boxes[0], scores[0], "boxes and scores")
    for each in scalars:
        shapes.require_rank(each, "max_output_size and thresholds", 0)


def _check_boxes(boxes: Shape, scores: Shape, *scalars: Shape) -> None:
    _check(boxes, scores, *scalars)
    if boxes is not None:
        shapes.merge_dim(boxes[1], 4, "boxes")


def selected_shape(boxes: Shape, scores: Shape, *scalars: Shape) -> Shape:
    _check_boxes(boxes, scores, *scalars)
    return (None,)


for _op_def in (NON_MAX_SUPPRESSION, NON_MAX_SUPPRESSION_V2, NON_MAX_SUPPRESSION_V3):
    _op_def.checked_shape(selected_shape)


@NON_MAX_SUPPRESSION_WITH_OVERLAPS.checked_shape
def overlaps_shape(overlaps: Shape, scores: Shape, *scalars: Shape) -> Shape:
    _check(overlaps, scores, *scalars)
    if overlaps is not None:
        shapes.merge_dim(overlaps[0], overlaps[1], "overlaps")
    return (None,)


def _length(padded: bool, most: Any) -> int | None:
    return int(most) if padded and most is not None else None


@NON_MAX_SUPPRESSION_V4.checked_shape
def padded_shape(
    boxes: Shape, scores: Shape, most: Shape, iou: Shape, score: Shape, *,
    pad_to_max_output_size: bool, max_output_size_value: Any,
) -> list[Shape]:  # fmt: skip
    _check_boxes(boxes, scores, most, iou, score)
    return [(_length(pad_to_max_output_size, max_output_size_value),), ()]


@NON_MAX_SUPPRESSION_V5.checked_shape
def with_scores_shape(
    boxes: Shape, scores: Shape, most: Shape, iou: Shape, score: Shape, sigma: Shape, *,
    pad_to_max_output_size: bool, max_output_size_value: Any,
) -> list[Shape]:  # fmt: skip
    _check_boxes(boxes, scores, most, iou, score, sigma)
    length = (_length(pad_to_max_output_size, max_output_size_value),)
    return [length, length, ()]


Overlaps = Callable[[Any, Any], Any]

_AT_A_TIME = 128  # candidates that are compared with all boxes taken before, and with one another
_LEAST = np.finfo(np.float32).smallest_subnormal


def overlaps_of(boxes: Any) -> Overlaps:
    """Return a function from some boxes and others to how much they overlap: of both together.

    Its arguments are places of boxes, [n] and [m]; its result is float32 [n, m].
    """
    edges = np.ascontiguousarray(boxes.T, np.float32)
    least, most = np.minimum(edges[:2], edges[2:]), np.maximum(edges[:2], edges[2:])
    height, width = most - least
    areas = height * width

    def overlaps(some: Any, others: Any) -> Any:
        inner, width = (
            np.maximum(_shared(least[axis], most[axis], some, others), 0) for axis in (0, 1)
        )
        inner *= width
        whole = np.add.outer(areas[some], areas[others])
        whole -= inner
        np.maximum(whole, _LEAST, out=whole)  # of two boxes without area
        inner /= whole
        return inner

    return overlaps


def _shared(least: Any, most: Any, some: Any, others: Any) -> Any:
    shared = np.minimum.outer(most[some], most[others])
    shared -= np.maximum.outer(least[some], least[others])
    return shared


def select(
    overlaps: Overlaps, scores: Any, most: Any, threshold: Any, least: Any = -np.inf,
    sigma: Any = 0.0,
) -> tuple[Any, Any]:  # fmt: skip
    """Return indices and scores of the best, one after the other; each weakens its neighbours."""
    wide = scores.astype(np.float32)
    if sigma > 0:
        return _select_softly(overlaps, wide, int(most), threshold, least, sigma, scores.dtype)
    (candidates,) = np.nonzero(wide > np.float32(least))
    candidates = candidates[np.argsort(-wide[candidates], kind="stable")]
    chosen = candidates[:0]
    for start in range(0, len(candidates), _AT_A_TIME):
        if len(chosen) >= int(most):
            break
        part = candidates[start : start + _AT_A_TIME]
        if len(chosen):
            near = overlaps(chosen, part) >= np.float32(threshold)
            part = part[~near.any(0)]
        near = overlaps(part, part) >= np.float32(threshold)
        chosen = np.concatenate([chosen, part[_are_without_better(near)]])
    chosen = chosen[: max(int(most), 0)]
    return chosen.astype(np.int32), scores[chosen]


def _are_without_better(near: Any) -> Any:
    """Return for each box whether it is near none that is taken before it, bool.

    Args:
      near: bool [boxes, boxes], the best first.
    """
    count = len(near)
    # a row as the bits of one number: a step is a look at a bit, and for a box taken one "or";
    # most boxes are near none but themselves
    crowded = np.flatnonzero(near.sum(1) > near.diagonal())
    rows = np.packbits(near[crowded], 1, "little")
    gone = 0
    for place, row in zip(crowded.tolist(), rows, strict=True):
        if not gone >> place & 1:
            gone |= int.from_bytes(row, "little") & (-2 << place)  # of those behind it
    bits = np.frombuffer(gone.to_bytes(count // 8 + 1, "little"), np.uint8)
    return np.unpackbits(bits, count=count, bitorder="little") == 0


def _select_softly(
    overlaps: Overlaps, left: Any, most: int, threshold: Any, least: Any, sigma: Any, dtype: Any
) -> tuple[Any, Any]:
    """Return the same as `select`, where scores fall with overlaps: box after box."""
    every = np.arange(len(left))
    left[~(left > np.float32(least))] = -np.inf
    indices: list[int] = []
    found: list[Any] = []
    while len(indices) < most and left.size:
        best = int(left.argmax())
        if left[best] == -np.inf:
            break
        indices.append(best)
        found.append(left[best])
        near = overlaps(every[best : best + 1], every)[0]
        left = left * np.exp(-0.5 * near * near / np.float32(sigma))
        left[(near >= np.float32(threshold)) | ~(left > np.float32(least))] = -np.inf
        left[best] = -np.inf
    return np.array(indices, np.int32), np.array(found, dtype)


def _of_boxes(boxes: Any, scores: Any, most: Any, iou: Any, *rest: Any) -> tuple[Any, Any]:
    _check_boxes(boxes.shape, scores.shape)
    if not 0 <= iou <= 1:
        raise InvalidArgumentError(f"iou_threshold must be in [0, 1], got {iou}")
    return select(overlaps_of(boxes), scores, most, iou, *rest)


@NON_MAX_SUPPRESSION.kernel
def non_max_suppression_kernel(
    boxes: Any, scores: Any, max_output_size: Any, *, iou_threshold: float
) -> Any:
    return _of_boxes(boxes, scores, max_output_size, iou_threshold)[0]


@NON_MAX_SUPPRESSION_V2.kernel
def non_max_suppression_v2_kernel(boxes: Any, scores: Any, most: Any, iou: Any) -> Any:
    return _of_boxes(boxes, scores, most, iou)[0]


@NON_MAX_SUPPRESSION_V3.kernel
def non_max_suppression_v3_kernel(boxes: Any, scores: Any, most: Any, iou: Any, score: Any) -> Any:
    return _of_boxes(boxes, scores, most, iou, score)[0]


@NON_MAX_SUPPRESSION_V4.kernel
def non_max_suppression_v4_kernel(
    boxes: Any, scores: Any, most: Any, iou: Any, score: Any, *, pad_to_max_output_size: bool
) -> Any:
    indices, _ = _of_boxes(boxes, scores, most, iou, score)
    count = np.int32(len(indices))
    return (_padded(indices, most) if pad_to_max_output_size else indices), count


@NON_MAX_SUPPRESSION_V5.kernel
def non_max_suppression_v5_kernel(
    boxes: Any, scores: Any, most: Any, iou: Any, score: Any, sigma: Any, *,
    pad_to_max_output_size: bool,
) -> Any:  # fmt: skip
    indices, found = _of_boxes(boxes, scores, most, iou, score, sigma)
    count = np.int32(len(indices))
    if pad_to_max_output_size:
        return _padded(indices, most), _padded(found, most), count
    return indices, found, count


@NON_MAX_SUPPRESSION_WITH_OVERLAPS.kernel
def non_max_suppression_with_overlaps_kernel(
    overlaps: Any, scores: Any, most: Any, overlap_threshold: Any, score_threshold: Any
) -> Any:
    overlaps_shape(overlaps.shape, scores.shape)
    thresholds = overlap_threshold, score_threshold
    return select(lambda some, others: overlaps[np.ix_(some, others)], scores, most, *thresholds)[0]


def _padded(values: Any, most: Any) -> Any:
    return np.concatenate([values, np.zeros(max(int(most) - len(values), 0), values.dtype)])


# public functions


def non_max_suppression(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"), name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return which boxes have the highest scores and do not overlap with a better one.

    Args:
      boxes: floats [boxes, 4]: two opposite corners, (row, column) each.
      scores: floats [boxes].
      max_output_size: at most so many are returned.
      iou_threshold: what two boxes share, as a part of both together, from which on they overlap.
      score_threshold: boxes are taken above this one only.
      name: prefix for the nodes.

    Returns:
      int32 [selected], the best first.

    Example:
      >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [5.0, 5.0, 6.0, 6.0]]
      >>> Session().run(image.non_max_suppression(boxes, [0.5, 0.9, 0.7], 3))
      array([1, 2], dtype=int32)
    """
    with name_scope(name, "non_max_suppression"):
        thresholds = _thresholds(iou=iou_threshold, score=score_threshold)
        return NON_MAX_SUPPRESSION_V3(boxes, scores, max_output_size, *thresholds)  # type: ignore[no-any-return]


def _thresholds(**values: Any) -> list[Tensor]:
    return [
        convert_to_tensor(value, "float32", name=f"{key}_threshold")
        for key, value in values.items()
    ]


def non_max_suppression_padded(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"), pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the same as `non_max_suppression`, filled up with zeros, and how many count.

    Args:
      boxes: see `non_max_suppression`.
      scores: see `non_max_suppression`.
      max_output_size: see `non_max_suppression`.
      iou_threshold: see `non_max_suppression`.
      score_threshold: see `non_max_suppression`.
      pad_to_max_output_size: whether zeros fill the result up to max_output_size.
      name: prefix for the nodes.

    Returns:
      (int32 [selected], int32 [] how many of them were selected).

    Example:
      >>> selected, count = image.non_max_suppression_padded(
      ...     [[0.0, 0.0, 1.0, 1.0]], [0.5], 3, pad_to_max_output_size=True
      ... )
      >>> Session().run([selected, count])
      [array([0, 0, 0], dtype=int32), np.int32(1)]
    """
    with name_scope(name, "non_max_suppression_padded"):
        thresholds = _thresholds(iou=iou_threshold, score=score_threshold)
        selected, count = NON_MAX_SUPPRESSION_V4(
            boxes, scores, max_output_size, *thresholds,
            pad_to_max_output_size=pad_to_max_output_size,
        )  # fmt: skip
    return selected, count


def non_max_suppression_with_scores(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"), soft_nms_sigma: Any = 0.0, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the same as `non_max_suppression` and the scores, which better neighbours lower.

    Args:
      boxes: see `non_max_suppression`.
      scores: see `non_max_suppression`.
      max_output_size: see `non_max_suppression`.
      iou_threshold: see `non_max_suppression`.
      score_threshold: see `non_max_suppression`.
      soft_nms_sigma: how softly: a score becomes exp(-overlap**2 / 2 sigma) times itself.
      name: prefix for the nodes.

    Returns:
      (int32 [selected], floats [selected]).

    Example:
      >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.5]]
      >>> chosen = image.non_max_suppression_with_scores(
      ...     boxes, [0.9, 0.8], 2, iou_threshold=1.0, soft_nms_sigma=0.5
      ... )
      >>> Session().run(chosen[1]).round(3)
      array([0.9  , 0.623], dtype=float32)
    """
    with name_scope(name, "non_max_suppression_with_scores"):
        thresholds = _thresholds(iou=iou_threshold, score=score_threshold)
        sigma = convert_to_tensor(soft_nms_sigma, "float32", name="soft_nms_sigma")
        selected, found, _ = NON_MAX_SUPPRESSION_V5(
            boxes, scores, max_output_size, *thresholds, sigma
        )
    return selected, found


def non_max_suppression_overlaps(
    overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"), name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the same as `non_max_suppression`, where it is told how much boxes overlap.

    Args:
      overlaps: float32 [boxes, boxes].
      scores: float32 [boxes].
      max_output_size: at most so many are returned.
      overlap_threshold: from which on two boxes overlap.
      score_threshold: boxes are taken above this one only.
      name: prefix for the nodes.

    Example:
      >>> near = [[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]]
      >>> Session().run(image.non_max_suppression_overlaps(near, [0.5, 0.9, 0.7], 3))
      array([1, 2], dtype=int32)
    """
    with name_scope(name, "non_max_suppression_overlaps"):
        threshold = convert_to_tensor(overlap_threshold, "float32", name="overlap_threshold")
        return NON_MAX_SUPPRESSION_WITH_OVERLAPS(  # type: ignore[no-any-return]
            overlaps, scores, max_output_size, threshold, score_threshold
        )
