"""What a strategy does with variables and with values of several replicas.

Source: TF 1.15 API documentation, tf.distribute.StrategyExtended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

from tfdist.base import nest
from tfdist.graph import replicas, scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.ops.array.concat import concat
from tfdist.ops.autodiff.gradients import IndexedSlices
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.math.add_n import add_n
from tfdist.ops.math.reductions import reduce_mean, reduce_sum
from tfdist.ops.variables.creator_scope import variable_creator_scope
from tfdist.ops.variables.synchronization import VariableAggregation as Aggregation
from tfdist.training.strategies.contexts import ReplicaContext
from tfdist.training.strategies.inputs import InputContext
from tfdist.training.strategies.reduce_op import ReduceOp
from tfdist.training.strategies.replicas import for_each
from tfdist.training.strategies.steps import MultiStepContext
from tfdist.training.strategies.values import PerReplica, all_values, operations, regrouped

__all__ = ["StrategyExtended"]


class StrategyExtended:
    """What a strategy does; `strategy.extended` of each.

    Args:
      container_strategy: the strategy.
      worker_devices: the device of each replica in this process.
      parameter_device: a device, or a function from an Operation to one, for variables.
    """

    _is_distributing = True
    experimental_require_static_shapes = False

    def __init__(
        self, container_strategy: Any, worker_devices: Sequence[str] = ("/device:CPU:0",),
        parameter_device: Any = None,
    ) -> None:  # fmt: skip
        self._strategy = container_strategy
        self.worker_devices = tuple(worker_devices)
        self._parameter_device = parameter_device

    @property
    def parameter_devices(self) -> tuple[Any, ...]:
        """Return where variables stand."""
        return (self._parameter_device or self.worker_devices[0],)

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self.worker_devices)

    @property
    def _first_replica(self) -> int:
        """The number of this process's first replica among those of all workers."""
        return 0

    @property
    def experimental_between_graph(self) -> bool:
        """Return whether each worker builds a graph of its own."""
        return False

    @property
    def experimental_should_init(self) -> bool:
        """Return whether this process initialises variables."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        """Return whether this process saves."""
        return True

    @property
    def should_save_summary(self) -> bool:
        """Return whether this process writes summaries."""
        return True

    @property
    def _merges(self) -> bool:
        """Whether a replica is one of several."""
        return self._num_replicas_in_sync > 1

    # variables

    @contextmanager
    def _scope(self) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(variable_creator_scope(self._create_variable))
            if self._is_distributing:
                stack.enter_context(_on(self._default_device))
            yield

    @property
    def _default_device(self) -> Any:
        return self.worker_devices[0]

    def _create_variable(self, next_creator: Callable[..., Any], **options: Any) -> Any:
        def make() -> Any:
            with _on(self._variable_device()):
                return self._made(next_creator, {**options, "use_resource": True})

        found = replicas.innermost()
        replica = found[1] if found else None
        if replica is None or replica._shared is None:
            return make()
        return replica._shared.variable(make, options.get("name"))

    def _variable_device(self) -> Any:
        return self._parameter_device or self.worker_devices[0]

    def _made(self, next_creator: Callable[..., Any], options: dict[str, Any]) -> Any:
        return next_creator(**options)

    def variable_created_in_scope(self, v: Any) -> bool:
        """Return whether a variable is of this strategy: all of the scope's graph are."""
        return v.graph is scopes.get_default_graph()

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Place variables that are made inside with another one."""
        return scopes.colocate_with(colocate_with_variable.op)

    def read_var(self, v: Any) -> Any:
        """Return the value of a variable."""
        return v.read_value() if hasattr(v, "read_value") else convert_to_tensor(v)

    def value_container(self, value: Any) -> Any:
        """Return the variable that a value belongs to: itself here."""
        return value

    def non_slot_devices(self, var_list: Any) -> Any:
        """Return what variables that belong to no other one are placed with."""
        return min(var_list, key=lambda each: each.name)

    # clusters

    def _configure(self, cluster_spec: Any, task_type: str | None, task_id: int | None) -> None:
        """Take notice of the cluster: a strategy of one process has none."""

    def _filter(self, config: Any) -> None:
        """Let a session wait for no more tasks than it needs."""

    def _input_context(self) -> InputContext:
        return InputContext(num_replicas_in_sync=self._num_replicas_in_sync)

    # replicas

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        """Return what `fn` returns for each replica, PerReplica where they differ.

        Args:
          fn: called once for each replica, in its context.
          args: each PerReplica in it is replaced by the replica's value.
          kwargs: likewise.

        Raises:
          ValueError: some replicas call `merge_call` more often than others.
        """
        made = self._for_each(fn, tuple(args), dict(kwargs or {}))
        return regrouped(made, self.worker_devices)

    def _for_each(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> list[Any]:
        contexts = [ReplicaContext(self._strategy, i) for i in range(len(self.worker_devices))]
        if len(contexts) > 1:  # with one there is nobody to wait for
            return for_each(contexts, fn, args, kwargs)
        with contexts[0], _on(self._replica_device):
            return [fn(*args, **kwargs)]

    @property
    def _replica_device(self) -> Any:
        return self.worker_devices[0]

    def experimental_run_steps_on_iterator(
        self, fn: Callable[..., Any], iterator: Any, iterations: int = 1,
        initial_loop_values: Any = None,
    ) -> Any:  # fmt: skip
        """Return a context whose `run_op` runs `fn(context, inputs)` for some steps.

        Args:
          fn: takes the context, and what the iterator gives.
          iterator: of `make_dataset_iterator`.
          iterations: how many steps one run does.
          initial_loop_values: not used: `fn` keeps its last outputs in the context.
        """
        context = MultiStepContext()
        done: list[Any] = []
        for _ in range(iterations):
            with scopes.control_dependencies(done):
                done = operations(fn(context, iterator.get_next()))
        context.run_op = group(*done)
        return context

    # values

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        """Return what the replicas' values become together.

        Args:
          reduce_op: a ReduceOp, or a VariableAggregation.
          value: PerReplica, or what all have.
          destinations: where it is needed; placement finds out by itself.
        """
        return self._reduced(ReduceOp(reduce_op), value)

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        """Return what `reduce_to` gives for each pair."""
        return [self.reduce_to(reduce_op, *pair) for pair in value_destination_pairs]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """Return the tensor: placement sends it where it is needed."""
        return tensor

    def _reduced(self, reduce_op: ReduceOp, structure: Any) -> Any:
        return nest.map_leaves(lambda each: self._reduced_one(reduce_op, each), structure)

    def _reduced_one(self, reduce_op: ReduceOp, value: Any) -> Any:
        values = all_values(value)
        if len(values) == 1 and reduce_op is ReduceOp.SUM and self._num_local > 1:
            values = values * self._num_local  # the same of each replica
        return self._over_workers(reduce_op, reduced(values, reduce_op is ReduceOp.MEAN))

    @property
    def _num_local(self) -> int:
        return len(self.worker_devices)

    def _over_workers(self, reduce_op: ReduceOp, value: Any) -> Any:
        """Return what the values of all workers become together."""
        return value

    def _aggregated(self, aggregation: Aggregation, values: Any) -> Any:
        """Return the value that a variable is updated by, from those of the replicas."""
        if aggregation is Aggregation.ONLY_FIRST_REPLICA:
            return all_values(values)[0]
        return self._reduced(ReduceOp(aggregation), values)

    def update(
        self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None,
        group: bool = True,
    ) -> Any:  # fmt: skip
        """Return what `fn(var, ...)` gives, made where the variable is.

        Args:
          var: a variable.
          fn: takes it, and the arguments.
          args: further arguments.
          kwargs: by name.
          group: whether to return one result; else a tuple of those of each copy.
        """
        with replicas.entered(self._strategy), scopes.colocate_with(var.op):
            made = fn(var, *args, **(kwargs or {}))
        return made if group else (made,)

    def update_non_slot(
        self, colocate_with: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None,
        group: bool = True,
    ) -> Any:  # fmt: skip
        """Return what `fn(...)` gives, made where other variables are; see `update`."""
        with replicas.entered(self._strategy):
            made = fn(*args, **(kwargs or {}))
        return made if group else (made,)


def _on(device: Any) -> AbstractContextManager[None]:
    """Place nodes made inside on a device; None leaves the request that is around."""
    return nullcontext() if device is None else scopes.device(device)


def reduced(values: Sequence[Any], is_mean: bool) -> Any:
    """Return the sum of values, or their mean: of numbers, tensors, or some rows of tensors."""
    if isinstance(values[0], IndexedSlices):
        rows: Any = concat([each.values for each in values], 0)
        return IndexedSlices(
            rows / len(values) if is_mean else rows,
            concat([each.indices for each in values], 0), values[0].dense_shape,
        )  # fmt: skip
    if len(values) == 1:
        return values[0]
    total: Any = add_n([convert_to_tensor(each) for each in values])
    return total / len(values) if is_mean else total


def over_axis(values: Any, is_mean: bool, axis: int | None) -> Any:
    """Return the sum or mean of all elements along an axis of the replicas' values."""
    if axis is None:
        return values
    function = reduce_mean if is_mean else reduce_sum
    found = [function(each, axis) for each in all_values(values)]
    return found[0] if len(found) == 1 else PerReplica(found)
