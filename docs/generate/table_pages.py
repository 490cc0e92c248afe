"""The reference of ops, magics, settings and commands, made of the tables that the code uses."""

from __future__ import annotations

import argparse
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

from traitlets import Undefined

from tfdist import ops
from tfdist.base.settings import BOUNDS, CHOICES
from tfdist.cli import main as cli
from tfdist.graph.op_def import REGISTRY
from tfdist.jupyter.extension import NOUNS
from tfdist.jupyter.reference import reference_table
from tfdist.jupyter.settings import TFDist
from tfdist.programs import op_table
from tfdist.wire.common.timeouts import Timeouts

WIDTH = 84  # of help texts
SIGNATURE = 76
EMPTY = {
    "gradient": "no rule",
    "since": "not in the versions looked at",
    "types": "those of the signature",
}


def pages() -> Iterator[tuple[str, str]]:
    """Yield (path, Markdown) of every page."""
    for letter, rows in groupby(op_table.rows(), lambda row: row.name[0].upper()):
        yield f"reference/ops/{letter}.md", "\n".join(_ops(letter, list(rows)))
    yield "reference/ops/index.md", "\n".join(_ops_index())
    yield "reference/magics.md", "\n".join(_magics())
    yield "reference/settings.md", "\n".join(_settings())
    yield "reference/command-line.md", "\n".join(_commands())


def _ops(letter: str, rows: list[op_table.Row]) -> Iterator[str]:
    yield f"# Ops: {letter}\n"
    for row in rows:
        yield f"## {row.name} {{#{row.name}}}\n"
        yield f"```text\n{_wrapped(str(REGISTRY[row.name].text))}\n```\n"
        for name in ("types", "devices", "gradient", "since"):
            yield f"- {name}: {getattr(row, name) or EMPTY.get(name, '')}"
        if file_of(row.name):
            yield f"- defined in `{file_of(row.name)}`"
        yield ""


@cache
def texts() -> dict[str, str]:
    """Return the text of each file of ops, by its path."""
    package = Path(ops.__file__).parent
    paths = sorted(package.rglob("*.py"))
    return {
        path.relative_to(package.parents[1]).as_posix(): path.read_text(encoding="utf-8")
        for path in paths
    }


def file_of(name: str) -> str:
    """Return the file that defines an op, "" if nothing tells.

    That in which its signature stands, or its name alone, as those of families made in a loop do;
    else that of its kernel or shape rule.
    """
    for sign in (f'"{name}(', f'"{name}"'):
        found = [path for path, text in texts().items() if sign in text]
        if len(found) == 1:
            return found[0]
    op_def = REGISTRY[name]
    rules = [*op_def.kernels.values(), op_def.shape_rule]
    modules = [rule.function.__module__ or "" for rule in rules if rule is not None]
    ours = [each for each in modules if each.startswith(ops.__name__)]
    return f"{ours[0].replace('.', '/')}.py" if ours else ""


def _wrapped(text: str) -> str:
    """Return a signature with outputs and attributes on lines of their own, none of them long."""
    parts = re.sub(r"\s*(->|\[(?=\w+:))", r"\n\1", text).splitlines()
    first, *others = (textwrap.wrap(part, SIGNATURE, subsequent_indent="    ") for part in parts)
    return "\n".join([*first, *(f"    {line}" for lines in others for line in lines)])


def _ops_index() -> Iterator[str]:
    rows, missing = op_table.rows(), op_table.left_out()
    known = len(op_table.since())
    there = known - sum(map(len, missing.values()))
    yield "# Ops\n"
    yield (
        f"{len(rows)} ops, among them {there} of the {known} of TensorFlow 1.15. *Gradient*: none "
        "means that nothing flows through the op. *Since*: the first version that has it; 0.12 may "
        "be an earlier one. `tf.raw_ops.NAME` makes a node of any.\n"
    )
    for letter, group in groupby(rows, lambda row: row.name[0].upper()):
        links = ", ".join(f"[{row.name}]({letter}.md#{row.name})" for row in group)
        yield f"**{letter}** {links}\n"
    yield "## Left out\n"
    yield "| why | ops of TensorFlow 1.15 |\n|---|---|"
    yield from (f"| {why} | {', '.join(names)} |" for why, names in missing.items())


def _magics() -> Iterator[str]:
    magics = _magic_functions()
    yield "# Magics\n"
    yield "`%load_ext tfdist` brings them; `%tfdist` shows this table, `-h` the help of each.\n"
    table = reference_table([magic for magic, _ in magics])
    yield "| magic | example | what it does |\n|---|---|---|"
    for name, example, purpose in table.rows:
        anchor = name.lstrip("%")
        yield f"| [`{name}`](#{anchor}) | `{_bar(example)}` | {_bar(purpose)} |"
    yield ""
    for magic, kinds in sorted(magics, key=lambda each: each[0].__name__):
        signs = " and ".join(f"`{sign}{magic.__name__}`" for sign in kinds)
        yield f"## {signs} {{#{magic.__name__}}}\n"
        yield f"```text\n{_help(magic.parser)}\n```\n"


def _magic_functions() -> list[tuple]:
    """Return (function, its signs) of each magic."""
    signs = {"line": "%", "cell": "%%"}
    found: dict[str, tuple] = {}
    for noun in NOUNS:
        for kind, names in noun.magics.items():
            for name, attribute in names.items():
                function = getattr(noun, attribute) if isinstance(attribute, str) else attribute
                found.setdefault(name, (function, []))[1].append(signs[kind])
    return list(found.values())


def _help(parser: argparse.ArgumentParser) -> str:
    parser.formatter_class = _wide(parser.formatter_class)
    return parser.format_help().replace("::\n", "").strip()


def _wide(form: type) -> type:
    """Return a formatter whose lines do not depend on the terminal that builds the site."""

    class Wide(form):  # type: ignore[misc]
        def __init__(self, prog: str, **options) -> None:
            super().__init__(prog, **{**options, "width": WIDTH})

    return Wide


def _settings() -> Iterator[str]:
    yield "# Settings of the magics\n"
    yield "`%config TFDist` shows them, `%config TFDist.theme = 'dark'` changes one.\n"
    yield "| setting | may be | without it | what for |\n|---|---|---|---|"
    for name, trait in sorted(TFDist.class_own_traits(config=True).items()):
        may_be = ", ".join(map(str, getattr(trait, "values", None) or [trait.info()]))
        default = trait.default_value
        if default is Undefined:  # told by the environment
            default = trait.values[0]
        yield f"| `{name}` | {may_be} | `{default}` | {_bar(trait.help)} |"
    yield "\n## Waits\n"
    yield (
        "`TFDIST_TIMEOUTS`, such as `connect=1,session=60`, changes them for a process; all are "
        "seconds. What each is:\n"
    )
    yield "| wait | seconds |\n|---|---|"
    yield from (f"| `{name}` | {value:g} |" for name, value in Timeouts()._asdict().items())
    attributes = inspect.getdoc(Timeouts).partition("Attributes:\n")[2]
    yield "\n" + "\n".join(f"- {_first_as_code(line)}" for line in attributes.splitlines())
    yield "\n## Environment variables that choose between ways\n"
    yield "What each means is told in [environment variables](environment.md).\n"
    yield "| variable | may be | without it |\n|---|---|---|"
    for name, choices in CHOICES.items():
        yield f"| `{name}` | {', '.join(choices)} | `{choices[0]}` |"
    for name, value in BOUNDS.items():
        yield f"| `{name}` | a whole number above 0 | `{value}` |"


def _first_as_code(line: str) -> str:
    name, _, told = line.strip().partition(": ")
    return f"`{name}`: {told}"


def _commands() -> Iterator[str]:
    parser = cli.parser()
    yield "# Command line\n"
    yield f"```text\n{_help(parser)}\n```\n"
    (commands,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    for name, command in commands.choices.items():
        yield f"## tfdist {name}\n"
        yield f"```text\n{_help(command)}\n```\n"


def _bar(text: str) -> str:
    return text.replace("|", "\\|")
