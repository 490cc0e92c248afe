"""The samples of ragged tensors."""

from __future__ import annotations

import numpy as np

from .values import floats, i32, i64


def f32(values):
    """Return an array of float32."""
    return np.array(values, np.float32)


F3 = floats(3)

SAMPLES = {
    # ragged/ragged_ops.py
    "RaggedTensorToSparse": [
        ([i64([0, 1, 3])], F3), ([i64([0, 2, 2]), i64([0, 2, 3])], floats(3, 2)),
    ],
    "RaggedRange": [
        (i32([1, 5]), i32([6, 2]), i32([2, -1])),
        (np.float32(0), f32([2.5, -1, 1]), np.float32(1)),
    ],
}  # fmt: skip
