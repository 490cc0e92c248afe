"""tf.keras.regularizers: what the size of weights costs.

Source: TF 1.15 API documentation, tf.keras.regularizers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.keras_impl.serialization import deserialize_keras_object, serialize_keras_object
from tfdist.keras_impl.settings import cast_to_floatx
from tfdist.ops.array.constants import constant
from tfdist.ops.math.elementwise import abs as absolute
from tfdist.ops.math.elementwise import square
from tfdist.ops.math.reductions import reduce_sum

__all__ = ["L1L2", "Regularizer", "deserialize", "get", "l1", "l1_l2", "l2", "serialize"]


class Regularizer:
    """What a program's own regularizers are made from: called with weights, they give a loss."""

    def __call__(self, x: Any) -> Any:
        """Return a loss; 0 here."""
        return 0.0

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """Return a regularizer with these settings."""
        return cls(**config)


class L1L2(Regularizer):
    """Costs l1 times the sum of absolute weights, and l2 times that of their squares.

    Args:
      l1: a float, 0 for none.
      l2: a float, 0 for none.

    Example:
      >>> keras.backend.eval(keras.regularizers.L1L2(0.5, 0.25)(constant([2.0, -4.0])))
      np.float32(8.0)
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1, self.l2 = cast_to_floatx(l1), cast_to_floatx(l2)

    def __call__(self, x: Any) -> Any:
        """Return the cost of weights."""
        if not self.l1 and not self.l2:
            return constant(0.0)
        cost: Any = 0.0
        if self.l1:
            total: Any = reduce_sum(absolute(x))
            cost += float(self.l1) * total
        if self.l2:
            squares: Any = reduce_sum(square(x))
            cost += float(self.l2) * squares
        return cost

    def get_config(self) -> dict[str, Any]:
        """Return its settings."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


def l1(l: float = 0.01) -> L1L2:  # noqa: E741  # TensorFlow's name
    """Return a regularizer by the sum of absolute weights.

    Example:
      >>> keras.regularizers.l1(0.5).get_config()
      {'l1': 0.5, 'l2': 0.0}
    """
    return L1L2(l1=l)


def l2(l: float = 0.01) -> L1L2:  # noqa: E741  # TensorFlow's name
    """Return a regularizer by the sum of squared weights.

    Example:
      >>> keras.regularizers.l2(0.5).get_config()
      {'l1': 0.0, 'l2': 0.5}
    """
    return L1L2(l2=l)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """Return a regularizer by both sums.

    Example:
      >>> keras.regularizers.l1_l2(0.5, 0.25).get_config()
      {'l1': 0.5, 'l2': 0.25}
    """
    return L1L2(l1=l1, l2=l2)


def serialize(regularizer: Any) -> Any:
    """Return what tells of a regularizer: a dictionary of its class and settings.

    Example:
      >>> keras.regularizers.serialize(keras.regularizers.l2(0.5))
      {'class_name': 'L1L2', 'config': {'l1': 0.0, 'l2': 0.5}}
    """
    return serialize_keras_object(regularizer)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the regularizer that what `serialize` gave tells of."""
    return deserialize_keras_object(config, globals(), custom_objects, "regularizer")


def get(identifier: Any) -> Any:
    """Return the regularizer that a name, a dictionary or a function stands for.

    Raises:
      ValueError: there is none.

    Example:
      >>> keras.regularizers.get("l2").get_config()["l1"]
      0.0
    """
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, str):
        made = deserialize_keras_object(identifier, globals(), None, "regularizer")
        return made if isinstance(made, Regularizer) or hasattr(made, "get_config") else made()
    if isinstance(identifier, Mapping):
        return deserialize(identifier)
    raise ValueError(f"Could not interpret regularizer identifier: {identifier}")
