"""Snapshot: what the records of steps in flight are made from, each looked at once.

A thousand steps may wait for one queue, each in a thread of its own: to look at all threads, or at
all who stand in line, anew for each step would take a second where this takes a millisecond.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import cached_property
from types import FrameType
from typing import NamedTuple, Protocol

from tfdist.graph.op_def import Wait
from tfdist.graph.records import Node
from tfdist.plan.segment import ENVIRONMENT
from tfdist.runtime.resources.registry import Resources
from tfdist.runtime.resources.wait_info import ResourceInfo, WaitInfo
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.seams import StepState
from tfdist.runtime.step.thread_frames import thread_frames

Place = tuple[str, str, str]  # container, kind and name

# What is in the names of the classes that programs make -> what they are.
_KINDS = {
    "Queue": "queue", "Accumulator": "accumulator", "Barrier": "barrier",
    "StagingArea": "staging area", "other": "other",
}  # fmt: skip


class Told(Protocol):
    """A resource that tells of itself (`runtime.resources.locked_resource.LockedResource`)."""

    def info(self) -> ResourceInfo:
        """Return what is to be told of this moment."""


class _WaitQueue(NamedTuple):
    """A resource, what it tells, and what each who stands in line lacks: of what, how many."""

    resource: Told
    info: ResourceInfo
    lacking: dict[int, tuple[str, int]]


class Snapshot:
    """One look at this process, for the records of all steps that are told of together."""

    def __init__(self) -> None:
        self._queues: dict[int, _WaitQueue] = {}
        self._places: dict[int, tuple[Resources, dict[int, Place]]] = {}

    def computing(self, step: StepState) -> list[tuple[Node, str]]:
        """Return the nodes of a step that threads of this process compute, each with its task."""
        return [(node, task) for of, node, task in self._computed if of is step]

    @cached_property
    def _computed(self) -> list[tuple[StepState, Node, str]]:
        return [each for frame in thread_frames().values() for each in _computed(frame)]

    def info(self, resource: Told) -> ResourceInfo:
        """Return what a resource tells of itself."""
        return self._queue(resource).info

    def wait(self, wait: Wait) -> WaitInfo:
        """Return what a wait (a `graph.op_def.Wait`) tells; of one in a line, what it lacks."""
        info: WaitInfo = wait.info()
        if info.who is None:
            return info
        line = self._queue(info.resource)
        kind = next((each for each in _KINDS if each in line.info.kind), "other")
        needs, missing = line.lacking.get(id(info.who), ("", 0))
        return info._replace(kind=_KINDS[kind], needs=needs, missing=missing)

    def _queue(self, resource: Told) -> _WaitQueue:
        line = self._queues.get(id(resource))
        if line is None:
            info: ResourceInfo = resource.info()
            lines = (("elements", info.consumers), ("room", info.producers))
            lacking = {id(each.who): (what, each.missing) for what, all_ in lines for each in all_}
            line = self._queues[id(resource)] = _WaitQueue(resource, info, lacking)
        return line

    def place(self, resource: Told, resources: Resources) -> Place | None:
        """Return where a resource is among those of a session; None if it was cleared."""
        _, places = self._places.get(id(resources)) or (None, None)
        if places is None:
            rows = resources.rows()
            places = {id(found): (box, kind, name) for box, kind, name, found in rows}
            self._places[id(resources)] = resources, places
        return places.get(id(resource))


def _computed(frame: FrameType | None) -> Iterator[tuple[StepState, Node, str]]:
    """Yield the steps that a thread's frames compute something of, the nodes, and their tasks."""
    inner: list[FrameType] = []
    steps: set[int] = set()
    while frame is not None:
        run = _environment(frame) if frame.f_code.co_name in _UNITS else None
        inner.append(frame)
        if run is not None and id(run.step) not in steps:
            steps.add(id(run.step))
            node = _node_of(run, inner)
            if node is not None:
                yield run.step, node, run.task.name
        frame = frame.f_back


# names of the functions that are units: those that are generated, and those of the interpreter
_UNITS: Set[str] = frozenset({"segment", "run", "run_for_one"})


def _environment(frame: FrameType) -> Run | None:
    values = frame.f_locals.get("v") or frame.f_locals.get("values")
    run = values[ENVIRONMENT] if type(values) is list and len(values) > ENVIRONMENT else None
    return run if isinstance(run, Run) else None


def _node_of(run: Run, frames: list[FrameType]) -> Node | None:
    """Return the node of the innermost generated line; of the interpreter, the one it notes."""
    files: dict[str, Mapping[int, Node]] = {
        lines.file: lines.nodes for lines in run.program.lines if lines.file
    }
    for frame in frames:
        nodes = files.get(frame.f_code.co_filename)
        if nodes is not None and frame.f_lineno in nodes:
            return nodes[frame.f_lineno]
    return run.node
