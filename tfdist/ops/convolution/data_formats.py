"""Names of axes: what NHWC calls axis 3 is axis 1 in NCHW. DataFormatDimMap, DataFormatVecPermute.

Source: TF 1.15 API documentation, tf.raw_ops.DataFormatDimMap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.ops.math.elementwise import same_shape

__all__: list[str] = []

_FORMATS = "T: type = int32 {index}; src_format: string = 'NHWC'; dst_format: string = 'NCHW'"

DATA_FORMAT_DIM_MAP = OpDef(f"DataFormatDimMap(x: T) -> y: T [{_FORMATS}]").not_differentiable()
DATA_FORMAT_DIM_MAP.shape(same_shape)


@DATA_FORMAT_DIM_MAP.kernel
def data_format_dim_map_kernel(x: Any, *, src_format: bytes, dst_format: bytes) -> Any:
    _require_permutation(src_format, dst_format)
    rank = len(src_format)
    if x.size and (x.min() < -rank or x.max() >= rank):
        raise InvalidArgumentError(
            f"an axis of {src_format.decode()} is from {-rank} to {rank - 1}, got {x.tolist()}"
        )
    return np.array([dst_format.index(axis) for axis in src_format], x.dtype)[x]


DATA_FORMAT_VEC_PERMUTE = OpDef(
    f"DataFormatVecPermute(x: T) -> y: T [{_FORMATS}]"
).not_differentiable()
DATA_FORMAT_VEC_PERMUTE.shape(same_shape)


@DATA_FORMAT_VEC_PERMUTE.kernel
def data_format_vec_permute_kernel(x: Any, *, src_format: bytes, dst_format: bytes) -> Any:
    _require_permutation(src_format, dst_format)
    rank = len(src_format)
    if x.shape not in ((rank,), (rank, 2)):
        raise InvalidArgumentError(
            f"1D input must be of size {rank}, and 2D input of shape [{rank},2], to have an entry "
            f"for each axis of {src_format.decode()}, but got shape {list(x.shape)}"
        )
    return x[[src_format.index(axis) for axis in dst_format]]


def _require_permutation(source: bytes, target: bytes) -> None:
    for name, got in (("Source", source), ("Destination", target)):
        if len(got) not in (4, 5):
            raise InvalidArgumentError(
                f"{name} format must be of length 4 or 5, received {got.decode(errors='replace')}"
            )
    if sorted(source) != sorted(target) or len(set(source)) != len(source):
        raise InvalidArgumentError(
            "Destination and source format must determine a permutation, got "
            f"{source.decode(errors='replace')} and {target.decode(errors='replace')}"
        )
