"""Generated functions, written line by line: one line of Python a node.

Names are registers: one is allocated again once its value is dead, so that the memory is free at
once, or is reused in place (`buffer_reuse`).
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tfdist.graph.op_def import hand_on
from tfdist.graph.records import FUSED, MERGES, SWITCHES, Node
from tfdist.plan.branch_predicates import Guard, choice, guard_of, needs
from tfdist.plan.compiling.buffer_reuse import elementwise
from tfdist.plan.compiling.copies import WRAPPER
from tfdist.plan.compiling.elementwise_fusion import members
from tfdist.plan.compiling.generated_file import Source
from tfdist.plan.compiling.node_bindings import kernel_of, scalar_or_array
from tfdist.plan.compiling.notes import NoNotes
from tfdist.plan.compiling.turned_factors import laid_out, often_turned, turned_factor
from tfdist.plan.compiling.value_liveness import Load, is_small
from tfdist.plan.prune import Endpoint

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
# Ops that give what they found before in their session, if they did: that saves the call, too.
_FOUND_AGAIN = {"VariableV2"}


class FunctionWriter:
    """Writes one function."""

    def __init__(
        self,
        source: Source,
        name: str,
        parameters: Iterable[str],
        nodes: Iterable[Node],
        over: Mapping[str, Endpoint],
        notes: NoNotes,
        registers: str = "r",
        slots: Mapping[Endpoint, int] | None = None,
    ) -> None:
        """Begin a function.

        Args:
          source: the file.
          name: of the function.
          parameters: their names.
          nodes: that it will run.
          over: for some of them the input that the result may be written over.
          notes: that it takes of them.
          registers: what their names begin with.
          slots: the places of values among those of the run, if not those of the program.
        """
        self._source, self._bindings = source, source.bindings
        self._slots = source.bindings.layout.slots if slots is None else slots
        self._prefix = registers
        self._lines: list[tuple[str, Node | None]] = [
            (f"def {name}({', '.join(parameters)}):", None)
        ]
        self._indent = "  "
        self._guard: Guard = ()
        self._registers: dict[Endpoint, str] = {}
        self._uses = _count_uses(nodes)
        self._reusable = over
        self._free: list[str] = []
        self._fresh = itertools.count()
        self._holders: dict[str, int] = {}  # register -> tensors that live in it
        self._often_turned = often_turned(source.bindings, nodes)
        self._laid_out: dict[Endpoint, str] = {}  # those of them that have been met
        self._finds_again = False
        self.notes = notes

    def find_again(self, nodes: Iterable[Node]) -> None:
        """Look up from now on what nodes have found before, if there are such nodes."""
        if not any(node.op in _FOUND_AGAIN for node in nodes):
            return
        self._source.names["known"] = self._bindings.callbacks.known
        self.open("found = known(e).get")
        self._finds_again = True

    def open(self, *texts: str, deeper: bool = False, node: Node | None = None) -> None:
        """Append lines, of `node` perhaps; what follows may stand deeper."""
        self.unguard()
        self._lines += [(self._indent + text, node) for text in texts]
        if deeper:
            self._indent += "  "

    def unguard(self) -> None:
        """Leave the branch that is being written."""
        self._guard = ()

    def close(self) -> None:
        """End the function."""
        self._source.add(self._lines)

    def bind(self, endpoint: Endpoint, name: str) -> None:
        """Let `name`, which is not made here, stand for a tensor."""
        self._registers[endpoint] = name

    def take(self, endpoint: Endpoint, load: Load) -> None:
        """Append lines that load a tensor, and clear its place if nobody else is to take it."""
        place, left = load
        register = self._registers[endpoint] = self._fresh_register()
        self._holders[register] = 1
        self.open(f"{register} = v[{place}]")
        if left:
            self.open(f"v[{left}] -= 1")
        last = f"if not v[{left}]: " if left else ""
        self.open(f"{last}v[{place}] = None")

    def _fresh_register(self) -> str:
        return f"{self._prefix}{next(self._fresh)}"

    def hold(self, endpoint: Endpoint) -> None:
        """Keep a tensor to the end of the function."""
        self._uses[endpoint] = self._uses.get(endpoint, 0) + 1

    def write(self, node: Node) -> None:
        """Append the lines of `node`."""
        if self._is_no_code(node):
            return
        over = self._overwritten(node)
        call = self._call(node, over)
        predicate = self._truth(node.inputs[1]) if node.op in SWITCHES else ""
        self._line(node, self.notes.before(node, predicate))
        died = self._release(node)
        targets = self._taken(node, over) if over else self._targets(node)
        self._assign(node, targets, call)
        self._line(node, self.notes.after(node, targets))
        left = [register for register in died if register in self._free]
        if left:
            self._line(node, " = ".join([*left, "None"]))
        self._keep(node)

    def _is_no_code(self, node: Node) -> bool:
        """Return whether no code is needed: the outputs have names, or there are none."""
        if self.notes.shows(node):
            return False
        if node.op == "Const":
            self._registers[node.name, 0] = self._constant(node)
            self._keep(node)
        elif node.op != "NoOp":
            if not self._hands_on(node) or self._is_read(node):
                return False
            self._alias(node)
        return True

    def _assign(self, node: Node, targets: str, call: str) -> None:
        condition = ""
        if self._finds_again and node.op in _FOUND_AGAIN:
            self._line(node, f"{targets} = found({self._source.name('s', node.name)})")
            condition = f"if {targets} is None: "
        self._line(node, f"{condition}{targets} = {call}" if targets else call)

    def _line(self, node: Node, text: str) -> None:
        if not text:
            return
        if node.op == FUSED:
            node = members(node)[-1]  # no user knows the other one
        guard = guard_of(node)
        if guard != self._guard:
            self._guard = guard
            if guard:
                self._lines.append((f"{self._indent}if {self._condition(guard)}:", node))
        indent = self._indent + "  " if guard else self._indent
        self._lines.append((f"{indent}{text}", node))

    def _condition(self, guard: Guard) -> str:
        """Return the expression of a guard: inner predicates exist only if the outer ones hold."""
        return " and ".join(
            self._truth(endpoint) if wanted else f"not {self._truth(endpoint)}"
            for endpoint, wanted in guard
        )

    def _truth(self, endpoint: Endpoint) -> str:
        """Return the expression of a predicate, which has to be of rank 0."""
        predicate = self.operand(endpoint)
        return predicate if self._bindings.shape(endpoint) == () else f"truth({predicate})"

    def _constant(self, node: Node) -> str:
        return self._source.name("c", scalar_or_array(node.attrs["value"]))

    def _is_read(self, node: Node) -> bool:
        """Return whether `node` takes the value of a variable, which has to happen in its turn."""
        return node.op != "RefSwitch" and self._bindings.is_variable(node.inputs[0])

    def _hands_on(self, node: Node) -> bool:
        """Return whether every output of `node` is its first input."""
        if node.op in _ALIASES or node.op in SWITCHES:
            return True
        return self._bindings.specialized(node) is hand_on

    def _alias(self, node: Node) -> None:
        """Let the outputs of `node` be the same name as its first input."""
        register = self.operand(node.inputs[0])
        for port in range(self._bindings.output_count(node)):
            self._registers[node.name, port] = register
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
        special = _SPECIAL.get(node.op)
        if special is not None:
            return special(self, node)
        rule, own = kernel_of(node), self._bindings.specialized(node)
        arguments = [f"context(e, {self._source.name('n', node)})"] if rule.takes_context else []
        all_operands = self._source.operands[node.name] = []
        for is_list, tensors in self._bindings.inputs(node):
            operands = [self._factor(node, *each) or self.operand(*each) for each in tensors]
            all_operands += operands
            arguments += [f"[{', '.join(operands)}]"] if is_list and not own else operands
        if over:
            name = self._source.name("k", elementwise(self._bindings, node))
            return f"{name}({', '.join(arguments)}, out={over})"
        infix = None if WRAPPER in node.attrs else _OPERATORS.get(own or rule.function)
        if infix:
            return infix.format(*arguments)
        kernel = own or self._bindings.kernel(node, rule)
        return f"{self._source.name('k', kernel)}({', '.join(arguments)})"

    def _switched(self, node: Node) -> str:
        """Return a value twice, for it is taken on one side; a variable is read once."""
        [tensor] = self._bindings.inputs(node)[0].tensors
        value = self.operand(*tensor)
        return f"({value},) * 2"

    def _chosen(self, node: Node) -> str:
        """Return the output and its position of a `Merge`."""
        predicate, first_if = choice(node)
        operands = [each for [each] in ([(self.operand(*tensor))] for tensor in self._merged(node))]
        if not first_if:
            operands.reverse()
        positions = ("zero", "one") if first_if else ("one", "zero")
        self._source.names.update(zero=np.int32(0), one=np.int32(1))
        pairs = [f"({each}, {at})" for each, at in zip(operands, positions, strict=True)]
        return f"{pairs[0]} if {self._truth(predicate)} else {pairs[1]}"

    def _merged(self, node: Node) -> list[tuple[Endpoint, bool]]:
        return self._bindings.inputs(node)[0].tensors

    def operand(self, endpoint: Endpoint, wanted: bool = False) -> str:
        """Return the expression for a tensor: a name made here, or a place of the run's values.

        Args:
          endpoint: the tensor.
          wanted: whether a variable stands there whose value is meant.
        """
        register = self._registers.get(endpoint)
        if register is None:
            register = f"v[{self._slots[endpoint]}]"
        return f"read({register})" if wanted else register

    def _factor(self, node: Node, endpoint: Endpoint, wanted: bool) -> str:
        """Return the name of a factor that many products turn, laid out for them; "" if none."""
        if endpoint not in self._often_turned or turned_factor(node) != endpoint:
            return ""
        if endpoint not in self._laid_out:
            name = self._laid_out[endpoint] = self._fresh_register()
            self._source.names.update(laid_out=laid_out)
            self._line(node, f"{name} = laid_out({self.operand(endpoint, wanted)})")
        return self._laid_out[endpoint]

    def name(self, node: Node) -> str:
        """Return a name for the record of a node."""
        return self._source.name("n", node)

    def input_of(self, node: Node) -> str:
        """Return the expression for the only input of `node`."""
        [[_, [(endpoint, wanted)]]] = self._bindings.inputs(node)
        return self._truth(endpoint) if node.op == "LoopCond" else self.operand(endpoint, wanted)

    def _release(self, node: Node) -> list[str]:
        """Free the names of inputs that nobody needs after `node`; returns those of large ones."""
        large = []
        for endpoint in needs(node):
            self._uses[endpoint] = self._uses.get(endpoint, 0) - 1
            register = self._registers.get(endpoint, "")
            if self._uses[endpoint] or register not in self._holders:
                continue
            if self._drop(register) and not is_small(self._bindings, endpoint):
                large.append(register)
        return large

    def _drop(self, register: str) -> bool:
        """Note that a tensor needs its name no more; returns whether the name is free."""
        self._holders[register] -= 1
        if self._holders[register]:
            return False
        del self._holders[register]
        self._free.append(register)
        return True

    def _targets(self, node: Node) -> str:
        count = self._bindings.output_count(node)
        registers = []
        for port in range(count):
            register = self._free.pop() if self._free else self._fresh_register()
            self._holders[register] = 1
            self._registers[node.name, port] = register
            registers.append(register)
        if node.op_def.has_one_output or not count:
            return "".join(registers)
        return ", ".join(registers) + ","

    def _keep(self, node: Node) -> None:
        """Put outputs that leave the unit into their places; free those that nobody uses."""
        for port in range(self._bindings.output_count(node)):
            endpoint = (node.name, port)
            register = self._registers[endpoint]
            place = self._slots.get(endpoint)
            if place is not None:
                self._line(node, f"v[{place}] = {register}")
            if not self._uses.get(endpoint) and register in self._holders:
                self._drop(register)


_SPECIAL: dict[str, Callable[[FunctionWriter, Node], str]] = {
    "Const": FunctionWriter._constant,
    "Switch": FunctionWriter._switched,
    **dict.fromkeys(MERGES, FunctionWriter._chosen),
}


def _count_uses(nodes: Iterable[Node]) -> dict[Endpoint, int]:
    uses: dict[Endpoint, int] = {}
    for node in nodes:
        for endpoint in needs(node):
            uses[endpoint] = uses.get(endpoint, 0) + 1
    return uses
