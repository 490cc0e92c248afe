"""`tf.parse_single_sequence_example` and `tf.io.parse_sequence_example`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.io import parse_sequence_ops as _kernels  # the ops must be registered
from tfdist.ops.io.feature_specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    Request,
    VarLenFeature,
    gathered,
)
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__ = ["parse_sequence_example", "parse_single_sequence_example"]

del _kernels

Features = Mapping[str, Any] | None


class _Requests:
    """What is wanted of context and sequence, and what the op is told of it.

    Args:
      context: features of the context, or None.
      sequence: features of the steps, or None.
    """

    def __init__(self, context: Features, sequence: Features) -> None:
        if not (context or sequence):
            raise ValueError("Missing features.")
        self._features = (context or {}, sequence or {})
        self.context = Request(self._features[0], (FixedLenFeature, VarLenFeature))
        self.lists = Request(self._features[1], (FixedLenSequenceFeature, VarLenFeature))
        self.may_miss = [
            key
            for key, feature in self.lists.dense.items()
            if feature.allow_missing  # type: ignore[union-attr]
        ]

    def attrs(self) -> dict[str, Any]:
        """Return the attributes that both ops have."""
        return {
            "Nfeature_list_dense": len(self.lists.dense),
            "Ncontext_sparse": len(self.context.sparse),
            "Nfeature_list_sparse": len(self.lists.sparse),
            "Ncontext_dense": len(self.context.dense),
            "context_sparse_types": self.context.sparse_types,
            "context_dense_shapes": self.context.dense_shapes(),
            "feature_list_sparse_types": self.lists.sparse_types,
            "feature_list_dense_types": self.lists.dense_types,
            "feature_list_dense_shapes": self.lists.dense_shapes(with_rows=False),
        }

    def results(self, outputs: Sequence[Tensor]) -> tuple[Any, Any, Any]:
        """Return what the features of context and steps give, and how many steps there are."""
        left = list(outputs)
        found = []
        for features, request in zip(self._features, (self.context, self.lists), strict=True):
            sparse = [_take(left, len(request.sparse)) for _ in range(3)]
            parts = [SparseTensor(*each) for each in zip(*sparse, strict=True)]
            found.append(gathered(features, request, parts, _take(left, len(request.dense))))
        lengths = dict(zip(self.lists.dense, left, strict=True)) if left else {}
        return found[0], found[1], lengths


def _take(values: list[Any], count: int) -> list[Any]:
    """Remove the first `count` values, and return them."""
    taken = values[:count]
    del values[:count]
    return taken


def parse_single_sequence_example(
    serialized: Any,
    context_features: Features = None,
    sequence_features: Features = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the features of a serialized `SequenceExample`: of its context, and of its steps.

    Args:
      serialized: a scalar string.
      context_features: a dict from keys to `FixedLenFeature` or `VarLenFeature`.
      sequence_features: a dict from keys to `FixedLenSequenceFeature`, of a step, or
        `VarLenFeature`.
      example_name: a scalar string, for messages.
      name: of the nodes.

    Returns:
      Two dicts: from keys of the context to tensors, and from keys of the steps to tensors
      [steps, ...]; both with `SparseTensor`s for features of variable length.

    Raises:
      ValueError: a feature does not tell enough.
      InvalidArgumentError: when it runs and something is missing, or has other values.
    """
    wanted = _Requests(context_features, sequence_features)
    with scopes.name_scope(name, "ParseSingleSequenceExample", [serialized, example_name]):
        outputs = raw.ParseSingleSequenceExample(
            serialized,
            np.array(wanted.may_miss, object),
            list(wanted.context.sparse), list(wanted.context.dense), list(wanted.lists.sparse),
            list(wanted.lists.dense), wanted.context.defaults(),
            "" if example_name is None else example_name,
            name=name or "ParseSingleSequenceExample", **wanted.attrs(),
        )  # fmt: skip
    context, steps, _ = wanted.results(outputs)
    return context, steps


def parse_sequence_example(
    serialized: Any,
    context_features: Features = None,
    sequence_features: Features = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Tensor]]:
    """Return the features of a batch of `SequenceExample`s: `tf.io.parse_sequence_example`.

    Args:
      serialized: strings [batch].
      context_features: see `parse_single_sequence_example`.
      sequence_features: see `parse_single_sequence_example`.
      example_names: strings [batch], for messages.
      name: of the nodes.

    Returns:
      As `parse_single_sequence_example`, all with the batch as first dimension, and steps filled
      up to the longest; and a dict from keys of the steps to how many each example has.

    Raises:
      ValueError: see `parse_single_sequence_example`.
      InvalidArgumentError: see `parse_single_sequence_example`.
    """
    wanted = _Requests(context_features, sequence_features)
    with scopes.name_scope(name, "ParseSequenceExample", [serialized, example_names]):
        outputs = raw.ParseSequenceExample(
            serialized,
            np.zeros(0, object) if example_names is None else example_names,
            wanted.context.defaults(),
            feature_list_dense_missing_assumed_empty=wanted.may_miss,
            context_sparse_keys=list(wanted.context.sparse),
            context_dense_keys=list(wanted.context.dense),
            feature_list_sparse_keys=list(wanted.lists.sparse),
            feature_list_dense_keys=list(wanted.lists.dense),
            name=name or "ParseSequenceExample", **wanted.attrs(),
        )  # fmt: skip
    return wanted.results(outputs)
