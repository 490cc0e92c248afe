"""Placement: which device each node runs on, and why.

The rules, in order (the third is "simple placement" as TensorFlow 1.x does it):

1. What must share a device forms a group: a variable and what takes it by reference, a resource and
   what uses it, nodes of one `colocate_with`, those that carry a loop variable. A
   group has one device: what its owner asks for (of a loop's variable, the Merge), or if that asks
   for none, the first of the others; a request that contradicts is dropped.
2. A request is honoured; if several devices fit, or none is asked for, the first fitting one in
   the cluster's order is taken: best type, then first job by name, then lowest task.
   Only devices count that have kernels for all nodes of the group (`gpu_kernels`).
3. Three kinds of node that nobody pinned move with their neighbours: a dataset, which cannot leave
   its process, and a node without inputs (a constant, say) join consumers that all sit on one
   device, and Shape, Size and Rank stay with the tensor that they ask about; where they have
   kernels there.

Nodes never move: new nodes are placed beside those of earlier versions of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache

from tfdist.base import devices as device_names
from tfdist.base.devices import DeviceSpec
from tfdist.base.dtypes import resource
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import lookup
from tfdist.graph.records import (
    CONTROL_FLOW,
    ENTERS,
    EXITS,
    MERGES,
    NEXT_ITERATIONS,
    SWITCHES,
    Node,
    is_back_edge,
)
from tfdist.graph.signatures import walk_args
from tfdist.plan.gpu_kernels import kernel_types
from tfdist.plan.place_reasons import Group, Placement, explained, placed_with, refusal

_METADATA_OPS = {"Shape", "ShapeN", "Size", "Rank"}
_TYPE_RANK = {"GPU": 0, "CPU": 1}


def rank(devices: Iterable[DeviceSpec], first_task: str | None = None) -> list[DeviceSpec]:
    """Return `devices` best first: by type, job name, task and index.

    Args:
      devices: full device specs.
      first_task: task ("/job:J/replica:0/task:T") whose devices come before the others'.
    """
    return sorted(
        devices,
        key=lambda d: (
            first_task is not None and d.task_name != first_task,
            _TYPE_RANK.get(d.device_type or "", 2),
            d.job or "",
            d.task or 0,
            d.device_index or 0,
        ),
    )


def choose_device(
    requested: DeviceSpec,
    devices: Sequence[DeviceSpec],
    types: Collection[str],
    soft: bool = False,
) -> DeviceSpec:
    """Return the first of `devices` that fits the request and has a kernel.

    Args:
      requested: what is asked for.
      devices: best first; ranking them is the caller's choice.
      types: device types that the op has kernels for.
      soft: whether a request for a type or index that cannot be had may be dropped.

    Raises:
      InvalidArgumentError: no device fits, or none that fits has a kernel.
    """
    fitting = [device for device in devices if requested.matches(device)]
    for device in fitting:
        if device.device_type in types:
            return device
    if soft and (requested.device_type or requested.device_index):
        wider = requested._replace(device_type=None, device_index=None)
        return choose_device(wider, devices, types)
    if not fitting:
        raise InvalidArgumentError(
            f"no device fits the request {requested.to_string()!r}; the cluster has "
            f"{', '.join(map(str, devices))}{_soft_hint(requested, devices, soft)}"
        )
    raise InvalidArgumentError(
        f"{fitting[0]} was asked for, but this op has kernels for {sorted(types)} only; "
        "ConfigProto(allow_soft_placement=True) lets it run there"
    )


def _soft_hint(requested: DeviceSpec, devices: Sequence[DeviceSpec], soft: bool) -> str:
    wider = requested._replace(device_type=None, device_index=None)
    if soft or requested == wider or not any(map(wider.matches, devices)):
        return ""
    return "; ConfigProto(allow_soft_placement=True) takes another one"


def place(
    nodes: Sequence[Node],
    graph: Mapping[str, Node],
    placed: Mapping[str, Placement],
    devices: Sequence[DeviceSpec],
    soft: bool = False,
) -> dict[str, Placement]:
    """Return the placement of `nodes`.

    Args:
      nodes: new nodes.
      graph: all nodes by name, the new ones included.
      placed: placements of the nodes that are not new.
      devices: those of the cluster, best first.
      soft: whether requests for a missing device type are dropped (`allow_soft_placement`).
    """
    groups = colocation_groups(nodes, graph)
    found: dict[str, Placement] = {}

    # Groups by the thousand ask for the same: each request looks through the devices once.
    @cache
    def choose(request: DeviceSpec, types: frozenset[str]) -> DeviceSpec:
        return choose_device(request, devices, types, soft)

    for members in groups:
        found.update(_place_group(members, graph, placed, devices, soft, choose))
    _lead_pipelines(nodes, groups, found)
    _follow_consumers(nodes, groups, found)
    _follow_inputs(nodes, groups, found, placed)
    return found


def colocation_groups(nodes: Sequence[Node], graph: Mapping[str, Node]) -> list[list[str]]:
    """Return the names that share a device, group by group; placed nodes may be among them."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while (above := leader.get(name, name)) != name:
            leader[name] = leader.get(above, above)
            name = above
        return name

    names = dict.fromkeys(node.name for node in nodes)
    for node in nodes:
        for other in _ties(node, graph):
            names[other] = None  # perhaps a node of an earlier version, which has its place
            leader[find(node.name)] = find(other)
    members: dict[str, list[str]] = {}
    for name in names:
        members.setdefault(find(name), []).append(name)
    return list(members.values())


def _ties(node: Node, graph: Mapping[str, Node]) -> list[str]:
    """Return the nodes that `node` must share its device with."""
    ties = [group[5:].decode() for group in node.attrs.get("_class", ()) if group[:5] == b"loc:@"]
    signature = lookup(node.op).signature
    handed_on = node.attrs.get("T") is resource  # a handle that enters a branch or a loop
    if handed_on or any(arg.is_ref or arg.type is resource for arg in signature.inputs):
        for (arg, dtype), (name, _) in zip(
            walk_args(signature.inputs, node.attrs), node.inputs, strict=True
        ):
            if arg.is_ref or dtype is resource:
                ties.append(name)
    ties += _ties_in_loop(node, graph)
    return [name for name in ties if name in graph and name != node.name]


def _ties_in_loop(node: Node, graph: Mapping[str, Node]) -> list[str]:
    """Return the nodes that carry the same variable of a loop: it stays on one task."""
    if node.op in MERGES and _begins_iterations(node, graph):
        return [name for name, _ in node.inputs if _op(name, graph) in (*ENTERS, *NEXT_ITERATIONS)]
    source = node.inputs[0][0] if node.inputs else ""
    from_loop = node.op in SWITCHES and source in graph and _begins_iterations(graph[source], graph)
    out_of_loop = node.op in EXITS and _op(source, graph) in SWITCHES
    return [source] if from_loop or out_of_loop else []


def _begins_iterations(node: Node, graph: Mapping[str, Node]) -> bool:
    return any(is_back_edge(node, graph.get(name)) for name, _ in node.inputs)


def _op(name: str, graph: Mapping[str, Node]) -> str:
    return graph[name].op if name in graph else ""


def _place_group(
    members: list[str],
    graph: Mapping[str, Node],
    placed: Mapping[str, Placement],
    devices: Sequence[DeviceSpec],
    soft: bool,
    choose: Callable[[DeviceSpec, frozenset[str]], DeviceSpec],
) -> dict[str, Placement]:
    nodes = [graph[name] for name in members]
    fixed = next((name for name in members if name in placed), None)
    if fixed is not None:
        there = placed[fixed]
        return {
            node.name: placed_with(node, fixed, there.device, there.error)
            for node in nodes
            if node.name not in placed
        }
    request, source = _merged_request(nodes, graph)
    group = Group(nodes, request, source, devices, soft)
    try:
        chosen = choose(request, group.kernel_types)
    except InvalidArgumentError as error:
        return {node.name: refusal(group, node, error.message) for node in nodes}
    return {node.name: explained(group, node, chosen) for node in nodes}


def _merged_request(nodes: Sequence[Node], graph: Mapping[str, Node]) -> tuple[DeviceSpec, str]:
    """Return the request of a group and the node that made it.

    Who owns the state is asked first, then the others in order; what contradicts is dropped.
    """
    merged, source = DeviceSpec(), ""
    for node in sorted(nodes, key=lambda node: _turn(node, graph)):
        asked = device_names.parse(node.device)
        clash = any(
            a is not None and b is not None and a != b for a, b in zip(merged, asked, strict=True)
        )
        if node.device and not clash:
            source = source or node.name
            merged = merged.merge_from(asked)
    return merged, source


def _turn(node: Node, graph: Mapping[str, Node]) -> int:
    """Return when a node of a group is asked: TensorFlow 1.15 lets a loop's Merge lead its kind."""
    if node.op in MERGES:
        return 1
    return 2 if node.op in CONTROL_FLOW or _ties(node, graph) else 0


def _lead_pipelines(
    nodes: Sequence[Node], groups: list[list[str]], found: dict[str, Placement]
) -> None:
    """Move unpinned datasets to the one device that all their consumers sit on, the last first."""
    if not any("Dataset" in node.op for node in nodes):
        return
    alone = {group[0] for group in groups if len(group) == 1}
    consumers: dict[str, dict[str, str]] = {}
    for node in reversed(nodes):
        name, places = node.name, consumers.get(node.name, {})
        is_free = "Dataset" in node.op and not node.device and name in alone
        if is_free and len(places) == 1 and found[name].error is None:
            [(device, consumer)] = places.items()
            if device != found[name].device and _can_run(node, device):
                found[name] = Placement(device, f"with its consumer {consumer}")
        for above, _ in node.inputs:
            consumers.setdefault(above, {})[found[name].device] = name


def _follow_consumers(
    nodes: Sequence[Node], groups: list[list[str]], found: dict[str, Placement]
) -> None:
    """Move unpinned nodes without inputs to the one device that all their consumers sit on."""
    alone = {group[0] for group in groups if len(group) == 1}
    movable: dict[str, dict[str, str]] = {
        node.name: {} for node in nodes if node.name in alone and _is_generator(node)
    }
    for node in nodes:
        for name, _ in node.inputs:
            if name in movable:
                movable[name][found[node.name].device] = node.name
    for node in nodes:
        name, consumers = node.name, movable.get(node.name, {})
        if len(consumers) == 1 and found[name].error is None:
            [(device, consumer)] = consumers.items()
            if device != found[name].device and _can_run(node, device):
                found[name] = Placement(device, f"with its consumer {consumer}")


def _is_generator(node: Node) -> bool:
    if node.inputs or node.device:
        return False
    outputs = lookup(node.op).signature.outputs
    return len(outputs) == 1 and not outputs[0].is_ref and not outputs[0].is_list


def _can_run(node: Node, device: str) -> bool:
    """Return whether a node that follows another one has a kernel there."""
    return bool(device) and device_names.parse(device).device_type in kernel_types(node)


def _follow_inputs(
    nodes: Sequence[Node],
    groups: list[list[str]],
    found: dict[str, Placement],
    placed: Mapping[str, Placement],
) -> None:
    alone = {group[0] for group in groups if len(group) == 1}
    for node in nodes:
        if node.op in _METADATA_OPS and not node.device and node.name in alone:
            name = node.inputs[0][0]
            there = found.get(name) or placed.get(name)
            if there and found[node.name].error is None and _can_run(node, there.device):
                found[node.name] = Placement(there.device, f"with its input {name}")
