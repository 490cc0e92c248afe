"""What strategies do in a cluster: variables on parameter servers, or gradients over workers.

Source: TF 1.15 API documentation, tf.distribute.experimental.ParameterServerStrategy and
tf.distribute.experimental.MultiWorkerMirroredStrategy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.cluster.spec import ClusterSpec
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.synchronization import VariableSynchronization as Synchronization
from tfdist.training.replicas.device_setter import STATE_OPS, replica_device_setter
from tfdist.training.strategies.all_reduce import all_reduced, broadcast
from tfdist.training.strategies.extended import StrategyExtended
from tfdist.training.strategies.inputs import InputContext
from tfdist.training.strategies.reduce_op import ReduceOp

__all__: list[str] = []

_TRAINING = ("chief", "master", "worker")


class InCluster(StrategyExtended):
    """A strategy whose workers each build a graph of their own."""

    _cluster = ClusterSpec({})
    _job = "worker"
    _index = 0

    def __init__(self, container_strategy: Any, worker_devices: Sequence[str]) -> None:
        super().__init__(container_strategy, worker_devices, _parameters(worker_devices))
        self._local_devices = self.worker_devices

    @property
    def experimental_between_graph(self) -> bool:
        """Return whether each worker builds a graph of its own: in a cluster."""
        return bool(self._workers)

    @property
    def _workers(self) -> list[str]:
        """The device of each task that trains."""
        return [
            f"/job:{job}/replica:0/task:{index}"
            for job in _TRAINING
            if job in self._cluster.jobs
            for index in self._cluster.task_indices(job)
        ]

    @property
    def _own(self) -> str:
        return f"/job:{self._job}/replica:0/task:{self._index}"

    @property
    def _number(self) -> int:
        return self._workers.index(self._own)

    def _configure(self, cluster_spec: Any, task_type: str | None, task_id: int | None) -> None:
        self._cluster = ClusterSpec(cluster_spec or {})
        self._job, self._index = task_type or "worker", task_id or 0
        if self._own not in self._workers:  # a process alone, or an evaluator
            self._cluster = ClusterSpec({})
        own = self._own if self._workers else "/replica:0/task:0"
        self.worker_devices = tuple(
            f"{own}/{device.rpartition('/')[2]}" for device in self._local_devices
        )
        self._parameter_device = _parameters(self.worker_devices)

    def _input_context(self) -> InputContext:
        number = self._number if self._workers else 0
        pipelines = len(self._workers) or 1
        return InputContext(pipelines, number, self._num_replicas_in_sync)


def _parameters(devices: Sequence[str]) -> str:
    """Return where a task's variables stand: with its replica, on its CPU if there are several."""
    return devices[0] if len(devices) == 1 else f"{devices[0].rpartition('/')[0]}/device:CPU:0"


class ParameterServers(InCluster):
    """Variables stand on parameter servers; workers train without waiting for each other."""

    @property
    def _default_device(self) -> Any:
        return self._setter() if self._has_servers else super()._default_device

    @property
    def _replica_device(self) -> Any:
        return None if self._has_servers else super()._replica_device

    @property
    def _has_servers(self) -> bool:
        return bool(self._workers) and "ps" in self._cluster.jobs

    def _setter(self) -> Any:
        return replica_device_setter(
            worker_device=self._own, cluster=self._cluster, ps_ops=list(STATE_OPS)
        )

    def _variable_device(self) -> Any:
        return None if self._has_servers else super()._variable_device()

    @property
    def experimental_should_init(self) -> bool:
        """Return whether this worker initialises variables: the first one does."""
        return not self._workers or not self._number

    @property
    def should_checkpoint(self) -> bool:
        """Return whether this worker saves."""
        return self.experimental_should_init

    @property
    def should_save_summary(self) -> bool:
        """Return whether this worker writes summaries."""
        return self.experimental_should_init

    def _filter(self, config: Any) -> None:
        if self._has_servers:
            del config.device_filters[:]
            config.device_filters.extend(["/job:ps", f"/job:{self._job}/task:{self._index}"])


class Collective(InCluster):
    """Each worker has all variables; the gradients of all are added before each changes its own."""

    @property
    def _merges(self) -> bool:
        return self._num_replicas_in_sync > 1

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self.worker_devices) * (len(self._workers) or 1)

    @property
    def _first_replica(self) -> int:
        return len(self.worker_devices) * (self._number if self._workers else 0)

    def _over_workers(self, reduce_op: ReduceOp, value: Any) -> Any:
        if len(self._workers) < 2:
            return value
        total = all_reduced(value, self._workers, self._number)
        return total / len(self._workers) if reduce_op is ReduceOp.MEAN else total

    def _made(self, next_creator: Callable[..., Any], options: dict[str, Any]) -> Any:
        """Return a variable that begins with the first worker's value."""
        collections = options.get("collections") or [GraphKeys.GLOBAL_VARIABLES]
        is_shared = GraphKeys.GLOBAL_VARIABLES in collections and (
            options.get("synchronization") is not Synchronization.ON_READ
        )
        value = options.get("initial_value")
        if len(self._workers) < 2 or not is_shared or value is None:
            return next_creator(**options)

        # no function of the value: what a function makes stands with the variable, queues too
        with scopes.init_scope(), scopes.name_scope(f"{options.get('name') or 'Variable'}_value"):
            own = convert_to_tensor(value() if callable(value) else value, options.get("dtype"))
            first = broadcast(own, self._workers, self._number)
        first.set_shape(own.shape)
        return next_creator(**{**options, "initial_value": first})

    @property
    def should_checkpoint(self) -> bool:
        """Return whether this worker saves: the first one does."""
        return not self._workers or not self._number

    @property
    def should_save_summary(self) -> bool:
        """Return whether this worker writes summaries."""
        return self.should_checkpoint

    def _filter(self, config: Any) -> None:
        if len(self._workers) > 1:
            del config.device_filters[:]
            needed = [self._workers[0], self._own] if self._number else self._workers
            config.device_filters.extend(each.replace("/replica:0", "") for each in needed)
