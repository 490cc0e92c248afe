"""Strings put into buckets, by hashes that stay the same: in all processes, versions and years.

Source: TF 1.15 API documentation, tf.strings.to_hash_bucket_fast and its relatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.strings.hashes import fingerprints, murmurs, siphashes

__all__ = [
    "string_to_hash_bucket", "string_to_hash_bucket_fast", "string_to_hash_bucket_strong",
]  # fmt: skip

FAST = OpDef("StringToHashBucketFast(input: string) -> output: int64 [num_buckets: int >=1]")
STRONG = OpDef(
    "StringToHashBucketStrong(input: string) -> output: int64 "
    "[num_buckets: int >=1; key: list(int)]"
)
FIRST = OpDef("StringToHashBucket(string_tensor: string) -> output: int64 [num_buckets: int >=1]")


def _same_shape(input: Shape) -> Shape:
    return input


for _op_def in (FAST, STRONG, FIRST):
    _op_def.not_differentiable().shape(_same_shape)


@FAST.kernel
def to_hash_bucket_fast_kernel(input: Any, *, num_buckets: int) -> Any:
    return _buckets(input, num_buckets, fingerprints)


@FIRST.kernel
def to_hash_bucket_kernel(string_tensor: Any, *, num_buckets: int) -> Any:
    return _buckets(string_tensor, num_buckets, murmurs)


@STRONG.kernel
def to_hash_bucket_strong_kernel(input: Any, *, num_buckets: int, key: list[int]) -> Any:
    if len(key) != 2:
        raise InvalidArgumentError(f"Key must have 2 elements, got {len(key)}: {key}")
    return _buckets(input, num_buckets, lambda strings: siphashes(strings, key))


def _buckets(input: Any, count: int, hashes: Any) -> Any:
    strings = as_elements(input)
    found = hashes(strings.reshape(-1).tolist()) % np.uint64(count)
    return found.astype(np.int64).reshape(strings.shape)


def string_to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """Return a bucket for each string, by FarmHash: quick, but an attacker can fill one bucket.

    Args:
      input: strings.
      num_buckets: how many there are.
      name: of the node.

    Returns:
      int64 numbers from 0 to `num_buckets` - 1.

    Example:
      >>> Session().run(string_to_hash_bucket_fast(["Hello", "TensorFlow", "2.x"], 3))
      array([0, 2, 2])
    """
    return raw.StringToHashBucketFast(input, num_buckets=num_buckets, name=name)  # type: ignore[no-any-return]


def string_to_hash_bucket_strong(
    input: Any, num_buckets: int, key: Sequence[int], name: str | None = None
) -> Tensor:
    """Return a bucket for each string, by SipHash, whose buckets nobody knows without the key.

    Args:
      input: strings.
      num_buckets: how many there are.
      key: two numbers.
      name: of the node.

    Returns:
      int64 numbers from 0 to `num_buckets` - 1.

    Raises:
      InvalidArgumentError: the key has not two numbers (when it runs).

    Example:
      >>> Session().run(string_to_hash_bucket_strong(["Hello", "TF"], 3, [1, 2]))
      array([2, 0])
    """
    attrs = {"num_buckets": num_buckets, "key": list(key)}
    return raw.StringToHashBucketStrong(input, **attrs, name=name)  # type: ignore[no-any-return]


def string_to_hash_bucket(
    string_tensor: Any = None, num_buckets: int | None = None, name: str | None = None,
    input: Any = None,
) -> Tensor:  # fmt: skip
    """Return a bucket for each string, by the hash that the first releases had.

    Args:
      string_tensor: strings; a newer name is `input`.
      num_buckets: how many there are.
      name: of the node.
      input: see `string_tensor`.

    Returns:
      int64 numbers from 0 to `num_buckets` - 1.

    Example:
      >>> Session().run(string_to_hash_bucket(["Hello", "TF"], 3))
      array([2, 1])
    """
    strings = input if string_tensor is None else string_tensor
    return raw.StringToHashBucket(strings, num_buckets=num_buckets, name=name)  # type: ignore[no-any-return]
