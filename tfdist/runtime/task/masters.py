"""The masters that this process's sessions use: who is asked what its steps wait for."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable
from typing import Any

_masters: weakref.WeakSet[Any] = weakref.WeakSet()
_masters_lock = threading.Lock()


def list_master(master: Any) -> None:
    """Let `local_masters` return a master that this process's sessions use."""
    with _masters_lock:
        _masters.add(master)


def unlist_master(master: Any) -> None:
    """Undo `list_master`."""
    with _masters_lock:
        _masters.discard(master)


def local_masters() -> list[Any]:
    """Return the masters that this process's sessions use, or that are in it."""
    with _masters_lock:
        return list(_masters)


def reach_of(masters: Iterable[Any]) -> dict[Any, Any]:
    """Return one master of each cluster, by what it reaches."""
    return {master.reach: master for master in masters}
