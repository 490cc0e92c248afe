"""`optimize_placement`: where the nodes of a step should run: simulated, then tried by running.

The dynamic placer that Abadi et al. describe in section 3.2.1 of "TensorFlow: large-scale machine
learning on heterogeneous distributed systems" (2015): costs are measured, the step is simulated
under candidate placements, and the one whose step ends first is chosen.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np

from tfdist.base.aliases import Structure
from tfdist.graph.operation import Operation
from tfdist.session.base_session import BaseSession
from tfdist.session.step_model import Feeds, StepModel, learned, recalled
from tfdist.simulation.optimize import Candidate, optimize
from tfdist.simulation.placement_problem import PlacementProblem
from tfdist.simulation.step import SimulatedStep, simulate_step

WORTH = 0.15  # the least share of a step that a prediction must save: predictions err by that much


class Limits(TypedDict, total=False):
    """What may be where."""

    move_state: bool
    memory_limits: Mapping[str, int] | None


class Options(Limits, total=False):
    """What `optimize_placement` may be told; see `Session.optimize_placement`."""

    runs: int
    seconds: float
    seed: int


class Move(NamedTuple):
    """Nodes that would run elsewhere.

    Attributes:
      source: device on which they run now, a full name.
      target: where they would run.
      nodes: their names, the costliest first.
      cost_us: what they take together, in microseconds.
      saved_us: how much longer the simulated step would be if they alone stayed.
    """

    source: str
    target: str
    nodes: tuple[str, ...]
    cost_us: float
    saved_us: float


class Verdict(NamedTuple):
    """What running both placements in turn told; seconds, a tenth of the runs was faster.

    Attributes:
      before_s: a step as it was placed.
      after_s: a step under the placement that was found.
      runs: of each.
    """

    before_s: float
    after_s: float
    runs: int

    @property
    def speedup(self) -> float:
        """Return how many times as fast the step is."""
        return self.before_s / self.after_s

    @property
    def is_better(self) -> bool:
        """Return whether it is faster at all."""
        return self.after_s < self.before_s


@dataclass(frozen=True)
class OptimizedPlacement:
    """A placement for a step, and what is predicted of it.

    Attributes:
      model: of the step, learned by running it.
      present: the placement as it is.
      best: the one that was found.
    """

    model: StepModel
    present: Candidate
    best: Candidate

    @property
    def problem(self) -> PlacementProblem:
        """Return nodes, costs and links as measured."""
        return self.model.problem

    @property
    def measured_s(self) -> float:
        """Return the seconds of a step as it is placed; a tenth of the runs was faster."""
        return self.model.measured_s

    @property
    def predicted_s(self) -> float:
        """Return the seconds predicted of a step: simulated, and what that missed of what ran."""
        return self.model.predicted_s(self.best.placed)

    @property
    def gain(self) -> float:
        """Return the predicted saving, as a share of a step."""
        return 1 - self.predicted_s / self.measured_s

    @property
    def is_worth_it(self) -> bool:
        """Return whether the predicted saving is larger than what predictions err."""
        return self.gain >= WORTH

    def devices(self) -> dict[str, str]:
        """Return the device of each node, by name; the present ones if it is not worth it."""
        return self.problem.by_name(self._chosen.placed)

    @property
    def _chosen(self) -> Candidate:
        return self.best if self.is_worth_it else self.present

    def moves(self) -> list[Move]:
        """Return what would run elsewhere, the costliest first."""
        by_way: dict[tuple[int, int], list[int]] = defaultdict(list)
        ways = zip(self.present.placed, self.best.placed, strict=True)
        for node, (before, after) in enumerate(ways):
            if before != after and self.problem.names[node]:
                by_way[before, after].append(node)
        cost, devices = self.problem.cost_us, self.problem.devices
        found = []
        for (before, after), nodes in by_way.items():
            nodes.sort(key=lambda node: -cost[node])
            names = tuple([self.problem.names[node] for node in nodes])
            took = sum(cost[node] for node in nodes)
            saved = self._longer_without(nodes)
            found.append(Move(devices[before], devices[after], names, took, saved))
        return sorted(found, key=lambda move: -move.cost_us)

    def _longer_without(self, nodes: list[int]) -> float:
        """Return how much longer the best step would be if some nodes stayed."""
        placed = list(self.best.placed)
        for node in nodes:
            placed[node] = self.present.placed[node]
        return simulate_step(self.problem, placed).span_us - self.best.span_us

    def simulated(self) -> tuple[SimulatedStep, SimulatedStep]:
        """Return the simulated step as it is placed, and under the placement that was found."""
        before, after = (simulate_step(self.problem, c.placed) for c in (self.present, self.best))
        return before, after

    def sentence(self) -> str:
        """Return what is predicted, in one sentence."""
        takes = "takes" if self.model.ran else "should take, by what units took so far,"
        now = f"a step {takes} {_text(self.measured_s)}"
        if not self.is_worth_it:
            return (
                f"Nothing is to be moved: {now}, and no placement is predicted to save "
                f"{WORTH:.0%} of that (the best {max(self.gain, 0.0):.0%})."
            )
        count = sum(len(move.nodes) for move in self.moves())
        return (
            f"Moving {count} node{'s' * (count != 1)} is predicted to save {self.gain:.0%}: {now}, "
            f"and would take {_text(self.predicted_s)}."
        )

    def device_function(self) -> Callable[[Operation], str]:
        """Return a function for `tf.device`, for a program that builds the graph anew.

        It gives the devices found to nodes of the names of this graph, and none to others.
        """
        devices = self.devices()
        return lambda op: devices.get(op.name, "")

    def session(self) -> BaseSession:
        """Return a session like the one that was asked, under the placement that was found.

        Variables are the same ones: they stay where they are, unless `move_state` was said; then
        they begin uninitialised where they are new.
        """
        return self.model.session(self._chosen.placed)

    def verify(self, runs: int = 20) -> Verdict:
        """Run the step under both placements in turn, and return what they took.

        Args:
          runs: of each; the step does what it does, so a training goes on meanwhile.
        """
        ways = (self.present.placed, self._chosen.placed)
        before, after = self.model.timed_in_turn(ways, runs)
        return Verdict(before, after, runs)


def optimize_placement(
    session: BaseSession,
    fetches: Structure,
    feed_dict: Feeds = None,
    *,
    runs: int = 20,
    seconds: float = 1.0,
    move_state: bool = False,
    memory_limits: Mapping[str, int] | None = None,
    seed: int = 0,
) -> OptimizedPlacement:
    """Return where the nodes of a step should run; see `Session.optimize_placement`."""
    more = Limits(move_state=move_state, memory_limits=memory_limits)
    if not runs:
        return _searched(recalled(session, fetches, feed_dict, **more), seconds, seed)
    model = learned(session, fetches, feed_dict, runs=runs, **more)
    found = _searched(model, seconds / 2, seed)
    if found.is_worth_it and not move_state:  # what moved would begin uninitialised
        found = _searched(model.refined(found.best.placed, runs), seconds / 2, seed)
    return found


def _searched(model: StepModel, seconds: float, seed: int) -> OptimizedPlacement:
    until = _Countdown(seconds)
    best = optimize(model.problem, model.present, np.random.default_rng(seed), until.remaining)
    now = simulate_step(model.problem, model.present).span_us
    return OptimizedPlacement(model, Candidate(model.present, now, "as it is"), best)


class _Countdown:
    """Time of this thread's processor, so that others on the machine do not shorten a search."""

    def __init__(self, seconds: float) -> None:
        self._began, self._seconds = time.thread_time(), seconds

    def remaining(self) -> float:
        """Return how much is left, from 1 down to 0 and below."""
        return 1 - (time.thread_time() - self._began) / self._seconds


def _text(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
