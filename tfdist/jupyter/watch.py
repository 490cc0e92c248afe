"""Saying what a run waits for, while it waits.

A thread of its own looks now and then at the steps in progress; most runs have ended before it
looks for the first time, and then nothing is shown. What is shown is one line, which is gone when
the run has ended. The thread never prints: where its output lands depends on the version of
ipykernel. It updates one display, in the context of the cell that started it.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from IPython.display import DisplayHandle

from tfdist.jupyter.bundles import Bundle, sentence_bundle
from tfdist.launch.why import report
from tfdist.session.connection import graph_of_session
from tfdist.tracing.why import explain

EVERY = 1.0  # seconds between two looks


@contextmanager
def watched(after: float, show: Callable[[Bundle, str | None], str]) -> Iterator[None]:
    """Show what runs inside the context wait for.

    Args:
      after: seconds before the first look; nothing is shown if it is negative.
      show: displays a bundle, in the place of the one it returned the name of if that is given.
    """
    if after < 0:
        yield
        return
    stopped = threading.Event()
    context = contextvars.copy_context()
    thread = threading.Thread(
        target=context.run, args=(_look_on, after, stopped, show), daemon=True, name="tfdist-watch"
    )
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def show_in_place(bundle: Bundle, name: str | None) -> str:
    """Display a bundle, or put it in the place of an earlier one; return the place's name."""
    handle = DisplayHandle(name)
    (handle.update if name else handle.display)(bundle.data, raw=True)
    return handle.display_id


@contextmanager
def told_in_place(is_wanted: bool = True) -> Iterator[Callable[[str], None]]:
    """Yield what shows a sentence, in the place of the one before, with the time so far."""
    started = time.monotonic()
    name, last = None, ""

    def tell(sentence: str) -> None:
        nonlocal name, last
        last = sentence
        if is_wanted:
            seconds = time.monotonic() - started
            name = show_in_place(sentence_bundle(f"{sentence}; {seconds:.0f} s so far"), name)

    yield tell
    if name:
        seconds = time.monotonic() - started
        show_in_place(sentence_bundle(f"{last}; {seconds:.1f} s in all"), name)


def waits(least: float = 0.0) -> list[str]:
    """Return what the steps of this process's sessions wait for, a line each; then deadlocks.

    Whoever runs them: a thread that fills a queue is often why another one waits.

    Args:
      least: seconds that a step has run; of a step that was begun later nothing is told.
    """
    told = report()
    found, late = explain(told), {step.step for step in told.steps if step.seconds < least}
    ours = [
        row
        for row in found.told()
        if graph_of_session(row.session) is not None and row.wait.step not in late
    ]
    lines = [f"{row.wait.node}: {row.wait.text}" for row in ours]
    return [*lines, *found.deadlocks] if ours else lines


def _look_on(
    after: float, stopped: threading.Event, show: Callable[[Bundle, str | None], str]
) -> None:
    started = time.monotonic()
    name = None
    pause = after
    while not stopped.wait(pause):
        pause = EVERY
        if lines := waits(after / 2):  # of many short steps each waits for a moment
            more = f" (and {len(lines) - 1} more: %why)" if len(lines) > 1 else ""
            seconds = time.monotonic() - started
            text = f"{seconds:.0f} s so far; waiting: {lines[0]}{more}. Kernel > Interrupt ends it."
            name = show(sentence_bundle(text), name)
    if name:  # what a run waited for on its way, its result need not say
        show(Bundle({"text/plain": ""}), name)
