"""One step of a recurrent network: what is the same in unrolled ones and in loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import nest
from tfdist.base.shapes import show
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.models.rnn.rnn_cell import batch_of, beginning_of
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.math.reductions import reduce_max, reduce_min
from tfdist.ops.tensor_array.tensor_array import TensorArray
from tfdist.ops.variables.variable_scope import get_variable_scope, variable_scope

__all__: list[str] = []


class Lengths:
    """How long the sequences of a batch are, and what comes out behind their ends.

    Args:
      lengths: int tensor [batch].
      zero_output: zeros, in the structure of the cell's output.

    Attributes:
      longest: the greatest of the lengths.
      zero_output: zeros, in the structure of the cell's output.
    """

    def __init__(self, lengths: Tensor, zero_output: Any) -> None:
        self._lengths: Any = lengths
        self.zero_output = zero_output
        self._shortest: Any = reduce_min(lengths)
        self.longest: Any = reduce_max(lengths)

    def step(self, time: Any, state: Any, call: Callable[[], Any]) -> Any:
        """Return what `call` returns, but zeros and `state` where a sequence has ended."""
        return self._kept(self._ended(time), state, *call())

    def step_if_needed(self, time: int, state: Any, call: Callable[[], Any]) -> Any:
        """Do as `step`, without calling where all sequences have ended."""
        ended, model = self._ended(time), [self.zero_output, state]

        def go() -> list[Any]:
            made = call()
            nest.check_same(state, made[1])
            going = cond(
                time < self._shortest,
                lambda: nest.flatten(list(made)),
                lambda: nest.flatten(list(self._kept(ended, state, *made))),
            )
            return _listed(going)

        flat = cond(time >= self.longest, lambda: nest.flatten(model), go)
        output, after = nest.pack_as(model, _listed(flat))
        _set_shapes([output, after], model)
        return output, after

    def _ended(self, time: Any) -> Tensor:
        ended: Tensor = time >= self._lengths
        return ended

    def _kept(self, ended: Tensor, state: Any, output: Any, after: Any) -> tuple[Any, Any]:
        nest.check_same(state, after)
        nest.check_same(self.zero_output, output)
        made = map_pairs(lambda old, new: copied(ended, old, new), self.zero_output, output)
        after = map_pairs(lambda old, new: copied(ended, old, new), state, after)
        return made, after


def _listed(flat: Any) -> list[Any]:
    return list(flat) if isinstance(flat, list | tuple) else [flat]


def _set_shapes(structure: Any, model: Any) -> None:
    for tensor, known in zip(nest.flatten(structure), nest.flatten(model), strict=True):
        tensor.set_shape(known.plain_shape)


def map_pairs(function: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
    """Return `second` with `function` of each pair of leaves in its place."""
    pairs = zip(nest.flatten(first), nest.flatten(second), strict=True)
    return nest.pack_as(second, [function(*pair) for pair in pairs])


def copied(ended: Tensor, old: Any, new: Any) -> Any:
    """Return `old` where a sequence has ended, `new` elsewhere.

    A TensorArray, and a scalar, belongs to all sequences: it is new.
    """
    if isinstance(new, TensorArray) or new.plain_shape == ():
        return new
    with scopes.colocate_with(new.op):
        tensor: Tensor = raw.Select(ended, old, new)
    tensor.set_shape(new.plain_shape)
    return tensor


def entered(scope: Any, default: str) -> Any:
    """Return the context of a network's variable scope: a name, a VariableScope, or None."""
    return variable_scope(default if scope is None else scope)


def outer_reuse() -> None:
    """Let cells that get their variables in `call` find them from the second step on."""
    get_variable_scope().reuse_variables()


def initial_state_of(cell: Any, initial_state: Any, batch_size: Any, dtype: Any) -> Any:
    """Return the state to begin with.

    Raises:
      ValueError: it is not given, and neither is a dtype.
    """
    if initial_state is not None:
        return nest.map_leaves(_as_tensor, initial_state)
    if dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    return beginning_of(cell, batch_size, dtype)


def _as_tensor(value: Any) -> Any:
    return value if isinstance(value, TensorArray) else convert_to_tensor(value)


def lengths_of(sequence_length: Any) -> Tensor:
    """Return lengths as a tensor.

    Raises:
      ValueError: they are no vector.
    """
    lengths = convert_to_tensor(sequence_length, name="sequence_length")
    if lengths.plain_shape is not None and len(lengths.plain_shape) != 1:
        raise ValueError(
            "sequence_length must be a vector of length batch_size, but saw shape: "
            f"{show(lengths.plain_shape)}"
        )
    return lengths


def output_dtype(dtype: Any, state: Any) -> Any:
    """Return the type of outputs: the one that is given, or that of the states.

    Raises:
      ValueError: the states are of several types.
    """
    if dtype is not None:
        return dtype
    found = [each.dtype.base_dtype for each in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(each is not found[0] for each in found):
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single "
            "representative dtype."
        )
    return found[0]


def best_effort_input_batch_size(flat_input: Any) -> Any:
    """Return the number of examples of tensors [time, batch, ...]: an int if one of them tells it.

    Example:
      >>> contrib.rnn.best_effort_input_batch_size([zeros([5, 2, 3])])
      2
    """
    return batch_size_of(list(flat_input), 1)


def batch_size_of(inputs: Any, axis: int) -> Any:
    """Return the number of examples: an int if one of the inputs tells it, or a tensor."""
    flat = nest.flatten(inputs)
    for tensor in flat:
        known = tensor.plain_shape
        if known is not None and len(known) > axis and known[axis] is not None:
            return known[axis]
    return batch_of(flat[0], axis)
