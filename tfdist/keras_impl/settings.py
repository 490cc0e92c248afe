"""What tf.keras takes as given everywhere: type of floats, fuzz, and where channels stand.

Source: TF 1.15 API documentation, tf.keras.backend.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "backend", "cast_to_floatx", "epsilon", "floatx", "image_data_format", "set_epsilon",
    "set_floatx", "set_image_data_format",
]  # fmt: skip

_GIVEN: dict[str, Any] = {"floatx": "float32", "epsilon": 1e-7, "format": "channels_last"}
_FLOATS = ("float16", "float32", "float64")
_FORMATS = ("channels_last", "channels_first")


def backend() -> str:
    """Return "tensorflow", the only one there is.

    Example:
      >>> keras.backend.backend()
      'tensorflow'
    """
    return "tensorflow"


def epsilon() -> float:
    """Return the fuzz that keeps divisors and logarithms from 0.

    Example:
      >>> keras.backend.epsilon()
      1e-07
    """
    return float(_GIVEN["epsilon"])


def set_epsilon(value: float) -> None:
    """Set what `epsilon` returns."""
    _GIVEN["epsilon"] = value


def floatx() -> str:
    """Return the name of the type of floats.

    Example:
      >>> keras.backend.floatx()
      'float32'
    """
    return str(_GIVEN["floatx"])


def set_floatx(value: str) -> None:
    """Set what `floatx` returns.

    Raises:
      ValueError: it is none of "float16", "float32" and "float64".
    """
    if value not in _FLOATS:
        raise ValueError(f"Unknown floatx type: {value}; there are {', '.join(_FLOATS)}")
    _GIVEN["floatx"] = value


def cast_to_floatx(x: Any) -> Any:
    """Return a NumPy array of the type of floats.

    Example:
      >>> keras.backend.cast_to_floatx([1, 2])
      array([1., 2.], dtype=float32)
    """
    return np.asarray(x, dtype=floatx())


def image_data_format() -> str:
    """Return where channels stand in images: "channels_last" or "channels_first".

    Example:
      >>> keras.backend.image_data_format()
      'channels_last'
    """
    return str(_GIVEN["format"])


def set_image_data_format(data_format: str) -> None:
    """Set what `image_data_format` returns.

    Raises:
      ValueError: it is neither "channels_last" nor "channels_first".
    """
    if data_format not in _FORMATS:
        raise ValueError(f"Unknown data_format: {data_format}; there are {', '.join(_FORMATS)}")
    _GIVEN["format"] = data_format


def data_format_of(given: str | None) -> str:
    """Return a data format in lower case: the one given, or the one set for all."""
    return (given or image_data_format()).lower()
