"""Names of tensorflow.python.util: signatures and lists of names, for libraries."""

from __future__ import annotations

import inspect
import sys
from inspect import *  # noqa: F403
from typing import Any

from tfdist.programs.python37 import ArgSpec, argspec
from tfdist.programs.tf_decorator import unwrap  # type: ignore[assignment]

__all__ = [
    "ArgSpec", "fn_args", "get_func_code", "get_func_name", "getargspec", "has_kwargs", "make_all",
    "remove_undocumented",
]  # fmt: skip

getargspec = argspec


# signatures


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


# lists of names


def remove_undocumented(
    module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None
) -> None:
    """Do nothing: TensorFlow hides names of a library's module with it."""


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """Return the public names of a module."""
    return [name for name in dir(sys.modules[module_name]) if not name.startswith("_")]
