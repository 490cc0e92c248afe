"""Partitioners: functions that say into how many parts a variable is split.

A partitioner is called with the shape and the type of a variable, by these names, and returns the
number of parts along each axis.

Source: TF 1.15 API documentation, tf.fixed_size_partitioner and those beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.ops.variables.get_variable import get_in_parts
from tfdist.ops.variables.variable_scope import get_variable_scope, variable_scope

__all__ = [
    "create_partitioned_variables", "fixed_size_partitioner", "min_max_variable_partitioner",
    "variable_axis_size_partitioner",
]  # fmt: skip

Partitioner = Callable[..., list[int]]


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Return a partitioner that makes a fixed number of parts, or fewer if the axis is short.

    Args:
      num_shards: how many.
      axis: along which.

    Example:
      >>> v = get_variable("v", [5, 3], partitioner=fixed_size_partitioner(2))
      >>> [part.name for part in v], [part.shape.as_list() for part in v]
      (['v/part_0:0', 'v/part_1:0'], [[3, 3], [2, 3]])
    """

    def partitioner(shape: Any, **_: Any) -> list[int]:
        return _along(axis, min(num_shards, int(shape[axis])), shape)

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Partitioner:
    """Return a partitioner whose parts have a number of bytes at most.

    Args:
      max_shard_bytes: of a part.
      axis: along which to split.
      bytes_per_string_element: what a string counts for.
      max_shards: how many parts at most, even if they are larger then.

    Raises:
      ValueError: one of the numbers is below 1.

    Example:
      >>> v = get_variable("v", [6, 4], partitioner=variable_axis_size_partitioner(64))
      >>> [part.shape.as_list() for part in v]
      [[3, 4], [3, 4]]
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            "Both max_shard_bytes and bytes_per_string_element must be positive, but are "
            f"{max_shard_bytes} and {bytes_per_string_element}."
        )
    if max_shards and max_shards < 1:
        raise ValueError(f"max_shards must be positive, but is {max_shards}.")

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        shape = TensorShape(shape)
        rows = int(shape[axis])
        row = shape.num_elements() // rows * _element_bytes(dtype, bytes_per_string_element)
        fitting = max(1, max_shard_bytes // max(1, row))
        return _along(axis, min(max_shards or rows, math.ceil(rows / fitting)), shape)

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """Return a partitioner that makes many parts, but none that are too small.

    Args:
      max_partitions: how many parts at most.
      axis: along which to split.
      min_slice_size: bytes that a part has at least, unless there is one only.
      bytes_per_string_element: what a string counts for.

    Example:
      >>> split = min_max_variable_partitioner(max_partitions=8, min_slice_size=32)
      >>> len(get_variable("v", [6, 4], partitioner=split))
      3
    """

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        shape = TensorShape(shape)
        total = shape.num_elements() * _element_bytes(dtype, bytes_per_string_element)
        wanted = min(max_partitions, math.ceil(total / min_slice_size), int(shape[axis]))
        return _along(axis, max(1, wanted), shape)

    return partitioner


def _along(axis: int, count: int, shape: Any) -> list[int]:
    """Return `count` for one axis, 1 for the others."""
    partitions = [1] * len(shape)
    partitions[axis] = count
    return partitions


def _element_bytes(dtype: Any, string: int) -> int:
    dtype = dtypes.as_dtype(dtype)
    return string if dtype is dtypes.string else int(dtype.size)


def create_partitioned_variables(
    shape: Sequence[int],
    slicing: Sequence[int],
    initializer: Any,
    dtype: Any = dtypes.float32,
    trainable: bool = True,
    collections: Any = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[Any]:
    """Return the parts of a variable that is split along one axis.

    Args:
      shape: of the whole.
      slicing: number of parts along each axis, above 1 for one of them at most.
      initializer: function from shape and dtype to a tensor, told of the part as `partition_info`;
        or a tensor of the whole.
      dtype: of the values.
      trainable: whether optimizers change the parts by default.
      collections: names of collections to add the parts to.
      name: of the whole; "PartitionedVariable" by default, made unique.
      reuse: whether to find the parts instead of making them.

    Returns:
      List of variables, `NAME/part_0` and so on.

    Raises:
      ValueError: `slicing` does not fit the shape, or splits several axes.

    Example:
      >>> parts = create_partitioned_variables([5, 3], [2, 1], zeros_initializer(), name="v")
      >>> [part.shape.as_list() for part in parts]
      [[3, 3], [2, 3]]
    """
    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: "
            f"{shape}, slicing: {slicing}"
        )
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        scope = get_variable_scope()
        whole = get_in_parts(
            scope.name, shape, dtype, scope.reuse, lambda **_: list(slicing),
            initializer=initializer, regularizer=scope.regularizer, trainable=trainable,
            collections=collections, caching_device=scope.caching_device,
            use_resource=scope.use_resource, constraint=scope.constraint,
        )  # fmt: skip
    return list(whole)
