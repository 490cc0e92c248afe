"""The registry: the ops by name, each imported with its family when it is first asked for.

`ops/index.txt` says which module defines an op: `python -m tfdist.api.index` writes it, and a test
compares. An op that is defined by hand, as tests and notebooks do, needs no line there.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TypeVar

INDEX = Path(__file__).parent.parent / "ops" / "index.txt"


def read_index() -> dict[str, str]:
    """Return the module of each op, from lines `module: op op ...`."""
    lines = INDEX.read_text(encoding="utf-8").splitlines()
    pairs = (line.split(": ") for line in lines)
    return {name: module for module, names in pairs for name in names.split()}


Op = TypeVar("Op")


class Registry(MutableMapping[str, Op]):
    """All ops by name, those included whose modules are not imported yet.

    An op is handed out when its module has run: one that another thread is about to define has no
    kernel yet.
    """

    def __init__(self) -> None:
        self._defined: dict[str, Op] = {}
        self._complete: dict[str, Op] = {}

    @cached_property
    def _index(self) -> dict[str, str]:
        return read_index()

    def __getitem__(self, name: str) -> Op:
        found = self._complete.get(name)
        return found if found is not None else self._load(name)

    def _load(self, name: str) -> Op:
        if name in self._index:
            import_module(self._index[name])
        found = self._complete[name] = self._defined[name]
        return found

    def __setitem__(self, name: str, op: Op) -> None:
        self._complete.pop(name, None)
        self._defined[name] = op

    def __delitem__(self, name: str) -> None:
        self._complete.pop(name, None)
        del self._defined[name]

    def defined(self) -> list[Op]:
        """Return the ops whose modules are imported, and those that were defined by hand."""
        return list(self._defined.values())

    def __contains__(self, name: object) -> bool:
        return name in self._defined or name in self._index

    def __iter__(self) -> Iterator[str]:
        yield from self._index
        yield from [name for name in self._defined if name not in self._index]

    def __len__(self) -> int:
        return len(self._index.keys() | self._defined.keys())
