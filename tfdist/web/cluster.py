"""The panel of a cluster as HTML: tasks, what they hold and do, and what crosses between them."""

from __future__ import annotations

from collections.abc import Iterator

from tfdist.plots.live.census import ClusterCensus, process_text, rate_text, task_colours
from tfdist.plots.live.queues import chosen, holds_text, waiting_text
from tfdist.plots.shared.tables import bytes_text
from tfdist.tracing.census import Census, TaskStatus, Traffic
from tfdist.tracing.census_history import CensusHistory
from tfdist.tracing.device_names import device_order, plain_task
from tfdist.tracing.waits import ResourceStatus
from tfdist.web import panel_html as html

# rows of the live panel; in the end the tables have all
MOST_TASKS, MOST_LINKS, MOST_QUEUES = 40, 12, 12
_TASKS = (
    *("task", "state", "devices", "steps/s", "", "steps", "variables", "in queues", "process"),
    "",
)


def cluster_html(history: CensusHistory) -> str:
    """Return what a live panel shows of a cluster that is watched."""
    census = history.last
    colours = task_colours(census)
    sentence = ClusterCensus(history).sentence()
    tasks = html.section(
        f"{sentence} Watched for {history.seconds:.0f} s.",
        _TASKS,
        _task_rows(history, colours),
    )
    links = html.section(
        "sent", ("from", "to", "tensors", "bytes", "bytes/s"), _link_rows(history, colours)
    )
    stocks = chosen(census.stocks)[:MOST_QUEUES]
    queues = html.section(
        "queues",
        ("on", "queue", "", "holds", "closed", "waiting"),
        (_queue_row(stock, census, colours[plain_task(stock.task)]) for stock in stocks),
    )
    more = len(census.silent) + len(census.tasks) - MOST_TASKS
    return (tasks or html.heading(sentence)) + html.more(more, "tasks") + links + queues


def _task_rows(history: CensusHistory, colours: dict[str, str]) -> Iterator[str]:
    """Yield a row for each task, for those first that do not tell if all have no room."""
    silent = {
        plain_task(each.task): html.cell(each.reason) for each in history.last.silent[:MOST_TASKS]
    }
    room = MOST_TASKS - len(silent)
    told = sorted(history.last.tasks, key=lambda each: device_order(each.task))[:room]
    rows = {plain_task(task.task): _task_row(task, history, colours) for task in told}
    for name, why in silent.items():
        rows[name] = html.row(name, "task", (html.named(name, colours[name]), why))
    yield from (rows[name] for name in sorted(rows, key=device_order))


def _task_row(task: TaskStatus, history: CensusHistory, colours: dict[str, str]) -> str:
    name = plain_task(task.task)
    colour = colours[name]
    state = f"up, {task.in_flight} in flight" if task.in_flight else "up, idle"
    cells = (
        html.named(name, colour),
        html.cell(state),
        html.cell(" ".join(task.devices)),
        html.number(rate_text(history.step_rate(task.task))),
        html.curve(history.step_rates(task.task), colour),
        html.number(str(task.steps)),
        html.number(bytes_text(task.variable_bytes) if task.variables else ""),
        html.number(bytes_text(task.resource_bytes) if task.resource_bytes else ""),
        html.number(process_text(task, history)),
        html.curve(history.process_bytes(task.task), colour),
    )
    return html.row(name, "task", cells)


def _link_rows(history: CensusHistory, colours: dict[str, str]) -> Iterator[str]:
    ordered = sorted(history.last.traffic, key=lambda each: (-each.nbytes, each.link))
    for each in ordered[:MOST_LINKS]:
        yield _link_row(each, history, colours)


def _link_row(each: Traffic, history: CensusHistory, colours: dict[str, str]) -> str:
    source, target = plain_task(each.source), plain_task(each.target)
    rate = history.byte_rate(each.link)
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
