"""Input of strategies: batches dealt out to replicas.

Source: TF 1.15 API documentation, tf.distribute.Strategy; shapes of parts by experiment.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from tfdist.base import nest
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.iterators import make_initializable_iterator, make_one_shot_iterator
from tfdist.graph import scopes
from tfdist.graph.operation import Operation
from tfdist.ops.array.concat import concat
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.control_flow.identity_group import no_op
from tfdist.training.strategies.values import PerReplica, regrouped

__all__ = ["InputContext", "InputReplicationMode"]


class InputReplicationMode(enum.Enum):
    """How often an input function is called.

    Attributes:
      PER_WORKER: once on each worker, whose replicas share what it gives.
    """

    PER_WORKER = "PER_WORKER"


class InputContext:
    """What an input function can ask: which part of the input is its own.

    Example:
      >>> context = distribute.InputContext(num_input_pipelines=2, input_pipeline_id=1)
      >>> context.num_replicas_in_sync
      1
    """

    def __init__(
        self, num_input_pipelines: int = 1, input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:  # fmt: skip
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Return how many examples of a batch a replica takes.

        Raises:
          ValueError: it is no whole number.
        """
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by "
                f"`num_replicas_in_sync` {self.num_replicas_in_sync} "
            )
        return global_batch_size // self.num_replicas_in_sync

    def __repr__(self) -> str:
        return (
            f"tf.distribute.InputContext(input pipeline id {self.input_pipeline_id}, total: "
            f"{self.num_input_pipelines})"
        )


class ReplicaIterator:
    """Gives each replica the next batch in turn."""

    def __init__(self, iterator: Any, devices: tuple[str, ...], initializer: Any = None) -> None:
        self._iterator, self._devices, self._initializer = iterator, devices, initializer

    def get_next(self, name: str | None = None) -> Any:
        """Return the next batch of each replica."""
        made = []
        for device in self._devices:
            with scopes.device(device):
                made.append(self._iterator.get_next())
        return regrouped(made, self._devices)

    @property
    def initializer(self) -> Operation:
        """Return the operation that begins anew."""
        return self.initialize()

    def initialize(self) -> Any:
        """Return the operation that begins anew."""
        return no_op() if self._initializer is None else self._initializer

    @property
    def output_classes(self) -> Any:
        """Return the classes of a batch's parts."""
        return self._iterator.output_classes

    @property
    def output_shapes(self) -> Any:
        """Return the shapes of a batch's parts."""
        return self._iterator.output_shapes

    @property
    def output_types(self) -> Any:
        """Return the types of a batch's parts."""
        return self._iterator.output_types


class DistributedDataset:
    """A dataset whose batches are dealt out to replicas."""

    def __init__(self, dataset: Any, extended: Any) -> None:
        self._dataset, self._extended = dataset, extended

    def make_initializable_iterator(self) -> ReplicaIterator:
        """Return an iterator that is to be initialized."""
        return initializable(self._dataset, self._extended)

    def make_one_shot_iterator(self) -> ReplicaIterator:
        """Return an iterator that begins by itself."""
        made = make_one_shot_iterator(self._dataset)
        return ReplicaIterator(made, self._extended.worker_devices)

    def __iter__(self) -> Any:
        """Yield batches, where datasets can be iterated over."""
        return iter(self._dataset)

    @property
    def element_spec(self) -> Any:
        """Return the specs of a batch's parts."""
        return self._dataset.element_spec


def initializable(dataset: Any, extended: Any) -> ReplicaIterator:
    """Return an iterator over a dataset that gives each replica a batch of its own."""
    made = make_initializable_iterator(dataset)
    return ReplicaIterator(made, extended.worker_devices, made.initializer)


def in_parts(dataset: Any, parts: int) -> Any:
    """Return a dataset of batches as one of parts of batches, as many of each as replicas."""
    if parts == 1:
        return dataset

    def split(*batch: Any) -> Any:
        structure = batch[0] if len(batch) == 1 else batch
        return Dataset.from_tensor_slices(
            nest.map_leaves(lambda each: _split(each, parts), structure)
        )

    return dataset.flat_map(split)


def _split(batch: Any, parts: int) -> Any:
    """Return [parts, rows of each, ...]."""
    sizes: Any = shape(batch)
    made = reshape(batch, concat([[parts, sizes[0] // parts], sizes[1:]], 0))
    known = batch.shape.as_list()
    rows = None if known[0] is None else known[0] // parts
    made.set_shape([parts, rows, *known[1:]])
    return made


def of_function(
    input_fn: Callable[[InputContext], Any], extended: Any
) -> Any:  # fmt: skip
    """Return an iterator over what an input function gives: a Dataset, or a function of tensors."""
    made = input_fn(extended._input_context())
    if callable(made) and not hasattr(made, "map"):
        return _Called(made, extended.worker_devices)
    return initializable(made, extended)


class _Called:
    """Gives each replica what a function returns."""

    def __init__(self, function: Callable[[], Any], devices: tuple[str, ...]) -> None:
        self._function, self._devices = function, devices

    def get_next(self, name: str | None = None) -> Any:
        """Return what the function returns, for each replica."""
        made = [self._function() for _ in self._devices]
        return made[0] if len(made) == 1 else PerReplica(made, self._devices)

    def initialize(self) -> Any:
        """Return an operation that does nothing."""
        return no_op()
