"""Networks that read sequences in both directions.

Source: TF 1.15 API documentation, tf.nn.bidirectional_dynamic_rnn, tf.nn.static_bidirectional_rnn,
tf.contrib.rnn.stack_bidirectional_dynamic_rnn and stack_bidirectional_rnn.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import nest
from tfdist.models.rnn.dynamic_rnn import dynamic_rnn
from tfdist.models.rnn.rnn_cell import check_cell
from tfdist.models.rnn.static_rnn import static_rnn
from tfdist.models.rnn.step import entered
from tfdist.ops.array.concat import concat, stack, unstack
from tfdist.ops.array.tile_roll import reverse, reverse_sequence
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "bidirectional_dynamic_rnn", "stack_bidirectional_dynamic_rnn", "stack_bidirectional_rnn",
    "static_bidirectional_rnn",
]  # fmt: skip


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Return the outputs of two cells, one of which reads sequences from their ends.

    Args:
      cell_fw: an RNNCell that reads forwards.
      cell_bw: an RNNCell that reads backwards.
      inputs: tensor [batch, time, ...], or [time, batch, ...] if `time_major`.
      sequence_length: int vector [batch]; see `dynamic_rnn`.
      initial_state_fw: state of `cell_fw` to begin with; zeros by default.
      initial_state_bw: state of `cell_bw` to begin with.
      dtype: of states that are not given.
      parallel_iterations: see `dynamic_rnn`.
      swap_memory: see `dynamic_rnn`.
      time_major: see `dynamic_rnn`.
      scope: variable scope, or its name; "bidirectional_rnn" by default.

    Returns:
      Two pairs, each of forwards and backwards: outputs, and last states.

    Example:
      >>> cells = [nn.rnn_cell.GRUCell(4) for _ in "ab"]
      >>> outputs, _ = nn.bidirectional_dynamic_rnn(*cells, zeros([2, 5, 3]), dtype="float32")
      >>> concat(outputs, 2).shape.as_list()
      [2, 5, 8]
    """
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    time, options = 0 if time_major else 1, (parallel_iterations, swap_memory, time_major)

    def backwards(tensor: Any) -> Any:
        if sequence_length is None:
            return reverse(tensor, [time])
        return reverse_sequence(tensor, sequence_length, time, 1 - time)

    with entered(scope, "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            outputs_fw, state_fw = dynamic_rnn(
                cell_fw, inputs, sequence_length, initial_state_fw, dtype, *options, inner
            )
        with variable_scope("bw") as inner:
            outputs_bw, state_bw = dynamic_rnn(
                cell_bw, nest.map_leaves(backwards, inputs), sequence_length, initial_state_bw,
                dtype, *options, inner,
            )  # fmt: skip
    return (outputs_fw, nest.map_leaves(backwards, outputs_bw)), (state_fw, state_bw)


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any, Any]:
    """Return the outputs of two cells, one of which reads a list of inputs from its end.

    Args:
      cell_fw: an RNNCell that reads forwards.
      cell_bw: an RNNCell that reads backwards.
      inputs: a list of inputs [batch, size].
      initial_state_fw: state of `cell_fw` to begin with; zeros by default.
      initial_state_bw: state of `cell_bw` to begin with.
      dtype: of states that are not given.
      sequence_length: int vector [batch]; see `static_rnn`.
      scope: variable scope, or its name; "bidirectional_rnn" by default.

    Returns:
      A list of outputs, those of both cells side by side, and both last states.

    Raises:
      TypeError: a cell is none, or `inputs` is no list.
      ValueError: there are no inputs.

    Example:
      >>> cells, x = [nn.rnn_cell.GRUCell(4) for _ in "ab"], zeros([2, 3])
      >>> outputs, _, _ = nn.static_bidirectional_rnn(*cells, [x, x], dtype="float32")
      >>> [output.shape.as_list() for output in outputs]
      [[2, 8], [2, 8]]
    """
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with entered(scope, "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            outputs_fw, state_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, inner
            )
        with variable_scope("bw") as inner:
            turned = _turned(inputs, sequence_length)
            outputs_bw, state_bw = static_rnn(
                cell_bw, turned, initial_state_bw, dtype, sequence_length, inner
            )
    return _side_by_side(outputs_fw, _turned(outputs_bw, sequence_length)), state_fw, state_bw


def _side_by_side(first: list[Any], second: list[Any]) -> list[Any]:
    """Return what two cells said, joined along axis 1, for each step."""
    made = []
    for one, other in zip(first, second, strict=True):
        pairs = zip(nest.flatten(one), nest.flatten(other), strict=True)
        made.append(nest.pack_as(one, [concat(list(pair), 1) for pair in pairs]))
    return made


def _turned(inputs: Any, sequence_length: Any) -> list[Any]:
    """Return a list of inputs from its end, or from the end of each sequence."""
    if sequence_length is None:
        return list(reversed(inputs))
    columns = zip(*map(nest.flatten, inputs), strict=True)
    turned = [_turned_column(column, sequence_length) for column in columns]
    rows = zip(*turned, strict=True)
    return [nest.pack_as(inputs[0], list(row)) for row in rows]


def _turned_column(tensors: Any, sequence_length: Any) -> list[Any]:
    joined = reverse_sequence(stack(list(tensors)), sequence_length, 0, 1)
    return list(unstack(joined, num=len(tensors)))


def stack_bidirectional_dynamic_rnn(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Return what several layers of `bidirectional_dynamic_rnn` say, each reading the one below.

    Args:
      cells_fw: a list of cells that read forwards, one for each layer.
      cells_bw: a list of cells that read backwards.
      inputs: tensor [batch, time, ...], or [time, batch, ...] if `time_major`.
      initial_states_fw: a list of states of `cells_fw`; zeros by default.
      initial_states_bw: a list of states of `cells_bw`.
      dtype: of states that are not given.
      sequence_length: int vector [batch]; see `dynamic_rnn`.
      parallel_iterations: see `dynamic_rnn`.
      time_major: see `dynamic_rnn`.
      scope: variable scope, or its name; "stack_bidirectional_rnn" by default.
      swap_memory: see `dynamic_rnn`.

    Returns:
      The last layer's outputs, forwards and backwards side by side; the states of `cells_fw`; those
      of `cells_bw`.

    Raises:
      ValueError: there are not as many cells or states in one direction as in the other.

    Example:
      >>> cells = [[nn.rnn_cell.GRUCell(n) for n in (4, 2)] for _ in "ab"]
      >>> outputs, _, _ = contrib.rnn.stack_bidirectional_dynamic_rnn(
      ...     *cells, zeros([2, 5, 3]), dtype="float32"
      ... )
      >>> outputs.shape.as_list()
      [2, 5, 4]
    """
    layers = _layers(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states = []
    with entered(scope, "stack_bidirectional_rnn"):
        for number, (cell_fw, cell_bw, state_fw, state_bw) in enumerate(layers):
            with variable_scope(f"cell_{number}"):
                outputs, pair = bidirectional_dynamic_rnn(
                    cell_fw, cell_bw, inputs, sequence_length, state_fw, state_bw, dtype,
                    parallel_iterations, swap_memory, time_major,
                )  # fmt: skip
                inputs = concat(outputs, 2)
            states.append(pair)
    return inputs, *_both(states)


def stack_bidirectional_rnn(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Return what several layers of `static_bidirectional_rnn` say, each reading the one below.

    Args:
      cells_fw: a list of cells that read forwards, one for each layer.
      cells_bw: a list of cells that read backwards.
      inputs: a list of inputs [batch, size].
      initial_states_fw: a list of states of `cells_fw`; zeros by default.
      initial_states_bw: a list of states of `cells_bw`.
      dtype: of states that are not given.
      sequence_length: int vector [batch]; see `static_rnn`.
      scope: variable scope, or its name; "stack_bidirectional_rnn" by default.

    Returns:
      A list of the last layer's outputs; the states of `cells_fw`; those of `cells_bw`.

    Raises:
      ValueError: there are not as many cells or states in one direction as in the other.
    """
    layers = _layers(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states = []
    with entered(scope, "stack_bidirectional_rnn"):
        for number, (cell_fw, cell_bw, state_fw, state_bw) in enumerate(layers):
            with variable_scope(f"cell_{number}") as inner:
                inputs, *pair = static_bidirectional_rnn(
                    cell_fw, cell_bw, inputs, state_fw, state_bw, dtype, sequence_length, inner
                )
            states.append(pair)
    return inputs, *_both(states)


def _layers(cells_fw: Any, cells_bw: Any, states_fw: Any, states_bw: Any) -> list[Any]:
    """Return both cells and both states for each layer."""
    for name, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
        if not isinstance(cells, list) or not cells:
            raise ValueError(f"{name} must be a list of one or more cells, got {cells!r}")
    if len(cells_fw) != len(cells_bw):
        raise ValueError(
            f"Forward and Backward cells must have the same depth, got {len(cells_fw)} and "
            f"{len(cells_bw)}"
        )
    named = {"initial_states_fw": states_fw, "initial_states_bw": states_bw}
    for name, states in named.items():
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(f"{name} must be a list of states (one per layer), got {states!r}")
    nothing = [None] * len(cells_fw)
    return list(zip(cells_fw, cells_bw, states_fw or nothing, states_bw or nothing, strict=True))


def _both(states: list[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return tuple(pair[0] for pair in states), tuple(pair[1] for pair in states)
