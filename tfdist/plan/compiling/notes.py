"""Notes in generated code: when each node of a traced step ran, in which round, what it made.

What is known of an output beforehand is described once, not in every run. The nodes of a loop that
lead values round become no code: they are noted where these are led, as what takes no time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from tfdist.graph.records import EXITS, SWITCHES, Node
from tfdist.plan.compiling.generated_file import Source
from tfdist.plan.frames import frame_name
from tfdist.plan.lower import LOOP, Loop
from tfdist.plan.prune import Endpoint

_OPAQUE = ("object", "void")  # types of elements that have no size of their own


class NoNotes:
    """The notes of a function that is not traced: there are none."""

    parameters: tuple[str, ...] = ()  # of the function of a loop, besides the loop's own
    arguments: tuple[str, ...] = ()  # with which it calls such a function

    def shows(self, node: Node) -> bool:
        """Return whether a trace shows a node of whatever kind."""
        return False

    def before(self, node: Node, predicate: str) -> str:
        """Return the line in front of what a node does, "" for none.

        Args:
          node: that is about to run.
          predicate: which side is alive, if it is a Switch.
        """
        return ""

    def after(self, node: Node, registers: str) -> str:
        """Return the line behind it, "" for none; `registers` is the target of its outputs."""
        return ""

    def entered(self, loop: Loop, parameters: Iterable[str]) -> Iterable[str]:
        """Return lines for the Enters of a loop, whose function has been called."""
        return ()

    def begun(self, loop: Loop, variables: Iterable[str]) -> Iterable[str]:
        """Return lines for a round that begins: Merges."""
        return ()

    def left(self, loop: Loop, variables: Iterable[str]) -> Iterable[str]:
        """Return lines for what leads values out of a loop: LoopCond, Switches and Exits."""
        return ()

    def stayed(self, loop: Loop, variables: Iterable[str]) -> Iterable[str]:
        """Return lines for what leads values to the rest of a round: LoopCond and Switches."""
        return ()

    def ended(self, loop: Loop, variables: Iterable[str]) -> Iterable[str]:
        """Return lines for what leads values to the next round: NextIterations."""
        return ()


class Notes(NoNotes):
    """The notes of one traced function.

    Args:
      source: the file.
      in_loop: whether it is that of a loop, whose rounds are told.
    """

    parameters = "note", "around"

    def __init__(self, source: Source, in_loop: bool) -> None:
        self._source, self._bindings = source, source.bindings
        callbacks = source.bindings.callbacks
        source.names.update(rounds_in=callbacks.rounds_in, outside=callbacks.outside)
        self._where = ", 0, where" if in_loop else ""
        self.arguments = "note", "where" if in_loop else "outside"

    def shows(self, node: Node) -> bool:
        """Return whether a node has code to be noted; what stands for an Exit its loop notes."""
        return node.op in EXITS or self._bindings.as_noted(node).op not in EXITS

    def before(self, node: Node, predicate: str) -> str:
        if node.op == LOOP:
            return ""
        return f"side, s = {predicate}, clock()" if node.op in SWITCHES else "s = clock()"

    def after(self, node: Node, registers: str) -> str:
        if node.op == LOOP:
            return ""
        names = [each.strip() for each in registers.split(",") if each.strip()]
        if node.op_def.may_run_on:  # a user's function may give something else than was said
            made = [f"describe({name})" for name in names]
        else:
            made = [self._described((node.name, port), name) for port, name in enumerate(names)]
        if node.op in SWITCHES:
            return self._noted(node, f"[None, {made[1]}] if side else [{made[0]}, None]", "clock()")
        if not made or node.op_def.has_one_output:
            return self._noted(node, "".join(made) or "None", "clock()")
        return self._noted(node, f"[{', '.join(made)}]", "clock()")

    def entered(self, loop: Loop, parameters: Iterable[str]) -> Iterator[str]:
        frame = self._source.name("f", frame_name(loop.enters[0]))
        yield f"round_of, number, s = rounds_in(around, {frame}), -1, clock()"
        for enter, name in zip(loop.enters, parameters, strict=True):
            value = self._described((enter.name, 0), name)
            yield self._noted(enter, value, where=", 0, around")

    def begun(self, loop: Loop, variables: Iterable[str]) -> Iterator[str]:
        yield "number, s = number + 1, clock()"
        yield "where = round_of(number)"
        place = self._constant((), np.int32)
        for variable, name in zip(loop.variables, variables, strict=True):
            value = self._described((variable.merge.name, 0), name)
            yield self._noted(variable.merge, f"[{value}, {place}]")

    def left(self, loop: Loop, variables: Iterable[str]) -> Iterator[str]:
        yield from self._decided(loop)
        exits = [node for node in loop.inner if node.op in EXITS]
        for variable, name in zip(loop.variables, variables, strict=True):
            if variable.switch is not None:
                source = variable.switch.name, 0
                value = self._described(source, name)
                yield self._noted(variable.switch, f"[{value}, None]")
                for node in [each for each in exits if each.inputs[0] == source]:
                    yield self._noted(node, value)

    def stayed(self, loop: Loop, variables: Iterable[str]) -> Iterator[str]:
        yield from self._decided(loop)
        for variable, name in zip(loop.variables, variables, strict=True):
            if variable.switch is not None:
                value = self._described((variable.switch.name, 1), name)
                yield self._noted(variable.switch, f"[None, {value}]")

    def ended(self, loop: Loop, variables: Iterable[str]) -> Iterator[str]:
        yield "s = clock()"
        for variable, name in zip(loop.variables, variables, strict=True):
            yield self._noted(variable.next, self._described((variable.next.name, 0), name))

    def _decided(self, loop: Loop) -> Iterator[str]:
        yield "s = clock()"
        yield self._noted(loop.condition, self._constant((), np.bool_))

    def _noted(self, node: Node, made: str, end: str = "s", where: str = "") -> str:
        """Return the line that notes a node which began at `s`."""
        name = self._source.name("n", self._bindings.as_noted(node))
        return f"note(({name}, s, {end}, {made}{where or self._where}))"

    def _described(self, endpoint: Endpoint, register: str) -> str:
        """Return the expression for what a trace keeps of an output."""
        shape, dtype = self._bindings.full_shape(endpoint), self._bindings.dtype(endpoint)
        if shape is None or dtype is None or dtype.is_ref:
            return f"describe({register})"
        if np.dtype(dtype.as_numpy_dtype).name in _OPAQUE:
            return f"describe({register})"
        return self._constant(shape, dtype.as_numpy_dtype)

    def _constant(self, shape: tuple[int, ...], dtype: object) -> str:
        alike = np.broadcast_to(np.zeros((), dtype), shape)  # type: ignore[call-overload]
        return self._source.name("d", self._bindings.callbacks.describe(alike))


def notes_of(source: Source, in_loop: bool) -> NoNotes:
    """Return the notes of a function; none if the program is not traced."""
    return Notes(source, in_loop) if source.bindings.traced else NoNotes()
