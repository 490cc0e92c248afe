"""A cluster whose tasks a cluster manager started, on whatever hosts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tfdist.errors import DeadlineExceededError, UnavailableError
from tfdist.launch.clusters import LOG_LINES, Cluster, TaskRow
from tfdist.launch.connection_file import logs_folder
from tfdist.launch.disturb_call import tell_disturbances
from tfdist.launch.exchange.cluster_keys import ClusterKeys
from tfdist.launch.exchange.gathering import Gathering
from tfdist.launch.exchange.messages import Bound, FromTask, Lease, Stop
from tfdist.launch.managers.seam import ClusterManager, Wanted
from tfdist.launch.outcome import ClusterRequest
from tfdist.launch.owner import this_process
from tfdist.launch.probe import answers_at
from tfdist.runtime.step.interrupts import LOOK_UP
from tfdist.tracing.disturbances import Disturbance
from tfdist.wire.common.security import split_address

_TOLD_EVERY = 2.0  # seconds between two sentences about a start


@dataclass(frozen=True)
class ManagedServer:
    """The server of a task, as its cluster knows it.

    Attributes:
      task_name: "/job:J/task:I".
      cluster: that it belongs to.
    """

    task_name: str
    cluster: ManagedCluster

    @property
    def address(self) -> str:
        """Return "HOST:PORT", "" until it is known."""
        return self.cluster.address(self.task_name)

    @property
    def target(self) -> str:
        """Return "grpc://HOST:PORT"."""
        return f"grpc://{self.address}"

    @property
    def is_running(self) -> bool:
        """Return whether it serves, as far as it was heard."""
        return self.cluster.serves(self.task_name)


class ManagedCluster(Cluster):
    """Servers that a cluster manager started.

    Args:
      wanted: the cluster.
      manager: that starts its tasks; a new one for each cluster.
    """

    servers: Sequence[ManagedServer]

    def __init__(self, wanted: ClusterRequest, manager: ClusterManager) -> None:
        super().__init__(wanted.name, wanted.jobs, wanted.cpus, wanted.gpus)
        self.kind, self.where = manager.name, f" on {manager.name}"
        self.manager, self._timeout, self._lease = manager, wanted.timeout, manager.lease
        names = [f"/job:{job}/task:{index}" for job, index in wanted.tasks]
        self._keys = ClusterKeys(wanted.name)
        self._gathering = Gathering(names, manager.lease, self._sign)
        self._changed = threading.Condition()
        self._over = threading.Event()
        self.servers = tuple(ManagedServer(name, self) for name in names)
        try:
            self._resources.callback(self._keys.forget)
            self._resources.callback(manager.close)
            self._close.atexit = not manager.keep
            port = wanted.port or 0
            tasks = Wanted(wanted.name, wanted.tasks, wanted.cpus, wanted.gpus, port=port)
            manager.start(tasks, self)
            self._wait(names, wanted.progress)
            self._keep_alive()
        except BaseException:
            self._close()
            raise

    def heard(self, task: str, message: FromTask) -> None:
        """Take a message of a task; see `Listener`."""
        with self._changed:
            told = self._gathering.heard(task, message)
            self._changed.notify_all()
        for name, answer in told:
            self.manager.tell(name, answer)

    def address(self, task: str) -> str:
        """Return "HOST:PORT" of a task, the last one if it has ended; "" until it is known."""
        with self._changed:
            return self._gathering.addresses.get(task, "")

    def serves(self, task: str) -> bool:
        """Return whether a task serves, as far as it was heard."""
        with self._changed:
            return task in self._gathering.serving

    def _sign(self, task: str, bound: Bound) -> tuple[str, str]:
        host, _ = split_address(bound.address)
        host = self.manager.certified_host(task, host)
        return self._keys.sign(bound.request, host, bound.address)

    def _wait(self, tasks: Sequence[str], progress: Callable[[str], None]) -> None:
        """Wait until tasks serve; Ctrl-C ends the wait.

        Raises:
          UnavailableError: one of them has ended.
          DeadlineExceededError: it took too long; who is missing, and what its manager says.
        """
        deadline = time.monotonic() + self._timeout
        told_at = time.monotonic() + _TOLD_EVERY
        while not self._serve_soon(tasks, deadline):
            now = time.monotonic()
            if self.manager.is_queued:
                deadline = now + self._timeout
            if now >= deadline:
                raise DeadlineExceededError(self._late(tasks))
            if now >= told_at:
                told_at = now + _TOLD_EVERY
                progress(self._waited_for(tasks))

    def _serve_soon(self, tasks: Sequence[str], deadline: float) -> bool:
        """Wait a moment, and return whether tasks serve."""
        with self._changed:
            self._raise_ended(tasks)
            if not self._gathering.serving.issuperset(tasks):
                # in short waits: a signal that comes just before a wait does not end it
                self._changed.wait(max(0.0, min(LOOK_UP, deadline - time.monotonic())))
            return self._gathering.serving.issuperset(tasks)

    def _raise_ended(self, tasks: Sequence[str]) -> None:
        causes = self._gathering.causes
        of_cause: dict[str, list[str]] = {}
        for task in tasks:
            if task in causes:
                of_cause.setdefault(causes[task], []).append(task)
        if of_cause:
            told = (f"{', '.join(ended)} ended: {cause}" for cause, ended in of_cause.items())
            raise UnavailableError("; ".join(told))

    def _waited_for(self, tasks: Sequence[str]) -> str:
        with self._changed:  # not while the manager is asked, which hears something meanwhile
            missing = [task for task in self._gathering.missing if task in tasks]
        shown = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" * (len(missing) > 5))
        state = self.manager.progress()
        return f"waiting for {shown}" + (f": {state}" if state else "")

    def _late(self, tasks: Sequence[str]) -> str:
        return f"not ready after {self._timeout:g} s: {self._waited_for(tasks)}"

    def _keep_alive(self) -> None:
        """Renew the leases of all tasks, until the end."""
        if not self._lease:
            return
        thread = threading.Thread(target=self._renew, name="tfdist-lease", daemon=True)
        self._resources.callback(thread.join)
        self._resources.callback(self._over.set)
        thread.start()

    def _renew(self) -> None:
        while not self._over.wait(self._lease / 3):
            for server in self.servers:  # who keeps a task that has ended has a lease, too
                self.manager.tell(server.task_name, Lease(self._lease))

    @property
    def is_running(self) -> bool:
        """Return whether it was not stopped: it outlives single tasks."""
        return self._close.alive

    def status(self) -> list[TaskRow]:
        """Return one row per task; those that have not ended are asked, for a second at most."""
        answering = answers_at(s.address for s in self.servers if s.is_running)
        return [self._managed_row(server, server.address in answering) for server in self.servers]

    def _managed_row(self, server: ManagedServer, answers: bool) -> TaskRow:
        name = server.task_name
        with self._changed:
            bound, cause = self._gathering.bound.get(name), self._gathering.causes.get(name)
        state = "up" if server.is_running else f"ended: {cause}" if cause else "starting"
        if not self.is_running:
            state = "stopped"
        elif state == "up" and not answers:
            state = "does not answer"
        place = self.manager.place(name)
        row = self._row(server, state, bound.pid if bound else None)
        return replace(row, host=place.host or (bound.host if bound else ""), id=place.id)

    def _identity(self) -> Path | None:
        return self._keys.written(logs_folder(self.name, this_process()) / "identity")

    def _tell(self, disturbances: Sequence[Disturbance]) -> None:
        serving = {each.task_name: each.address for each in self.servers if each.is_running}
        tell_disturbances(serving, disturbances)

    def logs(self, task: str | None = None, lines: int = LOG_LINES) -> list[str]:
        """Return the last lines that servers wrote; see `Cluster.logs`."""
        if task is not None:
            return self.manager.logs(self.server(task).task_name, lines)
        names = [server.task_name for server in self.servers]
        return [f"{name}: {line}" for name in names for line in self.manager.logs(name, lines)]

    def kill(self, task: str) -> None:
        """Kill the process of a task, as a fault would; see `Cluster.kill`."""
        name = self.server(task).task_name
        self.manager.kill(name)
        with self._changed:  # its end is heard a moment later
            self._changed.wait_for(lambda: name not in self._gathering.serving, self._timeout)

    def restart(self, task: str) -> None:
        """Start a task anew, here or elsewhere, without its variables; see `Cluster.restart`."""
        name = self.server(task).task_name
        if self.serves(name):
            self.manager.tell(name, Stop())
            with self._changed:
                self._changed.wait_for(lambda: name not in self._gathering.serving, self._timeout)
        with self._changed:
            self._gathering.causes.pop(name, None)
        self.manager.restart(name)
        self._wait([name], lambda sentence: None)
        if self.disturbances:
            self._tell(self.disturbances)
        self.publish()

    def revive(self) -> str:
        """Start the tasks that have ended, and return a sentence about that, or ""."""
        with self._changed:
            causes = dict(self._gathering.causes)
        for task in causes:
            self.restart(task)
        ended = ", ".join(f"{task}, which had ended ({cause})" for task, cause in causes.items())
        return f"started anew: {ended}" if ended else ""
