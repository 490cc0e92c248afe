"""Arguments of layers by the endings of their names: what stands for what, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.keras_impl import activations, constraints, initializers, regularizers
from tfdist.keras_impl.settings import data_format_of

# End of an argument's name -> the module that knows such things.
_KINDS: dict[str, Any] = {
    "initializer": initializers,
    "regularizer": regularizers,
    "constraint": constraints,
    "activation": activations,
}


def _kind_of(name: str) -> Any:
    return next((module for ending, module in _KINDS.items() if name.endswith(ending)), None)


def given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a layer's `__init__` was given, `locals()`, with functions in place of names.

    Example:
      >>> given({"units": 3, "activation": "relu", "options": {"name": "hidden"}})["name"]
      'hidden'
    """
    named = {
        name: understood(name, value)
        for name, value in arguments.items()
        if name not in ("self", "__class__", "options")
    }
    return {**named, **arguments.get("options", {})}


def understood(name: str, value: Any) -> Any:
    """Return the function that an argument's name or dictionary stands for; others as they are."""
    if name == "data_format":
        return data_format_of(value)
    kind = _kind_of(name)
    return value if kind is None else kind.get(value)


def told(name: str, value: Any) -> Any:
    """Return what tells of an argument in a configuration."""
    if name == "padding" and isinstance(value, str):
        return value.lower()
    kind = _kind_of(name)
    if kind is None:
        return value
    return value if kind is activations and value is None else kind.serialize(value)
