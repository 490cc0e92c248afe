"""Images of another size: bilinear, bicubic, nearest neighbour, area; and their gradients.

Source: TF 1.15 API documentation, tf.image.resize_bilinear and its neighbours.
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
from tfdist.graph.operation import Tensor
from tfdist.ops.image import resampling_weights
from tfdist.ops.image.resampling_weights import Taps, Ways, applied, cost

__all__ = ["resize_area", "resize_bicubic", "resize_bilinear", "resize_nearest_neighbor"]

_TYPES = "int8,uint8,int16,uint16,int32,int64,half,float,double"
_CENTERS = "align_corners: bool = False; half_pixel_centers: bool = False"


def _resizes(name: str, types: str, result: str, flags: str) -> OpDef:
    return OpDef(
        f"{name}(images: T, size: int32) -> resized_images: {result} [T: type {{{types}}}; {flags}]"
    )


RESIZE_BILINEAR = _resizes("ResizeBilinear", f"{_TYPES},bfloat16", "float", _CENTERS)
RESIZE_BICUBIC = _resizes("ResizeBicubic", _TYPES, "float", _CENTERS)
RESIZE_NEAREST_NEIGHBOR = _resizes("ResizeNearestNeighbor", _TYPES, "T", _CENTERS)
RESIZE_AREA = _resizes(
    "ResizeArea", _TYPES, "float", "align_corners: bool = False"
).not_differentiable()


def resized_shape(images: Shape, size: Shape, *, size_value: Any) -> Shape:
    shapes.require_rank(images, "images", 4)
    shapes.require_rank(size, "size", 1)
    shapes.require_sizes(size, (2,), "size")
    batch, _, _, channels = images or (None,) * 4
    height, width = (None, None) if size_value is None else shapes.from_constant(size_value)  # type: ignore[misc]
    return (batch, height, width, channels)


for _op_def in (RESIZE_BILINEAR, RESIZE_BICUBIC, RESIZE_NEAREST_NEIGHBOR, RESIZE_AREA):
    _op_def.shape(resized_shape)


def _checked(images: Any, size: Any) -> list[int]:
    """Return the new height and width."""
    if np.shape(size) != (2,):
        what = "have two elements" if np.ndim(size) == 1 else "be 1-dimensional"
        raise InvalidArgumentError(f"size: shape_t must {what}, got {list(np.shape(size))}")
    if images.ndim != 4:
        raise InvalidArgumentError(f"input must be 4-dimensional, got {list(images.shape)}")
    if np.min(size) <= 0:
        raise InvalidArgumentError(f"output dimensions must be positive, got {size.tolist()}")
    if not all(images.shape[1:3]):
        raise InvalidArgumentError(f"input image must be of non-zero size, got {images.shape}")
    return [int(each) for each in size]


def _both_ways(images: Any, size: Any, ways: Ways, *flags: bool) -> Any:
    if flags == (True, True):
        raise InvalidArgumentError("If half_pixel_centers is True, align_corners must be False.")
    height, width = _checked(images, size)
    check_room((len(images), height, width, images.shape[3]), images.dtype)
    rows = resampling_weights.forwards(ways, images.shape[1], height, *flags)
    return _made_anew(
        images, rows, resampling_weights.forwards(ways, images.shape[2], width, *flags)
    )


def _made_anew(images: Any, rows: Taps, columns: Taps) -> Any:
    """Return images made anew along both axes, that first which leaves less to do."""
    height, width = images.shape[1:3]
    rows_first = cost(rows, 1, width) + cost(columns, 2, rows.places.shape[1])
    columns_first = cost(columns, 2, height) + cost(rows, 1, columns.places.shape[1])
    if columns_first <= rows_first:
        return applied(applied(images, columns, 2), rows, 1)
    return applied(applied(images, rows, 1), columns, 2)


@RESIZE_BILINEAR.kernel
def resize_bilinear_kernel(
    images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    floats = images.astype(np.float32, copy=False)
    return _both_ways(floats, size, resampling_weights.linear, align_corners, half_pixel_centers)


@RESIZE_BICUBIC.kernel
def resize_bicubic_kernel(
    images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    floats = images.astype(np.float32, copy=False)
    return _both_ways(floats, size, resampling_weights.cubic, align_corners, half_pixel_centers)


@RESIZE_NEAREST_NEIGHBOR.kernel
def resize_nearest_neighbor_kernel(
    images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    return _both_ways(images, size, resampling_weights.nearest, align_corners, half_pixel_centers)


@RESIZE_AREA.kernel
def resize_area_kernel(images: Any, size: Any, *, align_corners: bool) -> Any:
    return _both_ways(
        images.astype(np.float32, copy=False), size, resampling_weights.area, align_corners
    )


# gradients

RESIZE_BILINEAR_GRAD = OpDef(
    "ResizeBilinearGrad(grads: float, original_image: T) -> output: T "
    f"[T: type {{float,bfloat16,half,double}}; {_CENTERS}]"
).not_differentiable()
RESIZE_BICUBIC_GRAD = OpDef(
    "ResizeBicubicGrad(grads: float, original_image: T) -> output: T "
    f"[T: type {{float,double}}; {_CENTERS}]"
).not_differentiable()
RESIZE_NEAREST_NEIGHBOR_GRAD = OpDef(
    "ResizeNearestNeighborGrad(grads: T, size: int32) -> output: T "
    f"[T: type {{uint8,int8,int32,half,float,double,bfloat16}}; {_CENTERS}]"
)
RESIZE_NEAREST_NEIGHBOR_GRAD.checked_shape(
    lambda grads, size, *, size_value: resized_shape(grads, size, size_value=size_value)
)


def original_shape(grads: Shape, original_image: Shape) -> Shape:
    shapes.require_rank(grads, "grads", 4)
    shapes.require_rank(original_image, "original_image", 4)
    return original_image if original_image or not grads else (grads[0], None, None, grads[3])


def _back_both_ways(grads: Any, size: Any, ways: Ways, *flags: bool) -> Any:
    height, width = size
    rows = resampling_weights.backwards(ways, height, grads.shape[1], *flags)
    return _made_anew(
        grads, rows, resampling_weights.backwards(ways, width, grads.shape[2], *flags)
    )


def _gradient_kernel(ways: Ways) -> Callable[..., Any]:
    def kernel(
        grads: Any, original_image: Any, *, align_corners: bool, half_pixel_centers: bool
    ) -> Any:
        size = original_image.shape[1:3]
        found = _back_both_ways(grads, size, ways, align_corners, half_pixel_centers)
        return found.astype(original_image.dtype, copy=False)

    return kernel


RESIZE_BILINEAR_GRAD.kernel(_gradient_kernel(resampling_weights.linear))
RESIZE_BICUBIC_GRAD.kernel(_gradient_kernel(resampling_weights.cubic))


@RESIZE_NEAREST_NEIGHBOR_GRAD.kernel
def resize_nearest_neighbor_grad_kernel(
    grads: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    old = _checked(grads, size)
    return _back_both_ways(
        grads, old, resampling_weights.nearest, align_corners, half_pixel_centers
    )


RESIZE_BILINEAR_GRAD.checked_shape(original_shape)
RESIZE_BICUBIC_GRAD.checked_shape(original_shape)


def _flags(op: Any) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in ("align_corners", "half_pixel_centers")}


@RESIZE_BILINEAR.gradient
def resize_bilinear_gradient(op: Any, d_resized: Any) -> Any:
    if not op.inputs[0].dtype.is_floating:
        return None, None
    return raw.ResizeBilinearGrad(d_resized, op.inputs[0], **_flags(op)), None


@RESIZE_BICUBIC.gradient
def resize_bicubic_gradient(op: Any, d_resized: Any) -> Any:
    if op.inputs[0].dtype.name not in ("float32", "float64"):
        return None, None
    return raw.ResizeBicubicGrad(d_resized, op.inputs[0], **_flags(op)), None


@RESIZE_NEAREST_NEIGHBOR.gradient
def resize_nearest_neighbor_gradient(op: Any, d_resized: Any) -> Any:
    size = raw.StridedSlice(raw.Shape(op.inputs[0]), [1], [3], [1])
    return raw.ResizeNearestNeighborGrad(d_resized, size, **_flags(op)), None


@RESIZE_NEAREST_NEIGHBOR_GRAD.gradient
def resize_nearest_neighbor_grad_gradient(op: Any, d_output: Any) -> Any:
    size = raw.StridedSlice(raw.Shape(op.inputs[0]), [1], [3], [1])
    return raw.ResizeNearestNeighbor(d_output, size, **_flags(op)), None


# public functions


def _public(public: str, op_def: OpDef, what: str, example: str) -> Callable[..., Tensor]:
    """Return the public function of an op that knows where pixels' centres lie."""

    def function(
        images: Any, size: Any, align_corners: bool = False, name: str | None = None,
        half_pixel_centers: bool = False,
    ) -> Tensor:  # fmt: skip
        tensor: Tensor = op_def(
            images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers,
            name=name,
        )  # fmt: skip
        return tensor

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return images of another size, {what}.

    Args:
      images: numbers [batch, height, width, channels].
      size: int32 [2], the new height and width.
      align_corners: whether the corners' pixels stay at the corners.
      name: of the node.
      half_pixel_centers: whether a pixel's value stands for its middle.

    Returns:
      [batch, new height, new width, channels].

    Raises:
      ValueError: the shapes are others.
      InvalidArgumentError: a size is not positive (when it runs).

    Example:
      >>> row = [[[[1.0], [3.0]]]]
      {example}
    """
    return function


resize_bilinear = _public(
    "resize_bilinear", RESIZE_BILINEAR, "float32, with linear interpolation along both axes",
    ">>> Session().run(image.resize_bilinear(row, [1, 4])).ravel()\n"
    "      array([1., 2., 3., 3.], dtype=float32)",
)  # fmt: skip
resize_bicubic = _public(
    "resize_bicubic", RESIZE_BICUBIC, "float32, with cubic convolution along both axes",
    ">>> Session().run(image.resize_bicubic(row, [1, 4])).ravel()\n"
    "      array([1.    , 2.    , 3.    , 3.1875], dtype=float32)",
)  # fmt: skip
resize_nearest_neighbor = _public(
    "resize_nearest_neighbor", RESIZE_NEAREST_NEIGHBOR, "each pixel like the nearest old one",
    ">>> Session().run(image.resize_nearest_neighbor(row, [1, 4])).ravel()\n"
    "      array([1., 1., 3., 3.], dtype=float32)",
)  # fmt: skip


def resize_area(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None
) -> Tensor:
    """Return images of another size, float32, each pixel the mean of those it covers.

    Args:
      images: numbers [batch, height, width, channels].
      size: int32 [2], the new height and width.
      align_corners: whether the scale is that of the distance between the corners' pixels.
      name: of the node.

    Example:
      >>> Session().run(image.resize_area([[[[1.0], [3.0], [8.0]]]], [1, 2])).ravel()
      array([1.6666667, 6.3333335], dtype=float32)
    """
    tensor: Tensor = RESIZE_AREA(images, size, align_corners=align_corners, name=name)
    return tensor
