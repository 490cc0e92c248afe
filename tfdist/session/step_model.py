"""`StepModel`: what a step costs, learned by running it; it predicts it under other placements.

Nodes and links are learned from traces, and what the simulation misses of the placements that were
run is added to what it says of others. Another placement is run by another session on the same
servers: a placed node never moves.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import quantiles
from typing import NamedTuple

import numpy as np

from tfdist.base.aliases import Structure, TensorLike
from tfdist.base.devices import DeviceSpec
from tfdist.errors import InvalidArgumentError
from tfdist.graph.records import records
from tfdist.plan.step_plan import Signature
from tfdist.protos import pb
from tfdist.session.base_session import BaseSession
from tfdist.session.feeds import find_fed, spread
from tfdist.session.fetches import Fetches
from tfdist.session.link_probe import all_links, probed_steps
from tfdist.simulation.placement_problem import Cluster, PlacementProblem, placement_problem
from tfdist.simulation.step import simulate_step
from tfdist.simulation.step_costs import (
    Link,
    StepCosts,
    costs_of_units,
    learn_costs,
    learn_ways,
)
from tfdist.tracing.device_names import task_of
from tfdist.tracing.steps.node_row import NodeRow
from tfdist.tracing.steps.rows import beginnings, rows

WARM_UP = 3  # runs that are not counted: plans, connections, caches
MICRO = 1e-6
ALL = 1e9  # processors: tasks of other processes are taken to have their own

Feeds = Mapping[TensorLike, TensorLike] | None
Placed = Sequence[int]  # the device of each node, by number


class Ran(NamedTuple):
    """A placement that was run.

    Attributes:
      placed: the device of each node.
      step_s: seconds of an untraced step; a tenth was faster.
      traces: rows of each traced run.
      processor_s: seconds of this process's processors that an untraced one took.
    """

    placed: tuple[int, ...]
    step_s: float
    traces: list[list[NodeRow]]
    processor_s: float


@dataclass(frozen=True)
class StepModel:
    """What was learned of a step.

    Attributes:
      problem: nodes, costs and links as measured.
      present: the placement as it is.
      ran: the placements that were run: the present one, then others; none if costs are recalled.
      probed: the links that no tensor of the step crosses, so that they were probed.
    """

    problem: PlacementProblem
    present: tuple[int, ...]
    ran: tuple[Ran, ...]
    probed: tuple[Link, ...]
    _session: BaseSession = field(repr=False)
    _fetches: Structure = field(repr=False)
    _feed_dict: Feeds = field(repr=False)
    _problem_of: Callable[[Sequence[Ran]], PlacementProblem] = field(repr=False)

    @property
    def measured_s(self) -> float:
        """Return the seconds of a step as it is placed; a tenth of the runs was faster.

        They are simulated if it was not run.
        """
        return self.ran[0].step_s if self.ran else self.predicted_s(self.present)

    def predicted_s(self, placed: Placed) -> float:
        """Return the seconds of a step under a placement: simulated, and what that misses."""
        step = simulate_step(self.problem, placed)
        fixed_us, transfer_us = self._missed
        missed_us = fixed_us + transfer_us * step.transfers
        return max(step.span_us + missed_us, step.span_us / 2) * MICRO

    @cached_property
    def _missed(self) -> tuple[float, float]:
        """Return what the simulation misses of a step in microseconds, and what for each transfer.

        A line through what was run, as far as that differs in transfers: what is missed is mostly
        that they get into each other's way.
        """
        if not self.ran:
            return 0.0, 0.0
        steps = [simulate_step(self.problem, each.placed) for each in self.ran]
        crossings = np.array([float(step.transfers) for step in steps])
        missed = np.array(
            [r.step_s / MICRO - s.span_us for r, s in zip(self.ran, steps, strict=True)]
        )
        spread = crossings - crossings.mean()
        slope = float(spread @ missed / (spread @ spread)) if spread.any() else 0.0
        slope = max(slope, 0.0)
        return float(missed.mean() - slope * crossings.mean()), slope

    def session(self, placed: Placed) -> BaseSession:
        """Return a session like the one that was asked, under another placement."""
        session = self._session
        made = type(session)(session.sess_str, session.graph, session._config)
        made._node_devices = self.problem.by_name(placed)
        return made

    def refined(self, placed: Placed, runs: int) -> StepModel:
        """Return a model that has seen another placement, too.

        Args:
          placed: the other placement.
          runs: of timed steps under it, and as many traced ones.
        """
        other = self.session(placed)
        try:
            found = _run(other, self._fetches, self._feed_dict, runs)[0]
        finally:
            other.close()
        ran = (*self.ran, found._replace(placed=tuple(placed)))
        return replace(self, problem=self._problem_of(ran), ran=ran)

    def timed_in_turn(self, placements: Sequence[Placed], runs: int) -> list[float]:
        """Return the seconds of a step under each placement, run in turn; a tenth was faster.

        Args:
          placements: what to run; the step does what it does, so a training goes on meanwhile.
          runs: of each.
        """
        present = list(self.present)
        sessions = [self._session if list(p) == present else self.session(p) for p in placements]
        seconds: list[list[float]] = [[] for _ in placements]
        try:
            for i in range(WARM_UP + runs):
                for session, found in zip(sessions, seconds, strict=True):
                    took = _timed(session, self._fetches, self._feed_dict)
                    if i >= WARM_UP:
                        found.append(took)
        finally:
            for session in sessions:
                if session is not self._session:
                    session.close()
        return [_tenth(each) for each in seconds]


def learned(
    session: BaseSession,
    fetches: Structure,
    feed_dict: Feeds = None,
    *,
    runs: int = 20,
    move_state: bool = False,
    memory_limits: Mapping[str, int] | None = None,
) -> StepModel:
    """Return what running a step tells of it.

    Args:
      session: on a server of a cluster.
      fetches: what the step gives, as for `Session.run`.
      feed_dict: what it takes.
      runs: of timed steps, and as many traced ones.
      move_state: whether variables and queues may be elsewhere; see `placement_problem`.
      memory_limits: bytes that a device may keep, by its full name.

    Raises:
      InvalidArgumentError: `runs` is less than 2, or the session spans one device.
    """
    if runs < 2:
        raise InvalidArgumentError(f"runs is {runs}; two at least are needed to measure a step")
    connection, devices = session._extended(), _devices(session)
    ran, last = _run(session, fetches, feed_dict, runs)
    together = connection.in_one_process()
    unused = [] if together else _unused(session, ran.traces)
    probes = probed_steps(session, unused) if unused else []
    cluster = Cluster(
        devices,
        _client(last, devices),
        together,
        _processors(ran) if together else ALL,
        memory_limits or {},
    )

    def costs_of(ran: Sequence[Ran]) -> StepCosts:
        return learn_costs([trace for each in ran for trace in each.traces], together, probes)

    return _model(session, fetches, feed_dict, cluster, costs_of, move_state, ran, unused)


def recalled(
    session: BaseSession,
    fetches: Structure,
    feed_dict: Feeds = None,
    *,
    move_state: bool = False,
    memory_limits: Mapping[str, int] | None = None,
) -> StepModel:
    """Return what the steps that a session ran so far tell of a step; nothing is run or traced.

    Every task knows what the units of its programs took lately. Nodes of one unit are taken to be
    alike and, where tasks share a process, to need a processor each. Links are probed.

    Args:
      session: as for `learned`.
      fetches: as for `learned`.
      feed_dict: as for `learned`.
      move_state: as for `learned`.
      memory_limits: as for `learned`.

    Raises:
      InvalidArgumentError: the session spans one device, or no step has run yet that tells.
    """
    connection, devices = session._extended(), _devices(session)
    units = [(each.nodes, each.nanos / 1e3) for each in connection.unit_costs()]
    if not units:
        raise InvalidArgumentError(
            "no step has run yet in this session that tells what nodes cost; ask the session that "
            "ran some (with sess.as_default(): ...), or say runs=20"
        )
    client = next(str(each) for each in devices if task_of(str(each)) == connection.own_task())
    together = connection.in_one_process()
    processors = os.cpu_count() or 1 if together else ALL
    cluster = Cluster(devices, client, together, processors, memory_limits or {})
    probed = [] if together else all_links(session)
    costs = costs_of_units(units)
    if probed:
        of_links = learn_costs(probed_steps(session, probed))
        costs = replace(costs, links=of_links.links, ways=of_links.ways)
    return _model(session, fetches, feed_dict, cluster, lambda _: costs, move_state, None, probed)


def _model(
    session: BaseSession,
    fetches: Structure,
    feed_dict: Feeds,
    cluster: Cluster,
    costs_of: Callable[[Sequence[Ran]], StepCosts],
    move_state: bool,
    ran: Ran | None = None,
    probed: Sequence[Link] = (),
) -> StepModel:
    signature = _signature(session, fetches, feed_dict)
    now = {node.name: node.device for node in session._extended().placed(signature)}
    nodes = {node.name: node for node in records(session.graph.get_operations())}

    def problem_of(ran: Sequence[Ran]) -> PlacementProblem:
        return placement_problem(nodes, signature, costs_of(ran), cluster, now, move_state)

    problem = problem_of([ran] if ran else [])
    present = tuple(problem.numbers(now))
    seen = (ran._replace(placed=present),) if ran else ()
    return StepModel(problem, present, seen, tuple(probed), session, fetches, feed_dict, problem_of)


def _devices(session: BaseSession) -> list[DeviceSpec]:
    devices = [each.spec for each in session._extended().devices()]
    if len(devices) == 1:
        raise InvalidArgumentError(
            f"the session spans one device, {devices[0]}: there is nothing to choose from; open "
            "it on a server of a cluster (cluster.target(), server.target)"
        )
    return devices


def _unused(session: BaseSession, traces: Sequence[Sequence[NodeRow]]) -> list[Link]:
    """Return the links that no tensor crossed."""
    used = learn_ways(traces)
    return [link for link in all_links(session) if link not in used]


def _run(
    session: BaseSession, fetches: Structure, feed_dict: Feeds, runs: int
) -> tuple[Ran, pb.StepStats]:
    """Run steps, timed ones and traced ones in turn; returns what they told, and the last trace."""
    options = pb.RunOptions(trace_level=pb.RunOptions.FULL_TRACE)
    for _ in range(WARM_UP):
        session.run(fetches, feed_dict)
    seconds, traces, processor = [], [], 0.0
    metadata = pb.RunMetadata()
    for _ in range(runs):
        before = time.process_time()
        seconds.append(_timed(session, fetches, feed_dict))
        processor += time.process_time() - before
        session.run(fetches, feed_dict, options, metadata)
        traces.append(rows(metadata.step_stats))
    return Ran((), _tenth(seconds), traces, processor / runs), metadata.step_stats


def _processors(ran: Ran) -> float:
    """Return how many nodes can compute at once on this machine.

    Nodes that wait for something else than a processor (a file, a sleep) share none.
    """
    used_s = ran.processor_s
    computing_s = sum(learn_costs(ran.traces).node_us.values()) * MICRO
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
