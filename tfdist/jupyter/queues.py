"""`QueuePanel`: queues, how full they are, and who waits at them, while it happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfdist.jupyter.bundles import Bundle, Style, picture_bundle, sentence_bundle, table_bundle
from tfdist.jupyter.panels import EVERY, Panel
from tfdist.plots.live.holdings_figure import holdings_figure
from tfdist.plots.live.queues import (
    chosen,
    held,
    holdings_sentence,
    holdings_table,
    holds_text,
    queues_sentence,
    queues_table,
)
from tfdist.plots.live.queues_figure import fills_figure
from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.tables import Table
from tfdist.tracing.census import Census
from tfdist.tracing.census_history import CensusHistory
from tfdist.tracing.device_names import device_order, plain_task
from tfdist.tracing.waits import ResourceStatus
from tfdist.web.queues import queues_html

if TYPE_CHECKING:
    from tfdist.plots.shared.palette import Figure


def queue_bundles(
    history: CensusHistory, style: Style, pattern: str = "", every: bool = False
) -> list[Bundle]:
    """Return queues as a picture and a table, and if `every`, what tasks hold besides.

    Args:
      history: of a watch, or of one census.
      style: how much is shown.
      pattern: of names; see `plots.live.queues.chosen`.
      every: whether barriers, variables and other resources are shown too.
    """
    census = history.last
    stocks = chosen(census.stocks, pattern, every)
    sentence = queues_sentence(stocks, census.waiters, pattern)
    colours = device_colours(sorted({plain_task(stock.task) for stock in stocks}, key=device_order))
    table = queues_table(stocks, census.waiters, style.times)
    shown = [table_bundle(table, sentence, colours)] if stocks else []
    if style.pictures and stocks:
        shown.insert(0, picture_bundle(lambda: fills_figure(history, stocks), sentence, style))
    if every:
        return shown + holdings_bundles(census, style, pattern)
    return shown or [sentence_bundle(sentence)]


def holdings_bundles(census: Census, style: Style, pattern: str = "") -> list[Bundle]:
    """Return what tasks hold, container by container, as a picture and a table.

    Args:
      census: in which it was asked for.
      style: how much is shown.
      pattern: of names; see `plots.live.queues.chosen`.
    """
    holdings = held(census, pattern)
    sentence = holdings_sentence(holdings)
    if not holdings:
        return [sentence_bundle(sentence)]
    colours = device_colours(sorted({plain_task(each.task) for each in holdings}, key=device_order))
    shown = [table_bundle(holdings_table(census, pattern, style.most_rows), sentence, colours)]
    if style.pictures:
        shown.insert(0, picture_bundle(lambda: holdings_figure(holdings), sentence, style))
    return shown


class QueuePanel(Panel):
    """Queues while they are used; see `Panel` for the other arguments and what can be done.

    Args:
      target: see `Panel`.
      pattern: of names; see `plots.live.queues.chosen`.
      holdings: whether barriers, variables and other resources are shown too.

    Example:
      >>> panel = QueuePanel(pattern="batch")
      >>> panel
      <QueuePanel>
      >>> panel.close()
    """

    def __init__(
        self,
        target: Any = None,
        pattern: str = "",
        every: float = EVERY,
        live: str | None = None,
        holdings: bool = False,
    ) -> None:
        super().__init__(target, every, live)
        self.pattern, self.holdings = pattern, holdings

    def stocks(self) -> list[ResourceStatus]:
        """Return the queues that are shown, as they were seen last."""
        return chosen(self.history.last.stocks, self.pattern, self.holdings)

    def sentence(self) -> str:
        """Return how many queues there are, and how many nodes wait."""
        return queues_sentence(self.stocks(), self.history.last.waiters, self.pattern)

    def bundles(self, style: Style) -> Sequence[Bundle]:
        """See `Panel.bundles`."""
        return queue_bundles(self.history, style, self.pattern, self.holdings)

    def figure(self) -> Figure:
        """See `Panel.figure`."""
        return fills_figure(self.history, self.stocks())

    def table(self) -> Table:
        """See `Panel.table`: a row for each queue."""
        return queues_table(self.stocks(), self.history.last.waiters)

    def to_text(self) -> str:
        """See `Panel.to_text`."""
        return f"{self.sentence()}\n{self.table()}"

    def line(self) -> str:
        """See `Panel.line`."""
        parts = [f"{stock.name}: {holds_text(stock)}" for stock in self.stocks()]
        sentence = self.sentence()
        return f"{self.history.seconds:.0f} s; " + "; ".join(parts or [sentence])

    def html(self) -> str:
        """See `Panel.html`."""
        return queues_html(self.history, self.pattern, self.holdings)
