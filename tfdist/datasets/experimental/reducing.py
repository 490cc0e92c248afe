"""Stages that sum up, choose or gather elements by what they are.

Source: TF 1.15 API documentation, tf.data.experimental.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.datasets import mapping, structure
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.experimental.sampling import sample_from_datasets
from tfdist.datasets.experimental.stages import Stage, scan
from tfdist.datasets.functions import TracedFunction
from tfdist.datasets.inputs import as_int64
from tfdist.datasets.structure import SparseTensorSpec, TensorSpec
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.checks.print_assert import Print
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.random.random_ops import random_uniform

__all__ = ["Reducer", "dense_to_sparse_batch", "group_by_reducer", "rejection_resample"]


class Reducer:
    """How `group_by_reducer` sums up the elements of a key.

    Args:
      init_func: gives the first state for a key.
      reduce_func: gives the next state of a state and an element.
      finalize_func: gives the result of the last state.
    """

    def __init__(
        self,
        init_func: Callable[[Any], Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self.init_func, self.reduce_func = init_func, reduce_func
        self.finalize_func = finalize_func


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Stage:
    """Return a stage that gives one result for each key, in their order.

    Args:
      key_func: gives the key of an element.
      reducer: sums the elements of a key up.
    """

    def stage(dataset: Dataset) -> Dataset:
        label = "tf.data.experimental.group_by_reducer()"
        key = mapping.traced(dataset, key_func, label)
        if structure.types_of(key.structure) != dtypes.int64:
            raise ValueError(
                "`key_func` must return a single tensor of tf.int64 scalar. Got "
                f"{structure.show(structure.types_of(key.structure))}."
            )
        first = TracedFunction(reducer.init_func, label, TensorSpec([], dtypes.int64))

        def trace(state: Any) -> TracedFunction:
            return TracedFunction(reducer.reduce_func, label, (state, dataset._structure))

        reduce, state = mapping.loosened(first.structure, trace, lambda found: found)
        last = TracedFunction(reducer.finalize_func, label, state)
        parts = {"key_func": key, "init_func": first, "reduce_func": reduce, "finalize_func": last}
        tensor = raw.ExperimentalGroupByReducerDataset(
            dataset._variant_tensor,
            *(list(part.captured) for part in parts.values()),
            **{name: part.function for name, part in parts.items()},
            **structure.flat_attrs(last.structure),
        )
        return dataset._with(tensor, last.structure)

    return stage


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Stage:
    """Return a stage that makes a SparseTensor of `batch_size` elements of different sizes.

    Args:
      batch_size: number of elements in each.
      row_shape: the dense shape of an element; None or -1 stands for the largest in the batch.
    """

    def stage(dataset: Dataset) -> Dataset:
        spec = dataset._structure
        if not isinstance(spec, TensorSpec) or isinstance(spec, SparseTensorSpec):
            raise TypeError(
                "DenseToSparseDataset requires an input whose elements have a single component, "
                f"whereas the input has {structure.show(structure.types_of(spec))}."
            )
        dims = [None if dim in (None, -1) else int(dim) for dim in TensorShape(row_shape).as_list()]
        rows = np.array([-1 if dim is None else dim for dim in dims], np.int64)
        found = SparseTensorSpec([None, *dims], spec.dtype)
        tensor = raw.DenseToSparseBatchDataset(
            dataset._variant_tensor,
            batch_size,
            convert_to_tensor(rows),
            **structure.flat_attrs(found),
        )
        return dataset._with(tensor, found)

    return stage


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Stage:
    """Return a stage that draws elements so that their classes come as often as wanted.

    As far as their classes allow, elements come as they are; in between come those of the same
    elements that are left of a second run through them, which rare classes survive more often.

    Args:
      class_func: gives the class of an element, a whole number.
      target_dist: how likely each class shall be.
      initial_dist: how likely each is; counted as elements come if None.
      seed: makes the choice repeatable.

    Returns:
      A stage that gives pairs of a class and an element.
    """

    def stage(dataset: Dataset) -> Dataset:
        target = convert_to_tensor(target_dist, dtypes.float32, name="target_dist")
        classes = dataset.map(class_func)
        if initial_dist is None:
            known = _counted(classes, target.shape.as_list()[0])
            both = known.map(lambda initial: _acceptance(initial, target))
            accepted, untouched = both.map(lambda a, _: a), both.map(lambda _, share: share)
        else:
            initial = convert_to_tensor(initial_dist, dtypes.float32, name="initial_dist")
            told = (initial, *_acceptance(initial, target))
            known, accepted, untouched = (Dataset.from_tensors(each).repeat() for each in told)
        likely = Dataset.zip((accepted, known)).map(_warned)
        chosen = _accepted(Dataset.zip((classes, likely, dataset)), seed)
        shares = untouched.map(lambda share: ((share, 1.0 - share),))
        return sample_from_datasets([Dataset.zip((classes, dataset)), chosen], shares, seed)

    return stage


_AT_ONCE = 32  # classes that are counted together
_BEFORE = 10  # elements of each class that count as seen before there are any


def _counted(classes: Dataset, count: Any) -> Dataset:
    """Return for each element how likely the classes are, as far as they were counted then."""

    def update(seen: Any, kinds: Any) -> Any:
        each = raw.OneHot(as_int64(kinds), np.int32(count), np.int64(1), np.int64(0))
        seen = seen + raw.Sum(each, [0])
        likely = raw.Cast(seen / raw.Sum(seen, [0]), DstT=dtypes.float32)
        return seen, raw.Tile(raw.ExpandDims(likely, np.int32(0)), [_AT_ONCE, 1])

    first = np.full(count, _BEFORE, np.int64)
    return classes.batch(_AT_ONCE).apply(scan(first, update)).unbatch()


def _acceptance(initial: Any, target: Any) -> tuple[Any, Any]:
    """Return how likely each class shall survive, and the share of elements that come as they are.

    The share of untouched elements is as large as it can be: with it, the least wanted class need
    not come from anywhere else.
    """
    ratio = target / (initial + np.float32(np.finfo(np.float32).tiny))
    most, least = raw.Max(ratio, [0]), raw.Min(ratio, [0])
    return (ratio - least) / (most - least), least


def _warned(accepted: Any, initial: Any) -> Any:
    """Return `accepted`; when it runs, it is said a few times that most elements are left out."""
    gone = raw.Sum((1.0 - accepted) * initial, [0])
    text = "Proportion of examples rejected by sampler is high: "

    def said() -> Any:
        return Print(accepted, [gone, initial, accepted], text, first_n=10)

    return cond(gone < 0.5, lambda: raw.Identity(accepted), said)


def _accepted(triples: Dataset, seed: Any) -> Dataset:
    """Return pairs of a class and an element, those that survive of triples with a vector."""
    chances = triples.map(lambda kind, a, element: (kind, raw.GatherV2(a, kind, 0), element))
    kept = chances.filter(lambda kind, chance, element: random_uniform([], seed=seed) < chance)
    return kept.map(lambda kind, chance, element: (kind, element)).prefetch(3)
