"""Which strategy is in force, and what a replica can ask and do.

Source: TF 1.15 API documentation, tf.distribute; answers without a strategy by experiment.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import lazy
from tfdist.graph import replicas, scopes
from tfdist.ops.array.constants import constant
from tfdist.ops.variables.synchronization import VariableAggregation as Aggregation
from tfdist.ops.variables.synchronization import VariableSynchronization as Synchronization
from tfdist.training.strategies.reduce_op import ReduceOp
from tfdist.training.strategies.replicas import MergeRequest, Place

__all__ = [
    "ReplicaContext", "experimental_set_strategy", "get_cross_replica_context",
    "get_distribution_strategy", "get_loss_reduction", "get_replica_context", "get_strategy",
    "has_distribution_strategy", "has_strategy", "in_cross_replica_context",
    "require_replica_context",
]  # fmt: skip

# Strategies stand above this file.
default_strategy = lazy.function("tfdist.training.strategies.kinds", "default_strategy")


class ReplicaContext:
    """What a replica's function can ask, and do together with the other replicas.

    Example:
      >>> context = distribute.get_replica_context()
      >>> context.num_replicas_in_sync, context.replica_id_in_sync_group
      (1, 0)
      >>> context.merge_call(lambda strategy, x: x + 1, args=(2,))
      3
    """

    _seat: Any = None
    _shared: Any = None

    def __init__(self, strategy: Any, replica_id_in_sync_group: Any = 0) -> None:
        self._strategy = strategy
        self._number = replica_id_in_sync_group
        self._id: Any = None

    def __enter__(self) -> ReplicaContext:
        self._entered = replicas.entered(self._strategy, self)
        self._entered.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.__exit__(*error)

    @property
    def strategy(self) -> Any:
        """Return the strategy."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """Return how many replicas there are."""
        return self._strategy.num_replicas_in_sync  # type: ignore[no-any-return]

    @property
    def replica_id_in_sync_group(self) -> Any:
        """Return the number of this replica: 0 without a strategy, else a scalar tensor."""
        if not self._strategy.extended._is_distributing:
            return self._number
        if self._id is None:
            first = self._strategy.extended._first_replica
            self._id = constant(first + self._number, name="replica_id_in_sync_group")
        return self._id

    @property
    def devices(self) -> tuple[str, ...]:
        """Return the device of this replica, in a tuple."""
        return (self._strategy.extended.worker_devices[self._number],)

    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Wait for all replicas, and return what one call across all of them gives.

        Args:
          merge_fn: takes the strategy, then the arguments, each PerReplica where replicas differ.
          args: of this replica.
          kwargs: of this replica.

        Raises:
          ValueError: some replicas do not call it.
        """
        given = dict(kwargs or {})
        if self._seat is None:
            with replicas.entered(self._strategy):
                return merge_fn(self._strategy, *args, **given)
        place = Place(scopes.get_default_graph())
        return self._seat.halt(MergeRequest(merge_fn, tuple(args), given, place))

    def all_reduce(self, reduce_op: Any, value: Any) -> Any:
        """Return what the replicas' values become together, the same for each.

        Args:
          reduce_op: a `tf.distribute.ReduceOp`.
          value: a tensor, or a structure of tensors.
        """

        def reduced(strategy: Any, values: Any) -> Any:
            return strategy.extended._reduced(ReduceOp(reduce_op), values)

        return self.merge_call(reduced, args=(value,))

    def _update(self, variable: Any, value: Any, update: Any) -> Any:
        """Return one update by the values of all replicas; see `graph.replicas.updated`."""
        aggregation = variable.aggregation
        if variable.synchronization is Synchronization.ON_READ and aggregation in _SHARES:
            return None
        if aggregation is Aggregation.NONE:
            raise ValueError(
                "You must specify an aggregation method to update a MirroredVariable in Replica "
                "Context. You can do so by passing an explicit value for argument `aggregation` "
                "to tf.Variable(..).e.g. `tf.Variable(..., "
                f"aggregation=tf.VariableAggregation.SUM)`. It is {variable.name}"
            )

        def together(strategy: Any, variable: Any, values: Any) -> Any:
            return update(variable, strategy.extended._aggregated(aggregation, values))

        return self.merge_call(together, args=(variable, value))


_SHARES = (Aggregation.NONE, Aggregation.SUM)  # each replica adds its own


def get_strategy() -> Any:
    """Return the strategy in force; one that has one replica, and does nothing, without any."""
    found = replicas.innermost()
    return default_strategy() if found is None else found[0]


get_distribution_strategy = get_strategy


def experimental_set_strategy(strategy: Any) -> None:
    """Let a strategy be in force from here on, without a block; None ends that."""
    while _KEPT:
        _KEPT.pop().__exit__(None, None, None)
    if strategy is not None:
        _KEPT.append(strategy.scope())
        _KEPT[-1].__enter__()


_KEPT: list[Any] = []


def has_strategy() -> bool:
    """Return whether a strategy is in force."""
    return bool(get_strategy().extended._is_distributing)


has_distribution_strategy = has_strategy


def get_replica_context() -> ReplicaContext | None:
    """Return the context of the replica that is being built, None across replicas."""
    found = replicas.innermost()
    if found is None:
        return ReplicaContext(default_strategy())
    return found[1]  # type: ignore[no-any-return]


def in_cross_replica_context() -> bool:
    """Return whether what is built is for all replicas at once, as directly in a scope."""
    found = replicas.innermost()
    return found is not None and found[1] is None


def get_cross_replica_context() -> Any:
    """Return the strategy if `in_cross_replica_context`, else None."""
    return get_strategy() if in_cross_replica_context() else None


def require_replica_context(replica_ctx: ReplicaContext) -> None:
    """Raise RuntimeError unless `replica_ctx` is the replica that is being built."""
    if get_replica_context() is not replica_ctx:
        raise RuntimeError("Need to be inside the replica context that was given")


def get_loss_reduction() -> ReduceOp:
    """Return how replicas' losses become one: their mean in an estimator, elsewhere their sum."""
    return ReduceOp.MEAN if get_strategy()._scales_loss else ReduceOp.SUM
