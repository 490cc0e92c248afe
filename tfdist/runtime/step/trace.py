"""What a traced step noted of its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

from tfdist.graph.records import Node
from tfdist.plan.compiling.program import Program
from tfdist.plan.lower import inner_nodes
from tfdist.runtime.step.run import Run
from tfdist.tracing.steps.loop_iterations import OUTSIDE, Rounds


class PartTrace(NamedTuple):
    """What one partition noted, in the order in which its nodes ended; times by one clock.

    Attributes:
      program: that ran.
      nodes: None stands for the beginning of the partition.
      starts: nanoseconds since the epoch.
      ends: likewise.
      results: what each node gave, as `descriptions.describe` does; of a beginning, the
        disturbances that were in force then, or None.
      came: when what a node waited for came, a tensor from another task mostly; 0 if it never
        waited. Empty if none did.
      rounds: in which round of which loops a node ran. Empty if there is no loop.
    """

    program: Program
    nodes: tuple[Node | None, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    results: tuple[Any, ...]
    came: tuple[int, ...] = ()
    rounds: tuple[Rounds, ...] = ()


def trace(runs: Iterable[Run]) -> list[PartTrace]:
    """Return the notes of all runs that noted something."""
    return [_part(run) for run in runs if run.notes]


def _part(run: Run) -> PartTrace:
    nodes, starts, ends, results, *more = zip_longest(*run.notes)
    came, rounds = (*more, (), ())[:2]
    came = tuple([each or 0 for each in came]) if any(came) else ()
    if None in rounds:
        rounds = tuple([OUTSIDE if each is None else each for each in rounds])
    return PartTrace(run.program, nodes, starts, ends, results, came, rounds)


def devices_of(program: Program) -> tuple[str, ...]:
    """Return the devices of a program's nodes, in the order of the nodes."""
    return tuple(dict.fromkeys(node.device for node in _nodes(program)))


def _nodes(program: Program) -> Iterator[Node]:
    """Yield the nodes of a program, with those in its loops."""
    for nodes in program.nodes:
        yield from inner_nodes(nodes)
    if program.frame is not None:
        for inner in program.frame.inner.values():
            yield from _nodes(inner)
