"""Layers that every model has: dense, dropout, flatten.

Source: TF 1.15 API documentation, tf.layers.
"""

from __future__ import annotations

import math
from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.models.layers.base import Layer, activation_of, known_size, shape_of_input
from tfdist.models.layers.defaults import ZEROS
from tfdist.models.layers.input_spec import InputSpec
from tfdist.models.layers.training_switch import chosen
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.math.tensordot import tensordot
from tfdist.ops.nn import functions as nn

__all__ = ["Dense", "Dropout", "Flatten", "dense", "dropout", "flatten"]


class Dense(Layer):
    """A layer that is connected to every input: activation(inputs @ kernel + bias).

    Args:
      units: number of outputs.
      activation: function of the result, or the name of one; None for none.
      use_bias: whether a bias is added.
      kernel_initializer: of the kernel [inputs, units]; glorot_uniform by default.
      bias_initializer: of the bias [units].
      kernel_regularizer: function from the kernel to a loss.
      bias_regularizer: function from the bias to a loss.
      activity_regularizer: function from the output to a loss.
      kernel_constraint: function from the updated kernel to the one to keep.
      bias_constraint: function from the updated bias to the one to keep.
      trainable: whether its variables are trained.
      name: of the layer.

    Example:
      >>> layer = layers.Dense(3)
      >>> layer(zeros([2, 4])), [variable.name for variable in layer.variables]
      (<tf.Tensor 'dense/BiasAdd:0' shape=(2, 3) dtype=float32>, ['dense/kernel:0', 'dense/bias:0'])
    """

    CONFIG = (
        "units", "activation", "use_bias", "kernel_initializer", "bias_initializer",
        "kernel_regularizer", "bias_regularizer", "activity_regularizer", "kernel_constraint",
        "bias_constraint",
    )  # fmt: skip
    supports_masking = True

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **options)
        self.units, self.activation, self.use_bias = int(units), activation_of(activation), use_bias
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.kernel: Any = None
        self.bias: Any = None
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias.

        Raises:
          TypeError: the inputs are no floats.
          ValueError: the number of inputs is unknown.
        """
        dtype = self._dtype or dtypes.float32
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(
                f"Unable to build `Dense` layer with non-floating point dtype {dtype!r}"
            )
        inputs = known_size(self, shape_of_input(input_shape), -1, "last dimension")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: inputs})
        self.kernel = self.add_weight(
            "kernel", [inputs, self.units], dtype, self.kernel_initializer,
            self.kernel_regularizer, constraint=self.kernel_constraint,
        )  # fmt: skip
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", [self.units], dtype, self.bias_initializer, self.bias_regularizer,
                constraint=self.bias_constraint,
            )  # fmt: skip
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return the output for `inputs` [..., inputs]: [..., units]."""
        known = inputs.plain_shape
        if len(known) > 2:
            outputs = tensordot(inputs, self.kernel, [[len(known) - 1], [0]])
            outputs.set_shape([*known[:-1], self.units])
        else:
            outputs = raw.MatMul(inputs, self.kernel)
        if self.use_bias:
            outputs = nn.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape."""
        return TensorShape([*shape_of_input(input_shape).as_list()[:-1], self.units])


def dense(
    inputs: Any,
    units: int,
    activation: Any = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = ZEROS,
    kernel_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    kernel_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
) -> Any:
    """Return activation(inputs @ kernel + bias), of a new layer `Dense`.

    `reuse` finds the variables of a layer of that name; the other arguments are those of `Dense`.

    Example:
      >>> layers.dense(zeros([2, 4]), 3, nn.relu, name="hidden")
      <tf.Tensor 'hidden/Relu:0' shape=(2, 3) dtype=float32>
    """
    layer = Dense(
        units, activation, use_bias, kernel_initializer, bias_initializer, kernel_regularizer,
        bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, trainable,
        name, _scope=name, _reuse=reuse,
    )  # fmt: skip
    return layer(inputs)


class Dropout(Layer):
    """A layer that sets some inputs to 0 while training.

    Args:
      rate: the part of inputs that is set to 0, from 0 to 1.
      noise_shape: shape of the choice, which broadcasts to that of inputs; None for the same.
      seed: for the choice.
      name: of the layer.

    Example:
      >>> layers.Dropout(0.4)(zeros([2, 4]), training=True).shape.as_list()
      [2, 4]
    """

    CONFIG = ("rate", "noise_shape", "seed")
    supports_masking = True

    def __init__(
        self,
        rate: Any = 0.5,
        noise_shape: Any = None,
        seed: int | None = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(name=name, **options)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Any, training: Any = False) -> Any:
        """Return the inputs, dropped out where `training` (a bool, or a tensor) is true."""
        return chosen(training, lambda: self._dropped(inputs), lambda: identity(inputs))

    def _dropped(self, inputs: Any) -> Any:
        return nn.dropout(
            inputs, noise_shape=self._noise_shape(inputs), seed=self.seed, rate=self.rate
        )

    def _noise_shape(self, inputs: Any) -> Any:
        """Return the noise's shape, with the inputs' own size for each None in it."""
        given = self.noise_shape
        if given is None or not isinstance(given, list | tuple) or None not in given:
            return given
        sizes: Any = shape(inputs)
        return convert_to_tensor(
            [sizes[axis] if size is None else size for axis, size in enumerate(given)]
        )

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape: the same."""
        return shape_of_input(input_shape)


def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: str | None = None,
) -> Any:
    """Return the inputs; where `training` is true, some are 0 and the others larger.

    Args:
      inputs: float tensor.
      rate: the part of inputs that is set to 0, from 0 to 1; the others are divided by 1 - rate.
      noise_shape: shape of the choice, which broadcasts to that of inputs; None for the same.
      seed: for the choice.
      training: a bool, or a bool tensor.
      name: of the layer.

    Example:
      >>> Session().run(layers.dropout([[1.0, 2.0]]))
      array([[1., 2.]], dtype=float32)
    """
    return Dropout(rate, noise_shape, seed, name)(inputs, training=training)


class Flatten(Layer):
    """A layer that makes one axis of all axes but the first.

    Args:
      data_format: "channels_last", or "channels_first": then channels go last before.

    Example:
      >>> layers.Flatten()(zeros([2, 4, 5])).shape.as_list()
      [2, 20]
    """

    CONFIG = ("data_format",)

    def __init__(self, data_format: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.data_format = data_format or "channels_last"
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        """Return `inputs` [batch, ...] as [batch, elements]."""
        known = inputs.plain_shape
        if self.data_format == "channels_first" and len(known) > 1:
            inputs = transpose(inputs, [0, *range(2, len(known)), 1])
        sizes: Any = shape(inputs) if known[0] is None else known
        outputs = reshape(inputs, [sizes[0], -1])
        outputs.set_shape(self.compute_output_shape(TensorShape(known)))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape."""
        batch, *sizes = shape_of_input(input_shape).as_list()
        return TensorShape([batch, None if None in sizes else math.prod(sizes)])


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Any:
    """Return `inputs` [batch, ...] as [batch, elements].

    Args:
      inputs: a tensor.
      name: of the layer.
      data_format: "channels_last", or "channels_first": then channels go last before.

    Example:
      >>> layers.flatten(zeros([2, 4, 5])).shape.as_list()
      [2, 20]
    """
    return Flatten(name=name, data_format=data_format)(inputs)
