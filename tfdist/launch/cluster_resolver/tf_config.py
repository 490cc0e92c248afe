"""The cluster that TF_CONFIG tells."""

from __future__ import annotations

import json
import os
from typing import Any

from tfdist.cluster.spec import ClusterSpec
from tfdist.launch.cluster_resolver.resolver import ClusterResolver, target_of


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
        return target_of(address, self.rpc_layer or rpc_layer)
