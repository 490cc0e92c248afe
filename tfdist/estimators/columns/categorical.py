"""Columns of categories: ids as they are, hashed, or weighted.

Source: TF 1.15 API documentation, tf.feature_column.categorical_column_with_identity and its
relatives; messages by experiment.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfdist.base import dtypes
from tfdist.base.dtypes import DType, as_dtype
from tfdist.estimators.columns.feature_column import (
    CategoricalColumn,
    Features,
    IdsAndWeights,
    check_key,
    to_sparse,
)
from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.checks.assertions import assert_greater_equal, assert_less
from tfdist.ops.io.feature_specs import VarLenFeature
from tfdist.ops.math.comparison import logical_or, where
from tfdist.ops.sparse.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from tfdist.ops.strings.conversions import as_string
from tfdist.ops.strings.hash_buckets import string_to_hash_bucket_fast

__all__ = [
    "categorical_column_with_hash_bucket", "categorical_column_with_identity",
    "weighted_categorical_column",
]  # fmt: skip


class _IdentityFields(NamedTuple):
    key: str
    number_buckets: int
    default_value: int | None


class IdentityCategoricalColumn(_IdentityFields, CategoricalColumn):
    """Ids as they are; see `categorical_column_with_identity`."""

    @property
    def name(self) -> str:
        """Return the feature's key."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Return how the feature is read."""
        return {self.key: VarLenFeature(dtypes.int64)}

    @property
    def num_buckets(self) -> int:
        """Return how many ids there are."""
        return self.number_buckets

    def transform_feature(self, features: Features) -> Any:
        """Return the ids; those out of range are an error, or take the default."""
        found = to_sparse(features.get(self.key))
        if not found.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {found.dtype!r}")
        values = cast(found.values, dtypes.int64, name="values")
        count = cast(self.num_buckets, dtypes.int64, name="num_buckets")
        zero = cast(0, dtypes.int64, name="zero")
        known = self._checked if self.default_value is None else self._replaced
        return SparseTensor(found.indices, known(values, count, zero), found.dense_shape)

    def _checked(self, values: Any, count: Any, zero: Any) -> Any:
        what = f'Bucket index for categorical column "{self.name}" '
        checks = [
            assert_less(
                values, count, data=(values, count), message=f"{what}exceeds number of buckets",
                name="assert_less_than_num_buckets",
            ),
            assert_greater_equal(
                values, zero, data=(values,), message=f"{what}is less than 0",
                name="assert_greater_or_equal_0",
            ),
        ]  # fmt: skip
        with scopes.control_dependencies(checks):
            return raw.Identity(values)

    def _replaced(self, values: Any, count: Any, zero: Any) -> Any:
        default = cast(self.default_value, dtypes.int64, name="default_values")
        is_wrong = logical_or(values < zero, values >= count, name="out_of_range")
        return where(is_wrong, raw.Fill(raw.Shape(values), default), values)


def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """Return a column of ids from 0 to `num_buckets - 1`; -1 stands for none.

    Args:
      key: of the feature, of integers.
      num_buckets: how many ids there are.
      default_value: for ids out of range; an error by default.

    Raises:
      ValueError: a number is out of range.

    Example:
      >>> day = feature_column.categorical_column_with_identity("day", 3)
      >>> columns = [feature_column.indicator_column(day)]
      >>> Session().run(feature_column.input_layer({"day": [[1, 1], [2, -1]]}, columns))
      array([[0., 2., 0.],
             [0., 0., 1.]], dtype=float32)
    """
    check_key(key)
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}"
        )
    return IdentityCategoricalColumn(key, num_buckets, default_value)


class _HashedFields(NamedTuple):
    key: str
    hash_bucket_size: int
    dtype: DType


class HashedCategoricalColumn(_HashedFields, CategoricalColumn):
    """Hashes; see `categorical_column_with_hash_bucket`."""

    @property
    def name(self) -> str:
        """Return the feature's key."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Return how the feature is read."""
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        """Return how many buckets there are."""
        return self.hash_bucket_size

    def transform_feature(self, features: Features) -> Any:
        """Return the bucket of each value."""
        found = to_sparse(features.get(self.key))
        check_string_or_integer(found.dtype, f"column_name: {self.key} input_tensor")
        if self.dtype.is_integer != found.dtype.is_integer:
            raise ValueError(
                "Column dtype and SparseTensors dtype must be compatible. key: "
                f"{self.key}, column dtype: {self.dtype!r}, tensor dtype: {found.dtype!r}"
            )
        words = as_string(found.values) if self.dtype.is_integer else found.values
        ids = string_to_hash_bucket_fast(words, self.hash_bucket_size, name="lookup")
        return SparseTensor(found.indices, ids, found.dense_shape)


def check_string_or_integer(dtype: Any, what: str) -> None:
    """Raise ValueError unless a dtype is that of words or ids."""
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"{what} dtype must be string or integer. dtype: {dtype!r}.")


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = dtypes.string
) -> HashedCategoricalColumn:
    """Return a column of words, or any integers, put into buckets by a hash; "" stands for none.

    Args:
      key: of the feature.
      hash_bucket_size: how many buckets there are.
      dtype: of the feature: string or an integer.

    Raises:
      ValueError: there are no buckets, or the dtype is another one.

    Example:
      >>> word = feature_column.categorical_column_with_hash_bucket("word", 5)
      >>> columns = [feature_column.indicator_column(word)]
      >>> Session().run(feature_column.input_layer({"word": [["z", "z"]]}, columns))
      array([[0., 0., 2., 0., 0.]], dtype=float32)
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    check_key(key)
    found = as_dtype(dtype)
    check_string_or_integer(found, f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, found)


class _WeightedFields(NamedTuple):
    categorical_column: CategoricalColumn
    weight_feature_key: str
    dtype: DType


class WeightedCategoricalColumn(_WeightedFields, CategoricalColumn):
    """Categories, each with a weight; see `weighted_categorical_column`."""

    @property
    def name(self) -> str:
        """Return the names of both."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Return how both features are read.

        Raises:
          ValueError: they are one.
        """
        found = self.categorical_column.parse_example_spec
        if self.weight_feature_key in found:
            raise ValueError(
                f"Parse config {found[self.weight_feature_key]} already exists for "
                f"{self.weight_feature_key}."
            )
        return {**found, self.weight_feature_key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        """Return how many categories there are."""
        return self.categorical_column.num_buckets

    def transform_feature(self, features: Features) -> Any:
        """Return ids and weights; weights of 0 in dense features stand for none."""
        weights = convert_to_tensor_or_sparse_tensor(features.get(self.weight_feature_key))
        if self.dtype.base_dtype != weights.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype!r}, but got {weights.dtype!r}.")
        weights = to_sparse(weights, ignored=0)
        if not weights.dtype.is_floating:
            values = cast(weights.values, dtypes.float32)
            weights = SparseTensor(weights.indices, values, weights.dense_shape)
        return features.get(self.categorical_column), weights

    def get_sparse_tensors(self, features: Features) -> IdsAndWeights:
        """Return ids and weights."""
        return IdsAndWeights(*features.get(self))


def weighted_categorical_column(
    categorical_column: CategoricalColumn, weight_feature_key: str, dtype: Any = dtypes.float32
) -> WeightedCategoricalColumn:
    """Return a column of categories, each with a weight that stands in another feature.

    Args:
      categorical_column: column of categories.
      weight_feature_key: of the feature of weights.
      dtype: of that.

    Raises:
      ValueError: the dtype is no number.

    Example:
      >>> word = feature_column.categorical_column_with_identity("word", 2)
      >>> often = feature_column.weighted_categorical_column(word, "often")
      >>> features = {"word": [[0, 1]], "often": [[5.0, 7.0]]}
      >>> columns = [feature_column.indicator_column(often)]
      >>> Session().run(feature_column.input_layer(features, columns))
      array([[5., 7.]], dtype=float32)
    """
    found = as_dtype(dtype)
    if not (found.is_integer or found.is_floating):
        raise ValueError(f"dtype {found!r} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, found)
