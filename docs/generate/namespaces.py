"""The public names of tfdist, namespace by namespace, as a program finds them at run time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import tfdist

# Modules outside of these hold no public names: folders of the code stand in `tfdist`, too.
PUBLIC = ("tf.", "tfdist.api.", "tfdist.programs.", "tfdist.errors")
INNER = ("tfdist.api.root", "tfdist.programs.missing", "tfdist.programs.modules")
OURS = ("tfdist", "absl", "builtins", "tf", "numpy", "tensorflow")
# A name that stands in several namespaces is described in the first kind of these that has it.
CLOSED = ("tf.compat.v2",)  # a hundred namespaces of names that stand in version 1, too
LATE = ("tf.contrib", "tf.compat", "tf.keras", "tf.initializers", "tf.io.gfile", "tf.gfile")


class Name(NamedTuple):
    """A public name.

    Attributes:
      path: of it, "tf.train.Saver".
      value: what it stands for.
    """

    path: str
    value: Any

    @property
    def namespace(self) -> str:
        """Return the path of the namespace."""
        return self.path.rpartition(".")[0]

    @property
    def own_path(self) -> str:
        """Return where the code defines it, "tfdist.training.saving.saver.Saver"."""
        value = getattr(self.value, "__func__", self.value)
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"

    @property
    def is_described(self) -> bool:
        """Return whether the code has a function or class of its own for it."""
        return (
            callable(self.value)
            and self.own_path.startswith("tfdist.")
            and not self.own_path.startswith("tfdist.protos")
        )

    @property
    def order(self) -> tuple[bool, bool, int, str]:
        """Return what the first of several names of one thing is first by."""
        late = self.path.startswith(LATE)
        return late, self.namespace == "tf", self.path.count("."), self.path


@cache
def namespaces() -> dict[str, ModuleType]:
    """Return the modules of all public namespaces by their paths, "tf" first."""
    found: dict[str, ModuleType] = {}
    _collect("tf", tfdist, found)
    return dict(sorted(found.items()))


def _collect(path: str, module: ModuleType, found: dict[str, ModuleType]) -> None:
    if any(module is each for each in found.values()):
        return
    found[path] = module
    for name in _all(module) if path not in CLOSED else ():
        inner = getattr(module, name, None) if not name.startswith("_") else None
        if isinstance(inner, ModuleType) and _is_public(inner, name):
            _collect(f"{path}.{name}", inner, found)


def _all(module: ModuleType) -> list[str]:
    """Return the names of a module, those that are not loaded yet too."""
    return sorted(dir(module))


def _is_public(module: ModuleType, name: str) -> bool:
    own = module.__name__
    return own.startswith(PUBLIC) and not own.startswith(INNER) and own != f"tfdist.{name}.root"


@cache
def names() -> tuple[Name, ...]:
    """Return every public name that is no namespace."""
    return tuple(name for path, module in namespaces().items() for name in _names_of(path, module))


def _names_of(path: str, module: ModuleType) -> Iterator[Name]:
    for name in _all(module):
        value = getattr(module, name, None)
        if name.startswith("_") or isinstance(value, ModuleType) or value is None:
            continue
        if not _is_foreign(value):
            yield Name(f"{path}.{name}", value)


def _is_foreign(value: Any) -> bool:
    """Return whether a value is Python's, imported for use only."""
    home = getattr(value if callable(value) else type(value), "__module__", None) or ""
    return home.partition(".")[0] not in OURS


@cache
def homes() -> dict[int, Name]:
    """Return the name by which each function and class is described, by the thing's identity."""
    found: dict[int, Name] = {}
    for name in sorted(
        (each for each in names() if each.is_described), key=lambda each: each.order
    ):
        found.setdefault(id(name.value), name)
    return found


def home_of(name: Name) -> Name:
    """Return the name under which the thing of `name` is described."""
    return homes().get(id(name.value), name)
