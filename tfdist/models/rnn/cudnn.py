"""tf.contrib.cudnn_rnn: cells with the variables of Nvidia's networks, which run anywhere.

Source: TF 1.15 API documentation, tf.contrib.cudnn_rnn.
"""

from __future__ import annotations

from typing import Any

from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import raw
from tfdist.models.layers.base import Layer
from tfdist.models.rnn.basic_cells import GRUCell
from tfdist.models.rnn.block_cells import LSTMBlockCell
from tfdist.ops.array.concat import concat
from tfdist.ops.array.split import split
from tfdist.ops.nn.functions import bias_add
from tfdist.ops.variables.initializers import constant_initializer, zeros_initializer

__all__ = [
    "CudnnCompatibleGRUCell", "CudnnCompatibleLSTMCell", "CudnnGRU", "CudnnLSTM", "CudnnRNNRelu",
    "CudnnRNNTanh",
]  # fmt: skip


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """An LSTM cell for what a `CudnnLSTM` has learned.

    Args:
      num_units: size of c and h.
      reuse: whether to find variables that exist.

    Example:
      >>> cell = contrib.cudnn_rnn.CudnnCompatibleLSTMCell(3)
      >>> _ = cell(zeros([2, 4]), cell.zero_state(2, "float32"))
      >>> cell.variables[0].name
      'cudnn_compatible_lstm_cell/kernel:0'
    """

    def __init__(self, num_units: int, reuse: Any = None) -> None:
        super().__init__(
            num_units, forget_bias=0, cell_clip=None, use_peephole=False, reuse=reuse,
            name="cudnn_compatible_lstm_cell",
        )  # fmt: skip


class CudnnCompatibleGRUCell(GRUCell):
    """A gated recurrent unit for what a `CudnnGRU` has learned: its candidate has two biases.

    Args:
      num_units: size of output and state.
      reuse: whether to find variables that exist.
      kernel_initializer: of all kernels.
    """

    def __init__(self, num_units: int, reuse: Any = None, kernel_initializer: Any = None) -> None:
        super().__init__(num_units, reuse=reuse, kernel_initializer=kernel_initializer)

    def build(self, input_shape: Any) -> None:
        """Make kernels and biases of the gates, and of both parts of the candidate."""
        inputs, units = self._inputs(input_shape), self._num_units
        self._gates = self._make("gates", inputs + units, 2 * units, constant_initializer(1.0))
        sizes = {"input": inputs, "hidden": units}
        kernels = [
            self.add_weight(
                f"candidate/{part}_projection/kernel", [size, units],
                initializer=self._kernel_initializer,
            )
            for part, size in sizes.items()
        ]  # fmt: skip
        biases = [
            self.add_weight(
                f"candidate/{part}_projection/bias", [units],
                initializer=self._bias_initializer or zeros_initializer(),
            )
            for part in sizes
        ]  # fmt: skip
        self._candidates = list(zip(kernels, biases, strict=True))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Return output and next state, which are the same."""
        kernel, bias = self._gates
        gates = raw.Sigmoid(bias_add(raw.MatMul(concat([inputs, state], 1), kernel), bias))
        parts: Any = split(gates, 2, 1)
        reset, update = parts
        given, kept = (
            bias_add(raw.MatMul(each, kernel), bias)
            for each, (kernel, bias) in zip((inputs, state), self._candidates, strict=True)
        )
        candidate = self._activation(given + reset * kept)
        output = (1 - update) * candidate + update * state
        return output, output


class _NeedsCard(Layer):
    """A network of Nvidia's library; there is none for the CPU, in TensorFlow neither."""

    _INSTEAD = "tf.contrib.rnn.LSTMBlockFusedCell"

    def __init__(self, *_: Any, **__: Any) -> None:
        raise InvalidArgumentError(
            f"{type(self).__name__}: No OpKernel was registered to support Op 'CudnnRNN': it needs "
            f"a card of Nvidia's and its library. {self._INSTEAD} computes the same on the CPU."
        )


class CudnnLSTM(_NeedsCard):
    """An LSTM of Nvidia's library, which is not there."""


class CudnnGRU(_NeedsCard):
    """A GRU of Nvidia's library, which is not there."""

    _INSTEAD = "tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell in tf.nn.dynamic_rnn"


class CudnnRNNTanh(_NeedsCard):
    """A simple network of Nvidia's library, which is not there."""

    _INSTEAD = "tf.nn.rnn_cell.BasicRNNCell in tf.nn.dynamic_rnn"


class CudnnRNNRelu(_NeedsCard):
    """A simple network of Nvidia's library, which is not there."""

    _INSTEAD = "tf.nn.rnn_cell.BasicRNNCell(activation=tf.nn.relu) in tf.nn.dynamic_rnn"
