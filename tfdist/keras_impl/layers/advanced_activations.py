"""Activations as layers, some of which learn.

Source: TF 1.15 API documentation, tf.keras.layers.LeakyReLU and its relatives.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl import activations
from tfdist.keras_impl.engine.argument_names import given
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.settings import cast_to_floatx
from tfdist.models.layers.base import shape_of_input
from tfdist.models.layers.input_spec import InputSpec
from tfdist.ops.array.cast import cast
from tfdist.ops.nn import functions as nn

__all__ = ["ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"]


class _Activation(Layer):
    supports_masking = True

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output: the same."""
        return shape_of_input(input_shape)


class LeakyReLU(_Activation):
    """A layer that gives x where it is positive, alpha * x elsewhere.

    Args:
      alpha: slope of the negative side.
      **options: those of `Layer`.

    Example:
      >>> keras.backend.eval(keras.layers.LeakyReLU(0.5)(constant([-2.0, 3.0])))
      array([-1.,  3.], dtype=float32)
    """

    CONFIG = ("alpha",)

    def __init__(self, alpha: float = 0.3, **options: Any) -> None:
        super().__init__(**options)
        self.alpha = float(cast_to_floatx(alpha))

    def call(self, inputs: Any) -> Any:
        """Return the function of `inputs`."""
        return nn.leaky_relu(inputs, self.alpha)


class PReLU(_Activation):
    """A layer that gives x where it is positive, alpha * x elsewhere, and learns alpha.

    Args:
      alpha_initializer: of alpha, which has an example's shape.
      alpha_regularizer: function from alpha to a loss.
      alpha_constraint: function from the updated alpha to the one to keep.
      shared_axes: along which alpha is the same, counted from 1.
      **options: those of `Layer`.
    """

    CONFIG = ("alpha_initializer", "alpha_regularizer", "alpha_constraint", "shared_axes")

    def __init__(
        self,
        alpha_initializer: Any = "zeros",
        alpha_regularizer: Any = None,
        alpha_constraint: Any = None,
        shared_axes: Any = None,
        **options: Any,
    ) -> None:
        found = given(locals())
        super().__init__(**options)
        self.alpha_initializer = found["alpha_initializer"]
        self.alpha_regularizer = found["alpha_regularizer"]
        self.alpha_constraint = found["alpha_constraint"]
        self.shared_axes = [shared_axes] if isinstance(shared_axes, int) else shared_axes
        self.alpha: Any = None

    def build(self, input_shape: Any) -> None:
        """Make `alpha`, one slope for each place of the input that shares none."""
        sizes = shape_of_input(input_shape).as_list()
        for axis in self.shared_axes or ():
            sizes[axis] = 1
        self.alpha = self.add_weight(
            "alpha", sizes[1:], None, self.alpha_initializer, self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )  # fmt: skip
        shared = self.shared_axes or ()
        fixed = {axis: size for axis, size in enumerate(sizes) if axis and axis not in shared}
        self.input_spec = InputSpec(ndim=len(sizes), axes=fixed)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return the function of `inputs`."""
        return nn.relu(inputs) - self.alpha * nn.relu(-inputs)


class ELU(_Activation):
    """A layer that gives x where it is positive, alpha * (exp(x) - 1) elsewhere.

    Args:
      alpha: what it tends to for small x, with the other sign.
      **options: those of `Layer`.
    """

    CONFIG = ("alpha",)

    def __init__(self, alpha: float = 1.0, **options: Any) -> None:
        super().__init__(**options)
        self.alpha = float(cast_to_floatx(alpha))

    def call(self, inputs: Any) -> Any:
        """Return the function of `inputs`."""
        return activations.elu(inputs, self.alpha)


class ThresholdedReLU(_Activation):
    """A layer that gives x where it is above theta, 0 elsewhere.

    Args:
      theta: the threshold.
      **options: those of `Layer`.
    """

    CONFIG = ("theta",)

    def __init__(self, theta: float = 1.0, **options: Any) -> None:
        super().__init__(**options)
        self.theta = float(cast_to_floatx(theta))

    def call(self, inputs: Any) -> Any:
        """Return the function of `inputs`."""
        return inputs * cast(inputs > self.theta, inputs.dtype)


class ReLU(_Activation):
    """A layer that gives x where it is above a threshold, and little elsewhere.

    Args:
      max_value: what greater elements become; None for no bound.
      negative_slope: below the threshold, elements become slope * (x - threshold).
      threshold: 0 by default.
      **options: those of `Layer`.

    Raises:
      ValueError: the bound or the slope is negative.

    Example:
      >>> keras.backend.eval(keras.layers.ReLU(6.0)(constant([-2.0, 3.0, 9.0])))
      array([0., 3., 6.], dtype=float32)
    """

    CONFIG = ("max_value", "negative_slope", "threshold")

    def __init__(
        self,
        max_value: float | None = None,
        negative_slope: float = 0,
        threshold: float = 0,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if max_value is not None and max_value < 0.0:
            raise ValueError(f"max_value of Relu layer cannot be negative value: {max_value}")
        if negative_slope < 0.0:
            raise ValueError(
                f"negative_slope of Relu layer cannot be negative value: {negative_slope}"
            )
        self.max_value = None if max_value is None else float(cast_to_floatx(max_value))
        self.negative_slope = float(cast_to_floatx(negative_slope))
        self.threshold = float(cast_to_floatx(threshold))

    def call(self, inputs: Any) -> Any:
        """Return the function of `inputs`."""
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class Softmax(_Activation):
    """A layer that gives exp(x) over its sum along an axis.

    Args:
      axis: along which the results add up to 1.
      **options: those of `Layer`.
    """

    CONFIG = ("axis",)

    def __init__(self, axis: int = -1, **options: Any) -> None:
        super().__init__(**options)
        self.axis = axis

    def call(self, inputs: Any) -> Any:
        """Return the function of `inputs`."""
        return activations.softmax(inputs, self.axis)
