"""Recurrent networks without loops: a list of inputs, and nodes for each step.

Source: TF 1.15 API documentation, tf.nn.static_rnn and tf.nn.static_state_saving_rnn.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.models.rnn.rnn_cell import check_cell, step_of, zeros_of
from tfdist.models.rnn.step import (
    Lengths,
    batch_size_of,
    entered,
    initial_state_of,
    lengths_of,
    outer_reuse,
    output_dtype,
)
from tfdist.ops.control_flow.identity_group import identity

__all__ = ["static_rnn", "static_state_saving_rnn"]


def static_rnn(
    cell: Any,
    inputs: Any,
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Return the outputs of a cell for a list of inputs, and the last state.

    Args:
      cell: an RNNCell.
      inputs: a list of inputs [batch, size], or of structures of them.
      initial_state: in the structure of `cell.state_size`; zeros by default.
      dtype: of the state, needed if `initial_state` is not given.
      sequence_length: int vector [batch]: behind the end of a sequence its outputs are 0, and its
        state stays. Steps behind the end of all are not computed.
      scope: variable scope, or its name; "rnn" by default.

    Raises:
      TypeError: `cell` is no cell, or `inputs` is no list.
      ValueError: there are no inputs, their size or the dtype is unknown, or shapes do not fit.

    Example:
      >>> x = zeros([2, 3])
      >>> outputs, state = nn.static_rnn(nn.rnn_cell.BasicRNNCell(4), [x, x], dtype="float32")
      >>> outputs[1], outputs[1] is state
      (<tf.Tensor 'rnn/basic_rnn_cell/Tanh_1:0' shape=(2, 4) dtype=float32>, True)
    """
    check_cell("cell", cell)
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    inputs = nest.map_leaves(convert_to_tensor, inputs)
    with entered(scope, "rnn"):
        _check_inputs(inputs)
        batch_size = batch_size_of(inputs, 0)
        state = initial_state_of(cell, initial_state, batch_size, dtype)
        lengths = None
        if sequence_length is not None:
            kind = output_dtype(dtype, state)
            known = lengths_of(sequence_length)
            lengths = Lengths(known, zeros_of(cell.output_size, batch_size, kind))
        return _unrolled(cell, inputs, state, lengths)


def _unrolled(cell: Any, inputs: Any, state: Any, lengths: Lengths | None) -> Any:
    outputs = []
    for time, given in enumerate(inputs):
        if time > 0:
            outer_reuse()
        if lengths is None:
            output, state = step_of(cell, given, state)
        else:
            output, state = lengths.step_if_needed(
                time, state, partial(step_of, cell, given, state)
            )
        outputs.append(output)
    return outputs, state


def _check_inputs(inputs: Any) -> None:
    """Raise ValueError unless the inputs have sizes, and one number of examples."""
    batch = None
    for tensor in nest.flatten(inputs):
        known = tensor.plain_shape
        if known is None or None in known[1:]:
            raise ValueError(
                "Input size (dimension 1 of input at time 0) must be accessible via shape "
                f"inference, but saw value None, in {tensor}."
            )
        if len(known) > 1:
            if None not in (batch, known[0]) and batch != known[0]:
                raise ValueError(
                    f"Dimensions {batch} and {known[0]} are not compatible: inputs must be of one "
                    f"number of examples, but {tensor} is of {known[0]}"
                )
            batch = known[0] if batch is None else batch


def static_state_saving_rnn(
    cell: Any,
    inputs: Any,
    state_saver: Any,
    state_name: Any,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Do as `static_rnn`, with a state that is taken from an object, and given back to it.

    Args:
      cell: an RNNCell.
      inputs: a list of inputs [batch, size].
      state_saver: has the methods `state(name)`, which returns a tensor, and
        `save_state(name, tensor)`, which returns an operation.
      state_name: of the state; a tuple of names, or structure of them, if the state is a tuple.
      sequence_length: see `static_rnn`.
      scope: see `static_rnn`.

    Returns:
      The outputs and the last state. The last output and the state are there when it is saved.

    Raises:
      TypeError: `cell` is no cell.
      ValueError: there are not as many names as parts of the state.
    """
    sizes, names = cell.state_size, state_name
    if nest.is_nested(sizes) != nest.is_nested(names):
        raise ValueError(
            f"state_name should be the same type as cell.state_size.  state_name: {names}, "
            f"cell.state_size: {sizes}"
        )
    flat = nest.flatten(names)
    if len(flat) != len(nest.flatten(sizes)):
        raise ValueError(
            f"{len(nest.flatten(sizes))} names of states are needed, but {len(flat)} are given"
        )
    first = nest.pack_as(sizes, [state_saver.state(name) for name in flat])
    outputs, state = static_rnn(cell, inputs, first, None, sequence_length, scope)
    parts = zip(flat, nest.flatten(state), strict=True)
    saved = [state_saver.save_state(name, part) for name, part in parts]
    with scopes.control_dependencies(saved):
        return [*outputs[:-1], nest.map_leaves(identity, outputs[-1])], nest.map_leaves(
            identity, state
        )
