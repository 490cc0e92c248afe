"""What the log of a process that crashed tells: the op whose kernel it was in.

A crash is a signal that the process itself caused, in code of C. `faulthandler`, which
`trace_crashes` turns on in every server, writes then to the log what each thread was at.
"""

from __future__ import annotations

import faulthandler
import re
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, NamedTuple

from tfdist.graph.op_def import REGISTRY, OpDef

SIGNALS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT")
_BEGIN = "Fatal Python error: "
_CURRENT = re.compile(r"^Current thread .*\n((?:  File .*\n?)*)", re.MULTILINE)
_FRAME = re.compile(
    r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$', re.MULTILINE
)
_STDERR = 2
_MOST_OPS = 2  # more than these share their kernels' code, and none of them is named
_DEEPEST = 4  # functions inside functions that a kernel is looked for in


def trace_crashes() -> None:
    """Let this process write what its threads are at to standard error, if it should crash."""
    if not faulthandler.is_enabled():
        faulthandler.enable(file=_STDERR)


class Frame(NamedTuple):
    """One line of a traceback."""

    file: str
    line: int
    function: str


def frames_of(log: str) -> list[Frame]:
    """Return what the thread that crashed was at, the innermost first; nothing if none crashed.

    Args:
      log: what the process wrote.
    """
    begin = log.rfind(_BEGIN)
    current = _CURRENT.search(log, begin) if begin >= 0 else None
    if current is None:
        return []
    found = _FRAME.finditer(current[1])
    return [Frame(each["file"], int(each["line"]), each["function"]) for each in found]


def place_of(frames: list[Frame]) -> str:
    """Return the op whose kernel it was, or the function of that, "" if it was in none."""
    ops = {name: _matches(op_def, frames) for name, op_def in REGISTRY.items()}
    most = max(ops.values(), default=0)
    named = [name for name, count in ops.items() if count == most]
    if most and len(named) <= _MOST_OPS:
        return " or ".join(named)
    return next((_told(each) for each in frames if "/tfdist/ops/" in each.file), "")


def _told(frame: Frame) -> str:
    file = frame.file.rpartition("/tfdist/")[2]
    return f"{frame.function} (tfdist/{file}, line {frame.line})"


def _matches(op_def: OpDef, frames: list[Frame]) -> int:
    """Return in how many functions of an op's kernels these frames are."""
    kernels = [rule.function for rule in op_def.kernels.values()]
    codes = {code for kernel in kernels for code in _codes(kernel, _DEEPEST)}
    return sum(any(_is_in(frame, code) for frame in frames) for code in codes)


def _codes(function: Any, depth: int) -> Iterator[CodeType]:
    """Yield the code of a function, and of those that it was made with."""
    if isinstance(getattr(function, "__code__", None), CodeType):
        yield function.__code__
    for inner in _made_with(function) if depth else ():
        yield from _codes(inner, depth - 1)


def _made_with(function: Any) -> Iterator[Callable[..., Any]]:
    cells = getattr(function, "__closure__", None) or ()
    parts = getattr(function, "func", None), *getattr(function, "args", ())  # of a `partial`
    for each in (*(cell.cell_contents for cell in cells), *parts):
        if callable(each):
            yield each


def _is_in(frame: Frame, code: CodeType) -> bool:
    lines = [line for _, _, line in code.co_lines() if line is not None]
    return (
        (frame.file, frame.function) == (code.co_filename, code.co_name)
        and min(lines) <= frame.line <= max(lines)
    )  # fmt: skip
