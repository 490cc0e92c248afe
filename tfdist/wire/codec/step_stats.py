"""A step's trace as TensorFlow's StepStats, entry by entry.

First one entry for each device that received tensors, with its `RecvTensor`s; then one for each
device that ran nodes, `_SOURCE` first. `_Send` and `_Recv` themselves are not listed in the end.

A node is `scheduled` when all that it takes is there, as in TensorFlow. A receiver knows when it
asked for a tensor (`scheduled`), when that came (`op_end`), and when its task took it (`all_end`).
A transfer lasts from when the tensor was there, as TensorFlow's entries and the rates in their
labels have it, and its `op_start` is when it had left its sender; both are known when the
statistics of all tasks are together (`complete`). Till then each has an entry for `_Send`s, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tfdist.protos import pb
from tfdist.runtime.step.trace import PartTrace
from tfdist.tracing.clocks import SAME_CLOCK, ClockOffset
from tfdist.tracing.steps.entries import (
    RECEIVED,
    SENT,
    SOURCE,
    Transfer,
    arrived_nanos,
    duration_nanos,
    fed_tensor,
    output_bytes,
    parse_label,
    parse_transfer,
    rounds_of,
    scheduled_nanos,
    start_nanos,
)
from tfdist.tracing.steps.loop_iterations import given_to, with_rounds
from tfdist.wire.codec.node_stats import (
    SENDING,
    Crossing,
    send_stats,
    set_inner_times,
    set_times,
    transfer_label,
    transfer_stats,
)
from tfdist.wire.codec.stats_template import templates_of


def fill_step_stats(stats: pb.StepStats, trace: Iterable[PartTrace]) -> None:
    """Add to a StepStats message what one process traced of a step."""
    ran, crossed = [], list[Crossing]()
    for part in trace:
        encoded, crossings = templates_of(part).template(part).filled(part)
        ran.append(encoded)
        crossed += crossings
    _add(stats, [entry for entry in crossed if entry.node.op not in SENDING], transfer_stats)
    stats.MergeFromString(b"".join(ran))
    _add(stats, [entry for entry in crossed if entry.node.op in SENDING], send_stats)


def complete(own: pb.StepStats, others: Sequence[pb.StepStats]) -> None:
    """Make the StepStats of a whole step of a process's own: what was received, then what ran.

    Args:
      own: of this process.
      others: those of the step's other processes, their times by this one's clock.
    """
    if others:
        entries = [entry for part in (own, *others) for entry in part.dev_stats]
        entries.sort(key=lambda entry: _first_name(entry) != RECEIVED)
        own.CopyFrom(pb.StepStats(dev_stats=entries))
    sends = [i for i, entry in enumerate(own.dev_stats) if _first_name(entry) == SENT]
    left = _departures(own.dev_stats[i] for i in sends)
    for place in reversed(sends):
        del own.dev_stats[place]
    _begin_when_made(own, left)


def shift(stats: pb.StepStats, clock: ClockOffset) -> None:
    """Put the times of another host's StepStats on our clock, and say so where it starts."""
    if clock == SAME_CLOCK:
        return
    for node in (node for device in stats.dev_stats for node in device.node_stats):
        scheduled = scheduled_nanos(node)
        node.all_start_nanos = start_nanos(node) - clock.nanos
        node.all_start_micros = node.all_start_nanos // 1000
        if scheduled:  # TensorFlow leaves it open for transfers
            node.scheduled_nanos = scheduled - clock.nanos
            node.scheduled_micros = node.scheduled_nanos // 1000
        if node.node_name == SOURCE:
            node.timeline_label += f" [{clock}]"


def _add(
    stats: pb.StepStats,
    entries: Sequence[Crossing],
    told: Callable[[Crossing], pb.NodeExecStats],
) -> None:
    """Add an entry for each device that received, or sent."""
    by_device: dict[str, list[pb.NodeExecStats]] = {}
    for entry in entries:
        by_device.setdefault(entry.node.device, []).append(told(entry))
    for device, found in by_device.items():
        stats.dev_stats.add(device=device, node_stats=found)


def _first_name(entry: pb.DeviceStepStats) -> str:
    return entry.node_stats[0].node_name if entry.node_stats else ""


def _departures(of_sends: Iterable[pb.DeviceStepStats]) -> dict[str, int]:
    """Return when each tensor had left its sender, in nanoseconds, by the label of its `_Send`."""
    return {
        node.timeline_label: _end_nanos(node) for entry in of_sends for node in entry.node_stats
    }


def _begin_when_made(stats: pb.StepStats, left: Mapping[str, int]) -> None:
    """Let each transfer start when its tensor was there, if that was after it was asked for.

    A fed tensor is there when its task begins, a dead one when it comes: nobody made it. By
    uncertain clocks a tensor may seem to come before it was made.

    Args:
      stats: of the whole step.
      left: when each tensor had left its sender, from `_departures`.
    """
    transfers = [
        (node, sent)
        for entry in stats.dev_stats
        if _first_name(entry) == RECEIVED
        for node in entry.node_stats
        if scheduled_nanos(node) and (sent := parse_transfer(node))
    ]
    if not transfers:
        return
    made = _ends(stats, {(sent.source, sent.tensor) for _, sent in transfers})
    for node, sent in transfers:
        asked, arrived, end = start_nanos(node), arrived_nanos(node), _end_nanos(node)
        rounds = rounds_of(node)
        is_dead = not output_bytes(node) and not fed_tensor(sent.tensor)
        otherwise = end if is_dead else made.get((sent.source, SOURCE, ()), asked)
        ready = _ready(made, sent, rounds.numbers) or otherwise
        start = max(asked, min(ready, end))
        set_times(node, start, end)
        arrived = max(start, min(arrived, end))
        gone = left.get(with_rounds(sent.route, rounds), start)
        set_inner_times(node, min(gone, arrived), arrived)
        label = transfer_label(output_bytes(node), end - start, sent.route)
        node.timeline_label = with_rounds(label, rounds)


_Ends = dict[tuple[str, str, tuple[int, ...]], int]


def _ends(stats: pb.StepStats, wanted: set[tuple[str, str]]) -> _Ends:
    """Return when the `wanted` (device, node) and all beginnings ended, in nanoseconds.

    A node in a loop ended once for each round that takes what it made.
    """
    return {
        (entry.device, node.node_name, given_to(parse_label(node)[0], rounds_of(node))): (
            _end_nanos(node)
        )
        for entry in stats.dev_stats
        for node in entry.node_stats
        if node.node_name == SOURCE or (entry.device, node.node_name) in wanted
    }


def _ready(made: _Ends, sent: Transfer, numbers: tuple[int, ...]) -> int:
    """Return when a tensor was there that crossed in rounds of these numbers; 0 if nobody knows."""
    found = made.get((sent.source, sent.tensor, numbers), 0)
    return found or made.get((sent.source, sent.tensor, numbers[:-1]), 0)


def _end_nanos(stats: pb.NodeExecStats) -> int:
    return start_nanos(stats) + duration_nanos(stats)
