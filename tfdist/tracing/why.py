"""The wait-for graph of steps, in sentences: who waits for whom, and why; a pure function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tfdist.tracing.deadlocks import DeadlockAnalysis, analyze_deadlocks, before
from tfdist.tracing.device_names import plain_task, task_of
from tfdist.tracing.waits import (
    ELEMENTS,
    PendingOp,
    Place,
    Report,
    ResourceStatus,
    StepStatus,
    Unreachable,
    Wait,
)

NOTHING = "Nothing is in flight: no step runs or waits."
_MOST_NAMES = 3


class WaitRow(NamedTuple):
    """One wait, explained.

    Attributes:
      step: as the text names it, such as "step 1 (loss)".
      wait: what was reported of it.
      stock: the queue that it stands at, or None.
      session: handle of its session.
      because: who could end it, in a sentence; "" if nothing is known of that.
      leads_back: whether another row says what it really waits for: it receives what that one
        makes.
      in_deadlock: whether it is one of those that wait for each other.
    """

    step: str
    wait: Wait
    stock: ResourceStatus | None
    session: str
    because: str
    leads_back: bool
    in_deadlock: bool


class Arrow(NamedTuple):
    """That somebody waits for somebody else, for pictures.

    Attributes:
      step: number of the step that waits.
      stock: key of the queue that it waits at, or "".
      givers: numbers of the steps that could end that.
      in_deadlock: whether this is a part of a deadlock.
    """

    step: int
    stock: str
    givers: tuple[int, ...]
    in_deadlock: bool


@dataclass(frozen=True)
class Explanation:
    """What the steps in flight wait for, and why.

    Attributes:
      report: what was reported.
      names: of the steps, by number, in the order in which they began.
      waits: a row for each wait.
      deadlocks: a sentence for each.
      arrows: who waits for whom.
    """

    report: Report
    names: dict[int, str] = field(default_factory=dict)
    waits: tuple[WaitRow, ...] = ()
    deadlocks: tuple[str, ...] = ()
    arrows: tuple[Arrow, ...] = ()

    def lines(self, times: bool = True) -> list[str]:
        """Return the whole as text.

        Args:
          times: whether to say since when.
        """
        found = [self.sentence(), *self.deadlocks]
        for number, name in self.names.items():
            rows = self.shown(number)
            does = "" if rows and not self._step(number).computing else f": {self.does(number)}"
            found.append(f"{name}{self._since(number) if times else ''}{does}")
            found += [line for row in rows for line in _wait_lines(row, times)]
        return [*found, *self.notes()]

    def notes(self) -> list[str]:
        """Return a sentence for each task that did not tell, and one of what is disturbed."""
        wrong = "; ".join(each.words for each in self.report.disturbances)
        told = [f"Disturbed on purpose (%cluster faults tells more): {wrong}."] * bool(wrong)
        return [*map(_silence_line, self.report.silent), *told]

    def does(self, step: int) -> str:
        """Return what a step does beside waiting."""
        computing = _listed(map(plain_task, self._step(step).computing))
        return f"computes {computing}" if computing else "runs"

    def _step(self, number: int) -> StepStatus:
        return next(step for step in self.report.steps if step.step == number)

    def _since(self, number: int) -> str:
        step = self._step(number)
        bound = f" of {step.timeout:g} s at most" if step.timeout else ""
        return f", {step.seconds:.1f} s so far{bound}"

    def sentence(self) -> str:
        """Return how many steps wait, and how many compute."""
        waiting = len([number for number in self.names if self.shown(number)])
        others = len(self.names) - waiting
        if not self.names:
            return NOTHING if not self.report.silent else "Nothing that is known of is in flight."
        parts = [f"{waiting} {'step waits' if waiting == 1 else 'steps wait'}"] * bool(waiting)
        parts += [f"{others} {'step runs' if others == 1 else 'steps run'}"] * bool(others)
        return f"{', '.join(parts)}."

    def of_step(self, number: int) -> Explanation:
        """Return what concerns one step."""
        names = {step: name for step, name in self.names.items() if step == number}
        waits = tuple(row for row in self.waits if row.wait.step == number)
        arrows = tuple(arrow for arrow in self.arrows if arrow.step == number)
        is_in = any(row.in_deadlock for row in waits)
        deadlocks = tuple(told for told in self.deadlocks if is_in and names[number] in told)
        return replace(self, names=names, waits=waits, arrows=arrows, deadlocks=deadlocks)

    def told(self) -> list[WaitRow]:
        """Return the waits that say most, of all steps."""
        return [row for number in self.names for row in self.shown(number)]

    def shown(self, step: int) -> list[WaitRow]:
        """Return the waits of a step that say most: those that lead back say it once more."""
        rows = [row for row in self.waits if row.wait.step == step]
        shown = [row for row in rows if not row.leads_back]
        return shown if shown or self._step(step).computing else rows


def explain(report: Report) -> Explanation:
    """Return who waits for whom, and which waits are deadlocks."""
    steps = sorted(report.steps, key=lambda step: (-step.seconds, step.step))
    known = {step.step for step in steps}
    unknown = dict.fromkeys(wait.step for wait in report.waits if wait.step not in known)
    steps += [StepStatus(number, "") for number in unknown]
    report = report._replace(steps=tuple(steps))
    names = {step.step: _step_name(place, step) for place, step in enumerate(steps, 1)}
    return _Explainer(report, names, analyze_deadlocks(report)).explanation()


class _Explainer:
    """Finds the words for what the analysis found."""

    def __init__(self, report: Report, names: dict[int, str], analysis: DeadlockAnalysis) -> None:
        self._report, self._names, self._analysis = report, names, analysis
        self._waits = {wait.place: wait for wait in report.waits}
        self._stocks = {stock.key: stock for stock in report.stocks}
        self._sessions = {step.step: step.session for step in report.steps}
        self._in_deadlock = {place for cycle in analysis.cycles for place in cycle}

    def explanation(self) -> Explanation:
        order = {number: place for place, number in enumerate(self._names)}
        waits = sorted(self._report.waits, key=lambda each: (order[each.step], *each.place[1:]))
        return Explanation(
            self._report,
            self._names,
            tuple(map(self._row, waits)),
            tuple(map(self._deadlock, self._analysis.cycles)),
            tuple(self._arrow(wait) for wait in waits if wait.stock),
        )

    def _row(self, wait: Wait) -> WaitRow:
        giving = self._analysis.givers[wait.place]
        due = [place for pending in giving for place in self._known(pending)]
        sources = self._roots(due) if wait.tensor else []
        because = self._tensor(wait, giving, sources) if wait.tensor else self._stock(wait, giving)
        return WaitRow(
            self._names[wait.step],
            wait,
            self._stocks.get(wait.stock),
            self._sessions.get(wait.step, ""),
            because,
            bool(sources) or (bool(wait.tensor) and self._computes(wait)),
            wait.place in self._in_deadlock,
        )

    def _arrow(self, wait: Wait) -> Arrow:
        givers = tuple(sorted({pending.step for pending in self._analysis.givers[wait.place]}))
        return Arrow(wait.step, wait.stock, givers, wait.place in self._in_deadlock)

    def _known(self, pending: PendingOp) -> list[Place]:
        return [place for place in before(pending) if place in self._waits]

    def _tensor(self, wait: Wait, giving: Sequence[PendingOp], sources: Sequence[Wait]) -> str:
        if sources:
            found = [f"{each.node} on {plain_task(each.task)}" for each in sources]
            return f"it is made from {_listed(found)}, which waits, too"
        task = task_of(wait.source)
        if any(plain_task(each.task) == plain_task(task) for each in self._report.silent):
            return f"{plain_task(task)} did not tell what it does"
        is_to_come = giving or self._computes(wait)
        return f"{plain_task(task)} has still to compute it" if is_to_come else ""

    def _computes(self, wait: Wait) -> bool:
        """Return whether the task that a tensor comes from computes in the same step."""
        task = task_of(wait.source)
        computing = next((s.computing for s in self._report.steps if s.step == wait.step), ())
        return any(each.endswith(f" on {task}") for each in computing)

    def _stock(self, wait: Wait, giving: Sequence[PendingOp]) -> str:
        """Return who could end the wait at a queue."""
        if not wait.needs:
            return ""
        fill, fills = _verbs(wait)
        idle = self._idle(wait, giving)
        if not giving:
            none = f"no graph that is known here has a node that could {fill} it"
            could = f"{idle} could, but no running step has it" if idle else none
            return f"no step in flight {fills} it; {could}"
        told = "; ".join(self._giver(step, giving, fill) for step in _steps_of(giving))
        is_stuck = wait.place in self._analysis.stuck
        return f"{told}; {idle} could, if a step ran it" if is_stuck and idle else told

    def _giver(self, step: int, giving: Sequence[PendingOp], fill: str) -> str:
        deeds = [pending for pending in giving if pending.step == step]
        nodes = _listed(dict.fromkeys(pending.node for pending in deeds))
        places = [place for pending in deeds for place in before(pending)]
        free = [d for d in deeds if not self._analysis.stuck.intersection(before(d))]
        name = self._names.get(step, "a step")
        if free and not places:
            return f"{name} will {fill} it, by {nodes}"
        after = _listed(dict.fromkeys(each.node for each in self._roots(places)))
        if free:
            return f"{name} will {fill} it, by {nodes}, once it has what it waits for in {after}"
        return f"{name} would {fill} it, by {nodes}, but waits itself, in {after}"

    def _roots(self, places: Iterable[Place]) -> list[Wait]:
        """Return the waits that others are due to: of a receive, what its sender waits for."""
        found: dict[Place, Wait] = {}
        ahead, seen = list(places), set(places)
        while ahead:
            wait = self._waits.get(ahead.pop())
            if wait is None:
                continue
            giving = self._analysis.givers[wait.place] if wait.tensor else ()
            due = [place for pending in giving for place in self._known(pending)]
            if not due:
                found[wait.place] = wait
            ahead += [place for place in due if place not in seen]
            seen.update(due)
        return list(found.values())

    def _idle(self, wait: Wait, giving: Sequence[PendingOp]) -> str:
        """Return which nodes of graphs could end the wait, if somebody ran them; "" if none."""
        running = {pending.node for pending in giving}
        nodes = [
            f"{pending.node} ({pending.op})"
            for pending in self._report.deeds
            if not pending.step and pending.gives == wait.needs and pending.node not in running
        ]
        return _listed(dict.fromkeys(nodes))

    def _deadlock(self, cycle: Sequence[Place]) -> str:
        """Return the sentence that names a deadlock, queue by queue."""
        waits = [self._waits[place] for place in cycle if self._waits[place].stock]
        return "deadlock: " + "; ".join(map(self._clause, waits))

    def _clause(self, wait: Wait) -> str:
        steps = _steps_of(self._analysis.givers[wait.place])
        names = [self._names.get(step, "another step") for step in steps]
        fill, fills = _verbs(wait)
        stock = self._stocks.get(wait.stock)
        noun = f"{wait.kind} {stock.name!r}" if stock is not None else wait.kind
        noun = noun if wait.needs.startswith(ELEMENTS) else f"room in {noun}"
        verb = fill if len(steps) > 1 else fills
        who = f"it {verb} itself, later" if steps == [wait.step] else f"{_listed(names)} {verb}"
        return f"{self._names[wait.step]} waits for {noun}, which only {who}"


def _step_name(number: int, step: StepStatus) -> str:
    """Return how a step is called: by its place among the others, and what it fetches."""
    fetched = [name.removesuffix(":0") for name in step.fetches]
    return f"step {number} ({_listed(fetched) if fetched else 'of another program'})"


def _wait_lines(row: WaitRow, times: bool) -> list[str]:
    wait = row.wait
    since = f", for {wait.seconds:.1f} s" if times else ""
    found = [f"  {wait.node} on {plain_task(wait.task)}{since}: {wait.text}"]
    found += [f"    {row.because}"] * bool(row.because)
    return [*found, *[f"    made at {wait.line}"] * bool(wait.line)]


def _silence_line(silence: Unreachable) -> str:
    is_target = silence.reason.startswith("not available")
    return silence.reason if is_target else f"{plain_task(silence.task)}: {silence.reason}"


def _verbs(wait: Wait) -> tuple[str, str]:
    return ("fill", "fills") if wait.needs.startswith(ELEMENTS) else ("empty", "empties")


def _steps_of(deeds: Iterable[PendingOp]) -> list[int]:
    return list(dict.fromkeys(pending.step for pending in deeds))


def _listed(names: Iterable[str]) -> str:
    """Return "a", "a and b", or "a, b, c and 4 more"."""
    shown = list(names)
    more = len(shown) - _MOST_NAMES
    if more > 1:
        shown[_MOST_NAMES:] = [f"{more} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]])) if shown else ""
