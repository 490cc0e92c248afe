"""Models from what tells of them: their configurations, or other models.

Source: TF 1.15 API documentation, tf.keras.models.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tfdist.base import nest
from tfdist.keras_impl.engine.inputs import Input, InputLayer
from tfdist.keras_impl.engine.model import Model
from tfdist.keras_impl.engine.sequential import Sequential
from tfdist.keras_impl.layers.all_layers import deserialize

__all__ = ["clone_model", "model_from_config", "model_from_json"]


def model_from_config(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the model that a dictionary with "class_name" and "config" tells of.

    Raises:
      TypeError: it is a list.

    Example:
      >>> told = {"class_name": "Sequential", "config": keras.Sequential(name="row").get_config()}
      >>> keras.models.model_from_config(told).name
      'row'
    """
    if isinstance(config, list):
        raise TypeError(
            "`model_from_config` expects a dictionary, not a list. Maybe you meant to use "
            "`Sequential.from_config(config)`?"
        )
    return deserialize(config, custom_objects)


def model_from_json(json_string: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the model that `Model.to_json` told.

    Example:
      >>> keras.models.model_from_json(keras.Sequential(name="row").to_json()).name
      'row'
    """
    return model_from_config(json.loads(json_string, object_hook=_with_tuples), custom_objects)


def _with_tuples(found: dict[str, Any]) -> dict[str, Any]:
    """Return a dictionary whose shapes are tuples, as they were before they became JSON."""
    shape = found.get("batch_input_shape")
    return {**found, "batch_input_shape": tuple(shape)} if isinstance(shape, list) else found


def clone_model(
    model: Any, input_tensors: Any = None, clone_function: Callable[[Any], Any] | None = None
) -> Any:
    """Return a model of new layers, with new variables, that is otherwise the same.

    Args:
      model: functional, or Sequential.
      input_tensors: to start from; new placeholders by default.
      clone_function: from a layer to the one that takes its place.

    Raises:
      ValueError: it is no such model.

    Example:
      >>> model = keras.Sequential([keras.layers.Dense(3, input_shape=(4,))])
      >>> keras.models.clone_model(model).count_params()
      15
    """
    make = clone_function or _cloned
    if isinstance(model, Sequential):
        return _cloned_row(model, input_tensors, make)
    if not isinstance(model, Model) or model._map is None:
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, but got a subclass "
            f"model instead: {model}"
        )
    return _cloned_graph(model, input_tensors, make)


def _cloned(layer: Any) -> Any:
    return type(layer).from_config(layer.get_config())


def _cloned_row(model: Any, input_tensors: Any, make: Any) -> Any:
    layers = [make(each) for each in model.layers]
    if input_tensors is not None:
        tensor = nest.flatten(input_tensors)[0]
        layers = [InputLayer(input_tensor=tensor), *layers]
    return Sequential(layers, name=model.name)


def _cloned_graph(model: Any, input_tensors: Any, make: Any) -> Any:
    given = nest.flatten(input_tensors) if input_tensors is not None else _new_inputs(model)
    values: dict[Any, Any] = dict(zip(model.inputs, given, strict=True))
    layers: dict[int, Any] = {}
    for node in model._map.nodes:
        if not node.inbound:
            continue
        if id(node.layer) not in layers:
            layers[id(node.layer)] = make(node.layer)
        inputs = nest.map_leaves(values.__getitem__, node.inputs)
        found = nest.flatten(layers[id(node.layer)](inputs, **node.arguments))
        values.update(zip(nest.flatten(node.outputs), found, strict=True))
    outputs = nest.map_leaves(values.__getitem__, model._nest_out)
    made = given[0] if len(given) == 1 else nest.pack_as(model._nest_in, given)
    clone = Model(made, outputs, name=model.name)
    clone.take_in_layers(layers[id(each)] for each in model.layers if id(each) in layers)
    return clone


def _new_inputs(model: Any) -> list[Any]:
    return [
        Input(batch_shape=each.get_shape().as_list(), dtype=each.dtype, name=name)
        for each, name in zip(model.inputs, model.input_names, strict=True)
    ]
