"""The samples of single ops that old graphs have; the form is prescribed in `samples.py`."""

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


F3, F23, F34, F234 = floats(3), floats(2, 3), floats(3, 4), floats(2, 3, 4)
I23 = ints([[7, 8, -9], [4, 5, 6]])
NO = np.float32(0.4)
ROWS = np.int64([[1, 2, 1, 3], [1, 2, 1, 3], [0, 2, 0, 1]])
TRUE28 = np.array([[True, False, False, True, True, False, True, False]] * 2)

SAMPLES = {
    # diagonal_bands.py
    "MatrixDiagV2": [
        (F23, ints(0), ints(-1), ints(-1), NO),
        (F23, ints([-1, 0]), ints(3), ints(4), NO),
        (F23, ints([0, 1]), ints(5), ints(-1), NO),
        (F23, ints(-2), ints(-1), ints(3), NO),
    ],
    "MatrixDiagPartV2": [
        (F234, ints(1), NO), (F234, ints([-1, 1]), NO), (F34, ints([1, 3]), NO),
        (F34, ints([-2, -1]), NO),
    ],
    "MatrixSetDiagV2": [
        (F234, floats(2, 3, start=0.55), ints(1)),
        (F34, floats(2, 3, start=0.55), ints([-1, 0])),
        (F34, floats(3, 3, start=0.55), ints([1, 3])),
    ],
    # inplace.py
    "Empty": (ints([2, 0, 3]), {"dtype": "float32", "init": True}),
    "InplaceUpdate": [(F34, ints([2, 0]), floats(2, 4)), (F3, ints([-1]), floats(1))],
    "InplaceAdd": [(F34, ints([1, 1]), floats(2, 4)), (F3, ints([2, 2]), floats(2))],
    "InplaceSub": [(F34, ints([1, 1]), floats(2, 4)), (F3, ints([0, 2]), floats(2))],
    "DeepCopy": (F23,),
    # scattering.py
    "ScatterNdNonAliasingAdd": [
        (F3, ints([[2], [0], [2]]), floats(3, start=0.55)),
        (F34, ints([[2], [0]]), floats(2, 4, start=0.55)),
    ],
    # parallel_stacks.py
    "ParallelConcat": ([floats(1, 3), floats(1, 3, start=0.55)], {"shape": [2, 3]}),
    # unique_rows.py
    "UniqueV2": [(ROWS, np.int64([0])), (ROWS, np.int64([1])), (ROWS[0], np.int64([]))],
    "UniqueWithCountsV2": [(ROWS, np.int64([-1]), {"out_idx": "int64"}), (ROWS[2], ints([0]))],
    # bitwise.py
    "CompareAndBitpack": [(floats(2, 16), np.float32(0.1)), (TRUE28, np.bool_(False))],
    # data_formats.py
    "DataFormatDimMap": [(ints([0, 1, 2, 3, -1]),),
                         (np.int64([2, 1]), {"src_format": "NCHW", "dst_format": "NHWC"})],
    "DataFormatVecPermute": [(ints([10, 11, 12, 13]),), (ints([[1, 2], [3, 4], [5, 6], [7, 8]]),)],
    # elementwise.py
    "InvGrad": (floats(2, 3) + 1, F23),
    # image_scaling.py
    "ScaleAndTranslate": [
        (floats(1, 4, 3, 2), ints([2, 5]), np.float32([0.45, 1.65]), np.float32([0.1, -0.1]),
         {"kernel_type": kernel, "antialias": smooth})
        for kernel, smooth in (("lanczos3", True), ("lanczos1", False), ("gaussian", True),
                               ("box", True), ("keyscubic", True), ("mitchellcubic", False))
    ],
    "ScaleAndTranslateGrad": (floats(1, 2, 5, 2), floats(1, 4, 3, 2), np.float32([0.45, 1.65]),
                              np.float32([0.1, -0.1]), {"kernel_type": "triangle"}),
    # earlier_ops.py
    "Reverse": [(F23, np.array([True, False])), (F234, np.array([False, True, True]))],
}  # fmt: skip
