"""What waits for what: in one list of waits, and in all steps of this process's sessions."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable
from typing import Any

from tfdist.graph.records import RECEIVES, Node

_masters: weakref.WeakSet[Any] = weakref.WeakSet()
_masters_lock = threading.Lock()


def list_master(master: Any) -> None:
    """Let `waiting_now` ask a master that this process's sessions use."""
    with _masters_lock:
        _masters.add(master)


def unlist_master(master: Any) -> None:
    """Undo `list_master`."""
    with _masters_lock:
        _masters.discard(master)


def masters_here() -> list[Any]:
    """Return the masters that this process's sessions use, or that are in it."""
    with _masters_lock:
        return list(_masters)


def reach_of(masters: Iterable[Any]) -> dict[Any, Any]:
    """Return one master of each cluster, by what it reaches."""
    return {master.reach: master for master in masters}


def waiting_now() -> list[tuple[Node, str]]:
    """Return the nodes that wait now in steps of this process's sessions, each with what for.

    Other processes are asked too, if they take part; that may take half a second.
    """
    return foremost([each for master in masters_here() for each in master.waits()])


def foremost(waits: list[tuple[Node, str]]) -> list[tuple[Node, str]]:
    """Return the waits that say most: a receive waits for what another task waits for."""
    return [each for each in waits if each[0].op not in RECEIVES] or waits
