"""Work in parts that may go on side by side: kernels say what, and who has threads says how.

A kernel knows no threads. It hands over its parts, each of which writes to a place of its own, and
gets its result when all are done. Without threads they are done one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Work = Callable[[Any], object]
Runner = Callable[[Work, Sequence[Any]], None]

LIGHT = 4 << 20  # bytes: a pass over fewer takes about as long as a thread takes to start


def in_order(work: Work, parts: Sequence[Any]) -> None:
    """Do the parts one after the other."""
    for part in parts:
        work(part)


_runner: Runner = in_order


def share_with(runner: Runner) -> None:
    """Let `runner` do all shared work of this process from now on."""
    global _runner  # as one process has one set of processors
    _runner = runner


def share(work: Work, parts: Sequence[Any], size: int) -> None:
    """Do `work` for each of the parts, several at a time where that pays.

    Args:
      work: takes a part; two of its calls may overlap.
      parts: what it is called with.
      size: bytes that all parts together go through.

    Raises:
      Exception: what a call raised; parts that had not begun are left out.

    Example:
      >>> found = []
      >>> share(found.append, [1, 2, 3], size=12)
      >>> found
      [1, 2, 3]
    """
    if size < LIGHT or len(parts) < 2:
        in_order(work, parts)
    else:
        _runner(work, parts)
