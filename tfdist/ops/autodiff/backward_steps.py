"""Steps of the walk backwards that are not operations with a rule, and how they are recognized.

The large ones, whole conds and loops, are in `cond_gradients` and `loop_gradients`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.graph.contexts import Context
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.records import ENTERS
from tfdist.ops.control_flow.cond import Branch
from tfdist.ops.control_flow.loop_context import Loop

_CARRIERS = (dtypes.resource, dtypes.variant)


def carries(dtype: DType) -> bool:
    """Return whether tensors of this type have gradients, or hand on what has."""
    base = dtype.base_dtype
    return base.is_floating or base.is_complex or base in _CARRIERS


class Trace:
    """How a block lies on ways from xs to ys.

    Attributes:
      needed: which of its inputs lie on one.
    """

    def __init__(self, needed: tuple[bool, ...]) -> None:
        self.needed = needed

    def gives(self, tensor: Tensor) -> bool:
        """Return whether an output lies on one."""
        return True


class Block:
    """A step of the walk that is not just an operation with a gradient rule.

    Attributes:
      inputs: tensors of the context that the walk goes through.
    """

    inputs: Sequence[Tensor]

    def trace(self, candidates: tuple[bool, ...], used: Iterable[Tensor]) -> Trace | None:
        """Return how it lies on ways, None if it does not.

        Args:
          candidates: for each input, whether it depends on an x.
          used: the outputs that are looked at.
        """
        return Trace(candidates) if True in candidates else None

    def visit(self, totals: dict[Tensor, Any], trace: Any) -> Sequence[Any]:
        """Return the gradient of each input, None where there is none.

        Args:
          totals: the gradients of those outputs that have one.
          trace: what `trace` gave.
        """
        raise NotImplementedError


def push_of(handle: Tensor) -> Operation | None:
    """Return what a loop pushes to the stack at `handle`, None if no gradient made that stack."""
    for consumer in handle._consumers:
        loop = consumer._context
        if isinstance(loop, Loop) and handle in loop.stacks:
            return loop.stacks[handle]
    return None


def home_of(tensor: Tensor) -> Context | None:
    """Return the context in which `tensor` gets its value; for a stack, what is in it."""
    if tensor.op.type == "StackV2":
        push = push_of(tensor)
        if push is not None:
            return push._context  # type: ignore[no-any-return]
    return tensor.op._context  # type: ignore[no-any-return]


def gives_result(context: Context, op: Operation) -> bool:
    """Return whether `op` gives a result of the branch `context`, or of the other side."""
    return isinstance(context, Branch) and any(merge.op is op for merge in context.merges)


def enters(op: Operation, context: Context | None) -> bool:
    """Return whether `op`, an Enter, leads into `context`."""
    return isinstance(context, Loop) and op._attrs["frame_name"] == context.frame.encode()


def begins_variable(merge: Operation) -> bool:
    """Return whether rounds of a loop begin at `merge`."""
    enter = merge.inputs[0].op
    return enter.type in ENTERS and enters(enter, merge._context)


class Crossing(Block):
    """What brings a tensor into the context of the walk, or on within a loop."""

    def __init__(self, op: Operation) -> None:
        self.inputs = op.inputs[:1]

    def visit(self, totals: dict[Tensor, Any], trace: Any) -> Sequence[Any]:
        """See `Block.visit`: the gradient is the same outside."""
        (only,) = totals.values()
        return [only]


class Initial(Block):
    """A variable of a loop that is being built, where it gets its first value."""

    def __init__(self, merge: Operation) -> None:
        self._merge = merge
        self.inputs = merge.inputs[:1]

    def trace(self, candidates: tuple[bool, ...], used: Iterable[Tensor]) -> Trace | None:
        """See `Block.trace`: nothing may come from there."""
        if candidates[0]:
            first = self._merge.inputs[0].op.inputs[0]
            raise ValueError(
                f"cannot compute a gradient inside of a while loop through {first.name!r}, the "
                "first value of a loop variable; gradients inside lead to loop variables "
                "themselves, or to what the loop takes from outside"
            )
        return None


class Unknown(Block):
    """An operation of a branch or a loop that was not built here."""

    def __init__(self, op: Operation) -> None:
        self._op = op
        self.inputs = op.inputs

    def trace(self, candidates: tuple[bool, ...], used: Iterable[Tensor]) -> Trace | None:
        """See `Block.trace`: nothing is known of the branch or loop."""
        if True in candidates:
            raise LookupError(
                f"no gradient is defined for op {self._op.name!r} (type {self._op.type}), which "
                "lies between xs and ys: it belongs to a cond or a loop of a graph that was "
                "imported, and such a graph does not tell which; gradients can be made before a "
                "graph is exported"
            )
        return None
