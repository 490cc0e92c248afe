"""Calls of layers: which tensors went in and came out, and how tensors depend on each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.base import nest
from tfdist.graph.operation import Operation
from tfdist.keras_impl.backend.graph_states import History, history_of, set_history
from tfdist.models.layers.members import shapes_of


class Node:
    """One call of a layer on tensors that layers gave.

    Attributes:
      layer: that was called; its outputs have this node's index.
      inputs: structure of tensors.
      outputs: structure of tensors.
      arguments: of `call`, besides the inputs.
      inbound: for each input, the layer's output that it is.
    """

    def __init__(self, layer: Any, inputs: Any, outputs: Any, arguments: Any = None) -> None:
        self.layer, self.outbound_layer = layer, layer
        self.inputs, self.outputs = inputs, outputs
        self.arguments = dict(arguments or {})
        histories = [history_of(each) for each in nest.flatten(inputs)]
        self.inbound: list[History] = [each for each in histories if each is not None]

    @property
    def input_tensors(self) -> Any:
        """Return the inputs: one tensor, or a list of them."""
        return self.inputs

    @property
    def output_tensors(self) -> Any:
        """Return the outputs: one tensor, or a list of them."""
        return self.outputs

    @property
    def input_shapes(self) -> Any:
        """Return the inputs' shapes: a tuple, or a list of them."""
        return shapes_of(self.inputs)

    @property
    def output_shapes(self) -> Any:
        """Return the outputs' shapes: a tuple, or a list of them."""
        return shapes_of(self.outputs)

    @property
    def inbound_layers(self) -> list[Any]:
        """Return the layers whose outputs went in."""
        return [each.layer for each in self.inbound]

    def origins(self) -> list[Node]:
        """Return the calls that gave the inputs."""
        return [each.layer.inbound_nodes[each.node_index] for each in self.inbound]


def connect(
    layer: Any, inputs: Any, outputs: Any, arguments: Any = None, claims: bool = True
) -> Node:
    """Note that a layer gave outputs for inputs.

    Args:
      layer: that was called.
      inputs: structure of tensors.
      outputs: structure of tensors.
      arguments: of `call`, besides the inputs.
      claims: whether the outputs are the layer's from now on, whoever gave them.
    """
    node = Node(layer, inputs, outputs, arguments)
    layer.inbound_nodes.append(node)
    for origin in node.inbound:
        origin.layer.outbound_nodes.append(node)
    index = len(layer.inbound_nodes) - 1
    for number, tensor in enumerate(nest.flatten(outputs)):
        if claims:
            set_history(tensor, History(layer, index, number))
    return node


def connect_known(layer: Any, inputs: Any, outputs: Any) -> None:
    """Note a call of a layer of tf.layers, if layers of tf.keras gave all its inputs."""
    given = nest.flatten(inputs)
    passed_on = {id(each) for each in given} & {id(each) for each in nest.flatten(outputs)}
    if not passed_on and all(history_of(each) is not None for each in given):
        connect(layer, inputs, outputs)


def depends_on_layers(tensors: Iterable[Any]) -> bool:
    """Return whether any of these tensors is computed from one that a layer gave."""
    seen: set[Operation] = set()
    waiting = list(tensors)
    while waiting:
        tensor = waiting.pop()
        if history_of(tensor) is not None:
            return True
        if tensor.op not in seen:
            seen.add(tensor.op)
            waiting += tensor.op.inputs
    return False


def reached_from(tensors: Iterable[Any]) -> set[Operation]:
    """Return the operations that are computed from these tensors, or wait for one that is."""
    waiting = [consumer for each in tensors for consumer in each.consumers()]
    followers = _followers(waiting[0].graph) if waiting else {}
    seen: set[Operation] = set()
    while waiting:
        op = waiting.pop()
        if op not in seen:
            seen.add(op)
            waiting += [consumer for each in op.outputs for consumer in each.consumers()]
            waiting += followers.get(op, ())
    return seen


def _followers(graph: Any) -> dict[Operation, list[Operation]]:
    """Return the operations that wait for an operation, for each that others wait for."""
    found: dict[Operation, list[Operation]] = {}
    for op in graph.get_operations():
        for each in op.control_inputs:
            found.setdefault(each, []).append(op)
    return found
