"""Several clusters as one."""

from __future__ import annotations

from typing import Any

from tfdist.cluster.spec import ClusterSpec
from tfdist.launch.cluster_resolver.resolver import ClusterResolver, Config, target_of


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
            return target_of(address, rpc_layer or self.rpc_layer)  # type: ignore[attr-defined]
        found: str = self._resolvers[0].master(rpc_layer=rpc_layer)
        return found

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Config = None
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
