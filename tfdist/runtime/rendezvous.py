"""Rendezvous: where what one task sends in a step waits for the task that receives it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tfdist.errors import OpError
from tfdist.graph.op_def import PENDING


class Rendezvous:
    """The values of one step on the task that sends them, by key; each is received once."""

    __slots__ = ("_error", "_lock", "_values", "_waiting")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[str, Any] = {}
        self._waiting: dict[str, Receive] = {}
        self._error: OpError | None = None

    def send(self, key: str, value: Any) -> None:
        """Leave `value` for whoever asks for `key`."""
        with self._lock:
            waiting = self._waiting.pop(key, None)
            if waiting is None:
                if self._error is None:  # else nobody will ask for it
                    self._values[key] = value
                return
        waiting.done(value)

    def receive(self, key: str) -> Receive:
        """Return the wait for the value of `key`."""
        return Receive(self, key)

    def begin(self, wait: Receive) -> Any:
        """Return the value if it is there, else `PENDING`, and remember `wait`."""
        with self._lock:
            if wait.key in self._values:
                return self._values.pop(wait.key)
            if self._error is not None:
                return self._error
            self._waiting[wait.key] = wait
            return PENDING

    def drop(self, wait: Receive) -> bool:
        """Forget `wait`; returns whether it was still waiting."""
        with self._lock:
            return self._waiting.pop(wait.key, None) is not None

    def abort(self, error: OpError) -> None:
        """End all waits, now and later, with `error`."""
        with self._lock:
            self._error = self._error or error
            waiting, self._waiting = list(self._waiting.values()), {}
        for wait in waiting:
            wait.done(error)


class Receive:
    """The wait for one value (a `graph.op_def.Wait`)."""

    __slots__ = ("_rendezvous", "done", "key")

    def __init__(self, rendezvous: Rendezvous, key: str) -> None:
        self._rendezvous, self.key = rendezvous, key
        self.done: Callable[[Any], None] = _nobody

    def start(self, done: Callable[[Any], None]) -> Any:
        """See `Wait.start`."""
        self.done = done
        return self._rendezvous.begin(self)

    def cancel(self) -> bool:
        """See `Wait.cancel`."""
        return self._rendezvous.drop(self)

    def describe(self) -> str:
        """Return what is waited for."""
        source, _, _, name, _ = self.key.split(";")
        return f"receive of {name} from {source}"


def _nobody(outcome: Any) -> None:
    """Stand in for a callback before there is one."""
