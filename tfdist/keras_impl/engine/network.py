"""Network: layers that call each other, as one layer.

A functional network is made of its inputs and outputs; a subclassed one has a `call` of its own,
and holds the layers that are its attributes.

Source: TF 1.15 API documentation, tf.keras.Model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from tfdist.base import nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.keras_impl.backend.graph_states import history_of
from tfdist.keras_impl.backend.learning_phase import learning_phase
from tfdist.keras_impl.engine.call_context import innermost
from tfdist.keras_impl.engine.ends import TakesInLayers
from tfdist.keras_impl.engine.graph_map import GraphMap
from tfdist.keras_impl.engine.layer import from_operations, is_of_keras
from tfdist.keras_impl.engine.layer_tracking import unique
from tfdist.keras_impl.engine.network_config import config_of, network_from
from tfdist.keras_impl.engine.nodes import connect, reached_from
from tfdist.keras_impl.engine.summaries import print_summary
from tfdist.keras_impl.settings import floatx
from tfdist.models.layers import base
from tfdist.ops.array.constants import placeholder

__all__: list[str] = []

VERSION = "2.2.4-tf"  # of Keras, which configurations name


class Network(TakesInLayers):
    """A layer made of layers.

    Args:
      inputs: tensors of `Input`: one, or a list or dict of them. None in subclasses.
      outputs: tensors that layers gave for them.
      name: of the network.

    Attributes:
      inputs: the tensors it starts from, in a flat list.
      outputs: the tensors it gives, in a flat list.
      input_names: of the layers that give `inputs`.
      output_names: of the layers that give `outputs`.
    """

    def __init__(
        self, inputs: Any = None, outputs: Any = None, name: str | None = None, **options: Any
    ) -> None:
        super().__init__(name=name, **options)
        self._nest_in: Any = None
        self._nest_out: Any = None
        self._build_shape: Any = None
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.input_names: list[str] = []
        self.output_names: list[str] = []
        self._compute_previous_mask = False
        if outputs is not None:
            self._init_graph(inputs, outputs)

    # the graph of layers

    def _init_graph(self, inputs: Any, outputs: Any) -> None:
        self._nest_in, self._nest_out = _alone(inputs), _alone(outputs)
        self.inputs, self.outputs = nest.flatten(inputs), nest.flatten(outputs)
        self._check_inputs()
        strange = [each for each in self.outputs if history_of(each) is None]
        if strange:
            from_operations(strange)
        self._map = GraphMap(self.inputs, self.outputs)
        refuse_legacy(self._map.layers)
        self.built = True
        self.inbound_nodes.clear()
        connect(self, self._nest_in, self._nest_out, claims=False)
        self._name_ends()

    def _check_inputs(self) -> None:
        if len({id(each) for each in self.inputs}) != len(self.inputs):
            raise ValueError(
                "The list of inputs passed to the model is redundant. All inputs should only "
                f"appear once. Found: {self.inputs}"
            )
        for each in self.inputs:
            if history_of(each) is None:
                raise ValueError(
                    f"Input tensors to a {type(self).__name__} must come from `tf.keras.Input`. "
                    f"Received: {each} (missing previous layer metadata)."
                )

    def _name_ends(self) -> None:
        self.input_names = [history_of(each).layer.name for each in self.inputs]  # type: ignore[union-attr]
        self.output_names = _numbered(
            [history_of(each).layer.name for each in self.outputs]  # type: ignore[union-attr]
        )

    @property
    def layers(self) -> list[Any]:
        """Return the layers, those farthest from the outputs first."""
        return list(self._map.layers) if self._map is not None else self._sublayers()

    def _sublayers(self) -> list[Any]:
        return self._map.layers if self._map is not None else super()._sublayers()

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """Return a layer by name or number.

        Raises:
          ValueError: there is none.
        """
        layers = self.layers
        if index is not None:
            if len(layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has "
                    f"{len(layers)} layers."
                )
            return layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        found = next((each for each in layers if each.name == name), None)
        if found is None:
            raise ValueError(f"No such layer: {name}")
        return found

    # running it

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Return the outputs for `inputs`, by calling all layers anew."""
        if self._map is None:
            raise NotImplementedError("When subclassing the `Model` class, you should implement a "
                                      "`call` method.")  # fmt: skip
        values = self._started(nest.flatten(inputs))
        for node in self._map.nodes:
            if node.inbound:
                self._run(node, values, training)
        return nest.map_leaves(lambda each: values[each], self._nest_out)

    def _started(self, given: list[Any]) -> dict[Any, Any]:
        if len(given) != len(self.inputs):
            raise ValueError(
                f'model "{self.name}" takes {len(self.inputs)} inputs ({self.input_names}), but '
                f"got {len(given)}"
            )
        return dict(zip(self.inputs, given, strict=True))

    def _run(self, node: Any, values: dict[Any, Any], training: Any) -> None:
        inputs = nest.map_leaves(lambda each: values.get(each, each), node.inputs)
        options = {name: _replaced(each, values) for name, each in node.arguments.items()}
        found = node.layer(inputs, **options)
        before, after = nest.flatten(node.outputs), nest.flatten(found)
        values.update(zip(before, after, strict=False))  # a library's layer may hand on fewer

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the masks of the outputs, as the layers have set them."""
        return None

    def _give_masks(self, inputs: Any, outputs: Any, mask: Any) -> None:
        if self._map is None:
            super()._give_masks(inputs, outputs, mask)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the outputs for inputs of a shape."""
        graph = scopes.get_default_graph()
        with graph.as_default(), scopes.name_scope(f"{self.name}_shape"):
            inputs = [placeholder(each.dtype, _sizes(shape)) for each, shape in zip(
                self.inputs, _each_shape(input_shape), strict=True)]  # fmt: skip
            found = self.call(inputs if len(inputs) > 1 else inputs[0])
        return nest.map_leaves(lambda each: each.get_shape(), found)

    def __call__(self, inputs: Any, *arguments: Any, **options: Any) -> Any:
        """Return the outputs for `inputs`; a network without ends has these from now on."""
        outputs = super().__call__(inputs, *arguments, **options)
        if self._map is None and not self.inputs:
            self._keep_ends(inputs, outputs)
        return outputs

    def _keep_ends(self, inputs: Any, outputs: Any) -> None:
        self.inputs = [each for each in nest.flatten(inputs) if hasattr(each, "graph")]
        self.outputs = nest.flatten(outputs)
        self.input_names = [f"input_{number + 1}" for number in range(len(self.inputs))]
        self.output_names = [f"output_{number + 1}" for number in range(len(self.outputs))]

    def _set_inputs(self, inputs: Any, training: Any = None) -> None:
        """Make the graph for inputs like these arrays, or of these tensors."""
        if self.inputs:
            return
        made = nest.map_leaves(_like, inputs)
        flat = nest.flatten(made)
        told = {"training": learning_phase()} if base.takes_argument(type(self), "training") else {}
        self(flat[0] if len(flat) == 1 and not isinstance(inputs, Mapping) else made, **told)

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        if self._map is not None or self.built:
            return
        if self._called_in_build():
            return
        self._build_shape = input_shape
        with scopes.get_default_graph().as_default():
            shapes = _each_shape(input_shape)
            made = [placeholder(floatx(), _sizes(shape)) for shape in shapes]
            self.call(made[0] if len(made) == 1 else made)
        self.built = True

    def _called_in_build(self) -> bool:
        """Return whether `build` stands in the first call, which makes the variables itself."""
        return innermost() is self

    # what it holds

    @property
    def weights(self) -> list[Any]:
        """Return the variables of all layers, layer by layer."""
        own = self._own_variables()
        nested = [each for layer in self.layers for each in layer.weights]
        return unique(nested + own[0] + own[1])

    @property
    def losses(self) -> list[Any]:
        """Return the losses of all layers for the network's own inputs."""
        if self._map is None:
            return super().losses
        nested = [each for layer in self.layers for each in layer.losses]
        return self._own_part([*self._regularizations(), *nested, *self._own_losses])

    def _own_part(self, found: list[Any]) -> list[Any]:
        if not found:
            return found
        starts = [t for node in self.inbound_nodes for t in nest.flatten(node.inputs)]
        mine = reached_from(starts)
        others = reached_from(self._all_inputs())
        ops = [getattr(each, "op", each) for each in found]
        return [each for each, op in zip(found, ops, strict=True) if op in mine or op not in others]

    @property
    def state_updates(self) -> list[Any]:
        """Return the updates of layers that keep a state."""
        return [op for layer in self.layers if layer.stateful for op in layer.updates]

    def reset_states(self) -> None:
        """Let layers that keep a state start anew."""
        for layer in self.layers:
            if hasattr(layer, "reset_states") and getattr(layer, "stateful", False):
                layer.reset_states()

    # its settings

    def get_config(self) -> dict[str, Any]:
        """Return what makes such a network; NotImplementedError for a subclassed one."""
        if self._map is None:
            raise NotImplementedError(f"{type(self).__name__} does not tell its settings")
        return config_of(self, self._map)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Any:
        """Return a network that `get_config` told."""
        inputs, outputs, layers = network_from(config, custom_objects)
        made = cls(inputs=inputs, outputs=outputs, name=config.get("name"))
        made.take_in_layers(layers)
        return made

    def to_json(self, **options: Any) -> str:
        """Return what makes such a network as JSON; `options` are those of `json.dumps`."""
        told = {
            "class_name": type(self).__name__, "config": self.get_config(),
            "keras_version": VERSION, "backend": "tensorflow",
        }  # fmt: skip
        return json.dumps(told, default=_plain, **options)

    def summary(
        self, line_length: int | None = None, positions: Any = None, print_fn: Any = None
    ) -> None:
        """Print its layers, their outputs' shapes and their numbers of parameters.

        Raises:
          ValueError: it is not built.
        """
        if not self.built:
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or "
                "calling `fit()` with some data, or specify an `input_shape` argument in the "
                "first layer(s) for automatic build."
            )
        print_summary(self, self._map, line_length, positions, print_fn)


def refuse_legacy(layers: list[Any]) -> None:
    """Raise TypeError if some are layers of tf.layers: a network can't call them anew."""
    legacy = [e for e in layers if isinstance(e, base.Layer) and not is_of_keras(type(e))]
    if legacy:
        listed = "\n".join(f"  {each}" for each in legacy)
        raise TypeError(
            f"The following are legacy tf.layers.Layers:\n{listed}\nTo use keras as a framework "
            "(for instance using the Network, Model, or Sequential classes), please use the "
            "tf.keras.layers implementation instead. (Or, if writing custom layers, subclass from "
            "tf.keras.layers rather than tf.layers)"
        )


def _alone(structure: Any) -> Any:
    """Return the one tensor in a list of one; other structures as they are."""
    is_one = isinstance(structure, list | tuple) and len(structure) == 1
    return structure[0] if is_one else structure


def _replaced(structure: Any, values: dict[Any, Any]) -> Any:
    def one(each: Any) -> Any:
        return values.get(each, each) if hasattr(each, "graph") else each

    return nest.map_leaves(one, structure) if structure != [] else structure


def _numbered(names: list[str]) -> list[str]:
    """Return the names, with numbers after those that were there before."""
    found: dict[str, int] = {}
    made = []
    for name in names:
        number = found[name] = found.get(name, -1) + 1
        made.append(f"{name}_{number}" if number else name)
    return made


def _each_shape(shape: Any) -> list[Any]:
    if isinstance(shape, list) and shape and isinstance(shape[0], list | tuple | TensorShape):
        return list(shape)
    return [shape]


def _sizes(shape: Any) -> Any:
    return shape.as_list() if hasattr(shape, "as_list") else list(shape)


def _like(value: Any) -> Any:
    """Return a placeholder for batches like an array; tensors as they are."""
    if hasattr(value, "graph"):
        return value
    array = np.asarray(value)
    dtype = floatx() if array.dtype == np.float64 else array.dtype
    sizes = array.shape[1:] if array.ndim > 1 else (1,)
    return placeholder(dtype, [None, *sizes])


def _plain(value: Any) -> Any:
    """Return what JSON can hold instead of `value`."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if hasattr(value, "as_list"):
        return value.as_list()
    return getattr(value, "name", None) or getattr(value, "__name__", str(value))
