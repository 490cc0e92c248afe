"""Members of a layer that come from Keras: its variables' values, its settings, its calls.

Layers of tf.layers and tf.keras and cells of tf.nn.rnn_cell have them all. What they need of
tf.keras is imported when it is first asked for.

Source: TF 1.15 API documentation, tf.layers.Layer.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from tfdist.base import lazy, nest

_get = lazy.function("tfdist.keras_impl.backend.sessions", "batch_get_value")
_set = lazy.function("tfdist.keras_impl.backend.sessions", "batch_set_value")
_track = lazy.function("tfdist.keras_impl.backend.graph_states", "track_variable")
_told = lazy.function("tfdist.keras_impl.engine.argument_names", "told")
_understood = lazy.function("tfdist.keras_impl.engine.argument_names", "understood")
_connect = lazy.function("tfdist.keras_impl.engine.nodes", "connect_known")

_SHAPES = ("input_shape", "batch_input_shape", "batch_size", "input_dim", "input_length")

# Arguments of `__init__` that all layers have.
_OF_ALL = {"self", "trainable", "name", "dtype", "dynamic", "activity_regularizer", "weights",
           "_reuse", "_scope"}  # fmt: skip


class Members:
    """The part of `Layer` that is the same in tf.layers and tf.keras."""

    # Arguments that `get_config` tells, besides name, trainable and dtype.
    CONFIG: tuple[str, ...] = ()

    is_tracked = True  # whether a layer of tf.keras that has it as an attribute holds it
    supports_masking = False
    stateful = False
    input_spec: Any = None
    trainable: Any = True

    built: bool
    _name: str
    _activity_regularizer: Any
    inbound_nodes: list[Any]
    weights: Any
    name: Any
    dtype: Any

    def _take_settings(self, options: dict[str, Any], dynamic: bool, weights: Any) -> None:
        """Note what `__init__` was given besides what all layers are told; TypeError if unknown."""
        for key in options:
            if key not in _SHAPES:
                raise TypeError("Keyword argument not understood:", key)
        shape = _batch_shape(options)
        if shape is not None:
            self._batch_input_shape = shape
        self.dynamic, self._initial_weights = dynamic, weights
        self.inbound_nodes = []
        self.outbound_nodes: list[Any] = []

    @property
    def activity_regularizer(self) -> Any:
        """Return the function from the output to a loss, None if there is none."""
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Any) -> None:
        self._activity_regularizer = regularizer

    # values of its variables

    def get_weights(self) -> list[Any]:
        """Return the values of its variables, as arrays."""
        return _get(_tracked(self.weights))  # type: ignore[no-any-return]

    def set_weights(self, weights: Any) -> None:
        """Give its variables values.

        Args:
          weights: an array for each, in the order of `weights`.

        Raises:
          ValueError: there are more or fewer, or one has another shape.
        """
        variables = _tracked(self.weights)
        if len(variables) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self._name}" with a  weight list of '
                f"length {len(weights)}, but the layer was expecting {len(variables)} weights. "
                f"Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights, strict=True):
            wanted, shape = tuple(variable.shape.as_list()), np.shape(value)
            if wanted != shape:
                raise ValueError(
                    f"Layer weight shape {wanted} not compatible with provided weight shape {shape}"
                )
        _set(zip(variables, weights, strict=True))

    def count_params(self) -> int:
        """Return the number of elements of all its variables.

        Raises:
          ValueError: it is not built.
        """
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self._name}, but the layer isn't built. "
                f"You can build it manually via: `{self._name}.build(batch_input_shape)`."
            )
        return sum(each.shape.num_elements() for each in self.weights)

    # what it was called on

    def _of_node(self, index: int, attribute: str, what: str) -> Any:
        if not self.inbound_nodes:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if not -len(self.inbound_nodes) <= index < len(self.inbound_nodes):
            raise ValueError(
                f"Asked to get {what} at node {index}, but the layer has only "
                f"{len(self.inbound_nodes)} inbound nodes."
            )
        found = getattr(self.inbound_nodes[index], attribute)
        flat = nest.flatten(found)
        return flat[0] if len(flat) == 1 else found

    @property
    def input(self) -> Any:
        """Return the tensor, or tensors, that it was first called on."""
        if not self.inbound_nodes:
            raise AttributeError(f"Layer {self._name} is not connected, no input to return.")
        return self._of_node(0, "inputs", "input")

    @property
    def output(self) -> Any:
        """Return the tensor, or tensors, that its first call gave."""
        if not self.inbound_nodes:
            raise AttributeError(f"Layer {self._name} has no inbound nodes.")
        return self._of_node(0, "outputs", "output")

    @property
    def input_shape(self) -> Any:
        """Return the shape of what it was called on: a tuple, or a list of them."""
        return self._one_shape("inputs", "input")

    @property
    def output_shape(self) -> Any:
        """Return the shape of what it gave: a tuple, or a list of them."""
        return self._one_shape("outputs", "output")

    def _one_shape(self, attribute: str, what: str) -> Any:
        if not self.inbound_nodes:
            raise AttributeError(
                f"The layer has never been called and thus has no defined {what} shape."
            )
        found = [shapes_of(getattr(node, attribute)) for node in self.inbound_nodes]
        if any(each != found[0] for each in found):
            raise AttributeError(
                f'The layer "{self._name}" has multiple inbound nodes, with different {what} '
                f"shapes. Use `get_{what}_shape_at(node_index)` instead."
            )
        return found[0]

    def get_input_at(self, node_index: int) -> Any:
        """Return the tensor, or tensors, of one of its calls."""
        return self._of_node(node_index, "inputs", "input")

    def get_output_at(self, node_index: int) -> Any:
        """Return what one of its calls gave."""
        return self._of_node(node_index, "outputs", "output")

    def get_input_shape_at(self, node_index: int) -> Any:
        """Return the shape of what one of its calls was on."""
        return shapes_of(self._of_node(node_index, "inputs", "input shape"))

    def get_output_shape_at(self, node_index: int) -> Any:
        """Return the shape of what one of its calls gave."""
        return shapes_of(self._of_node(node_index, "outputs", "output shape"))

    def _all_inputs(self) -> list[Any]:
        return [tensor for node in self.inbound_nodes for tensor in nest.flatten(node.inputs)]

    def _note_call(self, inputs: Any, outputs: Any) -> None:
        """Note this call, if the inputs come from layers of tf.keras."""
        flat = nest.flatten(inputs)
        if flat and is_of_keras(getattr(flat[0], "graph", None)):
            _connect(self, inputs, outputs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mask of the outputs: the inputs' one if masks are supported.

        Raises:
          TypeError: there is one, and masks are not supported.
        """
        if not self.supports_masking and any(each is not None for each in nest.flatten(mask)):
            raise TypeError(
                f"Layer {self._name} does not support masking, but was passed an input_mask: {mask}"
            )
        return mask

    # its settings

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make such a layer.

        Raises:
          NotImplementedError: `__init__` takes others, and the class does not tell them.
        """
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        told_all = type(self).get_config is not Members.get_config or self.CONFIG
        if not told_all and _has_own_arguments(type(self)):
            raise NotImplementedError(
                "Layers with arguments in `__init__` must override `get_config`."
            )
        return {**config, **{key: _told(key, self._setting(key)) for key in self.CONFIG}}

    def _setting(self, key: str) -> Any:
        """Return an argument of `__init__`, as it is kept."""
        value = getattr(self, key) if hasattr(self, key) else getattr(self, f"_{key}")
        return "linear" if key == "activation" and value is None else meant(key, value)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """Return a layer with these settings."""
        return cls(**config)


class KeptByKeras:
    """What tf.keras, a floor above, keeps for a graph that it has to do with."""


def meant(name: str, value: Any) -> Any:
    """Return what an argument's value stands for, if it is a name or tells of an object."""
    return _understood(name, value) if isinstance(value, str | Mapping) else value


def is_of_keras(graph: Any) -> bool:
    """Return whether tf.keras keeps something about a graph."""
    return graph is not None and graph.outermost.keeps(KeptByKeras)


def track(variable: Any) -> None:
    """Let sessions of tf.keras initialize a variable, if its graph has something of tf.keras."""
    if is_of_keras(variable.graph):
        _track(variable)


def _tracked(variables: list[Any]) -> list[Any]:
    """Return the variables, which sessions of tf.keras initialize from now on."""
    for each in variables:
        _track(each)
    return variables


def _batch_shape(options: dict[str, Any]) -> tuple[Any, ...] | None:
    """Return the batch's shape that the options tell; None if they tell none."""
    if "batch_input_shape" in options:
        return tuple(options["batch_input_shape"])
    shape = options.get("input_shape")
    if shape is None and options.get("input_dim") is not None:
        shape = (options["input_dim"],)
        if "input_length" in options:
            shape = (options["input_length"], *shape)
    return None if shape is None else (options.get("batch_size"), *shape)


def _has_own_arguments(kind: Any) -> bool:
    """Return whether `__init__` takes others than those of all layers."""
    own = inspect.signature(kind.__init__).parameters.values()
    named = {each.name for each in own if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)}
    return bool(named - _OF_ALL)


def shapes_of(tensors: Any) -> Any:
    """Return a tensor's shape as a tuple; of a list, a list of them."""
    found = [tuple(each.get_shape().as_list()) for each in nest.flatten(tensors)]
    return found if nest.is_nested(tensors) else found[0]
