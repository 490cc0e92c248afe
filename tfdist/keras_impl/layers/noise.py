"""Layers that add noise while training.

Source: TF 1.15 API documentation, tf.keras.layers.GaussianNoise and its relatives.
"""

from __future__ import annotations

import math
from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl.backend.learning_phase import in_train_phase
from tfdist.keras_impl.backend.seeds import chosen_seed
from tfdist.keras_impl.engine.layer import Layer
from tfdist.models.layers.base import shape_of_input
from tfdist.ops.array.cast import cast
from tfdist.ops.array.shape import shape
from tfdist.ops.random.random_ops import random_normal, random_uniform

__all__ = ["AlphaDropout", "GaussianDropout", "GaussianNoise"]


class _Noise(Layer):
    supports_masking = True

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Return the inputs, with noise where `training` is true."""
        return in_train_phase(lambda: self._noised(inputs), lambda: inputs + 0, training)

    def _noised(self, inputs: Any) -> Any:
        raise NotImplementedError

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output: the same."""
        return shape_of_input(input_shape)


class GaussianNoise(_Noise):
    """A layer that adds normally distributed numbers while training.

    Args:
      stddev: their standard deviation.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.GaussianNoise(0.1)(zeros([2, 4])).shape.as_list()
      [2, 4]
    """

    CONFIG = ("stddev",)

    def __init__(self, stddev: float, **options: Any) -> None:
        super().__init__(**options)
        self.stddev = stddev

    def _noised(self, inputs: Any) -> Any:
        seed = chosen_seed(None)
        return inputs + random_normal(shape(inputs), 0.0, self.stddev, inputs.dtype, seed)


class GaussianDropout(_Noise):
    """A layer that multiplies by normally distributed numbers of mean 1 while training.

    Args:
      rate: as for `Dropout`: the deviation is sqrt(rate / (1 - rate)).
      **options: those of `Layer`.
    """

    CONFIG = ("rate",)

    def __init__(self, rate: float, **options: Any) -> None:
        super().__init__(**options)
        self.rate = rate

    def _noised(self, inputs: Any) -> Any:
        stddev = math.sqrt(self.rate / (1.0 - self.rate))
        seed = chosen_seed(None)
        return inputs * random_normal(shape(inputs), 1.0, stddev, inputs.dtype, seed)


class AlphaDropout(_Noise):
    """A layer that drops inputs out while training and keeps mean and variance, for `selu`.

    Args:
      rate: the part of inputs that is dropped.
      noise_shape: shape of the choice; None for that of the inputs.
      seed: for the choice.
      **options: those of `Layer`.
    """

    CONFIG = ("rate",)

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: int | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def _noised(self, inputs: Any) -> Any:
        low = -1.7580993408473766  # what selu comes to for the least of inputs
        sizes = shape(inputs) if self.noise_shape is None else self.noise_shape
        drawn: Any = random_uniform(sizes, seed=chosen_seed(self.seed))
        kept = cast(drawn >= self.rate, inputs.dtype)
        factor = ((1 - self.rate) * (1 + self.rate * low**2)) ** -0.5
        return factor * (inputs * kept + low * (1 - kept)) - factor * low * self.rate
