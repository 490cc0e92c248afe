"""How much memory a new array may take in this process.

A kernel whose result may be huge for small inputs (`Fill`, `Tile`, a random op) asks before it
makes it. What the answer depends on is watched elsewhere (`runtime.task.memory_guard`), which sets
it here; until then there is room for everything, and the system says what is too much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


class NoRoomError(MemoryError):
    """An array is larger than what this process may still take.

    Attributes:
      shape: of the array.
      dtype: of its elements (`np.dtype`).
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        super().__init__(f"no room for an array of shape {shape} and type {dtype}")
        self.shape, self.dtype = shape, np.dtype(dtype)


class Room:
    """What this process may take.

    Attributes:
      limit: bytes that it may have in all.
      bytes: of the largest array that may be made now.
      is_short: whether nothing that stays may grow, queues for instance.
      look: finds these out anew; asked before something is refused.
    """

    limit = math.inf
    bytes = math.inf
    is_short = False
    look: Callable[[], object] | None = None

    def has(self, nbytes: float) -> bool:
        """Return whether there is room for so many bytes."""
        if nbytes > self.bytes and self.look is not None:
            self.look()
        return nbytes <= self.bytes


ROOM = Room()


def check_room(shape: Iterable[Any], dtype: Any) -> None:
    """Raise `NoRoomError` if there is no room for an array.

    Args:
      shape: its dimensions; nothing is said of negative ones.
      dtype: of its elements, as NumPy knows it.

    Example:
      >>> check_room([2, 3], "float32")
    """
    dims = tuple(map(int, shape))
    nbytes = math.prod(dims) * np.dtype(dtype).itemsize
    if nbytes > ROOM.bytes and min(dims, default=0) >= 0 and not ROOM.has(nbytes):
        raise NoRoomError(dims, dtype)
