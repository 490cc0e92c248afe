"""Where steps, tasks and queues stand in the picture of waits, and the arrows between them.

Steps stand on the left, tasks with their queues on the right. An arrow from a step to a queue says
that it waits there; one from a queue to a step that this one could end the wait. So a deadlock is
seen as a way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tfdist.tracing.device_names import plain_task
from tfdist.tracing.waits import ResourceStatus
from tfdist.tracing.why import Explanation

MOST_STEPS = 12
STEP = (2.9, 0.62)  # inches: width and height
BAR = (3.1, 0.62)
GAP = 0.22
HEAD, MARGIN = 0.34, 0.16  # of a task's box: above and around its queues
LEFT, MIDDLE = 0.1, 2.2  # before the steps; between them and the tasks
WIDTH = LEFT + STEP[0] + MIDDLE + BAR[0] + 2 * MARGIN + 0.1


class Spot(NamedTuple):
    """A rectangle; y grows downwards."""

    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Return the height at half of it."""
        return self.top + self.height / 2


class StepBox(NamedTuple):
    """A step: its name, what it does, and whether it is in a deadlock."""

    spot: Spot
    number: int
    name: str
    does: str
    in_deadlock: bool


class Bar(NamedTuple):
    """A queue as the picture has it: a bar, filled as far as the queue is."""

    spot: Spot
    stock: ResourceStatus
    in_deadlock: bool


class TaskBox(NamedTuple):
    """A task around its queues."""

    spot: Spot
    name: str


class Line(NamedTuple):
    """An arrow: from a step to the queue at which it waits, or from a queue to who could help."""

    start: tuple[float, float]
    end: tuple[float, float]
    is_wait: bool
    in_deadlock: bool


@dataclass(frozen=True)
class WaitsLayout:
    """All that is drawn; sizes in inches.

    Attributes:
      height: of the whole.
      steps: the oldest on top.
      bars: the queues that somebody waits at.
      tasks: around them.
      lines: the arrows.
      left_out: how many steps are not drawn.
    """

    height: float
    steps: tuple[StepBox, ...]
    bars: tuple[Bar, ...]
    tasks: tuple[TaskBox, ...]
    lines: tuple[Line, ...]
    left_out: int


def layout_waits(explanation: Explanation, times: bool = True) -> WaitsLayout:
    """Return where everything stands; with times, since when steps run."""
    numbers = list(explanation.names)[:MOST_STEPS]
    groups = _by_task(explanation, numbers)
    heights = (_column(len(numbers), STEP[1]), sum(map(_task_height, groups.values())))
    height = max(*heights, STEP[1]) + 2 * GAP
    steps = _steps(explanation, numbers, (height - heights[0]) / 2, times)
    tasks, bars = _tasks(explanation, groups, (height - heights[1]) / 2)
    lines = _lines(explanation, steps, bars)
    return WaitsLayout(height, steps, bars, tasks, lines, len(explanation.names) - len(numbers))


def _column(count: int, height: float) -> float:
    return count * (height + GAP) - GAP if count else 0.0


def _task_height(stocks: Sequence[ResourceStatus]) -> float:
    return HEAD + _column(len(stocks), BAR[1]) + MARGIN + GAP


def _by_task(explanation: Explanation, numbers: Sequence[int]) -> dict[str, list[ResourceStatus]]:
    """Return the queues that steps wait at, those first whose steps stand above."""
    stocks = {stock.key: stock for stock in explanation.report.stocks}
    order = {number: place for place, number in enumerate(numbers)}
    places: dict[str, list[int]] = {}
    for arrow in explanation.arrows:
        if arrow.stock in stocks and arrow.step in order:
            places.setdefault(arrow.stock, []).append(order[arrow.step])
    groups: dict[str, list[ResourceStatus]] = {}
    for key in sorted(places, key=lambda key: (sum(places[key]) / len(places[key]), key)):
        groups.setdefault(stocks[key].task, []).append(stocks[key])
    return groups


def _steps(
    explanation: Explanation, numbers: Sequence[int], top: float, times: bool
) -> tuple[StepBox, ...]:
    stuck = {row.wait.step for row in explanation.waits if row.in_deadlock}
    steps = {step.step: step for step in explanation.report.steps}
    found = []
    for place, number in enumerate(numbers):
        spot = Spot(LEFT, top + place * (STEP[1] + GAP), *STEP)
        waits = [row.wait.node for row in explanation.shown(number)]
        what = f"waits in {waits[0]}" if waits else explanation.does(number)
        more = f" and {len(waits) - 1} more" if len(waits) > 1 else ""
        does = f"{steps[number].seconds:.1f} s: " * times + what + more
        found.append(StepBox(spot, number, explanation.names[number], does, number in stuck))
    return tuple(found)


def _tasks(
    explanation: Explanation, groups: dict[str, list[ResourceStatus]], top: float
) -> tuple[tuple[TaskBox, ...], tuple[Bar, ...]]:
    stuck = {arrow.stock for arrow in explanation.arrows if arrow.in_deadlock}
    left = LEFT + STEP[0] + MIDDLE
    tasks, bars = [], []
    for task, stocks in groups.items():
        height = _task_height(stocks) - GAP
        tasks.append(TaskBox(Spot(left, top, BAR[0] + 2 * MARGIN, height), plain_task(task)))
        for place, stock in enumerate(stocks):
            spot = Spot(left + MARGIN, top + HEAD + place * (BAR[1] + GAP), *BAR)
            bars.append(Bar(spot, stock, stock.key in stuck))
        top += height + GAP
    return tuple(tasks), tuple(bars)


def _lines(
    explanation: Explanation, steps: Sequence[StepBox], bars: Sequence[Bar]
) -> tuple[Line, ...]:
    boxes = {step.number: step.spot for step in steps}
    queues = {bar.stock.key: bar.spot for bar in bars}
    found: dict[tuple[int, str, bool], Line] = {}
    for arrow in sorted(explanation.arrows, key=lambda arrow: not arrow.in_deadlock):
        if arrow.step not in boxes or arrow.stock not in queues:
            continue
        queue = queues[arrow.stock]
        line = Line(_right(boxes[arrow.step], 1), _left(queue, 1), True, arrow.in_deadlock)
        found.setdefault((arrow.step, arrow.stock, True), line)
        for giver in arrow.givers:
            if giver in boxes:
                line = Line(_left(queue, 2), _right(boxes[giver], 2), False, arrow.in_deadlock)
                found.setdefault((giver, arrow.stock, False), line)
    return tuple(found.values())


def _right(spot: Spot, third: int) -> tuple[float, float]:
    return spot.left + spot.width, spot.top + spot.height * third / 3


def _left(spot: Spot, third: int) -> tuple[float, float]:
    return spot.left, spot.top + spot.height * third / 3
