"""What an error is told before a user sees it: which line made its node, and why a task was lost.

How a task ended is known in this process where it was started here.
"""

from __future__ import annotations

from collections.abc import Callable

from tfdist.errors import OpError, UnavailableError
from tfdist.graph.functions import calls_functions
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation

_tellers: list[Callable[[str], str]] = []


def tell_of_losses(teller: Callable[[str], str]) -> Callable[[], None]:
    """Let `teller` explain errors of lost tasks; returns a function to undo that.

    Args:
      teller: takes an error's message, which names the address of the task, and returns a sentence
        about the end of the process there, or "".
    """
    _tellers.append(teller)

    def undo() -> None:
        if teller in _tellers:
            _tellers.remove(teller)

    return undo


def _explain_loss(error: OpError) -> None:
    """Add to an error that a task is lost what is known of its end."""
    if not isinstance(error, UnavailableError):
        return
    for teller in tuple(_tellers):
        told = teller(error.message)
        if told and told not in error.message:
            error.message += f"\n{told}"


def explain(error: OpError, graph: Graph) -> None:
    """Tell `error` which line of the program made its node, or the call that it is part of.

    If a task was lost, tell how it ended, where that is known.
    """
    _explain_loss(error)
    op = graph._by_name.get(error.node_name) or _call_around(graph, error.node_name)
    if op is not None:
        error.made_by(op)


def _call_around(graph: Graph, name: str) -> Operation | None:
    """Return the call of a function whose body node `name` was in."""
    while "/" in name:
        name = name.rpartition("/")[0]
        op = graph._by_name.get(name)
        if op is not None and calls_functions(op.op_def):
            return op
    return None
