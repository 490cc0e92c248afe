"""The scene of a step player: a placed graph, and what lights up in it when.

Boxes and edges are those of the placement picture. What ran is one event each, with the box in
which it lights up; a tensor that crossed has the edges along which it travels. The payload says all
of it in numbers and words, once: whoever plays it asks for nothing more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tfdist.plots.placement.layout import MOST_BOXES, PlacementLayout, layout_placement
from tfdist.plots.shared.blocks import Placed, block_name
from tfdist.plots.shared.placed_nodes import node_of
from tfdist.plots.shared.routes import BOX, Point
from tfdist.plots.shared.short_names import shorten
from tfdist.plots.shared.tables import bytes_text, duration_text
from tfdist.session.recording import PlacedNode
from tfdist.tracing.steps.device_activity import (
    DONE,
    PAUSES,
    PHRASES,
    STATES,
    TO_COME,
    WAITS,
    Status,
    asked_us,
    boundaries,
    spoken_device,
    status_at,
    statuses,
)
from tfdist.tracing.steps.entries import before_transfer, fed_tensor
from tfdist.tracing.steps.loop_excerpt import OmittedIterations, omit_iterations
from tfdist.tracing.steps.node_row import QUEUE, TRANSFER, NodeRow

MOST_EVENTS = 20_000  # beyond, the middle rounds of loops are left out
UNEVEN = 0.25  # of a step: if the shorter half of its stretches takes less, it flashes by
SHORT, BRIEF = 0.3, 0.02  # length of a stretch in which no node runs, if it is less of the step
OUT = 0.22  # inches: the way of what is fetched
_WORTH = {WAITS: 2, PAUSES: 0, TO_COME: 0, DONE: 0}  # of what is seen; all else counts 3
TOLD = 4  # devices in a caption


@dataclass(frozen=True, slots=True)
class Event:
    """Something that ran or crossed.

    Attributes:
      row: what is known of it.
      boxes: that light up: of the node, or of those that take what is received.
      edges: along which it travels.
      maker: the box that something received comes from, -1 if it is not drawn.
    """

    row: NodeRow
    boxes: tuple[int, ...]
    edges: tuple[int, ...] = ()
    maker: int = -1


@dataclass(frozen=True)
class Scene:
    """Everything a step player shows.

    Attributes:
      layout: of the placed graph.
      events: in the order of the trace's rows.
      doing: what each device does, in order of time.
      ticks: the times at which something starts or ends.
      left_out: rounds of loops that are not shown.
    """

    layout: PlacementLayout
    events: tuple[Event, ...]
    doing: Mapping[str, Sequence[Status]]
    ticks: tuple[float, ...]
    left_out: tuple[OmittedIterations, ...] = ()

    @property
    def span_us(self) -> float:
        """Return how long the step took."""
        return self.ticks[-1]

    @property
    def lengths(self) -> list[float]:
        """Return how long each stretch between two ticks is if all events are to be alike.

        Short pauses between nodes are not worth as much.
        """
        running = [0] * len(self.ticks)
        place = {tick: i for i, tick in enumerate(self.ticks)}
        for event in self.events:
            if event.row.kind != TRANSFER:
                running[place[event.row.start_us]] += 1
                running[place[event.row.end_us]] -= 1
        brief = BRIEF * self.span_us
        return [
            1.0 if count or end - start > brief else SHORT
            for count, (start, end) in zip(accumulate(running), pairwise(self.ticks), strict=False)
        ]

    @property
    def is_uneven(self) -> bool:
        """Return whether most of what happens would flash by: few stretches take most time."""
        stretches = sorted(end - start for start, end in pairwise(self.ticks))
        return sum(stretches[: len(stretches) // 2]) < UNEVEN * self.span_us


@dataclass(frozen=True)
class Shot:
    """What is to be seen at a moment; boxes, edges and events are told by their positions.

    Attributes:
      moment: microseconds since the step's beginning.
      computing: boxes and the events that light them up.
      moving: (event, share of its way that is behind it).
      waiting: boxes that wait, and the tensor or the run of a queue operation for which. A device
        that computes waits for no tensor.
      begun: boxes of which something has run, or runs.
      done: boxes of which everything is over.
    """

    moment: float
    computing: Mapping[int, tuple[int, ...]]
    moving: tuple[tuple[int, float], ...]
    waiting: Mapping[int, int]
    begun: frozenset[int]
    done: frozenset[int]


def scene(rows: Sequence[NodeRow], nodes: Sequence[Placed] = (), most: int = MOST_BOXES) -> Scene:
    """Return the scene of a step.

    Args:
      rows: of the step.
      nodes: that it needed, placed; by default those of which the rows tell.
      most: boxes; beyond, the nodes of a scope on one device are one.
    """
    shown, left_out = omit_iterations(rows, MOST_EVENTS)
    nodes = nodes or placed_nodes(shown)
    layout = layout_placement(nodes, most)
    places = _Places(nodes, layout)
    return Scene(
        layout,
        tuple(map(places.event, shown)),
        statuses(shown),
        tuple(boundaries(shown)) if shown else (0.0, 1.0),
        tuple(left_out),
    )


def placed_nodes(rows: Iterable[NodeRow]) -> list[PlacedNode]:
    """Return the nodes of which a trace tells, where no session has told of them."""
    found = {
        row.name: PlacedNode(
            row.name,
            row.op,
            "",
            row.device,
            "it ran there",
            tuple(map(before_transfer, row.inputs)),
        )
        for row in rows
        if row.kind != TRANSFER
    }
    return list(found.values())


def shot(scene: Scene, moment: float) -> Shot:
    """Return what is to be seen at a moment, in microseconds since the step's beginning."""
    computing: dict[int, list[int]] = {}
    waiting: dict[int, int] = {}
    moving = []
    begun: set[int] = set()
    ends: dict[int, float] = {}
    idle = {d for d, each in scene.doing.items() if status_at(each, moment).state == WAITS}
    for i, event in enumerate(scene.events):
        row = event.row
        for box in event.boxes if row.kind != TRANSFER else ():
            ends[box] = max(ends.get(box, 0.0), row.end_us)
            if row.start_us <= moment:
                begun.add(box)
        if row.start_us <= moment < row.end_us:
            if row.kind == TRANSFER:
                moving.append((i, (moment - row.start_us) / row.duration_us))
            else:
                for box in event.boxes:
                    computing.setdefault(box, []).append(i)
                    if blocks(scene, event):
                        waiting[box] = i
        elif asked_us(row) <= moment < row.start_us and row.device in idle:
            for box in event.boxes:
                waiting.setdefault(box, i)
    done = frozenset(box for box, end in ends.items() if end <= moment)
    lit = {box: tuple(events) for box, events in computing.items()}
    return Shot(moment, lit, tuple(moving), waiting, frozenset(begun), done)


def blocks(scene: Scene, event: Event) -> bool:
    """Return whether something is at a queue for so long that it is said to wait."""
    return event.row.kind == QUEUE and event.row.duration_us > BRIEF * scene.span_us


def caption(scene: Scene, moment: float) -> str:
    """Return a moment in words: "12.3 ms: worker:1 computes MatMul; ps:0 waits for ..."."""
    found = [(device, status_at(each, moment)) for device, each in scene.doing.items()]
    told = [(device, status) for device, status in found if status.state not in (DONE, TO_COME)]
    told = [each for each in told if each[1].state != PAUSES] or told
    told.sort(key=lambda each: STATES.index(each[1].state))
    parts = [f"{spoken_device(device)} {phrase(scene, status)}" for device, status in told[:TOLD]]
    if len(told) > TOLD:
        parts.append(f"{len(told) - TOLD} more")
    over = all(status.state == DONE for _, status in found)
    nothing = "the step is over" if over else "nothing runs"
    return f"{duration_text(moment)}: {'; '.join(parts) or nothing}"


def phrase(scene: Scene, status: Status) -> str:
    """Return what a device does, in words."""
    if status.row < 0:
        return PHRASES[status.state]
    row = scene.events[status.row].row
    text = PHRASES[status.state].format(
        name=shorten(told_name(row)),
        source=spoken_device(row.source),
        since=duration_text(status.start_us),
    )
    return text + (f", and {status.others} more" if status.others else "")


def told_name(row: NodeRow) -> str:
    """Return the name of what ran or crossed, with its round if it is in a loop."""
    fed = fed_tensor(row.name) if row.kind == TRANSFER else ""
    name = f"{fed} (fed)" if fed else row.name
    return f"{name} (round {row.rounds})" if row.rounds.numbers else name


def told_event(event: Event) -> str:
    """Return all that is known of something that ran or crossed, in a line."""
    row = event.row
    where = spoken_device(row.device)
    if row.source:
        where = f"{spoken_device(row.source)} to {where}"
    took = f"{duration_text(row.start_us)} to {duration_text(row.end_us)}"
    size = f", {bytes_text(row.bytes)}" if row.bytes else ""
    return f"{told_name(row)}, {row.op} on {where}: {took}{size}"


def telling_moments(scene: Scene, count: int = 4) -> list[float]:
    """Return the moments in which most is to be seen, one of each part of the step.

    The parts have equally many events. A moment is in the middle between two ticks.
    """
    middles = [(start + end) / 2 for start, end in pairwise(scene.ticks)]
    size = max(len(middles) / count, 1.0)
    parts = [middles[round(k * size) : round((k + 1) * size)] for k in range(count)]
    worth = _worth(scene)
    return [
        max(part, key=lambda t: (worth(t), _room(scene.ticks, t), -t)) for part in parts if part
    ]


def _room(ticks: Sequence[float], moment: float) -> float:
    i = bisect_right(ticks, moment)
    return ticks[i] - ticks[i - 1]


def _worth(scene: Scene) -> Callable[[float], int]:
    """Return what tells how much there is to see at a moment: devices count by what they do."""
    starts = [[status.start_us for status in each] for each in scene.doing.values()]
    worth = [[_WORTH.get(status.state, 3) for status in each] for each in scene.doing.values()]

    def at(moment: float) -> int:
        pairs = zip(starts, worth, strict=True)
        return sum(each[max(bisect_right(begun, moment) - 1, 0)] for begun, each in pairs)

    return at


class _Places:
    """Where in a picture the rows of a trace are seen.

    Args:
      nodes: that are placed.
      layout: of them.
    """

    def __init__(self, nodes: Iterable[Placed], layout: PlacementLayout) -> None:
        self._box = {name: i for i, box in enumerate(layout.boxes) for name in box.group.members}
        self._edge = {(edge.source, edge.target): i for i, edge in enumerate(layout.edges)}
        self._loops: dict[str, int] = {}
        for i, box in enumerate(layout.boxes):
            if box.group.block is not None:
                self._loops.setdefault(box.group.block.name, i)
        self._takers: dict[tuple[str, str], list[int]] = {}
        for node in nodes:
            for name in {node_of(name) for name in node.inputs}:
                self._takers.setdefault((node.device, name), []).append(self._box[node.name])

    def event(self, row: NodeRow) -> Event:
        """Return where a row is seen."""
        name = node_of((row.kind == TRANSFER and fed_tensor(row.name)) or row.name)
        maker = self._maker(row, name)
        if row.kind != TRANSFER:
            return Event(row, (maker,) if maker >= 0 else ())
        takers = tuple(dict.fromkeys(self._takers.get((row.device, name), ())))
        if not takers and maker in self._loops.values():  # what keeps a loop going takes it
            takers = (maker,)
        ways = (self._edge.get((maker, taker), -1) for taker in takers)
        return Event(row, takers, tuple(way for way in ways if way >= 0), maker)

    def _maker(self, row: NodeRow, name: str) -> int:
        """Return the box of a node; what the runtime adds to a loop is in that of the loop."""
        if name in self._box:
            return self._box[name]
        loops = reversed(row.rounds.loops)
        return next((self._loops[loop] for loop in loops if loop in self._loops), -1)


def notes(scene: Scene) -> list[str]:
    """Return a sentence on each loop of which rounds are left out."""
    return [str(each) for each in scene.left_out]


def block_title(scene: Scene, box: int) -> str:
    """Return what stands in a box: its name, or that of its loop or cond."""
    group = scene.layout.boxes[box].group
    return group.name if group.block is None else block_name(group.block)


def way_inside(scene: Scene, event: Event) -> list[tuple[Point, ...]]:
    """Return the way of a tensor without an edge: within a loop's box, or out to who fetches it."""
    if event.maker < 0:
        return []
    spot = scene.layout.boxes[event.maker].spot
    low = spot.y + BOX[1] / 2
    if event.maker not in event.boxes:
        return [] if event.boxes else [((spot.x, low), (spot.x, low + OUT))]
    middles = {device: left + width / 2 for device, left, width in scene.layout.columns}
    left, right = spot.x - spot.width / 2 + 0.1, spot.x + spot.width / 2 - 0.1
    ends = (middles.get(device, spot.x) for device in (event.row.source, event.row.device))
    start, end = (min(max(x, left), right) for x in ends)
    return [((start, low), (end, low))]
