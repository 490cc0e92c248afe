"""Cells: what a recurrent layer does in one step.

Source: TF 1.15 API documentation, tf.keras.layers.LSTMCell and its relatives.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl.engine.argument_names import given
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.layers.cell_dropout import DropoutMasks
from tfdist.keras_impl.settings import floatx
from tfdist.models.layers.base import shape_of_input
from tfdist.ops.array.concat import concat, unstack
from tfdist.ops.array.fill import ones, zeros
from tfdist.ops.array.shape import shape
from tfdist.ops.array.split import split
from tfdist.ops.math.matmul import matmul
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.initializers import Initializer

__all__ = ["AbstractRNNCell", "GRUCell", "LSTMCell", "SimpleRNNCell"]

WEIGHTS = (
    "kernel_initializer", "recurrent_initializer", "bias_initializer", "kernel_regularizer",
    "recurrent_regularizer", "bias_regularizer", "kernel_constraint", "recurrent_constraint",
    "bias_constraint", "dropout", "recurrent_dropout",
)  # fmt: skip


class AbstractRNNCell(Layer):
    """What a program's own cells are made from: `call(inputs, states)` gives output and states.

    Attributes:
      state_size: size of the state, or a list of them.
      output_size: size of the output.
    """

    @property
    def state_size(self) -> Any:
        """Return the size of the state, or a list of them."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """Return the size of the output."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """Return states of zeros for `inputs`, or for a number of examples of a type."""
        return initial_states(self, inputs, batch_size, dtype)


def initial_states(cell: Any, inputs: Any, batch_size: Any = None, dtype: Any = None) -> Any:
    """Return zeros in the structure of a cell's state_size; a list where there are several."""
    if inputs is not None:
        sizes: Any = shape(inputs)
        batch_size, dtype = sizes[0], inputs.dtype
    size = cell.state_size
    if isinstance(size, list | tuple) and not isinstance(size, TensorShape):
        return [_zeros(batch_size, each, dtype) for each in size]
    return _zeros(batch_size, size, dtype)


def _zeros(batch: Any, size: Any, dtype: Any) -> Any:
    sizes = list(TensorShape(size).as_list() if not isinstance(size, int) else [size])
    made = zeros([batch, *sizes], dtype or floatx())
    made.set_shape([None, *sizes])
    return made


class _Cell(DropoutMasks, AbstractRNNCell):
    """What the three cells share: their arguments and weights."""

    state_size: Any = None
    output_size: Any = None
    gates = 1

    # arguments of `__init__`
    units: int
    activation: Any
    recurrent_activation: Any
    use_bias: bool
    unit_forget_bias: bool
    bias_initializer: Any
    dropout: float
    recurrent_dropout: float
    implementation: int
    reset_after: bool

    def _take(self, found: dict[str, Any]) -> None:
        """Keep the arguments of `__init__` under their names."""
        for key in self.CONFIG:
            setattr(self, key, found[key])
        self.dropout = min(1.0, max(0.0, self.dropout))
        self.recurrent_dropout = min(1.0, max(0.0, self.recurrent_dropout))
        self.kernel: Any = None
        self.recurrent_kernel: Any = None
        self.bias: Any = None
        self.state_size = self.output_size = self.units

    def build(self, input_shape: Any) -> None:
        """Make kernels and bias."""
        inputs, width = shape_of_input(input_shape).as_list()[-1], self.units * self.gates
        self.kernel = self._made("kernel", [inputs, width])
        self.recurrent_kernel = self._made("recurrent_kernel", [self.units, width], "recurrent")
        if self.use_bias:
            self.bias = self._make_bias(width)
        self.built = True

    def _make_bias(self, width: int) -> Any:
        return self._made("bias", [width])

    def _made(self, name: str, sizes: list[Any], what: str | None = None, init: Any = None) -> Any:
        what = what or name
        return self.add_weight(
            name, sizes, None, init or getattr(self, f"{what}_initializer"),
            getattr(self, f"{what}_regularizer"), constraint=getattr(self, f"{what}_constraint"),
        )  # fmt: skip


class SimpleRNNCell(_Cell):
    """A cell whose output is activation(inputs @ kernel + output before @ recurrent kernel + bias).

    Args:
      units: size of the output, and of the state.
      activation: function of the sum, or its name.
      use_bias: whether a bias is added.
      kernel_initializer: of the kernel [inputs, units].
      recurrent_initializer: of the recurrent kernel [units, units].
      bias_initializer: of the bias [units].
      kernel_regularizer: function from the kernel to a loss; the recurrent kernel and the bias have
        theirs.
      kernel_constraint: function from the updated kernel to the one to keep; the recurrent kernel
        and the bias have theirs.
      dropout: the part of inputs that is dropped while training.
      recurrent_dropout: the part of the output before that is dropped while training.
      **options: those of `Layer`.

    Example:
      >>> output, states = keras.layers.SimpleRNNCell(3)(zeros([2, 4]), [zeros([2, 3])])
      >>> output.shape.as_list(), len(states)
      ([2, 3], 1)
    """

    CONFIG: tuple[str, ...] = ("units", "activation", "use_bias", *WEIGHTS)

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
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
        super().__init__(**options)
        self._take(given(locals()))

    def call(self, inputs: Any, states: Any, training: Any = None) -> tuple[Any, list[Any]]:
        """Return the output for `inputs` [batch, features], and the next states."""
        before = states[0]
        of_inputs = self._masks("inputs", inputs, self.dropout, training, 1)
        of_state = self._masks("state", before, self.recurrent_dropout, training, 1)
        total = self._product(inputs, self.kernel, of_inputs)
        if self.bias is not None:
            total = nn.bias_add(total, self.bias)
        total = total + self._product(before, self.recurrent_kernel, of_state)
        output = self.activation(total)
        return output, [output]


class _ForgetBias(Initializer):
    """Gives a bias whose second quarter, that of the forget gate, is 1."""

    def __init__(self, initializer: Any) -> None:
        super().__init__()
        self._initializer = initializer

    def _value(self, shape: list[Any], dtype: Any) -> Any:
        units = shape[0] // 4
        first, rest = self._initializer([units], dtype=dtype), [2 * units]
        return concat([first, ones([units], dtype), self._initializer(rest, dtype=dtype)], 0)


class LSTMCell(_Cell):
    """A cell with a memory, and gates that say what goes in, stays and comes out.

    The arguments are those of `SimpleRNNCell`, and:

    Args:
      recurrent_activation: function of the gates' sums, or its name.
      unit_forget_bias: whether the bias of the gate that says what stays begins at 1.
      implementation: 1 drops inputs out for each gate, 2 for all gates together.

    Example:
      >>> output, states = keras.layers.LSTMCell(3)(zeros([2, 4]), [zeros([2, 3])] * 2)
      >>> output.shape.as_list(), len(states)
      ([2, 3], 2)
    """

    CONFIG: tuple[str, ...] = (
        "units", "activation", "recurrent_activation", "use_bias", "unit_forget_bias", *WEIGHTS,
        "implementation",
    )  # fmt: skip
    gates = 4

    def __init__(
        self,
        units: int,
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
        implementation: int = 1,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._take(given(locals()))
        self.state_size = [self.units, self.units]

    def _make_bias(self, width: int) -> Any:
        initializer = self.bias_initializer
        if self.unit_forget_bias:
            initializer = _ForgetBias(initializer)
        return self._made("bias", [width], None, initializer)

    def call(self, inputs: Any, states: Any, training: Any = None) -> tuple[Any, list[Any]]:
        """Return the output for `inputs` [batch, features], and the next output and memory."""
        before, memory = states[0], states[1]
        total = self._sums(inputs, before, training)
        if self.bias is not None:
            total = nn.bias_add(total, self.bias)
        goes_in, stays, new, comes_out = split(total, 4, 1)
        act, gate = self.activation, self.recurrent_activation
        memory = gate(stays) * memory + gate(goes_in) * act(new)
        output = gate(comes_out) * act(memory)
        return output, [output, memory]

    def _sums(self, inputs: Any, before: Any, training: Any) -> Any:
        count = 4 if self.implementation == 1 else 1
        of_inputs = self._masks("inputs", inputs, self.dropout, training, count)
        of_state = self._masks("state", before, self.recurrent_dropout, training, count)
        return self._product(inputs, self.kernel, of_inputs) + self._product(
            before, self.recurrent_kernel, of_state
        )


class GRUCell(_Cell):
    """A cell whose gates say what is updated and what is reset.

    The arguments are those of `SimpleRNNCell`, and:

    Args:
      recurrent_activation: function of the gates' sums, or its name.
      implementation: 1 drops inputs out for each gate, 2 for all gates together.
      reset_after: whether the reset comes after the product with the recurrent kernel.

    Example:
      >>> output, states = keras.layers.GRUCell(3)(zeros([2, 4]), [zeros([2, 3])])
      >>> output.shape.as_list(), len(states)
      ([2, 3], 1)
    """

    CONFIG = (
        "units", "activation", "recurrent_activation", "use_bias", *WEIGHTS, "implementation",
        "reset_after",
    )  # fmt: skip
    gates = 3

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        reset_after: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._take(given(locals()))

    def _make_bias(self, width: int) -> Any:
        return self._made("bias", [2, width] if self.reset_after else [width])

    def call(self, inputs: Any, states: Any, training: Any = None) -> tuple[Any, list[Any]]:
        """Return the output for `inputs` [batch, features], and the next states."""
        before = states[0]
        count = 3 if self.implementation == 1 else 1
        of_inputs = self._masks("inputs", inputs, self.dropout, training, count)
        of_state = self._masks("state", before, self.recurrent_dropout, training, count)
        of_kernel, of_recurrent = self._biases()
        total = self._product(inputs, self.kernel, of_inputs)
        if of_kernel is not None:
            total = nn.bias_add(total, of_kernel)
        if self.reset_after:
            update, new = self._reset_after(total, before, of_state, of_recurrent)
        else:
            update, new = self._reset_before(total, before, of_state)
        output = update * before + (1 - update) * new
        return output, [output]

    def _biases(self) -> tuple[Any, Any]:
        if self.bias is None or not self.reset_after:
            return self.bias, None
        of_kernel, of_recurrent = unstack(self.bias)
        return of_kernel, of_recurrent

    def _reset_after(self, total: Any, before: Any, masks: Any, bias: Any) -> tuple[Any, Any]:
        recurrent = self._product(before, self.recurrent_kernel, masks)
        if bias is not None:
            recurrent = nn.bias_add(recurrent, bias)
        gate = self.recurrent_activation
        parts: list[Any] = [*split(total, 3, 1), *split(recurrent, 3, 1)]
        of_update, of_reset, of_new, update, reset, new = parts
        reset = gate(of_reset + reset)
        return gate(of_update + update), self.activation(of_new + reset * new)

    def _reset_before(self, total: Any, before: Any, masks: Any) -> tuple[Any, Any]:
        gate, units = self.recurrent_activation, self.units
        gates = self._product(
            before, self.recurrent_kernel[:, : 2 * units], masks[:2] if len(masks) > 1 else masks
        )
        parts: list[Any] = [*split(total, 3, 1), *split(gates, 2, 1)]
        of_update, of_reset, of_new, update, reset = parts
        kept = gate(of_reset + reset) * (before * masks[-1] if masks else before)
        new = of_new + matmul(kept, self.recurrent_kernel[:, 2 * units :])
        return gate(of_update + update), self.activation(new)
