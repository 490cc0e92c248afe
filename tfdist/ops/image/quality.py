"""How much an image varies, where its edges are, and how like another one it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import stack
from tfdist.ops.array.pad import pad
from tfdist.ops.array.reshape import expand_dims, reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.convolution.dilated import depthwise_conv2d
from tfdist.ops.image.convert_dtype import convert_image_dtype
from tfdist.ops.math.reductions import reduce_mean, reduce_prod, reduce_sum
from tfdist.ops.pooling.functions import avg_pool

__all__ = [
    "image_gradients", "psnr", "sobel_edges", "ssim", "ssim_multiscale", "total_variation",
]  # fmt: skip


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """Return the sum of the differences of neighbouring pixels.

    Args:
      images: [height, width, channels], or [batch, height, width, channels].
      name: prefix for the nodes.

    Returns:
      [], or [batch].

    Example:
      >>> Session().run(image.total_variation([[[1.0], [3.0], [2.0]]]))
      np.float32(3.0)
    """
    with name_scope(name, "total_variation"):
        images = convert_to_tensor(images)
        rank = len(images.plain_shape or ())
        if rank not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        batch = (slice(None),) * (rank - 3)
        down = images[(*batch, slice(1, None))] - images[(*batch, slice(None, -1))]
        all_rows = (*batch, slice(None))
        right = images[(*all_rows, slice(1, None))] - images[(*all_rows, slice(None, -1))]
        axes = None if rank == 3 else [1, 2, 3]
        total: Any = reduce_sum(raw.Abs(down), axes)
        return total + reduce_sum(raw.Abs(right), axes)  # type: ignore[no-any-return]


def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """Return how much the next row, and the next column, is larger; 0 for the last ones.

    Args:
      image: [batch, height, width, channels].

    Returns:
      (differences of rows, differences of columns), each of the shape of `image`.

    Raises:
      ValueError: the shape is another one.

    Example:
      >>> down, right = image.image_gradients([[[[1.0], [3.0]]]])
      >>> Session().run(right)[0, :, :, 0]
      array([[2., 0.]], dtype=float32)
    """
    image = convert_to_tensor(image, name="image")
    if image.plain_shape is None or len(image.plain_shape) != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.plain_shape}."
        )
    down = pad(image[:, 1:] - image[:, :-1], [[0, 0], [0, 1], [0, 0], [0, 0]])
    right = pad(image[:, :, 1:] - image[:, :, :-1], [[0, 0], [0, 0], [0, 1], [0, 0]])
    for each in (down, right):
        each.set_shape(image.plain_shape)
    return down, right


def _shape(images: Any) -> Any:
    return shape(images)


_SOBEL = [[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]]


def sobel_edges(image: Any) -> Tensor:
    """Return Sobel's edge filters of images: smoothed differences of rows, and of columns.

    Args:
      image: floats [batch, height, width, channels].

    Returns:
      [batch, height, width, channels, 2].

    Example:
      >>> columns = [[[[0.0], [0.0], [1.0], [1.0]]] * 3]
      >>> Session().run(image.sobel_edges(columns))[0, 1, :, 0, 1]
      array([0., 4., 4., 0.], dtype=float32)
    """
    image = convert_to_tensor(image, name="image")
    size = _shape(image)
    kernel = np.array(_SOBEL, np.float32).transpose(1, 2, 0)[:, :, None]
    channels = (image.plain_shape or (None,))[-1]
    kernels = raw.Tile(
        kernel, [1, 1, size[-1] if channels is None else channels, 1], name="sobel_filters"
    )
    padded = pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(padded, kernels, [1, 1, 1, 1], "VALID")
    edges = reshape(edges, raw.ConcatV2([size, [2]], 0))
    if image.plain_shape is not None:
        edges.set_shape([*image.plain_shape, 2])
    return edges


def _checked_pair(one: Any, other: Any) -> tuple[Any, Any]:
    one, other = convert_to_tensor(one), convert_to_tensor(other)
    one.shape[-3:].assert_is_compatible_with(other.shape[-3:])
    return one, other


def _as_floats(one: Any, other: Any, max_val: Any) -> tuple[Any, Any, Any]:
    """Return two images, and the range of their numbers, as float32."""
    most = convert_image_dtype(cast(max_val, one.dtype), "float32")
    return most, convert_image_dtype(one, "float32"), convert_image_dtype(other, "float32")


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """Return the peak signal-to-noise ratio of images, in decibels.

    Args:
      a: [..., height, width, channels].
      b: the same.
      max_val: the largest number that there may be, such as 255.
      name: prefix for the nodes.

    Returns:
      float32 [...].

    Example:
      >>> Session().run(image.psnr([[[1.0]]], [[[0.9]]], 1.0)).round(3)
      np.float32(20.0)
    """
    with name_scope(name, "PSNR", [a, b]):
        a, b = _checked_pair(a, b)
        most, a, b = _as_floats(a, b, max_val)
        error = reduce_mean(raw.SquaredDifference(a, b), [-3, -2, -1])
        peak = 20.0 * raw.Log(most) / math.log(10.0)
        return raw.Sub(peak, np.float32(10 / math.log(10)) * raw.Log(error), name="psnr")  # type: ignore[no-any-return]


# structural similarity


def ssim(
    img1: Any, img2: Any, max_val: Any, filter_size: int = 11, filter_sigma: float = 1.5,
    k1: float = 0.01, k2: float = 0.03,
) -> Tensor:  # fmt: skip
    """Return the structural similarity of images, 1.0 if they are the same.

    Source: Z. Wang et al., Image quality assessment, 2004.

    Args:
      img1: [..., height, width, channels].
      img2: the same.
      max_val: the largest number that there may be, such as 255.
      filter_size: of the window in which pixels are compared.
      filter_sigma: its width.
      k1: of the constant added to means, in parts of max_val.
      k2: of that added to variances.

    Returns:
      float32 [...].

    Raises:
      ValueError: the images are smaller than the window; InvalidArgumentError if a run tells so.

    Example:
      >>> Session().run(image.ssim(ones([16, 16, 1]), ones([16, 16, 1]), 1.0))
      np.float32(1.0)
    """
    img1, img2 = _checked_pair(img1, img2)
    most, img1, img2 = _as_floats(img1, img2, max_val)
    whole, _ = _similarity(img1, img2, most, (filter_size, filter_sigma, k1, k2))
    return reduce_mean(whole, [-1])


_POWERS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def ssim_multiscale(
    img1: Any, img2: Any, max_val: Any, power_factors: Sequence[float] = _POWERS,
    filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
) -> Tensor:  # fmt: skip
    """Return the structural similarity of images over several scales, each half the one before.

    Source: Z. Wang et al., Multiscale structural similarity for image quality assessment, 2003.

    Args:
      img1: [..., height, width, channels].
      img2: the same.
      max_val: the largest number that there may be, such as 255.
      power_factors: one for each scale, from the full one on.
      filter_size: see `ssim`.
      filter_sigma: see `ssim`.
      k1: see `ssim`.
      k2: see `ssim`.

    Returns:
      float32 [...].

    Example:
      >>> pixels = ones([32, 32, 1])
      >>> Session().run(image.ssim_multiscale(pixels, pixels, 1.0, [0.5, 0.5]))
      np.float32(1.0)
    """
    img1, img2 = _checked_pair(img1, img2)
    most, *pair = _as_floats(img1, img2, max_val)
    leading = _shape(img1)[:-3]
    pair = [reshape(each, raw.ConcatV2([[-1], _shape(each)[-3:]], 0)) for each in pair]
    parts = []
    for number in range(len(power_factors)):
        pair = [_halved(each) for each in pair] if number else pair
        one, other = pair
        whole, contrast = _similarity(one, other, most, (filter_size, filter_sigma, k1, k2))
        parts.append(raw.Relu(contrast))
    factors = stack([*parts[:-1], raw.Relu(whole)], axis=-1)
    powers = reduce_prod(raw.Pow(factors, convert_to_tensor(list(power_factors))), [-1])
    return reshape(reduce_mean(powers, [-1]), leading)


def _halved(images: Tensor) -> Tensor:
    """Return images of half the size, odd sides being completed by their last pixels."""
    size = _shape(images)
    odd = raw.FloorMod(size[1:3], 2)
    padded = pad(images, raw.Pad(expand_dims(odd, 1), [[1, 1], [1, 0]]), "SYMMETRIC")
    padded.set_shape([None, None, None, (images.plain_shape or (None,))[-1]])
    return avg_pool(padded, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")


def _window(size: int, sigma: float) -> Any:
    """Return a window [size, size] of a normal distribution, whose sum is 1."""
    places = np.arange(size, dtype=np.float32) - np.float32((size - 1) / 2)
    powers = np.square(places) * np.float32(-0.5 / sigma**2)
    weights = np.exp(powers[:, None] + powers)
    return (weights / weights.sum()).astype(np.float32)


def _similarity(one: Any, other: Any, most: Any, settings: Any) -> tuple[Tensor, Tensor]:
    """Return similarity, and its part of contrast and structure, of channels [..., channels].

    Args:
      one: floats [..., height, width, channels].
      other: the same.
      most: float [], the largest number that there may be.
      settings: the window's size and width, and the two constants.
    """
    size, sigma, k1, k2 = settings
    channels = one.plain_shape[-1] if one.plain_shape else None
    if channels is None:
        raise ValueError(f"the channels of the images must be known, got {one.shape}")
    kernel = np.repeat(_window(size, sigma)[:, :, None, None], channels, 2)

    def means(images: Any) -> Any:
        whole = _shape(images)
        batch = reshape(images, raw.ConcatV2([[-1], whole[-3:]], 0))
        found = depthwise_conv2d(batch, kernel, [1, 1, 1, 1], "VALID")
        return reshape(found, raw.ConcatV2([whole[:-3], _shape(found)[1:]], 0))

    of_means, of_squares = (k1 * most) ** 2, (k2 * most) ** 2
    mean, other_mean = means(one), means(other)
    product, squares = mean * other_mean * 2.0, raw.Square(mean) + raw.Square(other_mean)
    luminance = (product + of_means) / (squares + of_means)
    both = means(one * other) * 2.0 - product
    variances = means(raw.Square(one) + raw.Square(other)) - squares
    contrast = (both + of_squares) / (variances + of_squares)
    return (
        reduce_mean(luminance * contrast, [-3, -2]),
        reduce_mean(contrast, [-3, -2]),
    )
