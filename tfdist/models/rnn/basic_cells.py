"""Cells whose state is their output: BasicRNNCell and GRUCell.

Source: TF 1.15 API documentation, tf.nn.rnn_cell; Cho et al. 2014, arXiv:1406.1078, for GRU.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.op_def import raw
from tfdist.models.rnn.rnn_cell import LayerRNNCell, activation_of
from tfdist.ops.array.concat import concat
from tfdist.ops.array.split import split
from tfdist.ops.nn.functions import bias_add
from tfdist.ops.variables.initializers import constant_initializer, zeros_initializer

__all__ = ["BasicRNNCell", "GRUCell"]


class StateIsOutput(LayerRNNCell):
    """A cell of `num_units` units, with a state that is its output."""

    def __init__(
        self,
        num_units: int,
        activation: Any,
        reuse: Any,
        name: str | None,
        dtype: Any,
        options: dict[str, Any],
    ) -> None:
        options.pop("input_size", None)  # the first releases took and ignored it
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **options)
        self._num_units, self._activation = num_units, activation_of(activation)

    @property
    def state_size(self) -> int:
        """Return the number of units."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """Return the number of units."""
        return self._num_units


class BasicRNNCell(StateIsOutput):
    """A cell whose output and next state is activation([inputs, state] @ kernel + bias).

    Args:
      num_units: size of output and state.
      activation: function, or its name in `tf.nn`; tanh by default.
      reuse: whether to find variables that exist.
      name: of the cell, and of its variables' scope.
      dtype: of its variables; that of the first input by default.

    Example:
      >>> cell = nn.rnn_cell.BasicRNNCell(3)
      >>> output, state = cell(zeros([2, 4]), cell.zero_state(2, "float32"))
      >>> output, output is state
      (<tf.Tensor 'basic_rnn_cell/Tanh:0' shape=(2, 3) dtype=float32>, True)
    """

    CONFIG = ("num_units", "activation", "reuse")

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, options)

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        size = self._inputs(input_shape) + self._num_units
        self._kernel = self.add_weight("kernel", [size, self._num_units])
        self._bias = self.add_weight("bias", [self._num_units], initializer=zeros_initializer())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return output and next state, which are the same."""
        product = raw.MatMul(concat([inputs, state], 1), self._kernel)
        output = self._activation(bias_add(product, self._bias))
        return output, output


class GRUCell(StateIsOutput):
    """A gated recurrent unit: it keeps a part of its state, and takes the rest from a candidate.

    Args:
      num_units: size of output and state.
      activation: of the candidate; function, or its name in `tf.nn`; tanh by default.
      reuse: whether to find variables that exist.
      kernel_initializer: of both kernels.
      bias_initializer: of both biases; by default 1 for the gates and 0 for the candidate.
      name: of the cell, and of its variables' scope.
      dtype: of its variables; that of the first input by default.

    Example:
      >>> cell = nn.rnn_cell.GRUCell(3)
      >>> _ = cell(zeros([2, 4]), cell.zero_state(2, "float32"))
      >>> [variable.name for variable in cell.variables]
      ['gru_cell/gates/kernel:0', 'gru_cell/gates/bias:0', 'gru_cell/candidate/kernel:0', \
'gru_cell/candidate/bias:0']
    """

    CONFIG = ("num_units", "kernel_initializer", "bias_initializer", "activation", "reuse")

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, options)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape: Any) -> None:
        """Make kernels and biases of the gates and of the candidate."""
        size = self._inputs(input_shape) + self._num_units
        self._gates = self._make("gates", size, 2 * self._num_units, constant_initializer(1.0))
        self._candidate = self._make("candidate", size, self._num_units, zeros_initializer())
        self.built = True

    def _make(self, name: str, size: int, units: int, biases: Any) -> tuple[Any, Any]:
        kernel = self.add_weight(
            f"{name}/kernel", [size, units], initializer=self._kernel_initializer
        )
        initializer = biases if self._bias_initializer is None else self._bias_initializer
        return kernel, self.add_weight(f"{name}/bias", [units], initializer=initializer)

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return output and next state, which are the same."""
        gates = raw.Sigmoid(_connected([inputs, state], *self._gates))
        parts: Any = split(gates, 2, 1)
        reset, update = parts
        candidate = self._activation(_connected([inputs, reset * state], *self._candidate))
        output = update * state + (1 - update) * candidate
        return output, output


def _connected(inputs: list[Any], kernel: Any, bias: Any) -> Any:
    return bias_add(raw.MatMul(concat(inputs, 1), kernel), bias)
