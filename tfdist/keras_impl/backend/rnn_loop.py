"""tf.keras.backend.rnn: a step done for each element of a sequence.

Source: TF 1.15 API documentation, tf.keras.backend.rnn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import dtypes, nest
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import stack, unstack
from tfdist.ops.array.constants import constant
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.array.shape import shape
from tfdist.ops.array.tile_roll import reverse
from tfdist.ops.array.transpose import transpose
from tfdist.ops.control_flow.while_loop import while_loop
from tfdist.ops.math.comparison import where
from tfdist.ops.tensor_array.tensor_array import TensorArray

__all__ = ["rnn"]


def rnn(
    step_function: Callable[[Any, Any], tuple[Any, Any]],
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Any = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
) -> tuple[Any, Any, Any]:
    """Do a step for each element of a sequence.

    Args:
      step_function: from an element [batch, ...] and a list of states, and the constants after
        them, to an output and a list of new states.
      inputs: [batch, steps, ...].
      initial_states: list of tensors [batch, ...].
      go_backwards: whether the last element comes first.
      mask: bool [batch, steps]: at a step that is left out, output and states stay.
      constants: list of tensors that every step gets.
      unroll: whether the graph has each step, instead of a loop.
      input_length: accepted for TensorFlow's sake.
      time_major: whether inputs and outputs are [steps, batch, ...].
      zero_output_for_mask: whether the output of a step that is left out is 0.

    Returns:
      The last output [batch, ...], all outputs [batch, steps, ...], and the last states.

    Raises:
      ValueError: it is to be unrolled, and the number of steps is unknown.

    Example:
      >>> def add(element, states):
      ...     return element + states[0], [element + states[0]]
      >>> last, _, _ = keras.backend.rnn(add, ones([2, 3, 4]), [zeros([2, 4])])
      >>> keras.backend.eval(last)[0]
      array([3., 3., 3., 3.], dtype=float32)
    """
    if not time_major:
        inputs, mask = nest.map_leaves(_turned, inputs), None if mask is None else _turned(mask)
    if go_backwards:
        inputs = nest.map_leaves(_backwards, inputs)
        mask = None if mask is None else _backwards(mask)
    more = list(constants or ())
    states = list(initial_states)

    def step(element: Any, now: list[Any]) -> tuple[Any, list[Any]]:
        output, then = step_function(element, [*now, *more])
        return output, list(then)

    if mask is not None and mask.dtype.base_dtype is not dtypes.bool_:
        mask = cast(mask, dtypes.bool_)
    run = _unrolled if unroll else _looped
    last, outputs, states = run(step, inputs, states, mask, zero_output_for_mask)
    return last, outputs if time_major else nest.map_leaves(_turned, outputs), states


def _turned(x: Any) -> Any:
    """Return a tensor with its first two axes exchanged."""
    return transpose(x, [1, 0, *range(2, len(x.shape))])


def _backwards(x: Any) -> Any:
    return reverse(x, [0])


def _chosen(kept: Any, new: Any, old: Any) -> Any:
    """Return a structure's rows: new ones where `kept` [batch] is true."""
    found = [where(kept, a, b) for a, b in zip(nest.flatten(new), nest.flatten(old), strict=True)]
    return nest.pack_as(new, found)


def _unrolled(
    step: Any, inputs: Any, states: list[Any], mask: Any, zero: bool
) -> tuple[Any, Any, list[Any]]:
    steps = nest.flatten(inputs)[0].plain_shape[0]
    if steps is None:
        raise ValueError(
            "Unrolling requires a fixed number of timesteps: Input(batch_shape=...) or "
            "input_shape=(steps, ...) names it"
        )
    rows = [unstack(each, steps) for each in nest.flatten(inputs)]
    kept = None if mask is None else unstack(mask, steps)
    outputs: list[Any] = []
    for number in range(steps):
        output, new = step(nest.pack_as(inputs, [row[number] for row in rows]), states)
        if kept is not None:
            before = nest.map_leaves(zeros_like, output) if zero or not outputs else outputs[-1]
            output = _chosen(kept[number], output, before)
            new = _chosen(kept[number], new, states)
        outputs.append(output)
        states = new
    flat = [stack(list(each)) for each in zip(*map(nest.flatten, outputs), strict=True)]
    return outputs[-1], nest.pack_as(outputs[-1], flat), states


def _looped(
    step: Any, inputs: Any, states: list[Any], mask: Any, zero: bool
) -> tuple[Any, Any, list[Any]]:
    flat = nest.flatten(inputs)
    sizes: Any = shape(flat[0])
    steps = sizes[0]
    arrays = [TensorArray(each.dtype, size=steps).unstack(each) for each in flat]
    # once outside of the loop, as TensorFlow does: for shapes, and for what all steps share
    first, _ = step(nest.pack_as(inputs, [each[0] for each in flat]), states)
    kept = None if mask is None else TensorArray(dtypes.bool_, size=steps).unstack(mask)
    made = [TensorArray(each.dtype, size=steps) for each in nest.flatten(first)]
    blank = nest.map_leaves(zeros_like, first)

    def body(number: Any, done: Any, before: Any, now: Any) -> Any:
        output, new = step(nest.pack_as(inputs, [each.read(number) for each in arrays]), now)
        if kept is not None:
            keeps = kept.read(number)
            output = _chosen(keeps, output, blank if zero else before)
            new = _chosen(keeps, new, now)
        pairs = zip(done, nest.flatten(output), strict=True)
        for old, each in zip(nest.flatten(now), nest.flatten(new), strict=True):
            each.set_shape(old.plain_shape)
        after = output if kept is not None else before
        return number + 1, [array.write(number, each) for array, each in pairs], after, new

    before = blank if kept is not None else []
    start = (constant(0), made, before, states)
    _, done, _, last_states = while_loop(
        lambda number, *_: number < steps, body, start, maximum_iterations=steps
    )
    length = flat[0].plain_shape[0]
    outputs = [_whole(array, each, length) for array, each in zip(
        done, nest.flatten(first), strict=True)]  # fmt: skip
    last = [_row(array.read(steps - 1), each) for array, each in zip(
        done, nest.flatten(first), strict=True)]  # fmt: skip
    return nest.pack_as(first, last), nest.pack_as(first, outputs), list(last_states)


def _whole(array: Any, like: Any, length: int | None) -> Any:
    found = array.stack()
    found.set_shape([length, *like.plain_shape])
    return found


def _row(found: Any, like: Any) -> Any:
    found.set_shape(like.plain_shape)
    return found
