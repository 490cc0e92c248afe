"""Stages to be applied: each makes a dataset of another one.

Source: TF 1.15 API documentation, tf.data.experimental.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import dtypes
from tfdist.datasets import batching, inputs, mapping, structure
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.functions import TracedFunction
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Counter",
    "cardinality",
    "copy_to_device",
    "enumerate_dataset",
    "get_single_element",
    "ignore_errors",
    "map_and_batch",
    "map_and_batch_with_legacy_function",
    "parallel_interleave",
    "prefetch_to_device",
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


def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Dataset:
    """Return a dataset of the numbers from `start` on, without end."""
    with name_scope("counter"):
        first = convert_to_tensor(start, dtype, name="start")
        each = convert_to_tensor(step, dtype, name="step")
        return scan(first, lambda state, _: (state + each, state))(Dataset.from_tensors(0).repeat())


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
