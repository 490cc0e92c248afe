"""Queues and the like at one moment or over a while: which are shown, and their table."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch

from tfdist.plots.shared.tables import MOST_ROWS, Table, bytes_text
from tfdist.tracing.census import Allocation, Census, Waiter
from tfdist.tracing.device_names import device_order, plain_task
from tfdist.tracing.waits import ResourceStatus

MOST_WAITERS = 3  # that are named
_RARE = ("Barrier",)  # kinds that are shown when all are asked for


def chosen(
    stocks: Sequence[ResourceStatus], pattern: str = "", every: bool = False
) -> list[ResourceStatus]:
    """Return the queues that are shown, by task and name.

    Args:
      stocks: to choose from.
      pattern: what names have in them, or match, as file names do: "batch", "*/fifo*".
      every: whether barriers are among them.
    """
    found = [
        stock
        for stock in stocks
        if is_named(stock.name, pattern) and (every or stock.kind not in _RARE)
    ]
    return sorted(found, key=lambda stock: (device_order(stock.task), stock.name, stock.key))


def is_named(name: str, pattern: str) -> bool:
    """Return whether a name matches a pattern, or has it in it."""
    whole = pattern if any(sign in pattern for sign in "*?[") else f"*{pattern}*"
    return fnmatch(name.lower(), whole.lower())


def queues_sentence(
    stocks: Sequence[ResourceStatus], waiters: Sequence[Waiter], pattern: str = ""
) -> str:
    """Return how many there are, whose names match `pattern`, and how many nodes wait at them."""
    if not stocks:
        which = f" with a name like {pattern!r}" if pattern else ""
        return f"There is no queue, accumulator or staging area{which}: a step makes them."
    keys = {stock.key for stock in stocks}
    waiting = sum(waiter.stock in keys for waiter in waiters)
    noun = {1: "1 queue"}.get(len(stocks), f"{len(stocks)} queues")
    verb = {0: "nobody waits", 1: "1 node waits"}.get(waiting, f"{waiting} nodes wait")
    return f"{noun}; {verb}."


def queues_table(
    stocks: Sequence[ResourceStatus], waiters: Sequence[Waiter], times: bool = True
) -> Table:
    """Return a row for each queue: how full it is, and who waits.

    Args:
      stocks: the queues.
      waiters: at any queue.
      times: whether to say since when.
    """
    cells = tuple(
        (
            plain_task(stock.task),
            stock.name,
            stock.kind,
            holds_text(stock),
            "closed" if stock.closed else "",
            waiting_text([each for each in waiters if each.stock == stock.key], times),
        )
        for stock in stocks
    )
    return Table(("on", "queue", "kind", "holds", "closed", "waiting"), cells)


def holds_text(stock: ResourceStatus) -> str:
    """Return "2 of 3", or "2" where there is no bound."""
    text = f"{stock.fill} of {stock.capacity}" if stock.capacity >= 0 else f"{stock.fill}"
    return f"{text}, keeps {stock.min_after_dequeue}" if stock.min_after_dequeue else text


def state_texts(stock: ResourceStatus) -> list[str]:
    """Return "closed", "1 waits for elements" and "2 wait for room", as far as they are so."""
    waiters = (stock.consumers, "elements"), (stock.producers, "room")
    told = [f"{n} {'waits' if n == 1 else 'wait'} for {what}" for n, what in waiters if n]
    return ["closed", *told] if stock.closed else told


def waiting_text(waiters: Sequence[Waiter], times: bool = True) -> str:
    """Return who waits for what, those first who have waited longest."""
    ordered = sorted(waiters, key=lambda each: (-each.seconds if times else 0, each.node))
    told = [_waiter_text(each, times) for each in ordered[:MOST_WAITERS]]
    if len(ordered) > len(told):
        told.append(f"{len(ordered) - len(told)} more")
    return "; ".join(told)


def _waiter_text(waiter: Waiter, times: bool) -> str:
    noun = "element" if waiter.needs == "elements" else "place"
    wanted = f"{waiter.missing} {noun}{'s' * (waiter.missing != 1)}"
    since = f", {waiter.seconds:.1f} s" if times else ""
    return f"{waiter.node or 'a node'} for {wanted}{since}"


def share(stock: ResourceStatus) -> float:
    """Return how full a queue is drawn, from 0 to 1; one without bound never is."""
    if stock.capacity < 0:
        return stock.fill / (stock.fill + 10)
    return min(1.0, stock.fill / stock.capacity) if stock.capacity else 0.0


def holdings_table(census: Census, pattern: str = "", most: int = MOST_ROWS) -> Table:
    """Return a row for each variable and other resource, those first that take most.

    Where there are containers besides the default one, each row says in which it is.
    """
    ordered = sorted(held(census, pattern), key=_order)
    has_containers = any(each.container for each in ordered)
    rows = []
    for each in ordered[:most]:
        told = (each.container or "(default)",) if has_containers else ()
        rows.append((plain_task(each.task), *told, each.name, each.kind, each.about, _size(each)))
    left_out = len(ordered) - len(rows)
    note = f"{left_out} more" if left_out else ""
    header = ("on", *["container"] * has_containers, "name", "kind", "holds", "bytes")
    return Table(header, tuple(rows), frozenset({len(header) - 1}), note)


def held(census: Census, pattern: str = "") -> list[Allocation]:
    """Return variables and other resources by a pattern of names; see `chosen`."""
    return [each for each in census.holdings if is_named(each.name, pattern)]


def holdings_sentence(holdings: Sequence[Allocation]) -> str:
    """Return how many variables and other resources there are, and where."""
    if not holdings:
        return "No task holds anything."
    tasks = {each.task for each in holdings}
    rooms = {(each.task, each.container) for each in holdings}
    variables = sum(each.kind == "variable" for each in holdings)
    counts = ((variables, "variable"), (len(holdings) - variables, "other resource"))
    what = " and ".join(_counted(*each) for each in counts if each[0])
    where = f"in {_counted(len(rooms), 'container')} on {_counted(len(tasks), 'task')}"
    return f"{what}, {where}."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _order(holding: Allocation) -> tuple[str, str, int, str, str]:
    return holding.task, holding.container, -holding.nbytes, holding.kind, holding.name


def _size(holding: Allocation) -> str:
    return bytes_text(holding.nbytes) if holding.nbytes else ""
