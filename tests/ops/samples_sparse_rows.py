"""The samples of sparse rows and segments; the form is prescribed at the top of `samples.py`."""

from __future__ import annotations

import numpy as np


def floats(*shape, start=0.3):
    """Return different float32 numbers, of both signs, in no order."""
    count = int(np.prod(shape))
    values = start + np.arange(count) * 0.37 % 1.9 - 0.8
    return values.astype(np.float32).reshape(shape)


ROWS = floats(5, 3)
INDICES, IDS = np.int32([4, 0, 2, 2]), np.int32([0, 0, 1, 3])
PLACES = np.int64([[0, 1], [2, 0], [2, 2]])

SAMPLES = {
    # sparse_segments.py
    "SparseSegmentSum": (ROWS, INDICES, IDS),
    "SparseSegmentMean": (ROWS, INDICES, IDS),
    "SparseSegmentSqrtN": (ROWS, INDICES, IDS),
    "SparseSegmentSumWithNumSegments": (ROWS, INDICES, IDS, np.int32(6)),
    "SparseSegmentMeanWithNumSegments": (ROWS, INDICES, IDS, np.int32(6)),
    "SparseSegmentSqrtNWithNumSegments": (ROWS, INDICES, IDS, np.int32(6)),
    "SparseSegmentMeanGrad": (floats(4, 3), INDICES, IDS, np.int32(6)),
    "SparseSegmentSqrtNGrad": (floats(4, 3), INDICES, IDS, np.int32(6)),
    # sparse_rows.py
    "SparseFillEmptyRows": (PLACES, floats(3), np.int64([4, 3]), np.float32(0.6)),
    "SparseFillEmptyRowsGrad": (np.int64([0, 2, 3]), floats(5)),
    "SparseReshape": (PLACES, np.int64([4, 3]), np.int64([2, -1, 3])),
    # partitions.py
    "ParallelDynamicStitch": ([np.int32([0, 4]), np.int32([[1, 2, 3]])],
                              [floats(2, 5), floats(1, 3, 5)]),
}  # fmt: skip
