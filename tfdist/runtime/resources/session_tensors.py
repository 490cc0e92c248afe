"""Tensors that a session keeps on a task from one step to others."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

from tfdist.base.aliases import TensorValue


class SessionTensors:
    """Values by handle, each until it is deleted."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._values: dict[str, Any] = {}
        self._lock = threading.Lock()

    def keep(self, node: str, device: str, value: TensorValue) -> str:
        """Keep a value, and return its handle: the node that made it, a number, its device."""
        with self._lock:
            handle = f"{node};{next(self._numbers)};{device}"
            self._values[handle] = value
        return handle

    def find(self, name: str, make: Callable[[], TensorValue]) -> TensorValue:
        """Return what is kept by a name that is no handle; `make()` if it is new."""
        with self._lock:
            if name not in self._values:
                self._values[name] = make()
            return self._values[name]

    def get(self, handle: str) -> TensorValue:
        """Return the value of a handle; KeyError if there is none."""
        return self._values[handle]

    def delete(self, handle: str) -> None:
        """Forget the value of a handle; KeyError if there is none."""
        with self._lock:
            del self._values[handle]
