"""What programs want of an `Example`: `tf.FixedLenFeature` and its like, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.convert import constant, convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.sparse.conversions import sparse_merge
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__ = ["FixedLenFeature", "FixedLenSequenceFeature", "SparseFeature", "VarLenFeature"]


class FixedLenFeature(NamedTuple):
    """A feature of one shape: gives a tensor.

    Attributes:
      shape: of an example's values.
      dtype: float32, int64 or string.
      default_value: what an example without the feature has; by default it must have it.
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature of any number of values: gives a `SparseTensor`.

    Attributes:
      dtype: float32, int64 or string.
    """

    dtype: Any


class FixedLenSequenceFeature(NamedTuple):
    """A feature of any number of rows of one shape: gives a tensor, filled up to the longest.

    Attributes:
      shape: of a row.
      dtype: float32, int64 or string.
      allow_missing: whether an example without the feature has no rows; outside of sequences it
        must be True.
      default_value: the one value that rows are filled with; by default 0 or "".
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """Places and values in two features: gives a `SparseTensor`.

    Attributes:
      index_key: the feature with the places, int64; or a list, one for each dimension.
      value_key: the feature with the values.
      dtype: float32, int64 or string.
      size: of the dimension; or a list.
      already_sorted: whether the places stand in order.
    """

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


_Single = FixedLenFeature | FixedLenSequenceFeature


class Request:
    """What the ops are asked for: keys in order, types, shapes, defaults.

    Args:
      features: mapping from keys to features.
      allowed: classes that may stand there.

    Raises:
      ValueError: a feature is of another class, or has no type, no shape, or an unknown one.
    """

    def __init__(self, features: Mapping[str, Any], allowed: tuple[type, ...]) -> None:
        self.sparse: dict[str, DType] = {}
        self.dense: dict[str, _Single] = {}
        for key in sorted(features):
            feature = features[key]
            if not isinstance(
                feature, FixedLenFeature | VarLenFeature | FixedLenSequenceFeature | SparseFeature
            ):
                raise ValueError(f"Invalid feature {key}:{feature}.")
            if not isinstance(feature, allowed):
                raise ValueError(f"Unsupported {type(feature).__name__} {feature}.")
            if not feature.dtype:
                raise ValueError(f"Missing type for feature {key}.")
            self._add(key, feature)

    def _add(self, key: str, feature: Any) -> None:
        if isinstance(feature, VarLenFeature):
            self._add_sparse(key, feature.dtype)
        elif isinstance(feature, SparseFeature):
            for index_key in _listed(feature.index_key):
                self._add_sparse(index_key, dtypes.int64)
            self._add_sparse(feature.value_key, feature.dtype)
        else:
            _check_shape(key, feature)
            self.dense[key] = feature

    def _add_sparse(self, key: str, dtype: Any) -> None:
        wanted = dtypes.as_dtype(dtype)
        if self.sparse.setdefault(key, wanted) is not wanted:
            raise ValueError(f"Conflicting type {self.sparse[key]} vs {wanted} for feature {key}.")

    @property
    def sparse_types(self) -> list[DType]:
        """Return the types of the sparse features."""
        return list(self.sparse.values())

    @property
    def dense_types(self) -> list[DType]:
        """Return the types of the dense features."""
        return [dtypes.as_dtype(feature.dtype) for feature in self.dense.values()]

    def dense_shapes(self, with_rows: bool = True) -> list[TensorShape]:
        """Return the shapes of the dense features.

        Args:
          with_rows: whether a sequence has an unknown number of rows in front, as in examples.
        """
        return [
            TensorShape([None]).concatenate(feature.shape)
            if with_rows and isinstance(feature, FixedLenSequenceFeature)
            else TensorShape(feature.shape)
            for feature in self.dense.values()
        ]

    def defaults(self) -> list[Tensor]:
        """Return the tensors of the dense features' defaults; one of no value where there is none.

        Raises:
          ValueError: a default does not fit its shape, or a sequence must not be missing.
        """
        return [_default(key, feature) for key, feature in self.dense.items()]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _check_shape(key: str, feature: _Single) -> None:
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {key}.")
    dims = TensorShape(feature.shape).as_tuple()
    if dims and dims[0] is None:
        raise ValueError(
            f"First dimension of shape for feature {key} unknown. "
            "Consider using FixedLenSequenceFeature."
        )
    if dims is None or None in dims:
        raise ValueError(
            f"All dimensions of shape for feature {key} need to be known but received "
            f"{feature.shape}."
        )


def _default(key: str, feature: _Single) -> Tensor:
    dtype = dtypes.as_dtype(feature.dtype)
    is_sequence = isinstance(feature, FixedLenSequenceFeature)
    if is_sequence and not feature.allow_missing:  # type: ignore[union-attr]
        raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
    if feature.default_value is None:
        zero = b"" if dtype is dtypes.string else 0
        return constant(zero if is_sequence else [], dtype)
    start = "padding_" if is_sequence else "key_"
    name = start + re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)
    value = convert_to_tensor(feature.default_value, dtype, name)
    shape = [] if is_sequence else TensorShape(feature.shape).as_list()
    reshaped: Tensor = raw.Reshape(value, shape, name="Reshape")
    return reshaped


def gathered(
    features: Mapping[str, Any], request: Request, sparse: Sequence[SparseTensor],
    dense: Sequence[Tensor],
) -> dict[str, Any]:  # fmt: skip
    """Return what each feature gives, by its key.

    Args:
      features: what was wanted.
      request: what was asked of the op for that.
      sparse: what it gave, in the order of the request.
      dense: see `sparse`.
    """
    by_key: dict[str, Any] = {**dict(zip(request.sparse, sparse, strict=True))}
    kinds = {key: feature for key, feature in sorted(features.items())}
    found = {key: by_key[key] for key, kind in kinds.items() if isinstance(kind, VarLenFeature)}
    found |= dict(zip(request.dense, dense, strict=True))
    for key, kind in kinds.items():
        if isinstance(kind, SparseFeature):
            found[key] = _merged(kind, by_key)
    return found


def _merged(feature: SparseFeature, by_key: Mapping[str, SparseTensor]) -> SparseTensor:
    """Return the values at the places that other features tell."""
    places = [by_key[key] for key in _listed(feature.index_key)]
    values = by_key[feature.value_key]
    return sparse_merge(places, values, _listed(feature.size), None, feature.already_sorted)
