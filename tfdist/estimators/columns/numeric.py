"""Columns of numbers: as they are, or in buckets.

Source: TF 1.15 API documentation, tf.feature_column.numeric_column and bucketized_column; messages
by experiment.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType, as_dtype
from tfdist.base.tensor_shape import TensorShape
from tfdist.estimators.columns.feature_column import (
    CategoricalColumn,
    DenseColumn,
    Features,
    IdsAndWeights,
    check_key,
)
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import stack
from tfdist.ops.array.one_hot import one_hot
from tfdist.ops.array.range import range as range_
from tfdist.ops.array.reshape import expand_dims, reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.io.feature_specs import FixedLenFeature
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__ = ["bucketized_column", "numeric_column"]


class _NumericFields(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: DType
    normalizer_fn: Callable[[Any], Any] | None


class NumericColumn(_NumericFields, DenseColumn):
    """Numbers; see `numeric_column`."""

    @property
    def name(self) -> str:
        """Return the feature's key."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Return how the feature is read."""
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> TensorShape:
        """Return the shape of an example."""
        return TensorShape(self.shape)

    def transform_feature(self, features: Features) -> Any:
        """Return the numbers as float32, normalised."""
        found = features.get(self.key)
        if isinstance(found, SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is "
                f"not supported. key: {self.key}"
            )
        if self.normalizer_fn is not None:
            found = self.normalizer_fn(found)
        return cast(found, dtypes.float32)

    def get_dense_tensor(self, features: Features, trainable: bool, collections: Any) -> Any:
        """Return the numbers."""
        return features.get(self)


def numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer_fn: Callable[[Any], Any] | None = None,
) -> NumericColumn:
    """Return a column of numbers.

    Args:
      key: of the feature.
      shape: of an example's numbers, or how many there are.
      default_value: for examples without the feature: one for all numbers, or one for each.
      dtype: of the feature.
      normalizer_fn: function of a tensor, applied first.

    Raises:
      TypeError: shape, default or function is of the wrong type.
      ValueError: the key is no string, the dtype no number, or shapes differ.

    Example:
      >>> age = feature_column.numeric_column("age", normalizer_fn=lambda age: age / 100.0)
      >>> Session().run(feature_column.input_layer({"age": [[20.0], [50.0]]}, [age]))
      array([[0.2],
             [0.5]], dtype=float32)
    """
    check_key(key)
    dims = _dims(shape, key)
    found = as_dtype(dtype)
    if not (found.is_integer or found.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype!r}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return NumericColumn(key, dims, _default(default_value, dims, found, key), found, normalizer_fn)


def _dims(shape: Any, key: str) -> tuple[int, ...]:
    dims = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    for each in dims:
        if not isinstance(each, int | np.integer):
            raise TypeError(f"shape dimensions must be integer. shape: {dims}, key: {key}")
        if each < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {dims}, key: {key}")
    return tuple(int(each) for each in dims)


def _default(value: Any, dims: tuple[int, ...], dtype: DType, key: str) -> Any:
    """Return a default for each number of an example, in tuples; None without one."""
    if value is None:
        return None
    found = np.asarray(value)
    if found.dtype.kind not in "iuf" or (found.dtype.kind == "f" and dtype.is_integer):
        raise TypeError(
            f"default_value must be compatible with dtype. default_value: {value}, dtype: "
            f"{dtype!r}, key: {key}"
        )
    if found.ndim and found.shape != dims:
        raise ValueError(
            "The shape of default_value must be equal to given shape. default_value: "
            f"{value}, shape: {dims}, key: {key}"
        )
    return _in_tuples(np.broadcast_to(found, dims).astype(dtype.as_numpy_dtype).tolist())


def _in_tuples(value: Any) -> Any:
    return tuple(_in_tuples(each) for each in value) if isinstance(value, list) else value


class _BucketizedFields(NamedTuple):
    source_column: NumericColumn
    boundaries: tuple[float, ...]


class BucketizedColumn(_BucketizedFields, DenseColumn, CategoricalColumn):
    """Numbers in buckets; see `bucketized_column`."""

    @property
    def name(self) -> str:
        """Return the source's name with an ending."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Return how the source is read."""
        return self.source_column.parse_example_spec

    @property
    def _depth(self) -> int:
        return len(self.boundaries) + 1

    @property
    def variable_shape(self) -> TensorShape:
        """Return the shape of an example: a one for the bucket of each number."""
        return TensorShape([*self.source_column.shape, self._depth])

    @property
    def num_buckets(self) -> int:
        """Return how many buckets all numbers have."""
        return self._depth * self.source_column.shape[0]

    def transform_feature(self, features: Features) -> Any:
        """Return the bucket of each number."""
        found = features.get(self.source_column)
        return raw.Bucketize(found, boundaries=list(self.boundaries))

    def get_dense_tensor(self, features: Features, trainable: bool, collections: Any) -> Any:
        """Return a one for the bucket of each number."""
        return one_hot(cast(features.get(self), dtypes.int64), self._depth, 1.0, 0.0)

    def get_sparse_tensors(self, features: Features) -> IdsAndWeights:
        """Return the buckets as ids; those of a second number come after those of the first."""
        found = features.get(self)
        dims: Any = shape(found)
        batch, width = dims[0], self.source_column.shape[0]
        rows = reshape(raw.Tile(expand_dims(range_(0, batch), 1), [1, width]), (-1,))
        columns: Any = raw.Tile(range_(0, width), [batch])
        flat: Any = reshape(found, (-1,))
        values = flat + self._depth * columns
        indices = cast(transpose(stack([rows, columns])), dtypes.int64)
        both = cast(stack([batch, width]), dtypes.int64)
        return IdsAndWeights(SparseTensor(indices, values, both), None)


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> BucketizedColumn:
    """Return a column of buckets: which of the ranges between boundaries a number is in.

    Args:
      source_column: what `numeric_column` returned, of rank 1.
      boundaries: where the buckets end, ascending; a boundary belongs to the bucket above it.

    Raises:
      ValueError: it is none of these.

    Example:
      >>> age = feature_column.numeric_column("age")
      >>> old = feature_column.bucketized_column(age, [18, 65])
      >>> Session().run(feature_column.input_layer({"age": [[20.0], [70.0]]}, [old]))
      array([[0., 1., 0.],
             [0., 0., 1.]], dtype=float32)
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            "source_column must be a column generated with numeric_column(). Given: "
            f"{source_column}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, list | tuple) or any(
        low >= high for low, high in itertools.pairwise(boundaries)
    ):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))
