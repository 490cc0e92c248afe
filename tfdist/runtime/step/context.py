"""`NodeContext`: what a stateful kernel can ask of the task that it runs on."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from tfdist.base import devices
from tfdist.base.aliases import TaskResource, TensorValue
from tfdist.graph.op_def import Wait
from tfdist.graph.records import Node
from tfdist.runtime.disturbances.pace import keep_pace
from tfdist.runtime.resources.generators import Generators
from tfdist.runtime.step.counters import MOVES
from tfdist.runtime.step.rendezvous import NO_LOOP
from tfdist.runtime.step.run import Run


class NodeContext:
    """The context of one node in one run (a `graph.op_def.KernelContext`)."""

    __slots__ = ("_node", "_run")

    def __init__(self, run: Run, node: Node) -> None:
        self._run, self._node = run, node

    @property
    def node_name(self) -> str:
        """Return the name of the node."""
        return self._node.name

    @property
    def run(self) -> Run:
        """Return the run that the node belongs to."""
        return self._run

    @property
    def device(self) -> str:
        """Return the full name of the device that the node runs on."""
        return self._node.device

    @property
    def cancelled(self) -> bool:
        """Return whether the step is to stop."""
        return self._run.step.error is not None

    def check(self) -> None:
        """Raise CancelledError if the step is to stop, because of its deadline perhaps."""
        self._run.check(self._node)

    def own_name(self) -> str:
        """Return the name of a resource that this node has in this session only."""
        return f"{self._run.session.own_prefix}{self._node.name}"

    def function(self, name: TaskResource) -> TaskResource:
        """Return a function of the graph, to be called (an `ops.dataset.dataset_value.Callee`)."""
        return self._run.session.functions.find(name, self._node.device)

    def resource(
        self, kind: str, container: bytes, name: str, make: Callable[[TaskResource], TaskResource]
    ) -> TaskResource:
        """Return the task's resource of that name; `make(class of the kind)` if it is new."""
        session = self._run.session
        found = session.resources.find(kind, container.decode(), name, make)
        session.known[self._node.name] = found
        return found

    def known(self) -> TaskResource:
        """Return the resource that this node found last in this session, None at first."""
        return self._run.session.known.get(self._node.name)

    def rng(self, seed: int, seed2: int) -> np.random.Generator:
        """Return the node's generator, which lives as long as the session."""
        return self._run.session.generators.find(self._node.name, seed, seed2)

    def reserve(self, blocks: int) -> int:
        """Return where the next `blocks` of the node's stream begin; nobody else gets them."""
        generators: Generators = self._run.session.generators
        return generators.reserve(self._node.name, blocks)

    def log(self, text: str) -> None:
        """Write a line to the log, which the thread that waits for the step prints to stderr."""
        self._run.step.logs.append(text)

    def send(self, key: str, value: TensorValue) -> None:
        """Leave `value` for the task that asks for `key` in this iteration of this loop."""
        run = self._run
        if run.task.disturber is not None:
            keep_pace()
        counters, moved = run.task.counters, MOVES.nanoseconds
        counters.send(key, value)
        rendezvous, session = run.task.rendezvous(run.step.step_id), run.session
        rendezvous.session, tagged = session.handle, f"{key};{run.tag}"
        if rendezvous.send(tagged, value):
            run.deliver(rendezvous)
            counters.computed -= MOVES.nanoseconds - moved  # which the unit seemed to compute
        elif session.followers and run.tag == NO_LOOP:  # looked for after it was left there
            follower = session.followers.get(task_of(key.split(";", 3)[2]))
            if follower is not None:
                run.hand_on(rendezvous, follower, tagged)
                counters.computed -= MOVES.nanoseconds - moved

    def receive(self, key: str) -> Wait:
        """Return the wait for the value that the task named in `key` sends."""
        source = task_of(key.partition(";")[0])
        key = f"{key};{self._run.tag}"
        run = self._run
        return run.task.peers.receive(source, run.step.step_id, key, run.session.handle)


@lru_cache(maxsize=4096)
def task_of(device: str) -> str:
    """Return the name of the task that a device belongs to."""
    return devices.parse(device).task_name
