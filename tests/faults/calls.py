"""Calls in threads of their own, with the moments at which they ended; waiting for conditions."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 60.0  # seconds in which what must happen has happened, on a busy machine
PAUSE = 0.005  # seconds between two looks at a condition


class Running:
    """A call in a thread.

    Attributes:
      ended_at: `time.monotonic()` at which it returned or raised; None while it runs.
    """

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self.ended_at: float | None = None
        self._value: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._body, args=(function, args), daemon=True)
        self._thread.start()

    def _body(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        try:
            self._value = function(*args)
        except BaseException as error:
            self._error = error
        self.ended_at = time.monotonic()

    def join(self, patience: float = PATIENCE) -> None:
        """Wait until the call has ended; AssertionError if it has not after `patience` seconds."""
        self._thread.join(patience)
        assert not self._thread.is_alive(), f"a call hangs: no end after {patience:g} s"

    def value(self, patience: float = PATIENCE) -> Any:
        """Return what the call returned; raises what it raised."""
        self.join(patience)
        if self._error is not None:
            raise self._error
        return self._value

    def error(self, patience: float = PATIENCE) -> BaseException:
        """Return what the call raised; AssertionError if it returned."""
        self.join(patience)
        assert self._error is not None, f"a call that had to fail gave {self._value!r}"
        return self._error

    def seconds_after(self, moment: float) -> float:
        """Return how long after `moment` (`time.monotonic()`) the call ended."""
        assert self.ended_at is not None, "the call still runs"
        return self.ended_at - moment


def until(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> float:
    """Wait until `condition` holds.

    Args:
      condition: looked at every few milliseconds.
      what: comes true, for the message.
      patience: seconds.

    Returns:
      `time.monotonic()` at which it was seen to hold.

    Raises:
      AssertionError: it does not hold in time.
    """
    deadline = time.monotonic() + patience
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"it did not come true in {patience:g} s: {what}"
        pause.wait(PAUSE)
    return time.monotonic()
