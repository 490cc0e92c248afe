"""Plans of partial runs: what is fed and fetched goes through the step's rendezvous.

A feed is a `_Recv`, which waits until somebody feeds it; a fetch is a `_Send`. So a step that runs
in parts is a step like any other.

Source: docs/wire.md section 5.3, feed and fetch nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tfdist.base.dtypes import DType
from tfdist.errors import InvalidArgumentError
from tfdist.graph.records import Node
from tfdist.plan.partitioning.cutter import ALIVE
from tfdist.plan.prune import Endpoint
from tfdist.plan.step_plan import Partition, Signature, StepPlan, output_types


class ClientRendezvous:
    """The rendezvous keys between the client of a partial run and its step: on the client's device.

    Args:
      device: full name of the client's device.
      incarnation: the device's.
    """

    def __init__(self, device: str, incarnation: int) -> None:
        self._device, self._incarnation = device, incarnation

    def key(self, endpoint: Endpoint) -> str:
        """Return the key under which a tensor is fed or fetched; outside of all loops."""
        life = self._incarnation & (2**64 - 1)
        return f"{self._device};{life:016x};{self._device};{show(endpoint)};0:0"

    def attrs(self, endpoint: Endpoint) -> dict[str, object]:
        """Return the attributes of the node that feeds or fetches a tensor."""
        device = self._device.encode()
        return {
            "tensor_name": show(endpoint).encode(),
            "send_device": device,
            "send_device_incarnation": self._incarnation,
            "recv_device": device,
            "client_terminated": True,
        }

    def feed(self, endpoint: Endpoint, dtype: DType) -> Node:
        """Return the node that waits for what is fed."""
        attrs = {"tensor_type": dtype, **self.attrs(endpoint), ALIVE: True}
        return Node(f"_recv_{endpoint[0]}_{endpoint[1]}", "_Recv", (), (), self._device, attrs)

    def fetch(self, source: Endpoint, endpoint: Endpoint, dtype: DType) -> Node:
        """Return the node that gives a tensor away which stands at `source` on this task."""
        attrs = {"T": dtype, **self.attrs(endpoint)}
        name = f"_send_{endpoint[0]}_{endpoint[1]}"
        return Node(name, "_Send", (source,), (), self._device, attrs)


def partial_plan(
    plan: StepPlan, nodes: Mapping[str, Node], rendezvous_keys: ClientRendezvous
) -> StepPlan:
    """Return the plan of a step that may run in parts.

    Args:
      plan: of the step that runs whole.
      nodes: of the session's graph, by name.
      rendezvous_keys: makes the keys by which it is fed and fetched.

    Raises:
      InvalidArgumentError: a tensor is both fed and fetched.
    """
    for endpoint in plan.signature.fetches:
        if endpoint in plan.signature.feeds:
            raise InvalidArgumentError(f"{show(endpoint)} is both fed and fetched.")
    client = plan.partitions[0]

    def dtype(endpoint: Endpoint) -> DType:
        return output_types(nodes[endpoint[0]])[endpoint[1]].base_dtype

    feeds = {each: rendezvous_keys.feed(each, dtype(each)) for each in client.feeds}
    fetches = zip(client.fetches, plan.signature.fetches, strict=True)
    sends = [rendezvous_keys.fetch(source, each, dtype(each)) for source, each in fetches]
    made = {each: (node.name, 0) for each, node in feeds.items()}
    inner = [node.taking(made) for node in client.nodes]
    part = Partition(client.task, (*feeds.values(), *inner, *sends), library=client.library)
    return replace(plan, partitions=(part, *plan.partitions[1:]))


def missing_feed(
    nodes: Mapping[str, Node],
    fetches: Iterable[Endpoint],
    signature: Signature,
    pending: Iterable[Endpoint],
) -> Endpoint | None:
    """Return a feed that fetches need and that is `pending`, or None.

    Args:
      nodes: of the session's graph, by name.
      fetches: what is wanted.
      signature: of the whole run.
      pending: what was not fed yet.
    """
    missing, fed = set(pending), set(signature.feeds)
    left, seen = [name for name, _ in fetches], set[str]()
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        for endpoint in nodes[name].inputs:
            if endpoint in missing:
                return endpoint
            if endpoint not in fed:
                left.append(endpoint[0])
        left += nodes[name].control
    return None


def show(endpoint: Endpoint) -> str:
    """Return "NODE:INDEX"."""
    return f"{endpoint[0]}:{endpoint[1]}"
