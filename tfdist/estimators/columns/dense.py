"""Columns that make numbers of categories: ones at their places, or vectors that are learned.

Source: TF 1.15 API documentation, tf.feature_column.indicator_column, embedding_column and
shared_embedding_columns; messages by experiment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.estimators.columns.categorical import WeightedCategoricalColumn
from tfdist.estimators.columns.feature_column import DenseColumn, Features, IdsAndWeights
from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.ops.array.concat import concat
from tfdist.ops.array.one_hot import one_hot
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.array.scatter_nd import scatter_nd
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn.embedding_lookup_sparse import safe_embedding_lookup_sparse
from tfdist.ops.sparse.rows import sparse_retain
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.ops.sparse.to_dense import sparse_tensor_to_dense
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import truncated_normal_initializer
from tfdist.training.saving.checkpoint_initializers import init_from_checkpoint

__all__ = ["embedding_column", "indicator_column", "shared_embedding_columns"]


class _IndicatorFields(NamedTuple):
    categorical_column: Any


class IndicatorColumn(_IndicatorFields, DenseColumn):
    """Ones at the places of categories; see `indicator_column`."""

    @property
    def name(self) -> str:
        """Return the name of the categories with an ending."""
        return f"{self.categorical_column.name}_indicator"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Return how the categories are read."""
        return self.categorical_column.parse_example_spec  # type: ignore[no-any-return]

    @property
    def variable_shape(self) -> TensorShape:
        """Return the shape of an example: a number for each category."""
        return TensorShape([1, self.categorical_column.num_buckets])

    def transform_feature(self, features: Features) -> Any:
        """Return how often each category is there, or its weight."""
        ids, weights = self.categorical_column.get_sparse_tensors(features)
        depth = self.categorical_column.num_buckets
        if weights is not None:
            return _weights_at(ids, weights, depth)
        dense = sparse_tensor_to_dense(ids, default_value=-1)
        return reduce_sum(one_hot(dense, depth, 1.0, 0.0), axis=[-2])

    def get_dense_tensor(self, features: Features, trainable: bool, collections: Any) -> Any:
        """Return the same."""
        return features.get(self)


def _weights_at(ids: SparseTensor, weights: SparseTensor, depth: int) -> Any:
    """Return weights at the places of their ids, those of one id added up."""
    is_known = raw.GreaterEqual(ids.values, 0)
    weights = SparseTensor(ids.indices, weights.values, ids.dense_shape)
    ids, weights = sparse_retain(ids, is_known), sparse_retain(weights, is_known)
    rank = ids.dense_shape.shape[0].value
    rows = raw.Slice(ids.indices, [0, 0], [-1, rank - 1])
    places = concat([rows, expand_dims(ids.values, -1)], 1)
    last = _one(depth)
    dims = concat([raw.Slice(ids.dense_shape, [0], [rank - 1]), last], 0)
    return scatter_nd(places, weights.values, dims)


def _one(depth: int) -> Any:
    """Return a number as int64 [1]."""
    return raw.Const(value=[depth], dtype=dtypes.int64)


def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """Return a column that has, for each category, how often it is there.

    Args:
      categorical_column: column of categories.

    Example:
      >>> word = feature_column.categorical_column_with_identity("word", 3)
      >>> columns = [feature_column.indicator_column(word)]
      >>> Session().run(feature_column.input_layer({"word": [[2, 2, 0]]}, columns))
      array([[1., 0., 2.]], dtype=float32)
    """
    return IndicatorColumn(categorical_column)


class _EmbeddingFields(NamedTuple):
    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class _Embedding(DenseColumn):
    """What both kinds of embeddings have in common: a table, and rows of it."""

    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Return how the categories are read."""
        return self.categorical_column.parse_example_spec  # type: ignore[no-any-return]

    @property
    def variable_shape(self) -> TensorShape:
        """Return the shape of an example: a vector."""
        return TensorShape([self.dimension])

    def transform_feature(self, features: Features) -> IdsAndWeights:
        """Return ids and weights."""
        return self.categorical_column.get_sparse_tensors(features)  # type: ignore[no-any-return]

    def _table(self, trainable: bool, collections: Any) -> Any:
        """Return the table, a new variable."""
        table = get_variable(
            "embedding_weights",
            [self.categorical_column.num_buckets, self.dimension],
            dtypes.float32,
            self.initializer,
            trainable=self.trainable and trainable,
            collections=collections,
        )
        if self.ckpt_to_load_from is not None:
            init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt or "": table})
        return table

    def _looked_up(self, table: Any, features: Features) -> Any:
        ids, weights = features.get(self)
        return safe_embedding_lookup_sparse(
            table, ids, weights, self.combiner, name=f"{self.name}_weights", max_norm=self.max_norm
        )


class EmbeddingColumn(_EmbeddingFields, _Embedding):
    """Vectors that are learned; see `embedding_column`."""

    @property
    def name(self) -> str:
        """Return the name of the categories with an ending."""
        return f"{self.categorical_column.name}_embedding"

    def get_dense_tensor(self, features: Features, trainable: bool, collections: Any) -> Any:
        """Return the vectors of each example's categories, combined."""
        features.get(self)  # the nodes of ids come before those of the table, as in TensorFlow
        return self._looked_up(self._table(trainable, collections), features)


def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """Return a column of vectors that are learned, one for each category.

    Args:
      categorical_column: column of categories.
      dimension: how many numbers a vector has.
      combiner: what becomes of several categories: "mean", "sqrtn" or "sum".
      initializer: of the table; normal numbers of deviation 1 / sqrt(dimension) by default.
      ckpt_to_load_from: checkpoint that has the table.
      tensor_name_in_ckpt: name of the table there.
      max_norm: vectors are scaled down to this norm, if it is given.
      trainable: whether the table is learned.

    Raises:
      ValueError: the dimension is not positive, the initializer no function, or one of both parts
        of the checkpoint is missing.

    Example:
      >>> word = feature_column.categorical_column_with_identity("word", 100)
      >>> column = feature_column.embedding_column(word, 4)
      >>> feature_column.input_layer({"word": [[7, 9]]}, [column]).shape
      TensorShape([Dimension(1), Dimension(4)])
      >>> trainable_variables()[0].name
      'input_layer/word_embedding/embedding_weights:0'
    """
    _check_table(dimension, ckpt_to_load_from, tensor_name_in_ckpt)
    if initializer is not None and not callable(initializer):
        raise ValueError(
            "initializer must be callable if specified. Embedding of column_name: "
            f"{categorical_column.name}"
        )
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer or _usual(dimension),
        ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
    )  # fmt: skip


def _usual(dimension: int) -> Any:
    return truncated_normal_initializer(0.0, 1 / math.sqrt(dimension))


def _check_table(dimension: Any, path: str | None, tensor_name: str | None) -> None:
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (path is None) != (tensor_name is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )


class _SharedFields(NamedTuple):
    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    shared_embedding_collection_name: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class SharedEmbeddingColumn(_SharedFields, _Embedding):
    """Vectors of a table that several columns use; see `shared_embedding_columns`."""

    @property
    def name(self) -> str:
        """Return the name of the categories with an ending."""
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def scope_name(self) -> str:
        """Return the name of the table."""
        return self.shared_embedding_collection_name

    def get_dense_tensor(self, features: Features, trainable: bool, collections: Any) -> Any:
        """Return the vectors of each example's categories, combined."""
        features.get(self)
        found = scopes.get_collection(self.shared_embedding_collection_name)
        if not found:
            table = self._table(trainable, collections)
            scopes.add_to_collection(self.shared_embedding_collection_name, table)
            found = [table]
        return self._looked_up(found[0], features)


def shared_embedding_columns(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedEmbeddingColumn]:
    """Return columns of vectors of one table; see `embedding_column`.

    Args:
      categorical_columns: columns of one kind, of as many categories.
      dimension: as the rest: see `embedding_column`.
      shared_embedding_collection_name: of the table; made of the columns' names by default.

    Raises:
      ValueError: the columns differ; or as for `embedding_column`.

    Example:
      >>> seen = feature_column.categorical_column_with_identity("seen", 10)
      >>> bought = feature_column.categorical_column_with_identity("bought", 10)
      >>> columns = feature_column.shared_embedding_columns([seen, bought], 2)
      >>> feature_column.input_layer({"seen": [[1]], "bought": [[2]]}, columns).shape
      TensorShape([Dimension(1), Dimension(4)])
      >>> [variable.name for variable in trainable_variables()]
      ['input_layer/bought_seen_shared_embedding/embedding_weights:0']
    """
    _check_table(dimension, ckpt_to_load_from, tensor_name_in_ckpt)
    if initializer is not None and not callable(initializer):
        raise ValueError("initializer must be callable if specified.")
    initializer = initializer or _usual(dimension)
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    for column in ordered[1:]:
        _check_alike(ordered[0], column)
    name = shared_embedding_collection_name
    if not name:
        name = "_".join(column.name for column in ordered) + "_shared_embedding"
    return [
        SharedEmbeddingColumn(
            column, dimension, combiner, initializer, name,
            ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
        )
        for column in categorical_columns
    ]  # fmt: skip


def _check_alike(one: Any, other: Any) -> None:
    """Raise ValueError unless two columns can use one table."""
    plain = [
        each.categorical_column if isinstance(each, WeightedCategoricalColumn) else each
        for each in (one, other)
    ]
    if type(plain[0]) is not type(plain[1]):
        raise ValueError(
            "To use shared_embedding_column, all categorical_columns must have the same type, or "
            f"be weighted_categorical_column of the same type. Given column: {one} of type: "
            f"{type(one)} does not match given column: {other} of type: {type(other)}"
        )
    if one.num_buckets != other.num_buckets:
        raise ValueError(
            "To use shared_embedding_column, all categorical_columns must have the same number of "
            f"buckets. Given column: {one} with buckets: {one.num_buckets} does  not match column: "
            f"{other} with buckets: {other.num_buckets}"
        )
