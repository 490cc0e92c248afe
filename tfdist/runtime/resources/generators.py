"""Random generators, repeatable for the seeds that graphs carry."""

from __future__ import annotations

import threading

import numpy as np


class Generators:
    """What random nodes have drawn from, which lives as long as the session."""

    def __init__(self) -> None:
        self._made: dict[str, np.random.Generator] = {}
        self._reserved: dict[str, int] = {}
        self._lock = threading.Lock()

    def find(self, node: str, seed: int, seed2: int) -> np.random.Generator:
        """Return the node's generator; a fresh unpredictable one if both seeds are 0."""
        made = self._made.get(node)
        if made is None:
            made = self._made.setdefault(node, generator(seed, seed2))
        return made

    def reserve(self, node: str, blocks: int) -> int:
        """Let nobody else have the next `blocks` of the node's stream; returns where they begin."""
        with self._lock:  # steps may run side by side
            begin = self._reserved.get(node, 0)
            self._reserved[node] = begin + blocks
        return begin


def generator(seed: int, seed2: int) -> np.random.Generator:
    """Return a new generator; an unpredictable one if both seeds are 0."""
    return np.random.default_rng([seed & _MASK, seed2 & _MASK] if seed or seed2 else None)


_MASK = 2**64 - 1  # seeds may be negative; NumPy takes none below 0
