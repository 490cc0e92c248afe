"""Which rows of a step made what a row took, and how deep in the step each stands.

Who made what a row took is known by identity, never by time: device and name of a node; sending
device, name of the tensor and number of the cut edge of a transfer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tfdist.tracing.steps.entries import before_transfer, transfer_number
from tfdist.tracing.steps.loop_iterations import ENTERS, MERGES, given_to
from tfdist.tracing.steps.node_row import TRANSFER, NodeRow

_ByRound = dict[tuple[int, ...], list[int]]  # numbers of rounds -> positions
_Runs = dict[tuple[str, str, bool], _ByRound]  # by (device, name, is a transfer)


def makers(step_rows: Sequence[NodeRow]) -> list[tuple[int, ...]]:
    """Return for each row the positions of the rows that made what it took.

    The maker of a transfer is the node that sent it; a node's input that was transferred was made
    by the transfer. What left no trace, such as a fed value, has no maker. What a loop made is
    taken in the round in which it was there (`given_to`). Where something ran several times and
    nothing tells in which round, the second run takes what the second one made.
    """
    runs: _Runs = {}
    for i, row in enumerate(step_rows):
        by_round = runs.setdefault((row.device, row.name, row.kind == TRANSFER), {})
        by_round.setdefault(given_to(row.op, row.rounds), []).append(i)
    received = _received(step_rows, runs)
    turns: Counter[tuple[Any, ...]] = Counter()
    found = []
    for row in step_rows:
        identity = (row.device, row.name, row.kind == TRANSFER, row.edge, row.rounds.numbers)
        made_by = [
            each
            for source in _sources(row, runs, received)
            if (each := source.get(row.rounds.numbers) or _entered(row, source, step_rows))
        ]
        found.append(tuple([each[min(turns[identity], len(each) - 1)] for each in made_by]))
        turns[identity] += 1
    return found


def depths(step_rows: Sequence[NodeRow]) -> list[int]:
    """Return for each row how many rows must end before it, along the longest way to it.

    Unlike times these are the same in every run of a step: an order for what is compared. Rows of
    a loop that wait for each other, since nothing tells their rounds, come last.
    """
    made_by = makers(step_rows)
    waiting = [len(set(each)) for each in made_by]
    taken_by: list[list[int]] = [[] for _ in step_rows]
    for i, each in enumerate(made_by):
        for maker in set(each):
            taken_by[maker].append(i)
    depth = [0] * len(step_rows)
    ready = [i for i, count in enumerate(waiting) if not count]
    for i in ready:  # grows while it is walked
        for taker in taken_by[i]:
            depth[taker] = max(depth[taker], depth[i] + 1)
            waiting[taker] -= 1
            if not waiting[taker]:
                ready.append(taker)
    last = max(depth, default=0) + 1
    return [last if count else d for count, d in zip(waiting, depth, strict=True)]


def _entered(row: NodeRow, source: _ByRound, step_rows: Sequence[NodeRow]) -> list[int]:
    """Return the runs of an Enter: a loop's first round takes it, and every one a constant."""
    numbers = row.rounds.numbers
    found = source.get(numbers[:-1], []) if numbers else []
    is_entry = bool(found) and step_rows[found[0]].op in ENTERS
    return found if is_entry and not (row.op in MERGES and numbers[-1]) else []


def _sources(
    row: NodeRow, runs: _Runs, received: Mapping[tuple[str, str], _ByRound]
) -> list[_ByRound]:
    """Return the runs of each maker of what a row took."""
    if row.kind == TRANSFER:
        candidates = [runs.get((row.source, row.name, False))]
    else:
        candidates = [
            runs.get((row.device, name, False)) or received.get((row.device, name))
            for name in row.inputs
        ]
    return [each for each in candidates if each]


def _received(step_rows: Sequence[NodeRow], runs: _Runs) -> dict[tuple[str, str], _ByRound]:
    """Return the transfers by (device, name under which nodes take what was received).

    Several outputs of one node are transfers of one name. Their edges and the names under which
    they are taken are numbered in the same order.
    """
    names: dict[tuple[str, str], set[str]] = {}
    for device, name in {(row.device, name) for row in step_rows for name in row.inputs}:
        tensor = before_transfer(name)
        if (device, tensor, True) in runs and (device, name, False) not in runs:
            names.setdefault((device, tensor), set()).add(name)
    found: dict[tuple[str, str], _ByRound] = {}
    for (device, sent), taken in names.items():
        by_edge: dict[int, _ByRound] = {}
        for numbers, positions in runs[device, sent, True].items():
            for i in positions:
                of_edge = by_edge.setdefault(step_rows[i].edge, {})
                of_edge.setdefault(numbers, []).append(i)
        edges = sorted(by_edge)
        for rank, name in enumerate(sorted(taken, key=transfer_number)):
            found[device, name] = by_edge[edges[min(rank, len(edges) - 1)]]
    return found
