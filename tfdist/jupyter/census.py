"""`ClusterPanel`: tasks, what they hold and do, and what crosses between them, while it happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfdist.jupyter.bundles import Bundle, Style, picture_bundle, sentence_bundle, table_bundle
from tfdist.jupyter.panels import Panel
from tfdist.plots.live.census import ClusterCensus, rate_text, task_colours
from tfdist.plots.shared.tables import Table
from tfdist.tracing.census import TaskStatus
from tfdist.tracing.device_names import short_name
from tfdist.web.cluster import cluster_html

if TYPE_CHECKING:
    from tfdist.plots.shared.palette import Figure


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
        return cluster_html(self.history)
