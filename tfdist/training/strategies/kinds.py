"""The strategies by name: those of `tf.distribute`, and those of `tf.contrib.distribute`.

Source: TF 1.15 API documentation, tf.distribute and tf.contrib.distribute.
"""

from __future__ import annotations

import enum
import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from tfdist.base import devices as device_names
from tfdist.session.device_lib import list_local_devices
from tfdist.training.strategies.clusters import Collective, InCluster, ParameterServers
from tfdist.training.strategies.extended import StrategyExtended
from tfdist.training.strategies.strategy import Strategy

__all__ = [
    "CentralStorageStrategy", "CollectiveAllReduceStrategy", "CollectiveCommunication",
    "ContribMirroredStrategy", "ContribParameterServerStrategy", "DistributeConfig",
    "MirroredStrategy", "MultiWorkerMirroredStrategy", "OneDeviceStrategy",
    "ParameterServerStrategy",
]  # fmt: skip

_CPU = "/replica:0/task:0/device:CPU:0"


class _None(StrategyExtended):
    """What programs without a strategy have: one replica, where the program says."""

    _is_distributing = False

    def _create_variable(self, next_creator: Any, **options: Any) -> Any:
        return next_creator(**options)

    @property
    def _replica_device(self) -> Any:
        return None


class _Default(Strategy):
    """The strategy of programs that name none."""

    def __init__(self) -> None:
        super().__init__(_None(self))

    def update_config_proto(self, config_proto: Any) -> Any:
        """Return the config."""
        return config_proto


_DEFAULT = _Default()


def default_strategy() -> Strategy:
    """Return the strategy of programs that name none."""
    return _DEFAULT


def _canonical(devices: Sequence[str]) -> list[str]:
    """Return full names of devices of this process.

    Raises:
      AssertionError: there are none, or one stands there twice.
    """
    named = [device_names.parse(each) for each in devices]
    full = [
        each._replace(
            replica=each.replica or 0, task=each.task or 0,
            device_type=each.device_type or "CPU", device_index=each.device_index or 0,
        ).to_string()
        for each in named
    ]  # fmt: skip
    assert full, "Must specify at least one device."
    assert len(set(full)) == len(full), (
        f"No duplicates allowed in `devices` argument: {tuple(full)}"
    )
    return full


def _gpus(number: int) -> list[str]:
    return [f"/replica:0/task:0/device:GPU:{index}" for index in range(number)] or [_CPU]


def _visible() -> list[str]:
    return _gpus(sum(each.device_type == "GPU" for each in list_local_devices()))


class MirroredStrategy(Strategy):
    """Replicas on devices of one process, in step.

    Args:
      devices: a device for each replica; all GPUs by default, the CPU without any. A device that
        is not there is the CPU: see `ConfigProto.allow_soft_placement`.
      cross_device_ops: taken, and not used: sums are made in one way.

    Raises:
      AssertionError: a device stands there twice.
    """

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        chosen = _visible() if devices is None else _canonical(devices)
        super().__init__(StrategyExtended(self, chosen))


class ContribMirroredStrategy(Strategy):
    """Replicas on devices of one process, in step; with the arguments of tf.contrib.distribute.

    Args:
      devices: a device for each replica.
      num_gpus: how many replicas there are, instead of `devices`.
      num_gpus_per_worker: the same.
      cross_device_ops: taken, and not used.
      auto_shard_dataset: taken, and not used: there is one worker.
      cross_tower_ops: taken, and not used.

    Raises:
      ValueError: there are devices and numbers of them.
    """

    def __init__(
        self, devices: Sequence[str] | None = None, num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None, cross_device_ops: Any = None,
        auto_shard_dataset: bool = False, cross_tower_ops: Any = None, **_: Any,
    ) -> None:  # fmt: skip
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        number = num_gpus_per_worker if num_gpus is None else num_gpus
        if devices is not None and number is not None:
            raise ValueError("Must only specify one of `devices` and `num_gpus_per_worker`.")
        if number is not None:
            chosen = _gpus(number)
        else:
            chosen = _visible() if devices is None else _canonical(devices)
        super().__init__(StrategyExtended(self, chosen))


class OneDeviceStrategy(Strategy):
    """One replica, on a device.

    Args:
      device: its name.
    """

    def __init__(self, device: str) -> None:
        super().__init__(StrategyExtended(self, _canonical([device])))


class CentralStorageStrategy(Strategy):
    """Replicas on devices of one process, in step; variables stand on one device.

    Args:
      compute_devices: a device for each replica; all GPUs by default.
      parameter_device: where variables stand.
    """

    def __init__(
        self, compute_devices: Sequence[str] | None = None, parameter_device: str | None = None
    ) -> None:
        chosen = _visible() if compute_devices is None else _canonical(compute_devices)
        extended = StrategyExtended(self, chosen, parameter_device)
        super().__init__(extended)


def _from_environment(extended: InCluster) -> None:
    """Tell a strategy what TF_CONFIG says of this process."""
    told = json.loads(os.environ.get("TF_CONFIG") or "{}")
    task = told.get("task") or {}
    if told.get("cluster"):
        extended._configure(told["cluster"], task.get("type"), int(task.get("index", 0)))


class ParameterServerStrategy(Strategy):
    """Variables stand on parameter servers; workers train without waiting for each other.

    The cluster is that of TF_CONFIG; a process alone keeps its variables.

    Args:
      cluster_resolver: says what the cluster is, instead.
    """

    def __init__(self, cluster_resolver: Any = None) -> None:
        extended = ParameterServers(self, _visible())
        super().__init__(extended)
        _resolved(extended, cluster_resolver)


def _resolved(extended: InCluster, resolver: Any) -> None:
    if resolver is None:
        _from_environment(extended)
    else:
        task = resolver.task_type, resolver.task_id
        extended._configure(resolver.cluster_spec(), *task)


class ContribParameterServerStrategy(Strategy):
    """Variables stand on parameter servers; see `tf.distribute.experimental`'s.

    Args:
      num_gpus_per_worker: how many replicas a worker has, in step; one on the CPU by default.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        super().__init__(ParameterServers(self, _gpus(num_gpus_per_worker)))


class CollectiveCommunication(enum.Enum):
    """How workers add their values up; there is one way here.

    Attributes:
      AUTO: as it is best.
      RING: in a ring.
      NCCL: by NVIDIA's library.
    """

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class MultiWorkerMirroredStrategy(Strategy):
    """Replicas on all workers of a cluster, in step: the workers of TF_CONFIG.

    Args:
      communication: taken, and not used: see `CollectiveCommunication`.
      cluster_resolver: says what the cluster is, instead.
    """

    def __init__(
        self, communication: Any = CollectiveCommunication.AUTO, cluster_resolver: Any = None
    ) -> None:
        extended = Collective(self, _visible())
        super().__init__(extended)
        _resolved(extended, cluster_resolver)


class CollectiveAllReduceStrategy(Strategy):
    """Replicas on all workers of a cluster, in step; the cluster is that of an estimator.

    Args:
      num_gpus_per_worker: how many replicas a worker has; one on the CPU by default.
      communication: taken, and not used.
    """

    def __init__(
        self, num_gpus_per_worker: int = 0, communication: Any = CollectiveCommunication.AUTO,
        **_: Any,
    ) -> None:  # fmt: skip
        super().__init__(Collective(self, _gpus(num_gpus_per_worker)))


class DistributeConfig(NamedTuple):
    """What strategies an estimator has; for `RunConfig(experimental_distribute=...)`.

    Attributes:
      train_distribute: the strategy for training.
      eval_distribute: the strategy for evaluation.
      remote_cluster: tasks that this process trains on, by job.

    Example:
      >>> contrib.distribute.DistributeConfig().remote_cluster is None
      True
    """

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None
