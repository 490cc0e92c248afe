"""Crops of images keep their bits however often they were made."""

from __future__ import annotations

import numpy as np
import pytest

import tfdist as tf

BOXES = [
    (0, 0, 1, 1), (0.1, 0.2, 0.7, 0.9), (0.8, 0.9, 0.2, 0.1), (-0.5, 0.3, 0.4, 1.7),
    (0.5, 0.5, 0.5, 0.5), (2, 2, 3, 3), (np.nan, 0, 1, 1), (0, 0, np.inf, 1),
]  # fmt: skip


def pixel(image, y, x):
    """Return what lies between four pixels."""
    top, left, bottom, right = int(y), int(x), int(np.ceil(y)), int(np.ceil(x))
    down, share = y - np.float32(top), x - np.float32(left)
    above = image[top, left] + (image[top, right] - image[top, left]) * share
    below = image[bottom, left] + (image[bottom, right] - image[bottom, left]) * share
    return above + (below - above) * down


def places(start, end, size, last):
    start, end, last = map(np.float32, (start, end, last))
    return [start * last + i * ((end - start) * last / np.float32(size - 1)) for i in range(size)]


def crop(image, box, height, width):
    made = np.full((height, width, image.shape[2]), np.float32(7))
    top, left, bottom, right = box
    for row, y in enumerate(places(top, bottom, height, image.shape[0] - 1)):
        for column, x in enumerate(places(left, right, width, image.shape[1] - 1)):
            if 0 <= y <= image.shape[0] - 1 and 0 <= x <= image.shape[1] - 1:
                made[row, column] = pixel(image, np.float32(y), np.float32(x))
    return made


@pytest.mark.parametrize("channels", [1, 3, 16])
def test_crops_lie_between_four_pixels(channels):
    random = np.random.default_rng(0)
    images = random.normal(size=(3, 11, 9, channels)).astype(np.float32)
    images[0, 0, 0] = np.nan
    which = np.arange(len(BOXES)) % 3
    fed = tf.placeholder(tf.float32, images.shape)
    made = tf.image.crop_and_resize(fed, BOXES, which, [5, 4], extrapolation_value=7)
    with tf.Session() as session, np.errstate(all="ignore"):
        wanted = [crop(images[i], box, 5, 4) for i, box in zip(which, BOXES, strict=True)]
        for _ in range(1_000):  # enough for compiling to be worth while, where Numba is installed
            found = session.run(made, {fed: images})
    np.testing.assert_array_equal(found, wanted)
