"""Cells in which a unit sees only its own state: IndRNN, IndyGRU, IndyLSTM and SRU.

Source: TF 1.15 API documentation, tf.contrib.rnn; Li et al. 2018 (arXiv:1803.04831), Gonnet and
Deselaers 2019 (arXiv:1903.08023), Lei et al. 2017 (arXiv:1709.02755).
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.op_def import raw
from tfdist.models.rnn.basic_cells import StateIsOutput
from tfdist.models.rnn.lstm_cells import LSTMStateTuple
from tfdist.models.rnn.rnn_cell import LayerRNNCell, activation_of
from tfdist.ops.array.concat import concat
from tfdist.ops.array.constants import constant
from tfdist.ops.array.split import split
from tfdist.ops.array.tile_roll import tile
from tfdist.ops.nn.functions import bias_add
from tfdist.ops.variables.initializers import (
    constant_initializer,
    random_uniform_initializer,
    zeros_initializer,
)

__all__ = ["IndRNNCell", "IndyGRUCell", "IndyLSTMCell", "SRUCell"]


class IndRNNCell(StateIsOutput):
    """A cell with output activation(inputs @ kernel_w + state * kernel_u + bias).

    Args:
      num_units: size of output and state.
      activation: function, or its name in `tf.nn`; tanh by default.
      reuse: whether to find variables that exist.
      name: of the cell, and of its variables' scope.
      dtype: of its variables; that of the first input by default.

    Example:
      >>> cell = contrib.rnn.IndRNNCell(3)
      >>> _ = cell(zeros([2, 4]), cell.zero_state(2, "float32"))
      >>> [variable.name for variable in cell.variables]
      ['ind_rnn_cell/kernel_w:0', 'ind_rnn_cell/kernel_u:0', 'ind_rnn_cell/bias:0']
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, {})

    def build(self, input_shape: Any) -> None:
        """Make both kernels and the bias."""
        units = self._num_units
        self._kernel_w = self.add_weight("kernel_w", [self._inputs(input_shape), units])
        self._kernel_u = self.add_weight("kernel_u", [1, units], initializer=_near_zero())
        self._bias = self.add_weight("bias", [units], initializer=zeros_initializer())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return output and next state, which are the same."""
        summed = raw.MatMul(inputs, self._kernel_w) + state * self._kernel_u
        output = self._activation(bias_add(summed, self._bias))
        return output, output


def _near_zero() -> Any:
    return random_uniform_initializer(-1, 1)


class IndyGRUCell(StateIsOutput):
    """A `GRUCell` in which a unit sees only its own state.

    Args:
      num_units: size of output and state.
      activation: of the candidate; function, or its name in `tf.nn`; tanh by default.
      reuse: whether to find variables that exist.
      kernel_initializer: of the inputs' kernels.
      bias_initializer: of both biases; by default 1 for the gates and 0 for the candidate.
      name: of the cell, and of its variables' scope.
      dtype: of its variables; that of the first input by default.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, {})
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape: Any) -> None:
        """Make kernels and biases of the gates and of the candidate."""
        size, units = self._inputs(input_shape), self._num_units
        self._gates = self._make("gates/kernel_w", "gates", size, 2 * units, 1.0)
        self._candidate = self._make("candidate/kernel", "candidate", size, units, 0.0)
        self.built = True

    def _make(self, kernel: str, name: str, size: int, units: int, bias: float) -> tuple[Any, ...]:
        biases = self._bias_initializer or constant_initializer(bias)
        return (
            self.add_weight(kernel, [size, units], initializer=self._kernel_initializer),
            self.add_weight(f"{name}/kernel_u", [1, units], initializer=_near_zero()),
            self.add_weight(f"{name}/bias", [units], initializer=biases),
        )

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return output and next state, which are the same."""
        gates = raw.Sigmoid(_summed(inputs, tile(state, [1, 2]), self._gates))
        parts: Any = split(gates, 2, 1)
        reset, update = parts
        candidate = self._activation(_summed(inputs, reset * state, self._candidate))
        output = update * state + (1 - update) * candidate
        return output, output


def _summed(inputs: Any, state: Any, weights: tuple[Any, ...]) -> Any:
    kernel, own, bias = weights
    return bias_add(raw.MatMul(inputs, kernel) + state * own, bias)


class IndyLSTMCell(LayerRNNCell):
    """A `BasicLSTMCell` in which a unit sees only its own state.

    Args:
      num_units: size of c and h.
      forget_bias: what is added before the forget gate, so that it remembers at first.
      activation: function, or its name in `tf.nn`; tanh by default.
      reuse: whether to find variables that exist.
      kernel_initializer: of the inputs' kernel.
      bias_initializer: of the bias; zeros by default.
      name: of the cell, and of its variables' scope.
      dtype: of its variables; that of the first input by default.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: Any = 1.0,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._activation = activation_of(activation)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    @property
    def state_size(self) -> LSTMStateTuple:
        """Return the sizes of c and h."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        """Return the size of h."""
        return self._num_units

    def build(self, input_shape: Any) -> None:
        """Make both kernels and the bias."""
        size, count = self._inputs(input_shape), 4 * self._num_units
        biases = self._bias_initializer or zeros_initializer()
        self._weights = (
            self.add_weight("kernel_w", [size, count], initializer=self._kernel_initializer),
            self.add_weight("kernel_u", [1, count], initializer=_near_zero()),
            self.add_weight("bias", [count], initializer=biases),
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output, and the next state."""
        c, h = state
        one = constant(1)
        i, j, f, o = split(_summed(inputs, tile(h, [1, 4]), self._weights), 4, one)
        forget = raw.Sigmoid(raw.Add(f, constant(self._forget_bias, f.dtype)))
        fresh = raw.Mul(raw.Sigmoid(i), self._activation(j))
        new_c = raw.Add(raw.Mul(c, forget), fresh)
        new_h = raw.Mul(self._activation(new_c), raw.Sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h)


class SRUCell(LayerRNNCell):
    """A simple recurrent unit: its gates see the inputs only.

    Args:
      num_units: size of output and state, and of the inputs.
      activation: function, or its name in `tf.nn`; tanh by default.
      reuse: whether to find variables that exist.
      name: of the cell, and of its variables' scope.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(name=name, _reuse=reuse, **options)
        self._num_units, self._activation = num_units, activation_of(activation)

    @property
    def state_size(self) -> int:
        """Return the number of units."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """Return the number of units."""
        return self._num_units

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        units = self._num_units
        self._kernel = self.add_weight("kernel", [self._inputs(input_shape), 4 * units])
        biases = constant_initializer(0.0)
        self._bias = self.add_weight("bias", [2 * units], initializer=biases)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output, and the next state."""
        parts: Any = split(raw.MatMul(inputs, self._kernel), 4, 1)
        bar, forget, reset, highway = parts
        gates: Any = split(raw.Sigmoid(bias_add(concat([forget, reset], 1), self._bias)), 2, 1)
        forget, reset = gates
        c = forget * state + (1.0 - forget) * bar
        return reset * self._activation(c) + (1.0 - reset) * highway, c
