"""`Variable`: a value that outlives steps."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tfdist.errors import FailedPreconditionError


class Variable:
    """A variable's value, or None before it is initialised.

    The array is never written in place: who has read it keeps what was read. `shape` is what its
    node promises of a first value, None for nothing.
    """

    __slots__ = ("lock", "name", "shape", "value")

    def __init__(self, name: str) -> None:
        self.name = name
        self.shape: tuple[int | None, ...] | None = None
        self.value: Any = None
        self.lock = threading.Lock()

    def read(self) -> Any:
        """Return the value; FailedPreconditionError before it is initialised."""
        value = self.value
        if value is None:
            raise FailedPreconditionError(
                f"attempting to use uninitialized value {self.name}; run its initializer first, "
                "as in session.run(tf.global_variables_initializer())"
            )
        return value

    def assign(self, value: Any) -> None:
        """Set the value."""
        self.value = value

    def update(self, function: Callable[[Any], Any]) -> Any:
        """Set the value to `function` of it, whole: concurrent updates are not lost."""
        with self.lock:
            self.value = value = function(self.read())
        return value
