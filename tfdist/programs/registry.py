"""`Registry`: objects by name, as programs keep their own in `tensorflow.python.framework`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any


class Registry:
    """Objects by name, each of which is taken once.

    Args:
      name: what the objects are, for messages.

    Example:
      >>> models = Registry("model")
      >>> models.register(dict, "small")
      >>> models.lookup("small")
      <class 'dict'>
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: dict[str, tuple[Any, str]] = {}

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Take an object; KeyError if there is one of that name, its own by default."""
        if not name:
            name = candidate.__name__
        if name in self._found:
            raise KeyError(
                f"Registering two {self._name} with name {name!r}! "
                f"(Previous registration was in {self._found[name][1]})"
            )
        caller = sys._getframe(1)
        place = f"{caller.f_code.co_name} {caller.f_code.co_filename}:{caller.f_lineno}"
        self._found[name] = candidate, place

    def list(self) -> Iterable[str]:
        """Return all names."""
        return self._found.keys()

    def lookup(self, name: str) -> Any:
        """Return the object of a name; LookupError if there is none."""
        try:
            return self._found[name][0]
        except KeyError:
            known = ", ".join(sorted(self._found)) or "nothing"
            raise LookupError(
                f"{self._name} registry has no entry for: {name}; there is {known}"
            ) from None
