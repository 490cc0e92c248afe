"""Cells around others: with attention to their own outputs, and with a way past them.

Source: TF 1.15 API documentation, tf.contrib.rnn; Cheng et al. 2016 (arXiv:1601.06733), Srivastava
et al. 2015 (arXiv:1505.00387).
"""

from __future__ import annotations

from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.models.rnn.projections import linear
from tfdist.models.rnn.rnn_cell import RNNCell, check_cell
from tfdist.ops.array.concat import concat
from tfdist.ops.array.reshape import expand_dims, reshape
from tfdist.ops.array.slice import slice as slice_
from tfdist.ops.convolution.functions import conv2d
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn.functions import xw_plus_b
from tfdist.ops.nn.softmax import softmax
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import constant_initializer
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["AttentionCellWrapper", "CompiledWrapper", "HighwayWrapper"]


class AttentionCellWrapper(RNNCell):
    """A cell that attends to its own last outputs.

    Args:
      cell: the cell inside.
      attn_length: how many outputs it attends to.
      attn_size: size of the outputs; that of the cell's by default.
      attn_vec_size: size in which states and outputs are compared; `attn_size` by default.
      input_size: what inputs are projected to; their own size by default.
      state_is_tuple: whether the state is a tuple of the cell's state, the attention, and the last
        outputs; if not, they are one tensor.
      reuse: whether to find variables that exist.

    Raises:
      TypeError: `cell` is no cell.
      ValueError: the length is not positive, or states that are tuples cannot be one tensor.

    Example:
      >>> cell = contrib.rnn.AttentionCellWrapper(nn.rnn_cell.GRUCell(3), 5)
      >>> cell.state_size, cell.output_size
      ((3, 3, 15), 3)
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        check_cell("cell", cell)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. State size "
                f"is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        self._cell, self._length, self._state_is_tuple = cell, attn_length, state_is_tuple
        self._size = cell.output_size if attn_size is None else attn_size
        self._compared = self._size if attn_vec_size is None else attn_vec_size
        self._input_size = input_size

    @property
    def state_size(self) -> Any:
        """Return the sizes of the cell's state, the attention, and the last outputs."""
        sizes = (self._cell.state_size, self._size, self._size * self._length)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """Return the size of the outputs."""
        return self._size

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output, and the next state."""
        state, attended, outputs = state if self._state_is_tuple else self._cut(state)
        outputs = reshape(outputs, [-1, self._length, self._size])
        size = inputs.plain_shape[1] if self._input_size is None else self._input_size
        output, state = self._cell(linear([inputs, attended], size, True), state)
        query = concat(nest.flatten(state), 1) if self._state_is_tuple else state
        attended, outputs = self._attended(query, outputs)
        with variable_scope("attn_output_projection"):
            output = linear([output, attended], self._size, True)
        outputs = concat([outputs, expand_dims(output, 1)], 1)
        outputs = reshape(outputs, [-1, self._length * self._size])
        after = (state, attended, outputs)
        return output, after if self._state_is_tuple else concat(list(after), 1)

    def _cut(self, state: Any) -> list[Any]:
        sizes = [self._cell.state_size, self._size, self._size * self._length]
        return [slice_(state, [0, sum(sizes[:k])], [-1, size]) for k, size in enumerate(sizes)]

    def _attended(self, query: Any, outputs: Any) -> tuple[Any, Any]:
        """Return what is attended to, and the outputs without the oldest."""
        length, size, compared = self._length, self._size, self._compared
        with variable_scope("attention"):
            kernel = get_variable("attn_w", [1, 1, size, compared])
            v = get_variable("attn_v", [compared])
            hidden = reshape(outputs, [-1, length, 1, size])
            features: Any = conv2d(hidden, kernel, [1, 1, 1, 1], "SAME")
            wanted = reshape(linear(query, compared, True), [-1, 1, 1, compared])
            shares: Any = softmax(reduce_sum(v * raw.Tanh(features + wanted), [2, 3]))
            shares = reshape(shares, [-1, length, 1, 1])
            attended = reshape(reduce_sum(shares * hidden, [1, 2]), [-1, size])
            return attended, slice_(outputs, [0, 1, 0], [-1, -1, -1])


class HighwayWrapper(RNNCell):
    """A cell whose inputs go past it, as much as a gate lets through.

    Args:
      cell: the cell inside; outputs and inputs must be of one size.
      couple_carry_transform_gates: whether outputs get what inputs leave; if not, they have a gate
        of their own.
      carry_bias_init: the gate's bias at first.

    Example:
      >>> cell = contrib.rnn.HighwayWrapper(nn.rnn_cell.GRUCell(4))
      >>> _ = cell(zeros([2, 4]), cell.zero_state(2, "float32"))
      >>> [variable.name for variable in trainable_variables()][-2:]
      ['carry_w:0', 'carry_b:0']
    """

    def __init__(
        self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: Any = 1.0
    ) -> None:
        super().__init__()
        self._cell, self._couples = cell, couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    @property
    def state_size(self) -> Any:
        """Return the size of the state of the cell inside."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """Return the size of the output of the cell inside."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return a state of zeros of the cell inside."""
        return _zero_state(self, batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """Return the output for `inputs` [batch, size], and the state after `state`."""
        outputs, state = self._cell(inputs, state, scope=scope)
        nest.check_same(inputs, outputs)
        pairs = zip(nest.flatten(inputs), nest.flatten(outputs), strict=True)
        mixed = []
        for given, output in pairs:
            given.get_shape().assert_is_compatible_with(output.get_shape())
            carried = self._gate("carry", given, self._carry_bias_init)
            if self._couples:
                transformed = 1 - carried
            else:
                transformed = self._gate("transform", given, -self._carry_bias_init)
            mixed.append(given * carried + output * transformed)
        return nest.pack_as(outputs, mixed), state

    def _gate(self, name: str, inputs: Any, bias: Any) -> Any:
        size = inputs.plain_shape[-1]
        kernel = get_variable(f"{name}_w", [size, size])
        biases = get_variable(f"{name}_b", [size], initializer=constant_initializer(bias))
        return raw.Sigmoid(xw_plus_b(inputs, kernel, biases))


class CompiledWrapper(RNNCell):
    """A cell that TensorFlow would compile; here it runs as the cell inside.

    Args:
      cell: the cell inside.
      compile_stateful: not used.
    """

    def __init__(self, cell: Any, compile_stateful: bool = False) -> None:
        super().__init__()
        self._cell = cell

    @property
    def state_size(self) -> Any:
        """Return the size of the state of the cell inside."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """Return the size of the output of the cell inside."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return a state of zeros of the cell inside."""
        return _zero_state(self, batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """Return the output of the cell inside, and its next state."""
        return self._cell(inputs, state, scope=scope)


def _zero_state(wrapper: Any, batch_size: Any, dtype: Any) -> Any:
    with scopes.name_scope(f"{type(wrapper).__name__}ZeroState", values=[batch_size]):
        return wrapper._cell.zero_state(batch_size, dtype)
