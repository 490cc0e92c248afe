"""Names of tensorflow.python.util: signatures and lists of names, for libraries."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
from collections.abc import Iterator
from inspect import *  # noqa: F403
from types import ModuleType
from typing import Any

from tfdist.programs.python37 import ArgSpec, argspec
from tfdist.programs.tf_decorator import unwrap  # type: ignore[assignment]

__all__ = [
    "ArgSpec", "LazyLoader", "deprecated_argument_lookup", "fn_args", "get_func_code",
    "get_func_name", "getargspec", "getfullargspec", "has_kwargs", "make_all",
    "remove_undocumented", "silence",
]  # fmt: skip

getargspec = argspec
_inspect = inspect


# signatures


def getfullargspec(obj: Any) -> inspect.FullArgSpec:  # type: ignore[no-redef]
    """Return the arguments of a callable; a function of ours has no annotations.

    TensorFlow's has none either, and libraries compare such answers with those for their own.
    """
    found = inspect.getfullargspec(obj)
    is_ours = (getattr(obj, "__module__", None) or "").startswith("tfdist.")
    return found._replace(annotations={}) if is_ours else found


def fn_args(fn: Any) -> tuple[str, ...]:
    """Return the names of the arguments of a function, without `self` and those that are bound."""
    return tuple(
        each.name
        for each in inspect.signature(fn).parameters.values()
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    )


def has_kwargs(fn: Any) -> bool:
    """Return whether a function takes any keyword argument."""
    return any(each.kind is each.VAR_KEYWORD for each in inspect.signature(fn).parameters.values())


def get_func_name(func: Any) -> str:
    """Return the name of a function."""
    return getattr(unwrap(func)[1], "__name__", str(type(func)))


def get_func_code(func: Any) -> Any:
    """Return the code of a function, None if it has none."""
    return getattr(unwrap(func)[1], "__code__", None)


# deprecation


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Enter a context in which nothing is different: nothing here warns of its age."""
    yield


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """Return the value of an argument that has two names.

    Raises:
      ValueError: both have one.
    """
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old_value


# modules and their names


class LazyLoader(ModuleType):
    """A module that is imported when it is first asked for a name.

    Args:
      local_name: under which it stands in `parent_module_globals`.
      parent_module_globals: names of the module that imports it.
      name: path of the module.
      warning: kept for TensorFlow's sake.
    """

    def __init__(
        self,
        local_name: str,
        parent_module_globals: dict[str, Any],
        name: str,
        warning: str | None = None,
    ) -> None:
        super().__init__(name)
        self._place = parent_module_globals, local_name

    def _load(self) -> ModuleType:
        globals_, local_name = self._place
        module = globals_[local_name] = importlib.import_module(self.__name__)
        vars(self).update(vars(module))
        return module

    def __getattr__(self, name: str) -> Any:
        if name == "_place":  # copies and pickles ask before there is one
            raise AttributeError(name)
        return getattr(self._load(), name)

    def __dir__(self) -> list[str]:
        return dir(self._load())


def remove_undocumented(
    module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None
) -> None:
    """Do nothing: TensorFlow hides names of a library's module with it."""


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """Return the public names of a module."""
    return [name for name in dir(sys.modules[module_name]) if not name.startswith("_")]
