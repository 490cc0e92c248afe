"""Critical sections and Ctrl-C: what must not be torn apart is interrupted at its end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType, TracebackType
from typing import Any

try:  # what `signal` wraps; its names for numbers take twenty times as long as the call itself
    import _signal as signals  # type: ignore[import-not-found]
except ImportError:
    signals = signal

# Seconds that a wait takes at most. A signal that comes just before a thread falls asleep does not
# wake it: its handler runs only when Python code runs again.
LOOK_UP = 0.25
PATIENCE = 0.5  # seconds that Ctrl-C may wait to hear what the step waits for

_SIGINT = int(signal.SIGINT)
_MAIN = threading.main_thread().ident

_active: list[Any] = []  # the contexts that defer, of the main thread
_askers: list[Callable[[], list[str]]] = []  # who knows what steps wait for


def ask_at_interrupts(asker: Callable[[], list[str]]) -> Callable[[], None]:
    """Let `asker` say what steps wait for when Ctrl-C ends one; returns a function to undo that.

    A notebook wants that, which shows it below the error. It runs on a thread of its own.
    """
    _askers.append(asker)

    def undo() -> None:
        if asker in _askers:
            _askers.remove(asker)

    return undo


def interruption() -> KeyboardInterrupt:
    """Return the error of a step that Ctrl-C ends; `waits` are lines that say what it waits for."""
    error: Any = KeyboardInterrupt()
    found: list[str] = []
    error.waits = found
    if _askers:
        # this may be a signal handler, in whose thread locks may be held: it cannot ask by itself
        thread = threading.Thread(target=_ask, args=(found,), name="tfdist-asks", daemon=True)
        thread.start()
        thread.join(PATIENCE)
    return error  # type: ignore[no-any-return]


def _ask(found: list[str]) -> None:
    for asker in _askers[-1:]:
        found += asker()


def told_interrupts() -> AbstractContextManager[None]:
    """Let Ctrl-C raise `interruption()` inside, at once; for a wait that may be given up."""
    return deferred_interrupts(_interrupt) if _askers else nullcontext()


def _interrupt() -> None:
    raise interruption()


@contextmanager
def allowed_interrupts() -> Iterator[None]:
    """Inside `deferred_interrupts`, let SIGINT raise at once: for a wait that may be given up."""
    if threading.get_ident() != _MAIN or not _active:
        yield
        return
    deferring = _active[-1]
    signals.signal(_SIGINT, signal.default_int_handler)
    try:
        if deferring._came:
            deferring._came = False
            raise KeyboardInterrupt
        yield
    finally:
        signals.signal(_SIGINT, deferring._handle)


class deferred_interrupts:
    """While the context lasts, SIGINT does not raise where it happens to be.

    Python runs signal handlers on the main thread only; elsewhere, and where the program has a
    handler of its own, nothing is changed. Pressed twice, Ctrl-C raises at once.

    Args:
      told: called instead; without it, KeyboardInterrupt is raised at the end of the context.
    """

    __slots__ = ("_came", "_installed", "_told")

    def __init__(self, told: Callable[[], None] | None = None) -> None:
        self._told = told
        self._came = self._installed = False

    def __enter__(self) -> None:
        if (
            threading.get_ident() == _MAIN
            and signals.getsignal(_SIGINT) is signal.default_int_handler
        ):
            signals.signal(_SIGINT, self._handle)
            self._installed = True
            _active.append(self)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._came:  # pressed twice: the user wants out, whatever is lost
            raise KeyboardInterrupt
        self._came = True
        if self._told is not None:
            self._told()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._installed:
            _active.remove(self)
            signals.signal(_SIGINT, signal.default_int_handler)
        if self._came and self._told is None and error is None:
            raise KeyboardInterrupt
