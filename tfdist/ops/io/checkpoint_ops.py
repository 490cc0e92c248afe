"""Checkpoints as ops: tensors to files and back, on the machine of the task that runs them.

A specification of a slice is "" for a whole tensor, or as in `formats.checkpoint.tensor_slices`.
What `RestoreV2` gives has no known shape unless its slices have one: what it is assigned to checks
it.

Source: TF 1.15 API, the ops of tensorflow/core/ops/io_ops.cc.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType, short_name
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.formats.checkpoint.bundle import Reader, open_checkpoint
from tfdist.formats.checkpoint.tensor_slices import ShapeAndSlice, brackets, parse_shape_and_slice
from tfdist.formats.checkpoint.writer import merge, writing
from tfdist.graph.op_def import OpDef
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.io.checkpoint_names import text, texts

__all__: list[str] = []

_SHOWN = 8  # names in a message

SAVE_V2 = OpDef(
    "SaveV2(prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes) -> () "
    "[dtypes: list(type) >=1] !",
    may_run_on=True,
).not_differentiable()


@SAVE_V2.shape
def save_v2_shape(
    prefix: Shape, tensor_names: Shape, shape_and_slices: Shape, tensors: list[Shape]
) -> list[Shape]:
    shapes.require_rank(prefix, "prefix", 0)
    for what, shape in (("tensor_names", tensor_names), ("shape_and_slices", shape_and_slices)):
        require_count(what, shape, len(tensors))
    return []


def require_count(what: str, shape: Shape, count: int) -> None:
    """Raise InvalidArgumentError unless `shape` is that of a vector of `count` elements."""
    shapes.require_rank(shape, what, 1)
    if shape is not None and shape[0] not in (None, count):
        raise InvalidArgumentError(
            f"{what} must have an element for each tensor: Dimension must be {count} but is "
            f"{shape[0]}"
        )


@SAVE_V2.kernel
def save_v2_kernel(
    ctx: Any, prefix: Any, tensor_names: Any, shape_and_slices: Any, tensors: Sequence[Any]
) -> None:
    names, specs = texts(tensor_names), texts(shape_and_slices)
    require_count("tensor_names", (len(names),), len(tensors))
    require_count("shape_and_slices", (len(specs),), len(tensors))
    parts = parts_of(specs)
    with writing(text(prefix)) as writer:
        for name, part, tensor in zip(names, parts, tensors, strict=True):
            ctx.check()
            writer.add(os.fsencode(name), as_array(tensor), part)


def parts_of(specs: Iterable[str]) -> list[ShapeAndSlice | None]:
    """Return what specifications of slices say; None for a whole tensor."""
    return [parse_shape_and_slice(spec) if spec else None for spec in specs]


def as_array(tensor: Any) -> Any:
    """Return a value as an array; NumPy would cut zeros off from a bare string."""
    return np.asarray(as_elements(tensor))


RESTORE_V2 = OpDef(
    "RestoreV2(prefix: string, tensor_names: string, shape_and_slices: string) -> tensors: dtypes "
    "[dtypes: list(type) >=1] !",
    may_run_on=True,
).not_differentiable()


@RESTORE_V2.shape
def restore_v2_shape(
    prefix: Shape,
    tensor_names: Shape,
    shape_and_slices: Shape,
    *,
    shape_and_slices_value: Any,
    dtypes: list[DType],
) -> list[Shape]:
    shapes.require_rank(prefix, "prefix", 0)
    shapes.require_rank(tensor_names, "tensor_names", 1)
    shapes.require_rank(shape_and_slices, "shape_and_slices", 1)
    shapes.merge(tensor_names, shape_and_slices, "tensor_names and shape_and_slices")
    if shape_and_slices_value is None:
        return [None] * len(dtypes)
    specs = texts(shape_and_slices_value)
    if len(specs) != len(dtypes):
        raise InvalidArgumentError(
            f"The number of shape_and_slice doesn't match tensor outputs: {len(specs)} and "
            f"{len(dtypes)}"
        )
    return [parse_shape_and_slice(spec).sizes if spec else None for spec in specs]


@RESTORE_V2.kernel
def restore_v2_kernel(
    ctx: Any, prefix: Any, tensor_names: Any, shape_and_slices: Any, *, dtypes: list[DType]
) -> list[Any]:
    names, specs = texts(tensor_names), texts(shape_and_slices)
    require_count("tensor_names", (len(names),), len(dtypes))
    require_count("shape_and_slices", (len(specs),), len(dtypes))
    parts = parts_of(specs)
    with open_checkpoint(text(prefix)) as reader:
        require_names(reader, names)
        for name, dtype, part in zip(names, dtypes, parts, strict=True):
            check_stored(reader, name, dtype, part)
        return [_restored(ctx, reader, *each) for each in zip(names, parts, strict=True)]


def check_stored(reader: Reader, name: str, dtype: DType, part: ShapeAndSlice | None) -> None:
    """Raise an error unless a tensor of a checkpoint has this type, and shape if there is one."""
    entry = reader.find(os.fsencode(name))
    assert entry is not None, name
    if entry.dtype is not dtype:
        raise InvalidArgumentError(
            f"tensor_name = {name}; expected dtype {short_name(dtype)} does not equal original "
            f"dtype {short_name(entry.dtype)}"
        )
    if part is not None and part.shape != entry.shape:
        raise InvalidArgumentError(
            f"tensor_name = {name}; shape in shape_and_slice spec {brackets(part.shape)} does not "
            f"match the shape stored in checkpoint: {brackets(entry.shape)}"
        )


def require_names(reader: Reader, wanted: Sequence[str]) -> None:
    """Raise NotFoundError, which tells what there is, unless a checkpoint has all of `wanted`."""
    absent = [name for name in wanted if reader.find(os.fsencode(name)) is None]
    if absent:
        others = f" (nor are {', '.join(absent[1:_SHOWN])})" if absent[1:] else ""
        raise NotFoundError(_absence(reader, absent[0], others))


def _absence(reader: Reader, name: str, others: str) -> str:
    names = [os.fsdecode(each) for each in reader.names()]
    near = difflib.get_close_matches(name, names, 3)
    shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    hint = f"near it are {', '.join(near)}" if near else f"it has {shown or 'nothing'}"
    count = f"{len(names)} tensors in {reader.prefix}"
    return f"{reader.absent(name)}{others}; {hint} ({count})"


def _restored(ctx: Any, reader: Reader, name: str, part: ShapeAndSlice | None) -> Any:
    ctx.check()
    key = os.fsencode(name)
    found = reader.read(key) if part is None else reader.read_slice(key, part.slice)
    return found if found.ndim else found[()]  # as all kernels give scalars


MERGE_V2_CHECKPOINTS = OpDef(
    "MergeV2Checkpoints(checkpoint_prefixes: string, destination_prefix: string) -> () "
    "[delete_old_dirs: bool = True] !",
    may_run_on=True,
).not_differentiable()


@MERGE_V2_CHECKPOINTS.shape
def merge_v2_checkpoints_shape(
    checkpoint_prefixes: Shape, destination_prefix: Shape
) -> list[Shape]:
    shapes.require_rank(checkpoint_prefixes, "checkpoint_prefixes", 1)
    shapes.require_rank(destination_prefix, "destination_prefix", 0)
    return []


@MERGE_V2_CHECKPOINTS.kernel
def merge_v2_checkpoints_kernel(
    checkpoint_prefixes: Any, destination_prefix: Any, *, delete_old_dirs: bool
) -> None:
    merge(texts(checkpoint_prefixes), text(destination_prefix), delete_old_dirs)


# of TensorFlow 2, whose savers put it before each read of a resource variable
DISABLE_COPY_ON_READ = OpDef("DisableCopyOnRead(resource: resource) -> () !").not_differentiable()


@DISABLE_COPY_ON_READ.shape
def disable_copy_on_read_shape(resource: Shape) -> list[Shape]:
    return []


@DISABLE_COPY_ON_READ.kernel
def disable_copy_on_read_kernel(resource: Any) -> None:
    return None  # reads share their array here, whatever is asked for
