"""Code generation: the compiler's units as straight-line Python, one line a node.

    def segment(v):
        e = v[0]
        r0 = k0(v[2], c1)
        v[4] = r0

    def loop1(e, x0, x1, p0):
      check = e.check
      while True:
        ...

    def nodes2(p0, p1):
      t0 = k3(p0, p1)
      return k4(t0)

A loop is a function of its own; so is a chain of nodes for which a loop over elements may stand.
The source holds names that are made here, never a string of the graph. Names are registers:
one is allocated again once its value is dead, so that the memory is free at once, or is reused in
place (`buffer_reuse`). The traced form has the timing calls and every node; the other one leaves
out constants and nodes that only hand a value on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tfdist.base.aliases import TensorValue
from tfdist.graph.records import FUSED, Node
from tfdist.plan.compiling.buffer_reuse import reusable
from tfdist.plan.compiling.elementwise_fusion import chain_of, fuse_elementwise, members
from tfdist.plan.compiling.function_writer import FunctionWriter
from tfdist.plan.compiling.fused_loop import FusedLoop
from tfdist.plan.compiling.generated_file import Source
from tfdist.plan.compiling.node_bindings import Lines, NodeBindings
from tfdist.plan.compiling.notes import NoNotes, notes_of
from tfdist.plan.compiling.schedule import schedule
from tfdist.plan.compiling.value_liveness import Load
from tfdist.plan.lower import LOOP, Loop, loop_of
from tfdist.plan.prune import Endpoint
from tfdist.plan.segment import ENVIRONMENT, NOTE, Unit

_NOTHING: Mapping[Endpoint, Load] = {}


def generate(
    bindings: NodeBindings, unit: Unit, loads: Mapping[Endpoint, Load] = _NOTHING
) -> tuple[Callable[[list[TensorValue]], None], Lines]:
    """Return a function that runs the nodes of `unit`, and which node stands on which line.

    Args:
      bindings: of the program.
      unit: what to run.
      loads: the values of the run that die in it, see `value_liveness`.
    """
    source = Source(bindings)
    # a trace shows what each node does by itself: nothing is written over
    nodes = unit.nodes if bindings.traced else schedule(bindings, unit.nodes)
    over = {} if bindings.traced else reusable(bindings, nodes)
    writer = _Writer(source, "segment", ["v"], nodes, over, notes_of(source, in_loop=False))
    writer.open(f"e = v[{ENVIRONMENT}]")
    if bindings.traced:
        writer.open(f"note = v[{NOTE}]")
    else:
        writer.find_again(nodes)
    for endpoint, load in loads.items():
        writer.take(endpoint, load)
    for node in nodes:
        writer.write(node)
    writer.close()
    return source.function("segment")


class _Writer(FunctionWriter):
    """Writes one function, and those that it calls."""

    def _call(self, node: Node, over: str) -> str:
        if node.op == LOOP:
            return self._looped(node)
        if node.op == FUSED:
            return self._fused(node)
        return super()._call(node, over)

    def _looped(self, node: Node) -> str:
        """Return the call of a loop, which is a function of its own."""
        loop = loop_of(node)
        arguments = ["e", *self.notes.arguments]
        for enter, endpoint in zip(loop.enters, node.inputs, strict=True):
            wanted = enter.op == "Enter" and self._bindings.is_variable(endpoint)
            arguments.append(self.operand(endpoint, wanted))
        return f"{_write_loop(self._source, loop)}({', '.join(arguments)})"

    def _fused(self, node: Node) -> str:
        """Return the call of a loop over elements; it takes what computes the same node by node."""
        share = self._bindings.callbacks.share
        loop = self._source.name("k", FusedLoop(chain_of(self._bindings, node), share))
        operands = [self.operand(endpoint) for endpoint in node.inputs]
        return f"{loop}({_write_nodes(self._source, node)}, {', '.join(operands)})"


def _write_loop(source: Source, loop: Loop) -> str:
    """Write the function of a loop; returns its name."""
    name = source.name("loop", None)
    parameters = [f"p{i}" for i in range(len(loop.enters))]
    ends = [loop.condition, *(variable.next for variable in loop.variables)]
    kept = {end.inputs[0] for end in ends}
    traced = source.bindings.traced
    body = loop.body if traced else fuse_elementwise(source.bindings, loop.body, kept)
    nodes = (*loop.head, *body)
    over = {} if traced else reusable(source.bindings, nodes, kept)
    notes = notes_of(source, in_loop=True)
    writer = _Writer(source, name, ["e", *notes.parameters, *parameters], nodes, over, notes)
    for endpoint in kept:
        writer.hold(endpoint)
    for parameter, enter in zip(parameters, loop.enters, strict=True):
        writer.bind((enter.name, 0), parameter)
    for parameter, variable in zip(parameters, loop.variables, strict=False):
        writer.bind((variable.merge.name, 0), parameter)
        if variable.switch is not None:
            writer.bind((variable.switch.name, 1), parameter)
    _write_iterations(writer, loop, body, parameters)
    writer.close()
    return name


def _write_iterations(
    writer: _Writer, loop: Loop, body: Sequence[Node], parameters: list[str]
) -> None:
    notes, variables = writer.notes, parameters[: len(loop.variables)]
    writer.open("check = e.check", *notes.entered(loop, parameters))
    writer.open("while True:", deeper=True)
    writer.open(*notes.begun(loop, variables))
    for node in loop.head:
        writer.write(node)
    result = ", ".join(variables) + ","
    writer.open(f"if not {writer.input_of(loop.condition)}:", node=loop.condition)
    writer.open(*[f"  {line}" for line in notes.left(loop, variables)], f"  return {result}")
    writer.open(*notes.stayed(loop, variables))
    for node in body:
        writer.write(node)
    following = [writer.input_of(variable.next) for variable in loop.variables]
    writer.open(f"{result} = {', '.join(following)},", node=loop.variables[0].next)
    writer.open(*notes.ended(loop, variables))
    writer.open(f"check({writer.name(loop.condition)})", node=loop.condition)


def _write_nodes(source: Source, node: Node) -> str:
    """Write the function that computes a chain of nodes one by one; returns its name."""
    name, nodes = source.name("nodes", None), members(node)
    parameters = [f"p{i}" for i in range(len(node.inputs))]
    over = reusable(source.bindings, nodes)
    # its registers have names of their own, so that an error of the loop finds none of them
    writer = _Writer(source, name, parameters, nodes, over, NoNotes(), registers="t", slots={})
    for parameter, endpoint in zip(parameters, node.inputs, strict=True):
        writer.bind(endpoint, parameter)
    writer.hold((node.name, 0))
    for each in nodes:
        writer.write(each)
    writer.open(f"return {writer.operand((node.name, 0))}")
    writer.close()
    return name
