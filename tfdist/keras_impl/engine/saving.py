"""Models and their weights in files: checkpoints of TensorFlow, and HDF5.

A checkpoint has the names that TensorFlow gives to the parts of a model, so that both read what
the other has written.

Source: TF 1.15 API documentation, tf.keras.Model.save_weights and tf.keras.models.save_model;
names found by writing files.
"""

from __future__ import annotations

import os
from typing import Any

from tfdist.keras_impl.backend import sessions
from tfdist.keras_impl.engine import hdf5
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.optimizers.optimizer import Optimizer, TFOptimizer
from tfdist.training.optimizers.optimizer import Optimizer as TrainOptimizer
from tfdist.training.saving.checkpoint import Checkpoint
from tfdist.training.saving.checkpoint_management import latest_checkpoint, update_checkpoint_state
from tfdist.training.saving.trackable import Trackable

__all__ = ["save_model"]

_HDF5 = (".h5", ".keras", ".hdf5")


def save_weights(model: Any, filepath: Any, overwrite: bool, save_format: str | None) -> None:
    """Write the weights of a model."""
    path = os.fspath(filepath)
    if hasattr(model, "_row") and not model.weights and not model.built:
        raise ValueError(
            f"Weights for model {model.name} have not yet been created. Weights are created when "
            "the Model is first called on inputs or `build()` is called with an `input_shape`."
        )
    if is_hdf5(path, save_format):
        if may_write(path, overwrite):
            hdf5.save_weights(model, path)
        return
    if may_write(f"{path}.index", overwrite):
        checkpoint = _checkpoint_of(model)
        checkpoint.write(path, sessions.get_session())  # which initializes what is new
        directory = os.path.dirname(path) or "."
        update_checkpoint_state(directory, path, all_model_checkpoint_paths=[path])


def load_weights(model: Any, filepath: Any, by_name: bool = False) -> Any:
    """Read the weights of a model."""
    path = os.fspath(filepath)
    if is_hdf5(path, None) or os.path.isfile(path):
        hdf5.load_weights(model, path, by_name)
        return None
    if by_name:
        raise NotImplementedError(
            "Weights may only be loaded based on topology into Models when loading "
            "TensorFlow-formatted weights (got by_name=True to load_weights)."
        )
    path = latest_checkpoint(path) or path if os.path.isdir(path) else path
    if isinstance(model.optimizer, Optimizer):
        _ = model.optimizer.iterations  # is made, since the file may have it
    status = _checkpoint_of(model).restore(path)
    status.assert_nontrivial_match()
    status.run_restore_ops(sessions.get_session())
    return status


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True,
    save_format: str | None = None, signatures: Any = None,
) -> None:  # fmt: skip
    """Write a model with its weights and the state of its optimizer, as HDF5.

    Args:
      model: of keras.
      filepath: of the file.
      overwrite: whether a file that is there is replaced.
      include_optimizer: whether the optimizer is written too.
      save_format: "h5"; tf.saved_model writes the other one.
      signatures: must be None.

    Raises:
      ImportError: h5py is not installed.
      NotImplementedError: another format is asked for.

    Example:
      >>> keras.models.save_model(None, "model", save_format="tf")
      Traceback (most recent call last):
      NotImplementedError: ...
    """
    path = os.fspath(filepath)
    if save_format == "tf" or signatures is not None:
        raise NotImplementedError(
            "tfdist writes whole models as HDF5: save_format='h5'; save_weights writes their "
            "weights as a checkpoint, tf.saved_model.simple_save their graph"
        )
    if may_write(path, overwrite):
        hdf5.save_model(model, path, include_optimizer)


def is_hdf5(path: str, save_format: str | None) -> bool:
    """Return whether a file is HDF5, by its name or what is said of it."""
    if save_format is None:
        return path.endswith(_HDF5)
    if save_format.lower() not in ("tf", "tensorflow", "h5", "hdf5", "keras"):
        raise ValueError(f'Unknown format "{save_format}". Was expecting one of "tf" or "h5".')
    return save_format.lower() not in ("tf", "tensorflow")


def may_write(path: str, overwrite: bool) -> bool:
    """Return whether a file may be written; asks where one is there that must stay."""
    if overwrite or not os.path.exists(path):
        return True
    answer = input(f"[WARNING] {path} already exists - overwrite? [y/n]")
    while answer not in ("y", "n"):
        answer = input('Enter "y" (overwrite) or "n" (cancel).')
    return answer == "y"


# a model as checkpoints see it


class Part(Trackable):
    """A part of a model, under the names that TensorFlow gives."""

    def __init__(self, children: dict[str, Any]) -> None:
        vars(self).update(children)


class OptimizerPart(TrainOptimizer):
    """An optimizer of keras, as checkpoints see those of `tf.train`."""

    def __init__(self, optimizer: Optimizer) -> None:
        super().__init__(False, "Optimizer")
        self._of = optimizer
        own = (
            {"iter": optimizer.iterations, **_settings(optimizer)}
            if optimizer._iterations is not None
            else {}
        )
        self._non_slot_dict = {(name, each.graph): each for name, each in own.items()}

    def get_slot_names(self) -> list[str]:
        """Return the names of slots."""
        return self._of.get_slot_names()

    def get_slot(self, var: Any, name: str) -> Any:
        """Return the variable that is kept beside another one, or None."""
        return self._of._slots.get(var.op.name, {}).get(name)


def _settings(optimizer: Optimizer) -> dict[str, Any]:
    return {name: each for name, each in optimizer._hyper.items() if hasattr(each, "initializer")}


def _checkpoint_of(model: Any) -> Checkpoint:
    checkpoint = _Root()
    vars(checkpoint).update(_children(model))
    optimizer = model.optimizer
    if isinstance(optimizer, TFOptimizer):
        parts = {"optimizer": optimizer.optimizer, "global_step": optimizer.iterations}
        checkpoint.optimizer = Part(parts)  # type: ignore[attr-defined]
    elif optimizer is not None:
        checkpoint.optimizer = OptimizerPart(optimizer)  # type: ignore[attr-defined]
    return checkpoint


class _Root(Checkpoint):
    """A checkpoint without a count of saves."""


def _children(layer: Any) -> dict[str, Any]:
    """Return the parts of a layer or model by name; those with weights come first."""
    graph_map = getattr(layer, "_map", None)
    if graph_map is not None:
        return _layers(graph_map.layers)  # a row's first one, which it does not list, counts too
    if hasattr(layer, "_row"):
        return _layers(layer.layers)
    found: dict[str, Any] = {}
    variables, layers = _held(layer)
    for name, each in layers.items():
        found[name] = Part(_children(each))
    for each in variables:
        found[each.op.name.rsplit("/", 1)[-1]] = each
    return found


def _layers(layers: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    count = 0
    for number, each in enumerate(layers):
        part = Part(_children(each))
        if each.weights:
            found[f"layer_with_weights-{count}"] = part
            count += 1
        found[f"layer-{number}"] = part
    return found


def _held(layer: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return the variables that are a layer's own, and the layers in its attributes."""
    layers = {
        name: each for name, each in vars(layer).items()
        if isinstance(each, Layer) and not name.startswith("_")
    }  # fmt: skip
    inner = {id(variable) for each in layers.values() for variable in each.weights}
    return [each for each in layer.weights if id(each) not in inner], layers
