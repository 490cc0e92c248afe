"""Decorators that mark functions, arguments and values of them as outdated.

Source: TF 1.15 API documentation, tf.contrib.framework.deprecated.
"""

from __future__ import annotations

import functools
import inspect
import logging
import re
from collections.abc import Callable
from typing import Any

__all__ = ["deprecated", "deprecated_arg_values", "deprecated_args"]

_log = logging.getLogger("tensorflow")
_DATE = re.compile(r"20\d\d-[01]\d-[0123]\d")


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[..., Any]:
    """Return a decorator that logs a warning when the function is called.

    Args:
      date: after which it will be gone, "2019-12-31"; None if nobody knows.
      instructions: what to do instead.
      warn_once: whether only the first call warns.

    Raises:
      ValueError: it is no date, or there are no instructions.

    Example:
      >>> @contrib.framework.deprecated(None, "Use larger.")
      ... def large():
      ...     return 3
      >>> large()
      3
    """
    _check(date, instructions)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return _warning(
            function, date, instructions, warn_once, "deprecated", lambda args, named: [""]
        )

    return decorate


def deprecated_args(
    date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any, **kwargs: Any
) -> Callable[..., Any]:
    """Return a decorator that logs a warning when the function is called with some arguments.

    Args:
      date: after which they will be gone; None if nobody knows.
      instructions: what to do instead.
      *deprecated_arg_names_or_tuples: names of arguments, or pairs of a name and a value that
        does not count.
      **kwargs: `warn_once`, whether only the first call warns.

    Raises:
      ValueError: it is no date, there are no instructions or names, or the function has not such
        an argument.
    """
    _check(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    warn_once = kwargs.pop("warn_once", True)
    if kwargs:
        raise ValueError(f"Illegal argument to deprecated_args: {sorted(kwargs)}")
    fine = dict(
        (each, ()) if isinstance(each, str) else (each[0], each[1:])
        for each in deprecated_arg_names_or_tuples
    )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        _check_names(function, fine)

        def found(args: Any, named: Any) -> list[str]:
            given = _given(function, args, named)
            return [
                name
                for name, values in fine.items()
                if name in given and not any(given[name] is v or given[name] == v for v in values)
            ]

        return _warning(function, date, instructions, warn_once, "deprecated arguments", found)

    return decorate


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
) -> Callable[..., Any]:
    """Return a decorator that logs a warning when an argument has an outdated value.

    Args:
      date: after which it will be gone; None if nobody knows.
      instructions: what to do instead.
      warn_once: whether only the first call warns.
      **deprecated_kwargs: the values.

    Raises:
      ValueError: it is no date, or there are no instructions or values.
    """
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def found(args: Any, named: Any) -> list[str]:
            given = _given(function, args, named)
            return [
                f"{name}={value}"
                for name, value in deprecated_kwargs.items()
                if name in given and given[name] == value
            ]

        return _warning(function, date, instructions, warn_once, "deprecated arguments", found)

    return decorate


def _check(date: Any, instructions: Any) -> None:
    if date is not None and not _DATE.fullmatch(str(date)):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _check_names(function: Callable[..., Any], names: Any) -> None:
    parameters = inspect.signature(function).parameters
    missing = [name for name in names if name not in parameters]
    if missing and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        raise ValueError(
            f"The following deprecated arguments are not present in the function signature: "
            f"{missing}. Expected next arguments: {list(parameters)}."
        )


def _given(function: Callable[..., Any], args: Any, named: Any) -> dict[str, Any]:
    """Return the arguments of a call by name."""
    bound = inspect.signature(function).bind_partial(*args, **named)
    rest = next(
        (p.name for p in bound.signature.parameters.values() if p.kind is p.VAR_KEYWORD), None
    )
    given = dict(bound.arguments)
    return given | given.pop(rest, {}) if rest is not None else given


def _warning(
    function: Callable[..., Any], date: Any, instructions: str, once: bool, mark: str, found: Any
) -> Callable[..., Any]:
    """Return a function that warns of what `found` finds in its arguments.

    Args:
      function: what is called.
      date: after which it will be gone.
      instructions: what to do instead.
      once: whether each finding is told once only.
      mark: words for the docstring.
      found: function from arguments to findings, "" for the function itself.
    """
    when = "in a future version" if date is None else f"after {date}"
    told: set[str] = set()

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        for each in found(args, named):
            if not (once and each in told):
                told.add(each)
                what = f"{function.__qualname__} (from {function.__module__})"
                what = f"Calling {what} with {each}" if each else what
                _log.warning(
                    "%s is deprecated and will be removed %s.\nInstructions for updating:\n%s",
                    what, when, instructions,
                )  # fmt: skip
        return function(*args, **named)

    first, _, rest = (function.__doc__ or f"{mark.upper()} FUNCTION").strip().partition("\n")
    call.__doc__ = (
        f"{first} ({mark})\n\nWarning: it will be removed {when}.\n"
        f"Instructions for updating:\n{instructions}\n{rest}"
    )
    return call
