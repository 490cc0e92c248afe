"""Hyperparameters as messages: HParamDef.

Source: TF 1.15 API documentation, tf.contrib.training.HParams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.protos import pb

# The first type that fits a value, and the message's fields for one value and for a list.
_FIELDS = {
    bool: ("bool_value", "bool_list"),
    int: ("int64_value", "int64_list"),
    float: ("float_value", "float_list"),
    str: ("bytes_value", "bytes_list"),
    bytes: ("bytes_value", "bytes_list"),
}


def message_of(values: Mapping[str, Any]) -> Any:
    """Return an HParamDef.

    Args:
      values: by name: bools, integers, floats, strings, and lists of one of these.

    Raises:
      ValueError: a value is of another type.
    """
    message = pb.HParamDef()
    for name, value in values.items():
        is_list = isinstance(value, list | tuple)
        single, several = _fields(value[0] if is_list else value)
        entry = message.hparam[name]
        if is_list:
            getattr(entry, several).value.extend(map(_encoded, value))
        else:
            setattr(entry, single, _encoded(value))
    return message


def _fields(value: Any) -> tuple[str, str]:
    for kind, fields in _FIELDS.items():
        if isinstance(value, kind):
            return fields
    kinds = ", ".join(each.__name__ for each in _FIELDS)
    raise ValueError(f"Unsupported parameter type: {type(value)}; a message can hold {kinds}")


def _encoded(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def values_of(message: Any) -> dict[str, Any]:
    """Return the values of an HParamDef by name, strings as text.

    Raises:
      TypeError: it is no such message.
    """
    if getattr(getattr(message, "DESCRIPTOR", None), "name", "") != "HParamDef":
        raise TypeError(f"hparam_def must be an HParamDef, got {message!r}")
    found = {}
    for name, entry in pb.reparse(message).hparam.items():
        kind = entry.WhichOneof("kind")
        value = getattr(entry, kind)
        is_list = kind.endswith("_list")
        found[name] = list(map(_decoded, value.value)) if is_list else _decoded(value)
    return found


def _decoded(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value
