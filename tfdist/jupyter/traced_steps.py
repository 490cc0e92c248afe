"""Which traced step a magic is about: the last one, or one that the user's variable holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from IPython.core.error import UsageError

from tfdist.jupyter.trace import Trace, recent
from tfdist.session.recording import PlacedNode
from tfdist.tracing.calls import NotedCall
from tfdist.tracing.steps.node_row import NodeRow
from tfdist.tracing.steps.rows import rows


class TracedStep(NamedTuple):
    """What is known of a step: its RunMetadata, and more if it was traced here.

    Attributes:
      metadata: a `RunMetadata`.
      nodes: what was placed where.
      calls: of the session's methods.
      fetches: what was asked for, as text.
      repetitions: rows of all complete runs of the trace that fetched the same.
      calls_s: how many seconds the call of each took.
      made_at: the line of the program that made a node, by its name.
    """

    metadata: Any
    nodes: Sequence[PlacedNode] = ()
    calls: Sequence[NotedCall] = ()
    fetches: str = ""
    repetitions: Sequence[Sequence[NodeRow]] = ()
    calls_s: Sequence[float] = ()
    made_at: Mapping[str, str] = {}


def traced_step(
    variables: Mapping[str, Any], magic: str, name: str | None, step: int = -1
) -> TracedStep:
    """Return a step of the trace in a variable, or of the last trace.

    Args:
      variables: the user's.
      magic: its name, for errors.
      name: of a variable with a Trace or a RunMetadata; None for the last trace.
      step: which run of the trace.

    Raises:
      UsageError: there is no trace, no such run, or something else in the variable.
    """
    if name is None and not recent:
        raise UsageError(f"%{magic}: nothing was traced yet; try %trace sess.run(c)")
    value: Any = recent[-1] if name is None else variables.get(name)
    if isinstance(value, Trace):
        try:
            run = value.run(step)
        except IndexError as error:
            raise UsageError(f"%{magic}: {error}") from None
        repeated = value.repetitions(), value.repetitions_s()
        return TracedStep(run.metadata, run.nodes, run.calls, run.fetches, *repeated, run.made_at)
    if hasattr(value, "step_stats"):
        return TracedStep(value, repetitions=[rows(value.step_stats)])
    what = "is not defined" if name not in variables else f"is {_kind(value)}"
    there = ", ".join(key for key, each in variables.items() if _is_traced(key, each))
    hint = f"such variables are {there}" if there else f"%trace -o {name} sess.run(c) makes one"
    raise UsageError(f"%{magic}: {name} {what}; wanted is a Trace or a RunMetadata: {hint}")


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def _is_traced(name: str, value: Any) -> bool:
    return not name.startswith("_") and (isinstance(value, Trace) or hasattr(value, "step_stats"))
