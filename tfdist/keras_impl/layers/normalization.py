"""Layers that give their inputs mean 0 and variance 1.

Source: TF 1.15 API documentation, tf.keras.layers.BatchNormalization and LayerNormalization.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl.backend.learning_phase import learning_phase
from tfdist.keras_impl.engine.argument_names import given
from tfdist.keras_impl.engine.layer import Layer
from tfdist.models.layers import normalization
from tfdist.models.layers.base import shape_of_input
from tfdist.models.layers.normalization import ENDS, OF_REPLICAS
from tfdist.ops.array.reshape import reshape
from tfdist.ops.nn import functions as nn

__all__ = ["BatchNormalization", "LayerNormalization"]


class BatchNormalization(normalization.BatchNormalization, Layer):
    """A layer that gives its inputs mean 0 and variance 1 in each channel, then scale and offset.

    While training, mean and variance are those of the batch. The arguments are those of
    `tf.layers.BatchNormalization`; initializers, regularizers and constraints may be names.

    Example:
      >>> layer = keras.layers.BatchNormalization()
      >>> layer(zeros([2, 4])).shape.as_list(), len(layer.updates), len(layer.weights)
      ([2, 4], 2, 4)
    """

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**given(locals()))

    def _make_moving(
        self, name: str, shape: list[int | None], dtype: Any, initializer: Any = None
    ) -> Any:
        initializer = initializer or getattr(self, f"{name}_initializer")
        return self.add_weight(name, shape, dtype, initializer, trainable=False, **OF_REPLICAS)

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Return the inputs normalized: by themselves in training, the learning phase if None."""
        return super().call(inputs, learning_phase() if training is None else training)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output: the same."""
        return shape_of_input(input_shape)


class LayerNormalization(Layer):
    """A layer that gives each example mean 0 and variance 1, then scale and offset.

    Args:
      axis: over which mean and variance are taken, or several.
      epsilon: added to the variance, so that it is not 0.
      center: whether an offset, beta, is added.
      scale: whether it is multiplied by gamma.
      beta_initializer: of beta.
      gamma_initializer: of gamma.
      beta_regularizer: function from beta to a loss.
      gamma_regularizer: function from gamma to a loss.
      beta_constraint: function from the updated beta to the one to keep.
      gamma_constraint: function from the updated gamma to the one to keep.
      trainable: whether beta and gamma are trained.
      name: of the layer.
      **options: those of `Layer`.

    Example: an example of mean 2.
      >>> layer = keras.layers.LayerNormalization()
      >>> keras.backend.eval(layer(constant([[1.0, 3.0]]))).round(2)
      array([[-1.,  1.]], dtype=float32)
    """

    CONFIG = (
        "axis", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer", *ENDS,
    )  # fmt: skip
    supports_masking = True

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **options: Any,
    ) -> None:
        found = given(locals())
        super().__init__(trainable, name, **options)
        for key in self.CONFIG:
            setattr(self, key, found[key])
        self.gamma: Any = None
        self.beta: Any = None

    # arguments of `__init__`
    axis: Any
    epsilon: float
    center: bool
    scale: bool

    def build(self, input_shape: Any) -> None:
        """Make gamma and beta; ValueError if an axis is not there, or its size is unknown."""
        known = shape_of_input(input_shape).as_list()
        axes = list(self.axis) if isinstance(self.axis, list | tuple) else [self.axis]
        self.axis = [axis + len(known) if axis < 0 else axis for axis in axes]
        if any(not 0 <= axis < len(known) for axis in self.axis):
            raise ValueError(f"Invalid axis: {axes} for inputs of shape {known}")
        sizes = [known[axis] for axis in self.axis]
        for name, is_wanted in (("gamma", self.scale), ("beta", self.center)):
            if is_wanted:
                setattr(self, name, self.add_weight(
                    name, sizes, None, getattr(self, f"{name}_initializer"),
                    getattr(self, f"{name}_regularizer"),
                    constraint=getattr(self, f"{name}_constraint"),
                ))  # fmt: skip
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return the inputs normalized."""
        mean, variance = nn.moments(inputs, self.axis, keep_dims=True)
        outputs = nn.batch_normalization(
            inputs, mean, variance, self._spread(inputs, self.beta),
            self._spread(inputs, self.gamma), self.epsilon,
        )  # fmt: skip
        outputs.set_shape(inputs.plain_shape)
        return outputs

    def _spread(self, inputs: Any, parameter: Any) -> Any:
        rank = len(inputs.plain_shape)
        if parameter is None or self.axis == [rank - 1]:
            return parameter
        known = inputs.plain_shape
        return reshape(parameter, [known[a] if a in self.axis else 1 for a in range(rank)])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output: the same."""
        return shape_of_input(input_shape)
