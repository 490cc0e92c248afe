"""Arguments of magics: options that several share, and lines that mix options with code."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument
from IPython.utils.process import arg_split

Decorator = Callable[[Any], Any]

_TOKEN = re.compile(r"\s*(\"[^\"]*\"|'[^']*'|\S+)")


def unquoted(text: str) -> str:
    """Return an argument without its quotes, which IPython leaves on."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def variable(text: str) -> str:
    """Return the name of a variable; an error for what cannot be one."""
    if not text.isidentifier():
        raise ArgumentTypeError(f"{text!r} is no name for a variable")
    return text


def positive(text: str) -> int:
    """Return the number that `text` says, if it is one or more."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a number of one or more")
    return int(text)


def natural(text: str) -> int:
    """Return the number that `text` says, if it is zero or more."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a number of zero or more")
    return int(text)


help_option: Decorator = argument("-h", "--help", action="store_true", help="show this help")


def output_options(what: str) -> Decorator:
    """Return a decorator that adds -o, -q and -h; `what` is what -o keeps."""

    def add(magic: Any) -> Any:
        magic = help_option(magic)
        magic = argument("-q", "--quiet", action="store_true", help="display nothing")(magic)
        text = f"variable for {what}"
        return argument("-o", "--output", metavar="VAR", type=variable, help=text)(magic)

    return add


target_option: Decorator = argument(
    "-t",
    "--target",
    type=unquoted,
    metavar="TASK",
    help="task of the session: worker:1, /job:worker/task:1, grpc://HOST:PORT or local; by "
    "default the default session, or one on the first worker of the cluster started last",
)
gpus_option: Decorator = argument(
    "--gpus",
    type=natural,
    metavar="N",
    help="simulated GPUs of each task, for lessons without a card: they compute on the CPU",
)
save_option: Decorator = argument(
    "--save", type=unquoted, metavar="FILE", help="write the timeline: F.json (Perfetto) or F.png"
)


def parse(magic: Any, line: str) -> Any:
    """Return the arguments in `line`, or None when they asked for help, which is printed.

    Raises:
      UsageError: an argument is unknown or wrong.
    """
    # intermixed: options may stand between the words, as in "start ps=1 --replace worker=2"
    arguments = magic.parser.parse_intermixed_args(arg_split(line))
    if arguments.help:
        print(magic.parser.format_help().removeprefix("::\n\n"))
        return None
    return arguments


def parse_before_code(magic: Any, line: str) -> tuple[Any, str]:
    """Return (arguments, code): options come first, and what is none begins the code."""
    end = _end_of_options(magic.parser, line)
    code = re.sub(r"^\s*--\s", "", line[end:]).strip()
    return parse(magic, line[:end]), code


def _end_of_options(parser: Any, line: str) -> int:
    end, takes_value = 0, False
    while token := _TOKEN.match(line, end):
        name, equals, _ = token[1].partition("=")
        action = parser._option_string_actions.get(name)
        if not takes_value and (action is None or token[1] == "--"):
            break
        takes_value = not takes_value and not equals and action.nargs != 0
        end = token.end()
    if takes_value:
        raise UsageError(f"{line.split()[-1]} needs a value; %{parser.prog.lstrip('%')} -h")
    return end
