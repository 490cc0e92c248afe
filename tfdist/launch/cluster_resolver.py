"""tf.distribute.cluster_resolver: where the tasks of a cluster are.

Source: TF 1.15 API documentation, tf.distribute.cluster_resolver; rules and messages by experiment.
"""

from __future__ import annotations

import abc
import json
import os
from typing import Any

from tfdist.cluster.spec import ClusterSpec

__all__ = [
    "ClusterResolver", "SimpleClusterResolver", "TFConfigClusterResolver", "TPUClusterResolver",
    "UnionResolver",
]  # fmt: skip


def _target(address: str, rpc_layer: str | None) -> str:
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
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """Return how many accelerators a task has, by type, as far as it was told: {}."""
        return {}

    @property
    def environment(self) -> str | None:
        """Return where the cluster runs."""
        return ""


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
        return _target(address, rpc_layer or self.rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """Return how many accelerators a task has, by type."""
        return self._num_accelerators or {}

    @property
    def environment(self) -> str:
        """Return where the cluster runs."""
        return self._environment


class TFConfigClusterResolver(ClusterResolver):
    """The cluster that the environment variable TF_CONFIG tells.

    Args:
      task_type: job of this task, instead of TF_CONFIG's.
      task_id: its index, instead of TF_CONFIG's.
      rpc_layer: stands before "://" in targets, instead of TF_CONFIG's.
      environment: where it runs.

    Example:
      >>> os.environ["TF_CONFIG"] = (
      ...     '{"cluster": {"ps": ["a:1"], "worker": ["b:2"]}, '
      ...     '"task": {"type": "worker", "index": 0}}'
      ... )
      >>> distribute.cluster_resolver.TFConfigClusterResolver().master()
      'b:2'
      >>> del os.environ["TF_CONFIG"]
    """

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:
        self._task_type, self._task_id = task_type, task_id
        self._rpc_layer, self._environment = rpc_layer, environment

    @staticmethod
    def _told() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(os.environ.get("TF_CONFIG", "{}"))
        return found

    @property
    def task_type(self) -> str | None:
        """Return the job of this task."""
        told = self._told().get("task", {}).get("type")
        return self._task_type if self._task_type is not None else told

    @property
    def task_id(self) -> int | None:
        """Return the index of this task."""
        told = self._told().get("task", {}).get("index")
        found = self._task_id if self._task_id is not None else told
        return None if found is None else int(found)

    @property
    def rpc_layer(self) -> str | None:
        """Return what stands before "://" in targets."""
        return self._rpc_layer or self._told().get("rpc_layer")

    @property
    def environment(self) -> str | None:
        """Return where the cluster runs."""
        return self._environment

    def cluster_spec(self) -> ClusterSpec:
        """Return the addresses of all tasks; none without TF_CONFIG."""
        return ClusterSpec(self._told().get("cluster", {}))

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Return the target of a task, by default of this one; "" where it is alone."""
        spec = self.cluster_spec()
        tasks = spec.as_dict()
        if not tasks or (len(tasks) == 1 and len(next(iter(tasks.values()))) == 1):
            return ""
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        address = spec.task_address(kind, number or 0)  # type: ignore[arg-type]
        return _target(address, self.rpc_layer or rpc_layer)


class UnionResolver(ClusterResolver):
    """Several clusters as one: the first one's target, the tasks of all.

    Args:
      *args: ClusterResolvers.
      **kwargs: `task_type`, `task_id` and `rpc_layer`, instead of the first one's.

    Raises:
      ValueError: there are none.
      TypeError: one of them is none.

    Example:
      >>> cluster = contrib.cluster_resolver
      >>> first = cluster.SimpleClusterResolver(train.ClusterSpec({"worker": ["a:1"]}))
      >>> other = cluster.SimpleClusterResolver(train.ClusterSpec({"worker": ["b:2"]}))
      >>> cluster.UnionClusterResolver(first, other).cluster_spec().as_dict()
      {'worker': ['a:1', 'b:2']}
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        for each in args:
            if not isinstance(each, ClusterResolver):
                raise TypeError(
                    f"All arguments must be a sub-class of `ClusterResolver.` Got {each!r}"
                )
        self._resolvers = args
        for name in ("task_type", "task_id", "rpc_layer"):
            given = kwargs.pop(name, None)
            setattr(self, name, given if given is not None else getattr(args[0], name, None))
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided: {', '.join(kwargs)}")

    def cluster_spec(self) -> ClusterSpec:
        """Return the addresses of all tasks.

        Lists of one job follow each other; where a cluster numbers its tasks, all do.

        Raises:
          KeyError: two clusters have a task of one job and number.
        """
        found: dict[str, Any] = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                found[job] = _joined(found[job], tasks) if job in found else tasks
        return ClusterSpec(found)

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Return the target of a task, or that of the first cluster."""
        if task_type is not None and task_id is not None:
            address = self.cluster_spec().task_address(task_type, task_id)
            return _target(address, rpc_layer or self.rpc_layer)  # type: ignore[attr-defined]
        found: str = self._resolvers[0].master(rpc_layer=rpc_layer)
        return found

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """Return what the first cluster says."""
        found: dict[str, int] = self._resolvers[0].num_accelerators(
            task_type, task_id, config_proto
        )
        return found

    @property
    def environment(self) -> str | None:
        """Return what the first cluster says."""
        found: str | None = self._resolvers[0].environment
        return found


def _joined(first: Any, second: Any) -> Any:
    """Return the tasks of two clusters' jobs of one name."""
    if isinstance(first, list) and isinstance(second, list):
        return [*first, *second]
    numbered = [
        dict(enumerate(each)) if isinstance(each, list) else dict(each) for each in (first, second)
    ]
    both = numbered[0].keys() & numbered[1].keys()
    if both:
        raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {both!r}")
    return {**numbered[0], **numbered[1]}


class TPUClusterResolver(SimpleClusterResolver):
    """A TPU at a known address. There are none here: this is for programs that name one.

    Args:
      tpu: address, as "grpc://HOST:PORT"; "" or "local" for this process.
      zone: not used, as `project`, `credentials`, `service` and `discovery_url`: they tell where
        the address of a TPU with a name is asked for.
      project: see `zone`.
      job_name: job of the TPU.
      coordinator_name: job of the coordinator, if there is one.
      coordinator_address: its address.
      credentials: see `zone`.
      service: see `zone`.
      discovery_url: see `zone`.

    Raises:
      ValueError: there is no `tpu`.
      ImportError: `tpu` is a name, which a service of Google's knows the address of.

    Example:
      >>> contrib.cluster_resolver.TPUClusterResolver("grpc://10.0.0.2:8470").master()
      'grpc://10.0.0.2:8470'
    """

    def __init__(
        self,
        tpu: str | None = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ) -> None:
        if tpu is None:
            raise ValueError("Please provide a TPU Name to connect to.")
        layer, is_address, address = tpu.rpartition("://")
        if not is_address and tpu not in ("", "local"):
            raise ImportError(
                f"googleapiclient and oauth2client must tell where the TPU {tpu!r} is, and "
                "tfdist does not use them: give its address, as grpc://HOST:PORT"
            )
        jobs = {job_name: [address]} if is_address else {}
        if is_address and coordinator_name and coordinator_address:
            jobs[coordinator_name] = [coordinator_address]
        super().__init__(ClusterSpec(jobs), address, rpc_layer=layer or None)

    def cluster_spec(self) -> Any:
        """Return the addresses of all tasks; None for this process."""
        return self._cluster_spec if self._cluster_spec.jobs else None
