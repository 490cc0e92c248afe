"""The master's state machine: sessions over the tasks of a cluster.

A session is open until it is closed, reset or loses a task; from then on it is gone, and whoever
asks for it is told why. Events and what they do:

    SessionRequested   new session; a worker session on every task
    GraphExtended      new nodes, placed beside the earlier ones
    SessionClosed      its steps are cancelled, its worker sessions end
    SessionAbandoned   the same for a client that is gone
    ClusterReset       every session is aborted, containers are cleared on every task
    TaskLost           sessions that span the task are aborted

`handle(state, event)` gives the new state and the instructions for the shell. Steps are not seen
here: the shell walks their plans and only tells which session they belong to.

Source: docs/wire.md sections 2.4 and 5.1 for codes and sequence.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tfdist.base.devices import DeviceSpec
from tfdist.errors import AbortedError, CancelledError, InvalidArgumentError, OpError
from tfdist.graph.functions import NO_FUNCTIONS, Library
from tfdist.graph.records import Node
from tfdist.plan.check import check
from tfdist.plan.functions.function_body import reachable
from tfdist.plan.functions.inline import inline
from tfdist.plan.partitioning.partition import plan_step
from tfdist.plan.place import place
from tfdist.plan.place_reasons import Placement
from tfdist.plan.step_plan import Signature, StepPlan

_REMEMBERED = 1000  # sessions that are gone, and why


@dataclass(frozen=True)
class SessionState:
    """One open session.

    Attributes:
      handle: its name.
      tasks: tasks that it spans, the master's first.
      devices: those of all tasks, best first.
      client_device: where feeds enter and fetches leave.
      incarnations: number of each device's present life, by name.
      soft_placement: whether requests for missing device types are dropped.
      isolated: whether variables and queues are the session's own.
      as_bfloat16: whether float32 crosses between tasks as bfloat16.
      library: the functions that nodes may call.
      nodes: all nodes by name, with the bodies of functions instead of calls.
      placement: their devices.
      version: of the graph, raised by every extension.
      numbers: for the names of what its steps send and receive.
    """

    handle: str
    tasks: tuple[str, ...]
    devices: tuple[DeviceSpec, ...]
    client_device: str
    incarnations: Mapping[str, int]
    soft_placement: bool = False
    isolated: bool = False
    as_bfloat16: bool = False
    library: Library = NO_FUNCTIONS
    nodes: Mapping[str, Node] = field(default_factory=dict)
    placement: Mapping[str, Placement] = field(default_factory=dict)
    version: int = 0
    numbers: Iterator[int] = field(default_factory=itertools.count, compare=False, repr=False)

    def plan(self, signature: Signature) -> StepPlan:
        """Return the plan of a step of `signature` on the graph as it is now."""
        plan = plan_step(
            self.nodes, self.placement, signature, self.client_device, self.incarnations,
            self.numbers, self.as_bfloat16,
        )  # fmt: skip
        if not self.library.functions:
            return plan
        parts = [part._replace(library=reachable(part.nodes, self.library))
                 for part in plan.partitions]  # fmt: skip
        return replace(plan, partitions=tuple(parts))


@dataclass(frozen=True)
class MasterState:
    """The sessions of one master.

    Attributes:
      sessions: the open ones by handle.
      gone: why the last ones of the others are not open any more, by handle.
    """

    sessions: Mapping[str, SessionState] = field(default_factory=dict)
    gone: Mapping[str, str] = field(default_factory=dict)

    def session(self, handle: str) -> SessionState:
        """Return an open session; AbortedError saying what became of it."""
        if handle not in self.sessions:
            why = self.gone.get(handle, "it was never opened here, or the server restarted")
            raise AbortedError(f"Session {handle} is not found: {why}; open a new one")
        return self.sessions[handle]


# Events.


class SessionRequested(NamedTuple):
    """A client asks for a session."""

    session: SessionState


class GraphExtended(NamedTuple):
    """A client adds nodes to a session whose graph is at `version`.

    `is_foreign` tells that the nodes were not built in this process, and have to be checked;
    `library` holds the functions that they call.
    """

    handle: str
    nodes: tuple[Node, ...]
    version: int
    is_foreign: bool = False
    library: Library = NO_FUNCTIONS


class SessionClosed(NamedTuple):
    """A client closes its session."""

    handle: str


class SessionAbandoned(NamedTuple):
    """The client of a session is gone."""

    handle: str
    why: str


class ClusterReset(NamedTuple):
    """A client asks to abort all sessions and clear `containers` (all if empty) on `tasks`."""

    tasks: tuple[str, ...]
    containers: tuple[str, ...]


class TaskLost(NamedTuple):
    """A task cannot be reached any more."""

    task: str
    reason: str


Event = (
    SessionRequested | GraphExtended | SessionClosed | SessionAbandoned | ClusterReset | TaskLost
)


# Instructions.


class OpenWorkerSessions(NamedTuple):
    """Let `tasks` keep state for a session, of its own if it is isolated."""

    tasks: tuple[str, ...]
    handle: str
    isolated: bool = False


class CloseWorkerSession(NamedTuple):
    """Let `task` forget a session."""

    task: str
    handle: str


class CancelSteps(NamedTuple):
    """End the steps of a session with `error`."""

    handle: str
    error: OpError


class ClearContainers(NamedTuple):
    """Let `task` forget what is in `containers` (all if empty)."""

    task: str
    containers: tuple[str, ...]


Instruction = OpenWorkerSessions | CloseWorkerSession | CancelSteps | ClearContainers
Outcome = tuple[MasterState, list[Instruction]]


def handle(state: MasterState, event: Event) -> Outcome:
    """Return the state after `event`, and what the shell is to do."""
    return _HANDLERS[type(event)](state, event)


def _session_requested(state: MasterState, event: SessionRequested) -> Outcome:
    session = event.session
    sessions = {**state.sessions, session.handle: session}
    opened = OpenWorkerSessions(session.tasks, session.handle, session.isolated)
    return replace(state, sessions=sessions), [opened]


def _graph_extended(state: MasterState, event: GraphExtended) -> Outcome:
    session = state.session(event.handle)
    if event.version != session.version:
        raise AbortedError(
            f"the caller extends graph version {event.version}, but session {event.handle} is at "
            f"{session.version}"
        )
    session = replace(session, library=session.library.merged(event.library))
    extended = extend(session, event.nodes, event.is_foreign)
    return replace(state, sessions={**state.sessions, event.handle: extended}), []


def extend(
    session: SessionState, nodes: tuple[Node, ...], is_foreign: bool = False
) -> SessionState:
    """Return `session` with `nodes` added, inlined and placed, and the version raised by one.

    Raises:
      InvalidArgumentError: a name is taken, an input is missing, or a foreign node cannot be run.
    """
    given, nodes = nodes, inline(nodes, session.library, session.nodes)
    graph = {**session.nodes, **{node.name: node for node in nodes}}
    if len(graph) != len(session.nodes) + len(nodes):
        raise InvalidArgumentError(_duplicate(session, nodes))
    for node in nodes:
        for name in (*(name for name, _ in node.inputs), *node.control):
            if name not in graph:
                raise InvalidArgumentError(f"node {node.name!r} takes {name!r}, which is missing")
    if is_foreign:
        check(nodes, graph)
    elif nodes is not given:  # bodies of functions may have been imported
        known = {node.name for node in given}
        check([node for node in nodes if node.name not in known], graph)
    placed = place(nodes, graph, session.placement, session.devices, session.soft_placement)
    return replace(
        session,
        nodes=graph,
        placement={**session.placement, **placed},
        version=session.version + 1,
    )


def _duplicate(session: SessionState, nodes: tuple[Node, ...]) -> str:
    seen = set(session.nodes)
    for node in nodes:
        if node.name in seen:
            return f"the graph has a node {node.name!r} already"
        seen.add(node.name)
    return "a node is there twice"


def _end(
    state: MasterState, sessions: list[SessionState], why: str, error: type[OpError]
) -> Outcome:
    handles = {session.handle for session in sessions}
    instructions: list[Instruction] = []
    for session in sessions:
        told = f"{why}; open a new session" if error is AbortedError else why
        instructions.append(CancelSteps(session.handle, error(told)))
        instructions += [CloseWorkerSession(task, session.handle) for task in session.tasks]
    left = {name: each for name, each in state.sessions.items() if name not in handles}
    gone = {**state.gone, **dict.fromkeys(handles, why)}
    for handle in list(gone)[:-_REMEMBERED]:
        del gone[handle]
    return MasterState(left, gone), instructions


def _session_closed(state: MasterState, event: SessionClosed) -> Outcome:
    if event.handle not in state.sessions:
        return state, []
    return _end(state, [state.sessions[event.handle]], "the session was closed", CancelledError)


def _session_abandoned(state: MasterState, event: SessionAbandoned) -> Outcome:
    if event.handle not in state.sessions:
        return state, []
    return _end(state, [state.sessions[event.handle]], event.why, AbortedError)


def _cluster_reset(state: MasterState, event: ClusterReset) -> Outcome:
    sessions = list(state.sessions.values())
    state, instructions = _end(state, sessions, "its server was reset", AbortedError)
    return state, instructions + [ClearContainers(task, event.containers) for task in event.tasks]


def _task_lost(state: MasterState, event: TaskLost) -> Outcome:
    sessions = [each for each in state.sessions.values() if event.task in each.tasks]
    return _end(state, sessions, f"{event.task} is gone: {event.reason}", AbortedError)


_HANDLERS: dict[type, Callable[..., Outcome]] = {
    SessionRequested: _session_requested,
    GraphExtended: _graph_extended,
    SessionClosed: _session_closed,
    SessionAbandoned: _session_abandoned,
    ClusterReset: _cluster_reset,
    TaskLost: _task_lost,
}
