"""tf.keras.activations: what becomes of a layer's sums.

Source: TF 1.15 API documentation, tf.keras.activations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.keras_impl.serialization import deserialize_keras_object
from tfdist.ops.array.cast import cast
from tfdist.ops.math.clip import clip_by_value
from tfdist.ops.math.comparison import where
from tfdist.ops.math.elementwise import exp
from tfdist.ops.nn import functions as nn

__all__ = [
    "deserialize", "elu", "exponential", "get", "hard_sigmoid", "linear", "relu", "selu",
    "serialize", "sigmoid", "softmax", "softplus", "softsign", "tanh",
]  # fmt: skip


def linear(x: Any) -> Any:
    """Return x."""
    return x


def softmax(x: Any, axis: int = -1) -> Any:
    """Return exp(x) over its sum along an axis; ValueError for a vector.

    Example:
      >>> keras.backend.eval(keras.activations.softmax(constant([[1.0, 1.0]])))
      array([[0.5, 0.5]], dtype=float32)
    """
    x = convert_to_tensor(x)
    if len(x.plain_shape) < 2:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    return nn.softmax(x, axis=axis)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """Return x where it is positive, alpha * (exp(x) - 1) elsewhere."""
    found: Any = nn.elu(x)
    return found if alpha == 1 else where(x > 0, found, alpha * found)


def selu(x: Any) -> Any:
    """Return the scaled `elu`, which keeps mean 0 and variance 1."""
    return nn.selu(x)


def softplus(x: Any) -> Any:
    """Return log(exp(x) + 1)."""
    return nn.softplus(x)


def softsign(x: Any) -> Any:
    """Return x / (|x| + 1)."""
    return nn.softsign(x)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent."""
    return nn.tanh(x)


def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + exp(-x))."""
    return nn.sigmoid(x)


def exponential(x: Any) -> Any:
    """Return exp(x)."""
    return exp(x)


def hard_sigmoid(x: Any) -> Any:
    """Return 0.2 * x + 0.5, cut off at 0 and at 1.

    Example:
      >>> keras.backend.eval(keras.activations.hard_sigmoid(constant([-5.0, 0.0, 5.0])))
      array([0. , 0.5, 1. ], dtype=float32)
    """
    return clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


def relu(x: Any, alpha: Any = 0.0, max_value: float | None = None, threshold: float = 0) -> Any:
    """Return x where it is above a threshold, and little elsewhere.

    Args:
      x: a tensor.
      alpha: slope below the threshold.
      max_value: what greater elements become; None for no bound.
      threshold: below it, elements become alpha * (x - threshold).

    Example:
      >>> keras.backend.eval(keras.activations.relu(constant([-2.0, 1.0, 9.0]), 0.5, 6.0))
      array([-1.,  1.,  6.], dtype=float32)
    """
    is_sloped = not isinstance(alpha, int | float) or alpha != 0
    if is_sloped and max_value is None and threshold == 0:
        return nn.leaky_relu(x, alpha)
    below = (nn.relu(threshold - x) if threshold != 0 else nn.relu(-x)) if is_sloped else None
    kept = _kept(x, max_value, threshold)
    if max_value is not None and not (max_value == 6 and threshold == 0):
        kept = clip_by_value(kept, 0.0, float(max_value))
    return kept if below is None else kept - alpha * below


def _kept(x: Any, max_value: float | None, threshold: float) -> Any:
    if threshold != 0:
        return x * cast(x > threshold, x.dtype.base_dtype)
    return nn.relu6(x) if max_value == 6 else nn.relu(x)


def serialize(activation: Any) -> Any:
    """Return the name of an activation.

    Example:
      >>> keras.activations.serialize(keras.activations.relu)
      'relu'
    """
    return activation.__name__ if hasattr(activation, "__name__") else activation


def deserialize(name: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the activation of a name."""
    return deserialize_keras_object(name, globals(), custom_objects, "activation function")


def get(identifier: Any) -> Any:
    """Return the activation that a name or a function stands for; `linear` for None.

    Raises:
      ValueError: there is none.

    Example:
      >>> keras.activations.get("relu").__name__
      'relu'
    """
    if identifier is None:
        return linear
    if isinstance(identifier, str):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret activation function identifier: {identifier}")
