"""Lazy loading: what a module names, and Python imports when it is first asked for.

Imports go down only. Where a class or function needs what is defined on a floor above its own, as
`Tensor` its operators, it names the module as text, and that module is imported at the first use:
nothing that a process does not use is loaded, whatever it has imported. Python's import locks make
several threads that ask first at once wait for one another.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

_Class = TypeVar("_Class", bound=type)


class _Supplied:
    """An attribute of a class before the module that sets it is imported (a descriptor)."""

    def __init__(self, owner: type, name: str, module: str) -> None:
        self._owner, self._name, self._module = owner, name, module

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        import_module(self._module)
        if vars(self._owner).get(self._name) is self:
            raise AttributeError(f"{self._module} is to set {self._owner.__name__}.{self._name}")
        return getattr(owner if instance is None else instance, self._name)


def supplied_by(module: str, *names: str) -> Callable[[_Class], _Class]:
    """Return a class decorator: `module` sets the attributes `names`, and is imported for them.

    Operators among them work: Python looks them up on the class, as any other attribute.

    Args:
      module: its dotted name; when it is imported, it sets each attribute on the class.
      names: of the attributes.
    """

    def decorate(owner: _Class) -> _Class:
        for name in names:
            setattr(owner, name, _Supplied(owner, name, module))
        return owner

    return decorate


def function(module: str, name: str) -> Callable[..., Any]:
    """Return a function that calls `name` of `module`, which is imported by the first call."""
    found: Callable[..., Any] | None = None

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal found
        if found is None:
            found = getattr(import_module(module), name)
        return found(*args, **kwargs)

    return call
