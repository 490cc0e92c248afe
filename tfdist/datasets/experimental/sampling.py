"""Datasets that take each element from one of several others: as told, or at random.

Source: TF 1.15 API documentation, tf.data.experimental.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.datasets import inputs, mapping, structure
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.structure import TensorSpec
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor

__all__ = ["RandomDataset", "choose_from_datasets", "sample_from_datasets"]


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
