"""What programs ask of nodes in branches and loops, by TensorFlow's names.

Source: TF 1.15, tensorflow.python.ops.control_flow_util, by what its functions answer.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.contexts import Context, enclosing
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.records import EXITS, MERGES, SWITCHES

_ENTERS = ("Enter", "RefEnter")


def IsSwitch(op: Operation) -> bool:
    """Return whether a node is a Switch."""
    return op.type in SWITCHES


def IsMerge(op: Operation) -> bool:
    """Return whether a node is a Merge."""
    return op.type in MERGES


def IsLoopEnter(op: Operation) -> bool:
    """Return whether a node is an Enter."""
    return op.type in _ENTERS


def IsLoopExit(op: Operation) -> bool:
    """Return whether a node is an Exit."""
    return op.type in EXITS


def IsLoopConstantEnter(op: Operation) -> bool:
    """Return whether a node brings a value into a loop that is the same in all iterations."""
    return IsLoopEnter(op) and bool(op.get_attr("is_constant"))


def GetLoopConstantEnter(value: Tensor) -> Operation | None:
    """Return the Enter by which a constant of a loop came in; None if it is none."""
    op = value.op
    while op.type in {"Identity", "RefIdentity", *SWITCHES, *MERGES}:
        op = op.inputs[0].op
    return op if IsLoopConstantEnter(op) else None


def IsLoopSwitch(op: Operation) -> bool:
    """Return whether a node is a Switch that decides whether a loop goes on."""
    context = op._get_control_flow_context()
    return (
        IsSwitch(op) and context is not None and context.IsWhileContext() and not IsCondSwitch(op)
    )


def IsLoopMerge(op: Operation) -> bool:
    """Return whether a node is a Merge at which the iterations of a loop meet."""
    context = op._get_control_flow_context()
    return IsMerge(op) and context is not None and context.IsWhileContext() and not IsCondMerge(op)


def IsCondSwitch(op: Operation) -> bool:
    """Return whether a node is a Switch that leads into a branch."""
    if not IsSwitch(op) or not op.outputs:
        return False
    takers = [taker for output in op.outputs for taker in output.consumers()]
    is_cond = {_is_of_branch(taker) for taker in takers}
    return bool(is_cond) and False not in is_cond


def _is_of_branch(op: Operation) -> bool:
    context = op._get_control_flow_context()
    if IsLoopEnter(op) and context is not None:
        context = context.outer_context
    return context is not None and context.IsCondContext()


def IsCondMerge(op: Operation) -> bool:
    """Return whether a node is a Merge at which two branches meet."""
    if not IsMerge(op) or not op.inputs:
        return False
    return all(_ends_branch(tensor) for tensor in op.inputs)


def _ends_branch(tensor: Tensor) -> bool:
    context = GetOutputContext(tensor.op)
    return context is not None and context.IsCondContext()


def IsInWhileLoop(op: Operation) -> bool:
    """Return whether a node is in a loop, in a branch there perhaps."""
    return GetContainingWhileContext(op._get_control_flow_context()) is not None


def IsInCond(op: Operation) -> bool:
    """Return whether a node is in a branch, in a loop there perhaps."""
    return GetContainingCondContext(op._get_control_flow_context()) is not None


def IsInXLAContext(op: Operation) -> bool:
    """Return False: there is no compiler that knows of contexts."""
    return False


def GraphOrParentsInXlaContext(graph: Any) -> bool:
    """Return False: there is no compiler that knows of contexts."""
    return False


def GetOutputContext(op: Operation) -> Context | None:
    """Return the context that a node's outputs are in: of an Exit the one around the loop."""
    context: Context | None = op._get_control_flow_context()
    if context is not None and context.IsWhileContext() and IsLoopExit(op):
        return context.outer_context
    return context


def GetWhileContext(op: Operation) -> Context | None:
    """Return the innermost loop around a node's outputs, None if there is none."""
    return GetContainingWhileContext(GetOutputContext(op))


def GetContainingWhileContext(
    ctxt: Context | None, stop_ctxt: Context | None = None
) -> Context | None:
    """Return the innermost loop that a context is or is in; None from `stop_ctxt` outwards."""
    for each in enclosing(ctxt):
        if each.IsWhileContext() or each is stop_ctxt:
            return None if each is stop_ctxt else each
    return None


def GetContainingCondContext(ctxt: Context | None) -> Context | None:
    """Return the innermost branch that a context is or is in, None if there is none."""
    return next((each for each in enclosing(ctxt) if each.IsCondContext()), None)


def IsContainingContext(ctxt: Context | None, maybe_containing_ctxt: Context | None) -> bool:
    """Return whether a context is another one, or is in it; all are in None."""
    return maybe_containing_ctxt is None or maybe_containing_ctxt in list(enclosing(ctxt))


def OpInContext(op: Operation, ctxt: Context) -> bool:
    """Return whether a node is in a context."""
    return IsContainingContext(op._get_control_flow_context(), ctxt)


def TensorInContext(tensor: Any, ctxt: Context) -> bool:
    """Return whether a tensor's node is in a context."""
    return OpInContext(tensor.op, ctxt)


def GetContainingXLAContext(ctxt: Context | None) -> None:
    """Return None: nothing is compiled by XLA."""
