"""Code of a line or a cell, run one or more times while its sessions are traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base.extras import is_there
from tfdist.jupyter.cells import run_code
from tfdist.jupyter.progress import new_progress
from tfdist.jupyter.sessions import session_for
from tfdist.jupyter.trace import Trace, is_fetchable, trace_call
from tfdist.jupyter.watch import show_in_place, watched

LONG = 2.0  # seconds of repeated runs after which it is shown how far they are


def traced_code(
    shell: Any,
    code: str,
    repeat: int,
    target: str | None,
    watch_after: float,
    tell: Callable[[Trace], None] = lambda found: None,
) -> tuple[Any, Trace]:
    """Return the last value of code, and what happened in the sessions that it ran.

    Args:
      shell: IPython's.
      code: an expression whose value is fetched in a session if it can be, or other code.
      repeat: how many times it is run.
      target: of the session that fetches; None for the user's own.
      watch_after: seconds after which it is shown what a run waits for.
      tell: gets the trace, also if the code raises.
    """
    __tracebackhide__ = True

    def call() -> Any:
        __tracebackhide__ = True
        if target is None:
            return _repeated(shell, code, repeat)
        with session_for(None, target) as session, session.as_default():
            return _repeated(shell, code, repeat)

    with watched(watch_after, show_in_place):
        return trace_call(call, tell)


def runner(shell: Any, code: str, target: str | None) -> Callable[[], Any]:
    """Return a function that runs code once, as `traced_code` does, and traces nothing."""

    def run() -> Any:
        if target is None:
            return _run(shell, code)
        with session_for(None, target) as session, session.as_default():
            return _run(shell, code)

    return run


def _repeated(shell: Any, code: str, count: int) -> Any:
    """Run code some times, one or more, and return the last value."""
    __tracebackhide__ = True
    if count == 1 or not is_there("tqdm"):
        return [_run(shell, code) for _ in range(count)][-1]
    bar = new_progress(total=count, unit=" runs", delay=LONG)
    try:
        for _ in range(count):
            value = _run(shell, code)
            bar.update()
        bar.leave = False  # what is shown of the runs says it all
        return value
    finally:
        bar.close()  # after Ctrl-C it says how many there were


def _run(shell: Any, code: str) -> Any:
    """Return the value of `code`; if that is something to fetch, its value in a session."""
    __tracebackhide__ = True
    value = run_code(shell, code)
    if not is_fetchable(value):
        return value
    with session_for(value) as session:
        return session.run(value)
