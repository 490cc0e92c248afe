"""`ResourceVariable`: a value that outlives steps, which ops reach by a handle.

It is no `Variable`: where a value is wanted, a handle does not stand for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tfdist.errors import FailedPreconditionError, NotFoundError


class ResourceVariable:
    """A variable's value, or None before it is initialised, and its type from then on.

    The array is never written in place: who has read it keeps what was read.
    """

    __slots__ = ("container", "dtype", "key", "lock", "name", "value")

    def __init__(self, name: str, container: bytes) -> None:
        self.name = name
        self.container = container.decode() or "localhost"
        self.key = (container, name.encode())
        self.value: Any = None
        self.dtype: Any = None
        self.lock = threading.Lock()

    def read(self) -> Any:
        """Return the value; FailedPreconditionError before it is initialised."""
        value = self.value
        if value is None:
            raise FailedPreconditionError(
                f"Error while reading resource variable {self.name} from Container: "
                f"{self.container}. This could mean that the variable was uninitialized. Not "
                f"found: {self._absence()}"
            )
        return value

    def held(self) -> Any:
        """Return the value for an op that works on it; NotFoundError before it is initialised."""
        value = self.value
        if value is None:
            raise NotFoundError(self._absence())
        return value

    def _absence(self) -> str:
        return f"Resource {self.container}/{self.name}/N10tensorflow3VarE does not exist."

    def assign(self, value: Any, dtype: Any) -> None:
        """Set the value, and its type."""
        self.dtype = dtype
        self.value = value

    def update(self, function: Callable[[Any], Any]) -> Any:
        """Set the value to `function` of it, whole: concurrent updates are not lost."""
        with self.lock:
            self.value = value = function(self.held())
        return value

    def destroy(self) -> bool:
        """Forget the value; returns whether there was one."""
        with self.lock:
            was_there = self.value is not None
            self.value = self.dtype = None
        return was_there
