"""Strategy: what programs hold of a distribution strategy.

Source: TF 1.15 API documentation, tf.distribute.Strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tfdist.base import nest
from tfdist.datasets.dataset import Dataset
from tfdist.graph import replicas
from tfdist.ops.control_flow.identity_group import group
from tfdist.protos import pb
from tfdist.training.strategies import inputs
from tfdist.training.strategies.extended import StrategyExtended, over_axis
from tfdist.training.strategies.inputs import InputReplicationMode
from tfdist.training.strategies.reduce_op import ReduceOp
from tfdist.training.strategies.values import all_values, operations

__all__ = ["Strategy"]


class Strategy:
    """How a model is built for several replicas, and how they come together.

    Args:
      extended: what it does, `StrategyExtended`.

    Example:
      >>> strategy = distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
      >>> strategy.num_replicas_in_sync
      2
      >>> with strategy.scope():
      ...     w = Variable(1.0)
      ...     optimizer = train.GradientDescentOptimizer(0.5)
      ...     step = strategy.experimental_run_v2(lambda: optimizer.minimize(w * w))
      >>> session = Session(config=strategy.update_config_proto(ConfigProto()))
      >>> session.run(global_variables_initializer())
      >>> session.run(strategy.group(step))
      >>> session.run(w)
      np.float32(-1.0)
    """

    _scales_loss = False  # whether losses are divided by the number of replicas: in estimators

    def __init__(self, extended: StrategyExtended) -> None:
        self._extended = extended

    @property
    def extended(self) -> StrategyExtended:
        """Return what libraries ask of it."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """Return how many replicas there are, those of all workers."""
        return self._extended._num_replicas_in_sync

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Let variables be this strategy's, and be across replicas, in the block that follows.

        Raises:
          RuntimeError: the scope of another strategy is around.
        """
        found = replicas.innermost()
        if found is not None and found[0] is not self and found[0].extended._is_distributing:
            raise RuntimeError(
                f"Mixing different tf.distribute.Strategy objects: {found[0]} is not {self}"
            )
        with replicas.entered(self), self._extended._scope():
            yield self

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Place variables that are made inside with another one."""
        return self._extended.colocate_vars_with(colocate_with_variable)

    # input

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """Return an iterator that deals each batch of a dataset out to the replicas."""
        parts = inputs.in_parts(dataset, len(self._extended.worker_devices))
        return inputs.initializable(parts, self._extended)

    def make_input_fn_iterator(
        self,
        input_fn: Callable[..., Any],
        replication_mode: Any = InputReplicationMode.PER_WORKER,
    ) -> Any:
        """Return an iterator that gives each replica a batch of what an input function returns.

        Args:
          input_fn: takes an `InputContext`; returns a Dataset, or a function that returns tensors.
          replication_mode: PER_WORKER.
        """
        return inputs.of_function(input_fn, self._extended)

    def experimental_distribute_dataset(self, dataset: Any) -> Any:
        """Return a dataset whose batches are dealt out to the replicas."""
        parts = inputs.in_parts(dataset, len(self._extended.worker_devices))
        return inputs.DistributedDataset(parts, self._extended)

    def experimental_distribute_datasets_from_function(self, dataset_fn: Any) -> Any:
        """Return what an input function gives, a batch for each replica."""
        made = dataset_fn(self._extended._input_context())
        return inputs.DistributedDataset(made, self._extended)

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """Return a Dataset of the rows of arrays."""
        return Dataset.from_tensor_slices(numpy_input)

    # steps

    def experimental_run(self, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
        """Return what `fn` gives for each replica and its next batch.

        Args:
          fn: takes a batch; a tuple of parts as several arguments would be one here.
          input_iterator: of `make_dataset_iterator`; None for a function of nothing.
        """
        given = () if input_iterator is None else (input_iterator.get_next(),)
        return self.experimental_run_v2(fn, given)

    def experimental_run_v2(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Return what `fn` gives for each replica, in its context.

        Args:
          fn: a function.
          args: each PerReplica in it is replaced by the replica's value.
          kwargs: likewise.
        """
        with self._as_needed():
            return self._extended.call_for_each_replica(fn, args, kwargs)

    @contextmanager
    def _as_needed(self) -> Iterator[None]:
        found = replicas.innermost()
        if found is not None and found[0] is self:
            yield
            return
        with self.scope():
            yield

    run = experimental_run_v2

    def reduce(self, reduce_op: Any, value: Any, axis: int | None = None) -> Any:
        """Return what the replicas' values become together.

        Args:
          reduce_op: a `tf.distribute.ReduceOp`.
          value: PerReplica, or what all have.
          axis: of the values, to be summed up as well; None for none.
        """
        wanted = ReduceOp(reduce_op)
        is_mean = wanted is ReduceOp.MEAN
        along = nest.map_leaves(lambda each: over_axis(each, is_mean, axis), value)
        return self._extended._reduced(wanted, along)

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """Return the values of all replicas of this process."""
        return all_values(value)

    experimental_local_results = unwrap

    def group(self, value: Any, name: str | None = None) -> Any:
        """Return one operation that runs those of all replicas."""
        found = operations(value)
        return found[0] if len(found) == 1 and name is None else group(*found, name=name)

    def call_for_each_tower(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Do as `experimental_run_v2`, under the name of TensorFlow 1.11."""
        kwargs.pop("run_concurrently", None)
        return self.experimental_run_v2(fn, args, kwargs)

    @property
    def num_towers(self) -> int:
        """Return how many replicas there are, under the name of TensorFlow 1.11."""
        return self.num_replicas_in_sync

    # sessions

    def configure(
        self, session_config: Any = None, cluster_spec: Any = None, task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:  # fmt: skip
        """Tell it of the cluster that it is in, and change a ConfigProto accordingly."""
        self._extended._configure(cluster_spec, task_type, task_id)
        if session_config is not None:
            session_config.CopyFrom(self.update_config_proto(session_config))

    def update_config_proto(self, config_proto: Any) -> Any:
        """Return a ConfigProto for sessions that run what was built."""
        changed = pb.ConfigProto()
        changed.CopyFrom(config_proto)
        changed.allow_soft_placement = True
        self._extended._filter(changed)
        return changed

    def __deepcopy__(self, memo: Any) -> Strategy:
        """Return itself: it stands in configs, which are copied."""
        return self
