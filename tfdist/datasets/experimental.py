"""`tf.data.experimental`: stages to be applied, and datasets of several others.

Source: TF 1.15 API documentation, tf.data.experimental.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.datasets import batching, inputs, mapping, structure
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.functions import TracedFunction
from tfdist.datasets.structure import DatasetSpec, TensorSpec
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Counter",
    "RandomDataset",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "enumerate_dataset",
    "get_single_element",
    "group_by_window",
    "ignore_errors",
    "map_and_batch",
    "map_and_batch_with_legacy_function",
    "parallel_interleave",
    "prefetch_to_device",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "take_while",
    "unbatch",
    "unique",
]  # fmt: skip

AUTOTUNE = -1
INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2

Stage = Callable[[Dataset], Dataset]


def ignore_errors() -> Stage:
    """Return a stage that leaves out the elements that cannot be had."""

    def stage(dataset: Dataset) -> Dataset:
        told = structure.flat_attrs(dataset._structure)
        tensor = raw.IgnoreErrorsDataset(dataset._variant_tensor, **told)
        return dataset._with(tensor, dataset._structure)

    return stage


def unbatch() -> Stage:
    """Return a stage that gives the slices of each element."""
    return lambda dataset: dataset.unbatch()


def enumerate_dataset(start: Any = 0) -> Stage:
    """Return a stage that gives pairs of a number and an element."""
    return lambda dataset: dataset.enumerate(start)


def unique() -> Stage:
    """Return a stage that gives each value once."""

    def stage(dataset: Dataset) -> Dataset:
        told = structure.flat_attrs(dataset._structure)
        tensor = raw.UniqueDataset(dataset._variant_tensor, **told)
        return dataset._with(tensor, dataset._structure)

    return stage


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Stage:
    """Return a stage that does as `shuffle(buffer_size, seed).repeat(count)`."""

    def stage(dataset: Dataset) -> Dataset:
        size = inputs.int64(buffer_size, "buffer_size")
        times = inputs.int64(-1 if count is None else count, "count")
        told = structure.flat_attrs(dataset._structure)
        first, second = inputs.seeds(seed)
        tensor = raw.ShuffleAndRepeatDataset(
            dataset._variant_tensor, size, first, second, times, **told
        )
        return dataset._with(tensor, dataset._structure)

    return stage


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: int | None = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Stage:
    """Return a stage that does as `map(map_func).batch(batch_size, drop_remainder)`."""

    def stage(dataset: Dataset) -> Dataset:
        label = "tf.data.experimental.map_and_batch()"
        made = mapping.traced(dataset, map_func, label)
        calls = num_parallel_calls
        if calls is None:
            calls = batch_size * num_parallel_batches if num_parallel_batches else batch_size
        size = inputs.int64(batch_size, "batch_size")
        parallel = inputs.int64(calls, "num_parallel_calls")
        drops = convert_to_tensor(drop_remainder, dtypes.bool_, name="drop_remainder")
        found = batching.batched(made.structure, batching.known_size(size, drops))
        tensor = raw.MapAndBatchDataset(
            dataset._variant_tensor, list(made.captured), size, parallel, drops,
            f=made.function, preserve_cardinality=True, **structure.flat_attrs(found),
        )  # fmt: skip
        return dataset._with(tensor, found)

    return stage


map_and_batch_with_legacy_function = map_and_batch


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: Any = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Stage:
    """Return a stage that does as `interleave`; the order is always that of the elements."""
    return lambda dataset: mapping.parallel_interleave(
        dataset, map_func, cycle_length, block_length, sloppy, buffer_output_elements,
        prefetch_input_elements,
    )  # fmt: skip


def take_while(predicate: Callable[..., Any]) -> Stage:
    """Return a stage that ends before the first element for which a function gives False."""

    def stage(dataset: Dataset) -> Dataset:
        made = mapping.predicate(dataset, predicate, "tf.data.experimental.take_while()")
        told = structure.flat_attrs(dataset._structure)
        tensor = raw.TakeWhileDataset(
            dataset._variant_tensor, list(made.captured), predicate=made.function, **told
        )
        return dataset._with(tensor, dataset._structure)

    return stage


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Stage:
    """Return a stage whose function makes the next state and a result of a state and an element."""

    def stage(dataset: Dataset) -> Dataset:
        with name_scope("initial_state"):
            first = structure.normal(initial_state)
        known = structure.map_leaves(structure.spec_of, first)

        def trace(state: Any) -> TracedFunction:
            given = (state, dataset._structure)
            return TracedFunction(scan_func, "tf.data.experimental.scan()", given)

        made, _ = mapping.loosened(known, trace, lambda found: found[0])
        found = made.structure[1]
        tensor = raw.ScanDataset(
            dataset._variant_tensor, structure.tensors_of(first), list(made.captured),
            f=made.function, preserve_cardinality=True, **structure.flat_attrs(found),
        )  # fmt: skip
        return dataset._with(tensor, found)

    return stage


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


def as_int64(value: Any) -> Any:
    """Return a number, tensor or not, as an int64 tensor."""
    if isinstance(value, Tensor):
        return value if value.dtype is dtypes.int64 else raw.Cast(value, DstT=dtypes.int64)
    return convert_to_tensor(value, dtypes.int64)


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


def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Dataset:
    """Return a dataset of the numbers from `start` on, without end."""
    with name_scope("counter"):
        first = convert_to_tensor(start, dtype, name="start")
        each = convert_to_tensor(step, dtype, name="step")
        return scan(first, lambda state, _: (state + each, state))(Dataset.from_tensors(0).repeat())


def choose_from_datasets(datasets: Sequence[Dataset], choice_dataset: Dataset) -> Dataset:
    """Return each element from the dataset whose number `choice_dataset` gives."""
    parts = list(datasets)
    spec = choice_dataset._structure
    if not isinstance(spec, TensorSpec) or spec.dtype is not dtypes.int64 or spec.shape.ndims:
        raise TypeError("`choice_dataset` must be a dataset of scalar `tf.int64` tensors.")
    return _directed(choice_dataset, parts)


def _directed(selector: Dataset, parts: list[Dataset]) -> Dataset:
    found = parts[0]._structure
    for part in parts[1:]:
        if structure.types_of(part._structure) != structure.types_of(found):
            raise ValueError(f"All datasets must have the same types: {found} {part._structure}")
        pairs = zip(structure.flatten(found), structure.flatten(part._structure), strict=True)
        specs = [type(a)(structure.most_specific(a.shape, b.shape), a.dtype) for a, b in pairs]
        found = structure.pack_as(found, specs)
    tensor = raw.DirectedInterleaveDataset(
        selector._variant_tensor,
        [part._variant_tensor for part in parts],
        **structure.flat_attrs(found),
    )
    return parts[0]._with(tensor, found, *parts[1:])


def sample_from_datasets(
    datasets: Sequence[Dataset], weights: Any = None, seed: Any = None
) -> Dataset:
    """Return each element from one of `datasets`, drawn at random.

    Args:
      datasets: several with elements of one structure.
      weights: how likely each of them is, or a dataset of that for each element; all alike if
        None.
      seed: makes the choice repeatable.

    Raises:
      TypeError: the weights are not float32 or float64.
      ValueError: they are not as many as `datasets`.

    Example:
      >>> from tfdist import Session, data
      >>> numbers = [data.Dataset.range(2), data.Dataset.range(10, 12)]
      >>> sampled = data.experimental.sample_from_datasets(numbers, seed=1)
      >>> following = sampled.make_one_shot_iterator().get_next()
      >>> with Session() as session:
      ...     sorted(int(session.run(following)) for _ in [1, 2, 3, 4])
      [0, 1, 10, 11]
    """
    parts = list(datasets)
    selector = _of_dataset if isinstance(weights, Dataset) else _of_weights
    return _directed(selector(weights, len(parts), seed), parts)


def _pairs(seed: Any) -> Dataset:
    """Return pairs of random numbers, each of which seeds one choice."""
    return RandomDataset(seed).batch(2)


def _chosen(logits: Any, pair: Any) -> Any:
    drawn = raw.StatelessMultinomial(logits, np.int32(1), pair, output_dtype=dtypes.int64)
    return raw.Squeeze(drawn, squeeze_dims=[0, 1])


def _of_weights(weights: Any, count: int, seed: Any) -> Any:
    """Return the numbers of datasets, which are as likely as `weights` say, or all alike."""
    if weights is None:
        logits: Any = np.ones([1, count], np.float32)
    else:
        likely = convert_to_tensor(weights, name="weights")
        _require_weights(likely, count)
        logits = raw.ExpandDims(raw.Log(likely, name="logits"), np.int32(0))

    def select_dataset_constant_logits(pair: Any) -> Any:
        return _chosen(logits, pair)

    return mapping.mapped(_pairs(seed), select_dataset_constant_logits, None, inter_op=False)


def _require_weights(likely: Tensor, count: int) -> None:
    if likely.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(
            "`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements; "
            f"got {likely.dtype.name}."
        )
    if not likely.shape.is_compatible_with([count]):
        raise ValueError(
            f"`weights` must be a vector of length `len(datasets)`, {count}; got {likely.shape}."
        )


def _of_dataset(weights: Dataset, count: int, seed: Any) -> Any:
    """Return the numbers of datasets, each as likely as the next element of `weights` says."""
    logits = weights.map(lambda *likely: raw.Log(convert_to_tensor(likely), name="logits"))

    def select_dataset_varying_logits(logits: Any, pair: Any) -> Any:
        return _chosen(logits, pair)

    both = Dataset.zip((logits, _pairs(seed)))
    return mapping.mapped(both, select_dataset_varying_logits, None, inter_op=False)


class RandomDataset(Dataset):
    """Random int64 numbers without end; `seed` makes them repeatable."""

    def __init__(self, seed: Any = None) -> None:
        spec = TensorSpec([], dtypes.int64)
        first, second = inputs.seeds(seed)
        super().__init__(raw.RandomDataset(first, second, **structure.flat_attrs(spec)), spec)


def get_single_element(dataset: Dataset) -> Any:
    """Return the only element; InvalidArgumentError, when it runs, if there is not just one."""
    told = structure.flat_attrs(dataset._structure)
    tensors = raw.DatasetToSingleElement(dataset._variant_tensor, **told)
    return structure.packed(dataset._structure, tensors)


def cardinality(dataset: Dataset) -> Any:
    """Return the number of elements as a tensor: -1 if there is no end, -2 if it is not known."""
    return raw.DatasetCardinality(dataset._variant_tensor)


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Stage:
    """Return a stage that gives the same elements; they move when a step needs them elsewhere."""
    return lambda dataset: dataset.prefetch(buffer_size)


def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Stage:
    """Return a stage that gives the same elements; they move when a step needs them elsewhere."""
    return lambda dataset: dataset
