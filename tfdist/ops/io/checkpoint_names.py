"""Names of the parts of a sharded checkpoint, as tensors.

Source: TF 1.15 API, the ops of tensorflow/core/ops/io_ops.cc.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.ops.framework.shared_values import as_elements

__all__: list[str] = []


def text(value: Any) -> str:
    """Return the name in a scalar string; InvalidArgumentError if it has a rank."""
    if np.ndim(value):
        raise InvalidArgumentError(f"a name must be a scalar, but has shape {np.shape(value)}")
    return os.fsdecode(as_elements(value)[()])


def texts(values: Any) -> list[str]:
    """Return the names in a vector of strings; InvalidArgumentError if it has another rank."""
    if np.ndim(values) != 1:
        raise InvalidArgumentError(f"names must be a vector, but have shape {np.shape(values)}")
    return [os.fsdecode(each) for each in values.tolist()]


SHARDED_FILENAME = OpDef(
    "ShardedFilename(basename: string, shard: int32, num_shards: int32) -> filename: string"
).not_differentiable()


@SHARDED_FILENAME.shape
def sharded_filename_shape(basename: Shape, shard: Shape, num_shards: Shape) -> Shape:
    shapes.require_rank(basename, "basename", 0)
    shapes.require_rank(shard, "shard", 0)
    shapes.require_rank(num_shards, "num_shards", 0)
    return ()


@SHARDED_FILENAME.kernel
def sharded_filename_kernel(basename: Any, shard: Any, num_shards: Any) -> bytes:
    return os.fsencode(text(basename)) + b"-%05d-of-%05d" % (shard, num_shards)


SHARDED_FILESPEC = OpDef(
    "ShardedFilespec(basename: string, num_shards: int32) -> filename: string"
).not_differentiable()


@SHARDED_FILESPEC.shape
def sharded_filespec_shape(basename: Shape, num_shards: Shape) -> Shape:
    shapes.require_rank(basename, "basename", 0)
    shapes.require_rank(num_shards, "num_shards", 0)
    return ()


@SHARDED_FILESPEC.kernel
def sharded_filespec_kernel(basename: Any, num_shards: Any) -> bytes:
    return os.fsencode(text(basename)) + b"-?????-of-%05d" % num_shards
