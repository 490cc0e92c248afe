"""`StreamPanel`: what each task does, over minutes: computes, moves values, waits, or nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from tfdist.jupyter.bundles import Bundle, Style, picture_bundle, sentence_bundle, table_bundle
from tfdist.jupyter.html import paragraph
from tfdist.jupyter.panels import Panel
from tfdist.jupyter.trace import recent
from tfdist.plots.live.census import task_colours
from tfdist.plots.live.stream import TaskStream, shared_text
from tfdist.plots.live.stream_figure import stream_figure
from tfdist.plots.shared.tables import Table
from tfdist.tracing.device_names import short_name
from tfdist.tracing.intervals import intervals
from tfdist.tracing.steps.rows import first_start_us
from tfdist.tracing.zoom import TracedStep, zoom_span
from tfdist.web.stream import stream_html

if TYPE_CHECKING:
    from tfdist.plots.shared.palette import Figure


class StreamPanel(Panel):
    """The task stream of a cluster; see `Panel` for what can be done with it.

    Example:
      >>> panel = StreamPanel()
      >>> panel
      <StreamPanel>
      >>> panel.close()
    """

    least = 0.5  # what it shows is larger than that of others

    def stream(self) -> TaskStream:
        """Return what was seen."""
        return TaskStream(self.history, self._traced())

    def _traced(self) -> list[TracedStep]:
        """Return the steps that `%trace` has kept and that ran while it was watched."""
        epoch = time.time() - time.monotonic() + self._began  # on the clock of traces
        found = [
            TracedStep(first_start_us(run.metadata.step_stats) / 1e6 - epoch, each.rows(step))
            for each in list(recent)
            for step, run in enumerate(each.complete_runs)
        ]
        return [each for each in found if each.end > 0 and each.begin < self.history.seconds]

    def zoom(self, begin: float | None = None, end: float | None = None) -> Figure:
        """Return a matplotlib `Figure` of some seconds of the watch.

        Args:
          begin: seconds since the watch began; by default a little before the traced step that
            ran last, whose nodes are drawn then.
          end: the same; by default a little after it, or with `begin`, the end of the watch.

        Raises:
          ValueError: nothing is there: no step was traced meanwhile, or the times are wrong.
        """
        stream = self.stream()
        return stream_figure(stream, *zoom_span(stream.traced, self.history.seconds, begin, end))

    def bundles(self, style: Style) -> Sequence[Bundle]:
        """See `Panel.bundles`."""
        stream = self.stream()
        sentence = stream.sentence(style.times)
        if not stream.tasks and not self.history.last.silent:
            return [sentence_bundle(sentence)]
        table = table_bundle(stream.table(style.times), "", task_colours(self.history.last))
        if not stream.tasks or not style.times:
            return [sentence_bundle(sentence), table]
        if not style.pictures:
            text, lanes = (
                f"{sentence}\n\n{stream.lanes()}\n",
                f"<pre>{escape(stream.lanes())}</pre>",
            )
            return [Bundle({"text/plain": text, "text/html": paragraph(sentence) + lanes}), table]
        return [picture_bundle(self.figure, sentence, style, stream.lanes()), table]

    def figure(self) -> Figure:
        """See `Panel.figure`: a lane for each task, over what was zoomed into as it was frozen."""
        return stream_figure(self.stream(), *(self._sight or ()))

    def table(self) -> Table:
        """See `Panel.table`: a row for each task."""
        return self.stream().table()

    def to_text(self) -> str:
        """See `Panel.to_text`."""
        return self.stream().text()

    def line(self) -> str:
        """See `Panel.line`."""
        told: list[str] = []
        stream = TaskStream(self.history)
        for task in stream.tasks:
            last = intervals(self.history, task)[-1:]
            told.extend(f"{short_name(task)}: {shared_text(each.shares)}" for each in last)
        return f"{self.history.seconds:.0f} s; " + "; ".join(told or [stream.sentence()])

    def html(self) -> str:
        """See `Panel.html`."""
        return stream_html(self.stream())
