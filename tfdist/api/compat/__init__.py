"""tf.compat: strings of either kind, `v1`, which is `tf` itself, and `v2`."""

# mypy: implicit-reexport

import numbers
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdist.base.namespace import lazy
from tfdist.base.tensor_shape import Dimension, TensorShape
from tfdist.programs.missing import public

if TYPE_CHECKING:
    from tfdist.api.compat import v2

__getattr__, __dir__ = lazy(__name__, "tf.compat")

v1 = public()  # tf.compat.v1 is tf


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Return a string of either kind as bytes; TypeError if it is none."""
    text = bytes_or_text
    if not isinstance(text, str | bytes):
        raise TypeError(f"Expected binary or unicode string, got {text!r}")
    return text.encode(encoding) if isinstance(text, str) else text


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Return a string of either kind as str; TypeError if it is none."""
    return as_bytes(bytes_or_text, encoding).decode(encoding)


as_str = as_text


# Types of numbers and strings, Python's and NumPy's, for isinstance.
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)
bytes_or_text_types = (bytes, str)


def dimension_value(dimension: Any) -> int | None:
    """Return the number of a Dimension; numbers and None as they are."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """Return a dimension of a shape, an unknown one if its rank is unknown."""
    return shape[index] if shape.ndims is not None else Dimension(None)


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Return whether programs of a date may use what came with 1.15, of January 2020."""
    return (year, month, day) < (2020, 1, 1)


def path_to_str(path: Any) -> Any:
    """Return a path as str; what is no path is returned as it is."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def as_str_any(value: Any) -> str:
    """Return `value` as str, whatever it is."""
    return as_text(value) if isinstance(value, bytes) else str(value)


def disable_v2_behavior() -> None:
    """Do nothing: there is no version 2 behaviour here."""


def disable_eager_execution() -> None:
    """Do nothing: graphs are always built first and run later."""


def enable_eager_execution(*_: Any, **__: Any) -> None:
    """Raise NotImplementedError: graphs are always built first and run later."""
    raise NotImplementedError("tfdist runs graphs; there is no eager execution")


def executing_eagerly() -> bool:
    """Return False: graphs are always built first and run later.

    Example:
      >>> executing_eagerly()
      False
    """
    return False


def control_flow_v2_enabled() -> bool:
    """Return False: tf.cond and tf.while_loop make version 1's nodes.

    Example:
      >>> control_flow_v2_enabled()
      False
    """
    return False


def enable_control_flow_v2() -> None:
    """Do nothing: a cond or loop gives the same as version 2's, from version 1's nodes."""


def disable_control_flow_v2() -> None:
    """Do nothing: there is no version 2 control flow here."""


def disable_tensor_equality() -> None:
    """Do nothing: `==` always asks whether two tensors are the same one."""


def disable_v2_tensorshape() -> None:
    """Do nothing: the dimensions of a TensorShape are always Dimensions."""


def enable_v2_behavior(*_: Any, **__: Any) -> None:
    """Raise NotImplementedError: version 2 runs eagerly."""
    raise NotImplementedError("tfdist is TensorFlow 1.x: version 2 runs eagerly, this runs graphs")


def enable_tensor_equality() -> None:
    """Raise NotImplementedError: `==` asks whether two tensors are the same one."""
    raise NotImplementedError("`==` tells whether tensors are the same one; tf.equal compares them")


def enable_v2_tensorshape() -> None:
    """Raise NotImplementedError: the dimensions of a TensorShape are Dimensions."""
    raise NotImplementedError("dimensions are Dimensions here; tf.dimension_value gives the number")
