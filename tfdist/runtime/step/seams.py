"""What the parts of a step see of each other: protocols, each below the classes that fulfil them.

A feed goes from `session.base_session.BaseSession.run` to a `requests.PreparedStep`, which its
master starts over `peers.Peers`; a task's `Worker` makes a `Run` of it, whose kernels reach their
task, session and step through what stands here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from tfdist.base.aliases import TaskResource, TensorValue
from tfdist.graph.functions import NameAttrList
from tfdist.graph.op_def import Wait
from tfdist.graph.records import Node
from tfdist.plan.compiling.program import Program
from tfdist.runtime.disturbances.disturber import Disturber
from tfdist.runtime.resources.generators import Generators
from tfdist.runtime.resources.registry import Resources
from tfdist.runtime.step.counters import Counters
from tfdist.runtime.step.followers import Follower
from tfdist.runtime.step.rendezvous import Rendezvous

# A `continuation.Continuation`, whose module stands above this one.
Waiting: TypeAlias = Any

# A `continuation.Item`, whose classes stand above this module.
ReadyItem: TypeAlias = Any


class Finding(Protocol):
    """Where kernels find the functions that they call (`function_calls.Functions`)."""

    def find(self, function: NameAttrList, device: str) -> TaskResource:
        """Return a function that runs on `device`: an `ops.dataset.dataset_value.Callee`."""


class SessionState(Protocol):
    """What a run sees of its session's state on its task (`task.worker._Session`)."""

    handle: str
    followers: dict[str, Follower]
    own_prefix: str
    known: dict[str, TaskResource]
    legacy_frames: bool

    @property
    def resources(self) -> Resources:
        """Return the state that outlives steps."""

    @property
    def functions(self) -> Finding:
        """Return the functions that kernels may call."""

    @property
    def generators(self) -> Generators:
        """Return the random numbers of the session's nodes."""

    def nodes_of(self, program: Program) -> tuple[Node, ...]:
        """Return the nodes of the partition that `program` was made of."""


class Receiving(Protocol):
    """What a run asks of the other tasks (`peers.Peers`)."""

    def receive(self, task: str, step_id: int, key: str, session: str = "") -> Wait:
        """Return the wait for a value that the task sends in a step."""

    def disturbed(self, wait: Wait, task: str) -> Wait:
        """Return the wait for what a task sends, by a way that may be disturbed."""


class TaskState(Protocol):
    """What a run sees of its task: a `task.worker.Worker`, or an `Alias` of one."""

    @property
    def name(self) -> str:
        """Return "/job:J/replica:0/task:I"."""

    @property
    def peers(self) -> Receiving:
        """Return what reaches the other tasks."""

    @property
    def disturber(self) -> Disturber | None:
        """Return what is wrong on purpose; None if nothing is."""

    @property
    def resources(self) -> Resources:
        """Return the state that outlives steps and sessions."""

    @property
    def counters(self) -> Counters:
        """Return what the task counts."""

    def rendezvous(self, step_id: int) -> Rendezvous:
        """Return where the task's sends of a step are found."""

    def handle_of(self, session: SessionState) -> str:
        """Return the handle of a session; "" if it was closed."""


class StepState(Protocol):
    """What a run, and what waits in it, see of their step (`step.Step`)."""

    step_id: int
    clock: Callable[[], int] | None
    deadline: float | None
    error: BaseException | None
    logs: list[str]
    took_large_input: bool
    waiting: dict[Waiting, float]
    ready: deque[ReadyItem]

    def time_out(self) -> None:
        """Let the step end because it takes too long."""

    def deliver_soon(self, rendezvous: Rendezvous) -> None:
        """Let what was sent leave with what else is ready to be sent now."""

    def hand_on(self, follower: Follower, key: str, value: TensorValue, at_once: bool) -> None:
        """Hand a value to a follower, with what else it gets now, or at once."""

    def wake(self) -> None:
        """Let the driver look at the step."""
