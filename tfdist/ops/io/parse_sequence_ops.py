"""The ops that take `SequenceExample`s apart: one of them, or a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.formats import sequence_examples as formats
from tfdist.formats.examples import Dense, Sparse, joined, places
from tfdist.formats.sequence_examples import Sequences
from tfdist.graph.op_def import OpDef
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.io.parse_example_ops import dense_feature, named

__all__: list[str] = []

_T = "{float32,int64,string}"
_OUTPUTS = (
    "context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: context_sparse_types, "
    "context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: Tcontext_dense, "
    "feature_list_sparse_indices: Nfeature_list_sparse*int64, "
    "feature_list_sparse_values: feature_list_sparse_types, "
    "feature_list_sparse_shapes: Nfeature_list_sparse*int64, "
    "feature_list_dense_values: feature_list_dense_types"
)
_ATTRS = (
    "Ncontext_sparse: int = 0 >=0; Ncontext_dense: int = 0 >=0; "
    "Nfeature_list_sparse: int = 0 >=0; Nfeature_list_dense: int = 0 >=0; "
    f"context_sparse_types: list(type) = [] {_T} >=0; Tcontext_dense: list(type) = [] {_T} >=0; "
    f"feature_list_dense_types: list(type) = [] {_T} >=0; "
    "context_dense_shapes: list(shape) = [] >=0; "
    f"feature_list_sparse_types: list(type) = [] {_T} >=0; "
    "feature_list_dense_shapes: list(shape) = [] >=0"
)

PARSE_SINGLE_SEQUENCE = OpDef(
    "ParseSingleSequenceExample(serialized: string, "
    "feature_list_dense_missing_assumed_empty: string, "
    "context_sparse_keys: Ncontext_sparse*string, context_dense_keys: Ncontext_dense*string, "
    "feature_list_sparse_keys: Nfeature_list_sparse*string, "
    "feature_list_dense_keys: Nfeature_list_dense*string, "
    "context_dense_defaults: Tcontext_dense, debug_name: string) -> "
    f"{_OUTPUTS} [{_ATTRS}]"
).not_differentiable()

PARSE_SEQUENCE = OpDef(
    "ParseSequenceExample(serialized: string, debug_name: string, "
    "context_dense_defaults: Tcontext_dense) -> "
    f"{_OUTPUTS}, feature_list_dense_lengths: Nfeature_list_dense*int64 "
    "[feature_list_dense_missing_assumed_empty: list(string) >=0; "
    "context_sparse_keys: list(string) >=0; context_dense_keys: list(string) >=0; "
    "feature_list_sparse_keys: list(string) >=0; feature_list_dense_keys: list(string) >=0; "
    f"{_ATTRS}]"
).not_differentiable()


@PARSE_SINGLE_SEQUENCE.shape
def parse_single_sequence_shape(
    serialized: Shape, feature_list_dense_missing_assumed_empty: Shape,
    context_sparse_keys: list[Shape], context_dense_keys: list[Shape],
    feature_list_sparse_keys: list[Shape], feature_list_dense_keys: list[Shape],
    context_dense_defaults: list[Shape], debug_name: Shape, *,
    context_dense_shapes: list[TensorShape], feature_list_dense_shapes: list[TensorShape],
) -> list[Shape]:  # fmt: skip
    shapes.require_rank(serialized, "serialized", 0, 0)
    context, lists = len(context_sparse_keys), len(feature_list_sparse_keys)
    return [
        *_sparse_shapes(context, 1), *_shapes((), context_dense_shapes),
        *_sparse_shapes(lists, 2), *_shapes((None,), feature_list_dense_shapes),
    ]  # fmt: skip


@PARSE_SEQUENCE.shape
def parse_sequence_shape(
    serialized: Shape, debug_name: Shape, context_dense_defaults: list[Shape], *,
    Ncontext_sparse: int, Nfeature_list_sparse: int, Nfeature_list_dense: int,
    context_dense_shapes: list[TensorShape], feature_list_dense_shapes: list[TensorShape],
) -> list[Shape]:  # fmt: skip
    shapes.require_rank(serialized, "serialized", 1, 1)
    count = None if serialized is None else serialized[0]
    return [
        *_sparse_shapes(Ncontext_sparse, 2), *_shapes((count,), context_dense_shapes),
        *_sparse_shapes(Nfeature_list_sparse, 3),
        *_shapes((count, None), feature_list_dense_shapes), *[(count,)] * Nfeature_list_dense,
    ]  # fmt: skip


def _sparse_shapes(count: int, rank: int) -> list[Shape]:
    return [*[(None, rank)] * count, *[(None,)] * count, *[(rank,)] * count]


def _shapes(lead: tuple[Any, ...], wanted: Sequence[TensorShape]) -> list[Shape]:
    plain = [shape.as_tuple() for shape in wanted]
    return [None if shape is None else (*lead, *shape) for shape in plain]


def _sparse_features(keys: Sequence[bytes], types: Sequence[DType]) -> list[Sparse]:
    return [Sparse(named(key), dtype) for key, dtype in zip(keys, types, strict=True)]


def _dense_features(
    keys: Sequence[bytes], types: Sequence[DType], wanted: Sequence[TensorShape],
    defaults: Sequence[Any],
) -> list[Dense]:  # fmt: skip
    return [dense_feature(*each) for each in zip(keys, types, wanted, defaults, strict=True)]


_NO_DEFAULT = np.zeros(0, object)


@PARSE_SINGLE_SEQUENCE.kernel
def parse_single_sequence_kernel(
    serialized: Any, feature_list_dense_missing_assumed_empty: Any,
    context_sparse_keys: list[Any], context_dense_keys: list[Any],
    feature_list_sparse_keys: list[Any], feature_list_dense_keys: list[Any],
    context_dense_defaults: list[Any], debug_name: Any, *,
    context_sparse_types: list[DType], Tcontext_dense: list[DType],
    feature_list_dense_types: list[DType], context_dense_shapes: list[TensorShape],
    feature_list_sparse_types: list[DType], feature_list_dense_shapes: list[TensorShape],
) -> list[Any]:  # fmt: skip
    names = [as_elements(debug_name)[()]]
    sequences = Sequences([as_elements(serialized)[()]], names)
    sparse = _sparse_features(_texts(context_sparse_keys), context_sparse_types)
    dense = _dense_features(
        _texts(context_dense_keys), Tcontext_dense, context_dense_shapes, context_dense_defaults
    )
    sparse_lists = _sparse_features(_texts(feature_list_sparse_keys), feature_list_sparse_types)
    list_keys = _texts(feature_list_dense_keys)
    dense_lists = _dense_features(
        list_keys, feature_list_dense_types, feature_list_dense_shapes,
        [_NO_DEFAULT] * len(list_keys),
    )  # fmt: skip
    may_miss = set(as_elements(feature_list_dense_missing_assumed_empty).reshape(-1).tolist())
    return [
        *_in_order([_context_alone(sequences, each) for each in sparse]),
        *[_shaped(formats.context_dense(sequences, each)[0], each.shape) for each in dense],
        *_in_order([_list_alone(sequences, each) for each in sparse_lists]),
        *[
            _in_rows(formats.dense_lists(sequences, each, each.key.encode() in may_miss)[0], each)
            for each in dense_lists
        ],
    ]


def _texts(keys: Sequence[Any]) -> list[bytes]:
    return [as_elements(key)[()] for key in keys]


def _in_order(sparse: Sequence[Sequence[Any]]) -> list[Any]:
    """Return all indices, all values, all shapes."""
    return [part[place] for place in range(3) for part in sparse]


def _shaped(values: Any, shape: tuple[int | None, ...]) -> Any:
    array = values.reshape(shape)
    return array if array.ndim else array[()]


def _in_rows(values: Any, feature: Dense) -> Any:
    return values.reshape(len(values), *feature.shape)


def _context_alone(sequences: Sequences, feature: Sparse) -> tuple[Any, Any, Any]:
    [values] = formats.context_values(sequences, feature)
    indices = np.arange(len(values), dtype=np.int64).reshape(-1, 1)
    return indices, joined([values], feature.dtype), np.array([len(values)], np.int64)


def _list_alone(sequences: Sequences, feature: Sparse) -> tuple[Any, Any, Any]:
    found = formats.sparse_lists(sequences, feature)
    indices = np.stack([found.steps, found.columns], axis=1).astype(np.int64)
    return indices, found.values, np.array(found.shape[1:], np.int64)


@PARSE_SEQUENCE.kernel
def parse_sequence_kernel(
    serialized: Any, debug_name: Any, context_dense_defaults: list[Any], *,
    feature_list_dense_missing_assumed_empty: list[bytes],
    context_sparse_keys: list[bytes], context_dense_keys: list[bytes],
    feature_list_sparse_keys: list[bytes], feature_list_dense_keys: list[bytes],
    context_sparse_types: list[DType], Tcontext_dense: list[DType],
    feature_list_dense_types: list[DType], context_dense_shapes: list[TensorShape],
    feature_list_sparse_types: list[DType], feature_list_dense_shapes: list[TensorShape],
) -> list[Any]:  # fmt: skip
    records = serialized.tolist()
    names = as_elements(debug_name).reshape(-1).tolist()
    if names and len(names) != len(records):
        raise InvalidArgumentError(f"there are {len(names)} names for {len(records)} examples")
    sequences = Sequences(records, names)
    sparse = _sparse_features(context_sparse_keys, context_sparse_types)
    dense = _dense_features(
        context_dense_keys, Tcontext_dense, context_dense_shapes, context_dense_defaults
    )
    sparse_lists = _sparse_features(feature_list_sparse_keys, feature_list_sparse_types)
    dense_lists = _dense_features(
        feature_list_dense_keys, feature_list_dense_types, feature_list_dense_shapes,
        [_NO_DEFAULT] * len(feature_list_dense_keys),
    )  # fmt: skip
    count = len(sequences)
    contexts = [
        *_in_order([_context_batch(sequences, each) for each in sparse]),
        *[formats.context_dense(sequences, each).reshape(count, *each.shape) for each in dense],
    ]
    may_miss = {named(key) for key in feature_list_dense_missing_assumed_empty}
    lists = [
        _filled(formats.dense_lists(sequences, each, each.key in may_miss), each)
        for each in dense_lists
    ]
    return [
        *contexts,
        *_in_order([_list_batch(sequences, each) for each in sparse_lists]),
        *[values for values, _ in lists],
        *[lengths for _, lengths in lists],
    ]


def _context_batch(sequences: Sequences, feature: Sparse) -> tuple[Any, Any, Any]:
    parts = formats.context_values(sequences, feature)
    lengths = [len(part) for part in parts]
    indices = np.stack(places(lengths), axis=1).astype(np.int64)
    shape = np.array([len(parts), max(lengths, default=0)], np.int64)
    return indices, joined(parts, feature.dtype), shape


def _list_batch(sequences: Sequences, feature: Sparse) -> tuple[Any, Any, Any]:
    found = formats.sparse_lists(sequences, feature)
    indices = np.stack([found.examples, found.steps, found.columns], axis=1).astype(np.int64)
    return indices, found.values, np.array(found.shape, np.int64)


def _filled(parts: Sequence[Any], feature: Dense) -> tuple[Any, Any]:
    """Return the steps of all examples, filled up to the longest, and how many each has."""
    lengths = np.array([len(part) for part in parts], np.int64)
    most = int(lengths.max(initial=0))
    empty = b"" if feature.dtype.as_numpy_dtype is object else 0
    whole = np.full((len(parts), most, feature.stride), empty, feature.dtype.as_numpy_dtype)
    for steps, part in zip(whole, parts, strict=True):
        steps[: len(part)] = part
    return whole.reshape(len(parts), most, *feature.shape), lengths
