"""What nodes and links cost, learned from traced steps; microseconds and bytes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tfdist.tracing.device_names import task_of
from tfdist.tracing.steps.node_row import TRANSFER, NodeRow

LOW = 0.25  # the quantile that counts: what others on the machine disturb is longer
SMALL = 200_000  # bytes: the time of a smaller transfer is the message's
UNKNOWN_US = 1.0  # of a node whose op was never seen
LEAST_MESSAGE_US = 50.0  # of a message between processes


@dataclass(frozen=True)
class Links:
    """What it costs that a tensor passes from task to task; microseconds.

    Attributes:
      ask_us: of the receiver, to ask for it.
      message_us: on the way, when nobody is busy with it.
      send_us: of the sender.
      take_us: of the receiver, once it is there.
      send_byte_us: of the sender, a byte.
      take_byte_us: of the receiver, a byte.
      way_byte_us: on the way, a byte.
      begin_us: until another task has begun its part.
      end_us: until the master knows that another task has ended.
      unit_us: to start a unit, which is what runs without waiting.
      thread_us: to start a thread for a unit that takes longer than `heavy_us`.
      heavy_us: what is worth a thread.
    """

    ask_us: float = 40.0
    message_us: float = 150.0
    send_us: float = 20.0
    take_us: float = 60.0
    send_byte_us: float = 0.0
    take_byte_us: float = 1e-5
    way_byte_us: float = 0.0
    begin_us: float = 600.0
    end_us: float = 150.0
    unit_us: float = 8.0
    thread_us: float = 120.0
    heavy_us: float = 1000.0

    @property
    def transfer_us(self) -> float:
        """Return what a small tensor costs from its maker's end until it is taken."""
        return self.ask_us + self.send_us + self.message_us + self.take_us

    @property
    def byte_us(self) -> float:
        """Return what a byte costs on the whole way."""
        return self.send_byte_us + self.way_byte_us + self.take_byte_us


# Between tasks of one process a tensor crosses by reference.
BY_REFERENCE = Links(
    ask_us=5.0, message_us=0.0, send_us=3.0, take_us=5.0, take_byte_us=0.0, begin_us=0.0, end_us=0.0
)


class Way(NamedTuple):
    """What one link costs a tensor, when nobody is busy with it.

    Attributes:
      message_us: microseconds, whatever its size.
      byte_us: microseconds a byte.
    """

    message_us: float
    byte_us: float


Link = tuple[str, str]  # the task that sends, and the one that receives


@dataclass(frozen=True)
class StepCosts:
    """What was learned.

    Attributes:
      node_us: by name of the node, its time in a step, all iterations together.
      op_us: by op, for nodes that were not seen.
      node_bytes: by name, size of the outputs.
      links: what a transfer costs.
      ways: what of that is otherwise for a single link.
    """

    node_us: Mapping[str, float] = field(default_factory=dict)
    op_us: Mapping[str, float] = field(default_factory=dict)
    node_bytes: Mapping[str, int] = field(default_factory=dict)
    links: Links = Links()
    ways: Mapping[Link, Way] = field(default_factory=dict)

    def of(self, name: str, op: str) -> float:
        """Return the microseconds of a node in a step.

        Example:
          >>> costs = StepCosts({"a": 3.0}, {"Add": 2.0})
          >>> costs.of("a", "Add"), costs.of("b", "Add"), costs.of("c", "Mul")
          (3.0, 2.0, 1.0)
        """
        return self.node_us.get(name, self.op_us.get(op, UNKNOWN_US))


def learn_costs(
    steps: Sequence[Sequence[NodeRow]],
    in_one_process: bool = False,
    probes: Sequence[Sequence[NodeRow]] = (),
) -> StepCosts:
    """Return the costs that traced steps tell.

    Args:
      steps: rows of each run, of one placement or of several; see `tfdist.tracing.steps.rows.rows`.
      in_one_process: whether all tasks are in one: then links cost what handing over a reference
        costs; the way of a single link is as the trace says.
      probes: rows of other steps, which tell of links only.
    """
    by_node: dict[str, list[float]] = defaultdict(list)
    by_op: dict[str, list[float]] = defaultdict(list)
    sizes: dict[str, int] = {}
    for step in steps:
        sums: dict[str, float] = defaultdict(float)
        for row in step:
            if row.kind != TRANSFER:
                sums[row.name] += row.duration_us
                by_op[row.op].append(row.duration_us)
                sizes[row.name] = max(row.bytes, sizes.get(row.name, 0))
        for name, us in sums.items():
            by_node[name].append(us)
    seen = [*steps, *probes]
    links = BY_REFERENCE if in_one_process else learn_links(seen)
    return StepCosts(
        {name: _low(each) for name, each in by_node.items()},
        {op: float(np.median(each)) for op, each in by_op.items()},
        sizes,
        links,
        learn_ways(seen, links),
    )


def costs_of_units(
    units: Iterable[tuple[Sequence[tuple[str, str]], float]], links: Links = BY_REFERENCE
) -> StepCosts:
    """Return the costs that untraced steps tell: of units, whose nodes are taken to be alike.

    Constants cost nothing, since a compiled unit has them at hand.

    Args:
      units: the (name, op) of the nodes of each unit, and its microseconds.
      links: what a transfer costs.

    Example:
      >>> costs = costs_of_units([([("a", "Add"), ("b", "Const"), ("c", "Mul")], 8.0)])
      >>> costs.of("a", "Add"), costs.of("b", "Const"), costs.of("new", "Mul")
      (4.0, 0.0, 4.0)
    """
    by_node: dict[str, list[float]] = defaultdict(list)
    by_op: dict[str, list[float]] = defaultdict(list)
    for nodes, us in units:
        sharing = sum(op != "Const" for _, op in nodes)
        for name, op in nodes:
            share = us / sharing if sharing and op != "Const" else 0.0
            by_node[name].append(share)
            by_op[op].append(share)
    return StepCosts(
        {name: float(np.median(each)) for name, each in by_node.items()},
        {op: float(np.median(each)) for op, each in by_op.items()},
        links=links,
    )


def learn_links(steps: Iterable[Sequence[NodeRow]]) -> Links:
    """Return what links cost, as far as transfers tell; the defaults for what they do not."""
    asked: list[float] = []
    small: list[NodeRow] = []
    large: list[NodeRow] = []
    for step in steps:
        for members in _by_device(step):
            transfers = [row for row in members if row.kind == TRANSFER]
            times = sorted(row.start_us - row.waited_us for row in transfers)
            asked += [after - before for before, after in pairwise(times) if after - before < 1000]
            for row in transfers:
                (small if row.bytes < SMALL else large).append(row)
    links = Links()
    if asked:
        links = replace(links, ask_us=_low(asked))
    if small:
        links = _with_messages(links, small)
    if large:
        rates = [(_way_us(row) - links.message_us) / row.bytes for row in large]
        links = replace(links, way_byte_us=max(_low(rates), 0.0))
    return links


def learn_ways(steps: Iterable[Sequence[NodeRow]], links: Links = Links()) -> dict[Link, Way]:
    """Return what each link costs that tensors crossed.

    Args:
      steps: rows of each run.
      links: what is taken of a link on which no small tensor crossed, or no large one.
    """
    by_link: dict[Link, list[NodeRow]] = defaultdict(list)
    for row in (row for step in steps for row in step if row.kind == TRANSFER):
        link = task_of(row.source), task_of(row.device)
        if link[0] != link[1]:
            by_link[link].append(row)
    found = {}
    for link, crossed in by_link.items():
        small = [_way_us(row) for row in crossed if row.bytes < SMALL]
        message = _low(small) if small else links.message_us
        rates = [(_way_us(row) - message) / row.bytes for row in crossed if row.bytes >= SMALL]
        found[link] = Way(message, max(_low(rates), 0.0) if rates else links.way_byte_us)
    return found


def _with_messages(links: Links, small: Sequence[NodeRow]) -> Links:
    """Return the links with what small transfers tell: of sending, of the way, of taking.

    A receiver that was at something else took a tensor later: the low quantile leaves that out.
    """
    way = max(_low([_way_us(row) for row in small]), LEAST_MESSAGE_US)
    links = replace(links, message_us=way, end_us=way)
    sent = [row.send_us for row in small if row.send_us]
    taken = [row.delay_us for row in small if row.delay_us]
    return replace(
        links,
        send_us=_low(sent) if sent else links.send_us,
        take_us=_low(taken) if taken else links.take_us,
    )


def _way_us(row: NodeRow) -> float:
    """Return how long a tensor was on its way, with nobody busy with it."""
    return max(row.arrived_us - row.start_us - row.send_us, 0.0)


def _by_device(step: Sequence[NodeRow]) -> Iterator[list[NodeRow]]:
    found: dict[str, list[NodeRow]] = defaultdict(list)
    for row in step:
        found[row.device].append(row)
    yield from found.values()


def _low(numbers: Sequence[float]) -> float:
    return float(np.quantile(numbers, LOW))
