"""`why`: what every step in flight waits for, and why, as text, rows, a table and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from tfdist.launch.why import report
from tfdist.plots.live.waits_figure import waits_figure
from tfdist.plots.shared.tables import Table
from tfdist.tracing.device_names import plain_task
from tfdist.tracing.waits import Report
from tfdist.tracing.why import Explanation, WaitRow, explain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def why(target: Any = None, step: int | None = None) -> Why:
    """Return what every step in flight waits for, and why; ask it while a step is blocked.

    From another cell, thread or process: no step is kept waiting, and there is an answer within
    half a second, whichever tasks are lost.

    Args:
      target: "grpc://HOST:PORT" of a server, which asks its whole cluster; the name of a running
        cluster, as `%cluster attach` takes it; or a cluster, server or session. By default the
        sessions, servers and clusters of this process are asked.
      step: number of the only step that is wanted (`StepStatus.step`).

    Raises:
      OpError: no cluster of that name runs.

    Example:
      >>> print(why())
      Nothing is in flight: no step runs or waits.
    """
    return Why(report(target), step)


class Why:
    """What the steps in flight wait for; `str()` tells all of it.

    Args:
      report: what the tasks told.
      step: number of the only step to tell of.
    """

    def __init__(self, report: Report, step: int | None = None) -> None:
        whole = explain(report)
        self.explanation: Explanation = whole if step is None else whole.of_step(step)

    @property
    def deadlocks(self) -> tuple[str, ...]:
        """Return a sentence for each deadlock."""
        return self.explanation.deadlocks

    @property
    def steps(self) -> tuple[Any, ...]:
        """Return the steps in flight (`tracing.waits.StepStatus`), the oldest first."""
        return self.explanation.report.steps

    def rows(self) -> list[WaitRow]:
        """Return a row for each node that waits."""
        return list(self.explanation.waits)

    def text(self, times: bool = True) -> str:
        """Return all of it; without times, it is the same in every run."""
        return "\n".join(self.explanation.lines(times))

    def table(self, times: bool = True) -> Table:
        """Return a row for each step and what it waits for."""
        return waits_table(self.explanation, times)

    def figure(self, times: bool = True) -> Figure:
        """Return a matplotlib `Figure`: steps, tasks, queues, and who waits for whom."""
        return waits_figure(self.explanation, times)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        told = [self.explanation.sentence(), *self.deadlocks, *self.explanation.notes()]
        paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in told)
        return paragraphs + (_html(self.table()) if self.explanation.names else "")


def waits_table(explanation: Explanation, times: bool = True) -> Table:
    """Return a row for each step and what it waits for.

    Args:
      explanation: of what is in flight.
      times: whether to say since when.
    """
    header = ("step", "node", "on", "waits for", "why")
    cells = []
    steps = {step.step: step for step in explanation.report.steps}
    for number, name in explanation.names.items():
        shown = explanation.shown(number)
        for row in shown:
            wait = row.wait
            cell = (name, wait.node, plain_task(wait.task), wait.text, row.because)
            cells.append((*cell, f"{wait.seconds:.1f} s"))
        if not shown:
            does = explanation.does(number)
            cells.append((name, "", "", does, "", f"{steps[number].seconds:.1f} s"))
    if times:
        return Table((*header, "since"), tuple(cells), frozenset({len(header)}))
    return Table(header, tuple(cell[:-1] for cell in cells))


def _html(table: Table) -> str:
    return f"<table>{_row('th', table.header)}{''.join(_row('td', r) for r in table.rows)}</table>"


def _row(tag: str, cells: Sequence[str]) -> str:
    style = ' style="text-align:left"'
    return f"<tr>{''.join(f'<{tag}{style}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
