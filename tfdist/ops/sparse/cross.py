"""SparseCross: all combinations of what stands in the same row of several features.

Source: TF 1.15 API documentation, tf.raw_ops.SparseCross; hashes by experiment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef
from tfdist.ops.array.cast import cast
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.ops.strings.hashes import fingerprints

__all__: list[str] = []  # tf.feature_column and tf.contrib.layers use it

DEFAULT_KEY = 0xDECAFCAFFE

CROSS = OpDef(
    "SparseCross(indices: N*int64, values: sparse_types, shapes: N*int64, "
    "dense_inputs: dense_types) -> output_indices: int64, output_values: out_type, "
    "output_shape: int64 [N: int >=0; hashed_output: bool; num_buckets: int >=0; hash_key: int; "
    "sparse_types: list(type) >=0; dense_types: list(type) >=0; "
    "out_type: type {int64,string}; internal_type: type {int64,string}]"
).not_differentiable()


class Rows(NamedTuple):
    """What a feature has in each row.

    Attributes:
      values: [n], those of the first row first.
      counts: [batch], how many there are in each row.
    """

    values: Any
    counts: Any


@CROSS.shape
def cross_shape(
    indices: list[Shape], values: list[Shape], shapes: list[Shape], dense_inputs: list[Shape]
) -> tuple[Shape, Shape, Shape]:
    return (None, 2), (None,), (2,)


@CROSS.kernel
def cross_kernel(
    indices: list[Any], values: list[Any], shapes: list[Any], dense_inputs: list[Any], *,
    hashed_output: bool, num_buckets: int, hash_key: int, out_type: Any, internal_type: Any,
) -> Any:  # fmt: skip
    features = [_sparse_rows(*each) for each in zip(indices, values, shapes, strict=True)]
    features += [_dense_rows(dense) for dense in dense_inputs]
    if len({len(feature.counts) for feature in features}) != 1:
        sizes = [len(feature.counts) for feature in features]
        raise InvalidArgumentError(f"Expected features of one batch size, got {sizes}")
    if (out_type == dtypes.int64) != hashed_output:
        raise InvalidArgumentError(
            f"out_type is int64 with hashed_output and string without, got {out_type!r}"
        )
    row, place, chosen, widest = _combinations(features)
    found = [feature.values[which] for feature, which in zip(features, chosen, strict=True)]
    crossed = _hashed(found, num_buckets, hash_key) if hashed_output else _joined(found)
    output_indices = np.stack([row, place], 1).astype(np.int64)
    return output_indices, crossed, np.array([len(features[0].counts), widest], np.int64)


def _sparse_rows(indices: Any, values: Any, shape: Any) -> Rows:
    if len(shape) != 2:
        raise InvalidArgumentError(f"Expected sparse features of rank 2, got the shape {shape}")
    rows = indices[:, 0]
    if np.any(np.diff(rows) < 0):  # rows that are not in order
        order = np.argsort(rows, kind="stable")
        rows, values = rows[order], values[order]
    return Rows(values, np.bincount(rows, minlength=int(shape[0])))


def _dense_rows(dense: Any) -> Rows:
    if dense.ndim != 2:
        raise InvalidArgumentError(f"Expected dense features of rank 2, got {dense.shape}")
    return Rows(dense.reshape(-1), np.full(len(dense), dense.shape[1]))


def _combinations(features: Sequence[Rows]) -> tuple[Any, Any, list[Any], int]:
    """Return each combination's row and place in it, which value of each feature, and the width.

    The last feature changes first, as the digits of a number.
    """
    totals = np.prod([feature.counts for feature in features], axis=0).astype(np.int64)
    row = np.repeat(np.arange(len(totals)), totals)
    place = np.arange(len(row)) - np.repeat(np.cumsum(totals) - totals, totals)
    chosen, left = [], place
    for feature in reversed(features):
        count = feature.counts[row]
        starts = np.cumsum(feature.counts) - feature.counts
        chosen.append(starts[row] + left % count)
        left = left // count
    return row, place, chosen[::-1], int(totals.max(initial=0))


def _joined(found: list[Any]) -> Any:
    """Return the words of each combination with _X_ between them."""
    words = [each if each.dtype == object else each.astype("S").astype(object) for each in found]
    joined = words[0]
    for each in words[1:]:
        joined = joined + b"_X_" + each
    return joined


def _hashed(found: list[Any], buckets: int, key: int) -> Any:
    """Return the bucket of each combination; without buckets, a number that is not negative."""
    result = np.full(len(found[0]), np.uint64(key % 2**64))
    for each in found:
        result = _with(result, _fingerprints(each))
    return (result % np.uint64(buckets or 2**63 - 1)).astype(np.int64)


def _fingerprints(values: Any) -> Any:
    if values.dtype != object:
        return values.view(np.uint64)
    return fingerprints(values.tolist())


_FACTOR = np.uint64(0xC6A4A7935BD1E995)


def _mixed(word: Any) -> Any:
    return word ^ (word >> np.uint64(47))


def _with(one: Any, other: Any) -> Any:
    """Return the fingerprints of pairs of fingerprints."""
    with np.errstate(over="ignore"):
        word = (one ^ _FACTOR ^ (_mixed(other * _FACTOR) * _FACTOR)) * _FACTOR
        return _mixed(_mixed(word) * _FACTOR)


def sparse_cross_hashed(
    inputs: Sequence[Any],
    num_buckets: int = 0,
    hash_key: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """Return the bucket of each combination of what stands in the same row of several features.

    Args:
      inputs: SparseTensors and tensors of rank 2, of words or integers.
      num_buckets: how many buckets there are; without, all numbers that are not negative.
      hash_key: chooses the hash.
      name: of the node.

    Raises:
      TypeError: `inputs` is no list.

    Example:
      >>> words, numbers = constant([["a"], ["b"]]), constant([[1, 2], [3, 4]])
      >>> Session().run(sparse_cross_hashed([words, numbers], 100).indices).tolist()
      [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return _crossed(inputs, True, num_buckets, hash_key, name)


def sparse_cross(inputs: Sequence[Any], name: str | None = None) -> SparseTensor:
    """Return each combination of what stands in the same row of several features, as one word.

    Args:
      inputs: SparseTensors and tensors of rank 2, of words or integers; the sparse ones come first.
      name: of the node.

    Raises:
      TypeError: `inputs` is no list.

    Example:
      >>> words, numbers = constant([["a"], ["b"]]), constant([[1, 2], [3, 4]])
      >>> Session().run(sparse_cross([words, numbers]).values).tolist()
      [b'a_X_1', b'a_X_2', b'b_X_3', b'b_X_4']
    """
    return _crossed(inputs, False, 0, None, name)


def _crossed(
    inputs: Sequence[Any], hashed: bool, num_buckets: int, hash_key: int | None, name: str | None
) -> SparseTensor:
    if not isinstance(inputs, list | tuple):
        raise TypeError("Inputs must be a list")
    sparse = [each for each in inputs if isinstance(each, SparseTensor)]
    dense = [convert_to_tensor(each) for each in inputs if not isinstance(each, SparseTensor)]
    types = [each.dtype for each in sparse] + [each.dtype for each in dense]
    only_words = all(each.base_dtype is dtypes.string for each in types)
    found = CROSS(
        [each.indices for each in sparse],
        [_words_or_ids(each.values) for each in sparse],
        [each.dense_shape for each in sparse],
        [_words_or_ids(each) for each in dense],
        hashed_output=hashed,
        num_buckets=num_buckets,
        hash_key=DEFAULT_KEY if hash_key is None else hash_key,
        out_type=dtypes.int64 if hashed else dtypes.string,
        internal_type=dtypes.string if only_words else dtypes.int64,
        name=name,
    )
    return SparseTensor(*found)


def _words_or_ids(values: Any) -> Any:
    return values if values.dtype == dtypes.string else cast(values, dtypes.int64)
