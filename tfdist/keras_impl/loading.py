"""Models from the files that `save_model` wrote.

Source: TF 1.15 API documentation, tf.keras.models.load_model.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from tfdist.keras_impl.cloning import model_from_config
from tfdist.keras_impl.engine import hdf5
from tfdist.keras_impl.losses.loss_classes import deserialize as loss_of
from tfdist.keras_impl.metrics.metrics import deserialize as metric_of
from tfdist.keras_impl.optimizers import optimizers
from tfdist.keras_impl.serialization import CustomObjectScope

__all__ = ["load_model"]


def load_model(filepath: Any, custom_objects: Any = None, compile: bool = True) -> Any:
    """Return the model that `save_model` wrote.

    Args:
      filepath: of the file.
      custom_objects: a program's own classes and functions, by name.
      compile: whether it is compiled as it was.

    Raises:
      OSError: there is no such file.
      ImportError: h5py is not installed.

    Example:
      >>> keras.models.load_model("missing.h5")
      Traceback (most recent call last):
      OSError: ...
    """
    path = os.fspath(filepath)
    if not os.path.exists(path):
        raise OSError(
            f"SavedModel file does not exist at: {path}; tfdist reads models from HDF5 files"
        )
    with hdf5.opened(path, "r") as file, CustomObjectScope(custom_objects or {}):
        told = file.attrs.get("model_config")
        if told is None:
            raise ValueError(f"No model found in config file: {path} has weights alone")
        model = model_from_config(json.loads(told), custom_objects)
        hdf5.read_layers(model, file["model_weights"], False)
        training = file.attrs.get("training_config")
        if compile and training is not None:
            _compile(model, json.loads(training), file, custom_objects)
    return model


def _compile(model: Any, told: Mapping[str, Any], file: Any, custom_objects: Any) -> None:
    """Compile a model as it was, and give its optimizer the state that it had."""
    optimizer = optimizers.deserialize(told["optimizer_config"], custom_objects)
    model.compile(
        optimizer, _each(told["loss"], loss_of), _each(told["metrics"], metric_of),
        told.get("loss_weights"), told.get("sample_weight_mode"),
        _each(told.get("weighted_metrics"), metric_of),
    )  # fmt: skip
    if "optimizer_weights" in file:
        model._steps.function("train")  # which makes the optimizer's variables
        optimizer.set_weights(hdf5.values_of(file["optimizer_weights"]))


def _each(told: Any, make: Any) -> Any:
    """Return what was told, with objects instead of their configurations."""
    if isinstance(told, list):
        return [_each(each, make) for each in told]
    if isinstance(told, Mapping) and "class_name" not in told:
        return {key: _each(each, make) for key, each in told.items()}
    return make(told) if isinstance(told, Mapping) else told
