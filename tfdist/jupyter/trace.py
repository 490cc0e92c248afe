"""`trace`: run something and keep what happened in each run of a session inside it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tfdist.jupyter.export import Export, export, timeline_export
from tfdist.jupyter.sessions import session_for, task_of
from tfdist.plots.shared.tables import Table, duration_text
from tfdist.plots.text import timeline_sentence
from tfdist.plots.timeline.figure import timeline_figure
from tfdist.session.recording import RecordedRun, record_runs
from tfdist.tracing.calls import RpcCall, calls_of
from tfdist.tracing.steps.node_row import TRANSFER, NodeRow
from tfdist.tracing.steps.rows import rows

if TYPE_CHECKING:
    from tfdist.jupyter.player import StepPlayer
    from tfdist.plots.shared.palette import Figure

# those with a run that came to its end; the last one is what `%timeline` shows
recent: deque[Trace] = deque(maxlen=20)


@dataclass(frozen=True)
class Trace:
    """The runs of sessions while something was traced.

    Attributes:
      runs: in the order in which they ended.
      tasks: the task of each session's target, as it was then: a cluster may be stopped since.
    """

    runs: tuple[RecordedRun, ...]
    tasks: Mapping[str, str] = field(default_factory=dict)
    _rows: dict[int, list[NodeRow]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def complete_runs(self) -> tuple[RecordedRun, ...]:
        """Return the runs that came to their end and have statistics."""
        return tuple(run for run in self.runs if run.metadata.step_stats.dev_stats)

    def run(self, step: int = -1) -> RecordedRun:
        """Return a complete run by its position; IndexError saying how many there are."""
        try:
            return self.complete_runs[step]
        except IndexError:
            count = len(self.complete_runs)
            raise IndexError(f"step {step}: the trace has {count} complete runs") from None

    def rows(self, step: int = -1) -> list[NodeRow]:
        """Return what ran and crossed in a run."""
        return self._rows_of(self.run(step))

    def repetitions(self) -> list[list[NodeRow]]:
        """Return the rows of all complete runs that fetched what the last one did."""
        return [self._rows_of(run) for run in self._repeated()]

    def repetitions_s(self) -> list[float]:
        """Return how many seconds the call of each of `repetitions` took."""
        return [run.seconds for run in self._repeated()]

    def calls(self, step: int = -1) -> list[RpcCall]:
        """Return the calls of a run, in the protocol's words."""
        run = self.run(step)
        return calls_of(run.metadata.step_stats, run.calls, run.fetches)

    def sentence(self, step: int = -1) -> str:
        """Return what was run and from where, in one sentence without times."""
        run = self.run(step)
        return f"Ran {run.fetches} in a session on {self.tasks.get(run.target, run.target)}."

    def figure(self, step: int = -1) -> Figure:
        """Return the timeline of a run as a matplotlib `Figure`."""
        return timeline_figure(self.rows(step))

    def player(self, step: int = -1) -> StepPlayer:
        """Return a player of a run, to be shown, frozen or drawn."""
        from tfdist.jupyter.player import StepPlayer

        return StepPlayer(self, step)

    def table(self, times: bool = True, most: int = 200) -> Table:
        """Return one row per run, the last `most` of them."""
        header = ("run", "fetched", "session on", "nodes", "transfers", "came to")
        numbered = list(enumerate(self.runs))[-most:]
        cells = tuple(self._cells(number, run, times) for number, run in numbered)
        left_out = len(self.runs) - len(numbered)
        note = f"the first {left_out} runs are not shown" if left_out else ""
        return Table(header, cells, frozenset({0, 3, 4}), note)

    def save(self, path: str, step: int = -1) -> None:
        """Write the timeline of a run, as the suffix says: .json, .tfevents, .png or .svg.

        Raises:
          ValueError: `path` ends otherwise.
        """
        export(path, self.export(step))

    def export(self, step: int = -1) -> Export:
        """Return the timeline of a run, to be written."""
        run = self.run(step)
        return timeline_export(run.metadata, run.nodes)

    def _repeated(self) -> list[RecordedRun]:
        last = self.run()
        return [run for run in self.complete_runs if run.fetches == last.fetches]

    def _rows_of(self, run: RecordedRun) -> list[NodeRow]:
        """Return the rows of a run; those of a long loop take a while, and are wanted again."""
        if id(run) not in self._rows:
            self._rows[id(run)] = rows(run.metadata.step_stats)
        return self._rows[id(run)]

    def _cells(self, number: int, run: RecordedRun, times: bool) -> tuple[str, ...]:
        found = self._rows_of(run)
        transfers = sum(row.kind == TRANSFER for row in found)
        outcome = type(run.error).__name__ if run.error else "its end"
        if times:
            outcome += f" after {duration_text(run.seconds * 1e6)}"
        counts = (str(len(found) - transfers), str(transfers))
        task = self.tasks.get(run.target, run.target)
        return str(number), run.fetches, task, *counts, outcome

    def __repr__(self) -> str:
        count = len(self.runs)
        if not self.complete_runs:
            return f"<Trace of {count} runs, none complete>"
        _, _, shown = timeline_sentence(self.rows(), times=False).rstrip(".").partition(": ")
        return f"<Trace of {count} run{'s' * (count != 1)}; in the last one {shown}>"


def trace(
    what: Any, feed_dict: dict[Any, Any] | None = None, target: str | None = None
) -> tuple[Any, Trace]:
    """Run `what` and return (its value, what happened).

    Args:
      what: a graph element or a structure of them, to be run in a session; or a function without
        arguments that runs sessions itself.
      feed_dict: values for placeholders, where `what` is no function.
      target: task of the session, such as "worker:1"; see `sessions.session_for`.

    Raises:
      Whatever the run raises; Ctrl-C passes through too.
    """
    if callable(what) and not is_fetchable(what):
        return trace_call(what)

    def run() -> Any:
        with session_for(what, target) as session:
            return session.run(what, feed_dict)

    return trace_call(run)


def trace_call(
    call: Callable[[], Any], tell: Callable[[Trace], None] = lambda found: None
) -> tuple[Any, Trace]:
    """Return (value of `call()`, its trace).

    Args:
      call: what is traced.
      tell: gets the trace first of all, and if `call` raises, too.
    """
    __tracebackhide__ = True  # IPython leaves this frame out of tracebacks
    with record_runs() as runs:
        try:
            value = call()
        finally:
            found = Trace(tuple(runs), {run.target: task_of(run.target) for run in runs})
            tell(found)
            if found.complete_runs:  # else the last good one stays the last
                recent.append(found)
    return value, found


def is_fetchable(value: Any) -> bool:
    """Return whether `value` is a graph element, or a structure of nothing else."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return bool(value) and all(map(is_fetchable, value))
    return hasattr(value, "graph") and (hasattr(value, "op") or hasattr(value, "node_def"))
