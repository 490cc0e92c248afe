"""The sessions of a master: they are opened over tasks, grow, and end.

The shell of `cluster.master`: holds the lock and the state, and carries out instructions.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable

from tfdist.cluster import master as machine
from tfdist.cluster.device_filters import session_tasks
from tfdist.cluster.master import MasterState, SessionState
from tfdist.cluster.propagation import cluster_for_master
from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import OpError
from tfdist.graph.functions import NO_FUNCTIONS, Library
from tfdist.graph.records import Node
from tfdist.plan.place import rank
from tfdist.plan.place_reasons import Placement
from tfdist.runtime.devices.local_devices import Device
from tfdist.runtime.step.peers import OwnPeers, Peers
from tfdist.runtime.step.requests import SessionOptions
from tfdist.runtime.task.addresses import normal_address


class MasterSessions:
    """Sessions over the tasks of a cluster; `Master` runs their steps.

    Args:
      task: name of the task that this master belongs to.
      tasks: names of all tasks of the cluster.
      peers: reaches them, this one included.
    """

    def __init__(self, task: str, tasks: tuple[str, ...], peers: OwnPeers) -> None:
        self.task, self.peers = task, peers
        self._tasks = tasks
        self._state = MasterState()
        self._lock = threading.Lock()
        self._devices: dict[str, list[Device]] = {}
        self._own_peers: dict[str, Peers] = {}  # of sessions that have clusters of their own
        self._closing = 0  # how many sessions are being closed

    def create_session(self, options: SessionOptions) -> str:
        """Open a session; returns its handle.

        Raises:
          UnavailableError: a task that the session spans is not there.
        """
        peers: Peers = self.peers
        names: tuple[str, ...] = (self.task, *self._tasks)
        if options.cluster is not None:
            peers, names = self._in_cluster(options.cluster)
        tasks = session_tasks(names, options.device_filters)
        try:
            devices = peers.devices(tasks, options.timeout)
        except BaseException:
            if peers is not self.peers:
                peers.close()
            raise
        session = self._new_session(tasks, devices, options)
        self._begin_session(session.handle)
        order = {task: place for place, task in enumerate(names[1:])}
        self._devices[session.handle] = sorted(devices, key=lambda d: order[d.spec.task_name])
        if options.cluster is not None:
            self._own_peers[session.handle] = peers
        try:
            self._handle(machine.SessionRequested(session))
            self.check_session(session.handle)
        except BaseException:  # a reset may have ended it before its tasks had opened it
            self.close_session(session.handle)
            for task in tasks:
                self._close_worker_session(task, session.handle)
            raise
        return session.handle

    def _in_cluster(self, cluster: ClusterSpec) -> tuple[Peers, tuple[str, ...]]:
        """Return the peers in a session's own cluster, and the tasks' names, this one's first."""
        found = cluster_for_master(
            cluster, self.task, self.peers.addresses[self.task], normal_address
        )
        return self.peers.renamed(found), (found.own, *found.addresses)

    def _new_session(
        self, tasks: tuple[str, ...], devices: list[Device], options: SessionOptions
    ) -> SessionState:
        own = next(device.name for device in devices if device.name.startswith(f"{tasks[0]}/"))
        first = tasks[0] if options.default_device == "master" else None
        return SessionState(
            handle=os.urandom(8).hex(),
            tasks=tasks,
            devices=tuple(rank([device.spec for device in devices], first)),
            client_device=own,
            incarnations={device.name: device.incarnation for device in devices},
            soft_placement=options.soft_placement,
            isolated=options.isolated or options.cluster is not None,
            as_bfloat16=options.as_bfloat16,
        )

    def extend_session(
        self,
        handle: str,
        nodes: tuple[Node, ...],
        version: int,
        is_foreign: bool = False,
        library: Library = NO_FUNCTIONS,
    ) -> int:
        """Add nodes to a session's graph; returns the new version.

        Args:
          handle: of the session.
          nodes: in any order.
          version: of the graph so far.
          is_foreign: whether they come from another process, and have to be checked.
          library: the functions that they call.

        Raises:
          AbortedError: the session is gone, or `version` is not its graph's.
          InvalidArgumentError: a node's name is taken, its input missing, or it cannot be run.
        """
        self._handle(machine.GraphExtended(handle, nodes, version, is_foreign, library))
        return self._state.session(handle).version

    def placement(self, handle: str) -> dict[str, Placement]:
        """Return the device of each node of a session's graph, and why."""
        return dict(self._state.session(handle).placement)

    def devices(self, handle: str) -> list[Device]:
        """Return the devices that a session spans (`devices.Device`), by job and task."""
        devices = self._devices.get(handle, [])
        self.check_session(handle)
        return list(devices)

    def session(self, handle: str) -> SessionState:
        """Return an open session; AbortedError if it is not."""
        return self._state.session(handle)

    def has_session(self, handle: str) -> bool:
        """Return whether a session is open."""
        return handle in self._state.sessions

    def check_session(self, handle: str) -> None:
        """Raise AbortedError if the session is not open."""
        self._state.session(handle)

    def close_session(self, handle: str) -> None:
        """Close a session; its blocked steps end with CancelledError."""
        self._close(machine.SessionClosed(handle))

    def abandon_session(self, handle: str, why: str) -> None:
        """Close a session whose client is gone; who still asks for it is told `why`."""
        self._close(machine.SessionAbandoned(handle, why))

    def _close(self, event: machine.SessionClosed | machine.SessionAbandoned) -> None:
        with self._lock:
            self._closing += 1
        try:
            self._handle(event)
        finally:
            with self._lock:
                self._closing -= 1

    def reset(self, containers: tuple[str, ...] = ()) -> None:
        """Abort all sessions and clear `containers` (all of them if none is named) everywhere."""
        self._handle(machine.ClusterReset(self._tasks, containers))

    def lose_task(self, task: str, reason: str) -> None:
        """Abort the sessions that span a task which is gone."""
        self._handle(machine.TaskLost(task, reason))
        if task == self.task:  # which has other names in sessions with clusters of their own
            for handle in list(self._own_peers):
                self._handle(machine.TaskLost(self._state.session(handle).tasks[0], reason))

    @property
    def is_open(self) -> bool:
        """Return whether a session is open, or others may open one."""
        return bool(self._state.sessions) or self.peers.addresses != {self.task: ""}

    @property
    def reach(self) -> Hashable:
        """Return who answers `report_everywhere`: the same for the tasks of one cluster."""
        return tuple(sorted(self.peers.addresses.items()))

    def _handle(self, event: machine.Event) -> None:
        with self._lock:
            self._state, instructions = machine.handle(self._state, event)
        for instruction in instructions:
            self._carry_out(instruction)
        for handle in [each for each in self._own_peers if each not in self._state.sessions]:
            peers = self._own_peers.pop(handle, None)
            if peers is not None:
                peers.close()

    def _peers_of(self, handle: str) -> Peers:
        return self._own_peers.get(handle, self.peers)

    def _carry_out(self, instruction: machine.Instruction) -> None:
        match instruction:
            case machine.OpenWorkerSessions(tasks, handle, isolated):
                self._peers_of(handle).open_session(tasks, handle, isolated)
            case machine.CloseWorkerSession(task, handle):
                self._close_worker_session(task, handle)
            case machine.CancelSteps(handle, error):
                self._devices.pop(handle, None)
                self._cancel_steps(handle, error)
            case machine.ClearContainers(task, containers):
                self.peers.clear(task, containers)

    def _close_worker_session(self, task: str, handle: str) -> None:
        try:
            self._peers_of(handle).close_session(task, handle)
        except OpError:
            pass  # a task that is gone has forgotten the session already

    def _begin_session(self, handle: str) -> None:
        """Make room for the steps of a new session."""
        raise NotImplementedError

    def _cancel_steps(self, handle: str, error: OpError) -> None:
        """End the steps of a session that is no more."""
        raise NotImplementedError
