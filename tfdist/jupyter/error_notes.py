"""What stands below an error in a cell: where its node was made, what it waited for, what helps."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from typing import Any

from tfdist import errors
from tfdist.errors import OpError

Place = tuple[str, int]  # file and line

_AROUND = 2  # lines of the program above the one that is meant

# (class, words of its message, what to do); the first that fits says it.
_NEXT: tuple[tuple[type[OpError], str, str], ...] = (
    (
        errors.InvalidArgumentError,
        "available devices are [ /job:localhost/",
        "a session without target has the devices of this process only; "
        "tf.Session(cluster.target()) has those of a cluster",
    ),
    (
        errors.InvalidArgumentError,
        "Cannot assign a device",
        "%cluster tells which tasks there are, %placement where each node would go",
    ),
    (
        errors.UnavailableError,
        "by %cluster ",
        "%cluster faults tells what is disturbed, %cluster heal ends all of it; then run the step "
        "again",
    ),
    (
        errors.DeadlineExceededError,
        "by %cluster ",
        "%cluster faults tells what is disturbed, %cluster heal ends all of it",
    ),
    (
        errors.UnavailableError,
        "/task:",
        "%cluster tells which tasks are up; %cluster restart {task} starts one of a cluster of "
        "processes anew. Then initialise its variables, or restore them from a checkpoint",
    ),
    (errors.UnavailableError, "", "%cluster tells which tasks are up"),
    (
        errors.AbortedError,
        "",
        "in a new session variables of a task that was started anew have to be initialised, or "
        "restored from a checkpoint",
    ),
    (
        errors.DeadlineExceededError,
        "it waits for",
        "%why, while it waits, tells who could give it; tf.RunOptions(timeout_in_ms=...) sets "
        "the time",
    ),
    (errors.CancelledError, "session", "open a new session"),
    (
        errors.OutOfRangeError,
        "",
        "the data have ended: `except tf.errors.OutOfRangeError` ends a loop over them; run the "
        "iterator's initializer, or fill a new queue, to begin again",
    ),
    (
        errors.ResourceExhaustedError,
        "",
        "feed less at a time, or %cluster stop and start, which lets go of all state",
    ),
    (
        errors.InternalError,
        "",
        "this is a defect of tfdist; please report it with this text",
    ),
)
_TASK = re.compile(r"/job:(\w+)(?:/replica:\d+)?/task:(\d+)")


def notes_of(error: BaseException, shown: Place | None = None) -> Iterator[str]:
    """Yield what is to be said below an error.

    Args:
      error: that was raised.
      shown: file and line that the traceback ends with, which need not be shown again.
    """
    if isinstance(error, KeyboardInterrupt):
        yield from _interrupted(error)
    elif isinstance(error, OpError):
        yield from _made(error.op, shown)
        yield from _what_next(error)


def _interrupted(error: BaseException) -> Iterator[str]:
    waits = getattr(error, "waits", ())
    if waits:
        yield f"When it was interrupted the step waited for: {'; '.join(waits)}."


def _made(op: Any, shown: Place | None) -> Iterator[str]:
    """Yield the lines of the cell, or file, that made a node."""
    for file, line, _, source in getattr(op, "traceback", ())[-1:]:
        if source and (file, line) != shown:
            yield f"{op.name} ({op.type}) was made in {_place(file, line)}:\n{_lines(file, line)}"


def _place(file: str, line: int) -> str:
    """Return "In [3], line 4" for a cell."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    named = shell.compile.format_code_name(file) if shell is not None else None
    where = named[1].replace("In[", "In [") if named and named[0] == "Cell" else file
    return f"{where}, line {line}"


def _lines(file: str, line: int) -> str:
    width = len(str(line))
    numbers = range(max(1, line - _AROUND), line + 1)
    return "\n".join(
        f"{'---->' if number == line else '     '} {number:>{width}} "
        f"{linecache.getline(file, number).rstrip()}"
        for number in numbers
    )


def _what_next(error: OpError) -> Iterator[str]:
    for kind, words, advice in _NEXT:
        if isinstance(error, kind) and words in error.message:
            found = _TASK.search(error.message)
            task = f"{found[1]}:{found[2]}" if found else ""
            yield f"What next: {advice.replace('{task}', task)}."
            return
