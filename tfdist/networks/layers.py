"""All layers of tf.keras, by which configurations find them.

Source: TF 1.15 API documentation, tf.keras.layers.
"""

from __future__ import annotations

from typing import Any

from tfdist.models.input_spec import InputSpec
from tfdist.networks import (
    attention,
    convolutional,
    convolutional_others,
    core,
    embeddings,
    functions,
    inputs,
    layer_wrappers,
    merging,
    noise,
    normalization,
    operation_layer,
    places,
    pooling,
    recurrent,
    recurrent_cells,
    recurrent_images,
    slopes,
    stacked_cells,
)
from tfdist.networks.layer import Layer
from tfdist.networks.model import Model
from tfdist.networks.network_config import KNOWN, deserialize
from tfdist.networks.sequential import Sequential
from tfdist.networks.serialization import serialize_keras_object

_MODULES = (
    attention, convolutional, convolutional_others, core, embeddings, functions, inputs,
    layer_wrappers, merging, noise, normalization, places, pooling, recurrent, recurrent_cells,
    recurrent_images, slopes, stacked_cells,
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
KNOWN.update({name: each for name, each in _FOUND.items() if isinstance(each, type)})
KNOWN.update(Layer=Layer, Model=Model, Sequential=Sequential)
_LOADED = (InputSpec, operation_layer)  # the one for all, the other for being known
