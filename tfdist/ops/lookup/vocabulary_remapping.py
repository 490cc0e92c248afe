"""Rows and columns of a stored matrix, put where another vocabulary has their words.

Source: TF 1.15 API, the ops of tensorflow/core/ops/checkpoint_ops.cc.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InternalError, InvalidArgumentError, NotFoundError, UnimplementedError
from tfdist.formats.checkpoint.bundle import Reader, open_checkpoint
from tfdist.graph.op_def import OpDef
from tfdist.ops.io.checkpoint_names import text
from tfdist.ops.io.checkpoint_ops import require_names

__all__: list[str] = []

GENERATE_VOCAB_REMAPPING = OpDef(
    "GenerateVocabRemapping(new_vocab_file: string, old_vocab_file: string) -> remapping: int64, "
    "num_present: int32 [new_vocab_offset: int >=0; num_new_vocab: int >=0; "
    "old_vocab_size: int = -1]",
    may_run_on=True,
).not_differentiable()


@GENERATE_VOCAB_REMAPPING.shape
def generate_vocab_remapping_shape(
    new_vocab_file: Shape, old_vocab_file: Shape, *, num_new_vocab: int
) -> list[Shape]:
    shapes.require_rank(new_vocab_file, "new_vocab_file", 0)
    shapes.require_rank(old_vocab_file, "old_vocab_file", 0)
    return [(num_new_vocab,), ()]


@GENERATE_VOCAB_REMAPPING.kernel
def generate_vocab_remapping_kernel(
    new_vocab_file: Any,
    old_vocab_file: Any,
    *,
    new_vocab_offset: int,
    num_new_vocab: int,
    old_vocab_size: int,
) -> list[Any]:
    old_path = text(old_vocab_file)
    most = None if old_vocab_size < 0 else old_vocab_size
    places = {word: place for place, word in enumerate(islice(_words(old_path), most))}
    if most is not None and len(places) < most:
        raise InvalidArgumentError(
            f"Invalid vocab_size in {old_path}: expected {most} but got {len(places)}"
        )
    end = new_vocab_offset + num_new_vocab
    words = list(islice(_words(text(new_vocab_file)), new_vocab_offset, end))
    if len(words) < num_new_vocab:
        raise InvalidArgumentError(
            "lookup table size must be larger than last new vocab entry's line: "
            f"{text(new_vocab_file)} ends before line {end}"
        )
    remapping = np.array([places.get(word, -1) for word in words], np.int64)
    return [remapping, np.int32(np.count_nonzero(remapping >= 0))]


def _words(path: str) -> Iterator[bytes]:
    """Yield the lines of a file."""
    try:
        with open(path, "rb") as file:
            for line in file:
                yield line.rstrip(b"\n")
    except FileNotFoundError:
        raise NotFoundError(f"{path}; No such file or directory") from None


LOAD_AND_REMAP_MATRIX = OpDef(
    "LoadAndRemapMatrix(ckpt_path: string, old_tensor_name: string, row_remapping: int64, "
    "col_remapping: int64, initializing_values: float) -> output_matrix: float "
    "[num_rows: int >=0; num_cols: int >=1; max_rows_in_memory: int = -1] !",
    may_run_on=True,
).not_differentiable()


@LOAD_AND_REMAP_MATRIX.shape
def load_and_remap_matrix_shape(
    ckpt_path: Shape,
    old_tensor_name: Shape,
    row_remapping: Shape,
    col_remapping: Shape,
    initializing_values: Shape,
    *,
    num_rows: int,
    num_cols: int,
) -> Shape:
    shapes.require_rank(row_remapping, "row_remapping", 1)
    shapes.require_rank(col_remapping, "col_remapping", 1)
    return (num_rows, num_cols)


@LOAD_AND_REMAP_MATRIX.kernel
def load_and_remap_matrix_kernel(
    ctx: Any,
    ckpt_path: Any,
    old_tensor_name: Any,
    row_remapping: Any,
    col_remapping: Any,
    initializing_values: Any,
    *,
    num_rows: int,
    num_cols: int,
    max_rows_in_memory: int,
) -> Any:
    _require_size("row_remapping", row_remapping, "num_rows", num_rows)
    if len(col_remapping):
        _require_size("col_remapping", col_remapping, "num_cols", num_cols)
    for remapping in (row_remapping, col_remapping):
        _require_different(remapping)
    name = text(old_tensor_name)
    with open_checkpoint(text(ckpt_path)) as reader:
        require_names(reader, [name])
        ctx.check()
        stored = _matrix(reader, name, num_cols if not len(col_remapping) else None)
    if len(row_remapping) and row_remapping.max() >= len(stored):
        raise InternalError(
            f"row {row_remapping.max()} is out of bounds: {name} has shape {list(stored.shape)}"
        )
    if len(col_remapping) and col_remapping.max() >= stored.shape[1]:
        raise InvalidArgumentError(
            f"column {col_remapping.max()} is out of bounds: {name} has shape {list(stored.shape)}"
        )
    columns = col_remapping if len(col_remapping) else np.arange(num_cols)
    missing = (row_remapping < 0)[:, None] | (columns < 0)[None, :]
    found = stored[np.maximum(row_remapping, 0)][:, np.maximum(columns, 0)].astype(np.float32)
    return _completed(found, missing, initializing_values)


def _require_size(what: str, remapping: Any, of: str, size: int) -> None:
    if len(remapping) != size:
        raise InvalidArgumentError(
            f"Size of {what} is {len(remapping)} instead of being equal to {of}={size}"
        )


def _require_different(remapping: Any) -> None:
    """Raise UnimplementedError if an old row or column would stand in two places."""
    old, counts = np.unique(remapping[remapping >= 0], return_counts=True)
    if (counts > 1).any():
        twice = old[counts > 1][0]
        first, second = np.flatnonzero(remapping == twice)[:2]
        raise UnimplementedError(
            f"Old ID {twice} is mapped to both new ID {first} and {second}, which is not supported."
        )


def _matrix(reader: Reader, name: str, columns: int | None) -> Any:
    stored = reader.read(os.fsencode(name))
    if stored.ndim != 2:
        raise InvalidArgumentError(
            f"Tensor {name} has shape {list(stored.shape)}, but a matrix is wanted"
        )
    if columns is not None and stored.shape[1] != columns:
        raise InvalidArgumentError(
            f"Tensor {name} has shape {list(stored.shape)}, where the size of its 2nd dimension "
            f"is {stored.shape[1]} instead of being equal to num_cols={columns}"
        )
    return stored


def _completed(found: Any, missing: Any, values: Any) -> Any:
    """Return a matrix with the next of the values in each place that is missing."""
    count = int(np.count_nonzero(missing))
    if count > values.size:
        raise InvalidArgumentError(
            f"initializing_values contained {values.size} elements, but more missing values "
            f"remain: {count} are missing"
        )
    if count < values.size:
        raise InvalidArgumentError(
            f"initializing_values contained {values.size} elements, but only {count} elements "
            "were used to fill in missing values."
        )
    found[missing] = values.reshape(-1)
    return found
