"""Loop: the context that nodes of a `while_loop` are built in, with its frame and variables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes, lazy
from tfdist.graph.contexts import Context, enclosing
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor

_loop_of = lazy.function("tfdist.ops.control_flow.context_defs", "loop_of")


class Variable(NamedTuple):
    """The nodes of one loop variable, by the outputs that matter."""

    enter: Tensor
    merge: Tensor
    leaves: Tensor  # output_false of the Switch
    inner: Tensor  # the Identity that the body sees
    next: Tensor  # NextIteration
    exit: Tensor


class Loop(Context):
    """A loop.

    Attributes:
      frame: name of its frame.
      parallel_iterations: iterations that may run at the same time.
      back_prop: whether gradients may be asked for.
      variables: its variables, set when it is built.
      condition: output of its LoopCond.
      stacks: what gradients let it push in each iteration, by the handle of the stack.
    """

    def __init__(
        self, graph: Any, name: str, frame: str, parallel_iterations: int, back_prop: bool
    ) -> None:
        super().__init__(graph, name)
        self.frame = frame
        self.parallel_iterations, self.back_prop = parallel_iterations, back_prop
        self.variables: list[Variable] = []
        self.condition: Tensor | None = None
        self.stacks: dict[Tensor, Operation] = {}
        self._constants: set[Tensor] = set()
        self._waits: dict[Operation, Operation] = {}

    def IsWhileContext(self) -> bool:
        """Return whether this is a loop."""
        return True

    @staticmethod
    def from_proto(context_def: Any, import_scope: str | None = None) -> Loop:
        """Return the loop that a WhileContextDef tells, of nodes of the default graph."""
        loop: Loop = _loop_of(context_def, import_scope)
        return loop

    @property
    def loop_enters(self) -> list[Tensor]:
        """Return what enters for each variable."""
        return [each.enter for each in self.variables]

    @property
    def loop_exits(self) -> list[Tensor]:
        """Return what leaves for each variable."""
        return [each.exit for each in self.variables]

    def enter(self, tensor: Tensor, is_constant: bool, name: str | None = None) -> Tensor:
        """Return `tensor` in the frame: in its first iteration, or in every one if constant."""
        make = raw.RefEnter if is_constant and tensor.dtype.is_ref else raw.Enter
        entered: Tensor = make(
            tensor, frame_name=self.frame, is_constant=is_constant,
            parallel_iterations=self.parallel_iterations, name=name,
        )  # fmt: skip
        entered.op._context = self
        return entered

    def bring(self, tensor: Tensor) -> Tensor:
        """See `Context.bring`."""
        _check_reachable(tensor, self)
        entered = self.enter(tensor, True)
        self._constants.add(entered)
        return entered

    def inside_control(self, op: Operation) -> Operation:
        """See `Context.inside_control`: dependencies do not cross frames, so a value does."""
        if self.holds(op):
            return op
        if op not in self._waits:
            with self.graph._set(_control_scopes=()):
                self._waits[op] = raw.Identity(self._signal(op)).op
        return self._waits[op]

    def _signal(self, op: Operation) -> Tensor:
        """Return a tensor outside that is there when `op` has run."""
        if op.outputs and not op.outputs[0].dtype.is_ref:
            return op.outputs[0]
        with self.around(), self.graph.control_dependencies([op]):
            signal: Tensor = raw.Const(value=np.array(True), dtype=dtypes.bool_)
            return signal

    def is_gated(self, inputs: Iterable[Tensor]) -> bool:
        """See `Context.is_gated`: what takes only constants of the loop is not."""
        return any(tensor not in self._constants for tensor in inputs)


def _check_reachable(tensor: Tensor, context: Context | None) -> None:
    """Raise ValueError if `tensor` is inside of a loop that `context` is not in."""
    around = set(enclosing(context))
    for owner in enclosing(tensor.op._context):
        if isinstance(owner, Loop) and owner not in around:
            raise ValueError(
                f"Cannot use {tensor.op.name!r} here, because {tensor.op.name!r} is in a while "
                f"loop ({owner.name!r}): a value leaves a loop as one of its loop variables"
            )
