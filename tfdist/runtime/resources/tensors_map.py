"""Sparse tensors that wait in a task while their numbers go through a queue."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from typing import Any

from tfdist.base.aliases import TensorValue


class TensorsMap:
    """Values by number, each until it is taken.

    Args:
      name: for messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._numbers = itertools.count()
        self._values: dict[int, Any] = {}
        self._lock = threading.Lock()

    def add(self, values: Sequence[TensorValue]) -> list[int]:
        """Keep `values`, and return their numbers."""
        with self._lock:
            numbers = [next(self._numbers) for _ in values]
            self._values.update(zip(numbers, values, strict=True))
        return numbers

    def take(self, number: int) -> TensorValue:
        """Return the value of that number, and forget it; KeyError if it is not there."""
        with self._lock:
            return self._values.pop(number)
