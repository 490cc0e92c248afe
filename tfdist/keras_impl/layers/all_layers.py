"""All layers of tf.keras, by which configurations find them.

Source: TF 1.15 API documentation, tf.keras.layers.
"""

from __future__ import annotations

from typing import Any

from tfdist.keras_impl.engine import inputs
from tfdist.keras_impl.engine.ends import AddLoss, AddMetric
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.engine.model import Model
from tfdist.keras_impl.engine.network_config import deserialize
from tfdist.keras_impl.engine.operation_layer import TensorFlowOpLayer
from tfdist.keras_impl.engine.sequential import Sequential
from tfdist.keras_impl.layers import (
    advanced_activations,
    attention,
    convolutional,
    convolutional_recurrent,
    core,
    embeddings,
    lambda_layer,
    locally_connected,
    merging,
    noise,
    normalization,
    padding_cropping,
    pooling,
    recurrent,
    recurrent_cells,
    separable_and_local,
    stacked_cells,
    wrappers,
)
from tfdist.keras_impl.serialization import serialize_keras_object
from tfdist.models.layers.input_spec import InputSpec

_MODULES = (
    attention, convolutional, separable_and_local, locally_connected, core, embeddings,
    lambda_layer, inputs,
    wrappers, merging, noise, normalization, padding_cropping, pooling, recurrent, recurrent_cells,
    convolutional_recurrent, advanced_activations, stacked_cells,
)  # fmt: skip

_FOUND = {name: getattr(module, name) for module in _MODULES for name in module.__all__}

__all__ = [*_FOUND, "InputSpec", "Layer", "deserialize", "serialize"]


def serialize(layer: Any) -> Any:
    """Return what tells of a layer: a dictionary of its class and settings.

    Example:
      >>> keras.layers.serialize(keras.layers.Flatten(name="flat"))["class_name"]
      'Flatten'
    """
    return serialize_keras_object(layer)


globals().update(_FOUND)
_BUILT = (AddLoss, AddMetric, Layer, Model, Sequential, TensorFlowOpLayer)
_KNOWN = {
    **{name: each for name, each in _FOUND.items() if isinstance(each, type)},
    **{each.__name__: each for each in _BUILT},
}


def known_layers() -> dict[str, type]:
    """Return the classes that configurations of layers name."""
    return _KNOWN
