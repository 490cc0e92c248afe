"""What is said of a name that tfdist has not: which it is, and what is near it."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from tfdist.base.namespace import lists, modules_in
from tfdist.programs.modules import HOMES, NAMESPACES, PACKAGES, ROOT


class Missing:
    """A sentence on a path, as "tensorflow.train.Sever", which is not there.

    It is composed when it is shown: programs ask for names, in vain and in silence, to find out
    which version this is, and what is near each takes as long as a step.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __str__(self) -> str:
        return missing(self._path)

    def __repr__(self) -> str:
        return repr(str(self))


def missing(path: str, is_module: bool = False) -> str:
    """Return a sentence on `path`, as "tensorflow.train.Sever", which is not there.

    Args:
      path: of a name, or of a module.
      is_module: whether a module was asked for, so that one of these may be near.
    """
    parent, _, name = path.rpartition(".")
    if parent.endswith("contrib"):  # which holds modules only
        near = _closest_modules(f"{ROOT}.contrib.{name}")
    else:
        own = _closest_in(parent, name)
        known = dict(_known())
        same = [shown for shown, last in known.items() if last == name]
        modules = _closest_modules(path) if is_module else []
        near = modules or same or own or _closest(name, known)
    hint = f"; near it are {', '.join(near)}" if near else ""
    return f"tfdist has no {path}{hint}"


def told(namespace: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a namespace, as "tf.nn", that tells what is `missing`.

    Python asks for names with two underscores on its own, and is told no more than that.
    """

    def getattr_(name: str) -> Any:
        text = name if name.startswith("__") else Missing(f"{namespace}.{name}")
        raise AttributeError(text, name=name)

    return getattr_


def space(path: str, **names: Any) -> ModuleType:
    """Return a namespace of a few names, as "tf.contrib.staging", which tells what is `missing`."""
    made = ModuleType(path, f"{path}, as tfdist has it.")
    vars(made).update(names, __getattr__=told(path))
    return made


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
    return getattr(module, name) if lists(module, name) else None


def namespaces() -> Iterator[ModuleType]:
    """Yield tf itself, and the namespaces in it."""
    yield public()
    for name in NAMESPACES:
        space = namespace(f"{ROOT}.{name}")
        if space is not None:
            yield space


def _known() -> Iterator[tuple[str, str]]:
    """Yield (path, last part) of every public name."""
    for space in namespaces():
        prefix = "tf" if space is public() else f"tf.{space.__name__.rpartition('.')[2]}"
        for name in dir(space):
            if not name.startswith("_"):
                yield f"{prefix}.{name}", name


def _modules() -> Iterator[str]:
    """Yield the paths that can be imported, as far as they can be listed."""
    yield from HOMES
    yield from PACKAGES
    for path in (ROOT, f"{ROOT}.contrib"):
        found = namespace(path)
        yield from (f"{path}.{name}" for name in (modules_in(found) if found else ()))


def _closest_modules(path: str) -> list[str]:
    return difflib.get_close_matches(path, set(_modules()), 2, 0.9)


def _closest_in(path: str, name: str) -> list[str]:
    """Return what is near a name in the namespace that was asked itself."""
    space = namespace(path)
    names = [each for each in dir(space) if not each.startswith("_")] if space else []
    shown = "tf".join(path.partition("tensorflow")[::2]) if path.startswith(ROOT) else path
    return [f"{shown}.{each}" for each in difflib.get_close_matches(name, names, 3, 0.7)]


def _closest(name: str, known: Mapping[str, str]) -> list[str]:
    lasts = difflib.get_close_matches(name, set(known.values()), 3, 0.7)
    return [next(path for path, last in known.items() if last == each) for each in lasts]
