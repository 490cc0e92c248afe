"""`optimize_placement`: where the nodes of a step should run: simulated, then tried by running.

The dynamic placer that Abadi et al. describe in section 3.2.1 of "TensorFlow: large-scale machine
learning on heterogeneous distributed systems" (2015): costs are measured, the step is simulated
under candidate placements, and the one whose step ends first is chosen.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import quantiles
from typing import NamedTuple, TypedDict

import numpy as np

from tfdist.base.aliases import Structure, TensorLike
from tfdist.base.devices import DeviceSpec
from tfdist.errors import InvalidArgumentError
from tfdist.graph.operation import Operation
from tfdist.graph.records import records
from tfdist.plan.partition import Signature
from tfdist.protos import pb
from tfdist.session.base_session import BaseSession
from tfdist.session.feeds import find_fed, spread
from tfdist.session.fetches import Fetches
from tfdist.simulation.optimize import Candidate, optimize
from tfdist.simulation.placement_problem import Cluster, PlacementProblem, placement_problem
from tfdist.simulation.step import SimulatedStep, simulate_step
from tfdist.simulation.step_costs import learn_costs
from tfdist.tracing.rows import beginnings, rows

WORTH = 0.15  # the least share of a step that a prediction must save: predictions err by that much
WARM_UP = 3  # runs that are not counted: plans, connections, caches
MICRO = 1e-6
ALL = 1e9  # processors: tasks of other processes are taken to have their own

Feeds = Mapping[TensorLike, TensorLike] | None


class Options(TypedDict, total=False):
    """What `optimize_placement` may be told; see `Session.optimize_placement`."""

    runs: int
    seconds: float
    move_state: bool
    memory_limits: Mapping[str, int] | None
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
      problem: nodes, costs and links as measured.
      present: the placement as it is.
      best: the one that was found.
      measured_s: seconds of a step as it is placed; a tenth of the runs was faster.
    """

    problem: PlacementProblem
    present: Candidate
    best: Candidate
    measured_s: float
    _session: BaseSession
    _fetches: Structure
    _feed_dict: Feeds

    @property
    def predicted_s(self) -> float:
        """Return the seconds predicted of a step.

        What the simulation missed of the present one is added.
        """
        missed_us = self.measured_s / MICRO - self.present.span_us
        return max((self.best.span_us + missed_us) * MICRO, self.best.span_us * MICRO / 2)

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
        chosen = self.best if self.is_worth_it else self.present
        return self.problem.by_name(chosen.placed)

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
        now = f"a step takes {_text(self.measured_s)}"
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
        session = self._session
        made = type(session)(session.sess_str, session.graph, session._config)
        made._node_devices = self.devices()
        return made

    def verify(self, runs: int = 20) -> Verdict:
        """Run the step under both placements in turn, and return what they took.

        Args:
          runs: of each; the step does what it does, so a training goes on meanwhile.
        """
        other = self.session()
        try:
            before: list[float] = []
            after: list[float] = []
            for i in range(WARM_UP + runs):
                for session, found in ((self._session, before), (other, after)):
                    seconds = _timed(session, self._fetches, self._feed_dict)
                    if i >= WARM_UP:
                        found.append(seconds)
        finally:
            other.close()
        return Verdict(_tenth(before), _tenth(after), runs)


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
    if runs < 2:
        raise InvalidArgumentError(f"runs is {runs}; two at least are needed to measure a step")
    connection = session._extended()
    devices = [each.spec for each in connection.devices()]
    if len(devices) == 1:
        raise InvalidArgumentError(
            f"the session spans one device, {devices[0]}: there is nothing to choose from; open "
            "it on a server of a cluster (cluster.target(), server.target)"
        )
    seen = _measured(session, fetches, feed_dict, runs)
    signature = _signature(session, fetches, feed_dict)
    together = connection.in_one_process()
    costs = learn_costs([rows(each) for each in seen.traces], together)
    present = {node.name: node.device for node in connection.placed(signature)}
    nodes = {node.name: node for node in records(session.graph.get_operations())}
    cluster = Cluster(
        devices,
        _client(seen.traces[-1], devices),
        together,
        _processors(seen.processor_s, sum(costs.node_us.values()) * MICRO) if together else ALL,
        memory_limits or {},
    )
    problem = placement_problem(nodes, signature, costs, cluster, present, move_state)
    placed = problem.numbers(present)
    until = _Countdown(seconds)
    best = optimize(problem, placed, np.random.default_rng(seed), until.remaining)
    now = Candidate(tuple(placed), simulate_step(problem, placed).span_us, "as it is")
    return OptimizedPlacement(problem, now, best, seen.step_s, session, fetches, feed_dict)


class _Countdown:
    """Time of this thread's processor, so that others on the machine do not shorten a search."""

    def __init__(self, seconds: float) -> None:
        self._began, self._seconds = time.thread_time(), seconds

    def remaining(self) -> float:
        """Return how much is left, from 1 down to 0 and below."""
        return 1 - (time.thread_time() - self._began) / self._seconds


class _Measured(NamedTuple):
    """What running a step told.

    Attributes:
      traces: step statistics of traced runs.
      step_s: seconds of an untraced one; a tenth was faster.
      processor_s: seconds of this process's processors that one took.
    """

    traces: list[pb.StepStats]
    step_s: float
    processor_s: float


def _measured(session: BaseSession, fetches: Structure, feed_dict: Feeds, runs: int) -> _Measured:
    options = pb.RunOptions(trace_level=pb.RunOptions.FULL_TRACE)
    for _ in range(WARM_UP):
        session.run(fetches, feed_dict)
    seconds, traces, processor = [], [], 0.0
    for _ in range(runs):
        before = time.process_time()
        seconds.append(_timed(session, fetches, feed_dict))
        processor += time.process_time() - before
        metadata = pb.RunMetadata()
        session.run(fetches, feed_dict, options, metadata)
        traces.append(metadata.step_stats)
    return _Measured(traces, _tenth(seconds), processor / runs)


def _processors(used_s: float, computing_s: float) -> float:
    """Return how many nodes can compute at once on this machine.

    Nodes that wait for something else than a processor (a file, a sleep) share none.
    """
    share = min(used_s / computing_s, 1.0) if computing_s else 1.0
    return (os.cpu_count() or 1) / max(share, 0.01)


def _timed(session: BaseSession, fetches: Structure, feed_dict: Feeds) -> float:
    began = time.perf_counter()
    session.run(fetches, feed_dict)
    return time.perf_counter() - began


def _tenth(seconds: list[float]) -> float:
    """Return what a tenth is below: what disturbs a run only makes it longer."""
    return quantiles(seconds, n=10, method="inclusive")[0]


def _signature(session: BaseSession, fetches: Structure, feed_dict: Feeds) -> Signature:
    parsed = Fetches(session.graph, fetches, session)
    fed = [find_fed(session.graph, key) for key in spread(feed_dict or {})]
    endpoints = tuple([(tensor.op.name, tensor.value_index) for tensor in fed])
    return Signature(endpoints, parsed.endpoints, parsed.targets)


def _client(step_stats: pb.StepStats, devices: list[DeviceSpec]) -> str:
    """Return the device where feeds enter and fetches leave: the master's, which begins first."""
    began = beginnings(step_stats)
    known = {str(each) for each in devices}
    return min(known & set(began), key=lambda name: began[name])


def _text(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
