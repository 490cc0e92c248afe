"""Stages that sum up, choose or gather elements by what they are.

Source: TF 1.15 API documentation, tf.data.experimental.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.shapes import TensorShape
from tfdist.datasets import mapping, structure
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.experimental import as_int64, scan
from tfdist.datasets.functions import TracedFunction
from tfdist.datasets.structure import SparseTensorSpec, TensorSpec
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.random import random_uniform

__all__ = ["Reducer", "dense_to_sparse_batch", "group_by_reducer", "rejection_resample"]

Stage = Callable[[Dataset], Dataset]


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
    """Return a stage that leaves out elements so that their classes come as often as wanted.

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
        count: Any = target.shape.as_list()[0]

        def with_class(*element: Any) -> Any:
            kind = convert_to_tensor(class_func(*element))
            return kind, element if len(element) > 1 else element[0]

        def counted(counts: Any, pair: Any) -> Any:
            counts = counts + raw.OneHot(
                as_int64(pair[0]), np.int32(count), np.float32(1), np.float32(0)
            )
            return counts, (pair[0], pair[1], counts / raw.Sum(counts, [0]))

        def stays(kind: Any, _: Any, known: Any) -> Any:
            ratio = target / (known + np.float32(np.finfo(np.float32).tiny))
            likely = raw.GatherV2(ratio / raw.Max(ratio, [0]), kind, np.int32(0))
            return raw.Less(random_uniform([], seed=seed), likely)

        pairs: Any = mapping.mapped(dataset, with_class, None)
        if initial_dist is None:
            known = pairs.apply(scan(np.full(count, 1e-3, np.float32), counted))
        else:
            fixed = convert_to_tensor(initial_dist, dtypes.float32, name="initial_dist")
            known = pairs.map(lambda kind, element: (kind, element, fixed))
        return known.filter(stays).map(lambda kind, element, _: (kind, element))

    return stage
