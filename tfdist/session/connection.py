"""Connection: a session at its master: which nodes it has sent, what it asked for."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation
from tfdist.graph.records import records
from tfdist.plan.partition import Signature
from tfdist.plan.prune import prune
from tfdist.runtime.master import Master, PreparedStep, SessionOptions
from tfdist.runtime.peers import find_task
from tfdist.runtime.task import local_task
from tfdist.session.recording import PlacedNode


def find_master(target: str, cpus: int = 1) -> Master:
    """Return the master behind a session's target.

    Args:
      target: "" for one of its own in this process, or "grpc://HOST:PORT".
      cpus: CPU devices of its own task.

    Raises:
      UnavailableError: no server answers there.
    """
    if not target:
        return local_task(cpus).master
    return find_task(target.removeprefix("grpc://")).master  # type: ignore[no-any-return]


class Connection:
    """A session that is open at its master.

    Args:
      target: see `find_master`.
      graph: that the session runs.
      config: a ConfigProto or None.
    """

    def __init__(self, target: str, graph: Graph, config: Any) -> None:
        self.master = find_master(target, config.device_count.get("CPU", 1) if config else 1)
        self.handle = self.master.create_session(_options(config))
        self._graph = graph
        self._logs_placement = config is not None and config.log_device_placement
        self._sent = 0
        self._version = 0

    def extend(self) -> None:
        """Send the nodes that were added to the graph since the last time."""
        new = self._graph.operations_since(self._sent)
        if not new:
            return
        self._version = self.master.extend_session(self.handle, records(new), self._version)
        self._sent += len(new)
        if self._logs_placement:
            self._log_placement(new)

    def prepare(self, signature: Signature) -> PreparedStep:
        """Return a step, planned and registered on its tasks."""
        return self.master.prepare(self.handle, signature)

    def devices(self) -> list[Any]:
        """Return the devices that the session spans (`runtime.devices.Device`)."""
        return self.master.devices(self.handle)

    def placed(self, signature: Signature | None) -> Iterator[PlacedNode]:
        """Yield the nodes that a step of `signature` needs, or all, with their devices."""
        placement = self.master.placement(self.handle)
        nodes = {node.name: node for node in records(self._graph.get_operations()[: self._sent])}
        wanted: Iterable[Any] = nodes.values()
        if signature is not None:
            roots = itertools.chain((name for name, _ in signature.fetches), signature.targets)
            wanted = prune(nodes, roots, frozenset(signature.feeds))
        for node in wanted:
            there = placement[node.name]
            inputs = (*(name for name, _ in node.inputs), *(f"^{name}" for name in node.control))
            yield PlacedNode(node.name, node.op, node.device, there.device, there.reason, inputs)

    def close(self) -> None:
        """Close the session at its master."""
        self.master.close_session(self.handle)

    def _log_placement(self, new: Iterable[Operation]) -> None:
        placement = self.master.placement(self.handle)
        for op in new:
            sys.stderr.write(f"{op.name}: ({op.type}): {placement[op.name].device}\n")


def _options(config: Any) -> SessionOptions:
    default = os.environ.get("TFDIST_DEFAULT_DEVICE", "cluster")
    if config is None:
        return SessionOptions(default_device=default)
    return SessionOptions(config.allow_soft_placement, default, tuple(config.device_filters))
