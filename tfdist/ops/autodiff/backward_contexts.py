"""Contexts in which gradients are computed: a branch for each branch, a loop for each loop.

Their nodes take tensors of the forward context. In a branch those are there, dead exactly when
the branch is. A loop goes backwards when the forward one has ended, so each value that it takes is
pushed to a stack in each forward round, and popped in the backward one:

    round 0, 1, ... n-1   t ─ push ┐                count ─ Exit ┐
                                   stack                         │
    round n-1, ... 1, 0            └ pop ─ gradient   Enter ─ down to 0

The count of the forward rounds waits for their pushes, the count of the backward ones for their
pops, so that a stack is never touched by two rounds at a time. Where loops are nested, one stack
outside of all of them serves all rounds: the inner loop of one outer round waits for that of the
round before, both ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.base.shapes import Shape
from tfdist.graph.contexts import Context, enclosing
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.records import ENTERS, SWITCHES
from tfdist.ops.control_flow.cond import Branch
from tfdist.ops.control_flow.loop_context import Loop, Variable

_NO_LIMIT = np.int32(-1)
_SMALL = 64  # elements of a constant that is made again instead of being pushed


class _Backward(Context):
    """What branches and loops of gradients share.

    Attributes:
      forward: the context whose gradients are computed.
      loop: the loop of gradients around, this one perhaps, whose rounds are those of the loop
        around `forward`; None if there is none.
    """

    forward: Context
    loop: BackwardLoop | None
    _found: dict[Tensor, Tensor]

    def inside(self, tensor: Tensor, consumer: str = "") -> Tensor:
        """See `Context.inside`: what is in the forward context is at hand."""
        found = self._found.get(tensor)
        if found is not None:
            return found
        if not self._is_forward(tensor) or self.holds(tensor.op):
            return super().inside(tensor, consumer)
        with self.graph._set(_name_stack=consumer or self.graph._name_stack):
            found = self._found[tensor] = self._at_hand(tensor)
        return found

    def _is_forward(self, tensor: Tensor) -> bool:
        """Return whether `tensor` is in the forward context, or is used there as if it were."""
        forward = self.forward
        return forward.holds(tensor.op) or (
            isinstance(forward, BackwardBranch) and tensor in forward.direct
        )

    def _at_hand(self, tensor: Tensor) -> Tensor:
        """Return what stands here for `tensor` of the forward context."""
        raise NotImplementedError

    def _saved(self, tensor: Tensor) -> Tensor:
        """Return a tensor with the value that `tensor` had in the forward round."""
        assert self.loop is not None
        if tensor.op.type == "Const" and tensor.op._attrs["value"].size <= _SMALL:
            with self.entered():
                value: Tensor = raw.Const(
                    value=tensor.op._attrs["value"], dtype=tensor.dtype, name="Const"
                )
            return value
        if tensor.op._context is not self.forward and self.forward.holds(tensor.op):
            raise ValueError(
                f"{tensor.name!r} is needed for a gradient, but it is in context "
                f"{tensor.op._context.name!r}, and is used outside of it: values leave a branch or "
                "a loop as its results"
            )
        return self.loop.popped(self.loop.pushed(tensor), tensor, self)


class BackwardBranch(_Backward, Branch):
    """One side of a cond in which gradients are computed.

    Attributes:
      direct: the tensors that nodes here take as they are, because they are dead when this
        branch is.
    """

    def __init__(self, forward: Branch, pred: Tensor, pivot: Tensor) -> None:
        super().__init__(forward.graph, forward.name, pred, pivot, forward.taken_if)
        self.forward = forward
        self.loop = _loop_around(self)
        self._found = {}
        self.direct: dict[Tensor, None] = {}

    def inside(self, tensor: Tensor, consumer: str = "") -> Tensor:
        """See `Context.inside`: what is dead exactly when this branch is can be taken as it is."""
        if any(_run_together(each, self) for each in enclosing(tensor.op._context)):
            self.direct[tensor] = None
            return tensor if self.outer is None else self.outer.inside(tensor)
        return super().inside(tensor, consumer)

    def _at_hand(self, tensor: Tensor) -> Tensor:
        if self.loop is None:
            found = tensor if self.outer is None else self.outer.inside(tensor)
            self.direct[found] = None
            return found
        assert isinstance(self.forward, Branch)
        assert self.forward.pivot is not None
        assert self.pivot is not None
        if tensor is self.forward.pivot.outputs[0]:
            return self.pivot.outputs[0]
        if tensor.op.type in SWITCHES and tensor.op.inputs[1] is tensor.op._context.pred:
            return self.inside(tensor.op.inputs[0])
        return self._saved(tensor)


def _run_together(one: Context | None, other: Context | None) -> bool:
    """Return whether these are two branches that are taken on the same predicate."""
    return (
        isinstance(one, Branch)
        and isinstance(other, Branch)
        and one is not other
        and one.pred is other.pred
        and one.taken_if == other.taken_if
        and (one.outer is other.outer or _run_together(one.outer, other.outer))
    )


def _loop_around(backward: _Backward) -> BackwardLoop | None:
    """Return the loop around `backward` whose rounds are those of a loop around its forward one."""
    nearest = next((each for each in enclosing(backward.outer) if isinstance(each, Loop)), None)
    if isinstance(nearest, BackwardLoop) and nearest.forward in enclosing(backward.forward):
        return nearest
    return None


class Opened(NamedTuple):
    """A loop variable whose next value is still to be made."""

    enter: Tensor
    merge: Tensor
    leaves: Tensor
    inner: Tensor


def open_variable(loop: Loop, start: Tensor, shape: Shape, *names: str) -> Opened:
    """Add a variable to a loop; `names` are those of its Enter and its Merge."""
    enter_name, merge_name = names or (None, None)
    with loop.around():
        enter = loop.enter(start, False, enter_name)
    enter._shape = shape
    with loop.entered():
        merge: Tensor = raw.Merge([enter, enter], name=merge_name)[0]
        return Opened(enter, merge, *raw.Switch(merge, loop.condition))


def close_variable(
    loop: Loop, opened: Opened, value: Tensor, after: Iterable[Operation] = ()
) -> Tensor:
    """Give a variable its next value, after some operations of the round."""
    with loop.entered(), loop.graph.control_dependencies(after):
        following: Tensor = raw.NextIteration(value)
    opened.merge.op._update_input(1, following)
    return following


def leave(loop: Loop, opened: Opened, name: str | None = None) -> Tensor:
    """Return the last value of a variable, outside of the loop."""
    with loop.around():
        leaving: Tensor = raw.Exit(opened.leaves, name=name)
    return leaving


class RoundCount:
    """Counts the rounds of a loop, by a variable that is added to it.

    Attributes:
      pushes: what the count waits for in each round.
      step: an operation that runs in each round, when all pushes of the one before are done.
      total: the number of rounds, after the loop.
    """

    def __init__(self, loop: Loop, after: Iterable[Operation]) -> None:
        """Begin to count the rounds of `loop`, after some operations around it."""
        self._loop = loop
        self.pushes: list[Operation] = []
        with loop.around(), loop.graph.control_dependencies(after):
            zero = _int(0, "f_count")
        self._variable = open_variable(loop, zero, (), "f_count", "Merge")
        with loop.entered():
            self._next: Tensor = raw.Add(self._variable.inner, 1)
        self.total = leave(loop, self._variable, "f_count")
        self.step = self._next.op

    def close(self) -> None:
        """Let the count go on, after all pushes."""
        waits = gathered(self._loop, self.pushes)
        close_variable(self._loop, self._variable, self._next, waits)


def _int(value: int, name: str) -> Tensor:
    made: Tensor = raw.Const(value=np.int32(value), dtype=dtypes.int32, name=name)
    return made


class BackwardLoop(_Backward, Loop):
    """A loop that goes through the rounds of another one backwards.

    Attributes:
      around_loop: the loop around this one that goes backwards too, None if there is none.
    """

    def __init__(self, forward: Loop) -> None:
        graph = forward.graph
        frame = graph.unique_name(forward.frame)
        super().__init__(graph, forward.name, frame, forward.parallel_iterations, True)
        self.forward = self._forward_loop = forward
        self.loop = self
        self.around_loop = _loop_around(self)
        self._found = {}
        self._waits_for: list[Operation] = []
        after = [] if self.around_loop is None else [self.around_loop._count.step]
        self._count: RoundCount = RoundCount(forward, after)
        self._begin()

    def _begin(self) -> None:
        """Make the variable that counts down, and the condition."""
        one = _int(1, "b_count")
        self.pivot = one.op  # until there is something inside
        with self.around():
            enter = self.enter(self._count.total, False, "b_count")
        with self.entered():
            merge: Tensor = raw.Merge([enter, enter])[0]
            self.pivot = merge.op
            self.condition = raw.LoopCond(raw.GreaterEqual(merge, one), name="b_count")
            leaves, inner = raw.Switch(merge, self.condition)
            self._left: Tensor = raw.Sub(inner, one)
        self.pivot = self._left.op
        self._counter = Opened(enter, merge, leaves, inner)

    def close(self) -> Operation:
        """Let both loops count; returns what runs after the last backward round."""
        self._count.close()
        last = self.end_variable(
            self._counter, self._left, "b_count", gathered(self, self._waits_for)
        ).op
        if self.around_loop is not None:
            self.around_loop._waits_for.append(last)
        return last

    def end_variable(
        self, opened: Opened, value: Tensor, name: str, after: Iterable[Operation] = ()
    ) -> Tensor:
        """Give a variable its next value, and return its last one; `name` is that of its Exit."""
        following = close_variable(self, opened, value, after)
        variable = Variable(*opened, following, leave(self, opened, name))
        self.variables.append(variable)
        return variable.exit

    def _at_hand(self, tensor: Tensor) -> Tensor:
        op = tensor.op
        if op.type in ENTERS and op._context is self.forward:
            return self.inside(op.inputs[0])
        for variable in self._forward_loop.variables:
            if op in (variable.merge.op, variable.leaves.op) and tensor is not variable.inner:
                return self.inside(variable.inner)  # they are equal in every round that goes on
        return self._saved(tensor)

    def bring(self, tensor: Tensor) -> Tensor:
        """See `Context.bring`: what is in a forward loop comes from the loop of its gradients."""
        return super().bring(tensor if self.outer is None else self.outer.inside(tensor))

    @property
    def _all(self) -> list[BackwardLoop]:
        """Return this loop and those around it that go backwards too."""
        around = [] if self.around_loop is None else self.around_loop._all
        return [self, *around]

    def pushed(self, tensor: Tensor) -> Tensor:
        """Return the stack to which the forward loop pushes `tensor`, of its own or a branch."""
        loops = [each._forward_loop for each in self._all]
        handle, made = pushed(loops, tensor, self._count.step)
        self._count.pushes.append(made)
        return handle

    def keep(self, value: Tensor) -> Tensor:
        """Return the stack to which this loop pushes `value` in each round."""
        assert self.pivot is not None
        handle, made = pushed(self._all, value, self.pivot)
        self._waits_for.append(made)
        return handle

    def popped(self, handle: Tensor, like: Tensor, here: Context) -> Tensor:
        """Return what is popped in context `here`, of the type and shape of `like`."""
        with here.entered(), self.graph.colocate_with(handle.op, ignore_existing=True):
            element: Tensor = raw.StackPopV2(handle, elem_type=like.dtype.base_dtype)
        element.set_shape(like.plain_shape)
        self._waits_for.append(element.op)
        return element


def pushed(loops: Sequence[Loop], value: Tensor, after: Operation) -> tuple[Tensor, Operation]:
    """Return a stack, and what pushes `value` to it in each round after an operation of that.

    Args:
      loops: the one whose rounds are meant, and those around it for all of whose rounds one stack
        is made, outside.
      value: of a round.
      after: what a push waits for.
    """
    graph, dtype = value.graph, value.dtype.base_dtype
    with loops[-1].around(), graph.colocate_with(value.op, ignore_existing=True):
        handle: Tensor = raw.StackV2(_NO_LIMIT, elem_type=dtype, name="f_acc")
    with value.op._context.entered(), graph.colocate_with(value.op, ignore_existing=True):
        with graph.control_dependencies([after]):
            push: Operation = raw.StackPushV2(handle, value).op
    for loop in loops:
        loop.stacks[handle] = push
    return handle, push


def gathered(loop: Loop, ops: Iterable[Operation]) -> list[Operation]:
    """Return operations directly in `loop` that run when `ops` have run, or were not to.

    Those of a branch that is not taken are dead; a Merge of both sides is not.
    """
    waiting: dict[Context, list[Operation]] = {}
    for op in ops:
        waiting.setdefault(op._context, []).append(op)
    while inner := [context for context in waiting if context is not loop]:
        side = max(inner, key=lambda context: len([*enclosing(context)]))
        assert isinstance(side, Branch)
        assert side.other is not None
        sides = (side.other, side) if side.taken_if else (side, side.other)
        ends = [_end(each, waiting.pop(each, [])) for each in sides]
        assert side.outer is not None
        with side.outer.entered():
            both: Operation = raw.Merge(ends)[0].op
        waiting.setdefault(side.outer, []).append(both)
    return waiting.get(loop, [])


def _end(side: Branch, ops: list[Operation]) -> Tensor:
    """Return a tensor in `side` that is there when `ops` have run."""
    assert side.pivot is not None
    pivot = side.pivot.outputs[0]
    if not ops:
        return pivot
    with side.entered(), side.graph.control_dependencies(ops):
        made: Tensor = raw.Identity(pivot)
    return made
