"""The ops of the first releases' checkpoints: Save, SaveSlices, Restore, RestoreSlice.

The names of a filename's files may be a pattern when they are read. Both formats are read by
`RestoreV2`, too, which savers use.

Source: TF 1.15 API, the ops of tensorflow/core/ops/io_ops.cc.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.formats.checkpoint.tensor_slices import ShapeAndSlice, parse_shape_and_slice
from tfdist.formats.checkpoint.v1 import SlicesReader, save_slices
from tfdist.graph.op_def import OpDef
from tfdist.ops.io.checkpoint_names import text, texts
from tfdist.ops.io.checkpoint_ops import (
    as_array,
    check_stored,
    parts_of,
    require_count,
    require_names,
)

__all__: list[str] = []

SAVE = OpDef(
    "Save(filename: string, tensor_names: string, data: T) -> () [T: list(type) >=1] !",
    may_run_on=True,
).not_differentiable()


@SAVE.shape
def save_shape(filename: Shape, tensor_names: Shape, data: list[Shape]) -> list[Shape]:
    shapes.require_rank(filename, "filename", 0)
    require_count("tensor_names", tensor_names, len(data))
    return []


@SAVE.kernel
def save_kernel(filename: Any, tensor_names: Any, data: Sequence[Any]) -> None:
    _save(text(filename), texts(tensor_names), [None] * len(data), data)


def _save(
    filename: str, names: list[str], parts: Sequence[ShapeAndSlice | None], data: Sequence[Any]
) -> None:
    require_count("tensor_names", (len(names),), len(data))
    require_count("shapes_and_slices", (len(parts),), len(data))
    keys, arrays = map(os.fsencode, names), map(as_array, data)
    save_slices(filename, list(zip(keys, arrays, parts, strict=True)))


SAVE_SLICES = OpDef(
    "SaveSlices(filename: string, tensor_names: string, shapes_and_slices: string, data: T) -> () "
    "[T: list(type) >=1] !",
    may_run_on=True,
).not_differentiable()


@SAVE_SLICES.shape
def save_slices_shape(
    filename: Shape, tensor_names: Shape, shapes_and_slices: Shape, data: list[Shape]
) -> list[Shape]:
    shapes.require_rank(filename, "filename", 0)
    require_count("tensor_names", tensor_names, len(data))
    require_count("shapes_and_slices", shapes_and_slices, len(data))
    return []


@SAVE_SLICES.kernel
def save_slices_kernel(
    filename: Any, tensor_names: Any, shapes_and_slices: Any, data: Sequence[Any]
) -> None:
    _save(text(filename), texts(tensor_names), parts_of(texts(shapes_and_slices)), data)


RESTORE = OpDef(
    "Restore(file_pattern: string, tensor_name: string) -> tensor: dt "
    "[dt: type; preferred_shard: int = -1] !",
    may_run_on=True,
).not_differentiable()


@RESTORE.shape
def restore_shape(file_pattern: Shape, tensor_name: Shape) -> Shape:
    shapes.require_rank(file_pattern, "file_pattern", 0)
    shapes.require_rank(tensor_name, "tensor_name", 0)
    return None


@RESTORE.kernel
def restore_kernel(file_pattern: Any, tensor_name: Any, *, dt: DType) -> Any:
    return _restored(text(file_pattern), text(tensor_name), None, dt)


def _restored(pattern: str, name: str, part: ShapeAndSlice | None, dtype: DType) -> Any:
    with SlicesReader(pattern) as reader:
        require_names(reader, [name])
        check_stored(reader, name, dtype, part)
        key = os.fsencode(name)
        return reader.read(key) if part is None else reader.read_slice(key, part.slice)


RESTORE_SLICE = OpDef(
    "RestoreSlice(file_pattern: string, tensor_name: string, shape_and_slice: string) -> "
    "tensor: dt [dt: type; preferred_shard: int = -1] !",
    may_run_on=True,
).not_differentiable()


@RESTORE_SLICE.shape
def restore_slice_shape(
    file_pattern: Shape, tensor_name: Shape, shape_and_slice: Shape, *, shape_and_slice_value: Any
) -> Shape:
    shapes.require_rank(file_pattern, "file_pattern", 0)
    shapes.require_rank(tensor_name, "tensor_name", 0)
    shapes.require_rank(shape_and_slice, "shape_and_slice", 0)
    spec = "" if shape_and_slice_value is None else text(shape_and_slice_value)
    return parse_shape_and_slice(spec).sizes if spec else None


@RESTORE_SLICE.kernel
def restore_slice_kernel(
    file_pattern: Any, tensor_name: Any, shape_and_slice: Any, *, dt: DType
) -> Any:
    [part] = parts_of([text(shape_and_slice)])
    return _restored(text(file_pattern), text(tensor_name), part, dt)
