"""replica_device_setter: variables on parameter servers in turn, everything else on the worker.

Source: TF 1.15 API documentation, tf.train.replica_device_setter.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from tfdist.base import devices
from tfdist.cluster.spec import ClusterSpec
from tfdist.graph.operation import Operation

# Ops that hold what replicas share.
STATE_OPS = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable",
             "MutableHashTableV2", "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2",
             "MutableDenseHashTable", "MutableDenseHashTableV2", "VarHandleOp",
             "BoostedTreesEnsembleResourceHandleOp")  # fmt: skip


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str | Callable[[Operation], Any] | None = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Iterable[str] | None = None,
    ps_strategy: Callable[[Operation], int] | None = None,
) -> Callable[[Operation], str] | None:
    """Return a function for `tf.device` that spreads variables over parameter servers.

    Args:
      ps_tasks: number of parameter servers; taken from `cluster` if that is given.
      ps_device: device of the parameter servers, without task.
      worker_device: device of everything else; None for no request, or a function from an
        Operation to one.
      merge_devices: whether what inner scopes ask for is completed; if not, an operation for which
        they ask for anything is left as it is.
      cluster: a ClusterSpec, ClusterDef or dict.
      ps_ops: names of the ops that go to parameter servers; those that hold variables by default.
      ps_strategy: function from an Operation to the task index it goes to; in turn by default.
        See `tf.contrib.training.GreedyLoadBalancingStrategy`.

    Returns:
      The function, or None if there are no parameter servers.

    Raises:
      TypeError: `ps_strategy` is not callable.

    Example:
      >>> with device(replica_device_setter(ps_tasks=2)):
      ...     a, b, c = Variable(1.0), Variable(2.0), Variable(3.0)
      >>> a.device, b.device, c.device, (a + b).device
      ('/job:ps/task:0', '/job:ps/task:1', '/job:ps/task:0', '')
    """
    if cluster is not None:
        job = devices.parse(ps_device).job
        spec = ClusterSpec(cluster)
        ps_tasks = spec.num_tasks(job) if job in spec.jobs else 0  # type: ignore[arg-type]
    if not ps_tasks:
        return None
    if ps_strategy is not None and not callable(ps_strategy):
        raise TypeError(f"ps_strategy must be a function of an Operation, got {ps_strategy!r}")
    choose = ps_strategy or round_robin(ps_tasks)
    shared = frozenset(STATE_OPS if ps_ops is None else ps_ops)

    def setter(op: Operation) -> str:
        asked = devices.parse(op.device)
        if op.device and not merge_devices:
            return op.device
        if op.type not in shared or not ps_device:
            return devices.merge(_asked(worker_device, op), op.device)
        wanted = devices.parse(ps_device)
        if wanted.job and asked.job in (None, wanted.job):
            wanted = wanted._replace(task=choose(op))
        return wanted.merge_from(asked).to_string()

    return setter


def _asked(device: str | Callable[[Operation], Any] | None, op: Operation) -> str:
    """Return what a device or a function from an Operation to one asks for."""
    found = device(op) if callable(device) else device
    return "" if found is None else str(found)


def round_robin(tasks: int) -> Callable[[Operation], int]:
    """Return a strategy that takes the tasks in turn."""
    turn = itertools.count()
    return lambda op: next(turn) % tasks
