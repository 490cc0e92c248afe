"""Networks as dictionaries of their layers and of how those call each other, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tfdist.base import lazy, nest
from tfdist.keras_impl.backend.graph_states import history_of
from tfdist.keras_impl.serialization import deserialize_keras_object

_known_layers = lazy.function("tfdist.keras_impl.layers.all_layers", "known_layers")


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the layer, or network, that a dictionary of class and settings tells of.

    Args:
      config: with "class_name" and "config".
      custom_objects: a program's own classes, by name.

    Raises:
      ValueError: there is no such class.

    Example:
      >>> keras.layers.deserialize({"class_name": "Dense", "config": {"units": 3}}).units
      3
    """
    return deserialize_keras_object(config, _known_layers(), custom_objects, "layer")


def config_of(network: Any, graph_map: Any) -> dict[str, Any]:
    """Return what makes a functional network."""
    numbers = _numbers(graph_map)
    layers = [
        {
            "name": layer.name,
            "class_name": type(layer).__name__,
            "config": layer.get_config(),
            "inbound_nodes": [
                _inbound(node, numbers) for node in layer.inbound_nodes
                if id(node) in numbers and node.inbound
            ],
        }
        for layer in graph_map.layers
    ]  # fmt: skip
    return {
        "name": network.name, "layers": layers,
        "input_layers": [_end(each, numbers) for each in network.inputs],
        "output_layers": [_end(each, numbers) for each in network.outputs],
    }  # fmt: skip


def _numbers(graph_map: Any) -> dict[int, int]:
    """Return the number of each call among those of its layer that the network has."""
    mine = {id(node) for node in graph_map.nodes}
    numbers: dict[int, int] = {}
    for layer in graph_map.layers:
        # a network's own first node stands for itself: it counts, as TensorFlow counts it
        start = 1 if hasattr(layer, "input_names") else 0
        calls = [node for node in layer.inbound_nodes if id(node) in mine]
        numbers.update({id(node): number + start for number, node in enumerate(calls)})
    return numbers


def _inbound(node: Any, numbers: dict[int, int]) -> list[Any]:
    kept = {name: value for name, value in node.arguments.items() if _is_plain(value)}
    return [
        [each.layer.name, numbers[id(origin)], each.tensor_index, kept]
        for each, origin in zip(node.inbound, node.origins(), strict=True)
    ]


def _is_plain(value: Any) -> bool:
    return not any(hasattr(each, "graph") for each in nest.flatten(value))


def _end(tensor: Any, numbers: dict[int, int]) -> list[Any]:
    history = history_of(tensor)
    assert history is not None
    node = history.layer.inbound_nodes[history.node_index]
    return [history.layer.name, numbers.get(id(node), 0), history.tensor_index]


def network_from(config: Mapping[str, Any], custom_objects: Any) -> tuple[Any, Any, list[Any]]:
    """Return the inputs, outputs and layers of a network that `config_of` told."""
    layers = {each["name"]: deserialize(each, custom_objects) for each in config["layers"]}
    waiting = [(each["name"], call) for each in config["layers"] for call in each["inbound_nodes"]]
    while waiting:
        left = [pair for pair in waiting if not _called(layers, *pair)]
        if len(left) == len(waiting):
            raise ValueError(f"the configuration's layers call each other in a circle: {left}")
        waiting = left
    return (
        [_tensor(layers, each) for each in config["input_layers"]],
        [_tensor(layers, each) for each in config["output_layers"]],
        list(layers.values()),
    )


def _called(layers: Mapping[str, Any], name: str, call: Iterable[Any]) -> bool:
    """Call a layer if its inputs are there; return whether they were."""
    inputs: list[Any] = []
    options: dict[str, Any] = {}
    for each in call:
        if len(layers[each[0]].inbound_nodes) <= each[1]:
            return False
        inputs.append(_tensor(layers, each))
        options = each[3] if len(each) > 3 else {}
    layers[name](inputs[0] if len(inputs) == 1 else inputs, **options)
    return True


def _tensor(layers: Mapping[str, Any], place: Any) -> Any:
    node = layers[place[0]].inbound_nodes[place[1]]
    return nest.flatten(node.outputs)[place[2]]
