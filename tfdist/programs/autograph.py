"""tf.autograph: Python made into graphs, which is not there; its names say so.

Functions that build graphs by TensorFlow's own names run as they are.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from tfdist.errors import UnimplementedError

_INSTEAD = (
    "AutoGraph, which makes graphs of Python's `if`, `for` and `while` over tensors, is not in "
    "tfdist: write tf.cond, tf.while_loop, tf.case or tf.map_fn instead"
)


def to_graph(entity: Any, *arguments: Any, **options: Any) -> Any:
    """Raise UnimplementedError: Python is not made into graphs here.

    Example:
      >>> autograph.to_graph(abs)
      Traceback (most recent call last):
      tfdist.errors.UnimplementedError: AutoGraph, ... tf.map_fn instead; asked for of 'abs'
    """
    name = getattr(entity, "__name__", repr(entity))
    raise UnimplementedError(f"{_INSTEAD}; asked for of {name!r}")


def to_code(entity: Any, *arguments: Any, **options: Any) -> str:
    """Raise UnimplementedError; see `to_graph`."""
    return str(to_graph(entity))


def convert(*arguments: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator that raises UnimplementedError; see `to_graph`."""
    return to_graph


def do_not_convert(func: Any = None, *arguments: Any, **options: Any) -> Any:
    """Return `func`: nothing is converted.

    Example:
      >>> autograph.experimental.do_not_convert(abs) is abs
      True
    """
    return func if func is not None else do_not_convert


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Accept any level: there is nothing to tell."""


def trace(*args: Any) -> None:
    """Print the arguments."""
    print(*args)


def set_loop_options(**options: Any) -> None:
    """Accept options of loops, which only AutoGraph would make."""


class Feature(enum.Enum):
    """Parts of Python that AutoGraph would convert."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"
