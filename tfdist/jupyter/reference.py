"""The quick reference of all magics, made of their own parsers and docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tfdist.plots.shared.tables import Table


def reference_table(magics: Iterable[Any]) -> Table:
    """Return a row for each magic: its name, an example, and what it is for.

    Args:
      magics: functions with `magic_arguments`.
    """
    cells = [
        (typed_name(magic), example_of(magic), purpose_of(magic))
        for magic in sorted(magics, key=name_of)
    ]
    return Table(("magic", "example", "what it does"), tuple(cells))


def name_of(magic: Any) -> str:
    """Return a magic's name, without %."""
    return str(magic.__name__)


def typed_name(magic: Any) -> str:
    """Return a magic's name as it is typed: %%on where it takes a cell only."""
    name = name_of(magic)
    begins = set(re.findall(rf"(?m)^\s*(%%?){name}\b", _described(magic)))
    return f"%%{name}" if begins == {"%%"} else f"%{name}"


def purpose_of(magic: Any) -> str:
    """Return the first sentence of what a magic says of itself."""
    first = (magic.__doc__ or "").replace("::\n", "").strip()
    found = re.search(r"(?m)^\s*(?!%)(\S.*?)(?:\.|$)", _described(magic) or first)
    return found[1] if found else ""


def example_of(magic: Any) -> str:
    """Return an example of a magic's description: the first that can be typed as it is.

    Words in capitals stand for something else.
    """
    bare = typed_name(magic)
    found = re.findall(rf"(?m)^\s*({bare}\b.*?)(?:\s{{2,}}.*)?$", _described(magic))
    told = [each.strip() for each in found]
    typed = [each for each in told if each != bare and not re.search(r"\b[A-Z]{2,}\b", each)]
    return next(iter(typed + told), bare)


def _described(magic: Any) -> str:
    return str(magic.parser.description or "")
