"""What every resolver answers, and what one answers whose cluster is known."""

from __future__ import annotations

import abc
from typing import Any, TypeAlias

from tfdist.cluster.spec import ClusterSpec

Config: TypeAlias = Any  # a ConfigProto; nothing here reads it


def target_of(address: str, rpc_layer: str | None) -> str:
    """Return the target of sessions with `address`."""
    return f"{rpc_layer}://{address}" if rpc_layer else address


class ClusterResolver(abc.ABC):
    """What knows where the tasks of a cluster are."""

    @abc.abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """Return the addresses of all tasks."""

    @abc.abstractmethod
    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Return the target of sessions: of a task, or of what it was made with.

        Args:
          task_type: job of the task.
          task_id: its index.
          rpc_layer: stands before "://" in the target, such as "grpc".
        """

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Config = None
    ) -> dict[str, int]:
        """Return how many accelerators a task has, by type, as far as it was told: {}."""
        return {}

    @property
    def environment(self) -> str | None:
        """Return where the cluster runs."""
        return ""


class AskedResolver(ClusterResolver):
    """One whose cluster is asked for anew each time, of whatever started its tasks.

    Args:
      rpc_layer: stands before "://" in targets.

    Attributes:
      task_type: job of this task, None while it is not known.
      task_id: its index.
    """

    def __init__(self, rpc_layer: str | None) -> None:
        self.task_type: str | None = None
        self.task_id: int | None = None
        self.rpc_layer = rpc_layer

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Return the target of a task, by default of this one; "" while that is not known."""
        job = self.task_type if task_type is None else task_type
        task = self.task_id if task_id is None else task_id
        if job is None or task is None:
            return ""
        return target_of(self.cluster_spec().task_address(job, task), rpc_layer or self.rpc_layer)


class SimpleClusterResolver(ClusterResolver):
    """A cluster whose addresses are known.

    Args:
      cluster_spec: ClusterSpec.
      master: target of sessions.
      task_type: job of this task.
      task_id: its index.
      environment: where it runs.
      num_accelerators: how many accelerators each task has, by type.
      rpc_layer: stands before "://" in targets.

    Raises:
      TypeError: `cluster_spec` is none.

    Example:
      >>> spec = train.ClusterSpec({"worker": ["a:1", "b:2"]})
      >>> resolver = distribute.cluster_resolver.SimpleClusterResolver(spec)
      >>> resolver.master("worker", 1, "grpc")
      'grpc://b:2'
    """

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: dict[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError(f"cluster_spec must be a ClusterSpec. Got {cluster_spec!r}")
        self._cluster_spec, self._master = cluster_spec, master
        self._environment, self._num_accelerators = environment, num_accelerators
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """Return the addresses of all tasks."""
        return self._cluster_spec

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Return the target of a task, or the one that it was made with."""
        address = self._master
        if task_type is not None and task_id is not None:
            address = self._cluster_spec.task_address(task_type, task_id)
        return target_of(address, rpc_layer or self.rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Config = None
    ) -> dict[str, int]:
        """Return how many accelerators a task has, by type."""
        return self._num_accelerators or {}

    @property
    def environment(self) -> str:
        """Return where the cluster runs."""
        return self._environment
