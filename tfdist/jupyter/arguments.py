"""Arguments of magics: options that several share, and lines that mix options with code."""

from __future__ import annotations

import difflib
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument
from IPython.utils.process import arg_split

from tfdist.runtime.step.interrupts import deferred_interrupts

Decorator = Callable[[Any], Any]
T = TypeVar("T")

_TOKEN = re.compile(r"\s*(\"[^\"]*\"|'[^']*'|\S+)")


def unquoted(text: str) -> str:
    """Return an argument without its quotes, which IPython leaves on."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def variable(text: str) -> str:
    """Return the name of a variable; an error for what cannot be one."""
    if not text.isidentifier():
        raise ArgumentTypeError(f"{text!r} is no name for a variable")
    return text


def argument_type(read: Callable[[str], T]) -> Callable[[str], T]:
    """Return `read` as the type of an argument: what it says of a wrong text is shown."""

    def typed(text: str) -> T:
        try:
            return read(text)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from None

    return typed


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
    "--save",
    type=unquoted,
    metavar="FILE",
    help="write the picture (F.png, F.svg) or the step: F.json for Perfetto, F.tfevents for "
    "TensorBoard",
)


save_shown_option: Decorator = argument(
    "--save",
    type=unquoted,
    metavar="FILE",
    help="write what is shown: F.png or F.svg where there is a picture, F.html, F.txt",
)


def seconds(text: str) -> float:
    """Return the seconds that `text` says, if they are more than none."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number of seconds")
    return found


def watch_options(magic: Any) -> Any:
    """Add --watch, --interval and --for; see `check_watch`."""
    text = "seconds between two looks; 0.2 by default, and at least"
    magic = argument("--interval", type=seconds, default=0.2, metavar="SECONDS", help=text)(magic)
    text = "seconds to watch; the cell waits. By default until panel.close(), Ctrl-C or the end"
    magic = argument("--for", dest="seconds", type=seconds, metavar="SECONDS", help=text)(magic)
    text = "show it while it goes on, in the variable panel; other cells can run"
    return argument("--watch", action="store_true", help=text)(magic)


def check_watch(arguments: Any, magic: str) -> None:
    """Raise UsageError if how to watch is said, but not --watch."""
    follows = getattr(arguments, "follow", False)
    if arguments.seconds is not None and not (arguments.watch or follows):
        raise UsageError(f"{magic}: --for {arguments.seconds:g} is for --watch: add it")
    if arguments.watch and arguments.save and arguments.seconds is None:
        how = "--save" if magic.endswith("stream") else "--save with --watch"
        raise UsageError(f"{magic}: {how} needs --for SECONDS: when is it written?")


def meant(word: str, known: Sequence[str], others: Mapping[str, str] = {}) -> str:
    """Return which known word is meant by one that is not known, or "".

    Args:
      word: as it was typed.
      known: words.
      others: what words of other programs are called here.
    """
    begun = [each for each in known if each.startswith(word)]
    near = difflib.get_close_matches(word, known, 1)
    return next(iter([*filter(None, [others.get(word)]), *begun, *near]), "")


def parse(magic: Any, line: str) -> Any:
    """Return the arguments in `line`, or None when they asked for help, which is printed.

    Raises:
      UsageError: an argument is unknown or wrong.
    """
    # intermixed: options may stand between the words, as in "start ps=1 --replace worker=2"
    # argparse changes the magic's own parser for that, and would leave it so in the middle
    options, name = magic.parser._option_string_actions, magic_name(magic)
    for token in arg_split(line):
        word = token.partition("=")[0]
        if re.fullmatch(r"--[A-Za-z][\w-]*", word) and not any(
            each.startswith(word) for each in options
        ):
            raise UsageError(_no_option(magic, word))
    try:
        with deferred_interrupts():
            arguments = magic.parser.parse_intermixed_args(arg_split(line))
    except UsageError as error:
        if not {"-h", "--help"} & set(arg_split(line)):
            raise UsageError(f"{name}{_worded(magic.parser, str(error))}; {name} -h") from None
        arguments = None  # whatever is missing or wrong besides
    if arguments is None or arguments.help:
        print(magic.__doc__.removeprefix("::\n\n"))
        return None
    return arguments


def cell_only(magic: Any) -> Any:
    """Mark a magic of cells alone: it is called, and shown in its help, with %%."""
    magic.shown = f"%%{magic.__name__}"
    magic.__doc__ = magic.__doc__.replace(f"  %{magic.__name__}", f"  {magic.shown}", 1)
    return magic


def magic_name(magic: Any) -> str:
    """Return a magic's name as it is typed."""
    return str(getattr(magic, "shown", f"%{magic.__name__}"))


def _worded(parser: Any, message: str) -> str:
    """Return what argparse found wrong, as it follows a magic's name."""
    if missing := re.fullmatch(r"the following arguments are required: (.+)", message):
        wanted = [each for each in parser._actions if each.dest in missing[1].split(", ")]
        return " needs " + ", ".join(f"{each.dest}: {each.help}" for each in wanted)
    if found := re.fullmatch(r"argument ([^:]+): (.*)", message, re.DOTALL):
        option = parser._option_string_actions.get(found[1].split("/")[-1])
        if option is None:
            return f": {found[2]}"
        name = option.option_strings[-1]
        if found[2] == "expected one argument":
            return f" {name} needs {option.metavar or 'a value'}: {option.help}"
        return f" {name}: {found[2]}"
    return f": {message}"


def parse_before_code(magic: Any, line: str) -> tuple[Any, str]:
    """Return (arguments, code): options come first, and what is none begins the code."""
    end = _end_of_options(magic.parser, line)
    code = re.sub(r"^\s*--\s", "", line[end:]).strip()
    word = re.match(r"\s*(--[A-Za-z][\w-]*)", line[end:])
    if word:
        name = magic.__name__
        hint = f" (code that begins so: %{name} -- {word[1]} ...)"
        raise UsageError(f"{_no_option(magic, word[1])}{hint}")
    return parse(magic, line[:end]), code


def _no_option(magic: Any, word: str) -> str:
    options = [name for name in magic.parser._option_string_actions if name.startswith("--")]
    near = meant(word.lstrip("-"), [each.lstrip("-") for each in options])
    hint = f"did you mean --{near}?" if near else f"there are {', '.join(options)}"
    return f"{magic_name(magic)} has no option {word}; {hint}"


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
