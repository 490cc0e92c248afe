"""`Peers`: how a task reaches the others, the one interface between tasks.

`task.peers` calls tasks of this process directly; `wire.peers.remote_peers` sends messages to the
same methods. It is never called with a task's lock held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tfdist.base.aliases import TensorValue
from tfdist.cluster.propagation import PropagatedCluster
from tfdist.graph.op_def import Wait
from tfdist.plan.step_plan import Partition
from tfdist.runtime.devices.local_devices import Device
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.step import Step
from tfdist.runtime.step.unit_costs import UnitCost
from tfdist.tracing.census import Census
from tfdist.tracing.waits import Report


class Peers(Protocol):
    """The other tasks of a cluster, by name."""

    @property
    def addresses(self) -> Mapping[str, str]:
        """Return the address of every task of the cluster, by its name."""

    def devices(self, tasks: Sequence[str], seconds: float | None) -> list[Device]:
        """Return the devices of tasks, once all of them are there.

        Args:
          tasks: in the order of the result.
          seconds: to wait for them at most; by default as long as the peers think fit.

        Raises:
          UnavailableError: a task is not there; all that are missing are named.
        """

    def open_session(self, tasks: Sequence[str], handle: str, isolated: bool) -> None:
        """Let tasks keep state for a session, with variables of their own if it is isolated."""

    def close_session(self, task: str, handle: str) -> None:
        """Let the task forget a session."""

    def register(
        self, handle: str, partitions: Sequence[Partition], told: Callable[[str], None]
    ) -> list[str]:
        """Give tasks their parts of a step; returns the names to run them by.

        Args:
          handle: of the session.
          partitions: of different tasks.
          told: called with each task that has answered.
        """

    def start(
        self, task: str, handle: str, graph: str, step: Step, feeds: list[TensorValue]
    ) -> Run | None:
        """Let the task begin its part of a step; returns the run if it is one of this process."""

    def receive(self, task: str, step_id: int, key: str, session: str = "") -> Wait:
        """Return the wait for a value that the task sends in a step.

        Args:
          task: that sends it.
          step_id: of the step.
          key: of the value.
          session: whose step it is; in step after step of a session the task may be followed.
        """

    def disturbed(self, wait: Wait, task: str) -> Wait:
        """Return the wait for what a task sends, by a way that may be disturbed."""

    def send(self, step_id: int, key: str, value: TensorValue) -> None:
        """Leave a value of a step on the task that these peers belong to."""

    def end_step(self, task: str, step_id: int) -> None:
        """Let the task forget a step."""

    def clear(self, task: str, containers: Sequence[str]) -> None:
        """Let the task forget the state in `containers`, all of it if none is named."""

    def reports(self, tasks: Sequence[str]) -> list[Report]:
        """Return what tasks tell of steps in flight; who is silent has a report that says so."""

    def censuses(self, tasks: Sequence[str], holdings: bool) -> list[Census]:
        """Return what tasks tell of themselves; who is silent has a census that says so."""

    def unit_costs(self, task: str, handle: str) -> list[UnitCost]:
        """Return what units of a session's programs took lately; nothing if nobody tells."""

    def close(self) -> None:
        """Let go of the ways to other tasks."""


class OwnPeers(Peers, Protocol):
    """The other tasks of the cluster that a task was started in."""

    @property
    def bound(self) -> float:
        """Return the seconds after which a task that cannot be reached is given up."""

    def renamed(self, cluster: PropagatedCluster) -> Peers:
        """Return the peers of the same task in the cluster of one session."""
