"""Helpers: runs that block in a thread of their own, and how to know that they do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 60.0  # seconds in which what must happen has happened, on a busy machine


class Call:
    """A call in a thread; `result()` gives its value or raises its error."""

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self._outcome: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._body, args=(function, args))
        self._thread.start()

    def _body(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        try:
            self._outcome = function(*args)
        except BaseException as error:
            self._error = error

    def result(self) -> Any:
        """Return the value of the call, when it has ended."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the call did not end"
        if self._error is not None:
            raise self._error
        return self._outcome


def waiters(server: Any) -> int:
    """Return how many producers and consumers stand in line at the queues of a server."""
    rows = server.task.worker.resources.rows()
    queues = [row[-1].state for row in rows if row[1] == "queue"]
    return sum(len(state.takes) + len(state.puts) for state in queues)


def until(condition: Callable[[], bool]) -> None:
    """Return as soon as `condition` holds; AssertionError if it does not in time."""
    deadline = time.monotonic() + PATIENCE
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        pause.wait(0.002)


@contextmanager
def blocked(server: Any, function: Callable[..., Any], *args: Any) -> Iterator[Call]:
    """Call `function` in a thread; give the call once one more waits at a queue of `server`."""
    before = waiters(server)
    call = Call(function, *args)
    until(lambda: waiters(server) > before)
    yield call
