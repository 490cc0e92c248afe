"""Boxes of images cut out and made one size, and glimpses.

Source: TF 1.15 API documentation, tf.image.crop_and_resize, tf.image.extract_glimpse.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError, OutOfRangeError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.repeated_indices import change_rows
from tfdist.ops.convolution.windows import pieces
from tfdist.ops.image import crop_loops

__all__ = ["crop_and_resize", "extract_glimpse"]

_TYPES = "T: type {uint8,uint16,int8,int16,int32,int64,half,float,double}"
CROP_AND_RESIZE = OpDef(
    "CropAndResize(image: T, boxes: float, box_ind: int32, crop_size: int32) -> crops: float "
    f"[{_TYPES}; method: string = 'bilinear' {{bilinear,nearest}}; "
    "extrapolation_value: float = 0.0]"
)
CROP_AND_RESIZE_GRAD_IMAGE = OpDef(
    "CropAndResizeGradImage(grads: float, boxes: float, box_ind: int32, image_size: int32) "
    "-> output: T [T: type {float,half,double}; method: string = 'bilinear' {bilinear,nearest}]"
).not_differentiable()
CROP_AND_RESIZE_GRAD_BOXES = OpDef(
    "CropAndResizeGradBoxes(grads: float, image: T, boxes: float, box_ind: int32) -> output: float "
    f"[{_TYPES}; method: string = 'bilinear' {{bilinear}}]"
).not_differentiable()


def _check_boxes(boxes: Shape, box_ind: Shape) -> int | None:
    """Return how many boxes there are."""
    shapes.require_rank(boxes, "boxes", 2)
    shapes.require_rank(box_ind, "box_ind", 1)
    if boxes is not None:
        shapes.merge_dim(boxes[1], 4, "boxes")
    return shapes.merge_dim((boxes or [None])[0], (box_ind or [None])[0], "boxes and box_ind")


@CROP_AND_RESIZE.shape
def crop_and_resize_shape(
    image: Shape, boxes: Shape, box_ind: Shape, crop_size: Shape, *, crop_size_value: Any
) -> Shape:
    shapes.require_rank(image, "image", 4)
    shapes.merge(crop_size, (2,), "crop_size")
    size = (None, None) if crop_size_value is None else shapes.from_constant(crop_size_value)
    return (_check_boxes(boxes, box_ind), *size, (image or [None])[-1])  # type: ignore[misc]


@CROP_AND_RESIZE_GRAD_IMAGE.shape
def crop_and_resize_grad_image_shape(
    grads: Shape, boxes: Shape, box_ind: Shape, image_size: Shape, *, image_size_value: Any
) -> Shape:
    shapes.require_rank(grads, "grads", 4)
    _check_boxes(boxes, box_ind)
    return (None,) * 4 if image_size_value is None else shapes.from_constant(image_size_value)


@CROP_AND_RESIZE_GRAD_BOXES.shape
def crop_and_resize_grad_boxes_shape(
    grads: Shape, image: Shape, boxes: Shape, box_ind: Shape
) -> Shape:
    shapes.require_rank(image, "image", 4)
    return (_check_boxes(boxes, box_ind), 4)


class _Axis(NamedTuple):
    """Where the rows (or columns) of crops lie in their images.

    Attributes:
      places: float32 [boxes, size].
      inside: bool [boxes, size], whether they lie in the image.
      lower: int [boxes, size], the row before.
      upper: the row behind.
      share: float32 [boxes, size], how much of the row behind.
    """

    places: Any
    inside: Any
    lower: Any
    upper: Any
    share: Any


def _axis(start: Any, end: Any, size: int, old: int) -> _Axis:
    last = np.float32(old - 1)
    if size > 1:
        step = (end - start) * last / np.float32(size - 1)
        places = start[:, None] * last + np.arange(size, dtype=np.float32) * step[:, None]
    else:
        places = (np.float32(0.5) * (start + end) * last)[:, None]
    inside = (places >= 0) & (places <= last)
    held = np.where(inside, places, 0)
    lower = np.floor(held)
    bounds = lower.astype(np.intp), np.ceil(held).astype(np.intp)
    return _Axis(held, inside, *bounds, held - lower)


def _axes(boxes: Any, size: Any, old: Any) -> tuple[_Axis, _Axis]:
    top, left, bottom, right = boxes.T
    return _axis(top, bottom, size[0], old[0]), _axis(left, right, size[1], old[1])


def _check(boxes: Any, box_ind: Any, batch: int) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != 4 or box_ind.shape != boxes.shape[:1]:
        raise InvalidArgumentError(
            f"boxes must be [num_boxes, 4] and box_index [num_boxes], got {list(boxes.shape)} and "
            f"{list(box_ind.shape)}"
        )
    if box_ind.size and not 0 <= box_ind.min() <= box_ind.max() < batch:
        raise OutOfRangeError(
            f"box_index has values outside [0, batch_size): {box_ind.tolist()}, of {batch} images"
        )


@CROP_AND_RESIZE.kernel
def crop_and_resize_kernel(
    image: Any, boxes: Any, box_ind: Any, crop_size: Any, *, method: bytes,
    extrapolation_value: float,
) -> Any:  # fmt: skip
    _check(boxes, box_ind, len(image))
    if np.shape(crop_size) != (2,) or np.min(crop_size) <= 0:
        raise InvalidArgumentError(f"crop dimensions must be positive, got {crop_size}")
    check_room((len(boxes), *crop_size, image.shape[3]), np.float32)
    rows, columns = _axes(boxes, [int(each) for each in crop_size], image.shape[1:3])
    crops = np.empty([*rows.places.shape, columns.places.shape[1], image.shape[3]], np.float32)
    if method == b"nearest" or not crop_loops.written(crops, image, box_ind, rows, columns):
        _write_parts(crops, image, box_ind, rows, columns, method == b"nearest")
    crops[~rows.inside] = extrapolation_value
    crops.swapaxes(1, 2)[~columns.inside] = extrapolation_value
    return crops


def _write_parts(
    crops: Any, image: Any, box_ind: Any, rows: _Axis, columns: _Axis, is_nearest: bool
) -> None:
    for part in pieces(len(crops), 4 * crops[:1].nbytes):
        some = [_Axis(*(each[part] for each in axis)) for axis in (rows, columns)]
        take = _taker(image, box_ind[part])
        if is_nearest:
            crops[part] = take(*(_rounded(axis.places) for axis in some))
        else:
            crops[part] = _interpolated(take, *some)


def _interpolated(take: Any, rows: _Axis, columns: _Axis) -> Any:
    """Return what lies between four pixels each."""
    found: Any = [[take(row, column) for column in (columns.lower, columns.upper)]
                  for row in (rows.lower, rows.upper)]  # fmt: skip
    shape = found[0][0].shape
    right = np.repeat(columns.share, shape[-1], 1)[:, None, :]  # NumPy is slow with short axes
    flat: Any = [[each.reshape(*shape[:2], -1) for each in row] for row in found]
    top, bottom = (_between(left, far, right) for left, far in flat)
    return _between(top, bottom, rows.share[:, :, None]).reshape(shape)


def _between(first: Any, last: Any, share: Any) -> Any:
    """Return what lies between two arrays, made in their place."""
    last -= first
    last *= share
    first += last
    return first


def _taker(image: Any, box_ind: Any) -> Any:
    """Return a function from rows and columns of boxes to their pixels, float32, a new array."""
    _, height, width, channels = image.shape
    pixels = image.reshape(-1, channels)
    starts = (box_ind.astype(np.intp) * height)[:, None]

    def take(rows: Any, columns: Any) -> Any:
        places = ((starts + rows) * width)[:, :, None] + columns[:, None, :]
        return pixels.take(places, 0).astype(np.float32, copy=False)

    return take


def _rounded(places: Any) -> Any:
    return np.floor(places + np.float32(0.5)).astype(np.intp)


def _inside(rows: _Axis, columns: _Axis) -> Any:
    return (rows.inside[:, :, None] & columns.inside[:, None, :])[..., None]


@CROP_AND_RESIZE_GRAD_IMAGE.kernel
def crop_and_resize_grad_image_kernel(
    grads: Any, boxes: Any, box_ind: Any, image_size: Any, *, T: DType, method: bytes
) -> Any:
    batch, height, width, channels = (int(each) for each in image_size)
    _check(boxes, box_ind, batch)
    check_room(image_size, np.float32)
    rows, columns = _axes(boxes, grads.shape[1:3], (height, width))
    total = np.zeros([batch * height * width, channels], np.float32)
    given = np.where(_inside(rows, columns), grads, 0)
    for row, row_share in _shares(rows, method):
        for column, share in _shares(columns, method):
            part = given * (row_share[:, :, None] * share[:, None, :])[..., None]
            place = box_ind[:, None, None] * height + row[:, :, None]
            place = place * width + column[:, None, :]
            change_rows(np.add, total, place.reshape(-1), part.reshape(-1, channels))
    return total.reshape(batch, height, width, channels).astype(T.as_numpy_dtype, copy=False)


def _shares(axis: _Axis, method: bytes) -> list[tuple[Any, Any]]:
    """Return the places that a crop is made of, and how much of each."""
    if method == b"nearest":
        return [(_rounded(axis.places), np.ones_like(axis.places))]
    return [(axis.lower, 1 - axis.share), (axis.upper, axis.share)]


@CROP_AND_RESIZE_GRAD_BOXES.kernel
def crop_and_resize_grad_boxes_kernel(
    grads: Any, image: Any, boxes: Any, box_ind: Any, *, method: bytes
) -> Any:
    _check(boxes, box_ind, len(image))
    old, size = image.shape[1:3], grads.shape[1:3]
    rows, columns = _axes(boxes, size, old)
    take = _taker(image, box_ind)
    corners = [[take(row, column) for column in (columns.lower, columns.upper)]
               for row in (rows.lower, rows.upper)]  # fmt: skip
    (top_left, top_right), (bottom_left, bottom_right) = corners
    down, right = rows.share[:, :, None, None], columns.share[:, None, :, None]
    d_row = (1 - right) * (bottom_left - top_left) + right * (bottom_right - top_right)
    d_column = (1 - down) * (top_right - top_left) + down * (bottom_right - bottom_left)
    given = np.where(_inside(rows, columns), grads, 0)
    d_rows = _ends((d_row * given).sum((2, 3)), old[0])
    d_columns = _ends((d_column * given).sum((1, 3)), old[1])
    return np.stack([d_rows[0], d_columns[0], d_rows[1], d_columns[1]], -1).astype(np.float32)


def _ends(gradients: Any, old: int) -> tuple[Any, Any]:
    """Return the gradients of where boxes start and end from those of their rows [boxes, size]."""
    size = gradients.shape[1]
    late = (
        np.arange(size, dtype=np.float32) / max(size - 1, 1)
        if size > 1
        else np.full(1, 0.5, np.float32)
    )
    return (gradients * (1 - late)).sum(1) * (old - 1), (gradients * late).sum(1) * (old - 1)


@CROP_AND_RESIZE.gradient
def crop_and_resize_gradient(op: Any, d_crops: Any) -> Any:
    image, boxes, box_ind, _ = op.inputs
    method = op.get_attr("method")
    d_image = None
    if image.dtype.name in ("float16", "float32", "float64"):
        size = raw.Shape(image)
        d_image = raw.CropAndResizeGradImage(
            d_crops, boxes, box_ind, size, T=image.dtype, method=method
        )
    # with method "nearest" as well, in the lack of a better one
    d_boxes = raw.CropAndResizeGradBoxes(d_crops, image, boxes, box_ind)
    return d_image, d_boxes, None, None


def crop_and_resize(
    image: Any, boxes: Any, box_ind: Any = None, crop_size: Any = None, method: str = "bilinear",
    extrapolation_value: float = 0, name: str | None = None, box_indices: Any = None,
) -> Tensor:  # fmt: skip
    """Return boxes of images, all made one size.

    Args:
      image: numbers [batch, height, width, channels].
      boxes: float32 [boxes, 4]: top, left, bottom, right, where 0 is the middle of the first
        pixel, and 1 that of the last one. A box with its ends exchanged mirrors.
      box_ind: int32 [boxes], in which image each lies.
      crop_size: int32 [2], height and width of the result.
      method: "bilinear" or "nearest".
      extrapolation_value: of pixels outside the image.
      name: of the node.
      box_indices: the later spelling of box_ind.

    Returns:
      float32 [boxes, crop height, crop width, channels].

    Raises:
      OutOfRangeError: there is no such image (when it runs).

    Example:
      >>> pixels = reshape(cast(range(9), "float32"), [1, 3, 3, 1])
      >>> Session().run(image.crop_and_resize(pixels, [[0, 0, 0.5, 1]], [0], [2, 2]))[0, :, :, 0]
      array([[0., 2.],
             [3., 5.]], dtype=float32)
    """
    crops: Tensor = CROP_AND_RESIZE(
        image, boxes, box_ind if box_indices is None else box_indices, crop_size,
        method=method, extrapolation_value=extrapolation_value, name=name,
    )  # fmt: skip
    return crops


# glimpses

EXTRACT_GLIMPSE = OpDef(
    "ExtractGlimpse(input: float, size: int32, offsets: float) -> glimpse: float "
    "[centered: bool = True; normalized: bool = True; uniform_noise: bool = True; "
    "noise: string = 'uniform']"
).not_differentiable()


@EXTRACT_GLIMPSE.shape
def extract_glimpse_shape(input: Shape, size: Shape, offsets: Shape, *, size_value: Any) -> Shape:
    shapes.require_rank(input, "input", 4)
    shapes.merge(size, (2,), "size")
    shapes.require_rank(offsets, "offsets", 2)
    batch, _, _, channels = input or (None,) * 4
    if offsets is not None:
        shapes.merge_dim(offsets[1], 2, "offsets")
        batch = shapes.merge_dim(batch, offsets[0], "input and offsets")
    height, width = (None, None) if size_value is None else shapes.from_constant(size_value)  # type: ignore[misc]
    return (batch, height, width, channels)


@EXTRACT_GLIMPSE.kernel
def extract_glimpse_kernel(
    input: Any, size: Any, offsets: Any, *, centered: bool, normalized: bool, noise: bytes
) -> Any:
    height, width = (int(each) for each in size)
    if min(height, width) < 0 or offsets.shape != (len(input), 2):
        raise InvalidArgumentError(
            "size must not be negative, and of offsets, first dimension should be batch: they are "
            f"[batch, 2]; got {[height, width]} and {list(offsets.shape)}"
        )
    if noise not in (b"uniform", b"gaussian", b"zero"):
        raise InvalidArgumentError(
            f"The noise could only be uniform, gaussian, or zero, got {noise!r}"
        )
    check_room((len(input), height, width, *input.shape[3:]), np.float32)
    ends = offsets * np.array(input.shape[1:3], np.float32) if normalized else offsets
    if centered:
        ends = ends / 2 + np.array(input.shape[1:3], np.float32) / 2
    starts = np.trunc(ends - np.array([height, width], np.float32) / 2).astype(np.intp)
    rows = starts[:, :1] + np.arange(height)
    columns = starts[:, 1:] + np.arange(width)
    inside = ((0 <= rows) & (rows < input.shape[1]))[:, :, None] & (
        (0 <= columns) & (columns < input.shape[2])
    )[:, None, :]
    rows, columns = (np.where(0 <= each, each, 0) for each in (rows, columns))
    rows, columns = np.minimum(rows, input.shape[1] - 1), np.minimum(columns, input.shape[2] - 1)
    batch = np.arange(len(input))[:, None, None]
    found = input[batch, rows[:, :, None], columns[:, None, :]]
    return (
        found if inside.all() else np.where(inside[..., None], found, _noise(input, found, noise))
    )


def _noise(input: Any, like: Any, noise: bytes) -> Any:
    """Return numbers of the input's kind, the same in every run, as TensorFlow's are."""
    rng = np.random.default_rng(0)
    if noise == b"uniform":
        return rng.uniform(input.min(), input.max(), like.shape).astype(np.float32)
    if noise == b"gaussian":
        drawn = rng.normal(input.mean(), input.std(), like.shape)
        return np.clip(drawn, input.min(), input.max()).astype(np.float32)
    return np.float32(0)


def extract_glimpse(
    input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True,
    uniform_noise: bool = True, name: str | None = None, noise: str = "uniform",
) -> Tensor:  # fmt: skip
    """Return a part of each image, around a place of its own; noise stands for what is outside.

    Args:
      input: float32 [batch, height, width, channels].
      size: int32 [2], height and width of the parts.
      offsets: float32 [batch, 2], row and column of the parts' middles.
      centered: whether (0, 0) is the middle of the image, instead of its first corner.
      normalized: whether offsets are in heights and widths (halves, if centered), not in pixels.
      uniform_noise: taken for TensorFlow's sake: `noise` says what there is.
      name: of the node.
      noise: "uniform", in the image's range, "gaussian", around its mean, or "zero".

    Returns:
      float32 [batch, part's height, part's width, channels].

    Example:
      >>> pixels = reshape(cast(range(9), "float32"), [1, 3, 3, 1])
      >>> Session().run(image.extract_glimpse(pixels, [1, 3], [[0.0, 0.0]]))[0, :, :, 0]
      array([[3., 4., 5.]], dtype=float32)
    """
    glimpse: Tensor = EXTRACT_GLIMPSE(
        input, size, offsets, centered=centered, normalized=normalized,
        uniform_noise=uniform_noise, noise=noise, name=name,
    )  # fmt: skip
    return glimpse
