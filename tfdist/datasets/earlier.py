"""Stages by the names that they had in `tf.contrib.data` only.

Source: TF 1.12 API documentation, tf.contrib.data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base.shapes import TensorShape
from tfdist.datasets import batching, inputs, structure
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.experimental import get_single_element, parallel_interleave
from tfdist.datasets.features import make_batched_features_dataset
from tfdist.datasets.files import TFRecordDataset
from tfdist.datasets.reducing import Reducer, group_by_reducer
from tfdist.datasets.structure import TensorSpec
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import control_dependencies

__all__ = [
    "assert_element_shape", "batch_and_drop_remainder", "padded_batch_and_drop_remainder",
    "read_batch_features", "reduce_dataset", "sliding_window_batch", "sloppy_interleave",
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


def assert_element_shape(expected_shapes: Any) -> Stage:
    """Return a stage that gives the same elements, whose shapes must be as expected."""

    def stage(dataset: Dataset) -> Dataset:
        specs = structure.flatten(dataset._structure)
        shapes = structure.flatten_like(dataset._structure, expected_shapes)
        known = [
            TensorSpec(spec.shape.merge_with(shape), spec.dtype)
            for spec, shape in zip(specs, map(TensorShape, shapes), strict=True)
        ]
        wanted = structure.pack_as(dataset._structure, known)

        def checked(*element: Any) -> Any:
            found = element if type(dataset._structure) is tuple else element[0]
            leaves = [_checked(*pair) for pair in zip(structure.flatten(found), known, strict=True)]
            return structure.pack_as(wanted, leaves)

        return dataset.map(checked)

    return stage


def _checked(tensor: Any, spec: Any) -> Any:
    """Return a tensor whose dimensions, where `spec` knows them, are checked when it runs."""
    checks = [
        raw.Assert(raw.Equal(raw.Shape(tensor)[axis], np.int32(dim)), [raw.Shape(tensor)])
        for axis, dim in enumerate(spec.shape.as_list() if spec.shape.ndims is not None else [])
        if dim is not None
    ]
    with control_dependencies(checks):
        same = raw.Identity(tensor)
    same.set_shape(spec.shape)
    return same


def reduce_dataset(dataset: Dataset, reducer: Reducer) -> Any:
    """Return what a `Reducer` makes of all elements."""
    keyed: Any = dataset.apply(group_by_reducer(lambda *_: np.int64(0), reducer))
    return get_single_element(keyed)


def read_batch_features(
    file_pattern: Any,
    batch_size: int,
    features: Any,
    reader: Any = TFRecordDataset,
    reader_args: Any = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> Any:
    """Return the tensors of the next batch; see `make_batched_features_dataset`."""
    batches = make_batched_features_dataset(
        file_pattern, batch_size, features, reader, None, reader_args, num_epochs,
        randomize_input, capacity,
    )  # fmt: skip
    return batches.make_one_shot_iterator().get_next()


def sliding_window_batch(
    window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1
) -> Stage:
    """Return a stage that makes batches of windows of elements.

    Args:
      window_size: number of elements in each.
      stride: what `window_shift` was called before.
      window_shift: from the first element of one to that of the next; 1 if None.
      window_stride: from one element of a window to the next.
    """
    moved = 1 if stride is None and window_shift is None else window_shift or stride

    def stage(dataset: Dataset) -> Dataset:
        numbers = {"window_size": window_size, "window_shift": moved,
                   "window_stride": window_stride}  # fmt: skip
        drops = convert_to_tensor(False)
        found = batching.batched(dataset._structure, drops, drops)
        tensor = raw.SlidingWindowDataset(
            dataset._variant_tensor,
            *(inputs.int64(number, name) for name, number in numbers.items()),
            **structure.flat_attrs(found),
        )
        return dataset._with(tensor, found)

    return stage
