"""The samples of convolution, pooling and normalization; the form is that of `samples.py`."""

from __future__ import annotations

import numpy as np


def floats(*shape, start=0.3):
    """Return different float32 numbers, of both signs, in no order."""
    count = int(np.prod(shape))
    values = (start + np.arange(count) * 0.377) % 1.9 - 0.8
    return values.astype(np.float32).reshape(shape)


def ints(*values):
    """Return an int32 array; a single value gives rank 0."""
    return np.array(values[0] if len(values) == 1 else values, np.int32)


def apart(*shape):
    """Return float32 numbers of which no two are near each other, in no order."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 37 % (count + 1)) / 7 - 3).astype(np.float32).reshape(shape)


def strided(rows, columns, padding="SAME", **more):
    return dict({"strides": [1, rows, columns, 1], "padding": padding}, **more)


def windows(ksize, strides, padding="VALID", **more):
    return dict({"ksize": ksize, "strides": strides, "padding": padding}, **more)


FIRST = {"data_format": "NCHW"}
EXPLICIT = {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 0, 2, 1, 0, 0]}

X, W = floats(2, 5, 6, 3), floats(3, 2, 3, 4, start=0.7)
Y = floats(2, 5, 6, 4, start=0.1)  # what a convolution of X with W gives, with strides of 1
Y21 = floats(2, 3, 6, 4, start=0.1)  # with strides of 2 and 1
Y_DILATED = floats(2, 1, 5, 4, start=0.1)  # with dilations of 2 and 1
X_SIZES, W_SIZES = ints(2, 5, 6, 3), ints(3, 2, 3, 4)
STEPS = strided(1, 1, "VALID", dilations=[1, 2, 1, 1])
V, U = floats(1, 3, 4, 2, 2), floats(2, 1, 2, 2, 3, start=0.7)
Z = floats(1, 3, 4, 2, 3, start=0.1)
CUBES = {"strides": [1, 1, 1, 1, 1], "padding": "SAME"}
D, D_OUT = floats(3, 2, 3, 2, start=0.7), floats(2, 5, 6, 6, start=0.1)

P, Q = apart(1, 5, 4, 3), apart(1, 4, 5, 2, 3)
TWO = windows([1, 2, 2, 1], [1, 2, 2, 1])
OVER = windows([1, 3, 2, 1], [1, 2, 1, 1], "SAME")
DEEP = windows([1, 1, 1, 3], [1, 1, 1, 3])
CUBE = windows([1, 2, 2, 1, 1], [1, 1, 2, 1, 1], "SAME")


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
    return P, output, floats(*shape, start=0.1), sizes


def as_inputs(sample):
    """Return a sample with ksize and strides as inputs."""
    *inputs, attrs = sample
    rest = {key: value for key, value in attrs.items() if key not in ("ksize", "strides")}
    return (*inputs, ints(attrs["ksize"]), ints(attrs["strides"]), rest)


Q_OUT = np.max([np.max([np.pad(Q, [(0, 0), (0, 1), (0, 1), (0, 0), (0, 0)],
                               constant_values=-99)[:, i : i + 4, j : j + 5 : 2]
                        for j in range(2)], axis=0) for i in range(2)], axis=0)  # fmt: skip
PLACES = np.array([0, 13, 26, 12, 1, 35, 5, 7, 29, 3, 19, 12]).reshape(1, 2, 2, 3)
C3, POSITIVE = floats(3, start=0.7), np.array([0.5, 1.5, 2.5], np.float32)
NONE = np.zeros(0, np.float32)
TRAINING, INFERENCE = {"epsilon": 0.001}, {"epsilon": 0.001, "is_training": False}
NEIGHBOURS = {"depth_radius": 1, "bias": 1.5, "alpha": 0.5, "beta": 0.75}
L = floats(2, 1, 3, 4)
N = 1.5 + 0.5 * np.stack([np.square(L[..., max(0, c - 1) : c + 2]).sum(-1) for c in range(4)], -1)
BLOCKS = floats(12, 2, 1, 3)
TRUE = np.array([[5, 1], [7, 5], [0, 8]])
DRAWS = {"num_true": 2, "num_sampled": 4, "unique": True, "seed": 1}

SAMPLES = {
    # convolution.py
    "Conv2D": [(X, W, strided(1, 1)), (X, W, strided(2, 1)), (X, W, STEPS),
               (X, W, strided(3, 2, **EXPLICIT)), (X, W[:1, :1], strided(2, 2, "VALID")),
               (X[:0], W, strided(2, 1))],
    "Conv2DBackpropInput": [(X_SIZES, W, Y, strided(1, 1)), (X_SIZES, W, Y21, strided(2, 1)),
                            (X_SIZES, W, Y_DILATED, STEPS)],
    "Conv2DBackpropFilter": [(X, W_SIZES, Y, strided(1, 1)), (X, W_SIZES, Y21, strided(2, 1)),
                             (X, W_SIZES, Y_DILATED, STEPS)],
    "Conv3D": [(V, U, CUBES)],
    "Conv3DBackpropInput": (V, U, Z, CUBES),
    "Conv3DBackpropInputV2": (ints(V.shape), U, Z, CUBES),
    "Conv3DBackpropFilter": (V, U, Z, CUBES),
    "Conv3DBackpropFilterV2": (V, ints(U.shape), Z, CUBES),
    # convolution_depthwise.py
    "DepthwiseConv2dNative": [(X, D, strided(1, 1)), (X, D[..., :1], strided(2, 2, "VALID"))],
    "DepthwiseConv2dNativeBackpropInput": (X_SIZES, D, D_OUT, strided(1, 1)),
    "DepthwiseConv2dNativeBackpropFilter": (X, ints(D.shape), D_OUT, strided(1, 1)),
    # convolution_spaces.py
    "SpaceToBatchND": [(X, ints(3, 2), ints([[1, 0], [0, 2]])), (P, ints([5]), ints([[0, 0]]))],
    "BatchToSpaceND": [(BLOCKS, ints(2, 3), ints([[1, 0], [0, 2]]))],
    "SpaceToBatch": (X, ints([[0, 1], [2, 0]]), {"block_size": 2}),
    "BatchToSpace": (BLOCKS, ints([[0, 1], [1, 0]]), {"block_size": 2}),
    # space_to_depth.py
    "SpaceToDepth": (X[:, :4], {"block_size": 2}),
    "DepthToSpace": (Y, {"block_size": 2}),
    # pooling.py
    "MaxPool": [(P, TWO), (P, OVER), (P, DEEP), (P[:0], TWO)],
    "MaxPoolV2": [as_inputs((P, TWO)), as_inputs((P, OVER))],
    "MaxPoolGrad": [of_maxima(TWO), of_maxima(OVER)],
    "MaxPoolGradV2": [as_inputs(of_maxima(TWO))],
    "MaxPoolGradGrad": [of_maxima(TWO, True), of_maxima(OVER, True)],
    "MaxPoolGradGradV2": [as_inputs(of_maxima(TWO, True))],
    "MaxPool3D": (Q, CUBE),
    "MaxPool3DGrad": (Q, Q_OUT, floats(*Q_OUT.shape), CUBE),
    "MaxPool3DGradGrad": (Q, Q_OUT, floats(*Q.shape), CUBE),
    "AvgPool": [(P, TWO), (P, OVER)],
    "AvgPoolGrad": [(ints(P.shape), floats(1, 2, 2, 3), TWO),
                    (ints(P.shape), floats(1, 3, 4, 3), OVER)],
    "AvgPool3D": (Q, CUBE),
    "AvgPool3DGrad": (ints(Q.shape), floats(*Q_OUT.shape), CUBE),
    # pooling_places.py
    "MaxPoolWithArgmax": [(P, TWO), (P, dict(OVER, include_batch_in_index=True))],
    "MaxPoolGradWithArgmax": (P, floats(1, 2, 2, 3), PLACES, TWO),
    "MaxPoolGradGradWithArgmax": (P, floats(*P.shape), PLACES, TWO),
    # batch_normalization.py
    "FusedBatchNorm": (X, C3, POSITIVE, NONE, NONE, TRAINING),
    "FusedBatchNormV2": (X, C3, POSITIVE, NONE, NONE, TRAINING),
    "FusedBatchNormV3": (X, C3, POSITIVE, NONE, NONE, TRAINING),
    "FusedBatchNormGrad": [(X * X, X, C3, POSITIVE, POSITIVE, attrs)
                           for attrs in (TRAINING, INFERENCE)],
    "FusedBatchNormGradV2": (X * X, X, C3, POSITIVE, POSITIVE, TRAINING),
    "FusedBatchNormGradV3": (X * X, X, C3, POSITIVE, POSITIVE, np.float32(0), TRAINING),
    # candidate_sampling.py
    "AllCandidateSampler": (TRUE, DRAWS),
    "ComputeAccidentalHits": (TRUE, np.array([5, 8, 7, 5]), {"num_true": 2}),
    "FixedUnigramCandidateSampler": (TRUE, dict(DRAWS, range_max=9, unigrams=[1.0, 2.0, 0.5] * 3)),
    "LogUniformCandidateSampler": (TRUE, dict(DRAWS, range_max=9)),
    "UniformCandidateSampler": (TRUE, dict(DRAWS, range_max=9)),
    # normalization_local.py
    "LRN": [(L, NEIGHBOURS), (L,)],
    "LRNGrad": (floats(*L.shape, start=0.1), L, (L * N**-0.75).astype(np.float32), NEIGHBOURS),
}  # fmt: skip
