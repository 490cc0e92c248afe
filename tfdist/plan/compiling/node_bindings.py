"""Bindings of a partition's nodes: their kernels, and the slots of their inputs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple

from tfdist.base import devices as device_names
from tfdist.base.aliases import TensorValue
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import Known, Rule
from tfdist.graph.records import Node
from tfdist.graph.refusals import checked
from tfdist.plan.compiling.copies import WRAPPER
from tfdist.plan.gpu_kernels import kernel_label, kernel_types
from tfdist.plan.lower import inner_nodes
from tfdist.plan.prune import Endpoint
from tfdist.plan.segment import Layout
from tfdist.plan.step_plan import output_types


class RuntimeCallbacks(NamedTuple):
    """Callbacks of a program into the runtime, which gives them.

    Attributes:
      context: (environment, node) -> KernelContext of the kernel that runs.
      read: variable -> its value.
      clock: -> nanoseconds.
      describe: result of a kernel -> what a trace keeps of it: that of its type and shape.
      known: environment -> the resources that nodes found before, by the names of these.
      rounds_in: (round around, name of a frame) -> function from the number of a round in that
        frame to what a trace keeps of it.
      outside: the round outside of all loops.
      share: (work, size) -> calls `work(start, end)` for all of `size` elements once, perhaps on
        several threads.
    """

    context: Callable[[Any, Node], Any]
    read: Callable[[Any], Any]
    clock: Callable[[], int]
    describe: Callable[[Any], Any] = lambda result: result
    known: Callable[[Any], Mapping[str, Any]] = lambda environment: {}
    rounds_in: Callable[[Any, str], Callable[[int], Any]] = lambda around, frame: int
    outside: Any = ()
    share: Callable[[Callable[[int, int], None], int], None] = lambda work, size: work(0, size)


class Lines(NamedTuple):
    """Which node stands on which line of a generated file; for an interpreted unit there is none.

    Attributes:
      file: its name.
      nodes: by line.
      operands: for each node by name, an expression for each of its inputs.
    """

    file: str = ""
    nodes: Mapping[int, Node] = {}
    operands: Mapping[str, Sequence[str]] = {}


class Input(NamedTuple):
    """One input of a kernel.

    Attributes:
      is_list: whether the kernel takes a list here.
      tensors: (tensor, whether a variable stands there whose value is wanted).
    """

    is_list: bool
    tensors: list[tuple[Endpoint, bool]]


class NodeBindings:
    """A layout with its callbacks: what `interpret` and `generate` ask about nodes."""

    def __init__(
        self,
        layout: Layout,
        callbacks: RuntimeCallbacks,
        traced: bool,
        noted: Iterable[Node] = (),
    ) -> None:
        """Bind the nodes of a layout.

        Args:
          layout: where values stand.
          callbacks: into the runtime.
          traced: whether each node notes when it ran and what it made.
          noted: the nodes as a trace shows them, where the layout has others of their names.
        """
        self.layout = layout
        self.callbacks = callbacks
        self.traced = traced
        self._noted = {node.name: node for node in noted}
        nodes = inner_nodes(layout.partition.nodes)
        self._types = {node.name: output_types(node) for node in nodes}
        self._shapes = {node.name: node.shapes for node in nodes}
        self._constants = {node.name: node.attrs["value"] for node in nodes if node.op == "Const"}
        self._specialized: dict[str, Callable[..., Any] | None] = {}
        self._fed = frozenset(layout.partition.feeds)

    def laid_out(self, layout: Layout) -> NodeBindings:
        """Return the bindings of the same partition with another layout."""
        other = copy(self)
        other.layout = layout
        return other

    def as_noted(self, node: Node) -> Node:
        """Return a node as a trace shows it."""
        return self._noted.get(node.name, node)

    def output_count(self, node: Node) -> int:
        """Return the number of outputs of `node`."""
        return len(self._types[node.name])

    def dtype(self, endpoint: Endpoint) -> DType | None:
        """Return the type of a tensor; None if it comes from outside the partition."""
        types = self._types.get(endpoint[0])
        return types[endpoint[1]] if types else None

    def shape(self, endpoint: Endpoint) -> Shape:
        """Return what is known of the shape of a tensor."""
        shapes = self._shapes.get(endpoint[0])
        return shapes[endpoint[1]] if shapes else None

    def full_shape(self, endpoint: Endpoint) -> tuple[int, ...] | None:
        """Return the shape of a tensor, None if not all of it is known."""
        shape = self.shape(endpoint)
        if shape is None:
            return None
        found = [size for size in shape if size is not None]
        return tuple(found) if len(found) == len(shape) else None

    def is_variable(self, endpoint: Endpoint) -> bool:
        """Return whether a variable stands at `endpoint`, not a value."""
        return endpoint not in self._fed and self._types[endpoint[0]][endpoint[1]].is_ref

    def adopt(self, node: Node) -> None:
        """Learn of a node that is in no graph, but stands for a part of others."""
        self._types[node.name] = output_types(node)
        self._shapes[node.name] = node.shapes
        if node.op == "Const":
            self._constants[node.name] = node.attrs["value"]

    def constant(self, endpoint: Endpoint) -> TensorValue:
        """Return the value of a tensor that is always the same, None for others."""
        return None if endpoint in self._fed else self._constants.get(endpoint[0])

    def specialized(self, node: Node) -> Callable[..., TensorValue] | None:
        """Return the kernel for `node` alone, None if its op has nothing better than the usual."""
        if node.name not in self._specialized:
            make = node.op_def.specialized
            is_ours = make is not None and runs_on_cpu(node)
            self._specialized[node.name] = make(self.known(node)) if make and is_ours else None
        return self._specialized[node.name]

    def kernel(self, node: Node, rule: Rule) -> Callable[..., TensorValue]:
        """Return the function of `rule` for `node`, which checks shapes that were not known."""
        kernel = bound(node, rule)
        if not node.op_def.checks_shapes or self.known(node).has_shapes:
            return kernel
        return checked(kernel, node.op_def, node.attrs, rule.takes_context)

    def known(self, node: Node) -> Known:
        """Return what is known of a node before it runs."""
        return Known(
            tuple(map(self.shape, node.inputs)),
            tuple(dtype and dtype.base_dtype for dtype in map(self.dtype, node.inputs)),
            tuple(map(self.constant, node.inputs)),
            node.attrs,
        )

    def inputs(self, node: Node) -> list[Input]:
        """Return the inputs of the kernel of `node`, one per input of its signature."""
        flat = iter(node.inputs)
        found = []
        for arg in node.op_def.signature.inputs:
            part = list(itertools.islice(flat, arg.count(node.attrs)))
            tensors = [(each, not arg.is_ref and self.is_variable(each)) for each in part]
            found.append(Input(arg.is_list, tensors))
        return found


def kernel_of(node: Node) -> Rule:
    """Return the kernel that runs `node` on its device.

    Raises:
      InvalidArgumentError: there is none for the device's type.
    """
    device_type = _device_type(node)
    kernels = node.op_def.kernels
    label = kernel_label(node)
    if label in node.op_def.labelled and device_type == "CPU":
        return node.op_def.labelled[label]
    if device_type in kernels:
        return kernels[device_type]
    types = kernel_types(node)
    if device_type not in types:
        raise InvalidArgumentError(
            f"{node.op} has no kernel for {device_type}; kernels exist for {sorted(types)}"
        ).at_node(node.name, node.device)
    return kernels["CPU"]


def runs_on_cpu(node: Node) -> bool:
    """Return whether a node is on a CPU."""
    return _device_type(node) == "CPU"


def _device_type(node: Node) -> str:
    return device_names.parse(node.device).device_type or "CPU"


def bound(node: Node, rule: Rule) -> Callable[..., TensorValue]:
    """Return the function of `rule` with the attributes that it asks for.

    A device whose memory is not the host's puts something around it.
    """
    function = rule.function
    if rule.keywords:
        function = partial(function, **{key: node.attrs[key] for key in rule.keywords})
    around = node.attrs.get(WRAPPER)
    return around(function) if around else function


def is_stateful(nodes: Iterable[Node]) -> bool:
    """Return whether a run of `nodes` leaves something behind in the task."""
    return any(node.op_def.is_stateful or _takes_reference(node) for node in nodes)


def _takes_reference(node: Node) -> bool:
    return any(arg.is_ref for arg in node.op_def.signature.inputs)


def scalar_or_array(value: TensorValue) -> TensorValue:
    """Return a rank 0 array as NumPy scalar, with which NumPy computes much faster."""
    return value[()] if value.ndim == 0 and value.dtype != object else value
