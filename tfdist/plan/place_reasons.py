"""Why a node is where it is, in a few words, and why it can be nowhere, in TensorFlow's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tfdist.base import devices as device_names
from tfdist.base.devices import DeviceSpec
from tfdist.errors import InvalidArgumentError, OpError
from tfdist.graph.records import Node
from tfdist.plan.gpu_kernels import kernel_label, kernel_types, registered_kernels, shortcoming


class Placement(NamedTuple):
    """Where a node runs.

    Attributes:
      device: full device name; "" if no device can run it.
      reason: why, in a few words.
      error: what to raise when a step needs the node, or None.
    """

    device: str
    reason: str
    error: OpError | None = None


class Group(NamedTuple):
    """Nodes that share a device, and what decides about it.

    Attributes:
      nodes: that share it.
      request: what they ask for together.
      source: name of the node that asked first, "" if none did.
      devices: those of the cluster, best first.
      soft: whether a type or index that cannot be had may be dropped.
    """

    nodes: Sequence[Node]
    request: DeviceSpec
    source: str
    devices: Sequence[DeviceSpec]
    soft: bool

    @property
    def kernel_types(self) -> frozenset[str]:
        """Return the types of device that have kernels for all nodes."""
        return frozenset.intersection(*(kernel_types(node) for node in self.nodes))

    @property
    def is_possible(self) -> bool:
        """Return whether there is a device as requested, whatever kernels it has."""
        return any(self.request.matches(device) for device in self.devices)

    def lacking(self, device_type: str) -> Node | None:
        """Return the first node that has no kernel for that type of device, or None."""
        return next((node for node in self.nodes if device_type not in kernel_types(node)), None)


def placed_with(node: Node, other: str, device: str, error: OpError | None = None) -> Placement:
    """Return the place of a node that goes where `other` is, whatever it asks for itself."""
    asked = device_names.parse(node.device)
    overruled = bool(device) and not asked.matches(device_names.parse(device))
    reason = f"with {other}" + f", though {node.device} was asked for" * overruled
    return Placement(device, reason, error)


def explained(group: Group, node: Node, chosen: DeviceSpec) -> Placement:
    """Return the place of a node of a group that was given the device `chosen`."""
    device = chosen.to_string()
    is_softened = not group.request.matches(chosen)
    own = device_names.parse(node.device)
    if is_softened and node.device and not own.matches(chosen):
        return Placement(device, f"{node.device} was asked for, but {_why_not(group)}")
    if group.source and (not node.device or not own.matches(chosen)):
        return placed_with(node, group.source, device)
    if node.device:
        return Placement(device, f"pinned to {node.device}")
    return Placement(device, _first(group, chosen))


def _first(group: Group, chosen: DeviceSpec) -> str:
    best = group.devices[0]
    lacking = group.lacking(best.device_type or "") if chosen != best else None
    if lacking is None:
        return "first device of the cluster"
    return f"first {chosen.device_type} of the cluster: {shortcoming(lacking)}"


def _why_not(group: Group) -> str:
    """Return why soft placement had to drop a part of the request."""
    if not group.is_possible:
        return "there is none (soft placement)"
    lacking = group.lacking(group.request.device_type or "")
    return f"{shortcoming(lacking)} (soft placement)" if lacking else "soft placement"


def refusal(group: Group, node: Node, reason: str) -> Placement:
    """Return the placement, an error, of a node that no device can run.

    Args:
      group: of the node.
      node: that somebody may want to run.
      reason: in our words, for reports.
    """
    said = _no_kernel(group) if group.is_possible else _no_device(group, node)
    text = f"Cannot assign a device for operation {node.name}: {said}"
    return Placement("", reason, InvalidArgumentError(text))


def _no_device(group: Group, node: Node) -> str:
    there = ", ".join(map(str, group.devices))
    said = (
        f"node {group.source or node.name} was explicitly assigned to {group.request} but "
        f"available devices are [ {there} ]. Make sure the device specification refers to a valid "
        "device."
    )
    wider = group.request._replace(device_type=None, device_index=None)
    if group.soft or group.request == wider or not any(map(wider.matches, group.devices)):
        return said
    hint = " ConfigProto(allow_soft_placement=True) takes another one"
    if group.request.device_type == "GPU":
        hint += "; TFDIST_SIMULATED_GPUS=1 simulates a GPU in a session of this process"
    return f"{said}{hint}."


def _no_kernel(group: Group) -> str:
    kind = group.request.device_type or "such"
    lacking = group.lacking(kind) or group.nodes[0]
    kernels = "".join(f"\n  {kernel}" for kernel in registered_kernels(lacking))
    if not kernel_types(lacking):
        label = kernel_label(lacking)
        attrs = f"_kernel={label!r}" if label else ""

        return (
            f"No OpKernel was registered to support Op '{lacking.op}' used by node {lacking.name} "
            f"with these attrs: [{attrs}]; such nodes can be built "
            f"but not run.\nRegistered kernels:{kernels}"
        )
    return (
        f"Could not satisfy explicit device specification '{group.request}' because no supported "
        f"kernel for {kind} devices is available: {shortcoming(lacking, kind)} "
        f"(node {lacking.name}). ConfigProto(allow_soft_placement=True) lets it run elsewhere."
        f"\nRegistered kernels:{kernels}"
    )
