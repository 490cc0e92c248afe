"""Images made brighter, darker, paler or of other hues, by a given or a random amount."""

from __future__ import annotations

from typing import Any

from tfdist.base.dtypes import DType
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.shape import shape
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.image.checks import asserted, checked_image, is_tensor
from tfdist.ops.image.colour_spaces import ADJUST_CONTRAST_V2, ADJUST_HUE, ADJUST_SATURATION
from tfdist.ops.image.convert_dtype import as_floats, convert_image_dtype
from tfdist.ops.math.composed_reductions import reduce_std
from tfdist.ops.math.reductions import reduce_mean, reduce_prod
from tfdist.ops.random.random_ops import random_uniform

__all__ = [
    "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation",
    "per_image_standardization", "random_brightness", "random_contrast", "random_hue",
    "random_saturation",
]  # fmt: skip


def _as_before(image: Tensor, given: DType) -> Tensor:
    return convert_image_dtype(image, given, saturate=True)


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """Return an image to which `delta` is added.

    Args:
      image: of any type; as floats, its numbers go from 0 to 1.
      delta: what is added to these.

    Example:
      >>> Session().run(image.adjust_brightness([[[0.25]]], 0.5))
      array([[[0.75]]], dtype=float32)
    """
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        floats, given = as_floats(image)
        brighter = raw.Add(floats, cast(delta, floats.dtype), name=scope)
        return _as_before(brighter, given)


def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Return an image to which a random number is added.

    Args:
      image: see `adjust_brightness`.
      max_delta: the number lies between this one and its negative.
      seed: of this op; see `set_random_seed`.

    Raises:
      ValueError: max_delta is negative.

    Example:
      >>> Session().run(image.random_brightness([[[0.5]]], 0.0))
      array([[[0.5]]], dtype=float32)
    """
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Return images whose pixels are so many times farther from their channel's mean.

    Args:
      images: [..., height, width, channels].
      contrast_factor: float [].

    Example:
      >>> Session().run(image.adjust_contrast([[[1.0], [3.0]]], 2.0))[..., 0]
      array([[0., 4.]], dtype=float32)
    """
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as scope:
        floats, given = as_floats(images, "images")
        adjusted = ADJUST_CONTRAST_V2(floats, contrast_factor=contrast_factor, name=scope)
        return _as_before(adjusted, given)


def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Return `adjust_contrast` of an image by a random factor.

    Args:
      image: see `adjust_contrast`.
      lower: least factor, 0 or more.
      upper: end of the factors, above `lower`.
      seed: of this op; see `set_random_seed`.

    Raises:
      ValueError: the bounds are others.

    Example:
      >>> Session().run(image.random_contrast([[[2.0], [2.0]]], 0.5, 1.5))[..., 0]
      array([[2., 2.]], dtype=float32)
    """
    _check_bounds(lower, upper)
    return adjust_contrast(image, random_uniform([], lower, upper, seed=seed))


def _check_bounds(lower: float, upper: float) -> None:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """Return an image with its hues turned.

    Args:
      image: [..., height, width, 3]; as floats, its numbers go from 0 to 1.
      delta: float [], parts of the circle of hues, from -1 to 1.
      name: prefix for the nodes.

    Example: red becomes green.
      >>> Session().run(image.adjust_hue([[[1.0, 0.0, 0.0]]], 1 / 3)).round(3)
      array([[[0., 1., 0.]]], dtype=float32)
    """
    with name_scope(name, "adjust_hue", [image]):
        floats, given = as_floats(image)
        return convert_image_dtype(ADJUST_HUE(floats, delta), given)


def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Return an image with its hues turned by a random amount.

    Args:
      image: see `adjust_hue`.
      max_delta: the amount lies between this one and its negative; from 0 to 0.5.
      seed: of this op; see `set_random_seed`.

    Raises:
      ValueError: max_delta is another one.

    Example:
      >>> Session().run(image.random_hue([[[0.5, 0.5, 0.5]]], 0.5))
      array([[[0.5, 0.5, 0.5]]], dtype=float32)
    """
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed))


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """Return an image with its colours' saturation multiplied.

    Args:
      image: [..., height, width, 3]; as floats, its numbers go from 0 to 1.
      saturation_factor: float [].
      name: prefix for the nodes.

    Example:
      >>> Session().run(image.adjust_saturation([[[1.0, 0.0, 0.0]]], 0.5))
      array([[[1. , 0.5, 0.5]]], dtype=float32)
    """
    with name_scope(name, "adjust_saturation", [image]):
        floats, given = as_floats(image)
        return convert_image_dtype(ADJUST_SATURATION(floats, saturation_factor), given)


def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Return `adjust_saturation` of an image by a random factor.

    Args:
      image: see `adjust_saturation`.
      lower: least factor, 0 or more.
      upper: end of the factors, above `lower`.
      seed: of this op; see `set_random_seed`.

    Raises:
      ValueError: the bounds are others.

    Example:
      >>> Session().run(image.random_saturation([[[0.5, 0.5, 0.5]]], 0.5, 2.0))
      array([[[0.5, 0.5, 0.5]]], dtype=float32)
    """
    _check_bounds(lower, upper)
    return adjust_saturation(image, random_uniform([], lower, upper, seed=seed))


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """Return gain * image ** gamma.

    Args:
      image: of any type; as floats, its numbers go from 0 to 1.
      gamma: power, 0 or more; above 1 darkens.
      gain: factor.

    Raises:
      ValueError: gamma is negative.

    Example:
      >>> Session().run(image.adjust_gamma([[[0.5]]], 2.0))
      array([[[0.25]]], dtype=float32)
    """
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        floats, given = as_floats(image)
        checks = asserted(gamma >= 0, "Gamma should be a non-negative real number.")
        if is_tensor(gamma):
            gamma = with_dependencies(checks, gamma)
        return _as_before(gain * floats**gamma, given)


def per_image_standardization(image: Any) -> Tensor:
    """Return images with a mean of 0 and a variance of 1 each.

    What varies less than 1 / sqrt(numbers of an image) is divided by that.

    Args:
      image: [..., height, width, channels].

    Example:
      >>> Session().run(image.per_image_standardization([[[1.0], [3.0]]]))[..., 0]
      array([[-1.,  1.]], dtype=float32)
    """
    with name_scope(None, "per_image_standardization", [image]) as scope:
        floats, given = as_floats(checked_image(convert_to_tensor(image, name="image")))
        size: Any = shape(floats)
        count = reduce_prod(size[-3:])
        axes = [-1, -2, -3]
        mean = reduce_mean(floats, axes, keepdims=True)
        deviation = reduce_std(floats, axes, keepdims=True)
        least = raw.Rsqrt(cast(count, floats.dtype))
        scale = raw.Maximum(deviation, least)
        standard = raw.RealDiv(raw.Sub(floats, mean, name="sub"), scale, name=scope)
        return _as_before(standard, given)
