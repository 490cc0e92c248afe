"""Recurrent networks that are one node for all steps, and others that can be called as they are.

Source: TF 1.15 API documentation, tf.contrib.rnn.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.models.layers.base import Layer
from tfdist.models.layers.input_spec import InputSpec
from tfdist.models.rnn.block_cells import block_inputs, block_options, block_weights
from tfdist.models.rnn.dynamic_rnn import dynamic_rnn
from tfdist.models.rnn.lstm_cells import LSTMStateTuple
from tfdist.models.rnn.rnn_cell import batch_of
from tfdist.models.rnn.static_rnn import static_rnn
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat, stack, unstack
from tfdist.ops.array.fill import zeros
from tfdist.ops.array.gather_nd import gather_nd
from tfdist.ops.array.range import range as range_
from tfdist.ops.array.range import sequence_mask
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.array.tile_roll import reverse, reverse_sequence, tile
from tfdist.ops.array.transpose import transpose
from tfdist.ops.math.reductions import reduce_max
from tfdist.ops.nn.rnn_blocks import BLOCK_LSTM

__all__ = [
    "FusedRNNCell", "FusedRNNCellAdaptor", "LSTMBlockFusedCell", "LSTMBlockWrapper",
    "TimeReversedFusedRNN",
]  # fmt: skip


class FusedRNNCell:
    """What takes all steps of sequences at once.

    A subclass can be called with inputs [time, batch, size], and returns outputs [time, batch,
    output size] and the last state.
    """

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Return the outputs for `inputs` [time, batch, size], and the last state."""
        raise NotImplementedError(f"{type(self).__name__} cannot be called")


class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell, called as one that takes all steps at once.

    Args:
      cell: an RNNCell.
      use_dynamic_rnn: whether it runs in a loop; if not, it is unrolled.

    Example:
      >>> network = contrib.rnn.FusedRNNCellAdaptor(nn.rnn_cell.GRUCell(3))
      >>> network(zeros([5, 2, 4]), dtype="float32")[0].shape.as_list()
      [5, 2, 3]
    """

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell, self._use_dynamic_rnn = cell, use_dynamic_rnn

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Return the outputs for `inputs` [time, batch, size], and the last state."""
        is_list = isinstance(inputs, list)
        if self._use_dynamic_rnn:
            inputs = stack(inputs) if is_list else inputs
            outputs, state = dynamic_rnn(
                self._cell, inputs, sequence_length, initial_state, dtype, time_major=True,
                scope=scope,
            )  # fmt: skip
            return unstack(outputs) if is_list else outputs, state
        given = inputs if is_list else unstack(inputs)
        made, state = static_rnn(self._cell, given, initial_state, dtype, sequence_length, scope)
        return made if is_list else stack(made), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A network that reads sequences from their ends.

    Args:
      cell: a `FusedRNNCell`.

    Example:
      >>> network = contrib.rnn.TimeReversedFusedRNN(contrib.rnn.LSTMBlockFusedCell(3))
      >>> network(zeros([5, 2, 4]), dtype="float32")[0].shape.as_list()
      [5, 2, 3]
    """

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Return the outputs for `inputs` [time, batch, size], and the last state."""
        turned = _turned(inputs, sequence_length)
        outputs, state = self._cell(
            turned, initial_state=initial_state, dtype=dtype, sequence_length=sequence_length,
            scope=scope,
        )  # fmt: skip
        return _turned(outputs, sequence_length), state


def _turned(inputs: Any, sequence_length: Any) -> Any:
    if isinstance(inputs, list):
        return unstack(_turned(stack(inputs), sequence_length))
    if sequence_length is None:
        return reverse(inputs, [0])
    return reverse_sequence(inputs, sequence_length, 0, 1)


class LSTMBlockWrapper(Layer):
    """What layers that take all steps of an LSTM at once have in common.

    A subclass has `num_units` and `_call_cell`, which returns the states c and the outputs [time,
    batch, units].
    """

    @property
    def num_units(self) -> int:
        """Return the number of units."""
        raise NotImplementedError(f"{type(self).__name__} does not tell its num_units")

    def _call_cell(
        self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any,
        sequence_length: Any,
    ) -> tuple[Any, Any]:  # fmt: skip
        raise NotImplementedError(f"{type(self).__name__} has no _call_cell")

    def call(  # type: ignore[override]
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        """Return the outputs for `inputs` [time, batch, size], and the last state.

        Args:
          inputs: float [time, batch, size], or a list of [batch, size].
          initial_state: pair of c and h; zeros by default.
          dtype: of that state, needed if it is not given.
          sequence_length: int [batch]; behind the ends outputs are 0.

        Raises:
          ValueError: the inputs are of another rank, or neither state nor type is given.
        """
        is_list = isinstance(inputs, list)
        inputs = stack(inputs) if is_list else convert_to_tensor(inputs)
        if inputs.plain_shape is None or len(inputs.plain_shape) != 3:
            raise ValueError(f"Expecting inputs_shape to be 3-dimensional: {inputs.get_shape()}")
        steps, batch = batch_of(inputs), batch_of(inputs, 1)
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            nothing = zeros(stack([batch, self.num_units]), dtype)
            initial_state = nothing, nothing
        elif len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        first_c, first_h = initial_state
        if sequence_length is not None:
            sequence_length = cast(sequence_length, "int32")
        states, outputs = self._call_cell(
            inputs, first_c, first_h, dtype or first_c.dtype, sequence_length
        )
        if sequence_length is None:
            last = states[-1], outputs[-1]
        else:
            mask = transpose(sequence_mask(sequence_length, steps, inputs.dtype), [1, 0])
            outputs = outputs * tile(expand_dims(mask, [-1]), [1, 1, self.num_units])
            last = tuple(
                _at_ends(concat([expand_dims(first, [0]), whole], 0), sequence_length, batch)
                for first, whole in ((first_c, states), (first_h, outputs))
            )
        return unstack(outputs) if is_list else outputs, LSTMStateTuple(*last)


def _at_ends(whole: Any, lengths: Any, batch: Any) -> Any:
    """Return of a tensor [time, batch, units] what stands at each end: [batch, units]."""
    return gather_nd(whole, stack([lengths, range_(batch)], 1))


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM whose whole sequences are one node.

    Args:
      num_units: size of c and h.
      forget_bias: what is added before the forget gate, so that it remembers at first.
      cell_clip: bound of c, to both sides; None or -1 for none. Gradients pass by it.
      use_peephole: whether gates see c.
      reuse: whether to find variables that exist.
      dtype: of its variables; that of the first input by default.
      name: of the layer, and of its variables' scope.

    Example:
      >>> network = contrib.rnn.LSTMBlockFusedCell(3)
      >>> outputs, state = network(zeros([5, 2, 4]), dtype="float32", sequence_length=[5, 3])
      >>> outputs.shape.as_list(), state.h.shape.as_list()
      ([5, 2, 3], [2, 3])
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: Any = 1.0,
        cell_clip: Any = None,
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: Any = None,
        name: str | None = "lstm_fused_cell",
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse)
        self._num_units, self._use_peephole = num_units, use_peephole
        self._options = block_options(forget_bias, cell_clip, use_peephole)
        self.input_spec = InputSpec(ndim=3)

    @property
    def num_units(self) -> int:
        """Return the number of units."""
        return self._num_units

    def build(self, input_shape: Any) -> None:
        """Make kernel, bias, and what peepholes need."""
        block_weights(self, input_shape.as_list()[2], self._num_units, self._use_peephole)
        self.built = True

    def _call_cell(
        self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any,
        sequence_length: Any,
    ) -> tuple[Any, Any]:  # fmt: skip
        steps = batch_of(inputs)
        longest = steps if sequence_length is None else reduce_max(sequence_length)
        made = BLOCK_LSTM(
            cast(longest, "int64"), inputs, initial_cell_state, initial_output,
            *block_inputs(self, dtype), **self._options, name="BlockLSTM",
        )  # fmt: skip
        return made[1], made[6]
