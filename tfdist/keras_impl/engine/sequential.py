"""tf.keras.Sequential: layers, each called on what the one before gave.

Source: TF 1.15 API documentation, tf.keras.Sequential.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import Any

from tfdist.base import nest
from tfdist.keras_impl.engine.inputs import Input, InputLayer
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.engine.model import Model
from tfdist.keras_impl.engine.network import Network, refuse_legacy
from tfdist.keras_impl.engine.network_config import deserialize

__all__ = ["Sequential"]


class Sequential(Model):
    """A network of layers in a row.

    It is built as soon as the first layer knows its `input_shape`, or when it is first called.

    Args:
      layers: to begin with.
      name: of the network.

    Example:
      >>> model = keras.Sequential([keras.layers.Dense(3, input_shape=(4,))])
      >>> model.add(keras.layers.Dense(2, "softmax"))
      >>> model.output
      <tf.Tensor 'dense_1/Softmax:0' shape=(?, 2) dtype=float32>
    """

    def __init__(self, layers: Any = None, name: str | None = None) -> None:
        self._row: list[Any] = []
        super().__init__(name=name)
        for layer in [layers] if isinstance(layers, Layer) else layers or ():
            self.add(layer)

    @property
    def layers(self) -> list[Any]:
        """Return the layers in their order."""
        return [each for each in self._row if not isinstance(each, InputLayer)]

    def _sublayers(self) -> list[Any]:
        return self._row

    def take_in(self, tensors: list[Any]) -> list[Any]:
        """Make the layers that gave these tensors the network's own; return the new ones."""
        added = super().take_in(tensors)
        self._row += added
        return added

    def add(self, layer: Any) -> None:
        """Put a layer at the end.

        Raises:
          TypeError: it is no layer of tf.keras.
        """
        _check_layer(layer)
        self._row.append(layer)
        self._dtype = None
        if len(self._row) == 1:
            self._start(layer)
        elif self._map is not None or self.outputs:
            self._end_at(layer(nest.pack_as(self._nest_out, self.outputs)))
        else:
            self.built = False

    def _start(self, layer: Any) -> None:
        """Call the first layer, if it knows what on."""
        if isinstance(layer, InputLayer):
            self._nest_in = layer.output
            self._end_at(layer.output)
            return
        shape, dtype, name = _input_of(layer)
        if shape is not None:
            self._nest_in = Input(batch_shape=shape, dtype=dtype, name=f"{name}_input")
            self._end_at(layer(self._nest_in))

    def _end_at(self, output: Any) -> None:
        if len(nest.flatten(output)) != 1:
            raise ValueError(
                "All layers in a Sequential model should have a single output tensor. For "
                "multi-output layers, use the functional API."
            )
        self._init_graph(self._nest_in, output)

    def pop(self) -> None:
        """Take the last layer away.

        Raises:
          TypeError: there is none.
        """
        if not self._row:
            raise TypeError("There are no layers in the model.")
        self._row.pop()
        if self._map is None:
            return
        if self._row:
            self._row[-1].outbound_nodes.clear()
            node = self._row[-1].inbound_nodes[-1]
            self._init_graph(self._nest_in, node.outputs)
        else:
            self._map, self.inputs, self.outputs, self.built = None, [], [], False

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Return what the last layer gives."""
        if self._map is not None:
            return super().call(inputs, training, mask)
        outputs = inputs
        for layer in self._row:
            asks = "training" in inspect.signature(layer.call).parameters
            outputs = layer(outputs, **({"training": training} if asks else {}))
        return outputs

    def build(self, input_shape: Any = None) -> None:
        """Make the variables for inputs of a shape."""
        if input_shape is not None:
            super().build(input_shape)

    @property
    def weights(self) -> list[Any]:
        """Return the variables of all layers, layer by layer.

        Raises:
          ValueError: they are not made yet.
        """
        self._check_made()
        return Network.weights.fget(self)  # type: ignore[attr-defined,no-any-return]

    @property
    def trainable_weights(self) -> list[Any]:
        """Return the variables that are trained."""
        self._check_made()
        return Network.trainable_weights.fget(self)  # type: ignore[attr-defined,no-any-return]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Return the variables that are not trained."""
        self._check_made()
        return Network.non_trainable_weights.fget(self)  # type: ignore[attr-defined,no-any-return]

    def _check_made(self) -> None:
        if not self.built and self._row and not any(each.built for each in self._row):
            raise ValueError(
                f"Weights for model {self.name} have not yet been created. Weights are created "
                "when the Model is first called on inputs or `build()` is called with an "
                "`input_shape`."
            )

    def get_config(self) -> dict[str, Any]:
        """Return what makes such a network."""
        layers = [
            {"class_name": type(each).__name__, "config": copy.deepcopy(each.get_config())}
            for each in self.layers
        ]
        config: dict[str, Any] = {"name": self.name, "layers": layers}
        if self._build_shape is not None:
            config["build_input_shape"] = self._build_shape
        return config

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None
    ) -> Any:
        """Return a network that `get_config` told."""
        is_named = isinstance(config, Mapping)
        model = cls(name=config["name"] if is_named else None)
        for each in config["layers"] if is_named else config:
            model.add(deserialize(each, custom_objects))
        if is_named and not model.inputs and config.get("build_input_shape"):
            model.build(tuple(config["build_input_shape"]))
        return model

    def predict_proba(self, x: Any, batch_size: int | None = None, verbose: int = 0) -> Any:
        """Return what the network gives for inputs; the same as `predict`."""
        return self.predict(x, batch_size, verbose)

    def predict_classes(self, x: Any, batch_size: int | None = None, verbose: int = 0) -> Any:
        """Return the number of the likeliest class for each input."""
        found = self.predict(x, batch_size, verbose)
        return found.argmax(-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")


def _check_layer(layer: Any) -> None:
    refuse_legacy([layer])
    if isinstance(layer, Layer):
        return
    raise TypeError(f"The added layer must be an instance of class Layer. Found: {layer}")


def _input_of(layer: Any) -> tuple[Any, Any, str]:
    """Return shape and type of a layer's input as it tells them, and the layer's name."""
    first = layer
    while isinstance(first, Network) and first.layers:
        if first.inputs and not isinstance(first, Sequential):
            tensor = first.inputs[0]
            return tensor.get_shape().as_list(), tensor.dtype, first.input_names[0]
        first = first.layers[0]
    return getattr(first, "_batch_input_shape", None), first.dtype, first.name
