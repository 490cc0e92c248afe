"""The worker of a task: runs the partitions that masters give it, and keeps the state."""

from __future__ import annotations

import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from tfdist.base.aliases import TaskResource, TensorValue
from tfdist.cluster.propagation import PropagatedCluster
from tfdist.errors import (
    AbortedError,
    CancelledError,
    OpError,
    UnavailableError,
    UnknownError,
)
from tfdist.graph.records import Node
from tfdist.plan.compiling.program import Program
from tfdist.plan.step_plan import Partition
from tfdist.runtime.devices.device_memory import Memories
from tfdist.runtime.devices.freed_memory import keep_freed_memory
from tfdist.runtime.devices.local_devices import Device
from tfdist.runtime.disturbances.disturber import Disturber
from tfdist.runtime.resources.generators import Generators
from tfdist.runtime.resources.registry import Resources
from tfdist.runtime.step.async_driver import Runner, drive_async
from tfdist.runtime.step.counters import Counters
from tfdist.runtime.step.followers import Follower
from tfdist.runtime.step.function_calls import NUMBERS, Functions
from tfdist.runtime.step.in_flight import report_of_step
from tfdist.runtime.step.parallel import is_light
from tfdist.runtime.step.peers import OwnPeers
from tfdist.runtime.step.rendezvous import Rendezvous
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.seams import SessionState
from tfdist.runtime.step.snapshot import Snapshot
from tfdist.runtime.step.step import Step
from tfdist.runtime.step.token_executor import Iteration
from tfdist.runtime.step.unit_costs import UnitCost
from tfdist.runtime.task.alias import Alias
from tfdist.runtime.task.registered_partition import CALLBACKS, RegisteredPartition
from tfdist.tracing.waits import Report, merged

_STEPS = 4096  # that ended are remembered: nobody asks for what they send late


class _Session:
    """What a worker keeps for one session: its partitions, generators, and where its state is.

    Attributes:
      handle: of the session.
      followers: those that follow this task in it, by name; see `runtime.step.followers`.
      resources: the task's, or the session's own if its state is isolated.
      functions: those that kernels may call.
      own_prefix: how the names of resources begin that end with the session.
      task: as its runs see it; see `runtime.task.alias`.
      known: the resources that nodes found last, until containers are cleared.
      legacy_frames: whether loops are numbered as by TensorFlow 1.15's tasks.
    """

    def __init__(
        self, handle: str, resources: Resources, functions: Functions, task: Worker | Alias
    ) -> None:
        self.handle = handle
        self.followers: dict[str, Follower] = {}
        self.resources = resources
        self.task = task
        self.functions = functions
        self.own_prefix = f"_{next(NUMBERS)}_"
        self.known: dict[str, TaskResource] = {}
        self.legacy_frames = False
        self.generators = Generators()
        self.graphs: dict[str, RegisteredPartition] = {}

    def nodes_of(self, program: Program) -> tuple[Node, ...]:
        """Return the nodes of the partition that `program` was made of."""
        found = (each for each in list(self.graphs.values()) if each.has_made(program))
        return next((each.nodes for each in found), ())


class RunOptions(NamedTuple):
    """How a master of another process wants a partition to be run.

    Attributes:
      step_id: the same on every task.
      traced: whether to note every node.
      runner: resumes the partition when something it waits for is there.
    """

    step_id: int
    traced: bool
    runner: Runner


class Worker:
    """The devices, state and partitions of one task.

    Args:
      devices: the task's devices.
      peers: the other tasks.
      executor: "auto" (interpret what runs once, compile what runs again), "compiler", or
        "interpreter" (one node at a time).

    Attributes:
      disturber: what is wrong on purpose; None if nothing is.
    """

    def __init__(
        self, devices: tuple[Device, ...], peers: OwnPeers, executor: str = "auto"
    ) -> None:
        keep_freed_memory()
        self.devices = devices
        self.peers = peers
        self.resources = Resources()
        self.memories = Memories(devices)
        self.counters = Counters()
        self.disturber: Disturber | None = None
        self._executor = executor
        self._sessions: dict[str, _Session] = {}
        self._rendezvous: dict[int, Rendezvous] = {}
        # ordered: a dict's first entry is found behind all that were deleted
        self._ended: OrderedDict[int, None] = OrderedDict()
        self._running: set[Step] = set()  # steps that masters of other processes asked for
        self._handles = itertools.count()
        self._lock = threading.Lock()

    def open_session(
        self,
        handle: str,
        isolated: bool = False,
        legacy_frames: bool = False,
        cluster: PropagatedCluster | None = None,
    ) -> None:
        """Keep state for a session.

        Args:
          handle: of the session.
          isolated: whether it has variables of its own.
          legacy_frames: whether its loops are numbered as by TensorFlow 1.15's tasks.
          cluster: the session's own, if it has one.
        """
        with self._lock:
            resources = Resources() if isolated else self.resources
            functions = Functions(CALLBACKS, self._executor != "interpreter")
            task: Worker | Alias = self
            if cluster is not None:
                task = Alias(self, cluster.own, self.peers.renamed(cluster), resources)
            session = _Session(handle, resources, functions, task)
            session.legacy_frames = legacy_frames
            self._sessions.setdefault(handle, session)

    def close_session(self, handle: str) -> None:
        """Forget a session's partitions; variables and queues stay in their containers."""
        with self._lock:
            session = self._sessions.pop(handle, None)
        if session is not None:
            for follower in list(session.followers.values()):
                follower.end(CancelledError(f"session {handle} was closed"))
            session.resources.forget(session.own_prefix)
            if session.task is not self:
                session.task.peers.close()

    def device_lives(self) -> dict[str, int]:
        """Return the incarnations of the devices, by all names that sessions have for them."""
        tasks = [self, *(session.task for session in list(self._sessions.values()))]
        return {device.name: device.incarnation for task in tasks for device in task.devices}

    def clear(self, containers: Sequence[str]) -> None:
        """Forget what is in `containers`; everything if none is named."""
        self.resources.clear(containers)
        for session in list(self._sessions.values()):
            session.known.clear()

    def register(self, handle: str, partition: Partition) -> str:
        """Keep a partition; returns the name to run it by."""
        session = self._session(handle)
        session.functions.add(partition.library)
        memories = session.task.memories
        if memories.are_there:
            partition = memories.prepared(partition)
        name = f"{next(self._handles):016x}"
        session.graphs[name] = RegisteredPartition(partition, self._executor)
        return name

    def deregister(self, handle: str, graph: str) -> None:
        """Forget a partition."""
        self._session(handle).graphs.pop(graph, None)

    def unit_costs(self, handle: str) -> list[UnitCost]:
        """Return what the units of a session's partitions took lately."""
        registered = list(self._session(handle).graphs.values())
        return [cost for each in registered for cost in each.unit_costs()]

    def start(self, handle: str, graph: str, step: Step, feeds: list[TensorValue]) -> Run:
        """Begin a partition as part of `step`, whose driver will run it."""
        session = self._session(handle)
        if graph not in session.graphs:
            raise AbortedError(f"graph {graph} is not on {self.name}; open a new session")
        program = session.graphs[graph].program(step.clock is not None)
        run = (Iteration if program.frame else Run)(step, session.task, session, program)
        if step.clock:
            now, wrong = step.clock(), self.disturber
            run.notes.append((None, now, now, wrong and wrong.disturbances))
        self.counters.steps += 1
        step.launch(run, feeds)
        return run

    def run_alone(
        self,
        handle: str,
        graph: str,
        options: RunOptions,
        ended: Callable[[OpError | None, Run], None],
    ) -> Step:
        """Run a partition whose step is driven by another process.

        Args:
          handle: of the session.
          graph: what `register` returned.
          options: how to run it.
          ended: called once, on some thread, with the error or None.

        Returns:
          The step, which `abort` ends.

        Raises:
          AbortedError: the session or the partition is not known here.
        """
        step = Step(options.step_id, time.time_ns if options.traced else None)
        session = self._session(handle)
        run = self.start(handle, graph, step, [])
        tuner = session.graphs[graph].tuner
        self._running.add(step)

        def conclude(error: BaseException | None) -> None:
            if error is not None and not isinstance(error, OpError):
                error = UnknownError(f"the step was ended by {type(error).__name__}: {error}")
            if error is not None:
                self._fail_receivers(options.step_id, error)
            try:
                ended(error, run)
            finally:  # not before: whoever waits until nothing runs here may then end the process
                self._running.discard(step)
                run.drop()

        drive_async(step, options.runner, conclude, is_light(run.program), tuner)
        return step

    def _fail_receivers(self, step_id: int, cause: OpError) -> None:
        derived = type(cause)(cause.message).at_node(cause.node_name, cause.device)
        derived.is_derived = True
        self.rendezvous(step_id).abort(derived)

    def report(self, step_id: int = 0) -> Report:
        """Return what is known of partitions that masters of other processes run.

        Args:
          step_id: of the only step to look at; 0 for all.
        """
        steps = [step for step in list(self._running) if step_id in (0, step.step_id)]
        snapshot = Snapshot()
        return merged(report_of_step(step, snapshot) for step in steps)

    def steps(self) -> list[Step]:
        """Return the steps that run here for masters of other processes."""
        return list(self._running)

    def has_session(self, handle: str) -> bool:
        """Return whether a session's state is kept."""
        return handle in self._sessions

    def is_running(self, handle: str) -> bool:
        """Return whether a partition of a session runs here for a master of another process."""
        session = self._sessions.get(handle)
        return any(run.session is session for step in self.steps() for run in list(step.runs))

    def states(self) -> list[tuple[str, Resources, str]]:
        """Return where state is: (handle, resources, prefix of its own names) of each session.

        The first one is the task's own state, with "" for handle and prefix.
        """
        found = [(handle, each.resources, each.own_prefix) for handle, each in self._open()]
        return [("", self.resources, ""), *found]

    def _open(self) -> list[tuple[str, _Session]]:
        return list(self._sessions.items())

    def handle_of(self, session: SessionState) -> str:
        """Return the handle of a session; "" if it was closed."""
        return next((handle for handle, each in self._open() if each is session), "")

    @property
    def is_busy(self) -> bool:
        """Return whether a partition runs for a master of another process."""
        return bool(self._running)

    def stop(self, error: OpError) -> None:
        """End all partitions that run for masters of other processes."""
        for step in list(self._running):
            step.abort(type(error)(error.message))
        for rendezvous in list(self._rendezvous.values()):
            rendezvous.abort(error)
        for session in list(self._sessions.values()):
            if session.task is not self:
                session.task.peers.close()

    def follow(self, handle: str, follower: Follower) -> Callable[[], None]:
        """Hand what steps of a session leave for a task to a follower, from now on.

        Returns:
          What ends that: the follower is lost.

        Raises:
          AbortedError: the session is not known here.
        """
        session = self._session(handle)
        before = session.followers.get(follower.task)
        if before is not None:
            self._unfollow(session, before)
        session.followers[follower.task] = follower
        for step_id, rendezvous in list(self._rendezvous.items()):  # after it is found there
            if rendezvous.session != handle:
                continue
            if any(each.task == follower.task for each in rendezvous.given):
                follower.take(step_id, _lost(follower))
            elif sent := rendezvous.give_all(follower.task, follower):
                follower.take(step_id, sent)
        return partial(self._unfollow, session, follower)

    def _unfollow(self, session: _Session, follower: Follower) -> None:
        """Note that a follower is lost; what it was handed may not have come."""
        if session.followers.get(follower.task) is follower:
            del session.followers[follower.task]
        for rendezvous in list(self._rendezvous.values()):
            if follower in rendezvous.given:
                rendezvous.lose(follower.task, _lost(follower))

    def rendezvous(self, step_id: int) -> Rendezvous:
        """Return where this task's sends of a step are found, whoever asks first."""
        found = self._rendezvous.get(step_id)
        if found is not None:
            return found
        found = self._rendezvous.setdefault(step_id, Rendezvous())
        if step_id in self._ended:
            self._rendezvous.pop(step_id, None)
            found.abort(_ended_error())
        return found

    def end_step(self, step_id: int) -> None:
        """Forget what nobody received in a step, and end the waits for what nobody sent."""
        with self._lock:
            self._ended[step_id] = None
            if len(self._ended) > _STEPS:
                self._ended.popitem(last=False)
        found = self._rendezvous.pop(step_id, None)
        if found is not None:
            found.abort(_ended_error())

    def _session(self, handle: str) -> _Session:
        session = self._sessions.get(handle)
        if session is None:
            raise _restarted(
                f"worker session {handle} is not found on {self.name}: the task was restarted, or "
                "the session was closed; open a new session"
            )
        return session

    @property
    def name(self) -> str:
        """Return "/job:J/replica:0/task:I"."""
        return self.devices[0].spec.task_name


def _ended_error() -> CancelledError:
    error = CancelledError("the step has ended")
    error.is_derived = True
    return error


def _lost(follower: Follower) -> UnavailableError:
    return UnavailableError(
        f"the connection to {follower.task} was lost; what was sent there in this step may be lost "
        "too"
    )


def _restarted(text: str) -> AbortedError:
    error = AbortedError(text)
    error.is_restart = True
    return error
