"""Branches and loops as TensorFlow's messages, CondContextDef and WhileContextDef, and back.

A MetaGraph keeps them in two collections, so that gradients can go through what was imported.
Those that gradients made for themselves are left out, as TensorFlow does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.contexts import Context, enclosing
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.records import EXITS, MERGES, SWITCHES
from tfdist.ops.control_flow.cond import Branch
from tfdist.ops.control_flow.loop_context import Loop, Variable
from tfdist.protos import pb

_TEXT = ("cond_text_1", "cond_text")  # by the predicate


# to messages


def context_defs(graph: Graph, export_scope: str | None = None) -> tuple[list[Any], list[Any]]:
    """Return the outermost branches of a graph, and its outermost loops, as messages.

    Args:
      graph: the graph.
      export_scope: only what is in it is told, without it in the names.
    """
    prefix = f"{export_scope}/" if export_scope else ""
    found = _Contexts(graph, prefix)
    outermost = [each for each in found.inner if each.outer is None and found.is_told(each)]
    conds = [found.branch(each) for each in outermost if isinstance(each, Branch)]
    return conds, [found.loop(each) for each in outermost if isinstance(each, Loop)]


def context_def(context: Context, export_scope: str | None = None) -> Any:
    """Return one branch or loop as a message; None if it is not in `export_scope`."""
    found = _Contexts(context.graph, f"{export_scope}/" if export_scope else "")
    found.inner.setdefault(context, [])
    if not found.is_told(context):
        return None
    if isinstance(context, Branch):
        return found.branch(context)
    return found.loop(context)  # type: ignore[arg-type]


class _Contexts:
    """The branches and loops of a graph that users made.

    Attributes:
      ops: the operations directly in each of them.
      inner: those directly in each of them.
    """

    def __init__(self, graph: Graph, prefix: str) -> None:
        self._prefix = prefix
        self.ops: dict[Context, list[Operation]] = {}
        self.inner: dict[Context, list[Context]] = {}
        for op in graph.get_operations():
            around = [*enclosing(op._context)]
            if around and all(type(each) in (Branch, Loop) for each in around):
                self._note(op, around)
        for each in self.inner:
            if each.outer is not None:
                self.inner[each.outer].append(each)

    def _note(self, op: Operation, around: list[Context]) -> None:
        self.ops.setdefault(around[0], []).append(op)
        for context in reversed(around):
            for each in _sides(context):
                self.inner.setdefault(each, [])

    def is_told(self, context: Context) -> bool:
        """Return whether a context is in the scope that is told of."""
        return f"{context.name}/".startswith(self._prefix)

    def branch(self, branch: Branch) -> Any:
        """Return the CondContextDef of one side of a cond."""
        assert branch.pivot is not None
        proto = pb.CondContextDef(
            context_name=self._name(f"{branch.name}/{_TEXT[branch.taken_if]}"),
            pred_name=self._name(branch.pred.name),
            pivot_name=self._name(branch.pivot.outputs[0].name),
            branch=int(branch.taken_if),
            nested_contexts=self._nested(branch),
        )
        own = [branch.pred, branch.pivot.outputs[0]]
        self._fill(proto.values_def, branch, own, [(branch.pred, branch.pred)])
        return proto

    def loop(self, loop: Loop) -> Any:
        """Return the WhileContextDef of a loop."""
        assert loop.pivot is not None
        assert loop.condition is not None
        proto = pb.WhileContextDef(
            context_name=self._name(loop.frame),
            parallel_iterations=loop.parallel_iterations,
            back_prop=loop.back_prop,
            pivot_name=self._name(loop.condition.name),
            pivot_for_pred_name=self._name(loop.variables[0].merge.name),
            pivot_for_body_name=self._name(loop.pivot.outputs[0].name),
            loop_exit_names=[self._name(each.exit.name) for each in loop.variables],
            loop_enter_names=[self._name(each.enter.name) for each in loop.variables],
            nested_contexts=self._nested(loop),
        )
        self._fill(proto.values_def, loop, [each.exit for each in loop.variables], [])
        return proto

    def _nested(self, context: Context) -> list[Any]:
        return [
            pb.ControlFlowContextDef(cond_ctxt=self.branch(each))
            if isinstance(each, Branch)
            else pb.ControlFlowContextDef(while_ctxt=self.loop(each))  # type: ignore[arg-type]
            for each in self.inner[context]
        ]

    def _fill(self, proto: Any, context: Context, own: list[Tensor], taken: list[Any]) -> None:
        taken += [(o, i) for o, i in context.brought.items() if o is not i]
        values = {*self._values(context), *own, *(outside for outside, _ in taken)}
        proto.values.extend(map(self._name, sorted(tensor.name for tensor in values)))
        for outside, inside in taken:
            proto.external_values[self._name(outside.name)] = self._name(inside.name)

    def _values(self, context: Context) -> Iterator[Tensor]:
        """Yield the tensors in a context; those in branches inside count as well."""
        brought = {*context.brought.values()}
        switches = {tensor.op for tensor in brought if isinstance(context, Branch)}
        for op in self.ops.get(context, ()):  # the other side of a Switch is not inside
            yield from (each for each in op.outputs if op not in switches or each in brought)
        for each in self.inner[context]:
            if isinstance(each, Branch):
                yield from self._values(each)

    def _name(self, name: str) -> str:
        return name.removeprefix(self._prefix)


def _sides(context: Context) -> list[Context]:
    """Return a context, and the other side of the cond: that may have no nodes of its own."""
    if isinstance(context, Branch) and context.other is not None:
        return [context, context.other]
    return [context]


# and back


def restore_contexts(
    graph: Graph, conds: Iterable[Any], loops: Iterable[Any], import_scope: str = ""
) -> list[Any]:
    """Let imported nodes be in branches and loops again; returns the outermost ones.

    Args:
      graph: that has the nodes.
      conds: CondContextDef messages.
      loops: WhileContextDef messages.
      import_scope: in which the names are found.

    Raises:
      KeyError: a node is not there.
    """
    restorer = _Restorer(graph, f"{import_scope}/" if import_scope else "")
    made: list[Context] = [restorer.branch(proto, None) for proto in conds]
    made += [restorer.loop(proto, None) for proto in loops]
    restorer.finish()
    return made


def from_control_flow_context_def(context_def: Any, import_scope: str | None = None) -> Any:
    """Return the branch or loop of a ControlFlowContextDef, of nodes of the default graph."""
    if context_def.HasField("cond_ctxt"):
        return branch_of(context_def.cond_ctxt, import_scope)
    return loop_of(context_def.while_ctxt, import_scope)


def branch_of(context_def: Any, import_scope: str | None = None) -> Any:
    """Return the branch that a CondContextDef describes, of nodes of the default graph."""
    graph = scopes.get_default_graph()
    return restore_contexts(graph, [context_def], [], import_scope or "")[0]


def loop_of(context_def: Any, import_scope: str | None = None) -> Any:
    """Return the loop that a WhileContextDef describes, of nodes of the default graph."""
    graph = scopes.get_default_graph()
    return restore_contexts(graph, [], [context_def], import_scope or "")[0]


ControlFlowContext, CondContext, WhileContext = Context, Branch, Loop  # TensorFlow's names


class _Restorer:
    """Makes branches and loops of messages."""

    def __init__(self, graph: Graph, prefix: str) -> None:
        self._graph, self._prefix = graph, prefix
        self._branches: list[Branch] = []

    def _find(self, name: str) -> Tensor:
        return self._graph.get_tensor_by_name(self._prefix + name)

    def branch(self, proto: Any, outer: Context | None) -> Branch:
        """Return one side of a cond."""
        pred, pivot = self._find(proto.pred_name), self._find(proto.pivot_name)
        name = self._scope(proto.context_name)
        branch = Branch(self._graph, name, pred, pivot, bool(proto.branch))
        self._branches.append(branch)
        self._fill(branch, proto, outer, {pred.op, pivot.op})
        return branch

    def loop(self, proto: Any, outer: Context | None) -> Loop:
        """Return a loop."""
        enters = [self._find(name) for name in proto.loop_enter_names]
        frame = enters[0].op.get_attr("frame_name").decode()
        options = (proto.parallel_iterations, proto.back_prop)
        loop = Loop(self._graph, self._scope(proto.context_name), frame, *options)
        loop.condition = self._find(proto.pivot_name)
        loop.pivot = self._find(proto.pivot_for_body_name).op
        exits = {self._find(name).op for name in proto.loop_exit_names}
        self._fill(loop, proto, outer, exits)
        loop.variables = [each for enter in enters for each in _variable(loop, enter)]
        loop._constants.update(loop.brought.values())
        return loop

    def _scope(self, context_name: str) -> str:
        return (self._prefix + context_name).rpartition("/")[0]

    def _fill(self, context: Context, proto: Any, outer: Context | None, around: set[Any]) -> None:
        """Put a context and what is in it where they belong; `around` are nodes outside of it."""
        context.outer = outer
        taken = proto.values_def.external_values
        for name in proto.values_def.values:
            op = self._find(name).op
            if name not in taken and op not in around:
                op._context = context
        for outside, inside in taken.items():
            if outside != inside:
                context.brought[self._find(outside)] = self._find(inside)
        for each in proto.nested_contexts:
            if each.HasField("cond_ctxt"):
                self.branch(each.cond_ctxt, context)
            else:
                self.loop(each.while_ctxt, context)

    def finish(self) -> None:
        """Let the sides of each cond know of each other, and of their results."""
        by_pred: dict[Tensor, dict[bool, Branch]] = {}
        for branch in self._branches:
            by_pred.setdefault(branch.pred, {})[branch.taken_if] = branch
        pairs = [(sides[False], sides[True]) for sides in by_pred.values() if len(sides) == 2]
        merges = [op for op in self._graph.get_operations() if op.type in MERGES]
        for f, t in pairs:
            f.other, t.other = t, f
            both = [op for op in merges if _joins(op, f, t)]
            for position, side in enumerate((f, t)):
                side.results = [op.inputs[position] for op in both]
                side.merges = [op.outputs[0] for op in both]


def _joins(merge: Operation, f: Branch, t: Branch) -> bool:
    """Return whether a Merge gives a result of a cond."""
    if merge._context is not f.outer or len(merge.inputs) != 2:
        return False
    return all(_is_of(side, each) for side, each in zip((f, t), merge.inputs, strict=True))


def _is_of(side: Branch, tensor: Tensor) -> bool:
    return side.holds(tensor.op) or tensor in side.brought.values()


def _variable(loop: Loop, enter: Tensor) -> Iterator[Variable]:
    """Yield the variable that begins with `enter`, if all its nodes are there."""
    for merge in _users(enter, MERGES):
        for switch in _users(merge.outputs[0], SWITCHES):
            leaves, goes_on = switch.outputs
            inner = next((op.outputs[0] for op in _users(goes_on, ("Identity",))), goes_on)
            for leaving in _users(leaves, EXITS):
                yield Variable(
                    enter, merge.outputs[0], leaves, inner, merge.inputs[1], leaving.outputs[0]
                )
                return


def _users(tensor: Tensor, types: tuple[str, ...]) -> Iterator[Operation]:
    return (op for op in tensor._consumers if op.type in types)
