"""Where nodes of a step may run, as plain numbers: what placement algorithms and evaluators see.

Nodes are numbered in topological order, devices as the cluster lists them. What must share a
device is one group. What is fed and fetched stands as nodes of its own on the client's device.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from tfdist.base import devices as device_names
from tfdist.base.devices import DeviceSpec
from tfdist.base.dtypes import resource
from tfdist.errors import InvalidArgumentError
from tfdist.graph.records import Node
from tfdist.plan.frames import frames_of
from tfdist.plan.gpu_kernels import kernel_types
from tfdist.plan.place import colocation_groups
from tfdist.plan.prune import Endpoint, prune
from tfdist.plan.step_plan import Signature, output_types
from tfdist.simulation.step_costs import Links, StepCosts, Way
from tfdist.tracing.device_names import task_of

CONTROL = -1  # the port of a control edge
Edge = tuple[int, int]  # (maker, its port)


@dataclass(frozen=True)
class PlacementProblem:
    """Nodes, what they cost, and where they may run.

    Attributes:
      names: of the nodes; "" for what is fed or fetched.
      cost_us: microseconds of each.
      inputs: for each node the edges that come in.
      edge_bytes: size of what an edge carries; 0 if it is not there.
      groups: the group of each node.
      allowed: for each group the devices that it may have.
      devices: their full names.
      client: the device where feeds enter and fetches leave.
      links: what a transfer costs.
      ways: what of that is otherwise between two devices, by their numbers.
      in_one_process: whether all tasks share one driver, and tensors cross by reference.
      processors: that what computes at the same time shares.
      state_bytes: for each group what it keeps from step to step.
      limit_bytes: of each device; empty for none.
    """

    names: tuple[str, ...]
    cost_us: tuple[float, ...]
    inputs: tuple[tuple[Edge, ...], ...]
    edge_bytes: Mapping[Edge, int]
    groups: tuple[int, ...]
    allowed: tuple[tuple[int, ...], ...]
    devices: tuple[str, ...]
    client: int
    links: Links
    in_one_process: bool = False
    processors: float = 1e9
    state_bytes: tuple[int, ...] = ()
    limit_bytes: tuple[int, ...] = ()
    ways: Mapping[tuple[int, int], Way] = field(default_factory=dict)

    def way_us(self, source: int, target: int, size: int) -> float:
        """Return how long a tensor is on its way from one device to another, nobody being busy."""
        way = self.ways.get((source, target))
        if way is None:
            return self.links.message_us + self.links.way_byte_us * size
        return way.message_us + way.byte_us * size

    @cached_property
    def outputs(self) -> list[list[Edge]]:
        """Return for each node the (taker, port) of each edge that goes out."""
        found: list[list[Edge]] = [[] for _ in self.names]
        for taker, edges in enumerate(self.inputs):
            for maker, port in edges:
                found[maker].append((taker, port))
        return found

    @cached_property
    def members(self) -> list[list[int]]:
        """Return the nodes of each group."""
        found: list[list[int]] = [[] for _ in self.allowed]
        for node, group in enumerate(self.groups):
            found[group].append(node)
        return found

    @property
    def movable(self) -> list[int]:
        """Return the groups that may have one of several devices."""
        return [group for group, devices in enumerate(self.allowed) if len(devices) > 1]

    def by_name(self, placed: Sequence[int]) -> dict[str, str]:
        """Return the device of each node by its name."""
        pairs = zip(self.names, placed, strict=True)
        return {name: self.devices[device] for name, device in pairs if name}

    def numbers(self, devices: Mapping[str, str]) -> list[int]:
        """Return the device's number of each node; the client's of what is fed or fetched."""
        number = {name: i for i, name in enumerate(self.devices)}
        return [number.get(devices.get(name, ""), self.client) for name in self.names]


class Cluster(NamedTuple):
    """What a step may run on.

    Attributes:
      devices: of all tasks.
      client: full name of the device where feeds enter and fetches leave.
      in_one_process: whether all tasks are in one.
      processors: that they share.
      limits: bytes that a device may keep from step to step, by its full name.
    """

    devices: Sequence[DeviceSpec]
    client: str
    in_one_process: bool = False
    processors: float = 1e9
    limits: Mapping[str, int] = {}


def placement_problem(
    nodes: Mapping[str, Node],
    signature: Signature,
    costs: StepCosts,
    cluster: Cluster,
    now: Mapping[str, str],
    move_state: bool = False,
) -> PlacementProblem:
    """Return the problem of placing what a step needs.

    Pins, colocation and kernels hold. A loop stays on one device.

    Args:
      nodes: the graph's, by name.
      signature: what is fed and fetched.
      costs: of nodes and links.
      cluster: what it may run on.
      now: the device of each node, where it is placed now.
      move_state: whether variables, queues and the like may move; they begin empty elsewhere.

    Raises:
      InvalidArgumentError: a needed node has no device.
    """
    return _Builder(nodes, signature, costs, cluster, now, move_state).build()


class _Builder:
    """Collects the columns of a problem."""

    def __init__(
        self,
        nodes: Mapping[str, Node],
        signature: Signature,
        costs: StepCosts,
        cluster: Cluster,
        now: Mapping[str, str],
        move_state: bool,
    ) -> None:
        self._nodes, self._signature, self._costs = nodes, signature, costs
        self._cluster, self._now, self._move_state = cluster, now, move_state
        self._fed = frozenset(signature.feeds)
        roots = [name for name, port in signature.fetches if (name, port) not in self._fed]
        self._needed = prune(nodes, (*roots, *signature.targets), self._fed)
        self._names: list[str] = []
        self._cost: list[float] = []
        self._inputs: list[tuple[Edge, ...]] = []
        self._groups: list[int] = []
        self._allowed: list[tuple[int, ...]] = []
        self._state: list[int] = []
        self._number: dict[str, int] = {}
        self._feeds: dict[Endpoint, int] = {}
        self._device_number = {str(each): i for i, each in enumerate(cluster.devices)}
        self._client = self._device_number[cluster.client]

    def build(self) -> PlacementProblem:
        """Return the problem."""
        group_of = self._add_groups()
        for endpoint in self._signature.feeds:
            self._feeds[endpoint] = self._add_client_node(())
        for node in self._needed:
            number = self._add(node.name, group_of[node.name], self._edges(node))
            self._number[node.name] = number
            self._cost[number] = self._costs.of(node.name, node.op)
        for endpoint in self._signature.fetches:
            self._add_client_node((self._edge(endpoint),) if self._edge(endpoint) else ())
        return PlacementProblem(
            tuple(self._names), tuple(self._cost), tuple(self._inputs), self._edge_bytes(),
            tuple(self._groups), tuple(self._allowed), tuple(map(str, self._cluster.devices)),
            self._client, self._costs.links, self._cluster.in_one_process,
            self._cluster.processors, tuple(self._state), self._limits(), self._ways(),
        )  # fmt: skip

    def _add(self, name: str, group: int, edges: tuple[Edge, ...]) -> int:
        self._names.append(name)
        self._cost.append(0.0)
        self._inputs.append(edges)
        self._groups.append(group)
        return len(self._names) - 1

    def _add_client_node(self, edges: tuple[Edge | None, ...]) -> int:
        """Add what is fed or fetched; it is where the client is."""
        self._allowed.append((self._client,))
        self._state.append(0)
        return self._add("", len(self._allowed) - 1, tuple([each for each in edges if each]))

    def _add_groups(self) -> dict[str, int]:
        """Number what shares a device; returns the group of each needed node."""
        needed = {node.name for node in self._needed}
        group_of: dict[str, int] = {}
        for names in self._colocated():
            inside = [self._nodes[name] for name in names if name in needed]
            if inside:
                group_of.update((node.name, len(self._allowed)) for node in inside)
                self._allowed.append(self._devices_for([self._nodes[name] for name in names]))
                self._state.append(sum(self._kept_bytes(node) for node in inside))
        return group_of

    def _colocated(self) -> list[list[str]]:
        """Return the names that share a device: those of one loop, too."""
        groups = colocation_groups(list(self._nodes.values()), self._nodes)
        paths = frames_of(self._needed, self._fed).gives_to
        loops: dict[object, list[str]] = defaultdict(list)
        found = []
        for names in groups:
            path = next((paths[name] for name in names if paths.get(name)), None)
            if path:
                loops[path[0]] += names
            else:
                found.append(names)
        return [*found, *loops.values()]

    def _devices_for(self, nodes: Sequence[Node]) -> tuple[int, ...]:
        """Return the devices that a group may have: its present one if no other fits."""
        present = next((self._now[n.name] for n in nodes if self._now.get(n.name)), "")
        if present not in self._device_number:
            raise InvalidArgumentError(f"node {nodes[0].name} has no device: nothing can be moved")
        fixed = self._device_number[present]
        if not self._move_state and any(map(_keeps_state, nodes)):
            return (fixed,)
        requests = [device_names.parse(node.device) for node in nodes if node.device]
        types = frozenset.intersection(*map(kernel_types, nodes))
        fitting = [
            i
            for i, device in enumerate(self._cluster.devices)
            if device.device_type in types and all(each.matches(device) for each in requests)
        ]
        return tuple(fitting) if fixed in fitting else (fixed,)

    def _edges(self, node: Node) -> tuple[Edge, ...]:
        """Return what comes in; the back edge of a loop does not."""
        edges = [self._edge(endpoint) for endpoint in node.inputs]
        edges += [(self._number[name], CONTROL) for name in node.control if name in self._number]
        return tuple(dict.fromkeys(each for each in edges if each is not None))

    def _edge(self, endpoint: Endpoint) -> Edge | None:
        if endpoint in self._feeds:
            return self._feeds[endpoint], 0
        maker = self._number.get(endpoint[0])
        return None if maker is None else (maker, endpoint[1])

    def _edge_bytes(self) -> dict[Edge, int]:
        found: dict[Edge, int] = {}
        for node in self._needed:
            sizes = self._sizes(node)
            found.update(((self._number[node.name], port), size) for port, size in enumerate(sizes))
        return found

    def _sizes(self, node: Node) -> list[int]:
        """Return the bytes of each output: by its shape, or as was traced if it is the only one."""
        types, sizes = output_types(node), []
        traced = self._costs.node_bytes.get(node.name, 0)
        for port, dtype in enumerate(types):
            shape = node.shapes[port] if port < len(node.shapes) else None
            count = 1
            for dimension in shape or ():
                count *= dimension or 0
            is_known = shape is not None and None not in shape and bool(dtype.base_dtype.size)
            sizes.append(count * dtype.base_dtype.size if is_known else traced // len(types))
        return sizes

    def _kept_bytes(self, node: Node) -> int:
        return sum(self._sizes(node)) if _keeps_state(node) else 0

    def _ways(self) -> dict[tuple[int, int], Way]:
        tasks = [task_of(str(each)) for each in self._cluster.devices]
        return {
            (i, j): self._costs.ways[source, target]
            for i, source in enumerate(tasks)
            for j, target in enumerate(tasks)
            if (source, target) in self._costs.ways
        }

    def _limits(self) -> tuple[int, ...]:
        limits = self._cluster.limits
        if not limits:
            return ()
        return tuple(limits.get(str(each), 1 << 62) for each in self._cluster.devices)


def _keeps_state(node: Node) -> bool:
    """Return whether a node makes what stays on its task: a variable, a queue, a table."""
    signature = node.op_def.signature
    takes = any(arg.is_ref or arg.type is resource for arg in signature.inputs)
    return not takes and any(arg.is_ref or arg.type is resource for arg in signature.outputs)
