"""Ops on diagonals and on batches' moments under the names of the first releases.

TensorFlow 1.15 builds none of them any more; old graphs have them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.graph.op_def import OpDef, raw
from tfdist.ops.linalg import diag

__all__: list[str] = []

DIAG = OpDef("BatchMatrixDiag(diagonal: T) -> output: T [T: type]")
DIAG.shape(diag.matrix_diag_shape)
DIAG.kernel(diag.matrix_diag_kernel)
DIAG.gradient(diag.matrix_diag_gradient)

DIAG_PART = OpDef("BatchMatrixDiagPart(input: T) -> diagonal: T [T: type]")
DIAG_PART.shape(diag.matrix_diag_part_shape)
DIAG_PART.kernel(diag.matrix_diag_part_kernel)
DIAG_PART.gradient(diag.matrix_diag_part_gradient)

SET_DIAG = OpDef("BatchMatrixSetDiag(input: T, diagonal: T) -> output: T [T: type]")
SET_DIAG.shape(diag.matrix_set_diag_shape)
SET_DIAG.kernel(diag.matrix_set_diag_kernel)
SET_DIAG.gradient(diag.matrix_set_diag_gradient)

BAND_PART = OpDef(
    "BatchMatrixBandPart(input: T, num_lower: int64, num_upper: int64) -> band: T [T: type]"
)
BAND_PART.shape(diag.matrix_band_part_shape)
BAND_PART.kernel(diag.matrix_band_part_kernel)
BAND_PART.gradient(diag.matrix_band_part_gradient)

_NORM_ATTRS = "[T: type {floating}; variance_epsilon: float; scale_after_normalization: bool]"
NORM = OpDef(
    "BatchNormWithGlobalNormalization(t: T, m: T, v: T, beta: T, gamma: T) -> result: T "
    f"{_NORM_ATTRS}"
)
NORM_GRAD = OpDef(
    "BatchNormWithGlobalNormalizationGrad(t: T, m: T, v: T, gamma: T, backprop: T) -> "
    f"dx: T, dm: T, dv: T, db: T, dg: T {_NORM_ATTRS}"
).not_differentiable()


@NORM.checked_shape
def norm_shape(t: Shape, m: Shape, v: Shape, beta: Shape, gamma: Shape) -> Shape:
    shapes.require_rank(t, "t", 4)
    for each, name in ((m, "m"), (v, "v"), (beta, "beta"), (gamma, "gamma")):
        shapes.require_rank(each, name, 1)
        if t is not None and each is not None:
            shapes.merge_dim(t[3], each[0], f"the channels of t and {name}")
    return t


@NORM.kernel
def norm_kernel(
    t: Any, m: Any, v: Any, beta: Any, gamma: Any, *, variance_epsilon: float,
    scale_after_normalization: bool,
) -> Any:  # fmt: skip
    norm_shape(t.shape, m.shape, v.shape, beta.shape, gamma.shape)
    scale = 1 / np.sqrt(v + v.dtype.type(variance_epsilon))
    scale = scale * gamma if scale_after_normalization else scale
    return ((t - m) * scale + beta).astype(t.dtype, copy=False)


@NORM.gradient
def norm_gradient(op: Any, d_result: Any) -> Any:
    t, m, v, _, gamma = op.inputs
    made = raw.BatchNormWithGlobalNormalizationGrad(
        t, m, v, gamma, d_result, variance_epsilon=op.get_attr("variance_epsilon"),
        scale_after_normalization=op.get_attr("scale_after_normalization"),
    )  # fmt: skip
    return list(made)


@NORM_GRAD.checked_shape
def norm_grad_shape(t: Shape, m: Shape, v: Shape, gamma: Shape, backprop: Shape) -> list[Shape]:
    return [shapes.merge(t, backprop, "t and backprop"), m, v, m, gamma]


@NORM_GRAD.kernel
def norm_grad_kernel(
    t: Any, m: Any, v: Any, gamma: Any, backprop: Any, *, variance_epsilon: float,
    scale_after_normalization: bool,
) -> Any:  # fmt: skip
    norm_shape(t.shape, m.shape, v.shape, m.shape, gamma.shape)
    axes = (0, 1, 2)
    width = 1 / np.sqrt(v + v.dtype.type(variance_epsilon))
    scale = width * gamma if scale_after_normalization else width
    apart = (backprop * (t - m)).sum(axes)
    total = backprop.sum(axes)
    d_v = apart * scale * width * width * v.dtype.type(-0.5)
    d_gamma = apart * width if scale_after_normalization else np.zeros_like(gamma)
    made = backprop * scale, -total * scale, d_v, total, d_gamma
    return tuple(each.astype(t.dtype, copy=False) for each in made)
