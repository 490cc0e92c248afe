"""A generated file: lines of Python, each with the node it belongs to, and the objects it names.

The source holds names that are made here, never a string of the graph.
"""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from tfdist.base.aliases import TensorValue
from tfdist.graph.op_def import truth
from tfdist.graph.records import Node
from tfdist.plan.compiling.node_bindings import Lines, NodeBindings

_serial = itertools.count()  # tells generated files apart in tracebacks
# Files whose functions are gone. A collection may end them at any moment, while a traceback walks
# through linecache too, which fails if an entry goes: so they leave when the next file comes.
_gone: deque[str] = deque()


def _forget_gone() -> None:
    while _gone:
        linecache.cache.pop(_gone.popleft(), None)


class Source:
    """A generated file: its functions, and the objects that they name."""

    def __init__(self, bindings: NodeBindings) -> None:
        callbacks = bindings.callbacks
        self.bindings = bindings
        self.names: dict[str, Any] = {
            "read": callbacks.read,
            "clock": callbacks.clock,
            "context": callbacks.context,
            "describe": callbacks.describe,
            "truth": truth,
        }
        self._lines: list[str] = []
        self._nodes: dict[int, Node] = {}
        self.operands: dict[str, list[str]] = {}  # by name of the node

    def name(self, prefix: str, value: object) -> str:
        """Return a name for an object."""
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name

    def add(self, lines: Iterable[tuple[str, Node | None]]) -> None:
        """Append a function, each line with the node it belongs to."""
        for text, node in lines:
            self._lines.append(text)
            if node is not None:
                self._nodes[len(self._lines)] = node

    def function(self, name: str) -> tuple[Callable[[list[TensorValue]], None], Lines]:
        """Return one of the functions, compiled, and the lines of the file."""
        file = f"<tfdist segment {next(_serial)}>"
        source = "\n".join(self._lines) + "\n"
        _forget_gone()
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        exec(compile(source, file, "exec"), self.names)  # our own names only, see above
        function = self.names[name]
        weakref.finalize(function, _gone.append, file).atexit = False
        return function, Lines(file, self._nodes, self.operands)


def source_of(lines: Lines) -> str:
    """Return the generated source of a unit; "" for an interpreted one."""
    return "".join(linecache.getlines(lines.file)) if lines.file else ""
