"""Copies between host and device memory: what crosses from one device of a task to another.

Tasks are cut apart by `partition`. Within a task, a tensor that a GPU made and the CPU takes (or
the other way round, or another GPU) is copied, once for each device that takes it. TensorFlow
cuts the task's piece once more there; here one node does what its `_Send` and `_Recv` would, so
that branches and loops stay whole, and traces and partition graphs show it as those two.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from tfdist.base.dtypes import DType, resource
from tfdist.graph.records import COPY, RECEIVES, SENDS, Node
from tfdist.graph.signatures import walk_args
from tfdist.plan.prune import Endpoint
from tfdist.plan.step_plan import Partition, output_types

WRAPPER = "_wrapper"  # attribute of a node: how its device wraps the function of the kernel


def with_copies(partition: Partition, host: str) -> Partition:
    """Return `partition` with a copy wherever a tensor crosses between devices of its task.

    Args:
      partition: of one task.
      host: full name of the task's first CPU, where feeds enter and fetches leave.
    """
    if not any(_is_gpu(node.device) for node in partition.nodes):
        return partition
    return _Copier(partition, host).copied()


class _Copier:
    """Goes through a partition once."""

    def __init__(self, partition: Partition, host: str) -> None:
        self._partition = partition
        self._fed = frozenset(partition.feeds)
        self._host = host
        self._home = {node.name: node for node in partition.nodes}
        self._numbers = self._free_numbers()
        self._there: dict[tuple[Endpoint, str], Endpoint] = {}  # what was copied, and where to
        self._nodes: list[Node] = []

    def copied(self) -> Partition:
        """Return the partition with its copies."""
        for node in self._partition.nodes:
            if node.inputs:
                inputs = [self._bring(node, i) for i in range(len(node.inputs))]
                node = node._replace(inputs=tuple(inputs))
            self._nodes.append(node)
        fetches = tuple([self._cross(each, self._host) for each in self._partition.fetches])
        return self._partition._replace(nodes=tuple(self._nodes), fetches=fetches)

    def _bring(self, node: Node, position: int) -> Endpoint:
        endpoint = node.inputs[position]
        if node.op == COPY:  # by whoever sent this partition
            return endpoint
        return self._cross(endpoint, node.device)

    def _cross(self, endpoint: Endpoint, target: str) -> Endpoint:
        """Return where a node on `target` finds a tensor: itself, or the copy of it."""
        source = self._source(endpoint)
        if source == target or not (_is_gpu(source) or _is_gpu(target)):
            return endpoint
        dtype = self._type(endpoint)
        if dtype is resource:  # what it stands for stays where it is
            return endpoint
        if (endpoint, target) not in self._there:
            self._there[endpoint, target] = self._copy(endpoint, dtype, source, target)
        return self._there[endpoint, target]

    def _copy(self, endpoint: Endpoint, dtype: DType, source: str, target: str) -> Endpoint:
        name, number, _, own = endpoint[0], *(next(self._numbers) for _ in range(3))
        edge = f"_recv_{name}_{endpoint[1]}" if endpoint in self._fed else name
        attrs = {
            "T": dtype,
            "tensor_name": f"edge_{number}_{edge}".encode(),
            "send_device": source.encode(),
            "recv_device": target.encode(),
        }
        shapes = () if endpoint in self._fed else self._home[name].shapes[endpoint[1] :][:1]
        node = Node(f"{edge}_S{own}", COPY, (endpoint,), (), target, attrs, shapes)
        self._nodes.append(node)
        return node.name, 0

    def _source(self, endpoint: Endpoint) -> str:
        return self._host if endpoint in self._fed else self._home[endpoint[0]].device

    def _type(self, endpoint: Endpoint) -> DType:
        if endpoint[0] in self._home:
            return output_types(self._home[endpoint[0]])[endpoint[1]].base_dtype
        consumers = ((node, i) for node in self._partition.nodes for i in range(len(node.inputs)))
        node, i = next((n, i) for n, i in consumers if n.inputs[i] == endpoint)
        return _input_types(node)[i].base_dtype

    def _free_numbers(self) -> Iterator[int]:
        """Return numbers that no name of the partition ends with."""
        taken = {name.rpartition("_S")[2] for name in self._home}
        return (number for number in itertools.count() if str(number) not in taken)


def device_graphs(partition: Partition, host: str = "") -> list[tuple[Node, ...]]:
    """Return the nodes of each device as TensorFlow tells them: a copy as `_Send` and `_Recv`.

    Args:
      partition: of one task, with its copies or without.
      host: see `with_copies`; "" for a partition that has its copies.
    """
    if not any(_is_gpu(node.device) for node in partition.nodes):
        return [partition.nodes]
    nodes = with_copies(partition, host).nodes if host else partition.nodes
    found: dict[str, list[Node]] = {}
    for node in nodes:
        for each in _sent_and_received(node) if node.op == COPY else (_plain(node),):
            found.setdefault(each.device, []).append(each)
    return [tuple(each) for each in found.values()]


def _plain(node: Node) -> Node:
    """Return `node` without the wrapper that its device has put around the kernel."""
    if WRAPPER not in node.attrs:
        return node
    return node._replace(attrs={key: each for key, each in node.attrs.items() if key != WRAPPER})


def _sent_and_received(node: Node) -> tuple[Node, Node]:
    dtype, source = node.attrs["T"], node.attrs["send_device"].decode()
    names = ("tensor_name", "send_device", "recv_device")
    common = {name: node.attrs[name] for name in names}
    common |= {"send_device_incarnation": 0, "client_terminated": False}
    number = int(common["tensor_name"].split(b"_")[1])
    stem = node.name.rpartition("_S")[0]
    sent = {"T": dtype, **common}
    send = Node(f"{stem}_S{number + 1}", SENDS[0], node.inputs, (), source, sent)
    attrs = {"tensor_type": dtype, **common}
    return send, Node(node.name, RECEIVES[0], (), node.control, node.device, attrs)


def _is_gpu(device: str) -> bool:
    return "/device:GPU:" in device


def _input_types(node: Node) -> Sequence[DType]:
    """Return the types of the inputs of `node`."""
    return [dtype for _, dtype in walk_args(node.op_def.signature.inputs, node.attrs)]
