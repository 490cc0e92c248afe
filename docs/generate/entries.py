"""How one function or class is described: its signature, and its docstring's sections as Markdown.

Functions are looked at as they are at run time: many are made by other functions, and no reader of
sources finds those.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from griffe import Docstring, DocstringSectionKind, Parser

import tfdist

PACKAGE = Path(tfdist.__file__).parent
WIDTH = 92  # of a signature's line

_Section = Any


def entry(path: str, value: Any, level: int = 2) -> str:
    """Return the Markdown of a function or class, under a heading whose anchor is its path."""
    lines = [f"{'#' * level} {path.rpartition('.')[2]} {{#{path}}}", ""]
    lines += ["```python", signature(path, value), "```", ""]
    lines += sections(own_doc(value))
    if inspect.getmodule(value) is not None:
        lines += [f"*Defined in* `{file_of(value)}`", ""]
    if inspect.isclass(value):
        lines += list(_members(value))
    return "\n".join(lines) + "\n"


def file_of(value: Any) -> str:
    """Return the file that defines a function or class of ours: "tfdist/ops/nn/softmax.py"."""
    path = Path(inspect.getmodule(value).__file__)
    return path.relative_to(PACKAGE.parent).as_posix()


def own_doc(value: Any) -> str:
    """Return the docstring of a value; a class's own and not that of `object`."""
    text = inspect.getdoc(value) or ""
    return "" if text == inspect.getdoc(object) else text


def signature(path: str, value: Any) -> str:
    """Return how a function or class is called, on as many lines as it takes."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return path
    parameters = [each.replace(annotation=each.empty) for each in found.parameters.values()]
    bare = found.replace(parameters=parameters, return_annotation=found.empty)
    return _on_lines(f"{path}{_without_addresses(str(bare))}", path, bare)


def _on_lines(text: str, path: str, bare: inspect.Signature) -> str:
    if len(text) <= WIDTH:
        return text
    single = [str(bare.replace(parameters=[each]))[1:-1] for each in bare.parameters.values()]
    single = [_without_addresses(each.replace(", /", "")) for each in single]
    starred = [each for each in single if each not in ("*", "/")]
    return f"{path}(\n" + "".join(f"    {each},\n" for each in starred) + ")"


def _without_addresses(text: str) -> str:
    """Return a signature whose defaults read as names: "<function relu at 0x7f..>" as "relu"."""
    text = re.sub(
        r"<(?:function|class|bound method) '?([\w.<>]*?)'?(?: at 0x\w+| of .*?)?>", r"\1", text
    )
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def sections(text: str) -> list[str]:
    """Return the Markdown of a docstring of Google's form."""
    parsed = Docstring(text).parse(Parser.google, warnings=False)
    return [line for section in parsed for line in _WRITERS[section.kind](section)]


def _text(section: _Section) -> Iterator[str]:
    yield from (_literal_blocks(section.value), "")


def _literal_blocks(text: str) -> str:
    """Return `text` with "::" and indented programs as Markdown has them."""
    return re.sub(r"::\s*$", ":", text, flags=re.MULTILINE)


def _items(title: str) -> Callable[[_Section], Iterator[str]]:
    def write(section: _Section) -> Iterator[str]:
        yield f"**{title}**\n"
        for each in section.value:
            yield f"- `{each.name}`: {_inline(each.description)}"
        yield ""

    return write


def _returns(section: _Section) -> Iterator[str]:
    yield "**Returns**\n"
    for each in section.value:
        named = [part for part in (each.name, each.annotation) if part]
        told = ": ".join([*map(str, named), each.description])
        yield f": {_inline(told)}"
    yield ""


def _raises(section: _Section) -> Iterator[str]:
    yield "**Raises**\n"
    for each in section.value:
        yield f"- `{each.annotation}`: {_inline(each.description)}"
    yield ""


def _examples(section: _Section) -> Iterator[str]:
    for kind, text in section.value:
        if kind is DocstringSectionKind.examples:
            yield f"```pycon\n{text}\n```\n"
        else:
            yield f"{text}\n"


def _admonition(section: _Section) -> Iterator[str]:
    """Write a section that has a title of its own, such as "Example:" and "Source:"."""
    title, body = section.title or "", section.value.description
    yield f"**{title}**\n"
    yield _program(body) if title.startswith("Example") else f"{body}\n"


def _program(text: str) -> str:
    """Return an example: words before it, and the lines of a session as a block."""
    said, found, session = text.partition(">>>")
    return f"{said}\n\n```pycon\n{found}{session}\n```\n" if found else f"{text}\n"


def _inline(text: str) -> str:
    """Return a description that may have several lines as an item's text."""
    return " ".join(text.split())


_WRITERS: dict[DocstringSectionKind, Callable[[_Section], Iterator[str]]] = {
    DocstringSectionKind.text: _text,
    DocstringSectionKind.parameters: _items("Args"),
    DocstringSectionKind.other_parameters: _items("More arguments"),
    DocstringSectionKind.attributes: _items("Attributes"),
    DocstringSectionKind.returns: _returns,
    DocstringSectionKind.yields: _returns,
    DocstringSectionKind.raises: _raises,
    DocstringSectionKind.warns: _raises,
    DocstringSectionKind.examples: _examples,
    DocstringSectionKind.admonition: _admonition,
}


def _members(value: type) -> Iterator[str]:
    """Yield a line for each public method and property that a class of ours brings."""
    found = dict(_own_members(value))
    if not found:
        return
    yield "**Members**\n"
    yield "| member | what it gives |\n|---|---|"
    for name, member in sorted(found.items()):
        first = own_doc(member).partition("\n\n")[0]
        yield f"| `{_call(name, member)}` | {_inline(first).replace('|', chr(92) + '|')} |"
    yield ""


def _own_members(value: type) -> Iterator[tuple[str, Any]]:
    for cls in reversed(value.__mro__):
        if cls.__module__.startswith("tfdist"):
            yield from (
                (name, member)
                for name, member in vars(cls).items()
                if not name.startswith("_") and _is_member(member) and own_doc(member)
            )


def _is_member(member: Any) -> bool:
    kinds = (property, staticmethod, classmethod)
    return inspect.isfunction(member) or isinstance(member, kinds)


def _call(name: str, member: Any) -> str:
    if isinstance(member, property):
        return name
    function = getattr(member, "__func__", member)
    given = [each for each in inspect.signature(function).parameters.values()]
    if given and not isinstance(member, staticmethod):
        given = given[1:]
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return f"{name}({', '.join(stars.get(each.kind, '') + each.name for each in given)})"
