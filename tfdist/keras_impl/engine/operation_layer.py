"""Operations between layers as layers: so that a network may contain `2 * x`.

Source: TF 1.15 API documentation, tf.keras.Model; names found by summaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.build import add_node
from tfdist.graph.operation import Operation, constant_value
from tfdist.keras_impl.backend.graph_states import history_of
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.engine.nodes import connect


class TensorFlowOpLayer(Layer):
    """A layer that does what an operation does.

    Args:
      operation: to be done again with other inputs.
      constants: number of an input -> the tensor that it always is.
      name: of the layer.
    """

    def __init__(
        self, operation: Operation, constants: Mapping[int, Any], name: str, **options: Any
    ) -> None:
        super().__init__(name=name, **options)
        self._operation, self.constants = operation, dict(constants)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return what the operation gives for `inputs`; those that are constant are left out."""
        op, given = self._operation, iter(inputs if isinstance(inputs, list) else [inputs])
        whole = tuple(
            self.constants[number] if number in self.constants else next(given)
            for number in range(len(op.inputs))
        )
        graph = scopes.get_default_graph()
        name = graph.unique_name(op.name.rpartition("/")[2])
        made = list(add_node(graph, op.op_def, name, whole, dict(op._attrs)).outputs)
        return made[0] if len(made) == 1 else made

    def get_config(self) -> dict[str, Any]:
        """Return the operation, and the inputs that are constant."""
        values = {number: constant_value(each) for number, each in self.constants.items()}
        return {
            **super().get_config(), "name": self._operation.name, "operation": self._operation,
            "constants": values,
        }  # fmt: skip

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """Return a layer that does the same, in the same process."""
        operation = config["operation"]
        constants = {number: operation.inputs[number] for number in config["constants"]}
        return cls(operation, constants, f"tf_op_layer_{config['name']}")


def wrap(tensors: list[Any]) -> None:
    """Make layers of the operations between layers and these tensors."""
    seen: dict[Operation, bool] = {}
    for tensor in tensors:
        if history_of(tensor) is None and not _wrapped(tensor.op, seen):
            _as_layer(tensor.op, [])


def _wrapped(target: Operation, seen: dict[Operation, bool]) -> bool:
    """Make layers of what an operation needs, and of itself; return whether it needs layers."""
    waiting = [(target, False)]
    while waiting:  # not by recursion: graphs may be deep
        op, is_left = waiting.pop()
        if op in seen and not is_left:
            continue
        if not is_left:
            seen[op] = False
            waiting.append((op, True))
            waiting += [(t.op, False) for t in op.inputs if history_of(t) is None]
            continue
        needs = [t for t in op.inputs if history_of(t) is not None]
        seen[op] = bool(needs)
        if needs:
            _as_layer(op, needs)
    return seen[target]


def _as_layer(op: Operation, needs: list[Any]) -> None:
    constants = {n: each for n, each in enumerate(op.inputs) if history_of(each) is None}
    layer = TensorFlowOpLayer(op, constants, f"tf_op_layer_{op.name}")
    inputs = needs[0] if len(needs) == 1 else needs
    connect(layer, inputs, list(op.outputs))
