"""Module: an object that has variables and other modules, and names their nodes.

Source: TF 1.15 API documentation, tf.Module.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from tfdist.base import nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.ops.variables.variable import Variable

__all__ = ["Module"]


class NoDependency(NamedTuple):
    """A value that becomes an attribute which checkpoints leave out.

    Attributes:
      value: what the attribute holds.
    """

    value: Any


class Module:
    """An object whose attributes hold variables and modules, which it finds.

    Args:
      name: a Python identifier; made from the class by default, as "my_net" from MyNet.

    Raises:
      ValueError: the name is no identifier.

    Example:
      >>> class Scale(Module):
      ...     def __init__(self):
      ...         super().__init__()
      ...         self.factor = Variable(2.0, name="factor")
      ...
      ...     @Module.with_name_scope
      ...     def __call__(self, x):
      ...         return multiply(x, self.factor, name="scaled")
      >>> scale = Scale()
      >>> [each.name for each in scale.variables], scale(3.0).name
      (['factor:0'], 'scale/scaled:0')
    """

    # attributes of a library's own class in which its parts are not looked for
    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset()

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, NoDependency):
            value = value.value
            vars(self).setdefault("_left_out", set()).add(name)
        try:
            super().__setattr__(name, value)
        except AttributeError:  # a property; what it has is not set again
            if not _is_same(getattr(self, name, None), value):
                raise

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _snake_case(type(self).__name__)
        if not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python "
                "identifiers (e.g. a valid class name)."
            )
        self._name = name
        with scopes.name_scope(name) as scope:
            self._scope_name = scope

    def _no_dependency(self, value: Any) -> NoDependency:
        """Return what to assign to an attribute that checkpoints leave out."""
        return NoDependency(value)

    @property
    def name(self) -> str:
        """Return its name."""
        return self._name

    @property
    def name_scope(self) -> AbstractContextManager[Any]:
        """Return the name scope of its nodes, for a `with` statement."""
        return scopes.name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Any, ...]:
        """Return its variables and those of modules in it, each once."""
        return tuple(dict.fromkeys(_leaves(self, lambda each: isinstance(each, Variable), True)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Return those of its variables that are trained."""
        return tuple(each for each in self.variables if getattr(each, "_trainable", False))

    @property
    def submodules(self) -> tuple[Any, ...]:
        """Return the modules in it, and those in them."""
        return tuple(_leaves(self, lambda each: isinstance(each, Module), True))

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method whose nodes are in the module's name scope."""

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _is_same(found: Any, value: Any) -> bool:
    shapes = isinstance(found, TensorShape) and isinstance(value, TensorShape)
    return found is value or (shapes and found.as_tuple() == value.as_tuple())


def _snake_case(name: str) -> str:
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z\d])([A-Z])", r"\1_\2", name).lower()


def _leaves(
    module: Module, wanted: Callable[[Any], bool], deep: bool, seen: set[int] | None = None
) -> Iterator[Any]:
    """Yield what is wanted of the attributes of a module by name, then of modules in it."""
    seen = {id(module)} if seen is None else seen
    inner: list[Module] = []
    for attribute in sorted(vars(module).keys() - module._TF_MODULE_IGNORED_PROPERTIES):
        for leaf in nest.flatten(vars(module)[attribute]):
            if not isinstance(leaf, Module | Variable) or id(leaf) in seen:
                continue
            seen.add(id(leaf))
            if wanted(leaf):
                yield leaf
            if isinstance(leaf, Module):
                inner.append(leaf)
    for each in inner if deep else ():
        yield from _leaves(each, wanted, deep, seen)
