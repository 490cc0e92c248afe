"""What is said of a name that tfdist has not: which it is, and what is near it."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from tfdist.programs.modules import HOMES, NAMESPACES, ROOT


def missing(path: str) -> str:
    """Return a sentence on `path`, as "tensorflow.train.Sever", which is not there."""
    name = path.rpartition(".")[2]
    known = dict(_known())
    same = [shown for shown, last in known.items() if last == name]
    near = same or _closest(name, known)
    hint = f"; near it are {', '.join(near)}" if near else ""
    return f"tfdist has no {path}{hint}"


def told(namespace: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a namespace, as "tf.nn", that tells what is `missing`.

    Python asks for names with two underscores on its own, and is told no more than that.
    """

    def getattr_(name: str) -> Any:
        text = missing(f"{namespace}.{name}") if not name.startswith("__") else name
        raise AttributeError(text, name=name)

    return getattr_


def public() -> ModuleType:
    """Return the module `tfdist`."""
    return sys.modules["tfdist"]


def namespace(path: str) -> ModuleType | None:
    """Return the public namespace that stands at a path of TensorFlow's, None if none does."""
    found: Any = public()
    for part in path.split(".")[1:]:
        found = _member(found, part)
        if not isinstance(found, ModuleType):
            return None
    return found  # type: ignore[no-any-return]


def _member(module: ModuleType, name: str) -> Any:
    """Return what a module has under a name, loaded on demand; None if nothing."""
    if name in vars(module).get("ON_DEMAND", ()):
        return getattr(module, name)
    return vars(module).get(name)


def namespaces() -> Iterator[ModuleType]:
    """Yield tf itself, and the namespaces in it."""
    yield public()
    for name in NAMESPACES:
        space = namespace(f"{ROOT}.{name}")
        if space is not None:
            yield space


def _known() -> Iterator[tuple[str, str]]:
    """Yield (path, last part) of every public name and module."""
    for path in HOMES:
        yield path, path.rpartition(".")[2]
    for space in namespaces():
        prefix = "tf" if space is public() else f"tf.{space.__name__.rpartition('.')[2]}"
        for name in dir(space):
            if not name.startswith("_"):
                yield f"{prefix}.{name}", name


def _closest(name: str, known: Mapping[str, str]) -> Iterable[str]:
    lasts = difflib.get_close_matches(name, set(known.values()), 3, 0.7)
    return [next(path for path, last in known.items() if last == each) for each in lasts]
