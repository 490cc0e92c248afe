"""Cells with gates of other kinds: UGRNN, intersection, NAS, groups of LSTMs.

Source: TF 1.15 API documentation, tf.contrib.rnn; Collins et al. 2016 (arXiv:1611.09913), Zoph and
Le 2016 (arXiv:1611.01578), Kuchaiev and Ginsburg 2017 (arXiv:1703.10722).
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.op_def import raw
from tfdist.models.rnn.lstm_cells import LSTMStateTuple
from tfdist.models.rnn.projections import linear
from tfdist.models.rnn.rnn_cell import LayerRNNCell, RNNCell, batch_of
from tfdist.ops.array.concat import concat
from tfdist.ops.array.slice import slice as slice_
from tfdist.ops.array.split import split
from tfdist.ops.math.elementwise import tanh
from tfdist.ops.nn.activations import relu
from tfdist.ops.nn.functions import bias_add
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import constant_initializer, zeros_initializer
from tfdist.ops.variables.variable_scope import get_variable_scope, variable_scope

__all__ = ["GLSTMCell", "IntersectionRNNCell", "NASCell", "UGRNNCell"]


class _Units(RNNCell):
    """A cell of `num_units` units, with a state that is as large as its output."""

    def __init__(self, num_units: int, initializer: Any, forget_bias: Any, reuse: Any) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer = num_units, initializer
        self._forget_bias, self._reuse = forget_bias, reuse

    @property
    def state_size(self) -> Any:
        """Return the number of units."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """Return the number of units."""
        return self._num_units

    def _scope_of_call(self) -> Any:
        return variable_scope(get_variable_scope(), initializer=self._initializer)


class UGRNNCell(_Units):
    """A cell with one gate: how much of the state stays.

    Args:
      num_units: size of output and state.
      initializer: of the kernel.
      forget_bias: what is added before the gate.
      activation: function of the candidate; tanh by default.
      reuse: whether to find variables that exist.

    Example:
      >>> cell = contrib.rnn.UGRNNCell(3)
      >>> cell(zeros([2, 4]), cell.zero_state(2, "float32"))[0].shape.as_list()
      [2, 3]
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: Any = 1.0,
        activation: Any = tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(num_units, initializer, forget_bias, reuse)
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return output and next state, which are the same."""
        with self._scope_of_call():
            parts: Any = split(linear([inputs, state], 2 * self._num_units, True), 2, 1)
            gate, candidate = parts
            candidate = self._activation(candidate)
            gate = raw.Sigmoid(gate + self._forget_bias)
            output = gate * state + (1.0 - gate) * candidate
        return output, output


class IntersectionRNNCell(_Units):
    """A cell with a gate over time, and one over depth, which lets inputs through.

    Args:
      num_units: size of output and state, and of the inputs behind their projection.
      num_in_proj: size to which inputs are projected first; None for no projection.
      initializer: of the kernels.
      forget_bias: what is added before both gates.
      y_activation: function of the output's candidate; relu by default.
      reuse: whether to find variables that exist.

    Raises:
      ValueError: when it is called and inputs are of another size than the units.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Any = None,
        forget_bias: Any = 1.0,
        y_activation: Any = relu,
        reuse: Any = None,
    ) -> None:
        super().__init__(num_units, initializer, forget_bias, reuse)
        self._num_in_proj, self._y_activation = num_in_proj, y_activation

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output, and the next state."""
        units = self._num_units
        with self._scope_of_call():
            if inputs.plain_shape[-1] != units:
                inputs = self._projected(inputs)
            summed: Any = linear([inputs, state], 4 * units, True)
            gate, candidate, depth, output = (
                summed[:, k * units : (k + 1) * units] for k in range(4)
            )
            candidate, output = raw.Tanh(candidate), self._y_activation(output)
            gate = raw.Sigmoid(gate + self._forget_bias)
            depth = raw.Sigmoid(depth + self._forget_bias)
            after = gate * state + (1.0 - gate) * candidate
            return depth * inputs + (1.0 - depth) * output, after

    def _projected(self, inputs: Any) -> Any:
        if not self._num_in_proj:
            raise ValueError(
                "Must have input size == output size for Intersection RNN. To fix, num_in_proj "
                "should be set to num_units at cell init."
            )
        with variable_scope("in_projection"):
            return linear(inputs, self._num_units, True)


# The functions of a NASCell's gates; the fourth takes a product, the others a sum.
_NAS_GATES = ("Sigmoid", "Relu", "Sigmoid", "Relu", "Tanh", "Sigmoid", "Tanh", "Sigmoid")


class NASCell(LayerRNNCell):
    """A cell that was found by a search for architectures.

    Args:
      num_units: size of c.
      num_proj: size of the output if it is projected.
      use_bias: whether there are biases.
      reuse: whether to find variables that exist.

    Example:
      >>> cell = contrib.rnn.NASCell(3)
      >>> _ = cell(zeros([2, 4]), cell.zero_state(2, "float32"))
      >>> [variable.name for variable in cell.variables]
      ['nas_cell/recurrent_kernel:0', 'nas_cell/kernel:0']
    """

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(_reuse=reuse, **options)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    @property
    def state_size(self) -> LSTMStateTuple:
        """Return the sizes of c and h."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        """Return the size of h."""
        return self._num_proj or self._num_units

    def build(self, input_shape: Any) -> None:
        """Make kernels, and what bias and projection need."""
        units = self._num_units
        self._recurrent = self.add_weight("recurrent_kernel", [self.output_size, 8 * units])
        self._kernel = self.add_weight("kernel", [self._inputs(input_shape), 8 * units])
        if self._use_bias:
            self._bias = self.add_weight("bias", [8 * units], initializer=zeros_initializer())
        if self._num_proj is not None:
            self._projection = self.add_weight("projection_weights", [units, self._num_proj])
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output, and the next state."""
        c, h = state
        before = raw.MatMul(h, self._recurrent)
        given = raw.MatMul(inputs, self._kernel)
        if self._use_bias:
            before = bias_add(before, self._bias)
        olds, news = split(before, 8, 1), split(given, 8, 1)
        pairs: list[Any] = list(zip(news, olds, strict=True))
        gates: list[Any] = [
            getattr(raw, function)(new * old if number == 3 else new + old)
            for number, (function, (new, old)) in enumerate(zip(_NAS_GATES, pairs, strict=True))
        ]
        one: Any = raw.Tanh(gates[0] * gates[1])
        two: Any = raw.Tanh(gates[2] + gates[3])
        three: Any = raw.Tanh(gates[4] * gates[5])
        four: Any = raw.Sigmoid(gates[6] + gates[7])
        heard: Any = raw.Tanh(one + c)
        new_c = heard * two
        new_h = raw.Tanh(new_c * raw.Tanh(three + four))
        if self._num_proj is not None:
            new_h = raw.MatMul(new_h, self._projection)
        return new_h, LSTMStateTuple(new_c, new_h)


class GLSTMCell(_Units):
    """Several LSTMs side by side, each with its part of inputs and outputs.

    Args:
      num_units: size of c, of all together.
      initializer: of the kernels.
      num_proj: size of the output if it is projected.
      number_of_groups: how many LSTMs.
      forget_bias: what is added before the forget gates.
      activation: function; tanh by default.
      reuse: whether to find variables that exist.

    Raises:
      ValueError: sizes cannot be divided by the number of groups.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: Any = 1.0,
        activation: Any = tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(num_units, initializer, forget_bias, reuse)
        self._num_proj, self._groups, self._activation = num_proj, number_of_groups, activation
        for what, size in (("num_units", num_units), ("num_proj", num_proj or 0)):
            if size % number_of_groups:
                raise ValueError(f"{what} must be divisible by number_of_groups")
        self._part = (num_proj or num_units) // number_of_groups

    @property
    def state_size(self) -> LSTMStateTuple:
        """Return the sizes of c and h."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        """Return the size of h."""
        return self._num_proj or self._num_units

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output, and the next state."""
        c, h = state
        size = inputs.plain_shape[1]
        if size is None or size % self._groups:
            raise ValueError(
                f"input size ({size}) must be divisible by number_of_groups ({self._groups})"
            )
        with self._scope_of_call():
            groups = [self._group(number, inputs, h, c.dtype) for number in range(self._groups)]
            i, j, f, o = self._gates(groups, c.dtype)
        new_c = raw.Sigmoid(f + self._forget_bias) * c + raw.Sigmoid(i) * self._activation(j)
        new_h = raw.Sigmoid(o) * self._activation(new_c)
        if self._num_proj is not None:
            with variable_scope("projection"):
                new_h = linear(new_h, self._num_proj, False)
        return new_h, LSTMStateTuple(new_c, new_h)

    def _group(self, number: int, inputs: Any, h: Any, dtype: Any) -> Any:
        """Return the sums of a group's gates, one after the other."""
        with variable_scope(f"group{number}"):
            parts = [
                self._cut(inputs, number, inputs.plain_shape[1] // self._groups),
                self._cut(h, number, self._part),
            ]
            count = 4 * self._num_units // self._groups
            both = concat(parts, 1)
            kernel = get_variable("kernel", [both.plain_shape[1], count], dtype)  # type: ignore[index]
            return split(raw.MatMul(both, kernel), 4, 1)

    def _cut(self, tensor: Any, number: int, size: int) -> Any:
        name = f"GLSTM_group{number}_input_generation"
        return slice_(tensor, [0, number * size], [batch_of(tensor), size], name)

    def _gates(self, groups: Any, dtype: Any) -> list[Any]:
        zeros = constant_initializer(0.0, dtype=dtype)
        biases = [get_variable(f"bias_{gate}", [self._num_units], dtype, zeros) for gate in "ijfo"]
        return [
            bias_add(concat([group[k] for group in groups], 1), bias)
            for k, bias in enumerate(biases)
        ]
