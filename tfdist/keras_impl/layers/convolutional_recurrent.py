"""tf.keras.layers.ConvLSTM2D: a recurrent layer whose products are convolutions.

Source: TF 1.15 API documentation, tf.keras.layers.ConvLSTM2D.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl.backend.images import bias_add, conv2d
from tfdist.keras_impl.engine.argument_names import given
from tfdist.keras_impl.layers.recurrent import OfOneCell
from tfdist.keras_impl.layers.recurrent_cells import WEIGHTS, LSTMCell
from tfdist.models.layers import window_shapes
from tfdist.models.layers.base import shape_of_input
from tfdist.models.layers.input_spec import InputSpec
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import zeros, zeros_like
from tfdist.ops.array.split import split

__all__ = ["ConvLSTM2D"]


class ConvLSTM2DCell(LSTMCell):
    """An `LSTMCell` for images: kernels slide over them."""

    CONFIG = (
        "filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate",
        "activation", "recurrent_activation", "use_bias", "unit_forget_bias", *WEIGHTS,
    )  # fmt: skip

    filters: int
    kernel_size: Any
    strides: Any
    padding: str
    data_format: str
    dilation_rate: Any

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **options: Any,
    ) -> None:
        found = given(locals())
        super(LSTMCell, self).__init__(**options)  # whose arguments are others
        self.units = filters
        self._take(found)
        self.kernel_size = window_shapes.sizes(kernel_size, 2, "kernel_size")
        self.strides = window_shapes.sizes(strides, 2, "strides")
        self.dilation_rate = window_shapes.sizes(dilation_rate, 2, "dilation_rate")
        self.state_size = [filters, filters]

    def build(self, input_shape: Any) -> None:
        """Make kernels and bias."""
        axis = 1 if self.data_format == "channels_first" else -1
        channels, width = shape_of_input(input_shape).as_list()[axis], 4 * self.filters
        self.kernel = self._made("kernel", [*self.kernel_size, channels, width])
        sizes = [*self.kernel_size, self.filters, width]
        self.recurrent_kernel = self._made("recurrent_kernel", sizes, "recurrent")
        if self.use_bias:
            self.bias = self._make_bias(width)
        self.built = True

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """Return states of zeros for `inputs` [batch, steps, rows, columns, channels]."""
        blank = zeros_like(inputs[:, 0])
        channels = self.kernel.shape.as_list()[2]
        kernel = zeros([*self.kernel_size, channels, self.filters], inputs.dtype)
        state = self._of_inputs(blank, kernel)
        return [state, state]

    def _of_inputs(self, x: Any, kernel: Any) -> Any:
        return conv2d(x, kernel, self.strides, self.padding, self.data_format, self.dilation_rate)

    def _of_state(self, x: Any, kernel: Any) -> Any:
        return conv2d(x, kernel, 1, "same", self.data_format)

    def call(self, inputs: Any, states: Any, training: Any = None) -> tuple[Any, list[Any]]:
        """Return the output for `inputs` [batch, rows, columns, channels], and both next states."""
        before, memory = states[0], states[1]
        axis = 1 if self.data_format == "channels_first" else 3
        of_inputs = self._masks("inputs", inputs, self.dropout, training, 4)
        of_state = self._masks("state", before, self.recurrent_dropout, training, 4)
        total = _by_gates(self._of_inputs, inputs, self.kernel, of_inputs, axis)
        if self.bias is not None:
            total = bias_add(total, self.bias, self.data_format)
        total += _by_gates(self._of_state, before, self.recurrent_kernel, of_state, axis)
        goes_in, stays, new, comes_out = split(total, 4, axis)
        gate = self.recurrent_activation
        memory = gate(stays) * memory + gate(goes_in) * self.activation(new)
        output = gate(comes_out) * self.activation(memory)
        return output, [output, memory]


def _by_gates(convolve: Any, x: Any, kernel: Any, masks: list[Any], axis: int) -> Any:
    """Return a convolution; with masks, of x masked for each gate's part of the kernel."""
    if not masks:
        return convolve(x, kernel)
    parts = split(kernel, 4, 3)
    return concat([convolve(x * m, part) for m, part in zip(masks, parts, strict=True)], axis)


class ConvLSTM2D(OfOneCell):
    """A recurrent layer for images whose products are convolutions.

    Its inputs are [batch, steps, rows, columns, channels].

    Args:
      filters: number of output channels.
      kernel_size: sizes of the window, one for both axes or one for each.
      *arguments: strides, padding, data_format, dilation_rate, activation,
        recurrent_activation, and on as for `LSTM`.
      **options: those of `RNN` and `Layer`, and all of these by name.

    Example:
      >>> keras.layers.ConvLSTM2D(2, 3)(zeros([2, 5, 8, 6, 4])).shape.as_list()
      [2, 6, 4, 2]
    """

    kind = ConvLSTM2DCell

    def __init__(self, filters: int, kernel_size: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(filters, kernel_size, *arguments, **options)
        self.input_spec = InputSpec(ndim=5)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the outputs for inputs of a shape."""
        batch, steps, *sizes = shape_of_input(input_shape).as_list()
        first = self.cell.data_format == "channels_first"
        inner = sizes[1:] if first else sizes[:-1]
        outer = [self._length(number, size) for number, size in enumerate(inner)]
        image = [self.cell.filters, *outer] if first else [*outer, self.cell.filters]
        whole = [batch, steps, *image] if self.return_sequences else [batch, *image]
        state = TensorShape([batch, *image])
        return [TensorShape(whole), state, state] if self.return_state else TensorShape(whole)

    def _length(self, number: int, size: int | None) -> int | None:
        window, step = self.cell.kernel_size[number], self.cell.strides[number]
        lost = (window - 1) * self.cell.dilation_rate[number]
        if self.cell.padding == "same":
            lost = 0
        return None if size is None else (size - lost + step - 1) // step
