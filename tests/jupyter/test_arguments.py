"""The parsing of a magic's line: what is wrong with it, and Ctrl-C in its middle."""

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from IPython.core.error import UsageError
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


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "%graph --save",
            "%graph --save needs FILE: F.png, F.svg, F.dot or F.pb (GraphDef); %graph",
        ),
        ("%timeline 5", "%timeline: '5' is no name for a variable; %timeline -h"),
        ("%queues --interval x", "%queues --interval: 'x' is not a number of seconds; %queues -h"),
        ("%graph --by age", "%graph --by: invalid choice: 'age' (choose from "),
        ("%placement --plan c", "%placement has no option --plan; there are --open, --runs"),
        ("%timeline --stap 1", "%timeline has no option --stap; did you mean --step?"),
        ("%%on\n1", "%%on needs tasks: worker:1 ps:0; one after the other; %%on -h"),
        ("%%on --nam\n1", "%%on --name needs a value: name of the cluster; by default the last"),
    ],
)
def test_what_is_wrong_names_the_magic_what_it_wants_and_where_more_is_told(notebook, line, told):
    with pytest.raises(UsageError) as raised:
        notebook.run(line)
    assert str(raised.value).startswith(told)


def test_help_is_shown_whatever_else_is_missing(notebook, capsys):
    for line in ("%%on -h\n1", "%graph --save -h", "%cluster -h", "%%trace --help\n1"):
        notebook.run(line)
        assert "show this help" in capsys.readouterr().out
    assert "  %%on [--name NAME]" in notebook.shell.find_cell_magic("on").__doc__
