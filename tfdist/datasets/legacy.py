"""Stages by the names that they had in `tf.contrib.data` only.

Source: TF 1.12 API documentation, tf.contrib.data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base.tensor_shape import TensorShape
from tfdist.datasets import batching, inputs, structure
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.experimental.features import make_batched_features_dataset
from tfdist.datasets.experimental.reducing import Reducer
from tfdist.datasets.experimental.stages import Stage, parallel_interleave
from tfdist.datasets.files import TFRecordDataset
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation
from tfdist.graph.scopes import control_dependencies
from tfdist.ops.control_flow.identity_group import with_dependencies

__all__ = [
    "assert_element_shape", "batch_and_drop_remainder", "padded_batch_and_drop_remainder",
    "read_batch_features", "reduce_dataset", "sliding_window_batch", "sloppy_interleave",
]  # fmt: skip


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
    """Return a stage that gives the same elements, whose shapes must be as expected.

    Args:
      expected_shapes: structure of shapes, like the elements; what is None may be of any size.

    Raises:
      ValueError: what is known of the elements is something else.
      InvalidArgumentError: an element is (when it is asked for).

    Example:
      >>> lists = Dataset.range(3).map(lambda x: raw.Fill([x], x))
      >>> lists.apply(assert_element_shape(TensorShape([2])))
      <Dataset shapes: (2,), types: tf.int64>
    """

    def stage(dataset: Dataset) -> Dataset:
        wanted = structure.flatten_like(dataset._structure, expected_shapes)

        def _check_shape(*element: Any) -> Any:  # a name of TensorFlow: the graph has it
            found = element if type(dataset._structure) is tuple else element[0]
            pairs = zip(structure.flatten(found), wanted, strict=True)
            return structure.pack_as(dataset._structure, [_checked(*pair) for pair in pairs])

        return dataset.map(_check_shape)

    return stage


def _checked(tensor: Any, expected: Any) -> Any:
    """Return a tensor whose shape is checked when it runs."""
    expected = TensorShape(expected)
    merged = tensor.shape.merge_with(expected)
    if expected.ndims is not None:
        tensor = with_dependencies([_check(tensor, expected.as_list())], tensor)
    tensor.set_shape(merged)
    return tensor


def _check(tensor: Any, expected: list[int | None]) -> Operation:
    """Return what fails unless a tensor has a shape, of which not all need be known."""
    known = [axis for axis, dim in enumerate(expected) if dim is not None]
    dims = np.array([-1 if dim is None else dim for dim in expected], np.int32)
    actual = raw.Shape(tensor)
    told = [f"Wrong shape for {tensor.name} [expected] [actual].", dims, actual]
    rank_fits = raw.Assert(raw.Equal(raw.Size(actual), np.int32(len(dims))), told)
    with control_dependencies([rank_fits]):
        found = raw.GatherV2(actual, np.array(known, np.int32), np.int32(0))
    made: Operation = raw.Assert(
        raw.All(raw.Equal(found, dims[known]), np.array([0], np.int32)), told
    )
    return made


def reduce_dataset(dataset: Dataset, reducer: Reducer) -> Any:
    """Return the last state that a `Reducer` makes of all elements.

    As in TensorFlow, its `finalize_func` is not asked.

    Raises:
      TypeError: `dataset` is none.

    Example:
      >>> total = Reducer(lambda _: np.int64(0), lambda state, x: state + x, lambda state: state)
      >>> Session().run(reduce_dataset(Dataset.range(5), total))
      np.int64(10)
    """
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return dataset.reduce(reducer.init_func(np.int64(0)), reducer.reduce_func)


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

    Raises:
      ValueError: both `stride` and `window_shift` are given.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    moved = next((each for each in (stride, window_shift) if each is not None), 1)

    def stage(dataset: Dataset) -> Dataset:
        size = inputs.int64(window_size, "window_stride")  # as TensorFlow calls it too
        every = inputs.int64(window_stride, "window_stride")
        shift = inputs.int64(moved, "window_shift")
        found = batching.batched(dataset._structure, None)
        tensor = raw.SlidingWindowDataset(
            dataset._variant_tensor, size, shift, every, **structure.flat_attrs(found)
        )
        return dataset._with(tensor, found)

    return stage
