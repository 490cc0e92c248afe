"""tensorflow.python.util.tf_decorator and tf_contextlib: decorators that tell what they decorate.

Source: behaviour of TF 1.15.5's modules of these names.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["TFDecorator", "contextmanager", "make_decorator", "unwrap"]


class TFDecorator:
    """What is known of a decorator.

    Args:
      decorator_name: its name.
      target: what it decorates; a call of this object calls it.
      decorator_doc: what is told of the decorated one; its own text otherwise.
      decorator_argspec: its arguments, as `inspect.getfullargspec` tells them.
    """

    def __init__(
        self,
        decorator_name: str,
        target: Any,
        decorator_doc: str | None = "",
        decorator_argspec: Any = None,
    ) -> None:
        self._decorated_target, self._decorator_name = target, decorator_name
        self._decorator_doc, self._decorator_argspec = decorator_doc, decorator_argspec
        if hasattr(target, "__name__"):
            self.__name__ = target.__name__
        self.__doc__ = decorator_doc or getattr(target, "__doc__", None) or ""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Return a method, where it stands in a class."""
        return self._decorated_target.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the decorated one gives."""
        return self._decorated_target(*args, **kwargs)

    @property
    def decorated_target(self) -> Any:
        """Return what it decorates."""
        return self._decorated_target

    @decorated_target.setter
    def decorated_target(self, target: Any) -> None:
        self._decorated_target = target

    @property
    def decorator_name(self) -> str:
        """Return its name."""
        return self._decorator_name

    @property
    def decorator_doc(self) -> str | None:
        """Return what it tells of the decorated one."""
        return self._decorator_doc

    @property
    def decorator_argspec(self) -> Any:
        """Return its arguments."""
        return self._decorator_argspec


def make_decorator(
    target: Any,
    decorator_func: Any,
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Any:
    """Return `decorator_func`, which looks like `target` and tells that it decorates it.

    Args:
      target: what it decorates.
      decorator_func: what is called in its place.
      decorator_name: the decorator's name; that of the calling function by default.
      decorator_doc: as the rest: see `TFDecorator`.
    """
    if decorator_name is None:
        frame = inspect.currentframe()
        caller = frame.f_back if frame else None
        decorator_name = caller.f_code.co_name if caller else ""
    told = TFDecorator(decorator_name, target, decorator_doc, decorator_argspec)
    decorator_func._tf_decorator = told
    for name in ("__name__", "__module__"):
        if hasattr(target, name):
            setattr(decorator_func, name, getattr(target, name))
    decorator_func.__doc__ = told.__doc__
    decorator_func.__wrapped__ = target
    return decorator_func


def unwrap(maybe_tf_decorator: Any) -> tuple[list[TFDecorator], Any]:
    """Return the decorators of a function, the outermost first, and what they decorate."""
    found: list[TFDecorator] = []
    inner = maybe_tf_decorator
    while True:
        told = inner if isinstance(inner, TFDecorator) else getattr(inner, "_tf_decorator", None)
        if told is None:
            return found, inner
        found.append(told)
        inner = told.decorated_target


def contextmanager(target: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose context `target`, a generator, makes; see `contextlib`."""
    manager = contextlib.contextmanager(target)

    @functools.wraps(target)
    def made(*args: Any, **kwargs: Any) -> Any:
        return manager(*args, **kwargs)

    return make_decorator(target, made, "contextmanager")  # type: ignore[no-any-return]
