"""Stages by the names that they had in `tf.contrib.data` only.

Source: TF 1.12 API documentation, tf.contrib.data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.datasets.dataset import Dataset
from tfdist.datasets.experimental import parallel_interleave

__all__ = [
    "batch_and_drop_remainder", "padded_batch_and_drop_remainder", "sloppy_interleave",
]  # fmt: skip

Stage = Callable[[Dataset], Dataset]


def batch_and_drop_remainder(batch_size: Any) -> Stage:
    """Return a stage that does as `batch(batch_size, drop_remainder=True)`."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: Any, padded_shapes: Any, padding_values: Any = None
) -> Stage:
    """Return a stage that does as `padded_batch` with `drop_remainder=True`."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, True)


def sloppy_interleave(
    map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1
) -> Stage:
    """Return a stage that does as `parallel_interleave`."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)
