"""Feature columns: what they have in common, and features on their way through them.

A column says what becomes of a feature, a raw tensor in a dict: `transform_feature` makes ids or
numbers of it, once for all columns that need them; `get_dense_tensor` or `get_sparse_tensors` what
a layer takes.

Source: TF 1.15 API documentation, tf.feature_column; messages by experiment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.array.gather_nd import gather_nd
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.array.shape import shape
from tfdist.ops.math.comparison import where
from tfdist.ops.sparse.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor

__all__ = ["make_parse_example_spec"]


class FeatureColumn:
    """What becomes of a feature."""

    @property
    def name(self) -> str:
        """Return the name, of which there is one in a layer."""
        raise NotImplementedError

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Return how `tf.parse_example` reads its features."""
        raise NotImplementedError

    def transform_feature(self, features: Features) -> Any:
        """Return what is the same for all columns and layers that use this one."""
        raise NotImplementedError


class DenseColumn(FeatureColumn):
    """A column that gives numbers."""

    @property
    def variable_shape(self) -> TensorShape:
        """Return the shape of an example's numbers."""
        raise NotImplementedError

    @property
    def scope_name(self) -> str:
        """Return the name of the scope of its variables."""
        return self.name

    def get_dense_tensor(self, features: Features, trainable: bool, collections: Any) -> Any:
        """Return float [batch, ...]."""
        raise NotImplementedError


class IdsAndWeights(NamedTuple):
    """What a categorical column gives.

    Attributes:
      ids: SparseTensor of int64.
      weights: SparseTensor of floats, or None.
    """

    ids: SparseTensor
    weights: SparseTensor | None


class CategoricalColumn(FeatureColumn):
    """A column that gives ids of categories."""

    @property
    def num_buckets(self) -> int:
        """Return how many categories there are."""
        raise NotImplementedError

    def get_sparse_tensors(self, features: Features) -> IdsAndWeights:
        """Return ids, and weights if there are any."""
        return IdsAndWeights(features.get(self), None)


class Features:
    """Raw features by name, and what columns have made of them.

    Args:
      features: a dict of tensors and SparseTensors.
    """

    def __init__(self, features: Mapping[str, Any]) -> None:
        if not isinstance(features, Mapping):
            raise ValueError(
                f"features must be a dict from the keys that columns name, got {features!r}"
            )
        self._features = dict(features)
        self._made: dict[Any, Any] = {}

    def get(self, key: Any) -> Any:
        """Return a raw feature, [batch] as [batch, 1]; or what a column makes of it.

        Raises:
          ValueError: there is no such feature.
        """
        if key not in self._made:
            self._made[key] = (
                self._raw(key) if isinstance(key, str) else key.transform_feature(self)
            )
        return self._made[key]

    def _raw(self, key: str) -> Any:
        if key not in self._features:
            known = ", ".join(sorted(map(str, self._features)))
            raise ValueError(f"Feature {key} is not in features dictionary, which has: {known}.")
        feature = convert_to_tensor_or_sparse_tensor(self._features[key])
        rank = feature.get_shape().ndims
        if rank == 0:
            raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {feature}")
        if rank != 1:
            return feature
        if isinstance(feature, SparseTensor):
            raise ValueError(f"Feature (key: {key}) is sparse, and of rank 1: wanted 2 or more.")
        return expand_dims(feature, -1)


def check_key(key: Any) -> None:
    """Raise ValueError unless a feature's key is a string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def to_sparse(feature: Any, ignored: Any = None) -> SparseTensor:
    """Return the elements of a tensor that count: all but those that stand for "nothing".

    Args:
      feature: a tensor or a SparseTensor.
      ignored: the value that stands for nothing; by default "" of strings and -1 of integers.
    """
    feature = convert_to_tensor_or_sparse_tensor(feature)
    if isinstance(feature, SparseTensor):
        return feature
    with scopes.name_scope(None, "to_sparse_input", [feature]):
        if ignored is None:
            ignored = "" if feature.dtype == dtypes.string else -1
        nothing = cast(ignored, feature.dtype, name="ignore_value")
        indices = where(raw.NotEqual(feature, nothing), name="indices")
        values = gather_nd(feature, indices, name="values")
        return SparseTensor(indices, values, shape(feature, "dense_shape", dtypes.int64))


def make_parse_example_spec(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """Return how `tf.parse_example` reads all features of some columns.

    Args:
      feature_columns: columns.

    Raises:
      ValueError: one is no column, or two read one feature in two ways.

    Example:
      >>> age = feature_column.numeric_column("age")
      >>> feature_column.make_parse_example_spec([age])
      {'age': FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)}
    """
    found: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                f"All feature_columns must be _FeatureColumn instances. Given: {column}"
            )
        for key, wanted in column.parse_example_spec.items():
            if found.setdefault(key, wanted) != wanted:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {wanted} "
                    f"and {found[key]}"
                )
    return found
