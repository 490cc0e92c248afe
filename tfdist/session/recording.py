"""`record_runs`: trace every run of the process for a while, whoever calls it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfdist.session.blocks import Block
from tfdist.tracing.calls import NotedCall, listened


class PlacedNode(NamedTuple):
    """A node and its device.

    Attributes:
      name: of the node.
      op: its op.
      requested: device that was asked for; "" if none was.
      device: full name of the device it is on; "" if none can run it.
      reason: why it is there, in a few words.
      inputs: names of the nodes it takes values from, and "^NAME" of those it only runs after.
      within: the loops and sides of conds around it, from the outside.
    """

    name: str
    op: str
    requested: str
    device: str
    reason: str
    inputs: tuple[str, ...]
    within: tuple[Block, ...] = ()


class PlacedNodes(list[PlacedNode]):
    """Nodes in the order in which they were made; a notebook shows them as a table."""


@dataclass(frozen=True)
class RecordedRun:
    """One `Session.run` inside `record_runs`.

    Attributes:
      fetches: names of what was fetched.
      metadata: RunMetadata with its step statistics; empty if the run failed.
      target: of the session.
      seconds: that the run took.
      error: what it raised, or None.
      nodes: the nodes that it needed, placed; none if its session could not tell.
      calls: that its session made since the run before, as far as they were made here.
      made_at: the line of the program that made a node, by its name.
    """

    fetches: str
    metadata: Any
    target: str
    seconds: float
    error: BaseException | None
    nodes: tuple[PlacedNode, ...]
    calls: tuple[NotedCall, ...] = ()
    made_at: Mapping[str, str] = field(default_factory=dict)


# The lists that runs append to; empty almost always, which is all that a run looks at.
active: list[list[RecordedRun]] = []


@contextmanager
def record_runs() -> Iterator[list[RecordedRun]]:
    """Trace every `Session.run` of this process inside the context.

    Yields:
      A list to which each run appends a `RecordedRun` as it ends.
    """
    runs: list[RecordedRun] = []
    active.append(runs)
    try:
        with listened():
            yield runs
    finally:
        active.remove(runs)
