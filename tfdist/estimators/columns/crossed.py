"""Columns of combinations of several features, put into buckets by a hash.

Source: TF 1.15 API documentation, tf.feature_column.crossed_column; messages by experiment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tfdist.base import dtypes
from tfdist.estimators.columns.categorical import HashedCategoricalColumn, check_string_or_integer
from tfdist.estimators.columns.feature_column import CategoricalColumn, Features
from tfdist.ops.io.feature_specs import VarLenFeature
from tfdist.ops.sparse.cross import sparse_cross_hashed

__all__ = ["crossed_column"]


class _CrossedFields(NamedTuple):
    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None


class CrossedColumn(_CrossedFields, CategoricalColumn):
    """Combinations; see `crossed_column`."""

    @property
    def name(self) -> str:
        """Return the names of what is crossed."""
        leaves = (each if isinstance(each, str) else each.name for each in _leaves(self))
        return "_X_".join(sorted(leaves))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Return how all features are read; those that are named are strings."""
        found: dict[str, Any] = {}
        for each in self.keys:
            if isinstance(each, str):
                found[each] = VarLenFeature(dtypes.string)
            else:
                found.update(each.parse_example_spec)
        return found

    @property
    def num_buckets(self) -> int:
        """Return how many buckets there are."""
        return self.hash_bucket_size

    def transform_feature(self, features: Features) -> Any:
        """Return the bucket of each combination."""
        inputs = []
        for leaf in _leaves(self):
            if isinstance(leaf, str):
                inputs.append(features.get(leaf))
                check_string_or_integer(inputs[-1].dtype, f"feature {leaf}")
                continue
            ids, weights = leaf.get_sparse_tensors(features)
            if weights is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column populates "
                    f"weight_tensor. Given column: {leaf.name}"
                )
            inputs.append(ids)
        return sparse_cross_hashed(inputs, self.hash_bucket_size, self.hash_key)


def _leaves(column: CrossedColumn) -> Iterator[Any]:
    """Yield what is crossed, what crossed columns inside cross too."""
    for each in column.keys:
        if isinstance(each, CrossedColumn):
            yield from _leaves(each)
        else:
            yield each


def crossed_column(
    keys: Sequence[Any], hash_bucket_size: int, hash_key: int | None = None
) -> CrossedColumn:
    """Return a column of combinations of features, put into buckets by a hash.

    Args:
      keys: of features of words or integers, and columns of categories, which are not hashed.
      hash_bucket_size: how many buckets there are.
      hash_key: chooses the hash.

    Raises:
      ValueError: there are less than two keys, one cannot be crossed, or there are no buckets.

    Example:
      >>> both = feature_column.crossed_column(["colour", "size"], 10)
      >>> both.name, both.num_buckets
      ('colour_X_size', 10)
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not isinstance(keys, Sequence) or isinstance(keys, str) or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for each in keys:
        _check_crossed(each)
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


def _check_crossed(key: Any) -> None:
    if isinstance(key, HashedCategoricalColumn):
        raise ValueError(
            "categorical_column_with_hash_bucket is not supported for crossing. Hashing before "
            "crossing will increase probability of collision. Instead, use the feature name as a "
            f"string. Given: {key}"
        )
    if not isinstance(key, str | CategoricalColumn):
        raise ValueError(
            "Unsupported key type. All keys must be either string, or categorical column except "
            f"HashedCategoricalColumn. Given: {key}"
        )
