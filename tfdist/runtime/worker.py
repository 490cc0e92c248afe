"""The worker of a task: runs the partitions that masters give it, and keeps the state."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

from tfdist.errors import AbortedError
from tfdist.plan.compile import Program, build_program
from tfdist.plan.partition import Partition
from tfdist.plan.wiring import Binding
from tfdist.runtime.context import NodeContext
from tfdist.runtime.descriptions import describe
from tfdist.runtime.devices import Device
from tfdist.runtime.rendezvous import Rendezvous
from tfdist.runtime.resources import Generators, Resources, Variable
from tfdist.runtime.run import Run
from tfdist.runtime.step import Step

BINDING = Binding(NodeContext, Variable.read, time.time_ns, describe)


class _Session:
    """What a worker keeps for one session: its partitions and random generators."""

    def __init__(self) -> None:
        self.generators = Generators()
        self.graphs: dict[str, _Registered] = {}


class _Registered:
    """A partition and the programs made of it.

    A step that runs once is interpreted; what runs again is compiled. A traced step has programs
    of its own, which note every node.
    """

    def __init__(self, partition: Partition, executor: str) -> None:
        self._partition = partition
        self._executor = executor
        self._programs: dict[str, Program] = {}
        self._runs = 0

    def program(self, traced: bool) -> Program:
        """Return the program for the next run."""
        self._runs += 1
        compiled = self._executor == "compiler" or (self._executor == "auto" and self._runs > 1)
        key = f"{compiled} {traced}"
        found = self._programs.get(key)
        if found is None:
            found = self._programs[key] = build_program(
                self._partition,
                BINDING,
                compiled=compiled,
                grouped=self._executor != "interpreter",
                traced=traced,
            )
        return found


class Worker:
    """The devices, state and partitions of one task.

    Args:
      devices: the task's devices.
      peers: the other tasks.
      executor: "auto" (interpret what runs once, compile what runs again), "compiler", or
        "interpreter" (one node at a time).
    """

    def __init__(self, devices: tuple[Device, ...], peers: Any, executor: str = "auto") -> None:
        self.devices = devices
        self.peers = peers
        self.resources = Resources()
        self._executor = executor
        self._sessions: dict[str, _Session] = {}
        self._rendezvous: dict[int, Rendezvous] = {}
        self._handles = itertools.count()
        self._lock = threading.Lock()

    def open_session(self, handle: str) -> None:
        """Keep state for a session."""
        with self._lock:
            self._sessions.setdefault(handle, _Session())

    def close_session(self, handle: str) -> None:
        """Forget a session's partitions; variables and queues stay in their containers."""
        with self._lock:
            self._sessions.pop(handle, None)

    def register(self, handle: str, partition: Partition) -> str:
        """Keep a partition; returns the name to run it by."""
        session = self._session(handle)
        name = f"{next(self._handles):016x}"
        session.graphs[name] = _Registered(partition, self._executor)
        return name

    def start(self, handle: str, graph: str, step: Step, feeds: list[Any]) -> Run:
        """Begin a partition as part of `step`, whose driver will run it."""
        session = self._session(handle)
        program = session.graphs[graph].program(step.clock is not None)
        run = Run(step, self, session, program)
        if step.clock:
            now = step.clock()
            run.notes.append((None, now, now, None))
        step.launch(run, feeds)
        return run

    def rendezvous(self, step_id: int) -> Rendezvous:
        """Return where this task's sends of a step are found, whoever asks first."""
        found = self._rendezvous.get(step_id)
        return found or self._rendezvous.setdefault(step_id, Rendezvous())

    def end_step(self, step_id: int) -> None:
        """Forget what nobody received in a step."""
        self._rendezvous.pop(step_id, None)

    def _session(self, handle: str) -> _Session:
        session = self._sessions.get(handle)
        if session is None:
            raise AbortedError(f"worker session {handle} is not found; the task was restarted")
        return session
