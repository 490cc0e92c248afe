"""Control loops ("gates"): how a task takes part in a loop whose condition is computed elsewhere.

A task that receives a value in every iteration of a distributed loop must know how many there are.
It gets a small loop of its own, in a frame of the same name, whose condition it receives:

    Const ─ Enter ─ Merge ── Switch ─ Identity ─ NextIteration ─ (Merge)
                      │        └ _Recv of LoopCond
                      └ gate of every _Recv in the loop

TensorFlow names such nodes `_cloop...` too. Source: docs/wire.md section 3.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tfdist.base.dtypes import int32
from tfdist.errors import InvalidArgumentError
from tfdist.graph.records import Node, constant_node
from tfdist.plan.frames import Path, show
from tfdist.plan.prune import Endpoint


class ControlLoop(NamedTuple):
    """The names of the nodes of one control loop."""

    enter: str
    merge: str
    switch: str
    pivot: str
    next: str

    @classmethod
    def named(cls, name: str) -> ControlLoop:
        """Return the names of a control loop that is called `name`."""
        return cls(*(f"_cloop{name}/{part}" for part in cls._fields))


def control_loop_entry(
    gate: ControlLoop, path: Path, device: str, around: str, parallel: int
) -> list[Node]:
    """Return the nodes that begin a control loop.

    Args:
      gate: their names.
      path: of the loop's frame.
      device: where the control loop is.
      around: what runs in every iteration of the frame around it; "" outside of all loops.
      parallel: iterations that may overlap.
    """
    control = (around,) if around else ()
    start = constant_node(f"{gate.enter}/start", np.zeros((), np.int32), int32, device, control)
    frame = {"frame_name": path[-1].encode(), "is_constant": False, "parallel_iterations": parallel}
    enter = Node(gate.enter, "Enter", ((start.name, 0),), (), device, {"T": int32, **frame})
    inputs = ((gate.enter, 0), (gate.next, 0))
    merge = Node(gate.merge, "Merge", inputs, (), device, {"T": int32, "N": 2})
    return [start, enter, merge]


def control_loop_end(gate: ControlLoop, condition: Endpoint, device: str) -> list[Node]:
    """Return the nodes that close a control loop: it iterates while `condition` is true there."""
    attrs = {"T": int32}
    return [
        Node(gate.switch, "Switch", ((gate.merge, 0), condition), (), device, attrs),
        Node(gate.pivot, "Identity", ((gate.switch, 1),), (), device, attrs),
        Node(gate.next, "NextIteration", ((gate.pivot, 0),), (), device, attrs),
    ]


class ControlLoops:
    """The control loops of a step.

    Args:
      conditions: for each loop, by path, the output of its LoopCond, and its parallel iterations.
      add: takes a node for the task of its device.
      bring: returns where a node on a device finds a tensor.
    """

    def __init__(
        self,
        conditions: dict[Path, tuple[Endpoint, int]],
        add: Callable[[Node, Path], None],
        bring: Callable[[Endpoint, str], Endpoint],
    ) -> None:
        self._conditions, self._add, self._bring = conditions, add, bring
        self._control_loops: dict[tuple[Path, str], ControlLoop] = {}
        self._open: list[tuple[ControlLoop, Path, str]] = []

    def control(self, path: Path, task: str, device: str) -> tuple[str, ...]:
        """Return what a `_Recv` in a loop waits for, so that it runs in every iteration."""
        return (self._control_loop(path, task, device).merge,) if path else ()

    def pivot(self, path: Path, task: str, device: str) -> str:
        """Return what runs on a task whenever the body of a loop does."""
        return self._control_loop(path, task, device).pivot

    def condition(self, path: Path) -> Endpoint:
        """Return what tells whether a loop has another iteration."""
        return self._conditions[path][0]

    def finish(self) -> None:
        """Close every control loop."""
        while self._open:
            gate, path, device = self._open.pop()
            condition, _ = self._conditions[path]
            for node in control_loop_end(gate, self._bring(condition, device), device):
                self._add(node, path)

    def _control_loop(self, path: Path, task: str, device: str) -> ControlLoop:
        key = path, task
        if key not in self._control_loops:
            self._check(path)
            around = self._control_loop(path[:-1], task, device).pivot if path[:-1] else ""
            gate = self._control_loops[key] = ControlLoop.named(
                f"{len(self._control_loops)}_{'/'.join(path)}"
            )
            nodes = control_loop_entry(gate, path, device, around, self._conditions[path][1])
            for node, frame in zip(nodes, (path[:-1], path, path), strict=True):
                self._add(node, frame)
            self._open.append((gate, path, device))
        return self._control_loops[key]

    def _check(self, path: Path) -> None:
        if path not in self._conditions:
            raise InvalidArgumentError(
                f"{show(path)} crosses tasks, but has no LoopCond that tells them when it ends"
            )
