"""HDF5 files as keras writes them: a group for each layer, and models' settings as JSON.

Source: the format of Keras 2: names found in files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfdist.base.extras import MissingExtra, is_there, missing_line
from tfdist.keras_impl.backend.sessions import batch_get_value, batch_set_value
from tfdist.keras_impl.losses.loss_classes import serialize as told_loss
from tfdist.keras_impl.metrics.metric import serialize as told_metric
from tfdist.keras_impl.optimizers.optimizer import TFOptimizer

VERSION = "2.2.4-tf"
_LIMIT = 64512  # bytes that an attribute can have


@contextmanager
def opened(path: str, mode: str) -> Iterator[Any]:
    """Yield the HDF5 file `path`, open as long as the context lasts.

    Raises:
      MissingExtra: h5py is not installed.
    """
    if not is_there("h5py"):
        told = f"{missing_line('h5py')}; save_weights without .h5 writes a checkpoint instead"
        raise MissingExtra(told, name="h5py")
    import h5py

    with h5py.File(path, mode) as file:
        yield file


def save_weights(model: Any, path: str) -> None:
    """Write the weights of a model."""
    with opened(path, "w") as file:
        _write_layers(model, file)


def load_weights(model: Any, path: str, by_name: bool) -> None:
    """Read the weights of a model."""
    with opened(path, "r") as file:
        is_whole = "layer_names" not in file.attrs and "model_weights" in file
        read_layers(model, file["model_weights"] if is_whole else file, by_name)


def save_model(model: Any, path: str, include_optimizer: bool) -> None:
    """Write a model, its weights, and how it was compiled."""
    told = {"class_name": type(model).__name__, "config": model.get_config()}
    with opened(path, "w") as file:
        file.attrs["keras_version"], file.attrs["backend"] = VERSION, "tensorflow"
        file.attrs["model_config"] = _json(told)
        _write_layers(model, file.create_group("model_weights"))
        if include_optimizer and model._settings is not None:
            if isinstance(model.optimizer, TFOptimizer):
                return  # as TensorFlow does: what it was, nobody can tell
            file.attrs["training_config"] = _json(_training(model))
            weights = model.optimizer.weights
            if weights:
                _write_values(file.create_group("optimizer_weights"), weights)


def _training(model: Any) -> dict[str, Any]:
    settings = model._settings
    optimizer = model.optimizer
    return {
        "optimizer_config": {
            "class_name": type(optimizer).__name__, "config": optimizer.get_config(),
        },
        "loss": _told(settings["loss"], told_loss),
        "metrics": _told(settings["metrics"], told_metric),
        "weighted_metrics": _told(settings["weighted_metrics"], told_metric),
        "sample_weight_mode": settings["sample_weight_mode"],
        "loss_weights": settings["loss_weights"],
    }  # fmt: skip


def _told(given: Any, tell: Any) -> Any:
    if isinstance(given, list | tuple):
        return [_told(each, tell) for each in given]
    if isinstance(given, dict):
        return {key: _told(each, tell) for key, each in given.items()}
    return given if given is None or isinstance(given, str) else tell(given)


def _json(value: Any) -> bytes:
    return json.dumps(value, default=_plain).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if hasattr(value, "as_list"):
        return value.as_list()
    return getattr(value, "name", None) or getattr(value, "__name__", str(value))


# layers


def _write_layers(model: Any, group: Any) -> None:
    group.attrs["backend"], group.attrs["keras_version"] = b"tensorflow", VERSION.encode()
    _write_names(group, "layer_names", [layer.name for layer in model.layers])
    for layer in model.layers:
        _write_values(group.create_group(layer.name), _weights(layer))


def _write_values(group: Any, variables: Sequence[Any]) -> None:
    names = [each.name for each in variables]
    _write_names(group, "weight_names", names)
    for name, value in zip(names, batch_get_value(variables), strict=True):
        group.create_dataset(name, data=value)


def _write_names(group: Any, key: str, names: Sequence[str]) -> None:
    encoded = np.array([name.encode() for name in names]) if names else np.zeros([0])
    parts = max(1, -(-encoded.nbytes // _LIMIT))
    if parts == 1:
        group.attrs[key] = encoded
        return
    for number, part in enumerate(np.array_split(encoded, parts)):
        group.attrs[f"{key}{number}"] = part


def _names(group: Any, key: str) -> list[str]:
    if key in group.attrs:
        found = list(group.attrs[key])
    else:
        found, number = [], 0
        while f"{key}{number}" in group.attrs:
            found += list(group.attrs[f"{key}{number}"])
            number += 1
    return [each.decode() if isinstance(each, bytes) else str(each) for each in found]


def values_of(group: Any) -> list[Any]:
    """Return the values of a group, in their order."""
    return [np.asarray(group[name]) for name in _names(group, "weight_names")]


def _weights(layer: Any) -> list[Any]:
    """Return the variables of a layer, those that are trained first."""
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def read_layers(model: Any, group: Any, by_name: bool) -> None:
    """Give the layers of a model the values of a group.

    Raises:
      ValueError: there are more or fewer layers, or weights of other shapes.
    """
    stored = [(name, values_of(group[name])) for name in _names(group, "layer_names")]
    pairs = _by_name(model, stored) if by_name else _in_order(model, stored)
    changes: list[tuple[Any, Any]] = []
    for layer, name, values in pairs:
        variables = _weights(layer)
        if len(variables) != len(values):
            raise ValueError(
                f'Layer "{layer.name}" expects {len(variables)} weight(s), but the saved layer '
                f'"{name}" has {len(values)}.'
            )
        for variable, value in zip(variables, values, strict=True):
            if tuple(variable.shape.as_list()) != value.shape:
                raise ValueError(
                    f'Layer "{layer.name}": weight {variable.name} has shape {variable.shape}, but '
                    f"the saved one has {value.shape}."
                )
            changes.append((variable, value))
    batch_set_value(changes)


def _in_order(model: Any, stored: list[tuple[str, Any]]) -> list[tuple[Any, str, Any]]:
    layers = [layer for layer in model.layers if layer.weights]
    filled = [(name, values) for name, values in stored if values]
    if len(layers) != len(filled):
        raise ValueError(
            f"You are trying to load a weight file containing {len(filled)} layers into a model "
            f"with {len(layers)} layers."
        )
    return [(layer, *each) for layer, each in zip(layers, filled, strict=True)]


def _by_name(model: Any, stored: list[tuple[str, Any]]) -> list[tuple[Any, str, Any]]:
    found = []
    for name, values in stored:
        found += [(layer, name, values) for layer in model.layers if layer.name == name]
    return found
