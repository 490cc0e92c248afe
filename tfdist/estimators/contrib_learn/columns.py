"""Feature columns in the spelling of tf.contrib.layers: the same columns, layers of other names.

Source: TF 1.15 API documentation, tf.contrib.layers.real_valued_column and its relatives; names of
variables by experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.estimators.columns import dense as columns_dense
from tfdist.estimators.columns import numeric as columns_numeric
from tfdist.estimators.columns.categorical import (
    HashedCategoricalColumn,
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    weighted_categorical_column,
)
from tfdist.estimators.columns.crossed import CrossedColumn
from tfdist.estimators.columns.crossed import crossed_column as crossed
from tfdist.estimators.columns.feature_column import make_parse_example_spec
from tfdist.estimators.columns.layers import input_in_scope, linear_in_scope
from tfdist.estimators.columns.vocabulary import (
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)

__all__ = [
    "bucketized_column", "create_feature_spec_for_parsing", "crossed_column", "embedding_column",
    "input_from_feature_columns", "one_hot_column", "real_valued_column",
    "shared_embedding_columns", "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature", "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file", "weighted_sparse_column",
    "weighted_sum_from_feature_columns",
]  # fmt: skip

bucketized_column = columns_numeric.bucketized_column
create_feature_spec_for_parsing = make_parse_example_spec
embedding_column = columns_dense.embedding_column
one_hot_column = columns_dense.indicator_column


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer: Callable[[Any], Any] | None = None,
) -> columns_numeric.NumericColumn:
    """Return a column of numbers; see `tf.feature_column.numeric_column`.

    Args:
      column_name: key of the feature.
      dimension: how many numbers an example has.
      default_value: for examples without the feature.
      dtype: of the feature.
      normalizer: function of a tensor, applied first.

    Example:
      >>> contrib.layers.real_valued_column("age", 2).shape
      (2,)
    """
    return columns_numeric.numeric_column(
        column_name, (dimension,), default_value, dtype, normalizer
    )


def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
    hash_keys: None = None,
) -> HashedCategoricalColumn:
    """Return `tf.feature_column.categorical_column_with_hash_bucket`.

    Args:
      column_name: key of the feature.
      hash_bucket_size: how many buckets there are.
      combiner: "sum"; layers take another one.
      dtype: of the feature.
      hash_keys: not supported.

    Example:
      >>> contrib.layers.sparse_column_with_hash_bucket("word", 100).num_buckets
      100
    """
    _check_usual(combiner, hash_keys)
    return categorical_column_with_hash_bucket(column_name, hash_bucket_size, dtype)


def _check_usual(combiner: str, hash_keys: None = None) -> None:
    if combiner != "sum":
        raise NotImplementedError(
            f"a column's own combiner {combiner!r} is not supported; use embedding_column, or "
            "sparse_combiner of tf.feature_column.linear_model"
        )
    if hash_keys is not None:
        raise NotImplementedError("hash_keys are not supported; leave them away")


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = dtypes.int64
) -> Any:
    """Return `tf.feature_column.categorical_column_with_identity`.

    Args:
      column_name: key of the feature.
      bucket_size: how many ids there are.
      combiner: "sum".
      dtype: of the feature, an integer.

    Example:
      >>> contrib.layers.sparse_column_with_integerized_feature("day", 7).num_buckets
      7
    """
    _check_usual(combiner)
    return categorical_column_with_identity(column_name, bucket_size)


def sparse_column_with_keys(
    column_name: str,
    keys: Sequence[Any],
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
) -> Any:
    """Return `tf.feature_column.categorical_column_with_vocabulary_list`.

    Args:
      column_name: key of the feature.
      keys: words, or integers.
      default_value: what other words are; -1 for none.
      combiner: "sum".
      dtype: of the feature.

    Example:
      >>> contrib.layers.sparse_column_with_keys("colour", ["R", "G"]).num_buckets
      2
    """
    _check_usual(combiner)
    return categorical_column_with_vocabulary_list(column_name, keys, dtype, default_value)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
) -> Any:
    """Return `tf.feature_column.categorical_column_with_vocabulary_file`."""
    _check_usual(combiner)
    return categorical_column_with_vocabulary_file(
        column_name, vocabulary_file, vocab_size, num_oov_buckets, default_value, dtype
    )


def weighted_sparse_column(
    sparse_id_column: Any, weight_column_name: str, dtype: Any = dtypes.float32
) -> Any:
    """Return `tf.feature_column.weighted_categorical_column`.

    Example:
      >>> word = contrib.layers.sparse_column_with_hash_bucket("word", 9)
      >>> contrib.layers.weighted_sparse_column(word, "often").name
      'word_weighted_by_often'
    """
    return weighted_categorical_column(sparse_id_column, weight_column_name, dtype)


def crossed_column(
    columns: Iterable[Any],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: None = None,
    tensor_name_in_ckpt: None = None,
    hash_key: int | None = None,
) -> CrossedColumn:
    """Return `tf.feature_column.crossed_column`: its buckets; words of hashed columns are crossed.

    Args:
      columns: columns of categories.
      hash_bucket_size: how many buckets there are.
      combiner: "sum".
      ckpt_to_load_from: not supported.
      tensor_name_in_ckpt: not supported.
      hash_key: chooses the hash.

    Example:
      >>> word = contrib.layers.sparse_column_with_hash_bucket("word", 9)
      >>> day = contrib.layers.sparse_column_with_integerized_feature("day", 7)
      >>> contrib.layers.crossed_column([word, day], 20).name
      'day_X_word'
    """
    _check_usual(combiner)
    if ckpt_to_load_from is not None or tensor_name_in_ckpt is not None:
        raise NotImplementedError("crossed columns do not begin with what a checkpoint says")
    keys = [each.key if isinstance(each, HashedCategoricalColumn) else each for each in columns]
    return crossed(keys, hash_bucket_size, hash_key)


def shared_embedding_columns(
    sparse_id_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[Any]:
    """Return `tf.feature_column.shared_embedding_columns`."""
    found: list[Any] = columns_dense.shared_embedding_columns(
        sparse_id_columns, dimension, combiner, initializer, shared_embedding_name,
        ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
    )  # fmt: skip
    return found


def input_from_feature_columns(
    columns_to_tensors: Mapping[str, Any],
    feature_columns: Iterable[Any],
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    scope: str | None = None,
    cols_to_outs: MutableMapping[Any, Any] | None = None,
) -> Any:
    """Return what columns make of features, side by side; see `tf.feature_column.input_layer`.

    Args:
      columns_to_tensors: features by name.
      feature_columns: columns that give numbers.
      weight_collections: collections to which variables are added.
      trainable: whether variables are learned.
      scope: name of the scope.
      cols_to_outs: takes what each column gives.

    Example:
      >>> age = contrib.layers.real_valued_column("age")
      >>> contrib.layers.input_from_feature_columns({"age": [[3.0], [4.0]]}, [age]).shape
      TensorShape([Dimension(2), Dimension(1)])
    """
    return input_in_scope(
        (scope, "input_from_feature_columns", _with_weights), columns_to_tensors, feature_columns,
        weight_collections, trainable, None, cols_to_outs,
    )  # fmt: skip


# Name of a variable here -> in tf.contrib.layers.
_NAMES = {"embedding_weights": "weights", "bias_weights": "bias_weight"}


def _with_weights(getter: Any, name: str, *arguments: Any, **options: Any) -> Any:
    """Get a variable under the name that tf.contrib.layers gives it."""
    path, slash, last = name.rpartition("/")
    return getter(f"{path}{slash}{_NAMES.get(last, last)}", *arguments, **options)


def weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[str, Any],
    feature_columns: Iterable[Any],
    num_outputs: int,
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, dict[Any, Any], Any]:
    """Return weighted sums, the weights of each column, and the bias: a linear model.

    Args:
      columns_to_tensors: features by name.
      feature_columns: columns.
      num_outputs: how many sums there are.
      weight_collections: collections to which variables are added.
      trainable: whether variables are learned.
      scope: name of the scope.

    Example:
      >>> age = contrib.layers.real_valued_column("age")
      >>> sums, weights, bias = contrib.layers.weighted_sum_from_feature_columns(
      ...     {"age": [[3.0], [4.0]]}, [age], num_outputs=2
      ... )
      >>> sums.shape, bias.name
      (TensorShape([Dimension(2), Dimension(2)]), 'weighted_sum_from_feature_columns/bias_weight:0')
    """
    weights: dict[Any, Any] = {}
    sums = linear_in_scope(
        (scope, "weighted_sum_from_feature_columns", _with_weights), columns_to_tensors,
        feature_columns, num_outputs, "sum", weight_collections, trainable, weights, "weight",
    )  # fmt: skip
    [bias] = weights.pop("bias")
    return sums, weights, bias
