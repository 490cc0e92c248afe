"""What the parsing of a magic's line leaves behind when Ctrl-C comes in its middle."""

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.jupyter.arguments import parse

LINE = "start ps=1 --often 3 worker=3"


def new_magic() -> Any:
    """Return a magic whose parser has parsed nothing yet: the first line changes it most."""

    @magic_arguments()
    @argument("--help", action="store_true")
    @argument("--often", type=int)
    @argument("verb")
    @argument("jobs", nargs="*")
    def magic(line: str) -> None:
        """Do nothing."""

    return magic


@contextmanager
def each_line(told: Callable[[], object]) -> Iterator[None]:
    """Call `told` before each line of argparse that runs."""

    def on_line(frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            told()
        return on_line

    def on_call(frame: Any, event: str, argument: Any) -> Any:
        return on_line if frame.f_code.co_filename == argparse.__file__ else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        yield
    finally:
        sys.settrace(before)


class CtrlC:
    """A signal that comes once, at a line of the program.

    Args:
      line: number of lines that run before it.
    """

    def __init__(self, line: int) -> None:
        self.left = line

    def __call__(self) -> None:
        """Count one line, and send the signal if it is the one."""
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)


def test_ctrl_c_at_any_line_is_heard_and_leaves_the_parser_as_it_was():
    magic, count = new_magic(), CtrlC(-1)
    with each_line(count):
        wanted = parse(magic, LINE)
    lines = -1 - count.left
    assert lines > 500
    for line in range(1, lines, 5):
        magic = new_magic()
        with pytest.raises(KeyboardInterrupt), each_line(CtrlC(line)):
            parse(magic, LINE)
        assert parse(magic, LINE) == wanted
