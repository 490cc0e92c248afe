"""Cells of long short-term memory: a state of two parts, c and h.

Source: TF 1.15 API documentation, tf.nn.rnn_cell; Hochreiter and Schmidhuber 1997, and Sak et al.
2014 (arXiv:1402.1128) for peepholes and projection.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfdist.graph.op_def import raw
from tfdist.models.rnn.rnn_cell import LayerRNNCell, activation_of
from tfdist.ops.array.concat import concat
from tfdist.ops.array.constants import constant
from tfdist.ops.array.slice import slice as slice_
from tfdist.ops.array.split import split
from tfdist.ops.math.clip import clip_by_value
from tfdist.ops.nn.functions import bias_add
from tfdist.ops.variables.initializers import zeros_initializer

__all__ = ["BasicLSTMCell", "LSTMCell", "LSTMStateTuple"]


class LSTMStateTuple(NamedTuple):
    """The state of an LSTM cell.

    Attributes:
      c: what it remembers.
      h: what it said last, its output.
    """

    c: Any
    h: Any

    @property
    def dtype(self) -> Any:
        """Return the type of both.

        Raises:
          TypeError: they are of different types.
        """
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


class _LSTM(LayerRNNCell):
    """What both cells have."""

    def __init__(self, num_units: int, state_is_tuple: bool, activation: Any, options: Any) -> None:
        options.pop("input_size", None)  # the first releases took and ignored it
        super().__init__(**options)
        self._num_units, self._state_is_tuple = num_units, state_is_tuple
        self._activation = activation_of(activation)

    @property
    def output_size(self) -> int:
        """Return the size of h."""
        return self._num_units

    @property
    def state_size(self) -> Any:
        """Return the sizes of c and h, added up if they are one tensor."""
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    def _joined(self, c: Any, h: Any) -> Any:
        return LSTMStateTuple(c, h) if self._state_is_tuple else concat([c, h], 1)


class BasicLSTMCell(_LSTM):
    """An LSTM cell without peepholes, projection and clipping.

    Args:
      num_units: size of c and h.
      forget_bias: what is added before the forget gate, so that it remembers at first.
      state_is_tuple: whether the state is an `LSTMStateTuple`, not c and h in one tensor.
      activation: function, or its name in `tf.nn`; tanh by default.
      reuse: whether to find variables that exist.
      name: of the cell, and of its variables' scope.
      dtype: of its variables; that of the first input by default.

    Example:
      >>> cell = nn.rnn_cell.BasicLSTMCell(3)
      >>> output, state = cell(zeros([2, 4]), cell.zero_state(2, "float32"))
      >>> output, output is state.h, cell.state_size
      (<tf.Tensor 'basic_lstm_cell/Mul_2:0' shape=(2, 3) dtype=float32>, True, \
LSTMStateTuple(c=3, h=3))
    """

    CONFIG = ("num_units", "forget_bias", "state_is_tuple", "activation", "reuse")

    def __init__(
        self,
        num_units: int,
        forget_bias: Any = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **options: Any,
    ) -> None:
        options |= {"_reuse": reuse, "name": name, "dtype": dtype}
        super().__init__(num_units, state_is_tuple, activation, options)
        self._forget_bias = forget_bias

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias, of all four gates: input, candidate, forget, output."""
        units = self._num_units
        self._kernel = self.add_weight("kernel", [self._inputs(input_shape) + units, 4 * units])
        self._bias = self.add_weight("bias", [4 * units], initializer=zeros_initializer())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output, and the next state."""
        one = constant(1, "int32")
        c, h = state if self._state_is_tuple else split(state, 2, one)
        gates = bias_add(raw.MatMul(concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = split(gates, 4, one)
        forget_bias = constant(self._forget_bias, f.dtype)
        kept = raw.Mul(c, raw.Sigmoid(raw.Add(f, forget_bias)))
        new_c = raw.Add(kept, raw.Mul(raw.Sigmoid(i), self._activation(j)))
        new_h = raw.Mul(self._activation(new_c), raw.Sigmoid(o))
        return new_h, self._joined(new_c, new_h)


class LSTMCell(_LSTM):
    """An LSTM cell that may have peepholes, a projection of its output, and bounds.

    Args:
      num_units: size of c.
      use_peepholes: whether gates see c.
      cell_clip: bound of c, to both sides; None for none.
      initializer: of kernels and peepholes.
      num_proj: size of the output if it is projected, None if not.
      proj_clip: bound of the projected output.
      num_unit_shards: not used any more; a partitioner of the variable scope does it.
      num_proj_shards: not used any more.
      forget_bias: what is added before the forget gate, so that it remembers at first.
      state_is_tuple: whether the state is an `LSTMStateTuple`, not c and h in one tensor.
      activation: function, or its name in `tf.nn`; tanh by default.
      reuse: whether to find variables that exist.
      name: of the cell, and of its variables' scope.
      dtype: of its variables; that of the first input by default.

    Example:
      >>> cell = nn.rnn_cell.LSTMCell(3, use_peepholes=True, num_proj=2)
      >>> output, state = cell(zeros([5, 4]), cell.zero_state(5, "float32"))
      >>> output.shape.as_list(), state.c.shape.as_list(), len(cell.variables)
      ([5, 2], [5, 3], 6)
    """

    CONFIG = (
        "num_units", "use_peepholes", "cell_clip", "initializer", "num_proj", "proj_clip",
        "num_unit_shards", "num_proj_shards", "forget_bias", "state_is_tuple", "activation",
        "reuse",
    )  # fmt: skip

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: Any = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: Any = None,
        num_unit_shards: Any = None,
        num_proj_shards: Any = None,
        forget_bias: Any = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **options: Any,
    ) -> None:
        options |= {"_reuse": reuse, "name": name, "dtype": dtype}
        super().__init__(num_units, state_is_tuple, activation, options)
        self._use_peepholes, self._initializer = use_peepholes, initializer
        self._cell_clip, self._proj_clip = cell_clip, proj_clip
        self._num_proj, self._forget_bias = num_proj, forget_bias
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards

    @property
    def output_size(self) -> int:
        """Return the size of the output, which is h."""
        return self._num_proj or self._num_units

    def build(self, input_shape: Any) -> None:
        """Make kernel, bias, and what peepholes and projection need."""
        units, size = self._num_units, self._inputs(input_shape) + self.output_size
        self._kernel = self._make("kernel", [size, 4 * units])
        self._bias = self.add_weight("bias", [4 * units], initializer=zeros_initializer())
        if self._use_peepholes:
            self._peepholes = {gate: self._make(f"w_{gate}_diag", [units]) for gate in "fio"}
        if self._num_proj is not None:
            self._projection = self._make("projection/kernel", [units, self._num_proj])
        self.built = True

    def _make(self, name: str, shape: list[int]) -> Any:
        return self.add_weight(name, shape, initializer=self._initializer)

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output, and the next state."""
        c, h = state if self._state_is_tuple else self._cut(state)
        gates = bias_add(raw.MatMul(concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = split(gates, 4, 1)
        kept = raw.Sigmoid(self._seeing("f", f + self._forget_bias, c)) * c
        new_c = kept + raw.Sigmoid(self._seeing("i", i, c)) * self._activation(j)
        new_c = _bounded(new_c, self._cell_clip)
        o = self._seeing("o", o, new_c)
        new_h = self._projected(raw.Sigmoid(o) * self._activation(new_c))
        return new_h, self._joined(new_c, new_h)

    def _seeing(self, name: str, gate: Any, c: Any) -> Any:
        return gate + self._peepholes[name] * c if self._use_peepholes else gate

    def _cut(self, state: Any) -> list[Any]:
        sizes = [self._num_units, self.output_size]
        return [slice_(state, [0, sum(sizes[:k])], [-1, size]) for k, size in enumerate(sizes)]

    def _projected(self, output: Any) -> Any:
        if self._num_proj is None:
            return output
        return _bounded(raw.MatMul(output, self._projection), self._proj_clip)


def _bounded(tensor: Any, bound: Any) -> Any:
    return tensor if bound is None else clip_by_value(tensor, -bound, bound)
