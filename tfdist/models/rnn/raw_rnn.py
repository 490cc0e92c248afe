"""raw_rnn: a recurrent network as a loop in which a function makes each input.

Source: TF 1.15 API documentation, tf.nn.raw_rnn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import nest
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Tensor
from tfdist.models.rnn.rnn_cell import check_cell, map_sizes, size_list, step_of, zeros_of
from tfdist.models.rnn.step import batch_size_of, copied, entered, map_pairs, output_dtype
from tfdist.ops.array.concat import concat
from tfdist.ops.array.constants import constant
from tfdist.ops.array.fill import zeros
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.array.shape import shape
from tfdist.ops.control_flow.while_loop import while_loop
from tfdist.ops.math.comparison import logical_not, logical_or
from tfdist.ops.math.reductions import reduce_all
from tfdist.ops.tensor_array.tensor_array import TensorArray

__all__ = ["raw_rnn"]


def raw_rnn(
    cell: Any,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Return the outputs of a cell that runs until a function says that all sequences have ended.

    Args:
      cell: an RNNCell.
      loop_fn: is called once before the loop and once in it, with the time (int32, 0 at first),
        the cell's output and state (None at first), and its own state of the loop (None at first).
        It returns which sequences have ended (bool [batch]), the next input, the next state of the
        cell, what to write as output, and its own next state (or None). At first, "what to write"
        is a structure of tensors with the shapes of one example, or None for the cell's output.
      parallel_iterations: rounds that may overlap while one waits; 32 by default.
      swap_memory: taken and not needed; see `tf.while_loop`.
      scope: variable scope, or its name; "rnn" by default.

    Returns:
      TensorArrays of the outputs, in the structure of what was written; the last state; what
      `loop_fn` returned last as its own.

    Raises:
      TypeError: `cell` is no cell, or `loop_fn` cannot be called.

    Example: the numbers 1, 2, 3 added up.
      >>> cell = nn.rnn_cell.ResidualWrapper(nn.rnn_cell.BasicRNNCell(1))
      >>> def loop(time, output, state, _):
      ...     state = cell.zero_state(2, "float32") if output is None else state
      ...     return fill([2], time >= 3), fill([2, 1], cast(time, "float32")), state, output, None
      >>> outputs, state, _ = nn.raw_rnn(cell, loop)
      >>> outputs.stack().shape.as_list(), state.shape.as_list()
      ([None, 2, 1], [2, 1])
    """
    check_cell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with entered(scope, "rnn"):
        return _Loop(cell, loop_fn).run(parallel_iterations or 32, swap_memory)


class _Loop:
    """What there is before the first round."""

    def __init__(self, cell: Any, loop_fn: Callable[..., Any]) -> None:
        self._cell, self._loop_fn = cell, loop_fn
        self._time = constant(0, "int32")
        ended, self._input, self._state, emitted, own = loop_fn(self._time, None, None, None)
        self._ended = convert_to_tensor(ended, "bool")
        self._input = nest.map_leaves(convert_to_tensor, self._input)
        self._state = nest.map_leaves(_as_tensor, self._state)
        self._has_own = own is not None
        self._own = nest.map_leaves(_as_tensor, own) if self._has_own else constant(0, "int32")
        batch = batch_size_of(self._input, 0)
        if emitted is None:
            dtype = output_dtype(None, self._state)
            self._arrays = map_sizes(lambda size: _array(dtype, batch, size), cell.output_size)
            self._zeros = zeros_of(cell.output_size, batch, dtype)
        else:
            emitted = nest.map_leaves(convert_to_tensor, emitted)
            self._arrays = nest.map_leaves(lambda like: _array_like(batch, like), emitted)
            self._zeros = nest.map_leaves(lambda like: _zeros_like(batch, like), emitted)

    def run(self, parallel_iterations: int, swap_memory: bool) -> tuple[Any, Any, Any]:
        """Return arrays of outputs, the last state, and the function's own."""
        first = (self._time, self._ended, self._input, self._arrays, self._state, self._own)
        _, _, _, arrays, state, own = while_loop(
            lambda time, ended, *_: logical_not(reduce_all(ended)), self._round, first,
            parallel_iterations=parallel_iterations, swap_memory=swap_memory,
        )  # fmt: skip
        return arrays, state, own if self._has_own else None

    def _round(
        self, time: Any, ended: Any, given: Any, arrays: Any, state: Any, own: Any
    ) -> tuple[Any, ...]:
        output, after = step_of(self._cell, given, state)
        nest.check_same(state, after)
        later = time + 1
        now_ended, given, after, emitted, next_own = self._loop_fn(later, output, after, own)
        nest.check_same(state, after)
        nest.check_same(arrays, emitted)
        emitted = map_pairs(lambda old, new: copied(ended, old, new), self._zeros, emitted)
        after = map_pairs(lambda old, new: copied(ended, old, new), state, after)
        arrays = map_pairs(lambda value, array: array.write(time, value), emitted, arrays)
        next_own = own if next_own is None else next_own
        return later, logical_or(ended, now_ended), given, arrays, after, next_own


def _as_tensor(value: Any) -> Any:
    return value if isinstance(value, TensorArray) else convert_to_tensor(value)


def _array(dtype: Any, batch: Any, size: Any) -> TensorArray:
    known = [batch if isinstance(batch, int) else None, *size_list(size)]
    return TensorArray(dtype, 0, dynamic_size=True, element_shape=known, name="rnn_output_0")


def _array_like(batch: Any, like: Tensor) -> TensorArray:
    rest = like.plain_shape
    first = batch if isinstance(batch, int) else None
    known = None if rest is None else [first, *rest]
    return TensorArray(like.dtype, 0, dynamic_size=True, element_shape=known, name="rnn_output_0")


def _zeros_like(batch: Any, like: Tensor) -> Tensor:
    rest = like.plain_shape
    if rest is not None and None not in rest and isinstance(batch, int):
        return zeros([batch, *rest], like.dtype)
    first = expand_dims(convert_to_tensor(batch, "int32"), 0)
    made = zeros(concat([first, shape(like)], 0), like.dtype)
    if rest is not None:
        made.set_shape([batch if isinstance(batch, int) else None, *rest])
    return made
