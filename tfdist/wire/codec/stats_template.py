"""StepStats of a partition that runs again and again: what its runs have in common is kept.

Runs of a program differ in their times, and seldom in more: in the shapes that are fed, say. So
the rest is kept as the bytes of the message, up to the times of each node; those are made of all
nodes at once. They take as many bytes as they may ever need, which any reader of protobuf takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np

from tfdist.base.varints import varint
from tfdist.graph.records import RECEIVES, Node
from tfdist.protos import pb
from tfdist.runtime.step.trace import PartTrace, devices_of
from tfdist.tracing.steps.loop_iterations import OUTSIDE
from tfdist.wire.codec.node_stats import (
    RECEIVING,
    SENDING,
    Crossing,
    node_stats,
    source_stats,
)

_KEPT = 4  # templates of a program: of steps that take different branches, or shapes by turns
_LENGTH_DELIMITED = 2  # protobuf's wire type
_MORE = 0x80  # another byte of a varint follows

# A field of NodeExecStats -> which of a node's times it is (see `_times`), and its bytes: enough
# for times until 2100 and for intervals of two years.
_FIELDS = {
    "all_start_micros": (0, 8), "all_start_nanos": (1, 9),
    "op_end_rel_micros": (2, 7), "op_end_rel_nanos": (3, 8),
    "all_end_rel_micros": (2, 7), "all_end_rel_nanos": (3, 8),
    "scheduled_micros": (4, 8), "scheduled_nanos": (5, 9),
}  # fmt: skip


class _Block(NamedTuple):
    """How the bytes of a node's times are made: (time >> shift) & mask | bits, for each byte."""

    times: np.ndarray
    shifts: np.ndarray
    masks: np.ndarray
    bits: np.ndarray


def _block() -> _Block:
    rows = []
    for name, (time, size) in _FIELDS.items():
        number = pb.NodeExecStats.DESCRIPTOR.fields_by_name[name].number
        rows += [(time, 0, 0, byte) for byte in varint(number << 3)]
        rows += [(time, 7 * i, 0x7F, _MORE * (i < size - 1)) for i in range(size)]
    times, *others = (np.array(column) for column in zip(*rows, strict=True))
    return _Block(times, *others)


_BLOCK = _block()
_SIZE = len(_BLOCK.times)


class _Row(NamedTuple):
    """An entry of a device: place of the note that it is made of, and its bytes but for times."""

    note: int
    stats: bytes


class StatsTemplate:
    """What the statistics of some runs of a program have in common.

    Args:
      part: one of these runs.
      known: what was said of nodes until now, to which this adds.
    """

    def __init__(self, part: PartTrace, known: dict[object, bytes]) -> None:
        self._nodes, self._results, self._rounds = part.nodes, part.results, part.rounds
        by_device: dict[str, list[_Row]] = {}
        for device, row in _rows(part, known):
            by_device.setdefault(device, []).append(row)
        rows = list(chain.from_iterable(by_device.values()))
        self._heads = list(chain.from_iterable(map(_heads, by_device, by_device.values())))
        self._places = np.array([row.note for row in rows], np.intp)
        self._crossing = [i for i, node in enumerate(part.nodes) if node and _crosses(node)]
        receives = [node is not None and node.op in RECEIVES for node in part.nodes]
        self._receives = np.array(receives)
        sources = _sources(part)
        self._sources = np.array(list(chain.from_iterable(sources)), np.intp)
        lengths = [len(each) for each in sources]
        self._segments = np.array([0, *accumulate(lengths)][:-1], np.intp)

    def fits(self, part: PartTrace) -> bool:
        """Return whether a run is one of these."""
        return (
            self._nodes == part.nodes
            and self._results == part.results
            and self._rounds == part.rounds
        )

    def filled(self, part: PartTrace) -> tuple[bytes, list[Crossing]]:
        """Return the StepStats of a run, but for what crossed, and that."""
        starts, ends = np.array(part.starts), np.array(part.ends)
        ready = np.minimum(self._ready(part, ends), starts)
        scheduled = np.where(ready, ready, starts)
        places = self._places
        times = _times(starts[places], ends[places], scheduled[places])
        blocks = _bytes_of(times)
        cuts = [blocks[at : at + _SIZE] for at in range(0, len(blocks), _SIZE)]
        whole = b"".join(chain.from_iterable(zip(self._heads, cuts, strict=True)))
        return whole, list(self._crossings(part, ready))

    def _ready(self, part: PartTrace, ends: np.ndarray) -> np.ndarray:
        """Return when all that each node takes was there; 0 if it takes nothing.

        That is derived: whoever made it has noted its end before. A tensor is there when it has
        come, though its task takes it later.
        """
        there = ends
        if part.came:
            came = np.array(part.came)
            there = np.where(self._receives & (came > 0), came, ends)
        return np.maximum.reduceat(np.append(there, 0)[self._sources], self._segments)

    def _crossings(self, part: PartTrace, ready: np.ndarray) -> Iterator[Crossing]:
        for i in self._crossing:
            node = part.nodes[i]
            assert node is not None
            came = part.came[i] if part.came else 0
            rounds = part.rounds[i] if part.rounds else OUTSIDE
            times = part.starts[i], part.ends[i]
            yield Crossing(node, *times, part.results[i], came, rounds, int(ready[i]))


class Templates:
    """The templates of a program, the one of the last run first; `Program.kept` keeps it."""

    def __init__(self) -> None:
        self._templates: tuple[StatsTemplate, ...] = ()
        self._known: dict[object, bytes] = {}

    def template(self, part: PartTrace) -> StatsTemplate:
        """Return the one that fits a run."""
        before = self._templates
        found = next((each for each in before if each.fits(part)), None)
        if found is None:
            if len(self._known) > _KEPT * len(part.nodes):  # shapes that change with each run
                self._known.clear()
            found = StatsTemplate(part, self._known)
        if not before or found is not before[0]:
            self._templates = (found, *[each for each in before if each is not found])[:_KEPT]
        return found


def templates_of(part: PartTrace) -> Templates:
    """Return the templates of a run's program."""
    found: Templates = part.program.kept.setdefault(Templates, Templates())
    return found


def _crosses(node: Node) -> bool:
    return node.op in RECEIVING or node.op in SENDING


def _rows(part: PartTrace, known: dict[object, bytes]) -> Iterator[tuple[str, _Row]]:
    """Yield the entries of each device; a beginning is one of every device."""
    for i, (node, result) in enumerate(zip(part.nodes, part.results, strict=True)):
        if node is None:
            stats = source_stats(result).SerializeToString()
            yield from ((device, _Row(i, stats)) for device in devices_of(part.program))
        elif not _crosses(node):
            rounds = part.rounds[i] if part.rounds else OUTSIDE
            key = id(node), rounds, *(result if isinstance(result, list) else [result])
            if key not in known:
                known[key] = node_stats(node, result, rounds).SerializeToString()
            yield node.device, _Row(i, known[key])


def _heads(device: str, rows: list[_Row]) -> Iterator[bytes]:
    """Yield what stands in front of the times of each row of a DeviceStepStats."""
    entries = [
        _prefix(pb.DeviceStepStats, "node_stats", len(row.stats) + _SIZE) + row.stats
        for row in rows
    ]
    name = pb.DeviceStepStats(device=device).SerializeToString()
    size = len(name) + sum(map(len, entries)) + _SIZE * len(rows)
    yield _prefix(pb.StepStats, "dev_stats", size) + name + entries[0]
    yield from entries[1:]


def _prefix(message: type[pb.Message], field: str, size: int) -> bytes:
    """Return what stands in front of a message of `size` bytes that is a field of another."""
    number = message.DESCRIPTOR.fields_by_name[field].number
    return varint(number << 3 | _LENGTH_DELIMITED) + varint(size)


def _sources(part: PartTrace) -> list[list[int]]:
    """Return for each note the places of those that made what its node takes.

    In a loop, the last round that did; the partition's beginning, too. One place behind the last
    note stands for what is not known.
    """
    nothing = began = len(part.nodes)
    there: dict[str, int] = {}
    found = []
    for i, node in enumerate(part.nodes):
        if node is None:
            began = i
            found.append([nothing])
            continue
        taken = [name for name, _ in node.inputs]
        makers = [there[name] for name in (*taken, *node.control) if name in there]
        found.append([began, *makers])
        there[node.name] = i
    return found


def _times(starts: np.ndarray, ends: np.ndarray, scheduled: np.ndarray) -> np.ndarray:
    """Return a column for each node, a row for each time that `_FIELDS` has.

    Both ends are cut to whole microseconds, not the length: so what follows starts no earlier. A
    clock that was put back in between shows no time.
    """
    ends = np.maximum(ends, starts)
    micros = starts // 1000
    spans = ends // 1000 - micros, ends - starts
    return np.array([micros, starts, *spans, scheduled // 1000, scheduled])


def _bytes_of(times: np.ndarray) -> bytes:
    """Return the fields of all times, `_SIZE` bytes for each node."""
    found = times[_BLOCK.times]
    found >>= _BLOCK.shifts[:, None]
    found &= _BLOCK.masks[:, None]
    found |= _BLOCK.bits[:, None]
    return np.ascontiguousarray(found.T.astype(np.uint8)).tobytes()
