"""Axes of images are made anew with the same bits however often that was done."""

from __future__ import annotations

import numpy as np
import pytest

from tfdist.ops.image import resampling_weights
from tfdist.ops.image.resampling_weights import applied, backwards, forwards

WAYS = {
    "linear": forwards(resampling_weights.linear, 9, 20, False, False),
    "linear, smaller": forwards(resampling_weights.linear, 9, 4, False, True),
    "cubic": forwards(resampling_weights.cubic, 9, 13, True, False),
    "area": forwards(resampling_weights.area, 9, 4, False),
    "back from linear": backwards(resampling_weights.linear, 20, 9, False, False),
    "back from nearest": backwards(resampling_weights.nearest, 20, 9, False, False),
}


def usual(images, taps, axis):
    """Return the same, new place by new place."""
    weights = np.ones(taps.places.shape, np.float32) if taps.weights is None else taps.weights
    old = np.moveaxis(images, axis, 0)
    if taps.sums_to_1 and len(taps.places) == 2:
        made = [
            old[low] + (old[high] - old[low]) * behind
            for low, high, behind in zip(*taps.places, weights[1], strict=True)
        ]
    else:
        made = [
            sum(old[place] * weight for place, weight in zip(*column, strict=True))
            for column in zip(taps.places.T, weights.T, strict=True)
        ]
    return np.moveaxis(np.stack(made), 0, axis)


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("taps", WAYS.values(), ids=WAYS)
def test_axes_are_made_of_their_taps(taps, axis):
    images = np.random.default_rng(0).normal(size=(3, 9, 9, 5)).astype(np.float32)
    images = images.transpose(0, 2, 1, 3)  # they may lie anyhow
    images[0, 0, 0] = np.nan, np.inf, 0, -0.0, 1e38
    with np.errstate(all="ignore"):
        wanted = usual(images, taps, axis)
        for _ in range(2_500):  # enough for compiling to be worth while, where Numba is installed
            made = applied(images, taps, axis)
    np.testing.assert_array_equal(made, wanted)
