"""`tf.parse_example`, `tf.parse_single_example`: features of serialized `Example`s to tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.io import parse_example_ops as _kernels  # the ops must be registered
from tfdist.ops.io.feature_specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    Request,
    SparseFeature,
    VarLenFeature,
    gathered,
)
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__ = ["parse_example", "parse_single_example"]

_ALLOWED = (FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, SparseFeature)
del _kernels


def parse_example(
    serialized: Any,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: Any = None,
) -> dict[str, Any]:
    """Return the features of a batch of serialized `Example`s: `tf.io.parse_example`.

    Args:
      serialized: strings [batch].
      features: what is wanted: a dict from keys to `FixedLenFeature`, `VarLenFeature`,
        `FixedLenSequenceFeature` or `SparseFeature`.
      name: of the nodes.
      example_names: strings [batch], for messages.

    Returns:
      A dict from keys to tensors [batch, ...] and `SparseTensor`s.

    Raises:
      ValueError: a feature does not tell enough.
      InvalidArgumentError: when it runs and an example lacks a feature that it must have, or has
        other values, or is no Example.

    Example:
      >>> example = train.Example()
      >>> example.features.feature["x"].float_list.value.extend([1.0, 2.0])
      >>> serialized = [example.SerializeToString()]
      >>> found = parse_example(serialized, {"x": FixedLenFeature([2], "float32")})
      >>> Session().run(found["x"])
      array([[1., 2.]], dtype=float32)
    """
    request = _request(features)
    with scopes.name_scope(name, "ParseExample", [serialized, example_names]):
        defaults = request.defaults()
        outputs = raw.ParseExample(
            serialized,
            np.zeros(0, object) if example_names is None else example_names,
            list(request.sparse), list(request.dense), defaults,
            sparse_types=request.sparse_types, dense_shapes=request.dense_shapes(),
            name=name or "ParseExample",
        )  # fmt: skip
        sparse = _sparse(request, outputs)
    return gathered(features, request, sparse, outputs[3 * len(sparse) :])


def _request(features: Mapping[str, Any]) -> Request:
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    return Request(features, _ALLOWED)


def _sparse(request: Request, outputs: Sequence[Tensor]) -> list[SparseTensor]:
    count = len(request.sparse)
    parts = [outputs[place * count : (place + 1) * count] for place in range(3)]
    return [SparseTensor(*each) for each in zip(*parts, strict=True)]


def parse_single_example(
    serialized: Any,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: Any = None,
) -> dict[str, Any]:
    """Return the features of one serialized `Example`: `tf.io.parse_single_example`.

    Args:
      serialized: a scalar string.
      features: what is wanted; see `parse_example`.
      name: of the nodes.
      example_names: a scalar string, for messages.

    Returns:
      As `parse_example`, without the first dimension.

    Raises:
      ValueError: see `parse_example`.
      InvalidArgumentError: see `parse_example`.
    """
    request = _request(features)
    if example_names is not None:
        return _one_of_a_batch(serialized, features, name, example_names)
    with scopes.name_scope(name, "ParseSingleExample", [serialized]):
        outputs = raw.ParseSingleExample(
            convert_to_tensor(serialized, dtypes.string, "serialized"), request.defaults(),
            num_sparse=len(request.sparse), sparse_keys=list(request.sparse),
            dense_keys=list(request.dense), sparse_types=request.sparse_types,
            dense_shapes=request.dense_shapes(), name=name or "ParseSingleExample",
        )  # fmt: skip
        sparse = _sparse(request, outputs)
    return gathered(features, request, sparse, outputs[3 * len(sparse) :])


def _one_of_a_batch(
    serialized: Any, features: Mapping[str, Any], name: str | None, example_name: Any
) -> dict[str, Any]:
    """Return the features of a batch of one, whose name messages tell."""
    with scopes.name_scope(name, "ParseSingleExample", [serialized, example_name]):
        record = convert_to_tensor(serialized, dtypes.string)
        batch = raw.ExpandDims(record, 0, name="ExpandDims")
        label = convert_to_tensor(example_name, dtypes.string)
        found = parse_example(batch, features, None, raw.ExpandDims(label, 0, name="ExpandDims"))
        return {key: _first(key, value) for key, value in found.items()}


def _first(key: str, value: Any) -> Any:
    if isinstance(value, SparseTensor):
        indices, shape = value.indices[:, 1:], value.dense_shape[1:]  # type: ignore[index]
        return SparseTensor(indices, value.values, shape)
    return raw.Squeeze(value, squeeze_dims=[0], name=f"Squeeze_{key}")
