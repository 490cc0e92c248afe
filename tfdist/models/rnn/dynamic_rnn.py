"""dynamic_rnn: a recurrent network as a loop, for sequences of any length.

Source: TF 1.15 API documentation, tf.nn.dynamic_rnn.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import nest
from tfdist.base.shapes import show
from tfdist.base.tensor_shape import as_shape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Tensor
from tfdist.models.rnn.rnn_cell import check_cell, map_sizes, size_list, step_of, zeros_once
from tfdist.models.rnn.step import (
    Lengths,
    batch_size_of,
    entered,
    initial_state_of,
    lengths_of,
    map_pairs,
    output_dtype,
)
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat, stack
from tfdist.ops.array.constants import constant
from tfdist.ops.array.range import range as range_
from tfdist.ops.array.shape import rank, shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.control_flow.while_loop import while_loop
from tfdist.ops.math.arithmetic import maximum, minimum
from tfdist.ops.math.comparison import equal
from tfdist.ops.math.reductions import reduce_all
from tfdist.ops.tensor_array.tensor_array import TensorArray

__all__ = ["dynamic_rnn", "transpose_batch_time"]


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Return the outputs of a cell for sequences of inputs, and the last state.

    Args:
      cell: an RNNCell.
      inputs: tensor [batch, time, ...], or [time, batch, ...] if `time_major`; or a structure of
        such tensors, which the cell takes together.
      sequence_length: int vector [batch]: behind the end of a sequence its outputs are 0, and its
        state stays.
      initial_state: in the structure of `cell.state_size`; zeros by default.
      dtype: of the state, needed if `initial_state` is not given.
      parallel_iterations: rounds that may overlap while one waits; 32 by default.
      swap_memory: taken and not needed; see `tf.while_loop`.
      time_major: whether the first axis of inputs and outputs is time; it saves a transposition.
      scope: variable scope, or its name; "rnn" by default.

    Returns:
      The outputs [batch, time, output_size] (or time first), in the structure of
      `cell.output_size`, and the state after the last step.

    Raises:
      TypeError: `cell` is no cell.
      ValueError: the inputs' size or the dtype is unknown, or shapes do not fit.
      InvalidArgumentError: when it runs and there are not as many lengths as sequences.

    Example:
      >>> cell = nn.rnn_cell.BasicLSTMCell(4)
      >>> outputs, state = nn.dynamic_rnn(cell, zeros([2, 5, 3]), dtype="float32")
      >>> outputs, state.h.shape.as_list()
      (<tf.Tensor 'rnn/transpose_1:0' shape=(2, 5, 4) dtype=float32>, [2, 4])
    """
    check_cell("cell", cell)
    with entered(scope, "rnn"):
        inputs = nest.map_leaves(convert_to_tensor, inputs)
        if not time_major:
            inputs = nest.map_leaves(transpose_batch_time, inputs)
        lengths = None
        if sequence_length is not None:
            lengths = lengths_of(identity(cast(sequence_length, "int32"), name="sequence_length"))
        batch_size = batch_size_of(inputs, 1)
        state = initial_state_of(cell, initial_state, batch_size, dtype)
        if lengths is not None:
            lengths = _checked(lengths, batch_size)
        network = _Network(cell, inputs, batch_size, lengths, output_dtype(dtype, state))
        outputs, state = network.run(state, parallel_iterations or 32, swap_memory)
        if not time_major:
            outputs = nest.map_leaves(transpose_batch_time, outputs)
        return outputs, state


class _Network:
    """What a loop over the steps of a network needs."""

    def __init__(
        self, cell: Any, inputs: Any, batch_size: Any, lengths: Tensor | None, dtype: Any
    ) -> None:
        for tensor in nest.flatten(inputs):
            _check_size(tensor)
        self._cell, self._inputs, self._dtype = cell, inputs, dtype
        first: Any = nest.flatten(inputs)[0]
        sizes: Any = shape(first)
        self._steps, self._known_steps = sizes[0], first.plain_shape[0]
        batch = batch_size_of(inputs, 1)
        # made even where it is not used, as in TensorFlow: the number of nodes decides about seeds
        zero_output = map_sizes(lambda size: zeros_once(size, batch, dtype), cell.output_size)
        self._lengths = None if lengths is None else Lengths(lengths, zero_output)
        self._batch = batch_size if isinstance(batch_size, int) else None

    def run(self, state: Any, parallel_iterations: int, swap_memory: bool) -> tuple[Any, Any]:
        """Return all outputs, time first, and the last state."""
        time = constant(0, "int32", name="time")
        written = map_sizes(self._output_array, self._cell.output_size)
        given = nest.map_leaves(self._input_array, self._inputs)
        steps = self._steps
        longest = steps if self._lengths is None else self._lengths.longest
        bound = minimum(steps, maximum(1, longest))

        def step(time: Any, written: Any, state: Any) -> Any:
            output, state = self._step(time, given, state)
            nest.check_same(written, output)
            written = map_pairs(lambda value, array: array.write(time, value), output, written)
            return time + 1, written, state

        _, written, state = while_loop(
            lambda time, *_: time < bound, step, (time, written, state),
            parallel_iterations=parallel_iterations, swap_memory=swap_memory,
            maximum_iterations=steps,
        )  # fmt: skip
        return nest.map_leaves(self._stacked, written), state

    def _stacked(self, array: TensorArray) -> Tensor:
        outputs = array.stack()
        known = [self._known_steps, *array.element_shape.as_list()]
        if None not in known[:2]:  # nodes that TensorFlow makes on its way to the static shape
            constant(known[:2], "int32")
        constant(known[2:], "int32")
        outputs.set_shape(known)
        return outputs

    def _step(self, time: Any, arrays: Any, state: Any) -> Any:
        def call() -> Any:
            return step_of(self._cell, given, state)

        given = nest.map_leaves(lambda array: array.read(time), arrays)
        for tensor, whole in zip(nest.flatten(given), nest.flatten(self._inputs), strict=True):
            tensor.set_shape(whole.plain_shape[1:])
        output, after = call() if self._lengths is None else self._lengths.step(time, state, call)
        nest.check_same(state, after)
        return output, after

    def _output_array(self, size: Any) -> TensorArray:
        known = [self._batch, *size_list(size)]
        return TensorArray(
            self._dtype, self._steps, element_shape=known, tensor_array_name="output"
        )

    def _input_array(self, tensor: Any) -> TensorArray:
        array = TensorArray(
            tensor.dtype.base_dtype, self._steps, element_shape=tensor.plain_shape[1:],
            tensor_array_name="input",
        )  # fmt: skip
        return array.unstack(tensor)


def _check_size(tensor: Tensor) -> None:
    """Raise ValueError unless the inputs' size is known: [time, batch, size, ...]."""
    known = tensor.plain_shape
    if known is not None and len(known) < 3:
        raise ValueError(
            f"Shape {show(known)} must have rank at least 3, [time, batch, size], in {tensor}."
        )
    if known is None or None in known[2:]:
        raise ValueError(
            "Input size (depth of inputs) must be accessible via shape inference, but saw value "
            f"None, in {tensor}."
        )


def _checked(lengths: Tensor, batch_size: Any) -> Tensor:
    """Return `lengths` after a check that there is one for each sequence."""
    found, wanted = shape(lengths), stack([batch_size])
    expected = f"Expected shape for Tensor {lengths.name} is "
    message = [expected, wanted, " but saw shape: ", found]
    with scopes.control_dependencies([Assert(reduce_all(equal(found, wanted)), message)]):
        return identity(lengths, name="CheckSeqLen")


def transpose_batch_time(x: Any) -> Tensor:
    """Return a tensor [batch, time, ...] as [time, batch, ...], or the other way round.

    Raises:
      ValueError: it has one axis, or none.

    Example:
      >>> contrib.rnn.transpose_batch_time(zeros([2, 5, 3])).shape.as_list()
      [5, 2, 3]
    """
    x = convert_to_tensor(x)
    known = as_shape(x.plain_shape)
    if known is not None and len(known) < 2:
        raise ValueError(
            f"Expected input tensor {x.name} to have rank at least 2, but saw shape: {show(known)}"
        )
    turned = transpose(x, concat([[1, 0], range_(2, rank(x))], 0))
    if known is not None:
        turned.set_shape([known[1], known[0], *known[2:]])
    return turned
