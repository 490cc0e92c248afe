"""The samples of pooling."""

from __future__ import annotations

import numpy as np

from .values import apart, floats, ints, spread


def windows(ksize, strides, padding="VALID", **more):
    return dict({"ksize": ksize, "strides": strides, "padding": padding}, **more)


def pooled(array, sizes):
    """Return the maxima of windows; `sizes` are attributes with a data format of NHWC."""
    _, rows, columns, depth = sizes["ksize"]
    _, down, right, through = sizes["strides"]
    if sizes["padding"] == "SAME":
        around = []
        for size, kernel, stride in zip(array.shape[1:3], (rows, columns), (down, right)):  # noqa: B905
            more = max((-(-size // stride) - 1) * stride + kernel - size, 0)
            around.append((more // 2, more - more // 2))
        array = np.pad(array, [(0, 0), *around, (0, 0)], constant_values=-99)
    parts = [
        array[:, i : array.shape[1] - rows + 1 + i : down, j : array.shape[2] - columns + 1 + j :
              right, k : array.shape[3] - depth + 1 + k : through]
        for i in range(rows) for j in range(columns) for k in range(depth)
    ]  # fmt: skip
    return np.max(parts, axis=0)


def of_maxima(sizes, seconds=False):
    """Return inputs and attributes of the gradient of a pooling, or of the gradient of that."""
    output = pooled(P, sizes)
    shape = P.shape if seconds else output.shape
    return P, output, spread(*shape, start=0.1), sizes


def as_inputs(sample):
    """Return a sample with ksize and strides as inputs."""
    *inputs, attrs = sample
    rest = {key: value for key, value in attrs.items() if key not in ("ksize", "strides")}
    return (*inputs, ints(attrs["ksize"]), ints(attrs["strides"]), rest)


P, Q = apart(1, 5, 4, 3), apart(1, 4, 5, 2, 3)
TWO = windows([1, 2, 2, 1], [1, 2, 2, 1])
OVER = windows([1, 3, 2, 1], [1, 2, 1, 1], "SAME")
DEEP = windows([1, 1, 1, 3], [1, 1, 1, 3])
CUBE = windows([1, 2, 2, 1, 1], [1, 1, 2, 1, 1], "SAME")
Q_OUT = np.max([np.max([np.pad(Q, [(0, 0), (0, 1), (0, 1), (0, 0), (0, 0)],
                               constant_values=-99)[:, i : i + 4, j : j + 5 : 2]
                        for j in range(2)], axis=0) for i in range(2)], axis=0)  # fmt: skip
PLACES = np.array([0, 13, 26, 12, 1, 35, 5, 7, 29, 3, 19, 12]).reshape(1, 2, 2, 3)
IMAGES = floats(2, 5, 4, 3)
RATIO = {"pooling_ratio": [1.0, 1.6, 1.5, 1.0], "deterministic": True, "seed": 3}
SHARED = dict(RATIO, overlapping=True, pseudo_random=True)
CUTS = (np.int64([0, 2, 3, 5]), np.int64([0, 1, 4]))

SAMPLES = {
    # pooling/pooling_ops.py
    "MaxPool": [(P, TWO), (P, OVER), (P, DEEP), (P[:0], TWO)],
    "MaxPoolV2": [as_inputs((P, TWO)), as_inputs((P, OVER))],
    "MaxPoolGrad": [of_maxima(TWO), of_maxima(OVER)],
    "MaxPoolGradV2": [as_inputs(of_maxima(TWO))],
    "MaxPoolGradGrad": [of_maxima(TWO, True), of_maxima(OVER, True)],
    "MaxPoolGradGradV2": [as_inputs(of_maxima(TWO, True))],
    "MaxPool3D": (Q, CUBE),
    "MaxPool3DGrad": (Q, Q_OUT, spread(*Q_OUT.shape), CUBE),
    "MaxPool3DGradGrad": (Q, Q_OUT, spread(*Q.shape), CUBE),
    "AvgPool": [(P, TWO), (P, OVER)],
    "AvgPoolGrad": [(ints(P.shape), spread(1, 2, 2, 3), TWO),
                    (ints(P.shape), spread(1, 3, 4, 3), OVER)],
    "AvgPool3D": (Q, CUBE),
    "AvgPool3DGrad": (ints(Q.shape), spread(*Q_OUT.shape), CUBE),
    # pooling/argmax_pooling.py
    "MaxPoolWithArgmax": [(P, TWO), (P, dict(OVER, include_batch_in_index=True))],
    "MaxPoolGradWithArgmax": (P, spread(1, 2, 2, 3), PLACES, TWO),
    "MaxPoolGradGradWithArgmax": (P, spread(*P.shape), PLACES, TWO),
    # pooling/fractional.py
    "FractionalMaxPool": [(IMAGES, RATIO), (IMAGES, SHARED)],
    "FractionalAvgPool": [(IMAGES, RATIO), (IMAGES, SHARED)],
    "FractionalMaxPoolGrad": (IMAGES, floats(2, 3, 2, 3), floats(2, 3, 2, 3, start=0.5), *CUTS,
                              {"overlapping": True}),
    "FractionalAvgPoolGrad": (np.int64([2, 5, 4, 3]), floats(2, 3, 2, 3, start=0.5), *CUTS),
}  # fmt: skip
