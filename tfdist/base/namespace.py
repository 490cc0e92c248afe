"""How a public namespace has its names: each is imported when it is first asked for (PEP 562).

A namespace is a file of imports under TYPE_CHECKING, which people, editors and type checkers read,
and of one line that makes them lazy:

    if TYPE_CHECKING:
        from tfdist.ops.nn.bias import *

    __getattr__, __dir__ = lazy(__name__, "tf.nn")

`names.txt` holds the same, spelt out: `python -m tfdist.api.index` writes it from those imports,
and a test compares. What such a file defines besides is there at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from tfdist.base.dispatch import dispatched
from tfdist.base.lazy import function

NAMES = Path(__file__).parent.parent / "api" / "names.txt"

Place = tuple[str, str]  # a module, and a name in it; "" for the module itself


@cache
def places(space: str) -> dict[str, Place]:
    """Return where each lazy name of a namespace stands; nothing if it has none.

    In `names.txt`, a line without indent names a namespace; `    module: name name=other` says what
    is from where, `name=` that it is the module.
    """
    found: dict[str, Place] = {}
    for line in _sections().get(space, "").splitlines():
        module, _, names = line.strip().partition(": ")
        for each in names.split():
            name, renamed, there = each.partition("=")
            found[name] = (module, there if renamed else name)
    return found


@cache
def _sections() -> dict[str, str]:
    """Return the lines of each namespace."""
    sections = NAMES.read_text(encoding="utf-8").split("\n\n")
    return {space: lines for space, _, lines in (each.partition("\n") for each in sections)}


def load(space: str, name: str) -> Any:
    """Return the value of a lazy name of a namespace; KeyError if there is no such name."""
    module, there = places(space)[name]
    found = import_module(module)
    return dispatched(space, name, getattr(found, there)) if there else found


def lazy(space: str, shown: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a namespace.

    Args:
      space: the name of its module.
      shown: what messages call it.
    """
    module = sys.modules[space]

    def getattr_(name: str) -> Any:
        if name == "__all__":  # what `import *` gives
            return [each for each in dir_() if not each.startswith("_")]
        if name in places(space):
            value = load(space, name)
            setattr(module, name, value)  # so that it is not asked for again
            return value
        if name.startswith("__"):  # Python asks for those on its own
            raise AttributeError(name)
        return _told(shown)(name)

    def dir_() -> list[str]:
        return sorted(_own_names(module) | places(space).keys())

    return getattr_, dir_


_told = function("tfdist.programs.missing", "told")
_MACHINERY = {"TYPE_CHECKING", "lazy"}


def _own_names(module: ModuleType) -> set[str]:
    """Return the names that are there at once, without what makes a namespace, and its folders."""
    return {name for name in vars(module) if _is_own(module, name)}


def _is_own(module: ModuleType, name: str) -> bool:
    if name in _MACHINERY or name not in vars(module):
        return False
    value = vars(module)[name]
    is_folder = isinstance(value, ModuleType) and value.__name__ == f"{module.__name__}.{name}"
    return not is_folder


def lists(space: ModuleType, name: str) -> bool:
    """Return whether a namespace has a name for certain, loaded or not."""
    return name in places(space.__name__) or _is_own(space, name)


def modules_in(space: ModuleType) -> list[str]:
    """Return the names of a namespace that are modules, loaded or not."""
    own = {name for name in _own_names(space) if isinstance(vars(space)[name], ModuleType)}
    lazy_ones = {name for name, (_, there) in places(space.__name__).items() if not there}
    return sorted(own | lazy_ones)
