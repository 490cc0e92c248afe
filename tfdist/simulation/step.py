"""How long a step takes under a placement: simulated, event by event.

The nodes of a device that need no other tensor from elsewhere run together as a unit, as
`plan.segment` forms them. A task of a process of its own is a lane that takes what is ready first
in, first out: units, requests for tensors, and tensors that have come. Tasks of one process share
one lane, and a unit that takes long gets a thread. What computes shares the processors.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import inf

from tfdist.simulation.placement_problem import PlacementProblem

UNIT, ASK, TAKE, HAND_OVER = range(4)  # what a lane does
Work = tuple[int, int]  # (what, number of the unit or transfer)
ASIDE = -1  # the lane of a unit that has a thread of its own


@dataclass(frozen=True)
class Transfer:
    """A tensor, or a control edge, that crosses to another device.

    Attributes:
      maker: node that makes it.
      port: of the maker.
      device: that takes it.
      size: bytes.
    """

    maker: int
    port: int
    device: int
    size: int


@dataclass
class Units:
    """What runs without waiting, and what crosses between devices.

    Attributes:
      nodes: of each unit, in order.
      device: of each unit.
      transfers: what crosses.
      sends: for each node, the transfers that leave when it has run.
      waits_for: for each unit, how many units and transfers it waits for.
      after_unit: for each unit, the units that wait for it.
      after_transfer: for each transfer, the units that wait for it.
    """

    nodes: list[list[int]] = field(default_factory=list)
    device: list[int] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    sends: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    waits_for: list[int] = field(default_factory=list)
    after_unit: list[list[int]] = field(default_factory=list)
    after_transfer: list[list[int]] = field(default_factory=list)


def units_of(problem: PlacementProblem, placed: Sequence[int]) -> Units:
    """Return the units of a step.

    Args:
      problem: the nodes.
      placed: the device of each.
    """
    found = Units()
    above = [0] * len(placed)  # the transfers above each node, as bits
    number: dict[tuple[int, int, int], int] = {}
    by_key: dict[tuple[int, int], int] = {}
    unit_of = [0] * len(placed)
    waits: list[set[tuple[bool, int]]] = []
    for node, device in enumerate(placed):
        mask, crossing = 0, []
        for maker, port in problem.inputs[node]:
            if placed[maker] == device:
                mask |= above[maker]
                continue
            key = maker, port, device
            transfer = number.get(key)
            if transfer is None:
                transfer = number[key] = len(found.transfers)
                size = problem.edge_bytes.get((maker, port), 0)
                found.transfers.append(Transfer(maker, port, device, size))
                found.sends[maker].append(transfer)
                found.after_transfer.append([])
            mask |= 1 << transfer
            crossing.append(transfer)
        above[node] = mask
        unit = by_key.setdefault((device, mask), len(found.nodes))
        if unit == len(found.nodes):
            found.nodes.append([])
            found.device.append(device)
            waits.append(set())
        found.nodes[unit].append(node)
        unit_of[node] = unit
        waits[unit].update((True, transfer) for transfer in crossing)
        waits[unit].update(
            (False, unit_of[maker])
            for maker, _ in problem.inputs[node]
            if placed[maker] == device and unit_of[maker] != unit
        )
    found.after_unit = [[] for _ in found.nodes]
    found.waits_for = [len(each) for each in waits]
    for unit, needed in enumerate(waits):
        for is_transfer, each in needed:
            (found.after_transfer if is_transfer else found.after_unit)[each].append(unit)
    return found


@dataclass(frozen=True)
class SimulatedStep:
    """What a step came to.

    Attributes:
      span_us: its length, in microseconds.
      busy_us: how long each device's lane was busy.
      transfers: how many tensors and control edges crossed.
      transfer_bytes: their size.
    """

    span_us: float
    busy_us: tuple[float, ...]
    transfers: int
    transfer_bytes: int


def simulate_step(problem: PlacementProblem, placed: Sequence[int]) -> SimulatedStep:
    """Return what a step comes to.

    Args:
      problem: nodes, costs and links.
      placed: the device of each node, by its number.
    """
    return _Simulation(problem, placed).run()


class _Simulation:
    """One step, event by event.

    Time passes on two clocks: computing advances the clock of work, which runs slower than time
    while more lanes compute than there are processors.
    """

    def __init__(self, problem: PlacementProblem, placed: Sequence[int]) -> None:
        self._problem, self._placed, self._links = problem, placed, problem.links
        self._units = units = units_of(problem, placed)
        shared = problem.in_one_process
        devices = len(problem.devices)
        self._lane_of = [0] * devices if shared else list(range(devices))
        self._ready: list[deque[Work]] = [deque() for _ in range(1 if shared else devices)]
        self._is_busy = [False] * len(self._ready)
        self._waits_for = list(units.waits_for)
        self._asked: set[int] = set()
        self._sent: set[int] = set()
        self._events: list[tuple[float, int, Callable[[int], None], int]] = []
        self._works: list[tuple[float, int, Callable[..., None], tuple[int, ...]]] = []
        self._order = count()
        self._now = self._work = 0.0
        self._computing = 0
        self._busy_us = [0.0] * devices
        self._ended_us = [0.0] * devices
        self._used = sorted({*units.device, *(t.device for t in units.transfers), problem.client})
        cost = problem.cost_us
        self._unit_us = [sum([cost[node] for node in nodes]) for nodes in units.nodes]

    def run(self) -> SimulatedStep:
        """Return what the step came to."""
        client = self._problem.client
        for device in self._used:
            self._at(0.0 if device == client else self._links.begin_us, self._begin, device)
        while self._events or self._works:
            self._advance()
        late = self._links.end_us
        ends = [self._ended_us[each] + (late if each != client else 0.0) for each in self._used]
        transfers = self._units.transfers
        return SimulatedStep(
            max(ends), tuple(self._busy_us), len(transfers), sum(each.size for each in transfers)
        )

    def _advance(self) -> None:
        """Go to what happens next."""
        processors = self._problem.processors
        rate = min(1.0, processors / self._computing) if self._computing else 1.0
        due = self._now + (self._works[0][0] - self._work) / rate if self._works else inf
        if self._events and self._events[0][0] <= due:
            now, _, event, number = heappop(self._events)
            self._work += (now - self._now) * rate
            self._now = now
            event(number)
        else:
            self._work, _, done, arguments = heappop(self._works)
            self._now = due
            done(*arguments)

    def _at(self, now: float, event: Callable[[int], None], number: int) -> None:
        heappush(self._events, (now, next(self._order), event, number))

    def _after(self, work: float, done: Callable[..., None], *arguments: int) -> None:
        heappush(self._works, (work, next(self._order), done, arguments))

    # what happens in time

    def _begin(self, device: int) -> None:
        """A task begins: it asks for all tensors, and starts what waits for none."""
        units = self._units
        queue = self._ready[self._lane_of[device]]
        queue.extend((ASK, i) for i, each in enumerate(units.transfers) if each.device == device)
        queue.extend(
            (UNIT, i)
            for i, waits in enumerate(units.waits_for)
            if not waits and units.device[i] == device
        )
        self._serve(self._lane_of[device])

    def _ask(self, transfer: int) -> None:
        """The maker's task is asked for a tensor."""
        self._asked.add(transfer)
        self._cross(transfer)

    def _send(self, transfer: int) -> None:
        """The maker has made it."""
        self._sent.add(transfer)
        self._cross(transfer)

    def _cross(self, transfer: int) -> None:
        if transfer in self._asked and transfer in self._sent:
            crossing = self._units.transfers[transfer]
            source = self._placed[crossing.maker]
            way = self._problem.way_us(source, crossing.device, crossing.size)
            self._at(self._now + way, self._arrive, transfer)

    def _arrive(self, transfer: int) -> None:
        lane = self._lane_of[self._units.transfers[transfer].device]
        self._ready[lane].append((TAKE, transfer))
        self._serve(lane)

    # what a lane does

    def _serve(self, lane: int) -> None:
        """Have a lane that is free begin with what has waited longest."""
        if self._is_busy[lane] or not self._ready[lane]:
            return
        self._is_busy[lane] = True
        self._computing += 1
        what, number = self._ready[lane].popleft()
        if what == UNIT:
            self._run_unit(lane, number)
            return
        transfer = self._units.transfers[number]
        us = self._links.ask_us
        if what == TAKE:
            us = self._links.take_us + self._links.take_byte_us * transfer.size
        self._busy_us[transfer.device] += us
        self._after(self._work + us, self._done, lane, what, number)

    def _run_unit(self, lane: int, unit: int) -> None:
        """Walk through the nodes of a unit: what they send leaves in its middle."""
        links, units, problem = self._links, self._units, self._problem
        has_thread = (
            problem.in_one_process and len(self._used) > 1 and self._unit_us[unit] > links.heavy_us
        )
        at = self._work + links.unit_us + (links.thread_us if has_thread else 0.0)
        for node in units.nodes[unit]:
            at += problem.cost_us[node]
            for transfer in units.sends.get(node, ()):
                at += links.send_us + links.send_byte_us * units.transfers[transfer].size
                self._after(at, self._send, transfer)
        self._busy_us[units.device[unit]] += at - self._work
        if has_thread:
            self._computing += 1
            self._after(at, self._done, ASIDE, UNIT, unit)
            self._after(self._work + links.thread_us / 2, self._done, lane, HAND_OVER, unit)
        else:
            self._after(at, self._done, lane, UNIT, unit)

    def _done(self, lane: int, what: int, number: int) -> None:
        """A lane has ended something: what waited for that may be ready."""
        self._computing -= 1
        if lane != ASIDE:
            self._is_busy[lane] = False
        if what == UNIT:
            device = self._units.device[number]
            self._complete(device, self._units.after_unit[number])
        elif what == TAKE:
            device = self._units.transfers[number].device
            self._complete(device, self._units.after_transfer[number])
        elif what == ASK:
            device = self._units.transfers[number].device
            self._at(self._now + self._links.message_us / 2, self._ask, number)
        else:
            device = self._units.device[number]
        self._serve(self._lane_of[device])

    def _complete(self, device: int, waiting: Sequence[int]) -> None:
        self._ended_us[device] = max(self._ended_us[device], self._now)
        for unit in waiting:
            self._waits_for[unit] -= 1
            if not self._waits_for[unit]:
                self._ready[self._lane_of[self._units.device[unit]]].append((UNIT, unit))
