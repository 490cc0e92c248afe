"""One op under the names that graphs of different times have for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.graph.op_def import OpDef

Function = Callable[..., Any]


class Spellings:
    """An op on a handle, the older spellings first; all do the same.

    Args:
      ops: one for each spelling.
    """

    def __init__(self, *ops: OpDef) -> None:
        self.ops = ops

    def shape(self, function: Function) -> Function:
        """Register the shape rule; usable as a decorator, as are the following."""
        for op_def in self.ops:
            op_def.shape(function)
        return function

    def kernel(self, function: Function) -> Function:
        """Register the kernel."""
        for op_def in self.ops:
            op_def.kernel(function)
        return function

    def prompt(self, function: Function) -> Function:
        """Register what runs if nothing has to be waited for."""
        for op_def in self.ops:
            op_def.prompt(function)
        return function

    def gradient(self, function: Function) -> Function:
        """Register the gradient, of the newest spelling only."""
        return self.ops[-1].gradient(function)

    def not_differentiable(self) -> Spellings:
        """State that no gradient flows through this op, and return it."""
        for op_def in self.ops:
            op_def.not_differentiable()
        return self

    def __call__(self, handle: Any, *inputs: Any, **attrs: Any) -> Any:
        """Add a node of the spelling that takes `handle`: a resource is for the newest one."""
        op_def = self.ops[-1] if handle.dtype.name == "resource" else self.ops[0]
        return op_def(handle, *inputs, **attrs)


OLD_HANDLE = (2,)  # what TensorFlow says of the shape of a handle that is no resource


def of_handles(made: Spellings) -> None:
    """Give the shape rules to an op that makes a handle, first as strings and then as resource."""
    old, new = made.ops
    old.shape(lambda: OLD_HANDLE)
    new.shape(lambda: ())
