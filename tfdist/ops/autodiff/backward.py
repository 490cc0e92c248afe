"""The walk backwards from ys to xs, through one context or from where `gradients` was called.

A step of the walk is an operation, or a `Block`: above all a whole cond or a whole loop, whose
inputs are what was brought into it and whose outputs are what it gives to the outside. A step takes
part if it lies on a way from some x to some y on which every tensor has gradients. Steps are
visited from ys on, each when all that take its outputs were; then the gradients that arrived at
each output are summed, and the step makes from them those of its inputs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tfdist.graph.contexts import Context, enclosing
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.records import CONTROL_FLOW, ENTERS, EXITS, MERGES, SWITCHES
from tfdist.ops.autodiff.backward_steps import (
    Block,
    Crossing,
    Initial,
    Trace,
    Unknown,
    begins_variable,
    carries,
    enters,
    gives_result,
    home_of,
    push_of,
)
from tfdist.ops.autodiff.backward_sums import apply_rule, together, total
from tfdist.ops.control_flow.cond import Branch
from tfdist.ops.control_flow.loop_context import Loop

_BOUNDARIES = frozenset({*CONTROL_FLOW, "StackV2"}) - {"LoopCond"}


class Call:
    """What holds for one call of `gradients`.

    Attributes:
      graph: where it adds nodes.
      xs: what it was called for.
      stops: operations whose outputs count as constants.
      gate: whether gradients of one operation leave together.
      inner: the gradients of those xs that lie inside of branches and loops.
    """

    def __init__(
        self,
        graph: Graph,
        xs: Sequence[Tensor],
        stops: set[Operation],
        colocate: bool,
        gate: bool,
    ) -> None:
        self.graph, self.xs, self.stops = graph, frozenset(xs), stops
        self.gate = gate
        self._colocate = colocate
        self.inner: dict[Tensor, list[Any]] = {}

    def beside(self, op: Operation) -> AbstractContextManager[None]:
        """Return the scope in which nodes stand on the device of `op`, if that was asked for."""
        if not self._colocate:
            return nullcontext()
        return self.graph.colocate_with(op, ignore_existing=True)

    def rule(self, op: Operation) -> Callable[..., Any] | None:
        """Return the gradient rule of `op`, None if no gradient flows through it."""
        raise NotImplementedError

    def blocks(self, op: Operation) -> bool:
        """Return whether it is known of `op` that no gradient flows through it."""
        raise NotImplementedError

    def block_of(self, context: Context) -> Block:
        """Return the cond or loop that `context` is of, as one step."""
        raise NotImplementedError

    def pushed(self, handle: Tensor, push: Operation) -> Block:
        """Return the step from what is pushed to a stack to the stack."""
        raise NotImplementedError


Step = Operation | Block


class Level:
    """What one walk sees: the tensors of one context, or of those where `gradients` was called.

    Attributes:
      call: what holds for all walks of this call.
      context: the one whose inputs end the walk; None if it goes on to what they stand for.
      xs: those xs that are here, or in a context inside.
    """

    def __init__(self, call: Call, context: Context | None = None) -> None:
        self.call, self.context = call, context
        here = [context] if context is not None else [*enclosing(call.graph._context), None]
        self._contexts: frozenset[Context | None] = frozenset(here)
        self._blocks: dict[Any, Block] = {}
        self.xs = [x for x in call.xs if self._knows(x)]

    def step_of(self, tensor: Tensor) -> Step | None:
        """Return the step that makes `tensor`, None if it comes from outside of this context.

        Raises:
          ValueError: it is inside of a loop that this level is not in.
        """
        op = tensor.op
        if op._context in self._contexts and op.type not in _BOUNDARIES:
            return op
        return op if op in self.call.stops else self._special(tensor)

    def _knows(self, tensor: Tensor) -> bool:
        return not self._contexts.isdisjoint([*enclosing(home_of(tensor)), None])

    def _special(self, tensor: Tensor) -> Step | None:
        op, home = tensor.op, home_of(tensor)
        if home not in self._contexts:
            return self._around(tensor, home)
        if op.type == "StackV2":
            push = push_of(tensor)
            return op if push is None else self._block(op, lambda: self.call.pushed(tensor, push))
        return self._boundary(op)

    def _around(self, tensor: Tensor, home: Context | None) -> Block | None:
        """Return the cond or loop of this level in which `tensor` is."""
        for context in enclosing(home):
            if context.outer in self._contexts:
                if isinstance(context, Loop) and tensor.op.type != "StackV2":
                    raise ValueError(
                        f"{tensor.name!r} is inside of while loop {context.name!r}: it has a value "
                        "in each round, and gradients that are asked for outside can neither begin "
                        "nor end there"
                    )
                return self._whole(context)
        return None

    def _boundary(self, op: Operation) -> Step | None:
        """Return the step of an operation that belongs to a branch or a loop."""
        source = op.inputs[0].op._context
        if op.type in MERGES:
            side = next((each for each in enclosing(source) if gives_result(each, op)), None)
            if side is not None:
                return self._whole(side)
            if begins_variable(op):
                return None if self.context else self._block(op, lambda: Initial(op))
        elif op.type in EXITS and isinstance(source, Loop) and source not in self._contexts:
            return self._whole(source)
        elif op.type in ENTERS and enters(op, op._context):
            return None if self.context else self._block(op, lambda: Crossing(op))
        elif op.type in SWITCHES and op.inputs[1] is getattr(op._context, "pred", op):
            return None if self.context else self._block(op, lambda: Crossing(op))
        elif op.type in SWITCHES and op.inputs[1] is getattr(op._context, "condition", op):
            return self._block(op, lambda: Crossing(op))
        return self._block(op, lambda: Unknown(op))

    def _whole(self, context: Context) -> Block:
        key = context
        if isinstance(context, Branch) and not context.taken_if and context.other is not None:
            key = context.other  # one block for both sides
        return self._block(key, lambda: self.call.block_of(key))

    def _block(self, key: Any, make: Callable[[], Block]) -> Block:
        if key not in self._blocks:
            self._blocks[key] = make()
        return self._blocks[key]

    def above(self, ends: Iterable[Tensor]) -> Order:
        """Return the steps above `ends`, each after those that feed it (but for unknown loops)."""
        order, seen = Order(ends), set[Step]()
        stack: list[tuple[Step, bool]] = []

        def enter(tensor: Tensor) -> None:
            step = self.step_of(tensor)
            if isinstance(step, Block):
                order.used.setdefault(step, {})[tensor] = None
            if step is not None and step not in seen:
                stack.append((step, False))

        for tensor in order.ends:
            enter(tensor)
        while stack:
            step, inputs_done = stack.pop()
            if inputs_done:
                order.steps.append(step)
            elif step not in seen:
                seen.add(step)
                stack.append((step, True))
                if step not in self.call.stops:
                    for tensor in step.inputs:
                        enter(tensor)
        return order

    def ways(self, order: Order, wanted: Iterable[Tensor]) -> Ways:
        """Return which of these steps lie on ways from `wanted`."""
        ways = Ways(self, order, {*wanted, *self.xs})
        makers = {self.step_of(tensor) for tensor in ways.wanted}
        for step in order.steps:
            ways.add(step, step in makers)
        return ways

    def walk(self, ways: Ways, starts: Sequence[tuple[Tensor, Any]]) -> Arrived:
        """Return the gradients that arrive at the tensors on `ways`.

        Args:
          ways: where to go.
          starts: (tensor, its gradient) pairs; a gradient may be None.
        """
        arrived = Arrived(self)
        for tensor, start in starts:
            arrived.add(tensor, start)
        pending = ways.pending()
        first = [self.step_of(tensor) for tensor, _ in starts]
        ready = deque(dict.fromkeys(
            [step for step in (*first, *ways.needed) if not pending.get(step, 1)]  # type: ignore[arg-type]
        ))  # fmt: skip
        while ready:
            step = ready.popleft()
            assert step is not None
            needed = ways.needed[step]
            if isinstance(step, Block):
                self._visit_block(step, ways, arrived)
            else:
                self._visit(step, needed, arrived)
            for tensor in distinct_inputs(step, needed):
                above = self.step_of(tensor)
                if above in pending:
                    pending[above] -= 1
                    if not pending[above]:
                        ready.append(above)
        if self.context is not None:
            for x in self.xs:
                self.call.inner.setdefault(x, []).extend(arrived.parts.get(x, ()))
        return arrived

    def _visit_block(self, block: Block, ways: Ways, arrived: Arrived) -> None:
        totals = {tensor: arrived.settle(tensor) for tensor in arrived.at.get(block, ())}
        if totals:
            for tensor, part in zip(
                block.inputs, block.visit(totals, ways.traces[block]), strict=True
            ):
                arrived.add(tensor, part)

    def _visit(self, op: Operation, needed: tuple[bool, ...], arrived: Arrived) -> None:
        """Hand the gradients of the inputs of `op` on."""
        totals = [arrived.settle(tensor) for tensor in op.outputs]
        if True not in needed or all(total is None for total in totals):
            return
        call = self.call
        with call.beside(op), call.graph.name_scope(f"{op.name}_grad"):
            parts = apply_rule(call.rule(op), op, totals, needed)
            if call.gate and sum(part is not None for part in parts) > 1:
                parts = together(parts, call.graph)
        for tensor, part, wanted in zip(op.inputs, parts, needed, strict=True):
            if wanted:
                arrived.add(tensor, part)


class Order:
    """Steps above some tensors.

    Attributes:
      ends: those tensors.
      steps: each after those that feed it.
      used: for each block the outputs that are looked at.
    """

    def __init__(self, ends: Iterable[Tensor]) -> None:
        self.ends = list(ends)
        self.steps: list[Step] = []
        self.used: dict[Block, dict[Tensor, None]] = {}


class Ways:
    """The steps on ways from some tensors to others.

    Attributes:
      wanted: where the ways begin.
      needed: for each step, which of its inputs lie on one.
      traces: what blocks remember of that.
    """

    def __init__(self, level: Level, order: Order, wanted: set[Tensor]) -> None:
        self._level, self._order = level, order
        self.wanted = wanted
        self.needed: dict[Step, tuple[bool, ...]] = {}
        self.traces: dict[Block, Trace] = {}

    def reaches(self, tensor: Tensor) -> bool:
        """Return whether a way leads to `tensor`."""
        if not carries(tensor.dtype):
            return False
        if tensor in self.wanted:
            return True
        step = self._level.step_of(tensor)
        return step in self.needed and (
            not isinstance(step, Block) or self.traces[step].gives(tensor)
        )

    def add(self, step: Step, is_maker: bool) -> None:
        """Take `step` if it lies on a way; it does too if it makes a tensor that is wanted."""
        call = self._level.call
        if isinstance(step, Operation) and (step in call.stops or call.blocks(step)):
            candidates = (False,) * len(step.inputs)
        else:
            candidates = tuple([self.reaches(tensor) for tensor in step.inputs])
        if isinstance(step, Block):
            trace = step.trace(candidates, self._order.used[step])
            if trace is not None:
                self.needed[step], self.traces[step] = trace.needed, trace
        elif is_maker or True in candidates:
            self.needed[step] = candidates

    def pending(self) -> dict[Step, int]:
        """Return how many steps each one must wait for: those that take its outputs."""
        pending = dict.fromkeys(self.needed, 0)
        for step, needed in self.needed.items():
            for tensor in distinct_inputs(step, needed):
                above = self._level.step_of(tensor)
                if above in pending:
                    pending[above] += 1
        return pending

    def beginnings(self, ends: Iterable[Tensor]) -> set[Tensor]:
        """Return the wanted tensors from which a way leads to one of `ends`."""
        found, seen = set[Tensor](), set[Step]()
        stack = list(ends)
        while stack:
            tensor = stack.pop()
            if tensor in self.wanted:
                found.add(tensor)
            step = self._level.step_of(tensor)
            if step in self.needed and step not in seen:
                assert step is not None
                seen.add(step)
                stack += distinct_inputs(step, self.needed[step])
        return found


class Arrived:
    """Gradients on their way.

    Attributes:
      parts: for each tensor those that have come, one for each step that takes it.
      at: for each block, which of its outputs have any.
    """

    def __init__(self, level: Level) -> None:
        self._level = level
        self.parts: dict[Tensor, list[Any]] = {}
        self.at: dict[Block, dict[Tensor, None]] = {}

    def add(self, tensor: Tensor, part: Any) -> None:
        """Add a part of the gradient of `tensor`; None adds nothing."""
        if part is None:
            return
        self.parts.setdefault(tensor, []).append(part)
        step = self._level.step_of(tensor)
        if isinstance(step, Block):
            self.at.setdefault(step, {})[tensor] = None

    def settle(self, tensor: Tensor) -> Any:
        """Return the sum of what has come for `tensor`, None if nothing has; it stands for all."""
        parts = self.parts.get(tensor)
        if not parts:
            return None
        if len(parts) > 1:
            parts[:] = [total(parts, self._level.call.graph)]
        return parts[0]


def distinct_inputs(step: Step, needed: tuple[bool, ...]) -> Iterable[Tensor]:
    """Return the inputs of `step` that are needed, each once."""
    return dict.fromkeys([t for t, wanted in zip(step.inputs, needed, strict=True) if wanted])
