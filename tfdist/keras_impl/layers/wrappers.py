"""Layers around layers: for each step, and in both directions.

Source: TF 1.15 API documentation, tf.keras.layers.TimeDistributed and Bidirectional.
"""

from __future__ import annotations

import inspect
from typing import Any

from tfdist.base import nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.engine.network_config import deserialize
from tfdist.models.layers.base import shape_of_input
from tfdist.ops.array.concat import concat
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.tile_roll import reverse

__all__ = ["Bidirectional", "TimeDistributed", "Wrapper"]


class Wrapper(Layer):
    """What layers around another layer are made from.

    Args:
      layer: the inner one.
      **options: those of `Layer`.

    Raises:
      ValueError: the inner one is no layer.
    """

    def __init__(self, layer: Any, **options: Any) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(
                f"Please initialize `{type(self).__name__}` layer with a `Layer` instance. You "
                f"passed: {layer}"
            )
        super().__init__(**options)
        self.layer = layer

    def get_config(self) -> dict[str, Any]:
        """Return what makes such a layer."""
        inner = {"class_name": type(self.layer).__name__, "config": self.layer.get_config()}
        return {**super().get_config(), "layer": inner}

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        """Return a layer with these settings."""
        kept = dict(config)
        return cls(deserialize(kept.pop("layer"), custom_objects), **kept)


class TimeDistributed(Wrapper):
    """A layer that does a layer for each step of [batch, steps, ...].

    Args:
      layer: the inner one.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.TimeDistributed(keras.layers.Dense(3))(zeros([2, 5, 4])).shape.as_list()
      [2, 5, 3]
    """

    supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Make the inner layer's variables.

        Raises:
          ValueError: there are fewer than three axes.
        """
        sizes = shape_of_input(input_shape).as_list()
        if len(sizes) < 3:
            raise ValueError(
                "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 "
                f"dimensions, received: {sizes}"
            )
        if not self.layer.built:
            self.layer._dtype = self.layer._dtype or self._dtype
            self.layer.build(TensorShape([sizes[0], *sizes[2:]]))
            self.layer.built = True
        self.built = True

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Return the inner layer's outputs for all steps."""
        known = inputs.plain_shape
        inner = reshape(inputs, [-1, *_sizes(inputs)[2:]])
        asks = "training" in inspect.signature(self.layer.call).parameters
        outputs = self.layer.call(inner, **({"training": training} if asks else {}))
        after = outputs.plain_shape[1:]
        outputs = reshape(outputs, [-1, _sizes(inputs)[1], *_sizes(outputs)[1:]])
        outputs.set_shape([known[0], known[1], *after])
        return outputs

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mask of the outputs: that of the inputs."""
        return mask

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape."""
        batch, steps, *rest = shape_of_input(input_shape).as_list()
        inner = self.layer.compute_output_shape(TensorShape([batch, *rest])).as_list()
        return TensorShape([batch, steps, *inner[1:]])


def _sizes(tensor: Any) -> list[Any]:
    """Return the sizes of a tensor's axes: numbers where they are known."""
    sizes: Any = shape(tensor)
    return [sizes[n] if size is None else size for n, size in enumerate(tensor.plain_shape)]


class Bidirectional(Wrapper):
    """A recurrent layer in both directions.

    Args:
      layer: the recurrent one; it is done forwards, and one like it backwards.
      merge_mode: what becomes of both outputs: "concat", "sum", "mul", "ave", or None for a list.
      weights: initial values of the variables.
      backward_layer: the one that goes backwards.
      **options: those of `Layer`.

    Raises:
      ValueError: it is another mode, or the layer is no layer.

    Example:
      >>> keras.layers.Bidirectional(keras.layers.LSTM(3))(zeros([2, 5, 4])).shape.as_list()
      [2, 6]
    """

    supports_masking = True

    def __init__(
        self,
        layer: Any,
        merge_mode: str | None = "concat",
        weights: Any = None,
        backward_layer: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(layer, **options)
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(
                f"Invalid merge mode. Received: {merge_mode}. Merge mode should be one of "
                '{"sum", "mul", "ave", "concat", None}'
            )
        self.merge_mode, self._initial_weights = merge_mode, weights
        self.forward_layer = _again(layer, "forward", layer.go_backwards)
        self.backward_layer = backward_layer or _again(layer, "backward", not layer.go_backwards)
        self.return_sequences, self.return_state = layer.return_sequences, layer.return_state
        self.stateful = layer.stateful

    def _found(self) -> Any:
        inner = vars(self).get("layer")
        return (each for each in super()._found() if each is not inner)

    def __call__(  # type: ignore[override]
        self, inputs: Any, initial_state: Any = None, **options: Any
    ) -> Any:
        """Return the outputs of both directions, from given states or from zeros."""
        if initial_state is not None:
            inputs = [inputs, *nest.flatten(initial_state)]
        return super().__call__(inputs, **options)

    def build(self, input_shape: Any) -> None:
        """Make nothing: both layers make their variables when they are called."""
        self.built = True

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Return the outputs of both directions, merged; and all states, if those are wanted."""
        states = list(inputs[1:]) if isinstance(inputs, list | tuple) else []
        inputs = nest.flatten(inputs)[0]
        half = len(states) // 2
        options = {"training": training}
        if mask is not None:
            options["mask"] = nest.flatten(mask)[0]
        one = self.forward_layer(inputs, states[:half] or None, **options)
        other = self.backward_layer(inputs, states[half:] or None, **options)
        if not self.return_state:
            return self._merged(one, other)
        merged = self._merged(one[0], other[0])
        return [*nest.flatten(merged), *one[1:], *other[1:]]

    def _merged(self, one: Any, other: Any) -> Any:
        if self.return_sequences:
            other = reverse(other, [0 if self.forward_layer.time_major else 1])
        if self.merge_mode == "concat":
            return concat([one, other], -1)
        if self.merge_mode == "mul":
            return one * other
        if self.merge_mode is None:
            return [one, other]
        return one + other if self.merge_mode == "sum" else (one + other) / 2

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mask of the outputs: that of the inputs, if there are all steps."""
        mask = nest.flatten(mask)[0] if mask is not None else None
        kept = mask if self.return_sequences else None
        first = [kept] if self.merge_mode else [kept, kept]
        if not self.return_state:
            return first if len(first) > 1 else kept
        states = len(nest.flatten(self.forward_layer.cell.state_size)) * 2
        return [*first, *[None] * states]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the outputs for inputs of a shape."""
        found = self.forward_layer.compute_output_shape(input_shape)
        states = found[1:] if self.return_state else []
        whole = (found[0] if self.return_state else found).as_list()
        if self.merge_mode == "concat":
            whole[-1] *= 2
        first = [TensorShape(whole)] * (1 if self.merge_mode else 2)
        made = [*first, *states, *states]
        return made if len(made) > 1 else made[0]

    def reset_states(self) -> None:
        """Set the states that are kept to zeros."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    def get_config(self) -> dict[str, Any]:
        """Return what makes such a layer."""
        return {**super().get_config(), "merge_mode": self.merge_mode}


def _again(layer: Any, direction: str, backwards: bool) -> Any:
    """Return a new layer like `layer`, in a direction."""
    config = {**layer.get_config(), "go_backwards": backwards}
    config["name"] = f"{direction}_{layer.name}"
    takes = "custom_objects" in inspect.signature(type(layer).from_config).parameters
    return type(layer).from_config(config, **({"custom_objects": _cells(layer)} if takes else {}))


def _cells(layer: Any) -> dict[str, Any]:
    """Return the classes of a recurrent layer's cells, which may be a program's own."""
    cell = getattr(layer, "cell", None)
    return {type(each).__name__: type(each) for each in (cell, *getattr(cell, "cells", ())) if each}
