"""From outputs back to inputs: the calls of layers between them, in an order that can be run."""

from __future__ import annotations

from typing import Any

from tfdist.base import nest
from tfdist.keras_impl.backend.graph_states import history_of
from tfdist.keras_impl.engine.nodes import Node


class GraphMap:
    """The calls and the layers between inputs and outputs of a network.

    Attributes:
      nodes: the calls, each after those that it needs.
      layers: those farthest from the outputs first.

    Args:
      inputs: tensors.
      outputs: tensors.

    Raises:
      ValueError: an output needs a tensor that is not computed from the inputs; two layers have
        one name.
    """

    def __init__(self, inputs: list[Any], outputs: list[Any]) -> None:
        self._order: dict[int, int] = {}  # of layers, as they are met
        self._met: dict[int, Any] = {}
        found = self._visited(outputs)
        depths, layer_depths = self._depths(found, inputs)
        by_id = {id(node): node for node in found}
        self.nodes = [by_id[key] for key in sorted(depths, key=lambda key: -depths[key])]
        self.layers = sorted(
            self._met.values(), key=lambda each: (-layer_depths[id(each)], self._order[id(each)])
        )
        _check_connected(self.nodes, inputs)
        _check_names(self.layers)

    def insert(self, inputs: list[Any], outputs: list[Any]) -> list[Any]:
        """Add the calls that further outputs need; return the layers that were not there.

        The layers come last, those farthest from these outputs first.
        """
        found = GraphMap(inputs, outputs)
        calls, layers = ({id(each) for each in known} for known in (self.nodes, self.layers))
        self.nodes += [each for each in found.nodes if id(each) not in calls]
        added = [each for each in found.layers if id(each) not in layers]
        _check_names([*self.layers, *added])
        self.layers += added
        return added

    def _visited(self, outputs: list[Any]) -> list[Node]:
        """Return the calls that outputs need, each after those that it needs."""
        done: dict[int, Node] = {}
        waiting = [(node, False) for node in reversed([_call(each) for each in outputs])]
        while waiting:  # not by recursion: networks may be deep
            node, is_left = waiting.pop()
            if is_left:
                done.setdefault(id(node), node)
            elif id(node) not in done:
                self._meet(node.layer)
                waiting.append((node, True))
                waiting += [(each, False) for each in reversed(node.origins())]
        return list(done.values())

    def _meet(self, layer: Any) -> None:
        self._order.setdefault(id(layer), len(self._order))
        self._met[id(layer)] = layer

    def _depths(
        self, nodes: list[Node], inputs: list[Any]
    ) -> tuple[dict[int, int], dict[int, int]]:
        """Return how far calls, and layers, are from the outputs."""
        depths: dict[int, int] = {}
        of_layers: dict[int, int] = {}
        for node in reversed(nodes):
            depth = max(depths.get(id(node), 0), of_layers.get(id(node.layer), 0))
            depths[id(node)] = of_layers[id(node.layer)] = depth
            for origin in node.origins():
                depths[id(origin)] = max(depth + 1, depths.get(id(origin), 0))
        for tensor in inputs:
            history = history_of(tensor)
            if history is not None and id(history.layer) not in of_layers:
                self._meet(history.layer)
                of_layers[id(history.layer)] = 0
        return depths, of_layers


def _call(tensor: Any) -> Node:
    history = history_of(tensor)
    if history is None:
        raise ValueError(
            f"Output tensors to a Model must be the output of a TensorFlow `Layer` (thus holding "
            f"past layer metadata). Found: {tensor}"
        )
    return history.layer.inbound_nodes[history.node_index]  # type: ignore[no-any-return]


def _check_connected(nodes: list[Node], inputs: list[Any]) -> None:
    known = {id(each) for each in inputs}
    reached: list[str] = []
    for node in nodes:
        for tensor in nest.flatten(node.inputs):
            if id(tensor) not in known:
                raise _disconnected(tensor, node.layer.name, reached)
        reached.append(node.layer.name)
        known |= {id(each) for each in nest.flatten(node.outputs)}


def _disconnected(tensor: Any, layer: str, reached: list[str]) -> ValueError:
    return ValueError(
        f'Graph disconnected: cannot obtain value for tensor {tensor} at layer "{layer}". '
        f"The following previous layers were accessed without issue: {reached}"
    )


def _check_names(layers: list[Any]) -> None:
    names = [each.name for each in layers]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f'The name "{name}" is used {names.count(name)} times in the model. All layer '
                "names should be unique."
            )


def get_source_inputs(tensor: Any, layer: Any = None, node_index: int | None = None) -> list[Any]:
    """Return the inputs of a network that a tensor is computed from.

    Args:
      tensor: what a layer gave.
      layer: the layer that gave it; found by default.
      node_index: of the layer's calls; the last one by default.

    Example:
      >>> x = keras.Input([2])
      >>> keras.utils.get_source_inputs(keras.layers.Dense(1)(x)) == [x]
      True
    """
    if layer is None:
        node = _call(tensor)
    elif not layer.inbound_nodes:
        return [tensor]
    else:
        node = layer.inbound_nodes[-1 if node_index is None else node_index]
    if not node.inbound:
        return list(nest.flatten(node.inputs))
    found: dict[int, Any] = {}
    for each in nest.flatten(node.inputs):
        found |= {id(source): source for source in get_source_inputs(each)}
    return list(found.values())
