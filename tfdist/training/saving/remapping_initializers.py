"""Initializers that take the rows of a stored matrix, in the order of another vocabulary.

Source: TF 1.15 API documentation, tf.contrib.framework.load_and_remap_matrix_initializer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.ops.array.concat import concat
from tfdist.ops.array.constants import constant
from tfdist.ops.array.reshape import reshape
from tfdist.ops.variables.initializers import truncated_normal_initializer, zeros_initializer
from tfdist.training.saving.checkpoint_utils import checkpoint_of

__all__ = [
    "load_and_remap_matrix_initializer", "load_embedding_initializer",
    "load_linear_multiclass_bias_initializer", "load_variable_slot_initializer",
]  # fmt: skip


def load_and_remap_matrix_initializer(
    ckpt_path: str,
    old_tensor_name: str,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Any]:
    """Return an initializer that reads a matrix, with rows and columns in another order.

    A vocabulary is a file with a word in each line. A row or column whose word the old one has not,
    or whose word is in none, is made by `initializer`.

    Args:
      ckpt_path: of a checkpoint.
      old_tensor_name: of the matrix in it.
      new_row_vocab_size: how many words have rows now.
      new_col_vocab_size: how many words have columns now.
      old_row_vocab_size: how many words of the old file had rows; -1 for all.
      old_row_vocab_file: vocabulary of the matrix's rows; None if they stay.
      new_row_vocab_file: vocabulary of the new rows; None if they stay.
      old_col_vocab_file: vocabulary of the matrix's columns; None if they stay.
      new_col_vocab_file: vocabulary of the new columns; None if they stay.
      num_row_oov_buckets: rows for words that are in no vocabulary, which come last.
      num_col_oov_buckets: columns for words that are in no vocabulary, which come last.
      initializer: of what is missing; zeros by default.
      max_rows_in_memory: taken and not needed.

    Raises:
      ValueError: there is no vocabulary, or one of a pair; or, when a variable is made, it has
        other sizes.
    """
    pairs = {"row": (old_row_vocab_file, new_row_vocab_file),
             "col": (old_col_vocab_file, new_col_vocab_file)}  # fmt: skip
    _check_files(pairs)
    rows, columns = pairs["row"][0] is not None, pairs["col"][0] is not None
    made = initializer or zeros_initializer()
    path = checkpoint_of(ckpt_path)

    def remapped(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        count, offset = _part(shape, partition_info)
        words, buckets = _shares(offset, count, new_row_vocab_size, num_row_oov_buckets)
        if rows:
            row_places = _remapping(pairs["row"], offset, words, old_row_vocab_size)
        else:
            row_places = constant(np.arange(offset, offset + words))
        if columns:
            column_places = _remapping(pairs["col"], 0, new_col_vocab_size, -1)
        else:
            column_places = constant(np.empty(0, np.int64))
        values = _missing(made, row_places, column_places, new_col_vocab_size, partition_info)
        loaded = raw.LoadAndRemapMatrix(
            path, old_tensor_name, row_places, column_places, values, num_rows=words,
            num_cols=new_col_vocab_size, max_rows_in_memory=max_rows_in_memory,
        )  # fmt: skip
        width = new_col_vocab_size + num_col_oov_buckets
        if num_col_oov_buckets:
            added = _made(made, [words, num_col_oov_buckets], partition_info)
            loaded = concat([loaded, added], 1)
        if buckets:
            loaded = concat([loaded, _made(made, [buckets, width], partition_info)], 0)
        return loaded

    return remapped


def _check_files(pairs: dict[str, tuple[Any, Any]]) -> None:
    for which, (old, new) in pairs.items():
        if (old is None) != (new is None):
            raise ValueError(
                f"old_{which}_vocab_file and new_{which}_vocab_file must both be specified or "
                f"left unspecified. old_{which}_vocab_file='{old}', "
                f"new_{which}_vocab_file='{new}'"
            )
    if all(old is None for old, _ in pairs.values()):
        raise ValueError(
            "Must provide either row or column vocab files. If no remapping is necessary, consider "
            "using `tf.contrib.framework.init_from_checkpoint` instead."
        )


def _part(shape: Any, partition_info: Any) -> tuple[int, int]:
    """Return how many rows a part has, and where it begins in the whole."""
    sizes = [int(size) for size in shape]
    return sizes[0], partition_info.single_offset(sizes) if partition_info is not None else 0


def _shares(offset: int, count: int, words: int, buckets: int) -> tuple[int, int]:
    """Return how many rows of a part have words, and how many stand for words without any."""
    if offset + count > words + buckets:
        raise ValueError(
            f"Trying to initialize {count} additional rows after {offset} rows have already been "
            f"initialized, which would exceed expected total row count of new_row_vocab_size "
            f"({words}) + num_row_oov_buckets ({buckets}) = {words + buckets}."
        )
    own = min(max(words - offset, 0), count)
    return own, count - own


def _remapping(files: tuple[Any, Any], offset: int, count: int, old_size: int) -> Any:
    old, new = files
    return raw.GenerateVocabRemapping(
        new, old, new_vocab_offset=offset, num_new_vocab=count, old_vocab_size=old_size
    )[0]


def _missing(initializer: Any, rows: Any, columns: Any, width: int, partition_info: Any) -> Any:
    """Return values for the elements whose row or column the old matrix has not."""
    absent_rows = raw.Less(rows, np.int64(0))
    known = columns.plain_shape
    if known == (0,):
        absent = raw.Tile(raw.ExpandDims(absent_rows, 1), [1, width])
    else:
        absent_columns = raw.Less(columns, np.int64(0))
        absent = raw.LogicalOr(raw.ExpandDims(absent_rows, 1), raw.ExpandDims(absent_columns, 0))
    whole = _made(initializer, [rows.plain_shape[0], width], partition_info)
    places = reshape(raw.Where(reshape(absent, [-1])), [-1])
    return raw.GatherV2(reshape(whole, [-1]), places, 0)


def _made(initializer: Any, shape: list[int], partition_info: Any) -> Any:
    """Return what an initializer gives, which need not know of parts."""
    made = initializer() if isinstance(initializer, type) else initializer
    return made(shape, dtype=dtypes.float32)


def load_variable_slot_initializer(
    ckpt_path: str,
    old_tensor_name: str,
    primary_partition_info: Any,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Any]:
    """Return an initializer that reads a matrix for a slot beside a part of a variable.

    `primary_partition_info` tells which part that is; the other arguments are those of
    `load_and_remap_matrix_initializer`.
    """
    remapped = load_and_remap_matrix_initializer(
        ckpt_path, old_tensor_name, new_row_vocab_size, new_col_vocab_size, -1,
        old_row_vocab_file, new_row_vocab_file, old_col_vocab_file, new_col_vocab_file,
        num_row_oov_buckets, num_col_oov_buckets, initializer, max_rows_in_memory,
    )  # fmt: skip

    def slot(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        return remapped(shape, dtype, partition_info=primary_partition_info)

    return slot


def load_embedding_initializer(
    ckpt_path: str,
    embedding_tensor_name: str,
    new_vocab_size: int,
    embedding_dim: int,
    old_vocab_file: Any,
    new_vocab_file: Any,
    old_vocab_size: int = -1,
    num_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Any]:
    """Return an initializer of embeddings; see `load_and_remap_matrix_initializer`.

    What is missing is drawn from a truncated normal distribution by default.
    """
    if initializer is None:
        initializer = truncated_normal_initializer(stddev=1.0 / embedding_dim**0.5)
    return load_and_remap_matrix_initializer(
        ckpt_path, embedding_tensor_name, new_vocab_size, embedding_dim, old_vocab_size,
        old_vocab_file, new_vocab_file, None, None, num_oov_buckets, 0, initializer,
        max_rows_in_memory,
    )  # fmt: skip


def load_linear_multiclass_bias_initializer(
    ckpt_path: str,
    bias_tensor_name: str,
    new_class_vocab_size: int,
    old_class_vocab_file: Any,
    new_class_vocab_file: Any,
    num_class_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Any]:
    """Return an initializer of biases [classes, 1]; see `load_and_remap_matrix_initializer`."""
    return load_and_remap_matrix_initializer(
        ckpt_path, bias_tensor_name, new_class_vocab_size, 1, -1, old_class_vocab_file,
        new_class_vocab_file, None, None, num_class_oov_buckets, 0, initializer,
        max_rows_in_memory,
    )  # fmt: skip
