"""LSTM cells whose inputs and states are images, and which convolve them.

Source: TF 1.15 API documentation, tf.contrib.rnn.ConvLSTMCell; Shi et al. 2015 (arXiv:1506.04214).
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.op_def import raw
from tfdist.models.rnn.lstm_cells import LSTMStateTuple
from tfdist.models.rnn.rnn_cell import RNNCell
from tfdist.ops.array.concat import concat
from tfdist.ops.array.split import split
from tfdist.ops.convolution.functions import conv1d, conv2d, conv3d
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import constant_initializer

__all__ = ["Conv1DLSTMCell", "Conv2DLSTMCell", "Conv3DLSTMCell", "ConvLSTMCell"]

# Number of axes -> function, and its strides.
_CONVOLUTIONS: dict[int, tuple[Any, Any]] = {
    1: (conv1d, 1), 2: (conv2d, [1] * 4), 3: (conv3d, [1] * 5)
}  # fmt: skip


class ConvLSTMCell(RNNCell):
    """An LSTM cell that convolves inputs [batch, *axes, channels] and states.

    Args:
      conv_ndims: number of axes, from 1 to 3.
      input_shape: sizes of the axes, and number of channels.
      output_channels: number of channels of c and h.
      kernel_shape: sizes of the kernel along the axes.
      use_bias: whether there is a bias.
      skip_connection: whether outputs have the inputs' channels beside h's.
      forget_bias: what is added before the forget gate, so that it remembers at first.
      initializers: not used.
      name: of the cell, and of its variables' scope.

    Raises:
      ValueError: the input's shape has another number of axes.

    Example:
      >>> cell = contrib.rnn.Conv2DLSTMCell(
      ...     input_shape=[5, 4, 1], output_channels=3, kernel_shape=[3, 3]
      ... )
      >>> cell(zeros([2, 5, 4, 1]), cell.zero_state(2, "float32"))[0].shape.as_list()
      [2, 5, 4, 3]
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Any,
        output_channels: int,
        kernel_shape: Any,
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: Any = 1.0,
        initializers: Any = None,
        name: str | None = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._axes, self._input_shape = conv_ndims, list(input_shape)
        self._channels, self._kernel_shape = output_channels, list(kernel_shape)
        self._use_bias, self._skips, self._forget_bias = use_bias, skip_connection, forget_bias
        self._whole_channels = output_channels
        if skip_connection:
            self._whole_channels += self._input_shape[-1]

    @property
    def state_size(self) -> LSTMStateTuple:
        """Return the sizes of c and h."""
        size = TensorShape([*self._input_shape[:-1], self._channels])
        return LSTMStateTuple(size, size)

    @property
    def output_size(self) -> TensorShape:
        """Return the size of the outputs."""
        return TensorShape([*self._input_shape[:-1], self._whole_channels])

    def call(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """Return the output, and the next state."""
        c, h = state
        gates = split(self._convolved([inputs, h]), 4, self._axes + 1)
        i, j, f, o = gates
        new_c = raw.Sigmoid(f + self._forget_bias) * c + raw.Sigmoid(i) * raw.Tanh(j)
        output = raw.Tanh(new_c) * raw.Sigmoid(o)
        if self._skips:  # the next state has them too, as in TensorFlow
            output = concat([output, inputs], -1)
        return output, LSTMStateTuple(new_c, output)

    def _convolved(self, parts: list[Any]) -> Any:
        channels = sum(part.plain_shape[-1] for part in parts)
        count, dtype = 4 * self._channels, parts[0].dtype
        kernel = get_variable("kernel", [*self._kernel_shape, channels, count], dtype)
        function, strides = _CONVOLUTIONS[self._axes]
        made = function(concat(parts, self._axes + 1), kernel, strides, padding="SAME")
        if not self._use_bias:
            return made
        biases = constant_initializer(0.0, dtype=dtype)
        return made + get_variable("biases", [count], dtype, biases)


class Conv1DLSTMCell(ConvLSTMCell):
    """A `ConvLSTMCell` for inputs [batch, length, channels].

    Args:
      name: of the cell, and of its variables' scope.
      options: the other arguments of `ConvLSTMCell`, but for `conv_ndims`.
    """

    def __init__(self, name: str | None = "conv_1d_lstm_cell", **options: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **options)


class Conv2DLSTMCell(ConvLSTMCell):
    """A `ConvLSTMCell` for inputs [batch, height, width, channels].

    Args:
      name: of the cell, and of its variables' scope.
      options: the other arguments of `ConvLSTMCell`, but for `conv_ndims`.
    """

    def __init__(self, name: str | None = "conv_2d_lstm_cell", **options: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **options)


class Conv3DLSTMCell(ConvLSTMCell):
    """A `ConvLSTMCell` for inputs [batch, depth, height, width, channels].

    Args:
      name: of the cell, and of its variables' scope.
      options: the other arguments of `ConvLSTMCell`, but for `conv_ndims`.
    """

    def __init__(self, name: str | None = "conv_3d_lstm_cell", **options: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **options)
