"""The panel of queues as HTML: how full they are, and who waits at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfdist.plots.live.queues import chosen, holds_text, queues_sentence, waiting_text
from tfdist.plots.shared.device_colours import device_colours
from tfdist.tracing.census_history import CensusHistory
from tfdist.tracing.device_names import device_order, plain_task
from tfdist.tracing.waits import ResourceStatus
from tfdist.web import panel_html as html

MOST_QUEUES = 24  # rows of the live panel


def queues_html(history: CensusHistory, pattern: str = "", every: bool = False) -> str:
    """Return what a live panel shows of queues that are watched.

    Args:
      history: of the watch.
      pattern: of names; see `plots.live.queues.chosen`.
      every: whether barriers and other resources are shown too.
    """
    stocks = chosen(history.last.stocks, pattern, every)
    sentence = queues_sentence(stocks, history.last.waiters, pattern)
    watched = f"{sentence} Watched for {history.seconds:.0f} s."
    header = ("on", "queue", "", "", "holds", "closed", "waiting")
    rows = _rows(history, stocks[:MOST_QUEUES])
    return html.section(watched, header, rows) or html.heading(watched)


def _rows(history: CensusHistory, stocks: Sequence[ResourceStatus]) -> Iterator[str]:
    colours = device_colours(sorted({stock.task for stock in stocks}, key=device_order))
    for stock in stocks:
        colour = colours[stock.task]
        waiters = [each for each in history.last.waiters if each.stock == stock.key]
        fills = [(seconds, float(each.fill)) for seconds, each in history.fills(stock.key)]
        cells = (
            html.named(plain_task(stock.task), colour),
            html.cell(stock.name),
            html.fill_bar(stock, colour),
            html.curve(fills, colour, max(stock.capacity, 0)),
            html.cell(holds_text(stock)),
            html.cell("closed" if stock.closed else ""),
            html.cell(waiting_text(waiters)),
        )
        yield html.row(stock.name, "queue", cells)
