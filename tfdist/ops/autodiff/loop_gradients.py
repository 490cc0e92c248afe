"""The gradient of a loop: another one, which goes through its rounds backwards.

Its variables are the number of rounds that are left; the gradient of each variable of the forward
loop, which is the gradient of what a round makes of it when a round begins, and of what it had
been before when the round ends; and for each tensor that the forward loop takes as it is in every
round, the sum of its gradients so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.contexts import Context, enclosing
from tfdist.graph.graph import Graph
from tfdist.graph.handles import value_behind
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.records import ENTERS, SWITCHES
from tfdist.ops.autodiff.backward import Arrived, Call, Level, Ways
from tfdist.ops.autodiff.backward_contexts import BackwardLoop, Opened, open_variable
from tfdist.ops.autodiff.backward_steps import Block, Trace
from tfdist.ops.autodiff.backward_sums import of_shape, zeros_for
from tfdist.ops.autodiff.gradient_utils import shape_of
from tfdist.ops.control_flow.loop_context import Loop
from tfdist.ops.framework.indexed_slices import IndexedSlices, no_rows
from tfdist.ops.math.add_n import ADD_N

_BRING = (*ENTERS, *SWITCHES)


class _LoopTrace(Trace):
    """The ways through a round.

    Attributes:
      ways: from what a round begins with, to what it makes of it.
      carried: the variables that have a gradient, by number.
    """

    def __init__(
        self, needed: tuple[bool, ...], ways: Ways, carried: list[int], given: set[Tensor]
    ) -> None:
        super().__init__(needed)
        self.ways, self.carried, self._given = ways, carried, given

    def gives(self, tensor: Tensor) -> bool:
        """See `Trace.gives`."""
        return tensor in self._given or self.ways.reaches(tensor)


class While(Block):
    """A loop as one step of a walk.

    Its outputs are its Exits, and the stacks that gradients let it fill.
    """

    def __init__(self, call: Call, loop: Loop) -> None:
        self._call, self._loop = call, loop
        self._level = Level(call, loop)
        variables = loop.variables
        self._merges = [each.merge for each in variables]
        self._nexts = [each.next.op.inputs[0] for each in variables]
        self._exits = [each.exit for each in variables]
        self._constants = [
            leaf
            for leaf in loop.brought.values()
            if leaf.op.type in ENTERS and leaf.op.inputs[0] not in loop.stacks
        ]
        leaves = [*[each.enter for each in variables], *self._constants]
        self.inputs = tuple([leaf.op.inputs[0] for leaf in leaves])

    def trace(self, candidates: tuple[bool, ...], used: Iterable[Tensor]) -> Trace | None:
        """See `Block.trace`."""
        if not self._loop.back_prop:
            return None
        count, used = len(self._merges), set(used)
        stacks = [tensor for tensor in used if tensor in self._loop.stacks]
        first, constant = candidates[:count], candidates[count:]
        ways, active = self._active(first, constant, stacks)
        begin = {i for i in active if self._exits[i] in used}
        carried, reached = self._carried(ways, begin, active, stacks)
        if not carried and not reached:
            return None
        needed = [first[i] and i in carried for i in range(count)]
        needed += [
            each and leaf in reached for each, leaf in zip(constant, self._constants, strict=True)
        ]
        given = {self._exits[i] for i in carried}
        return _LoopTrace(tuple(needed), ways, sorted(carried), given)

    def _active(
        self, first: Sequence[bool], constant: Sequence[bool], stacks: Sequence[Tensor]
    ) -> tuple[Ways, set[int]]:
        """Return the ways through a round, and which variables depend on an x in some round."""
        order = self._level.above([*self._nexts, *stacks])
        wanted = [leaf for leaf, each in zip(self._constants, constant, strict=True) if each]
        active = {i for i, each in enumerate(first) if each}
        while True:
            ways = self._level.ways(order, [*wanted, *[self._merges[i] for i in active]])
            more = {i for i, tensor in enumerate(self._nexts) if ways.reaches(tensor)}
            if more <= active:
                return ways, active
            active |= more

    def _carried(
        self, ways: Ways, begin: set[int], active: set[int], stacks: Sequence[Tensor]
    ) -> tuple[set[int], set[Tensor]]:
        """Return which active variables the outputs that are used depend on, and what besides."""
        carried = begin
        while True:
            reached = ways.beginnings([*[self._nexts[i] for i in carried], *stacks])
            more = {i for i in active if self._merges[i] in reached}
            if more <= carried:
                return carried, reached
            carried = carried | more

    def visit(self, totals: dict[Tensor, Any], trace: Any) -> Sequence[Any]:
        """See `Block.visit`."""
        _check_reached_once(self._loop, self._call.graph._context)
        rounds = _Rounds(self._call, self._loop)
        carried: dict[int, Opened] = {i: rounds.carry(i, totals) for i in trace.carried}
        starts = [(self._nexts[i], opened.inner) for i, opened in carried.items()]
        starts += [(tensor, part) for tensor, part in totals.items() if tensor in self._loop.stacks]
        with rounds.backward.entered():
            arrived = self._level.walk(trace.ways, starts)
        firsts = {i: rounds.end(i, opened, arrived) for i, opened in carried.items()}
        count = len(self._merges)
        parts = [firsts[i] if needed else None for i, needed in enumerate(trace.needed[:count])]
        sums = [
            rounds.summed(leaf, arrived) if needed else None
            for leaf, needed in zip(self._constants, trace.needed[count:], strict=True)
        ]
        last = rounds.backward.close()
        return parts + [
            part if leaf.op.inputs[0].op.type in _BRING else _after(last, part)
            for leaf, part in zip(self._constants, sums, strict=True)
        ]


class _Rounds:
    """The rounds of a loop backwards, while they are built.

    Attributes:
      backward: the loop.
    """

    def __init__(self, call: Call, loop: Loop) -> None:
        self._call, self._loop, self._graph = call, loop, call.graph
        self.backward = BackwardLoop(loop)

    def carry(self, number: int, totals: dict[Tensor, Any]) -> Opened:
        """Begin the variable that carries the gradient of variable `number`."""
        variable = self._loop.variables[number]
        with self._scope(variable.exit.op):
            start = totals.get(variable.exit)
            start = zeros_for(variable.exit) if start is None else start._as_tensor(False)
            shape = variable.merge.plain_shape
            return open_variable(self.backward, start, shape, "b_exit", "b_switch")

    def end(self, number: int, opened: Opened, arrived: Arrived) -> Tensor:
        """Give that variable its next value; returns the gradient of its first value."""
        variable = self._loop.variables[number]
        with self._scope(variable.exit.op):
            with self.backward.entered():
                found = arrived.settle(variable.merge)
                if found is None:
                    found = zeros_for(variable.inner)
                found = self.backward.inside(found._as_tensor(False))
                of_shape(found, variable.merge, "the gradient")
            last = self.backward.end_variable(opened, found, "Exit")
        return of_shape(last, variable.enter.op.inputs[0], "the gradient")

    def summed(self, leaf: Tensor, arrived: Arrived) -> Any:
        """Return the sum of a tensor's gradients over all rounds, None if it has none."""
        with self._scope(leaf.op):
            with self.backward.entered():
                found = arrived.settle(leaf)
            if found is None or found.dtype is dtypes.resource:
                return found
            source = leaf.op.inputs[0]
            if isinstance(found, IndexedSlices):
                return self._joined(source, found)
            shape = value_behind(source).shape
            return self._accumulated(zeros_for(source), found, shape, _add)

    def _joined(self, source: Tensor, found: IndexedSlices) -> IndexedSlices:
        index_type = found.indices.dtype.base_dtype
        none = no_rows(source, index_type)
        shape = value_behind(source).shape
        rows = None if shape is None else (None, *shape[1:])
        values = self._accumulated(none.values, found.values, rows, _concat)
        indices = self._accumulated(none.indices, found.indices, (None,), _concat)
        return IndexedSlices(values, indices, shape_of(source))

    def _accumulated(self, start: Tensor, part: Tensor, shape: Any, combine: Any) -> Tensor:
        opened = open_variable(self.backward, start, shape, "b_acc", "b_acc")
        with self.backward.entered():
            value = combine(opened.inner, part)
            value.set_shape(shape)
        return self.backward.end_variable(opened, value, "b_acc")

    @contextmanager
    def _scope(self, op: Operation) -> Iterator[None]:
        with self._call.beside(op), self._graph.name_scope(f"{op.name}_grad"):
            yield


def _add(total: Tensor, part: Tensor) -> Tensor:
    if total.dtype is dtypes.variant:
        return ADD_N([total, part])  # type: ignore[no-any-return]
    added: Tensor = raw.Add(total, part)
    return added


def _concat(rows: Tensor, part: Tensor) -> Tensor:
    joined: Tensor = raw.ConcatV2([rows, part], 0)
    return joined


def _check_reached_once(loop: Loop, context: Context | None) -> None:
    """Raise ValueError if `context` is in a loop that does not go with the one around `loop`."""
    for each in enclosing(context):
        if loop.outer in (each, getattr(each, "forward", each)):
            return
        if isinstance(each, Loop):
            raise ValueError(
                f"the gradient of while loop {loop.name!r} cannot be computed inside of loop "
                f"{each.name!r}, because {loop.name!r} is outside of it and runs once: compute it "
                "outside, and take the result inside"
            )


# stacks: what the rounds backwards take from the rounds forwards has gradients too


def _after(last: Operation, part: Any) -> Any:
    """Return a gradient, after the loop if it is a stack, which the loop has to fill."""
    if part is None or part.dtype is not dtypes.resource:
        return part
    graph = part.graph
    with graph.control_dependencies([last]), graph.colocate_with(part.op, ignore_existing=True):
        return raw.Identity(part)


class Pushed(Block):
    """What a loop pushes to a stack, as a step from that to the stack.

    The gradient of a stack is a stack of the gradients of its elements.
    """

    def __init__(self, call: Call, push: Operation) -> None:
        self._graph = call.graph
        self.inputs = push.inputs[1:]

    def visit(self, totals: dict[Tensor, Any], trace: Any) -> Sequence[Any]:
        """See `Block.visit`."""
        (stack,) = totals.values()
        here = self._graph._context
        return [here.loop.popped(stack, self.inputs[0], here)]


def pop_gradient(op: Operation, d_elem: Any) -> Tensor:
    """Return the stack of what arrives here in each round."""
    here = op.graph._context
    stack: Tensor = here.loop.keep(here.inside(d_elem._as_tensor(False)))
    return stack


def hide_rounds(graph: Graph, before: int) -> None:
    """Let nobody feed or fetch what was added to loops since `before`: it has many values."""
    around = set(enclosing(graph._context))
    for op in graph.operations_since(before):
        inner = [each for each in enclosing(op._context) if each not in around]
        if any(isinstance(each, Loop) for each in inner):
            graph.prevent_fetching(op)
            for output in op.outputs:
                graph.prevent_feeding(output)
