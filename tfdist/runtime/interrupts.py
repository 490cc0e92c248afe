"""Ctrl-C without loss: a step that changes state is interrupted between its units or in a wait."""

from __future__ import annotations

import signal
import threading
from typing import Any

_MAIN = threading.main_thread().ident


class deferred_interrupts:
    """While the context lasts, SIGINT aborts `step` instead of raising where it happens to be.

    Python runs signal handlers on the main thread only; elsewhere, and where the program has a
    handler of its own, nothing is changed. An interrupt that comes when the step is through
    is raised at the end.
    """

    __slots__ = ("_came", "_installed", "_step")

    def __init__(self, step: Any) -> None:
        self._step = step
        self._came = self._installed = False

    def __enter__(self) -> None:
        if (
            threading.get_ident() == _MAIN
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            signal.signal(signal.SIGINT, self._handle)
            self._installed = True

    def _handle(self, number: int, frame: Any) -> None:
        if self._came:  # pressed twice: the user wants out, whatever is lost
            raise KeyboardInterrupt
        self._came = True
        self._step.abort(KeyboardInterrupt())

    def __exit__(self, *_: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
