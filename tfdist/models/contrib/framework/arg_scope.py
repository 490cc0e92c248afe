"""arg_scope: arguments that calls of some functions get, unless they say otherwise.

Source: TF 1.15 API documentation, tf.contrib.framework.arg_scope.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "add_arg_scope", "arg_scope", "arg_scoped_arguments", "current_arg_scope", "has_arg_scope",
]  # fmt: skip

Scope = dict[str, dict[str, Any]]


class _Stack(threading.local):
    """The scopes that a thread has entered, the innermost last."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = [{}]


_STACK = _Stack()
_ARGUMENTS: dict[str, tuple[str, ...]] = {}  # of each function that takes part


def _key(function: Any) -> str:
    return getattr(function, "_key_op", str(function))


def current_arg_scope() -> Scope:
    """Return what is given at present: a function's key -> its arguments.

    Example:
      >>> with contrib.framework.arg_scope([contrib.layers.flatten], scope="flat"):
      ...     len(contrib.framework.current_arg_scope())
      1
    """
    return _STACK.scopes[-1]


def add_arg_scope(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return `func`, which takes arguments from `arg_scope` from now on.

    Example:
      >>> @contrib.framework.add_arg_scope
      ... def power(x, exponent=1):
      ...     return x**exponent
      >>> with contrib.framework.arg_scope([power], exponent=3):
      ...     power(2), power(2, exponent=4)
      (8, 16)
    """

    @functools.wraps(func)
    def scoped(*arguments: Any, **options: Any) -> Any:
        given = current_arg_scope().get(key)
        return func(*arguments, **({**given, **options} if given else options))

    key = f"{func.__module__}.{func.__qualname__}"
    scoped._key_op = key  # type: ignore[attr-defined]
    _ARGUMENTS[key] = func.__code__.co_varnames[: func.__code__.co_argcount]
    return scoped


def has_arg_scope(func: Any) -> bool:
    """Return whether a function takes arguments from `arg_scope`.

    Example:
      >>> contrib.framework.has_arg_scope(contrib.layers.conv2d)
      True
    """
    return _key(func) in _ARGUMENTS


def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """Return the names of the arguments of a function that takes part.

    Example:
      >>> contrib.framework.arg_scoped_arguments(contrib.layers.flatten)
      ('inputs', 'outputs_collections', 'scope')
    """
    return _ARGUMENTS[_key(func)]


@contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Scope]:
    """Let calls of functions inside have these arguments, unless they give others.

    Args:
      list_ops_or_scope: a list of functions that take part, or a scope to enter again.
      **kwargs: the arguments; none with a scope.

    Yields:
      The scope.

    Raises:
      ValueError: a function does not take part, or arguments are given with a scope.

    Example:
      >>> with contrib.framework.arg_scope([contrib.layers.fully_connected], activation_fn=None):
      ...     contrib.layers.fully_connected(zeros([1, 2]), 3).op.type
      'BiasAdd'
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError(
                "When attempting to re-use a scope by supplying a dictionary, kwargs must be empty."
            )
        scope = dict(list_ops_or_scope)
    else:
        scope = _extended(list_ops_or_scope, kwargs)
    _STACK.scopes.append(scope)
    try:
        yield scope
    finally:
        _STACK.scopes.pop()


def _extended(functions: Any, given: dict[str, Any]) -> Scope:
    """Return the current scope, with these arguments of some functions."""
    if not isinstance(functions, list | tuple):
        raise TypeError(
            "list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict); "
            f"got {functions!r}"
        )
    scope = dict(current_arg_scope())
    for function in functions:
        if not has_arg_scope(function):
            name = getattr(function, "__qualname__", function)
            raise ValueError(f"{name} is not decorated with @add_arg_scope")
        scope[_key(function)] = {**scope.get(_key(function), {}), **given}
    return scope
