"""The samples of convolution, patches and morphology."""

from __future__ import annotations

import numpy as np

from .values import apart, floats, ints, spread


def strided(rows, columns, padding="SAME", **more):
    return dict({"strides": [1, rows, columns, 1], "padding": padding}, **more)


EXPLICIT = {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 0, 2, 1, 0, 0]}
X, W = spread(2, 5, 6, 3), spread(3, 2, 3, 4, start=0.7)
Y = spread(2, 5, 6, 4, start=0.1)  # what a convolution of X with W gives, with strides of 1
Y21 = spread(2, 3, 6, 4, start=0.1)  # with strides of 2 and 1
Y_DILATED = spread(2, 1, 5, 4, start=0.1)  # with dilations of 2 and 1
X_SIZES, W_SIZES = ints(2, 5, 6, 3), ints(3, 2, 3, 4)
STEPS = strided(1, 1, "VALID", dilations=[1, 2, 1, 1])
V, U = spread(1, 3, 4, 2, 2), spread(2, 1, 2, 2, 3, start=0.7)
Z = spread(1, 3, 4, 2, 3, start=0.1)
CUBES = {"strides": [1, 1, 1, 1, 1], "padding": "SAME"}
D, D_OUT = spread(3, 2, 3, 2, start=0.7), spread(2, 5, 6, 6, start=0.1)
P = apart(1, 5, 4, 3)
BLOCKS = spread(12, 2, 1, 3)
IMAGES = floats(2, 5, 4, 3)
PATCHES = {"ksizes": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1],
           "padding": "SAME"}  # fmt: skip
VALID = {"ksizes": [1, 2, 3, 1], "strides": [1, 1, 2, 1], "rates": [1, 2, 1, 1],
         "padding": "VALID"}  # fmt: skip
DILATION = {"strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1], "padding": "SAME"}
FILTER = floats(3, 2, 3, start=0.37)

SAMPLES = {
    # convolution/convolution_ops.py
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
    # convolution/depthwise.py
    "DepthwiseConv2dNative": [(X, D, strided(1, 1)), (X, D[..., :1], strided(2, 2, "VALID"))],
    "DepthwiseConv2dNativeBackpropInput": (X_SIZES, D, D_OUT, strided(1, 1)),
    "DepthwiseConv2dNativeBackpropFilter": (X, ints(D.shape), D_OUT, strided(1, 1)),
    # convolution/space_to_batch.py
    "SpaceToBatchND": [(X, ints(3, 2), ints([[1, 0], [0, 2]])), (P, ints([5]), ints([[0, 0]]))],
    "BatchToSpaceND": [(BLOCKS, ints(2, 3), ints([[1, 0], [0, 2]]))],
    "SpaceToBatch": (X, ints([[0, 1], [2, 0]]), {"block_size": 2}),
    "BatchToSpace": (BLOCKS, ints([[0, 1], [1, 0]]), {"block_size": 2}),
    # convolution/patches.py
    "ExtractImagePatches": [(IMAGES, PATCHES), (IMAGES, VALID)],
    "ExtractVolumePatches": (floats(2, 3, 4, 5, 1), {
        "ksizes": [1, 2, 3, 2, 1], "strides": [1, 1, 2, 2, 1], "padding": "SAME"}),
    # convolution/morphology.py
    "Dilation2D": [(IMAGES, FILTER, DILATION), (IMAGES, FILTER, dict(DILATION, padding="VALID"))],
    "Dilation2DBackpropInput": (IMAGES, FILTER, floats(2, 3, 4, 3, start=0.5), DILATION),
    "Dilation2DBackpropFilter": (IMAGES, FILTER, floats(2, 3, 4, 3, start=0.5), DILATION),
    # convolution/data_formats.py
    "DataFormatDimMap": [(ints([0, 1, 2, 3, -1]),),
                         (np.int64([2, 1]), {"src_format": "NCHW", "dst_format": "NHWC"})],
    "DataFormatVecPermute": [(ints([10, 11, 12, 13]),), (ints([[1, 2], [3, 4], [5, 6], [7, 8]]),)],
}  # fmt: skip
