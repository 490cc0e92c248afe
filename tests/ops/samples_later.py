"""The samples of ops that came last here; the form is prescribed at the top of `samples.py`."""

from __future__ import annotations

import numpy as np


def floats(*shape, start=0.3):
    """Return different float32 numbers, of both signs, in no order."""
    count = int(np.prod(shape))
    values = start + np.arange(count) * 0.37 % 1.9 - 0.8
    return values.astype(np.float32).reshape(shape)


def ints(*values):
    """Return an int32 array; a single value gives rank 0."""
    return np.array(values[0] if len(values) == 1 else values, np.int32)


F23, F34, F234 = floats(2, 3), floats(3, 4), floats(2, 3, 4)
IMAGES = floats(2, 3, 4, 1)
SHEARED = np.float32([[1, 0.1, 0.3, 0.2, 1, -0.4, 0.01, 0.02]])
EACH = np.float32([[1, 0, 1, 0, 1, 0, 0, 0], [0.9, 0.2, -0.3, -0.1, 1.1, 0.2, 0, 0]])
PLACES = np.float32([[[0.3, 1.2], [2.6, 0.4], [-0.4, 1.7]], [[3.3, 0.6], [1.1, 1.3], [5.0, 0.2]]])
MOMENTS = floats(3, start=0.9), np.float32([0.7, 1.3, 0.4])
NORM = {"variance_epsilon": 0.001, "scale_after_normalization": True}
PLAIN = {"variance_epsilon": 0.001, "scale_after_normalization": False}

SAMPLES = {
    # diagonals_earlier.py
    "BatchMatrixDiag": (F23,),
    "BatchMatrixDiagPart": (F234,),
    "BatchMatrixSetDiag": (F234, floats(2, 3, start=0.55)),
    "BatchMatrixBandPart": (F234, np.int64(1), np.int64(-1)),
    "BatchNormWithGlobalNormalization": [
        (floats(2, 4, 5, 3), *MOMENTS, floats(3, start=0.55), floats(3, start=1.2), NORM),
        (floats(2, 4, 5, 3), *MOMENTS, floats(3, start=0.55), floats(3, start=1.2), PLAIN),
    ],
    "BatchNormWithGlobalNormalizationGrad": [
        (floats(2, 4, 5, 3), *MOMENTS, floats(3, start=1.2), floats(2, 4, 5, 3, start=0.7), NORM),
        (floats(2, 4, 5, 3), *MOMENTS, floats(3, start=1.2), floats(2, 4, 5, 3, start=0.7), PLAIN),
    ],
    # projective_transforms.py
    "ImageProjectiveTransform": [
        (IMAGES, SHEARED, {"interpolation": "NEAREST"}),
        (IMAGES, EACH, {"interpolation": "BILINEAR"}),
    ],
    "ImageProjectiveTransformV2": [
        (IMAGES, SHEARED, ints([3, 4]), {"interpolation": "BILINEAR"}),
        (IMAGES, EACH, ints([5, 2]), {"interpolation": "NEAREST"}),
    ],
    # resampler.py
    "Resampler": (IMAGES, PLACES),
    "ResamplerGrad": (IMAGES, PLACES, floats(2, 3, 1, start=0.6)),
}
