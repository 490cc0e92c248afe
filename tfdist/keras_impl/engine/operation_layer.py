"""Operations between layers as layers: so that a network may contain `2 * x`.

Source: TF 1.15 API documentation, tf.keras.Model; names found by summaries.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tfdist.graph import op_def, scopes
from tfdist.graph.build import add_node
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.graph_def import attrs_from_proto
from tfdist.graph.operation import Operation
from tfdist.graph.signatures import walk_args
from tfdist.keras_impl.backend.graph_states import history_of
from tfdist.keras_impl.backend.sessions import get_session
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.engine.nodes import connect
from tfdist.protos import pb


class TensorFlowOpLayer(Layer):
    """A layer that does what an operation does.

    Args:
      node_def: NodeDef of the operation.
      name: of the operation; the layer's is "tf_op_layer_" and this.
      constants: number of an input -> the tensor, or the value, that it always is.
    """

    def __init__(
        self, node_def: Any, name: str, constants: Mapping[int, Any] | None = None, **options: Any
    ) -> None:
        super().__init__(name=f"tf_op_layer_{name}", **options)
        self._node_def, self._op_def = node_def, op_def.lookup(node_def.op)
        self._attrs = attrs_from_proto(self._op_def.signature, node_def.attr)
        self.constants = dict(constants or {})
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return what the operation gives for `inputs`; those that are constant are left out."""
        graph = scopes.get_default_graph()
        name = graph.unique_name(self._node_def.name.rpartition("/")[2])
        op = add_node(graph, self._op_def, name, self._whole(inputs), dict(self._attrs))
        made = list(op.outputs)
        return made[0] if len(made) == 1 else made

    def _whole(self, inputs: Any) -> tuple[Any, ...]:
        """Return all inputs of the operation: those given, and the constant ones."""
        given = iter(inputs if isinstance(inputs, list) else [inputs])
        kinds = [dtype for _, dtype in walk_args(self._op_def.signature.inputs, self._attrs)]
        return tuple(
            convert_to_tensor(self.constants[number], dtype)
            if number in self.constants
            else next(given)
            for number, dtype in enumerate(kinds)
        )

    def get_config(self) -> dict[str, Any]:
        """Return the operation as a message's fields, and the values of constant inputs."""
        return {
            **super().get_config(), "name": self._name.removeprefix("tf_op_layer_"),
            "node_def": pb.to_fields(self._node_def),
            "constants": {number: _value(each) for number, each in self.constants.items()},
        }  # fmt: skip

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """Return a layer that does the same; numbers of constants may be strings, as in JSON."""
        node_def = pb.from_json(pb.NodeDef, json.dumps(config["node_def"]))
        constants = {int(number): each for number, each in config["constants"].items()}
        return cls(node_def, config["name"], constants, trainable=config.get("trainable", True))


def _value(constant: Any) -> Any:
    """Return what a constant input is: a variable's value is that of now."""
    known = constant_value(constant) if hasattr(constant, "graph") else constant
    return get_session().run(constant) if known is None else known


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
    layer = TensorFlowOpLayer(op.node_def, op.name, constants)
    inputs = needs[0] if len(needs) == 1 else needs
    connect(layer, inputs, list(op.outputs))
