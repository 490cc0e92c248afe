"""Contexts: where nodes are built that run only sometimes (a branch) or many times (a loop).

A node belongs to the context in which its outputs live. What a node inside takes from outside is
brought in first: by a `Switch` into a branch, by an `Enter` into a loop, through all contexts
between. A node that takes nothing from inside waits for the context's pivot, so that it runs when,
and as often as, the context runs.

The two kinds, with their nodes, are `ops.control_flow.cond.Branch` and
`ops.control_flow.loop_context.Loop`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager

from tfdist.base import lazy
from tfdist.base.aliases import OwnGraph
from tfdist.graph.operation import Operation, Tensor
from tfdist.protos import pb

# What knows the messages stands above this file.
_to_proto = lazy.function("tfdist.ops.control_flow.context_defs", "context_def")


class Context:
    """One branch or one loop while it is built, and what is remembered of it for gradients.

    Attributes:
      graph: where its nodes are.
      name: the name scope it was made in.
      outer: the context around it, None outside of all.
      pivot: an operation that runs whenever the context does.
      brought: tensors from outside, and what stands for each inside.
    """

    def __init__(self, graph: OwnGraph, name: str) -> None:
        self.graph, self.name = graph, name
        self.outer: Context | None = graph._context
        self.pivot: Operation | None = None
        self.brought: dict[Tensor, Tensor] = {}

    def entered(self) -> AbstractContextManager[None]:
        """Return the scope in which nodes are built in this context.

        Dependencies from outside stay outside: whatever is inside waits for what brings it in.
        """
        manager: AbstractContextManager[None] = self.graph._set(_context=self, _control_scopes=())
        return manager

    def around(self) -> AbstractContextManager[None]:
        """Return the scope in which nodes are built that bring something into this context."""
        manager: AbstractContextManager[None] = self.graph._set(
            _context=self.outer, _control_scopes=()
        )
        return manager

    def holds(self, op: Operation) -> bool:
        """Return whether `op` is inside, in an inner context perhaps."""
        return any(context is self for context in enclosing(op._context))

    def inside(self, tensor: Tensor, consumer: str = "") -> Tensor:
        """Return what stands for `tensor` inside; brings it in for node `consumer` if need be."""
        if tensor.graph is not self.graph:  # of a graph around a function's body
            tensor = self.graph.inside(consumer, tensor)
        found = self.brought.get(tensor)
        if found is None:
            if self.holds(tensor.op):
                return tensor
            with self.graph._set(_name_stack=consumer or self.graph._name_stack), self.around():
                found = self.bring(tensor)
            found.op._context = self
            self.brought[tensor] = found
        return found

    def adopt(
        self, name: str, inputs: tuple[Tensor, ...], control: Iterable[Operation]
    ) -> tuple[tuple[Tensor, ...], list[Operation]]:
        """Return inputs and dependencies for a new node `name` inside.

        Raises:
          ValueError: an input is inside of a loop that this context is not in.
        """
        brought = tuple([self.inside(tensor, name) for tensor in inputs])
        waits = [self.inside_control(op) for op in control]
        if not self.is_gated(brought) and not any(map(self.holds, waits)):
            assert self.pivot is not None
            waits.append(self.pivot)
        return brought, waits

    # by TensorFlow's names, for programs that look at them

    @property
    def outer_context(self) -> Context | None:
        """Return the context around this one."""
        return self.outer

    def GetWhileContext(self) -> Context | None:
        """Return this context or the innermost around it that is a loop, None if there is none."""
        return next((each for each in enclosing(self) if each.IsWhileContext()), None)

    def IsCondContext(self) -> bool:
        """Return whether this is a branch."""
        return not self.IsWhileContext()

    def IsWhileContext(self) -> bool:
        """Return whether this is a loop."""
        return False

    def IsXLAContext(self) -> bool:
        """Return False: there is no compiler that knows of contexts."""
        return False

    def Enter(self) -> None:
        """Let nodes be built in this context from here on."""
        self.graph._context = self

    def Exit(self) -> None:
        """Let nodes be built around this context again."""
        self.graph._context = self.outer

    def to_proto(self, export_scope: str | None = None) -> pb.Message:
        """Return this as a message, CondContextDef or WhileContextDef.

        Args:
          export_scope: only what is in it is told, without it in the names; None is returned for
            a context outside.
        """
        proto: pb.Message = _to_proto(self, export_scope)
        return proto

    # the two kinds

    def bring(self, tensor: Tensor) -> Tensor:
        """Return a new tensor inside with the value of `tensor`; called in `around`."""
        raise NotImplementedError

    def inside_control(self, op: Operation) -> Operation:
        """Return what a node inside waits for instead of `op`."""
        raise NotImplementedError

    def is_gated(self, inputs: Iterable[Tensor]) -> bool:
        """Return whether a node that takes `inputs` runs only when the context does."""
        raise NotImplementedError


def enclosing(context: Context | None) -> Iterator[Context]:
    """Yield `context` and those around it, from the inside."""
    while context is not None:
        yield context
        context = context.outer
