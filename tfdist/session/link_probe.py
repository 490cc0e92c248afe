"""What links cost that nobody has used yet: a few steps for each send a tensor across.

A small tensor's way is the latency, and what a large one takes more is the bandwidth. Nothing else
runs then: a link that several share is probed at its best.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from statistics import median
from typing import NamedTuple

from tfdist.graph.graph import Graph
from tfdist.ops.array.fill import fill
from tfdist.ops.control_flow.identity_group import identity
from tfdist.protos import pb
from tfdist.session.base_session import BaseSession
from tfdist.simulation.step_costs import Link, learn_ways
from tfdist.tracing.device_names import task_of
from tfdist.tracing.steps.node_row import NodeRow
from tfdist.tracing.steps.rows import rows

SIZES = (1, 1 << 18)  # floats: 4 bytes and a mebibyte
RUNS = 5
MOST = 60  # links; the others are taken to be as those


class ProbedLink(NamedTuple):
    """What a link costs.

    Attributes:
      source: the task that sends: "/job:ps/replica:0/task:0".
      target: the task that receives.
      latency_s: seconds that a small tensor is on its way.
      bytes_per_s: bandwidth; infinite if a large tensor took no longer than a small one.
    """

    source: str
    target: str
    latency_s: float
    bytes_per_s: float


def all_links(session: BaseSession) -> list[Link]:
    """Return the links between the tasks that a session spans: (source, target), both ways."""
    devices = [str(each.spec) for each in session._extended().devices()]
    tasks = list(dict.fromkeys(map(task_of, devices)))
    return [(source, target) for source in tasks for target in tasks if source != target]


def probe_links(session: BaseSession, links: Iterable[Link] | None = None) -> list[ProbedLink]:
    """Return what links cost: measured by a dozen steps for each.

    Args:
      session: on a server of a cluster.
      links: (source, target), tasks of it; by default all between the tasks that it spans.
    """
    wanted = all_links(session) if links is None else list(links)
    ways = learn_ways(probed_steps(session, wanted))
    return [
        ProbedLink(
            *link,
            ways[link].message_us / 1e6,
            1e6 / ways[link].byte_us if ways[link].byte_us else inf,
        )
        for link in wanted
        if link in ways
    ]


def probed_bandwidth(session: BaseSession, steps: Iterable[Sequence[NodeRow]]) -> float:
    """Return the bytes a second of the links that steps use, the median; 0 if nothing limits them.

    Args:
      session: on a server of a cluster; one of tasks in one process has no links.
      steps: rows of traced runs.
    """
    if session._extended().in_one_process():
        return 0.0
    used = learn_ways(steps)
    found = probe_links(session, [link for link in all_links(session) if link in used])
    return median([each.bytes_per_s for each in found if each.bytes_per_s < inf] or [0.0])


def probed_steps(session: BaseSession, links: Iterable[Link]) -> list[list[NodeRow]]:
    """Return the rows of the steps that probe links, the first sixty."""
    graph = Graph()
    probes = []
    for source, target in list(links)[:MOST]:
        for size in SIZES:
            with graph.as_default():
                with graph.device(source):
                    made = fill([size], 0.0)
                with graph.device(target):
                    probes.append(identity(made).op)
    found: list[list[NodeRow]] = []
    prober = type(session)(session.sess_str, graph, session._config)
    try:
        for probe in probes:
            prober.run(probe)  # the first one plans
            found += _traced(prober, probe)
    finally:
        prober.close()
    return found


def _traced(session: BaseSession, fetch: object) -> Iterator[list[NodeRow]]:
    options = pb.RunOptions(trace_level=pb.RunOptions.FULL_TRACE)
    for _ in range(RUNS):
        metadata = pb.RunMetadata()
        session.run(fetch, options=options, run_metadata=metadata)
        yield rows(metadata.step_stats)
