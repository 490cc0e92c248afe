"""Objects as dictionaries of their settings, and back: keras' configurations.

Source: TF 1.15 API documentation, tf.keras.utils.serialize_keras_object and its neighbours.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from types import TracebackType
from typing import Any

__all__ = [
    "CustomObjectScope", "custom_object_scope", "deserialize_keras_object", "get_custom_objects",
    "serialize_keras_object",
]  # fmt: skip

_CUSTOM: dict[str, Any] = {}


def get_custom_objects() -> dict[str, Any]:
    """Return the dictionary of a program's own classes and functions, by their names.

    Example:
      >>> keras.utils.get_custom_objects()
      {}
    """
    return _CUSTOM


class CustomObjectScope:
    """Within it, names given here stand for a program's own classes and functions.

    Args:
      *args: dictionaries from names to objects.

    Example:
      >>> def half(x):
      ...     return x / 2
      >>> with keras.utils.CustomObjectScope({"half": half}):
      ...     sorted(keras.utils.get_custom_objects())
      ['half']
    """

    def __init__(self, *args: Mapping[str, Any]) -> None:
        self.custom_objects = args
        self.backup: dict[str, Any] = {}

    def __enter__(self) -> CustomObjectScope:
        self.backup = dict(_CUSTOM)
        for objects in self.custom_objects:
            _CUSTOM.update(objects)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _CUSTOM.clear()
        _CUSTOM.update(self.backup)


def custom_object_scope(*args: Mapping[str, Any]) -> CustomObjectScope:
    """Return a scope in which these names stand for a program's own objects.

    Args:
      *args: dictionaries from names to objects.

    Example:
      >>> with keras.utils.custom_object_scope({"half": lambda x: x / 2}):
      ...     sorted(keras.utils.get_custom_objects())
      ['half']
    """
    return CustomObjectScope(*args)


def serialize_keras_object(instance: Any) -> Any:
    """Return what tells of an object: a dictionary of class and settings, or a function's name.

    Args:
      instance: object with `get_config`, function, or None.

    Raises:
      ValueError: it is neither.

    Example:
      >>> keras.utils.serialize_keras_object(keras.losses.mean_squared_error)
      'mean_squared_error'
    """
    if instance is None:
        return None
    if hasattr(instance, "get_config"):
        return {"class_name": type(instance).__name__, "config": instance.get_config()}
    if hasattr(instance, "__name__"):
        return instance.__name__
    raise ValueError(f"Cannot serialize {instance}: it has neither get_config() nor a name")


def deserialize_keras_object(
    identifier: Any,
    module_objects: Mapping[str, Any] | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    printable_module_name: str = "object",
) -> Any:
    """Return the object that a name or a dictionary of class and settings tells of.

    Args:
      identifier: name, dictionary with "class_name" and "config", or function.
      module_objects: what there is to choose from, by name.
      custom_objects: a program's own classes and functions, by name.
      printable_module_name: what the objects are, for errors.

    Raises:
      ValueError: there is no such object.

    Example:
      >>> losses = {"mse": keras.losses.mse}
      >>> keras.utils.deserialize_keras_object("mse", losses, {}, "loss").__name__
      'mean_squared_error'
    """
    known = {**(module_objects or {}), **_CUSTOM, **(custom_objects or {})}
    if identifier is None:
        return None
    if isinstance(identifier, Mapping):
        return _from_config(identifier, known, custom_objects, printable_module_name)
    if isinstance(identifier, str):
        found = _named(identifier, known, printable_module_name)
        return found() if inspect.isclass(found) else found
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret serialized {printable_module_name}: {identifier}")


def _from_config(given: Mapping[str, Any], known: Mapping[str, Any], custom: Any, what: str) -> Any:
    if "class_name" not in given or "config" not in given:
        raise ValueError(f"Improper config format: {given}; it needs 'class_name' and 'config'")
    cls, config = _named(given["class_name"], known, what), given["config"]
    if not hasattr(cls, "from_config"):
        with CustomObjectScope(custom or {}):
            return cls(**config)
    if "custom_objects" in inspect.signature(cls.from_config).parameters:
        return cls.from_config(config, custom_objects={**_CUSTOM, **(custom or {})})
    with CustomObjectScope(custom or {}):
        return cls.from_config(config)


def _named(name: str, known: Mapping[str, Any], what: str) -> Any:
    found = known.get(name)
    if found is None or name.startswith("_"):
        near = difflib.get_close_matches(name, [key for key in known if not key.startswith("_")])
        hint = f"; near it are {', '.join(near)}" if near else ""
        raise ValueError(f"Unknown {what}: {name}{hint}; custom_objects gives names of your own")
    return found
