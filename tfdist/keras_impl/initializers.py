"""tf.keras.initializers: those of tf.initializers, which can tell their settings.

Source: TF 1.15 API documentation, tf.keras.initializers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.base import dtypes
from tfdist.keras_impl.serialization import deserialize_keras_object, serialize_keras_object
from tfdist.ops.variables import initializers as plain
from tfdist.ops.variables import matrix_initializers as matrices

__all__ = [
    "Constant", "Identity", "Initializer", "Ones", "Orthogonal", "RandomNormal", "RandomUniform",
    "TruncatedNormal", "VarianceScaling", "Zeros", "constant", "deserialize", "get",
    "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "identity", "lecun_normal",
    "lecun_uniform", "normal", "ones", "orthogonal", "random_normal", "random_uniform", "serialize",
    "truncated_normal", "uniform", "zeros",
]  # fmt: skip


class Initializer:
    """What a program's own initializers are made from: called with a shape, they give a value.

    Example:
      >>> class Sevens(keras.initializers.Initializer):
      ...     def __call__(self, shape, dtype=None, partition_info=None):
      ...         return fill(shape, 7.0)
      >>> keras.layers.Dense(2, kernel_initializer=Sevens())(keras.Input([3]))
      <tf.Tensor 'dense/BiasAdd:0' shape=(?, 2) dtype=float32>
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """Return a tensor of `shape` and `dtype`."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__")

    def get_config(self) -> dict[str, Any]:
        """Return its settings."""
        return {}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """Return an initializer with these settings."""
        return cls(**{key: value for key, value in config.items() if key != "dtype"})


class RandomUniform(plain.random_uniform_initializer):
    """Gives numbers between `minval` and `maxval`, all equally likely."""

    def __init__(
        self,
        minval: Any = -0.05,
        maxval: Any = 0.05,
        seed: Any = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(minval, maxval, seed, dtype)


class RandomNormal(plain.random_normal_initializer):
    """Gives normally distributed numbers."""

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(mean, stddev, seed, dtype)


class TruncatedNormal(plain.truncated_normal_initializer):
    """Gives normally distributed numbers, none further than two deviations from the mean."""

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(mean, stddev, seed, dtype)


Constant = constant = plain.constant_initializer
Identity = identity = matrices.identity_initializer
Ones = ones = plain.ones_initializer
Orthogonal = orthogonal = matrices.orthogonal_initializer
VarianceScaling = plain.variance_scaling_initializer
Zeros = zeros = plain.zeros_initializer
GlorotNormal = glorot_normal = plain.glorot_normal_initializer
GlorotUniform = glorot_uniform = plain.glorot_uniform_initializer
normal = random_normal = RandomNormal
uniform = random_uniform = RandomUniform
truncated_normal = TruncatedNormal
he_normal = matrices.he_normal_initializer
he_uniform = matrices.he_uniform_initializer
lecun_normal = matrices.lecun_normal_initializer
lecun_uniform = matrices.lecun_uniform_initializer


def serialize(initializer: Any) -> Any:
    """Return what tells of an initializer: a dictionary of its class and settings.

    Example:
      >>> keras.initializers.serialize(keras.initializers.Ones())
      {'class_name': 'Ones', 'config': {'dtype': 'float32'}}
    """
    return serialize_keras_object(initializer)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the initializer that a name, or what `serialize` gave, tells of.

    Example:
      >>> keras.initializers.deserialize({"class_name": "Constant", "config": {"value": 2}}).value
      2
    """
    if isinstance(config, str):
        config = {"class_name": config, "config": {}}
    return deserialize_keras_object(config, globals(), custom_objects, "initializer")


def get(identifier: Any) -> Any:
    """Return the initializer that a name, a dictionary or a function stands for.

    Raises:
      ValueError: there is none.

    Example:
      >>> type(keras.initializers.get("zeros")).__name__
      'Zeros'
    """
    if identifier is None or (callable(identifier) and not isinstance(identifier, type)):
        return identifier
    if isinstance(identifier, type):
        return identifier()
    if isinstance(identifier, (str, Mapping)):
        return deserialize(identifier)
    raise ValueError(f"Could not interpret initializer identifier: {identifier}")
