"""Bucketize: numbers into buckets between boundaries.

Source: TF 1.15 API documentation, tf.raw_ops.Bucketize.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef

__all__: list[str] = []  # tf.feature_column and tf.contrib.layers give it

BUCKETIZE = OpDef(
    "Bucketize(input: T) -> output: int32 [T: type {int32,int64,float,double}; "
    "boundaries: list(float)]"
).not_differentiable()


@BUCKETIZE.shape
def bucketize_shape(input: Shape) -> Shape:
    return input


@BUCKETIZE.kernel
def bucketize_kernel(input: Any, *, boundaries: list[float]) -> Any:
    edges = np.asarray(boundaries, np.float32)
    if np.any(edges[1:] < edges[:-1]):
        raise InvalidArgumentError("Expected sorted boundaries")
    return np.searchsorted(edges, input, "right").astype(np.int32)
