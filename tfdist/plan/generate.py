"""The compiler's units: straight-line Python, one line a node.

    def segment(v):
        e = v[0]
        r0 = k0(v[2], c1)
        v[4] = r0

The source holds names that are made here, never a string of the graph. A value's name is taken
again once the value is dead, so that its memory is free at once, or is written over (`reuse`). The
traced form has the timing calls and every node; the other one leaves out constants and nodes that
only hand a value on.
"""

from __future__ import annotations

import itertools
import linecache
import operator
from collections.abc import Callable, Iterable
from typing import Any

from tfdist.graph.records import Node
from tfdist.plan.prune import Endpoint
from tfdist.plan.reuse import elementwise, reusable
from tfdist.plan.segment import ENVIRONMENT, NOTE, Unit
from tfdist.plan.wiring import Lines, Wiring, bound, kernel_of, scalar_or_array

# Ops that hand their only input on.
_ALIASES = {"Identity", "StopGradient", "PlaceholderWithDefault", "PreventGradient"}

# Kernels that are Python's operators are written as such, which saves the call.
_OPERATORS: dict[Any, str] = {
    operator.add: "({} + {})",
    operator.sub: "({} - {})",
    operator.mul: "({} * {})",
    operator.truediv: "({} / {})",
    operator.neg: "(-{})",
    operator.lt: "({} < {})",
    operator.le: "({} <= {})",
    operator.gt: "({} > {})",
    operator.ge: "({} >= {})",
}

_serial = itertools.count()  # tells generated files apart in tracebacks


def generate(wiring: Wiring, unit: Unit) -> tuple[Callable[[list[Any]], None], Lines]:
    """Return a function that runs the nodes of `unit`, and which node stands on which line."""
    writer = _Writer(wiring, unit)
    for node in unit.nodes:
        writer.write(node)
    return writer.function()


class _Writer:
    """Writes the source of one unit and collects the objects that it names."""

    def __init__(self, wiring: Wiring, unit: Unit) -> None:
        binding = wiring.binding
        self._wiring = wiring
        self._names: dict[str, Any] = {
            "read": binding.read,
            "clock": binding.clock,
            "context": binding.context,
            "describe": binding.describe,
        }
        self._lines = ["def segment(v):", f"  e = v[{ENVIRONMENT}]"]
        if wiring.traced:
            self._lines.append(f"  note = v[{NOTE}]")
        self._nodes: dict[int, Node] = {}
        self._registers: dict[Endpoint, str] = {}
        self._uses = _count_uses(unit.nodes)
        # a trace shows what each node does by itself: nothing is written over
        self._reusable = {} if wiring.traced else reusable(wiring, unit)
        self._free: list[str] = []
        self._fresh = itertools.count()
        self._holders: dict[str, int] = {}  # register -> tensors that live in it

    def write(self, node: Node) -> None:
        """Append the lines of `node`."""
        traced = self._wiring.traced
        if node.op == "Const" and not traced:
            self._registers[node.name, 0] = self._constant(node)
            return
        if node.op in _ALIASES and not traced and not self._is_read(node):
            self._alias(node)
            return
        over = self._overwritten(node)
        call = self._call(node, over)
        self._release(node)
        targets = self._taken(node, over) if over else self._targets(node)
        if traced:
            self._line(node, "s = clock()")
        self._line(node, f"{targets} = {call}" if targets else call)
        if traced:
            self._names[name := f"n{len(self._names)}"] = node
            made = f"describe({_result(targets, node)})"
            self._line(node, f"note(({name}, s, clock(), {made}))")
        self._keep(node)

    def function(self) -> tuple[Callable[[list[Any]], None], Lines]:
        """Return the compiled function and its lines."""
        file = f"<tfdist segment {next(_serial)}>"
        source = "\n".join(self._lines) + "\n"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        exec(compile(source, file, "exec"), self._names)  # our own names only, see above
        return self._names["segment"], Lines(file, self._nodes)

    def _line(self, node: Node, text: str) -> None:
        self._lines.append(f"  {text}")
        self._nodes[len(self._lines)] = node

    def _name(self, prefix: str, value: Any) -> str:
        name = f"{prefix}{len(self._names)}"
        self._names[name] = value
        return name

    def _constant(self, node: Node) -> str:
        return self._name("c", scalar_or_array(node.attrs["value"]))

    def _is_read(self, node: Node) -> bool:
        """Return whether `node` takes the value of a variable, which has to happen in its turn."""
        return self._wiring.is_variable(node.inputs[0])

    def _alias(self, node: Node) -> None:
        """Let the output of `node` be the same name as its input."""
        register = self._operand(node.inputs[0], False)
        endpoint = (node.name, 0)
        self._registers[endpoint] = register
        if register in self._holders:
            self._holders[register] += 1
        self._release(node)
        self._keep(node)

    def _overwritten(self, node: Node) -> str:
        """Return the name of the dying input that the result may be written over, "" if none."""
        endpoint = self._reusable.get(node.name)
        register = self._registers.get(endpoint, "") if endpoint else ""
        return register if self._holders.get(register) == 1 else ""

    def _taken(self, node: Node, register: str) -> str:
        """Return `register`, just freed, as the name of the result."""
        self._free.remove(register)
        self._holders[register] = 1
        self._registers[node.name, 0] = register
        return register

    def _call(self, node: Node, over: str) -> str:
        if node.op == "Const":
            return self._constant(node)
        rule = kernel_of(node)
        arguments = [f"context(e, {self._name('n', node)})"] if rule.takes_context else []
        for is_list, tensors in self._wiring.inputs(node):
            operands = [self._operand(endpoint, wanted) for endpoint, wanted in tensors]
            arguments.append(f"[{', '.join(operands)}]" if is_list else operands[0])
        if over:
            return f"{self._name('k', elementwise(node))}({', '.join(arguments)}, {over})"
        infix = _OPERATORS.get(rule.function)
        if infix:
            return infix.format(*arguments)
        return f"{self._name('k', bound(node, rule))}({', '.join(arguments)})"

    def _operand(self, endpoint: Endpoint, wanted: bool) -> str:
        """Return the expression for a tensor: a name made here, or a place of the run's values."""
        register = self._registers.get(endpoint)
        if register is None:
            register = f"v[{self._wiring.layout.slots[endpoint]}]"
        return f"read({register})" if wanted else register

    def _release(self, node: Node) -> None:
        """Free the names of inputs that nobody needs after `node`."""
        for endpoint in node.inputs:
            self._uses[endpoint] = self._uses.get(endpoint, 0) - 1
            register = self._registers.get(endpoint, "")
            if not self._uses[endpoint] and register in self._holders:
                self._drop(register)

    def _drop(self, register: str) -> None:
        self._holders[register] -= 1
        if not self._holders[register]:
            del self._holders[register]
            self._free.append(register)

    def _targets(self, node: Node) -> str:
        count = self._wiring.output_count(node)
        registers = []
        for port in range(count):
            register = self._free.pop() if self._free else f"r{next(self._fresh)}"
            self._holders[register] = 1
            self._registers[node.name, port] = register
            registers.append(register)
        if node.op_def.has_one_output or not count:
            return "".join(registers)
        return ", ".join(registers) + ","

    def _keep(self, node: Node) -> None:
        """Put outputs that leave the unit into their places; free those that nobody uses."""
        for port in range(self._wiring.output_count(node)):
            endpoint = (node.name, port)
            register = self._registers[endpoint]
            place = self._wiring.layout.slots.get(endpoint)
            if place is not None:
                self._line(node, f"v[{place}] = {register}")
            if not self._uses.get(endpoint) and register in self._holders:
                self._drop(register)


def _count_uses(nodes: Iterable[Node]) -> dict[Endpoint, int]:
    uses: dict[Endpoint, int] = {}
    for node in nodes:
        for endpoint in node.inputs:
            uses[endpoint] = uses.get(endpoint, 0) + 1
    return uses


def _result(targets: str, node: Node) -> str:
    if not targets:
        return "None"
    return targets if node.op_def.has_one_output else f"[{targets}]"


def source_of(lines: Lines) -> str:
    """Return the generated source of a unit; "" for an interpreted one."""
    return "".join(linecache.getlines(lines.file)) if lines.file else ""
