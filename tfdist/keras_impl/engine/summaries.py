"""What a model's summary prints: a line for each layer."""

from __future__ import annotations

from typing import Any

from tfdist.base import nest


def print_summary(
    model: Any, graph_map: Any, line_length: int | None, positions: Any, print_fn: Any
) -> None:
    """Print the layers of a model, and the sums of their parameters.

    Args:
      model: built.
      graph_map: its calls, None if it is a subclassed one.
      line_length: 65 by default, 98 where it is told what is connected to what.
      positions: where columns end, as parts of the line, or in characters.
      print_fn: function that prints a line.
    """
    _Table(model, graph_map, line_length, positions, print_fn or print).print()


class _Table:
    def __init__(
        self, model: Any, graph_map: Any, length: int | None, positions: Any, write: Any
    ) -> None:
        self.model, self.map, self.write = model, graph_map, write
        self.is_plain = _is_sequential(model, graph_map)
        self.length = length or (65 if self.is_plain else 98)
        parts = positions or ([0.45, 0.85, 1.0] if self.is_plain else [0.33, 0.55, 0.67, 1.0])
        self.ends = [int(self.length * p) for p in parts] if parts[-1] <= 1 else list(parts)

    def print(self) -> None:
        """Print everything."""
        fields = ["Layer (type)", "Output Shape", "Param #"]
        self.write(f'Model: "{self.model.name}"')
        self.write("_" * self.length)
        self._line(fields if self.is_plain else [*fields, "Connected to"])
        self.write("=" * self.length)
        layers = self.model.layers
        for number, layer in enumerate(layers):
            self._layer(layer)
            self.write(("=" if number == len(layers) - 1 else "_") * self.length)
        self._sums()

    def _line(self, fields: list[Any]) -> None:
        line = ""
        for number, field in enumerate(fields):
            if number > 0:
                line = line[:-1] + " "
            line = (line + str(field))[: self.ends[number]]
            line += " " * (self.ends[number] - len(line))
        self.write(line)

    def _layer(self, layer: Any) -> None:
        count = layer.count_params() if layer.built else "0 (unused)"
        fields = [f"{layer.name} ({type(layer).__name__})", _shape_of(layer), count]
        if self.is_plain:
            self._line(fields)
            return
        origins = self._origins(layer)
        self._line([*fields, origins[0] if origins else ""])
        for each in origins[1:]:
            self._line(["", "", "", each])

    def _origins(self, layer: Any) -> list[str]:
        mine = {id(node) for node in self.map.nodes} if self.map is not None else None
        return [
            f"{each.layer.name}[{each.node_index}][{each.tensor_index}]"
            for node in layer.inbound_nodes
            if mine is None or id(node) in mine
            for each in node.inbound
        ]

    def _sums(self) -> None:
        trained = _count(self.model.trainable_weights)
        others = _count(self.model.non_trainable_weights)
        self.write(f"Total params: {trained + others:,}")
        self.write(f"Trainable params: {trained:,}")
        self.write(f"Non-trainable params: {others:,}")
        self.write("_" * self.length)


def _count(weights: list[Any]) -> int:
    return sum(each.shape.num_elements() for each in weights)


def _shape_of(layer: Any) -> str:
    try:
        return str(layer.output_shape)
    except (AttributeError, RuntimeError):
        return "multiple"


def _is_sequential(model: Any, graph_map: Any) -> bool:
    """Return whether each layer is called once, on the one before it."""
    if graph_map is None or hasattr(model, "pop"):
        return True
    depths = [len(nest.flatten(node.inputs)) for node in graph_map.nodes]
    mine = {id(node) for node in graph_map.nodes}
    calls = [sum(id(n) in mine for n in layer.inbound_nodes) for layer in graph_map.layers]
    users = [sum(id(n) in mine for n in layer.outbound_nodes) for layer in graph_map.layers]
    return all(n <= 1 for n in depths) and all(n == 1 for n in calls) and all(n <= 1 for n in users)
