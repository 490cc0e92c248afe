"""Cells whose step is one node: LSTMBlockCell and GRUBlockCell.

Source: TF 1.15 API documentation, tf.contrib.rnn and tf.contrib.cudnn_rnn.
"""

from __future__ import annotations

from typing import Any

from tfdist.models.rnn.lstm_cells import LSTMStateTuple
from tfdist.models.rnn.rnn_cell import LayerRNNCell
from tfdist.ops.array.fill import zeros
from tfdist.ops.nn.rnn_blocks import GRU_CELL, LSTM_CELL
from tfdist.ops.variables.initializers import constant_initializer

__all__ = ["GRUBlockCell", "GRUBlockCellV2", "LSTMBlockCell"]


class LSTMBlockCell(LayerRNNCell):
    """An LSTM cell whose step is one node, quicker than many.

    Args:
      num_units: size of c and h.
      forget_bias: what is added before the forget gate, so that it remembers at first.
      cell_clip: bound of c, to both sides; None or -1 for none. Gradients pass by it.
      use_peephole: whether gates see c.
      dtype: of its variables; that of the first input by default.
      reuse: whether to find variables that exist.
      name: of the cell, and of its variables' scope.

    Example:
      >>> cell = contrib.rnn.LSTMBlockCell(3)
      >>> _ = cell(zeros([2, 4]), cell.zero_state(2, "float32"))
      >>> [variable.name for variable in cell.variables]
      ['lstm_cell/kernel:0', 'lstm_cell/bias:0']
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: Any = 1.0,
        cell_clip: Any = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: Any = None,
        name: str | None = "lstm_cell",
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse)
        self._num_units, self._use_peephole = num_units, use_peephole
        self._options = block_options(forget_bias, cell_clip, use_peephole)

    @property
    def state_size(self) -> LSTMStateTuple:
        """Return the sizes of c and h."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        """Return the size of h."""
        return self._num_units

    def build(self, input_shape: Any) -> None:
        """Make kernel, bias, and what peepholes need."""
        block_weights(self, self._inputs(input_shape), self._num_units, self._use_peephole)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output, and the next state."""
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        c, h = state
        weights = block_inputs(self, inputs.dtype.base_dtype)
        made = LSTM_CELL(inputs, c, h, *weights, **self._options)
        return made[6], LSTMStateTuple(made[1], made[6])


def block_options(forget_bias: Any, cell_clip: Any, use_peephole: bool) -> dict[str, Any]:
    """Return the attributes of a node."""
    clip = -1.0 if cell_clip is None else float(cell_clip)
    return {
        "forget_bias": float(forget_bias), "cell_clip": clip, "use_peephole": use_peephole,
    }  # fmt: skip


def block_weights(layer: Any, inputs: int, units: int, use_peephole: bool) -> None:
    """Make the variables of a layer: `_kernel`, `_bias`, and `_peepholes` if it has them."""
    layer._kernel = layer.add_weight("kernel", [inputs + units, 4 * units])
    layer._bias = layer.add_weight("bias", [4 * units], initializer=constant_initializer(0.0))
    layer._peepholes = None
    if use_peephole:
        names = [f"w_{gate}_diag" for gate in "ifo"]
        layer._peepholes = [layer.add_weight(name, [units]) for name in names]


def block_inputs(layer: Any, dtype: Any) -> list[Any]:
    """Return what a node takes of the variables that `block_weights` has made."""
    peepholes = layer._peepholes
    if peepholes is None:
        peepholes = [zeros([layer._num_units], dtype)] * 3
    return [layer._kernel, *peepholes, layer._bias]


class GRUBlockCell(LayerRNNCell):
    """A gated recurrent unit whose step is one node.

    Args:
      num_units: size of output and state.
      cell_size: its name in earlier versions.
      reuse: whether to find variables that exist.
      name: of the cell, and of its variables' scope.

    Raises:
      ValueError: none of both sizes is given, or both.

    Example:
      >>> cell = contrib.rnn.GRUBlockCell(3)
      >>> _ = cell(zeros([2, 4]), cell.zero_state(2, "float32"))
      >>> [variable.name for variable in cell.variables]
      ['gru_cell/w_ru:0', 'gru_cell/b_ru:0', 'gru_cell/w_c:0', 'gru_cell/b_c:0']
    """

    _NAMES = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: Any = None,
        name: str | None = "gru_cell",
    ) -> None:
        super().__init__(name=name, _reuse=reuse)
        if (num_units is None) == (cell_size is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size: Any = cell_size if num_units is None else num_units

    @property
    def state_size(self) -> int:
        """Return the number of units."""
        return self._cell_size  # type: ignore[no-any-return]

    @property
    def output_size(self) -> int:
        """Return the number of units."""
        return self._cell_size  # type: ignore[no-any-return]

    def build(self, input_shape: Any) -> None:
        """Make kernels and biases of the gates and of the candidate."""
        units = self._cell_size
        size = self._inputs(input_shape) + units
        first, second, third, fourth = self._NAMES
        self._gates = (
            self.add_weight(first, [size, 2 * units]),
            self.add_weight(second, [2 * units], initializer=constant_initializer(1.0)),
        )
        self._candidate = (
            self.add_weight(third, [size, units]),
            self.add_weight(fourth, [units], initializer=constant_initializer(0.0)),
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return output and next state, which are the same."""
        (kernel, bias), (second, other) = self._gates, self._candidate
        made = GRU_CELL(inputs, state, kernel, second, bias, other)
        return made[3], made[3]


class GRUBlockCellV2(GRUBlockCell):
    """A `GRUBlockCell` with the variables of a `GRUCell`.

    Args:
      num_units: size of output and state.
      cell_size: its name in earlier versions.
      reuse: whether to find variables that exist.
      name: of the cell, and of its variables' scope.
    """

    _NAMES = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
