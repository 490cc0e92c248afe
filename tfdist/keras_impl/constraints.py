"""tf.keras.constraints: what weights are made to be after each step of training.

Source: TF 1.15 API documentation, tf.keras.constraints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.keras_impl.serialization import deserialize_keras_object, serialize_keras_object
from tfdist.keras_impl.settings import epsilon
from tfdist.ops.array.cast import cast
from tfdist.ops.math.clip import clip_by_value
from tfdist.ops.math.elementwise import sqrt, square
from tfdist.ops.math.reductions import reduce_sum

__all__ = [
    "Constraint", "MaxNorm", "MinMaxNorm", "NonNeg", "UnitNorm", "deserialize", "get", "max_norm",
    "min_max_norm", "non_neg", "serialize", "unit_norm",
]  # fmt: skip


class Constraint:
    """What a program's own constraints are made from: called with weights, they give others."""

    def __call__(self, w: Any) -> Any:
        """Return the weights to keep; all of them here."""
        return w

    def get_config(self) -> dict[str, Any]:
        """Return its settings."""
        return {}


def _norms(w: Any, axis: Any) -> Any:
    return sqrt(reduce_sum(square(w), axis, keepdims=True))


class MaxNorm(Constraint):
    """Makes the norm of the weights to each unit at most `max_value`.

    Args:
      max_value: the greatest norm.
      axis: over which norms are taken.

    Example:
      >>> keras.backend.eval(keras.constraints.MaxNorm(1.0)(constant([[3.0], [4.0]]))).round(2)
      array([[0.6],
             [0.8]], dtype=float32)
    """

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        self.max_value, self.axis = max_value, axis

    def __call__(self, w: Any) -> Any:
        """Return the weights to keep."""
        norms = _norms(w, self.axis)
        return w * (clip_by_value(norms, 0, self.max_value) / (epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        """Return its settings."""
        return {"max_value": self.max_value, "axis": self.axis}


class NonNeg(Constraint):
    """Makes negative weights 0.

    Example:
      >>> keras.backend.eval(keras.constraints.NonNeg()(constant([-3.0, 4.0]))) + 0.0
      array([0., 4.], dtype=float32)
    """

    def __call__(self, w: Any) -> Any:
        """Return the weights to keep."""
        return w * cast(w >= 0.0, w.dtype.base_dtype)


class UnitNorm(Constraint):
    """Makes the norm of the weights to each unit 1.

    Args:
      axis: over which norms are taken.

    Example:
      >>> keras.backend.eval(keras.constraints.UnitNorm()(constant([[3.0], [4.0]]))).round(2)
      array([[0.6],
             [0.8]], dtype=float32)
    """

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        """Return the weights to keep."""
        return w / (epsilon() + _norms(w, self.axis))

    def get_config(self) -> dict[str, Any]:
        """Return its settings."""
        return {"axis": self.axis}


class MinMaxNorm(Constraint):
    """Brings the norm of the weights to each unit into a range.

    Args:
      min_value: the least norm.
      max_value: the greatest norm.
      rate: how far towards the range in a step; 1 for all the way.
      axis: over which norms are taken.

    Example:
      >>> keras.backend.eval(keras.constraints.MinMaxNorm(10.0, 20.0)(constant([[3.0], [4.0]])))
      array([[6.],
             [8.]], dtype=float32)
    """

    def __init__(
        self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0
    ) -> None:
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: Any) -> Any:
        """Return the weights to keep."""
        norms = _norms(w, self.axis)
        clipped = clip_by_value(norms, self.min_value, self.max_value)
        wanted = self.rate * clipped + (1 - self.rate) * norms
        return w * (wanted / (epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        """Return its settings."""
        own = ("min_value", "max_value", "rate", "axis")
        return {key: getattr(self, key) for key in own}


max_norm, non_neg, unit_norm, min_max_norm = MaxNorm, NonNeg, UnitNorm, MinMaxNorm


def serialize(constraint: Any) -> Any:
    """Return what tells of a constraint: a dictionary of its class and settings.

    Example:
      >>> keras.constraints.serialize(keras.constraints.NonNeg())
      {'class_name': 'NonNeg', 'config': {}}
    """
    return serialize_keras_object(constraint)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the constraint that what `serialize` gave tells of."""
    return deserialize_keras_object(config, globals(), custom_objects, "constraint")


def get(identifier: Any) -> Any:
    """Return the constraint that a name, a dictionary or a function stands for.

    Raises:
      ValueError: there is none.

    Example:
      >>> keras.constraints.get("max_norm").get_config()
      {'max_value': 2, 'axis': 0}
    """
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, (str, Mapping)):
        return deserialize(identifier)
    raise ValueError(f"Could not interpret constraint identifier: {identifier}")
