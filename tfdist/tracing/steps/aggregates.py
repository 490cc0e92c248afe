"""What the rows of a step come to: by device, by node over all rounds, by loop and by round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tfdist.tracing.steps.loop_iterations import Rounds, around, last_rounds
from tfdist.tracing.steps.node_row import COMPUTE, QUEUE, TRANSFER, NodeRow


@dataclass(frozen=True, slots=True)
class DeviceTotal:
    """What one device did in a step.

    Attributes:
      device: full name.
      nodes: how many nodes ran there, each round of a loop counted.
      transfers: how many tensors it received.
      received_bytes: their size.
      compute_us: microseconds in nodes that do not wait.
      queue_us: microseconds in queue operations, waiting included.
      transfer_us: microseconds in which tensors were on their way to it; they may overlap.
    """

    device: str
    nodes: int
    transfers: int
    received_bytes: int
    compute_us: float
    queue_us: float
    transfer_us: float


@dataclass(frozen=True, slots=True)
class NodeSum:
    """All runs of one node in a loop, or all transfers of one of its tensors; else one row.

    Attributes:
      row: the first run.
      runs: how many there were.
      bytes: of all outputs together.
      total_us: microseconds that all took together.
      longest_us: microseconds that the longest took.
    """

    row: NodeRow
    runs: int
    bytes: int
    total_us: float
    longest_us: float


@dataclass(frozen=True, slots=True)
class LoopTotal:
    """How often a loop went round.

    Attributes:
      loops: its name, behind those of the loops around it.
      least: rounds of its body, where that was least: a loop in a loop runs several times.
      most: rounds where that was most.
      times: how many times it ran.
    """

    loops: tuple[str, ...]
    least: int
    most: int
    times: int


@dataclass(frozen=True, slots=True)
class RoundTotal:
    """What happened in one round of a loop, rounds of loops inside included.

    Attributes:
      rounds: which round of which loop.
      nodes: how many nodes ran.
      transfers: how many tensors crossed.
      received_bytes: their size.
      start_us: when its first node started, in microseconds since the step's beginning.
      end_us: when its last one ended.
    """

    rounds: Rounds
    nodes: int
    transfers: int
    received_bytes: int
    start_us: float
    end_us: float


def totals(step_rows: Iterable[NodeRow]) -> list[DeviceTotal]:
    """Return one total per device, in the rows' order."""
    by_device: dict[str, list[NodeRow]] = {}
    for row in step_rows:
        by_device.setdefault(row.device, []).append(row)
    return [_total(device, members) for device, members in by_device.items()]


def node_sums(step_rows: Iterable[NodeRow]) -> list[NodeSum]:
    """Return the rows, those of a node in a loop as one, in the order of first runs."""
    runs: dict[Any, list[NodeRow]] = {}
    for i, row in enumerate(step_rows):
        loops = row.rounds.loops
        runs.setdefault((row.device, row.kind, row.name, row.edge, loops or i), []).append(row)
    return [_summed(members) for members in runs.values()]


def loop_totals(step_rows: Iterable[NodeRow]) -> list[LoopTotal]:
    """Return how often each loop went round, outer ones before those inside.

    A loop's last round only finds that there is to be none: the highest number counts the others.
    """
    counts: dict[tuple[str, ...], list[int]] = {}
    for (loops, _), number in sorted(last_rounds(row.rounds for row in step_rows).items()):
        counts.setdefault(loops, []).append(number)
    return [LoopTotal(loops, min(each), max(each), len(each)) for loops, each in counts.items()]


def round_totals(step_rows: Iterable[NodeRow]) -> list[RoundTotal]:
    """Return a total for each round of each loop, loop by loop in the order of rounds."""
    members: dict[Rounds, list[NodeRow]] = {}
    for row in step_rows:
        for each in around(row.rounds):
            members.setdefault(each, []).append(row)
    return [_round_total(rounds, members[rounds]) for rounds in sorted(members)]


def _summed(runs: Sequence[NodeRow]) -> NodeSum:
    took = [row.duration_us for row in runs]
    size = sum(row.bytes for row in runs)
    return NodeSum(min(runs, key=_start), len(runs), size, sum(took), max(took))


def _start(row: NodeRow) -> float:
    return row.start_us


def _round_total(rounds: Rounds, members: Sequence[NodeRow]) -> RoundTotal:
    start, end = min(row.start_us for row in members), max(row.end_us for row in members)
    return RoundTotal(rounds, *_counts(members), start_us=start, end_us=end)


def _counts(members: Sequence[NodeRow]) -> tuple[int, int, int]:
    """Return how many nodes ran, how many tensors were received, and their bytes."""
    transfers = [row for row in members if row.kind == TRANSFER]
    size = sum(row.bytes for row in transfers)
    return len(members) - len(transfers), len(transfers), size


def _total(device: str, members: Sequence[NodeRow]) -> DeviceTotal:
    def spent(kind: str) -> float:
        return sum(row.duration_us for row in members if row.kind == kind)

    return DeviceTotal(
        device,
        *_counts(members),
        compute_us=spent(COMPUTE),
        queue_us=spent(QUEUE),
        transfer_us=spent(TRANSFER),
    )
