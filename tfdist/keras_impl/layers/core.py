"""Layers that most networks have: Dense, Dropout, Activation, and those that change shapes.

Source: TF 1.15 API documentation, tf.keras.layers.
"""

from __future__ import annotations

import math
from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl import regularizers
from tfdist.keras_impl.backend.learning_phase import learning_phase
from tfdist.keras_impl.engine.argument_names import given
from tfdist.keras_impl.engine.layer import Layer
from tfdist.models.layers import core
from tfdist.models.layers.base import shape_of_input
from tfdist.models.layers.input_spec import InputSpec
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import stack
from tfdist.ops.array.repeat import tile
from tfdist.ops.array.reshape import expand_dims, reshape, squeeze
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.math.comparison import not_equal
from tfdist.ops.math.reductions import reduce_any

__all__ = [
    "Activation", "ActivityRegularization", "Dense", "Dropout", "Flatten", "Masking", "Permute",
    "RepeatVector", "Reshape", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
]  # fmt: skip


class Dense(core.Dense, Layer):
    """A layer that is connected to every input: activation(inputs @ kernel + bias).

    Args:
      units: number of outputs.
      activation: function of the result, or its name.
      use_bias: whether a bias is added.
      kernel_initializer: of the kernel [inputs, units].
      bias_initializer: of the bias [units].
      kernel_regularizer: function from the kernel to a loss.
      bias_regularizer: function from the bias to a loss.
      activity_regularizer: function from the output to a loss.
      kernel_constraint: function from the updated kernel to the one to keep.
      bias_constraint: function from the updated bias to the one to keep.
      **options: those of `Layer`.

    Example:
      >>> layer = keras.layers.Dense(3, "relu")
      >>> layer(zeros([2, 4])), [variable.name for variable in layer.weights]
      (<tf.Tensor 'dense/Relu:0' shape=(2, 3) dtype=float32>, ['dense/kernel:0', 'dense/bias:0'])
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(**given(locals()))


class Dropout(core.Dropout, Layer):
    """A layer that sets some inputs to 0 while training.

    Args:
      rate: the part of inputs that is set to 0, from 0 to 1.
      noise_shape: shape of the choice, which broadcasts to that of inputs; None for the same.
      seed: for the choice.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.Dropout(0.4)(zeros([2, 4])).shape.as_list()
      [2, 4]
    """

    def __init__(
        self, rate: Any, noise_shape: Any = None, seed: int | None = None, **options: Any
    ) -> None:
        super().__init__(rate, noise_shape, seed, **options)

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Return the inputs, dropped out in training; by the learning phase if that is None."""
        return super().call(inputs, learning_phase() if training is None else training)

    def _noise_shape(self, inputs: Any) -> Any:
        sizes = super()._noise_shape(inputs)
        return stack(sizes) if isinstance(sizes, list) else sizes


class _SpatialDropout(Dropout):
    """What spatial dropouts share: a channel is dropped as a whole."""

    rank = 1

    def __init__(self, rate: Any, data_format: str | None = None, **options: Any) -> None:
        super().__init__(rate, **options)
        self.data_format = given({"data_format": data_format})["data_format"]
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _noise_shape(self, inputs: Any) -> Any:
        sizes: Any = shape(inputs)
        ones = [1] * self.rank
        last = self.data_format == "channels_last"
        kept = sizes[self.rank + 1] if last else sizes[1]
        return stack([sizes[0], *ones, kept] if last else [sizes[0], kept, *ones])


class SpatialDropout1D(_SpatialDropout):
    """A layer that sets whole channels of [batch, steps, channels] to 0 while training."""

    def __init__(self, rate: Any, **options: Any) -> None:
        super().__init__(rate, "channels_last", **options)


class SpatialDropout2D(_SpatialDropout):
    """A layer that sets whole channels of images to 0 while training."""

    rank = 2


class SpatialDropout3D(_SpatialDropout):
    """A layer that sets whole channels of volumes to 0 while training."""

    rank = 3


class Flatten(core.Flatten, Layer):
    """A layer that makes one axis of all axes but the first.

    Args:
      data_format: "channels_last", or "channels_first": then channels go last before.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.Flatten()(zeros([2, 4, 5])).shape.as_list()
      [2, 20]
    """

    def __init__(self, data_format: str | None = None, **options: Any) -> None:
        super().__init__(**given(locals()))


class Activation(Layer):
    """A layer that applies a function.

    Args:
      activation: the function, or its name.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.Activation("tanh")(zeros([2, 4]))
      <tf.Tensor 'activation/Tanh:0' shape=(2, 4) dtype=float32>
    """

    CONFIG = ("activation",)
    supports_masking = True

    def __init__(self, activation: Any, **options: Any) -> None:
        super().__init__(**options)
        self.activation = given({"activation": activation})["activation"]

    def call(self, inputs: Any) -> Any:
        """Return the function of `inputs`."""
        return self.activation(inputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output: the same."""
        return shape_of_input(input_shape)


class ActivityRegularization(Layer):
    """A layer that gives its inputs, whose size costs.

    Args:
      l1: factor of the sum of absolute values.
      l2: factor of the sum of squares.
      **options: those of `Layer`.
    """

    CONFIG = ("l1", "l2")
    supports_masking = True

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **options: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1, l2), **options)
        self.l1, self.l2 = l1, l2

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output: the same."""
        return shape_of_input(input_shape)


class Reshape(Layer):
    """A layer that gives each example another shape.

    Args:
      target_shape: of an example; -1 for the size that is left.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.Reshape((2, -1))(zeros([3, 8])).shape.as_list()
      [3, 2, 4]
    """

    CONFIG = ("target_shape",)

    def __init__(self, target_shape: Any, **options: Any) -> None:
        super().__init__(**options)
        self.target_shape = tuple(target_shape)

    def call(self, inputs: Any) -> Any:
        """Return `inputs` in the other shape."""
        batch: Any = shape(inputs)
        return reshape(inputs, (batch[0], *self.target_shape))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape."""
        known_sizes: list[Any] = shape_of_input(input_shape).as_list()
        batch, *sizes = known_sizes
        if -1 not in self.target_shape:
            return TensorShape([batch, *self.target_shape])
        known = math.prod(size for size in self.target_shape if size != -1)
        left = None if None in sizes else math.prod(sizes) // known
        return TensorShape([batch, *(left if size == -1 else size for size in self.target_shape)])


class Permute(Layer):
    """A layer that puts the axes of each example in another order.

    Args:
      dims: numbers of axes, counted from 1.
      **options: those of `Layer`.

    Raises:
      ValueError: they are not each of the axes once.

    Example:
      >>> keras.layers.Permute((2, 1))(zeros([3, 4, 5])).shape.as_list()
      [3, 5, 4]
    """

    CONFIG = ("dims",)

    def __init__(self, dims: Any, **options: Any) -> None:
        super().__init__(**options)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(
                f"Invalid permutation `dims` for Permute Layer: {dims}. The set of indices in "
                "`dims` must be consecutive and start from 1."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Any) -> Any:
        """Return `inputs` with its axes in the other order."""
        return transpose(inputs, (0, *self.dims))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape."""
        known = shape_of_input(input_shape).as_list()
        return TensorShape([known[0], *(known[axis] for axis in self.dims)])


class RepeatVector(Layer):
    """A layer that gives each vector `n` times.

    Args:
      n: how often.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.RepeatVector(3)(zeros([2, 4])).shape.as_list()
      [2, 3, 4]
    """

    CONFIG = ("n",)

    def __init__(self, n: int, **options: Any) -> None:
        super().__init__(**options)
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Any) -> Any:
        """Return `inputs` [batch, features] as [batch, n, features]."""
        return tile(expand_dims(inputs, 1), [1, self.n, 1])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape."""
        batch, features = shape_of_input(input_shape).as_list()
        return TensorShape([batch, self.n, features])


class Masking(Layer):
    """A layer that leaves out time steps: those whose features all have one value.

    Args:
      mask_value: of such steps.
      **options: those of `Layer`.

    Example:
      >>> keras.backend.eval(keras.layers.Masking(2.0)(constant([[[2.0], [3.0]]])))
      array([[[0.],
              [3.]]], dtype=float32)
    """

    CONFIG = ("mask_value",)
    supports_masking = True

    def __init__(self, mask_value: float = 0.0, **options: Any) -> None:
        super().__init__(**options)
        self.mask_value = mask_value
        self._kept_steps: Any = None

    def call(self, inputs: Any) -> Any:
        """Return `inputs` [batch, steps, features] with zeros at the steps to be left out."""
        kept = reduce_any(not_equal(inputs, self.mask_value), -1, keepdims=True)
        outputs = inputs * cast(kept, inputs.dtype)
        self._kept_steps = squeeze(kept, [-1])
        return outputs

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return which steps are kept."""
        return self._kept_steps

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output: the same."""
        return shape_of_input(input_shape)
