"""LSTM cells with layer normalisation.

Source: TF 1.15 API documentation, tf.contrib.rnn; Ba et al. 2016 (arXiv:1607.06450), Semeniuta et
al. 2016 (arXiv:1603.05118) for dropout, Greff et al. 2015 (arXiv:1503.04069) for coupled gates.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.models.contrib.layers.normalization import layer_norm
from tfdist.models.rnn.lstm_cells import LSTMStateTuple
from tfdist.models.rnn.rnn_cell import RNNCell
from tfdist.ops.array.concat import concat
from tfdist.ops.array.split import split
from tfdist.ops.math.clip import clip_by_value
from tfdist.ops.math.elementwise import tanh
from tfdist.ops.nn.dropout import dropout
from tfdist.ops.nn.functions import bias_add
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import constant_initializer, zeros_initializer
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["CoupledInputForgetGateLSTMCell", "LayerNormBasicLSTMCell"]


class _Normalized(RNNCell):
    """A cell that can normalise what its gates sum up."""

    def __init__(self, reuse: Any, gain: Any, shift: Any) -> None:
        super().__init__(_reuse=reuse)
        self._gain, self._shift = gain, shift

    def _normalized(self, tensor: Any, scope: str) -> Any:
        size, dtype = tensor.plain_shape[-1:], tensor.dtype
        with variable_scope(scope):
            get_variable("gamma", size, dtype, constant_initializer(self._gain))
            get_variable("beta", size, dtype, constant_initializer(self._shift))
        return layer_norm(tensor, reuse=True, scope=scope)


class LayerNormBasicLSTMCell(_Normalized):
    """An LSTM cell with layer normalisation, and dropout of what it adds to its memory.

    Args:
      num_units: size of c and h.
      forget_bias: what is added before the forget gate, so that it remembers at first.
      input_size: not used any more.
      activation: function; tanh by default.
      layer_norm: whether it normalises; if not, there is a bias.
      norm_gain: what the scales are at first.
      norm_shift: what the offsets are at first.
      dropout_keep_prob: chance of an element of the candidate to stay: a float, or a scalar tensor.
      dropout_prob_seed: for the choice.
      reuse: whether to find variables that exist.

    Example:
      >>> cell = contrib.rnn.LayerNormBasicLSTMCell(3)
      >>> _ = cell(zeros([2, 4]), cell.zero_state(2, "float32"))
      >>> [variable.name for variable in cell.variables][:2]
      ['layer_norm_basic_lstm_cell/kernel:0', 'layer_norm_basic_lstm_cell/input/gamma:0']
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: Any = 1.0,
        input_size: Any = None,
        activation: Any = tanh,
        layer_norm: bool = True,
        norm_gain: Any = 1.0,
        norm_shift: Any = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(reuse, norm_gain, norm_shift)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._activation, self._layer_norm = activation, layer_norm
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed

    @property
    def state_size(self) -> LSTMStateTuple:
        """Return the sizes of c and h."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        """Return the size of h."""
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output, and the next state."""
        c, h = state
        gates = list(split(self._summed(concat([inputs, h], 1)), 4, 1))
        if self._layer_norm:
            names = ("input", "transform", "forget", "output")
            gates = [self._normalized(*pair) for pair in zip(gates, names, strict=True)]
        i, j, f, o = gates
        j = self._activation(j)
        if isinstance(self._keep_prob, Tensor) or self._keep_prob < 1:
            j = dropout(j, self._keep_prob, seed=self._seed)
        new_c: Any = c * raw.Sigmoid(f + self._forget_bias) + raw.Sigmoid(i) * j
        if self._layer_norm:
            new_c = self._normalized(new_c, "state")
        new_h = self._activation(new_c) * raw.Sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)

    def _summed(self, tensor: Any) -> Any:
        kernel = get_variable("kernel", [tensor.plain_shape[-1], 4 * self._num_units], tensor.dtype)
        product = raw.MatMul(tensor, kernel)
        if self._layer_norm:
            return product
        return bias_add(product, get_variable("bias", [4 * self._num_units], tensor.dtype))


class CoupledInputForgetGateLSTMCell(_Normalized):
    """An LSTM cell that takes in as much as it forgets.

    Args:
      num_units: size of c.
      use_peepholes: whether gates see c.
      initializer: of kernels and peepholes.
      num_proj: size of the output if it is projected, None if not.
      proj_clip: bound of the projected output.
      num_unit_shards: not used any more.
      num_proj_shards: not used any more.
      forget_bias: what is added before the forget gate, so that it remembers at first.
      state_is_tuple: whether the state is an `LSTMStateTuple`, not c and h in one tensor.
      activation: function; tanh by default.
      reuse: whether to find variables that exist.
      layer_norm: whether it normalises; if not, there is a bias.
      norm_gain: what the scales are at first.
      norm_shift: what the offsets are at first.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: Any = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: Any = 1.0,
        state_is_tuple: bool = True,
        activation: Any = tanh,
        reuse: Any = None,
        layer_norm: bool = False,
        norm_gain: Any = 1.0,
        norm_shift: Any = 0.0,
    ) -> None:
        super().__init__(reuse, norm_gain, norm_shift)
        self._num_units, self._use_peepholes, self._initializer = (
            num_units, use_peepholes, initializer
        )  # fmt: skip
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple
        self._activation, self._layer_norm = activation, layer_norm

    @property
    def state_size(self) -> Any:
        """Return the sizes of c and h, added up if they are one tensor."""
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """Return the size of h."""
        return self._num_proj or self._num_units

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output, and the next state."""
        units = self._num_units
        c, h = state if self._state_is_tuple else (state[:, :units], state[:, units:])
        gates = list(self._gates(concat([inputs, h], 1)))
        if self._layer_norm:
            names = ("transform", "forget", "output")
            gates = [self._normalized(*pair) for pair in zip(gates, names, strict=True)]
        j, f, o = gates
        f = f + self._forget_bias
        if self._use_peepholes:
            see_f, see_o = (self._weights(f"W_{gate}_diag", [units], c.dtype) for gate in "FO")
            f = f + see_f * c
        f = raw.Sigmoid(f)
        new_c = f * c + (1.0 - f) * self._activation(j)
        if self._layer_norm:
            new_c = self._normalized(new_c, "state")
        if self._use_peepholes:
            o = o + see_o * new_c
        new_h = self._projected(raw.Sigmoid(o) * self._activation(new_c))
        after = LSTMStateTuple(new_c, new_h) if self._state_is_tuple else concat([new_c, new_h], 1)
        return new_h, after

    def _weights(self, name: str, shape: list[int], dtype: Any) -> Any:
        return get_variable(name, shape, dtype, self._initializer)

    def _gates(self, both: Any) -> Any:
        """Return what the gates sum up: candidate, forget, output."""
        count = 3 * self._num_units
        kernel = self._weights("W_0", [both.plain_shape[1], count], both.dtype)
        bias = get_variable("B", [count], both.dtype, zeros_initializer())
        product = raw.MatMul(both, kernel)
        return split(product if self._layer_norm else bias_add(product, bias), 3, 1)

    def _projected(self, output: Any) -> Any:
        if self._num_proj is None:
            return output
        kernel = self._weights("W_P_0", [self._num_units, self._num_proj], output.dtype)
        output = raw.MatMul(output, kernel)
        if self._proj_clip is None:
            return output
        return clip_by_value(output, -self._proj_clip, self._proj_clip)
