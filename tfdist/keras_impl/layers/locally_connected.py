"""Layers that have a kernel of its own for each place.

Source: TF 1.15 API documentation, tf.keras.layers.LocallyConnected2D and its relative.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl.engine.argument_names import given
from tfdist.keras_impl.engine.layer import Layer
from tfdist.models.layers import window_shapes
from tfdist.models.layers.base import shape_of_input
from tfdist.models.layers.convolutional import ENDS
from tfdist.models.layers.input_spec import InputSpec
from tfdist.ops.array.concat import stack
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.math.matmul import matmul

__all__ = ["LocallyConnected1D", "LocallyConnected2D"]


class _LocallyConnected(Layer):
    """What both have in common; `rank` is the number of axes that places have."""

    CONFIG = ("filters", "kernel_size", "strides", "padding", "data_format", *ENDS,
              "implementation")  # fmt: skip
    rank = 0

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        implementation: int = 1,
        **options: Any,
    ) -> None:
        found = given(locals())
        if padding != "valid":
            raise ValueError(f"padding of {type(self).__name__} is 'valid', not {padding!r}")
        if implementation != 1:
            raise NotImplementedError(
                f"implementation {implementation}, whose kernel has another shape; 1 is there"
            )
        super().__init__(**options, activity_regularizer=found["activity_regularizer"])
        self.filters, self.padding, self.implementation = filters, padding, implementation
        self.kernel_size = window_shapes.sizes(kernel_size, self.rank, "kernel_size")
        self.strides = window_shapes.sizes(strides, self.rank, "strides")
        self.data_format, self.use_bias = found["data_format"], use_bias
        self.activation = found["activation"]
        self.kernel_initializer = found["kernel_initializer"]
        self.bias_initializer = found["bias_initializer"]
        self.kernel_regularizer = found["kernel_regularizer"]
        self.bias_regularizer = found["bias_regularizer"]
        self.kernel_constraint = found["kernel_constraint"]
        self.bias_constraint = found["bias_constraint"]
        self.kernel: Any = None
        self.bias: Any = None

    @property
    def _first(self) -> bool:
        return bool(self.data_format == "channels_first")

    def _places(self, input_shape: Any) -> tuple[list[int], int]:
        """Return how many places there are along each axis, and the number of channels.

        Raises:
          ValueError: one of them is unknown.
        """
        known = shape_of_input(input_shape).as_list()[1:]
        dims = [dim for dim in known if dim is not None]
        if len(dims) < len(known):
            raise ValueError(
                f"the inputs of {type(self).__name__} must be of a known size, to have a kernel "
                f"for each place; got {input_shape}"
            )
        channels = dims.pop(0 if self._first else -1)
        sizes = zip(dims, self.kernel_size, self.strides, strict=True)
        return [(dim - size) // step + 1 for dim, size, step in sizes], channels

    def build(self, input_shape: Any) -> None:
        """Make kernels and biases; ValueError if a size of the inputs is unknown."""
        places, channels = self._places(input_shape)
        count, window = 1, channels
        for place, size in zip(places, self.kernel_size, strict=True):
            count, window = count * place, window * size
        self.kernel = self.add_weight(
            "kernel", [count, window, self.filters], None, self.kernel_initializer,
            self.kernel_regularizer, constraint=self.kernel_constraint,
        )  # fmt: skip
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", [*places, self.filters], None, self.bias_initializer,
                self.bias_regularizer, constraint=self.bias_constraint,
            )  # fmt: skip
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={1 if self._first else -1: channels})
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return [batch, places..., filters], or with the channels first."""
        places, _ = self._places(inputs.shape)
        outputs = local_convolution(
            inputs, self.kernel, self.kernel_size, self.strides, places, self._first
        )
        if self.use_bias:
            outputs = outputs + self.bias
        if self._first:
            outputs = transpose(outputs, [0, self.rank + 1, *range(1, self.rank + 1)])
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape."""
        places, _ = self._places(input_shape)
        batch = shape_of_input(input_shape).as_list()[0]
        last = [self.filters, *places] if self._first else [*places, self.filters]
        return TensorShape([batch, *last])


def local_convolution(
    inputs: Any, kernel: Any, sizes: Any, strides: Any, places: Any, first: bool
) -> Any:
    """Return [batch, places..., filters]: what each place's window gives with its own kernel.

    Args:
      inputs: [batch, axes..., channels], with the channels first if `first`.
      kernel: [product of places, window, filters].
      sizes: of a window, along each axis.
      strides: from one window to the next, along each axis.
      places: how many windows there are, along each axis.
      first: whether the channels come first.
    """
    window, filters = kernel.shape.as_list()[1:]
    windows = [
        reshape(inputs[_slices(place, sizes, strides, first)], [-1, window])
        for place in _each(places)
    ]
    outputs = transpose(matmul(stack(windows), kernel), [1, 0, 2])
    return reshape(outputs, [-1, *places, filters])


def _each(places: Any) -> list[tuple[int, ...]]:
    """Return the indices of all places, in order."""
    found: list[tuple[int, ...]] = [()]
    for count in places:
        found = [(*each, index) for each in found for index in range(count)]
    return found


def _slices(place: tuple[int, ...], sizes: Any, strides: Any, first: bool) -> tuple[slice, ...]:
    every = slice(None)
    axes = [
        slice(at * step, at * step + size)
        for at, size, step in zip(place, sizes, strides, strict=True)
    ]
    return (every, every, *axes) if first else (every, *axes, every)


class LocallyConnected1D(_LocallyConnected):
    """A layer that has a kernel of its own for each place along [batch, steps, channels].

    Example:
      >>> keras.layers.LocallyConnected1D(5, 3)(zeros([2, 9, 4])).shape.as_list()
      [2, 7, 5]
    """

    rank = 1


class LocallyConnected2D(_LocallyConnected):
    """A layer that has a kernel of its own for each place of [batch, rows, columns, channels].

    Example:
      >>> keras.layers.LocallyConnected2D(5, 3)(zeros([2, 5, 6, 4])).shape.as_list()
      [2, 3, 4, 5]
    """

    rank = 2
