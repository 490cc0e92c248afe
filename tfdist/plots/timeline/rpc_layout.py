"""Where the arrows of a sequence diagram stand: plain data, computed without drawing anything.

Time goes down, an event a line: a scale would put a step's beginning on one spot. What a call waits
for stands between its arrow and that of its answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tfdist.plots.shared.alike_tasks import folded_tasks
from tfdist.plots.shared.short_names import shorten
from tfdist.plots.shared.tables import bytes_text, duration_text
from tfdist.tracing.calls import (
    CLIENT,
    MASTER,
    MOST_CALLS,
    RUN_STEP,
    RpcCall,
    collapsed,
    lifelines,
)
from tfdist.tracing.steps.entries import fed_tensor

MOST_CHARACTERS = 40
MOST_LINES = 90  # of events; beyond, the rest is told in a sentence
MOST_DRAWN = 26  # of a picture as high as a screen: of more, the middle is left out
LAST = 9  # of them are the last ones
MOST_LIFELINES = 8  # that a notebook's width has room for


@dataclass(frozen=True, slots=True)
class Line:
    """The arrow of a call or of its answer.

    Attributes:
      call: that it is of.
      is_answer: whether it is the answer's.
      time_us: when, in microseconds since the step's beginning.
      start: number of the lifeline where it begins.
      end: number of the one where it ends.
    """

    call: RpcCall
    is_answer: bool
    time_us: float
    start: int
    end: int

    @property
    def label(self) -> str:
        """Return what stands at the arrow."""
        call = self.call
        times = f" x{call.count}" if call.count > 1 else ""
        if self.is_answer:
            parts = [bytes_text(call.bytes) if call.bytes else "", _lasted(call)]
            return ", ".join(filter(None, parts))
        what = shorten(fed_tensor(call.what) or call.what, MOST_CHARACTERS - len(call.method))
        return f"{call.method}{times} {what}".rstrip()


@dataclass(frozen=True, slots=True)
class Activity:
    """The time in which somebody answers a call: lines `first` to `last` of a lifeline.

    Attributes:
      lifeline: its number.
      first: number of the line of the call.
      last: number of the line of the answer.
      depth: how many others are open on the lifeline then.
    """

    lifeline: int
    first: int
    last: int
    depth: int


@dataclass(frozen=True, slots=True)
class RpcsLayout:
    """Everything a sequence diagram shows.

    Attributes:
      names: of the lifelines.
      lines: from the top.
      activities: on lifelines.
      left_out: how many events there are beyond those drawn.
      gap: number of the line before which they are left out.
      titles: of the lifelines that stand for several tasks, "" of the others.
    """

    names: tuple[str, ...]
    lines: tuple[Line, ...]
    activities: tuple[Activity, ...]
    left_out: int = 0
    gap: int = 0
    titles: tuple[str, ...] = ()

    def down(self, line: int) -> int:
        """Return how far down a line stands: what is left out has a line, too."""
        return line + (self.left_out > 0 and line >= self.gap)


def layout_rpcs(
    calls: Sequence[RpcCall], most: int = MOST_CALLS, most_lines: int = MOST_LINES
) -> RpcsLayout:
    """Return the layout of a step's calls; repetitions are drawn as one, and tasks that are alike.

    Args:
      calls: of one step.
      most: calls that are drawn one by one.
      most_lines: of events; of more, the last `LAST` are kept and those before them left out.
    """
    titles = _titles(calls)
    kept = [call for call in calls if call.source in titles and call.target in titles]
    shown = collapsed(kept, most)
    names = lifelines(shown)
    found = sorted((line for call in shown for line in _lines(call, names)), key=_order)
    left_out = max(len(found) - most_lines, 0)
    gap = most_lines - LAST
    lines = [*found[:gap], *found[gap + left_out :]]
    return RpcsLayout(
        tuple(names), tuple(lines), tuple(_activities(lines)), left_out, gap,
        tuple(titles[name] for name in names),
    )  # fmt: skip


def _titles(calls: Sequence[RpcCall]) -> dict[str, str]:
    """Return who has a lifeline, and what to say of tasks that stand for others."""
    names = lifelines(calls)
    first = [name for name in names if name in (CLIENT, MASTER)]
    deeds: dict[str, Counter[tuple[str, str, str]]] = {name: Counter() for name in names}
    for call in calls:
        deeds[call.source][call.method, "to", _job(call.target)] += 1
        deeds[call.target][call.method, "from", _job(call.source)] += 1
    found = folded_tasks(
        names[len(first) :],
        lambda name: frozenset(deeds[name].items()),
        MOST_LIFELINES - len(first),
    )
    return {**dict.fromkeys(first, ""), **found}


def _job(name: str) -> str:
    return name.partition("/task:")[0]


def _lines(call: RpcCall, names: Sequence[str]) -> list[Line]:
    source, target = names.index(call.source), names.index(call.target)
    return [
        Line(call, False, call.start_us, source, target),
        Line(call, True, call.end_us, target, source),
    ]


def _order(line: Line) -> tuple[float, int, float, int]:
    """Return a key: what happens at one time follows in the order in which it depends."""
    call = line.call
    if not line.is_answer:
        return line.time_us, 1, -call.end_us, line.start
    last = 3 if call.method == RUN_STEP else 2 if call.start_us == call.end_us else 0
    return line.time_us, last, -call.start_us, line.end


def _activities(lines: Sequence[Line]) -> list[Activity]:
    found: list[Activity] = []
    open_since: dict[int, int] = {
        id(each.call): i for i, each in enumerate(lines) if not each.is_answer
    }
    ends = {id(each.call): i for i, each in enumerate(lines) if each.is_answer}
    for i, line in enumerate(lines):
        if line.is_answer:
            continue
        last = ends.get(id(line.call), len(lines) - 1)
        busy = {a.depth for a in found if a.lifeline == line.end and a.first <= i <= a.last}
        depth = next(d for d in range(len(lines) + 1) if d not in busy)
        found.append(Activity(line.end, open_since[id(line.call)], last, depth))
    return found


def _lasted(call: RpcCall) -> str:
    return f"{duration_text(call.end_us - call.start_us)}" if call.end_us > call.start_us else ""
