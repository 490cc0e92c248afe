"""Stages that make groups of elements: by a key, or by their length.

Source: TF 1.15 API documentation, tf.data.experimental.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.datasets import batching, mapping, structure
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.experimental.stages import Stage
from tfdist.datasets.functions import TracedFunction
from tfdist.datasets.inputs import as_int64
from tfdist.datasets.structure import DatasetSpec, TensorSpec
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw

__all__ = ["bucket_by_sequence_length", "group_by_window"]


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Stage:
    """Return a stage that makes a dataset of each group of elements of one key.

    Args:
      key_func: gives the key of an element.
      reduce_func: makes a dataset of a key and the dataset of a group.
      window_size: number of elements in a group.
      window_size_func: gives that number for a key instead.

    Raises:
      ValueError: not exactly one of the two says the size.
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func.")

    def key_func_wrapper(*args: Any) -> Any:
        return as_int64(key_func(*args))

    def window_size_func_wrapper(key: Any) -> Any:
        size = window_size if window_size_func is None else window_size_func(key)
        return as_int64(size)

    def stage(dataset: Dataset) -> Dataset:
        label, key_spec = "tf.data.experimental.group_by_window()", TensorSpec([], dtypes.int64)
        key = mapping.traced(dataset, key_func_wrapper, label)
        given = (key_spec, DatasetSpec(dataset._structure))
        reduced = TracedFunction(reduce_func, label, given)
        size = TracedFunction(window_size_func_wrapper, label, key_spec)
        if not isinstance(reduced.structure, DatasetSpec):
            raise TypeError("`reduce_func` must return a `Dataset` object.")
        found = reduced.structure.structure
        tensor = raw.GroupByWindowDataset(
            dataset._variant_tensor, list(key.captured), list(reduced.captured),
            list(size.captured), key_func=key.function, reduce_func=reduced.function,
            window_size_func=size.function, **structure.flat_attrs(found),
        )  # fmt: skip
        return dataset._with(tensor, found)

    return stage


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Stage:
    """Return a stage that makes padded batches of elements of similar length.

    Args:
      element_length_func: gives the length of an element.
      bucket_boundaries: rising lengths that part the buckets.
      bucket_batch_sizes: batch size of each bucket: one more than there are boundaries.
      padded_shapes: as for `padded_batch`; those of the elements if None.
      padding_values: as for `padded_batch`.
      pad_to_bucket_boundary: whether unknown dimensions are padded to the bucket's boundary - 1.
      no_padding: whether elements of a bucket must have one shape anyway.
      drop_remainder: whether smaller batches at the end are left out.
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
    sizes = convert_to_tensor(np.array(bucket_batch_sizes, np.int64))
    bounds = np.array(bucket_boundaries, np.int64)

    def bucket_of(*args: Any) -> Any:
        length = as_int64(element_length_func(*args))
        below = raw.Cast(raw.LessEqual(convert_to_tensor(bounds), length), DstT=dtypes.int64)
        return raw.Sum(below, convert_to_tensor(np.array([0], np.int32)))

    def size_of(key: Any) -> Any:
        return raw.GatherV2(sizes, key, np.int32(0))

    def batched(key: Any, window: Dataset) -> Dataset:
        size = size_of(key)
        if no_padding:
            return window.batch(size, drop_remainder)
        shapes = padded_shapes
        if shapes is None:
            shapes = structure.shapes_of(window._structure)
        if pad_to_bucket_boundary:
            limits = np.append(bounds - 1, -1)
            limit = raw.GatherV2(convert_to_tensor(limits), key, np.int32(0))
            shapes = structure.map_leaves(lambda shape: _filled(shape, limit), shapes)
        return window.padded_batch(size, shapes, padding_values, drop_remainder)

    return group_by_window(bucket_of, batched, window_size_func=size_of)


def _filled(shape: Any, limit: Any) -> Any:
    """Return a shape as a tensor with `limit` for what is not known."""
    dims = batching._unknown(shape)
    dims = dims.as_list() if hasattr(dims, "as_list") else dims
    if not dims:
        return convert_to_tensor(np.zeros(0, np.int64))
    return raw.Pack([limit if dim is None else np.int64(dim) for dim in dims])
