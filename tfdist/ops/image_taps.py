"""How a resized axis of an image is made of the old one: places, and what each counts.

A `Taps` has a row for each of the one, two or four old places that a new one is made of. Along an
axis of `Taps` places only grow, so that a gradient goes back by adding up neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.ops.repeated_indices import turns

TABLE_SIZE = 1024  # a cubic weight is that of the nearest 1024th


class Taps(NamedTuple):
    """What each place of a new axis is made of.

    Attributes:
      places: int [taps, new size], in the old axis.
      weights: float32 [taps, new size]; None if there is one tap, which counts 1.
    """

    places: Any
    weights: Any


def scale_of(old: int, new: int, align_corners: bool) -> Any:
    """Return how many old places a new one takes, float32."""
    if align_corners and new > 1:
        return np.float32(old - 1) / np.float32(new - 1)
    return np.float32(old) / np.float32(new)


def positions(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Any:
    """Return where each new place lies in the old axis, float32 [new]."""
    scale = scale_of(old, new, align_corners)
    places = np.arange(new, dtype=np.float32)
    if half_pixel_centers:
        half = np.float32(0.5)
        return (places + half) * scale - half
    return places * scale


def nearest(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """Return the taps of the nearest neighbour."""
    scale = scale_of(old, new, align_corners)
    found = np.arange(new, dtype=np.float32)
    found = (found + np.float32(0.5)) * scale if half_pixel_centers else found * scale
    found = np.floor(found + np.float32(0.5)) if align_corners else np.floor(found)
    return Taps(np.clip(found.astype(np.intp), 0, old - 1)[None], None)


def linear(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """Return the taps of linear interpolation: the places before and behind."""
    found = positions(old, new, align_corners, half_pixel_centers)
    below = np.floor(found)
    behind = found - below
    lower = np.maximum(below.astype(np.intp), 0)
    upper = np.minimum(np.ceil(found).astype(np.intp), old - 1)
    return Taps(np.stack([lower, upper]), np.stack([1 - behind, behind]))


def cubic(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """Return the taps of cubic convolution.

    Source: R. Keys, Cubic convolution interpolation for digital image processing, 1981.
    """
    found = positions(old, new, align_corners, half_pixel_centers)
    below = np.floor(found)
    step = np.rint((found - below) * TABLE_SIZE) / TABLE_SIZE
    distances = np.stack([1 + step, step, 1 - step, 2 - step])
    wanted = below.astype(np.intp) + np.arange(-1, 3)[:, None]
    places = np.clip(wanted, 0, old - 1)
    weights = _keys(distances, -0.5 if half_pixel_centers else -0.75)
    if half_pixel_centers:  # what lies outside does not count
        weights = np.where(places == wanted, weights, 0)
        weights /= weights.sum(0)
    return Taps(places, weights.astype(np.float32))


def _keys(x: Any, a: float) -> Any:
    x = x.astype(np.float32)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, far)


def area(old: int, new: int, align_corners: bool) -> Taps:
    """Return the taps of means: how much of each old place a new one covers."""
    scale = scale_of(old, new, align_corners)
    start = np.arange(new, dtype=np.float32) * scale
    end = np.arange(1, new + 1, dtype=np.float32) * scale
    first = np.floor(start).astype(np.intp)
    count = int((np.ceil(end).astype(np.intp) - first).max())
    places = first + np.arange(max(count, 1))[:, None]
    covered = np.minimum(places + 1, end) - np.maximum(places, start)
    weights = (np.maximum(covered, 0) / scale).astype(np.float32)
    return Taps(np.minimum(places, old - 1), weights)  # beyond the end the last place goes on


def applied(images: Any, taps: Taps, axis: int) -> Any:
    """Return images with axis 1 or 2 made anew, float32 or of any type for single taps."""
    if taps.weights is None:
        return images.take(taps.places[0], axis)
    shape = list(images.shape)
    shape[axis] = taps.places.shape[1]
    flat, taps = _flat(images, taps, axis)
    total = flat.take(taps.places[0], axis)
    if len(taps.places) == 2:  # one product less
        second = flat.take(taps.places[1], axis)
        second -= total
        second *= _along(taps.weights[1], axis)
        total += second
        return total.reshape(shape)
    total *= _along(taps.weights[0], axis)
    for places, weights in zip(taps.places[1:], taps.weights[1:], strict=True):
        part = flat.take(places, axis)
        part *= _along(weights, axis)
        total += part
    return total.reshape(shape)


def _flat(images: Any, taps: Taps, axis: int) -> tuple[Any, Taps]:
    """Return images [batch, height, width * channels], which NumPy is quicker with, and taps."""
    channels = images.shape[3]
    flat = images.reshape(*images.shape[:2], -1)
    if axis == 1:
        return flat, taps
    places = taps.places[:, :, None] * channels + np.arange(channels)
    weights = None if taps.weights is None else np.repeat(taps.weights, channels, 1)
    return flat, Taps(places.reshape(len(places), -1), weights)


def led_back(gradients: Any, taps: Taps, axis: int, old: int) -> Any:
    """Return what the gradients of a new axis come to for the `old` places it was made of."""
    shape = list(gradients.shape)
    shape[axis] = old
    total = np.zeros(shape, gradients.dtype)
    for tap, places in enumerate(taps.places):
        for turn in turns(places):
            part = gradients.take(np.arange(len(places))[turn], axis)
            if taps.weights is not None:
                weights = taps.weights[tap][turn].astype(gradients.dtype)
                part *= weights.reshape([-1 if i == axis else 1 for i in range(4)])
            total[(slice(None),) * axis + (places[turn],)] += part
    return total


def _along(vector: Any, axis: int) -> Any:
    return vector[:, None] if axis == 1 else vector
