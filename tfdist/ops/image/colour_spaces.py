"""Colours: hue, saturation and value, contrast; grey images, YIQ and YUV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import ones
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.image.checks import image_checks
from tfdist.ops.image.convert_dtype import convert_image_dtype
from tfdist.ops.math import reduction_kernels
from tfdist.ops.math.tensordot import tensordot

__all__ = [
    "grayscale_to_rgb", "hsv_to_rgb", "rgb_to_grayscale", "rgb_to_hsv", "rgb_to_yiq", "rgb_to_yuv",
    "yiq_to_rgb", "yuv_to_rgb",
]  # fmt: skip

# kernels' parts

_AT_A_TIME = 1 << 14  # so many pixels' red, green and blue stay in the cache


def by_planes(images: Any, change: Callable[..., Sequence[Any]]) -> Any:
    """Return images [..., 3] with other colours.

    Args:
      images: floats; those of 16 bits are changed as float32.
      change: of vectors of red, green and blue; returns three others.
    """
    pixels = _three(images).reshape(-1, 3)
    made = np.empty(pixels.shape, images.dtype)
    for start in range(0, len(pixels), _AT_A_TIME):
        part = slice(start, start + _AT_A_TIME)
        planes = np.ascontiguousarray(wide(pixels[part]).T)
        for channel, plane in enumerate(change(*planes)):
            made[part, channel] = plane
    return made.reshape(images.shape)


def wide(images: Any) -> Any:
    """Return 16-bit floats as float32."""
    return images.astype(np.float32) if images.dtype.itemsize == 2 else images


def hue_of(red: Any, green: Any, blue: Any, most: Any, spread: Any) -> Any:
    """Return the hue of colours as a part of the circle, from 0 (red) over 1/3 (green) to 1.

    Args:
      red: amount of red.
      green: amount of green.
      blue: amount of blue.
      most: the largest of the three.
      spread: how much larger it is than the smallest.
    """
    dtype = most.dtype
    # products with 0 and 1: of a processor that guesses, `where` takes ten times as long
    is_red = (most == red).astype(dtype)
    is_green = (most == green).astype(dtype) * (1 - is_red)
    is_blue = 1 - is_red - is_green
    hue = is_red * (green - blue) + is_green * (blue - red) + is_blue * (red - green)
    hue *= 1 / (6 * (spread + (spread == 0)))
    hue += is_green * dtype.type(2 / 6) + is_blue * dtype.type(4 / 6)
    hue += hue < 0
    return hue


def full_colour(hue: Any) -> list[Any]:
    """Return red, green and blue of the brightest, purest colours of hues."""
    sixth = hue * 6
    parts = [np.abs(sixth - 3) - 1, 2 - np.abs(sixth - 2), 2 - np.abs(sixth - 4)]
    return [np.clip(part, 0, 1, out=part) for part in parts]


def _extremes(red: Any, green: Any, blue: Any) -> tuple[Any, Any]:
    """Return the largest of the three, and how much larger it is than the smallest."""
    most = np.maximum(np.maximum(red, green), blue)
    return most, most - np.minimum(np.minimum(red, green), blue)


def _saturation(value: Any, spread: Any) -> Any:
    is_lit = (value > 0).astype(value.dtype)
    return is_lit * spread / (is_lit * value + (1 - is_lit))


# HSV

_COLOURS = "T: type = float {half,bfloat16,float,double}"
RGB_TO_HSV = OpDef(f"RGBToHSV(images: T) -> output: T [{_COLOURS}]")
HSV_TO_RGB = OpDef(f"HSVToRGB(images: T) -> output: T [{_COLOURS}]").not_differentiable()


def colours_shape(images: Shape) -> Shape:
    shapes.require_rank(images, "images", 1, 99)
    return None if images is None else shapes.merge(images, (*images[:-1], 3), "colours")


RGB_TO_HSV.shape(colours_shape)
HSV_TO_RGB.shape(colours_shape)


@RGB_TO_HSV.kernel
def rgb_to_hsv_kernel(images: Any) -> Any:
    def to_hsv(red: Any, green: Any, blue: Any) -> Sequence[Any]:
        value, spread = _extremes(red, green, blue)
        return hue_of(red, green, blue, value, spread), _saturation(value, spread), value

    return by_planes(images, to_hsv)


@HSV_TO_RGB.kernel
def hsv_to_rgb_kernel(images: Any) -> Any:
    def to_rgb(hue: Any, saturation: Any, value: Any) -> Sequence[Any]:
        return [(1 - saturation + saturation * pure) * value for pure in full_colour(hue)]

    return by_planes(images, to_rgb)


def _three(images: Any) -> Any:
    if not images.ndim or images.shape[-1] != 3:
        raise InvalidArgumentError(
            f"input must have 3 channels but instead has shape {list(images.shape)}."
        )
    return images


@RGB_TO_HSV.gradient
def rgb_to_hsv_gradient(op: Any, d_output: Any) -> Any:
    """Of V = max, S = 1 - min / max and H = (a - b) / 6 (max - min) + a constant."""
    colours = op.inputs[0]
    value, least = (reduce(colours, [-1], keep_dims=True) for reduce in (raw.Max, raw.Min))
    spread = value - least
    d_hue, d_saturation, d_value = (d_output[..., each : each + 1] for each in range(3))
    is_most, is_least = (_first(raw.Equal(colours, each)) for each in (value, least))
    of_hue = _of_hue(colours, is_most, is_least, spread)
    of_most = d_value + d_saturation * raw.DivNoNan(least, value * value)
    of_least = -d_saturation * raw.DivNoNan(raw.OnesLike(value), value)
    floats = [raw.Cast(each, DstT=colours.dtype) for each in (is_most, is_least)]
    return d_hue * of_hue + of_most * floats[0] + of_least * floats[1]


def _first(mask: Any) -> Any:
    """Return a mask [..., 3] with the first truth of each colour only."""
    red, green, blue = (mask[..., each : each + 1] for each in range(3))
    no_red = raw.LogicalNot(red)
    green = raw.LogicalAnd(green, no_red)
    blue = raw.LogicalAnd(raw.LogicalAnd(blue, no_red), raw.LogicalNot(green))
    return raw.ConcatV2([red, green, blue], -1)


def _of_hue(colours: Any, is_most: Any, is_least: Any, spread: Any) -> Any:
    """Return how the hue changes with red, green and blue."""
    # the next two colours after the strongest one add to the hue, and take from it
    weights = raw.Cast(is_most, DstT=colours.dtype)
    turned = raw.Roll(weights, 1, -1), raw.Roll(weights, 2, -1)
    signs = turned[0] - turned[1]
    above = raw.Sum(colours * signs, [-1], keep_dims=True)
    ends = weights - raw.Cast(is_least, DstT=colours.dtype)
    sixth = raw.DivNoNan(raw.OnesLike(spread), 6.0 * spread)
    return signs * sixth - ends * raw.DivNoNan(above * sixth, spread)


def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Return hue, saturation and value of colours, each from 0 to 1.

    Args:
      images: floats [..., 3], red, green and blue from 0 to 1.
      name: of the node.

    Example:
      >>> Session().run(image.rgb_to_hsv([[0.0, 0.0, 0.5]])).round(3)
      array([[0.667, 1.   , 0.5  ]], dtype=float32)
    """
    return RGB_TO_HSV(images, name=name)  # type: ignore[no-any-return]


def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Return red, green and blue of colours.

    Args:
      images: floats [..., 3], hue, saturation and value from 0 to 1.
      name: of the node.

    Example:
      >>> Session().run(image.hsv_to_rgb([[0.0, 0.5, 1.0]]))
      array([[1. , 0.5, 0.5]], dtype=float32)
    """
    return HSV_TO_RGB(images, name=name)  # type: ignore[no-any-return]


# adjusted

_ADJUSTED = "T: type = float {half,float}"
ADJUST_HUE = OpDef(
    f"AdjustHue(images: T, delta: float) -> output: T [{_ADJUSTED}]"
).not_differentiable()
ADJUST_SATURATION = OpDef(
    f"AdjustSaturation(images: T, scale: float) -> output: T [{_ADJUSTED}]"
).not_differentiable()
ADJUST_CONTRAST_V2 = OpDef(
    f"AdjustContrastv2(images: T, contrast_factor: float) -> output: T [{_ADJUSTED}]"
).not_differentiable()


def adjusted_shape(images: Shape, amount: Shape) -> Shape:
    shapes.require_rank(images, "images", 3, 99)
    shapes.require_rank(amount, "the amount", 0)
    return images


for _op_def in (ADJUST_HUE, ADJUST_SATURATION, ADJUST_CONTRAST_V2):
    _op_def.shape(adjusted_shape)


def _scalar(amount: Any, what: str) -> Any:
    if np.ndim(amount):
        raise InvalidArgumentError(f"{what} must be scalar: {list(np.shape(amount))}")
    return np.float32(amount)


@ADJUST_HUE.kernel
def adjust_hue_kernel(images: Any, delta: Any) -> Any:
    turn = _scalar(delta, "delta")

    def turned(red: Any, green: Any, blue: Any) -> Sequence[Any]:
        most, spread = _extremes(red, green, blue)
        hue = hue_of(red, green, blue, most, spread) + turn
        return [pure * spread + (most - spread) for pure in full_colour(hue - np.floor(hue))]

    return by_planes(images, turned)


@ADJUST_SATURATION.kernel
def adjust_saturation_kernel(images: Any, scale: Any) -> Any:
    factor = _scalar(scale, "scale")

    def scaled(*colours: Any) -> Sequence[Any]:
        value, spread = _extremes(*colours)
        saturation = _saturation(value, spread)
        ratio = np.clip(saturation * factor, 0, 1) / (saturation + (saturation == 0))
        return [value - (value - colour) * ratio for colour in colours]  # of the same hue

    return by_planes(images, scaled)


@ADJUST_CONTRAST_V2.kernel
def adjust_contrast_v2_kernel(images: Any, contrast_factor: Any) -> Any:
    if np.ndim(images) < 3:
        raise InvalidArgumentError(f"input must be at least 3-D, got shape{list(images.shape)}")
    floats = wide(images)
    means = reduction_kernels.mean(floats, (-3, -2), keepdims=True)
    # a row of pixels at a time: NumPy is slow with axes as short as that of channels
    width, channels = floats.shape[-2:]
    rows = floats.reshape(*floats.shape[:-2], width * channels)
    means = np.tile(means[..., 0, :], width)
    changed = rows - means
    changed *= _scalar(contrast_factor, "contrast_factor")
    changed += means
    return changed.reshape(floats.shape).astype(images.dtype, copy=False)


# other colours

_GREY = [0.2989, 0.5870, 0.1140]


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """Return colours as grey, of the same type.

    Args:
      images: [..., 3].
      name: of the node.

    Returns:
      [..., 1].

    Example:
      >>> Session().run(image.rgb_to_grayscale([[[1.0, 0.5, 0.0]]])).round(3)
      array([[[0.592]]], dtype=float32)
    """
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        floats = convert_image_dtype(images, "float32")
        grey = expand_dims(tensordot(floats, _GREY, [-1, -1]), -1)
        return convert_image_dtype(grey, images.dtype.base_dtype, name=scope)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Return grey images as red, green and blue.

    Args:
      images: [..., 1].
      name: of the node.

    Returns:
      [..., 3].

    Example:
      >>> Session().run(image.grayscale_to_rgb([[[7]]]))
      array([[[7, 7, 7]]], dtype=int32)
    """
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        images = _grey(convert_to_tensor(images, name="images"))
        rank: Any = raw.Rank(images) if images.plain_shape is None else _rank(images)
        counts = [ones(expand_dims(rank - 1, 0), "int32"), expand_dims(3, 0)]
        colours = raw.Tile(images, concat(counts, 0), name=scope)
        if images.plain_shape is not None:
            colours.set_shape([*images.plain_shape[:-1], 3])
        return colours  # type: ignore[no-any-return]


def _grey(images: Tensor) -> Tensor:
    shape = images.plain_shape
    if shape and shape[-1] not in (1, None):
        raise ValueError(f"Last dimension of a grayscale image should be size 1, got {shape}")
    return with_dependencies(image_checks(images), images)


def _rank(images: Tensor) -> Tensor:
    return convert_to_tensor(len(images.plain_shape or ()), "int32", name="Rank")


_TO_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617],
           [0.114, -0.32134392, 0.31119955]]  # fmt: skip
_FROM_YIQ = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021],
             [0.6208248, -0.64720424, 1.70423049]]  # fmt: skip
_TO_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512],
           [0.114, 0.43601035, -0.10001026]]  # fmt: skip
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _other_colours(images: Any, matrix: Any) -> Tensor:
    images = convert_to_tensor(images, name="images")
    kernel = convert_to_tensor(matrix, images.dtype, name="kernel")
    if images.plain_shape is None:
        raise ValueError("The rank of `images` must be known.")
    return tensordot(images, kernel, [[len(images.plain_shape) - 1], [0]])


def rgb_to_yiq(images: Any) -> Tensor:
    """Return luma and two chrominances (orange to blue, purple to green) of colours.

    Args:
      images: floats [..., 3], red, green and blue.

    Example:
      >>> Session().run(image.rgb_to_yiq([[1.0, 0.0, 0.0]])).round(3)
      array([[0.299, 0.596, 0.212]], dtype=float32)
    """
    return _other_colours(images, _TO_YIQ)


def yiq_to_rgb(images: Any) -> Tensor:
    """Return red, green and blue of colours that `rgb_to_yiq` has made.

    Args:
      images: floats [..., 3].

    Example:
      >>> Session().run(image.yiq_to_rgb([[0.5, 0.0, 0.0]]))
      array([[0.5, 0.5, 0.5]], dtype=float32)
    """
    return _other_colours(images, _FROM_YIQ)


def rgb_to_yuv(images: Any) -> Tensor:
    """Return luma and two chrominances (of blue, of red) of colours.

    Args:
      images: floats [..., 3], red, green and blue.

    Example:
      >>> Session().run(image.rgb_to_yuv([[1.0, 0.0, 0.0]])).round(3)
      array([[ 0.299, -0.147,  0.615]], dtype=float32)
    """
    return _other_colours(images, _TO_YUV)


def yuv_to_rgb(images: Any) -> Tensor:
    """Return red, green and blue of colours that `rgb_to_yuv` has made.

    Args:
      images: floats [..., 3].

    Example:
      >>> Session().run(image.yuv_to_rgb([[0.5, 0.0, 0.0]]))
      array([[0.5, 0.5, 0.5]], dtype=float32)
    """
    return _other_colours(images, _FROM_YUV)
