"""tf.keras.optimizers: optimizers by name, or from what tells of them.

Source: TF 1.15 API documentation, tf.keras.optimizers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.keras_impl.optimizers.gradient_descent import SGD, Adadelta, Adagrad, Ftrl, RMSprop
from tfdist.keras_impl.optimizers.moments import Adam, Adamax, Nadam
from tfdist.keras_impl.optimizers.optimizer import Optimizer, TFOptimizer
from tfdist.keras_impl.serialization import deserialize_keras_object, serialize_keras_object
from tfdist.training.optimizers.optimizer import Optimizer as TrainOptimizer

__all__ = [
    "SGD", "Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "Optimizer", "RMSprop",
    "deserialize", "get", "serialize",
]  # fmt: skip


_BY_NAME = {
    each.__name__.lower(): each
    for each in (SGD, RMSprop, Adagrad, Adadelta, Adam, Adamax, Nadam, Ftrl)
}


def serialize(optimizer: Any) -> Any:
    """Return what tells of an optimizer: a dictionary of class and settings.

    Args:
      optimizer: optimizer of keras.

    Example:
      >>> keras.optimizers.serialize(keras.optimizers.SGD())["class_name"]
      'SGD'
    """
    return serialize_keras_object(optimizer)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the optimizer that `serialize` told of.

    Args:
      config: dictionary of class and settings.
      custom_objects: a program's own optimizers, by name.

    Raises:
      ValueError: there is no such optimizer.

    Example:
      >>> keras.optimizers.deserialize(
      ...     keras.optimizers.serialize(keras.optimizers.SGD(0.5))
      ... ).get_config()["decay"]
      0.0
    """
    name = config["class_name"]
    if name.lower() in _BY_NAME:
        config = {**config, "class_name": name.lower()}
    return deserialize_keras_object(config, _BY_NAME, custom_objects, "optimizer")


def get(identifier: Any) -> Any:
    """Return an optimizer: itself, one of `tf.train` in keras' place, or the one of this name.

    Args:
      identifier: name, dictionary of class and settings, or optimizer.

    Raises:
      ValueError: it is none of these, or there is no such optimizer.

    Example:
      >>> keras.optimizers.get("adam").get_config()["beta_1"]
      0.9
    """
    if isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, TrainOptimizer):
        return TFOptimizer(identifier)
    if isinstance(identifier, Mapping):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    raise ValueError("Could not interpret optimizer identifier:", identifier)
