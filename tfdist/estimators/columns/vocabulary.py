"""Columns of words of a vocabulary, a list or a file: their places in it.

Source: TF 1.15 API documentation, tf.feature_column.categorical_column_with_vocabulary_list and
categorical_column_with_vocabulary_file; messages by experiment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType, as_dtype
from tfdist.estimators.columns.categorical import check_string_or_integer
from tfdist.estimators.columns.feature_column import (
    CategoricalColumn,
    Features,
    check_key,
    to_sparse,
)
from tfdist.ops.array.cast import cast
from tfdist.ops.io.feature_specs import VarLenFeature
from tfdist.ops.lookup.functions import index_table_from_file, index_table_from_tensor
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__ = [
    "categorical_column_with_vocabulary_file", "categorical_column_with_vocabulary_list",
]  # fmt: skip


class _Vocabulary(CategoricalColumn):
    """What both kinds of vocabularies have in common: a table, and words that are looked up."""

    key: str
    dtype: DType

    @property
    def name(self) -> str:
        """Return the feature's key."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Return how the feature is read."""
        return {self.key: VarLenFeature(self.dtype)}

    def transform_feature(self, features: Features) -> Any:
        """Return the place of each word."""
        found = to_sparse(features.get(self.key))
        if self.dtype.is_integer != found.dtype.is_integer:
            raise ValueError(
                "Column dtype and SparseTensors dtype must be compatible. key: "
                f"{self.key}, column dtype: {self.dtype!r}, tensor dtype: {found.dtype!r}"
            )
        check_string_or_integer(found.dtype, f"column_name: {self.key} input_tensor")
        words = cast(found.values, dtypes.int64) if self.dtype.is_integer else found.values
        places = self._table().lookup(words)
        return SparseTensor(found.indices, places, found.dense_shape)

    def _table(self) -> Any:
        raise NotImplementedError


class _ListFields(NamedTuple):
    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: DType
    default_value: int
    num_oov_buckets: int


class VocabularyListCategoricalColumn(_ListFields, _Vocabulary):
    """Words of a list; see `categorical_column_with_vocabulary_list`."""

    @property
    def num_buckets(self) -> int:
        """Return how many words and further buckets there are."""
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _table(self) -> Any:
        dtype = dtypes.int64 if self.dtype.is_integer else self.dtype
        words = np.array(self.vocabulary_list, object if dtype == dtypes.string else np.int64)
        return index_table_from_tensor(
            words, self.num_oov_buckets, self.default_value, dtype=dtype, name=f"{self.key}_lookup"
        )


def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """Return a column of words of a list.

    Args:
      key: of the feature.
      vocabulary_list: words, or integers.
      dtype: of the feature; that of the list by default.
      default_value: what other words are; -1 stands for none.
      num_oov_buckets: how many buckets other words are put into, instead.

    Raises:
      ValueError: the list is empty, has a word twice, or is of another dtype; or there are a
        default and buckets.

    Example:
      >>> colour = feature_column.categorical_column_with_vocabulary_list("colour", ["R", "G"])
      >>> columns = [feature_column.indicator_column(colour)]
      >>> numbers = feature_column.input_layer({"colour": [["G"], ["X"]]}, columns)
      >>> with Session() as session:
      ...     session.run(tables_initializer())
      ...     session.run(numbers)
      array([[0., 1.],
             [0., 0.]], dtype=float32)
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    listed = as_dtype(np.array(vocabulary_list).dtype)
    _check_other_words(key, num_oov_buckets, default_value)
    check_string_or_integer(listed, f"column_name: {key} vocabulary")
    found = listed if dtype is None else as_dtype(dtype)
    if found.is_integer != listed.is_integer:
        raise ValueError(
            f"dtype {found!r} and vocabulary dtype {listed!r} do not match, column_name: {key}"
        )
    check_key(key)
    return VocabularyListCategoricalColumn(
        key, tuple(vocabulary_list), found, default_value, num_oov_buckets
    )


def _check_other_words(key: str, buckets: int, default: int | None) -> None:
    if buckets and default not in (-1, None):
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {buckets} in {key}.")


class _FileFields(NamedTuple):
    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: DType
    default_value: int


class VocabularyFileCategoricalColumn(_FileFields, _Vocabulary):
    """Words of a file; see `categorical_column_with_vocabulary_file`."""

    @property
    def num_buckets(self) -> int:
        """Return how many words and further buckets there are."""
        return self.vocabulary_size + self.num_oov_buckets

    def _table(self) -> Any:
        return index_table_from_file(
            self.vocabulary_file,
            self.num_oov_buckets,
            self.vocabulary_size,
            self.default_value,
            key_dtype=dtypes.int64 if self.dtype.is_integer else self.dtype,
            name=f"{self.key}_lookup",
        )


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = dtypes.string,
) -> VocabularyFileCategoricalColumn:
    """Return a column of words of a file, one in each line.

    Args:
      key: of the feature.
      vocabulary_file: path.
      vocabulary_size: how many of its lines count; all by default.
      num_oov_buckets: how many buckets other words are put into.
      default_value: what other words are; -1, which stands for none, by default.
      dtype: of the feature: string or an integer.

    Raises:
      ValueError: there is no file, a number is out of range, or there are a default and buckets.

    Example:
      >>> import tempfile
      >>> path = f"{tempfile.mkdtemp()}/words.txt"
      >>> with open(path, "w") as file:
      ...     _ = file.write("red\\ngreen\\n")
      >>> feature_column.categorical_column_with_vocabulary_file("colour", path).num_buckets
      2
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        vocabulary_size = _count_lines(key, vocabulary_file)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _check_other_words(key, num_oov_buckets, default_value)
    found = as_dtype(dtype)
    check_string_or_integer(found, f"column_name: {key}")
    check_key(key)
    default = -1 if default_value is None else default_value
    return VocabularyFileCategoricalColumn(
        key, vocabulary_file, vocabulary_size, num_oov_buckets, found, default
    )


def _count_lines(key: str, path: str) -> int:
    try:
        with open(path, "rb") as file:
            return sum(1 for _ in file)
    except OSError as error:
        raise ValueError(
            f"vocabulary_file in {key} does not exist: {path!r} ({error.strerror})."
        ) from None
