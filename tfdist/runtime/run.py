"""Run: one partition in one step, its values, and how they leave it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.errors import OpError
from tfdist.graph.records import Node
from tfdist.plan.compile import Program
from tfdist.plan.segment import ENVIRONMENT, NOTE

_LARGE = 1 << 24  # bytes


class Run:
    """One partition in one step: its values, and what its kernels can reach (the environment).

    Attributes:
      step: the step it belongs to.
      task: the worker that it runs on.
      session: the worker's state of the session.
      node: the node that an interpreted unit runs now.
    """

    __slots__ = (
        "node",
        "notes",
        "pending",
        "program",
        "remaining",
        "session",
        "step",
        "task",
        "values",
    )

    def __init__(self, step: Any, task: Any, session: Any, program: Program) -> None:
        self.step, self.task, self.session, self.program = step, task, session, program
        self.values = values = list(program.template)
        values[ENVIRONMENT] = self
        self.pending = list(program.pending)
        self.remaining = len(program.functions)
        self.node: Node | None = None
        self.notes: list[Any] = []
        values[NOTE] = self.notes.append

    def fetch(self, read: Callable[[Any], Any], private: bool = True) -> list[Any]:
        """Return the fetched values.

        Args:
          read: of a variable, its value.
          private: whether nobody else must hold them, so that the caller may write to them.
        """
        take, snapshot = (_private, _snapshot) if private else (_shared, _read)
        return [
            take(self.values, place)
            if variable is None
            else snapshot(self.values[place], variable, read)
            for place, variable in self.program.fetches
        ]


def _shared(values: list[Any], place: int) -> Any:
    return values[place]


def _private(values: list[Any], place: int) -> Any:
    value = values[place]
    if type(value) is not np.ndarray:
        return value
    if value.ndim == 0:
        return value[()]
    values[place] = None
    # two references: this variable and the argument of getrefcount
    if value.base is None and sys.getrefcount(value) == 2 and value.flags.owndata:
        return value
    return _copied(value)


def _copied(value: Any) -> Any:
    """Return a copy; two threads make that of a large array, half of whose time is page faults."""
    if value.nbytes < _LARGE or value.ndim == 0 or len(value) < 2:
        return value.copy()
    copy, half = np.empty_like(value), len(value) // 2
    other = threading.Thread(target=np.copyto, args=(copy[half:], value[half:]))
    other.start()
    np.copyto(copy[:half], value[:half])
    other.join()
    return copy


def _read(resource: Any, variable: Node, read: Callable[[Any], Any]) -> Any:
    try:
        return read(resource)
    except OpError as error:
        raise error.at_node(variable.name, variable.device) from None


def _snapshot(resource: Any, variable: Node, read: Callable[[Any], Any]) -> Any:
    value = _read(resource, variable, read)
    return _copied(value) if type(value) is np.ndarray else value
