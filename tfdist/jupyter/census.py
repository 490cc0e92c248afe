"""`ClusterPanel`: tasks, what they hold and do, and what crosses between them, while it happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfdist.jupyter import panel_html as html
from tfdist.jupyter.bundles import Bundle, Style, picture_bundle, sentence_bundle, table_bundle
from tfdist.jupyter.panels import Panel
from tfdist.plots.live.census import ClusterCensus, process_text, rate_text
from tfdist.plots.live.queues import chosen, holds_text, waiting_text
from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.tables import Table, bytes_text
from tfdist.tracing.census import Census, TaskStatus, Traffic
from tfdist.tracing.rows import device_order
from tfdist.tracing.task_names import plain_task, short_name
from tfdist.tracing.waits import ResourceStatus

if TYPE_CHECKING:
    from tfdist.plots.shared.palette import Figure

MOST_LINKS, MOST_QUEUES = 12, 12  # rows of the live panel; in the end the tables have all


def census_bundles(found: ClusterCensus, style: Style) -> list[Bundle]:
    """Return what tasks tell of themselves: a picture, and tables.

    Args:
      found: the census.
      style: how much is shown.
    """
    sentence = found.sentence()
    if not found.records.tasks and not found.records.silent:
        return [sentence_bundle(sentence)]
    colours = task_colours(found.records)
    tables = found.tables(style.times)
    shown = [table_bundle(table, sentence * (not i), colours) for i, table in enumerate(tables)]
    if style.pictures:
        shown.insert(0, picture_bundle(lambda: found.figure(style.times), sentence, style))
    return shown


def task_colours(census: Census) -> dict[str, str]:
    """Return the hue of each task, the same as in the pictures."""
    told = {plain_task(each.task) for each in census.tasks}
    return device_colours(
        sorted(told | {plain_task(each.task) for each in census.silent}, key=device_order)
    )


class ClusterPanel(Panel):
    """A cluster while it works; see `Panel` for what can be done with it.

    Example:
      >>> panel = ClusterPanel()
      >>> panel
      <ClusterPanel>
      >>> panel.close()
    """

    def census(self) -> ClusterCensus:
        """Return what was seen, for tables and rates."""
        return ClusterCensus(self.history)

    def bundles(self, style: Style) -> Sequence[Bundle]:
        """See `Panel.bundles`."""
        return census_bundles(self.census(), style)

    def figure(self) -> Figure:
        """See `Panel.figure`."""
        return self.census().figure()

    def table(self) -> Table:
        """See `Panel.table`: a row for each task."""
        return self.census().table()

    def to_text(self) -> str:
        """See `Panel.to_text`."""
        return self.census().text()

    def line(self) -> str:
        """See `Panel.line`."""
        parts = [self._told(task) for task in self.history.last.tasks]
        return f"{self.history.seconds:.0f} s; " + "; ".join(parts or [self.census().sentence()])

    def _told(self, task: TaskStatus) -> str:
        rate = self.history.step_rate(task.task)
        lately = f" ({rate_text(rate)} a second)" if rate is not None else ""
        return f"{short_name(task.task)}: {task.steps} steps{lately}"

    def html(self) -> str:
        """See `Panel.html`."""
        census = self.history.last
        colours = task_colours(census)
        tasks = html.section(
            f"{self.census().sentence()} Watched for {self.history.seconds:.0f} s.",
            (
                "task",
                "state",
                "devices",
                "steps/s",
                "",
                "steps",
                "variables",
                "in queues",
                "process",
                "",
            ),
            self._task_rows(census, colours),
        )
        links = html.section(
            "sent", ("from", "to", "tensors", "bytes", "bytes/s"), self._link_rows(census, colours)
        )
        stocks = chosen(census.stocks)[:MOST_QUEUES]
        queues = html.section(
            "queues",
            ("on", "queue", "", "holds", "closed", "waiting"),
            (_queue_row(stock, census, colours[plain_task(stock.task)]) for stock in stocks),
        )
        return tasks + links + queues

    def _task_rows(self, census: Census, colours: dict[str, str]) -> Iterator[str]:
        for task in census.tasks:
            yield self._task_row(task, colours[plain_task(task.task)])
        for each in census.silent:
            head = html.named(plain_task(each.task), colours[plain_task(each.task)])
            yield html.row(plain_task(each.task), "task", (head, html.cell(each.reason)))

    def _task_row(self, task: TaskStatus, colour: str) -> str:
        name = plain_task(task.task)
        state = f"up, {task.in_flight} in flight" if task.in_flight else "up, idle"
        cells = (
            html.named(name, colour),
            html.cell(state),
            html.cell(" ".join(task.devices)),
            html.number(rate_text(self.history.step_rate(task.task))),
            html.curve(self.history.step_rates(task.task), colour),
            html.number(str(task.steps)),
            html.number(bytes_text(task.variable_bytes) if task.variables else ""),
            html.number(bytes_text(task.resource_bytes) if task.resource_bytes else ""),
            html.number(process_text(task, self.history)),
            html.curve(self.history.process_bytes(task.task), colour),
        )
        return html.row(name, "task", cells)

    def _link_rows(self, census: Census, colours: dict[str, str]) -> Iterator[str]:
        ordered = sorted(census.traffic, key=lambda each: (-each.nbytes, each.link))
        for each in ordered[:MOST_LINKS]:
            yield self._link_row(each, colours)

    def _link_row(self, each: Traffic, colours: dict[str, str]) -> str:
        source, target = plain_task(each.source), plain_task(each.target)
        rate = self.history.byte_rate(each.link)
        cells = (
            html.named(source, colours.get(source, "#999999")),
            html.cell(f"→ {target}"),
            html.number(str(each.tensors)),
            html.number(bytes_text(each.nbytes)),
            html.number("" if rate is None else f"{bytes_text(round(rate))}/s"),
        )
        return html.row(f"{source} {target}", "link", cells)


def _queue_row(stock: ResourceStatus, census: Census, colour: str) -> str:
    waiters = [each for each in census.waiters if each.stock == stock.key]
    cells = (
        html.named(plain_task(stock.task), colour),
        html.cell(stock.name),
        html.fill_bar(stock, colour),
        html.cell(holds_text(stock)),
        html.cell("closed" if stock.closed else ""),
        html.cell(waiting_text(waiters)),
    )
    return html.row(stock.name, "queue", cells)
