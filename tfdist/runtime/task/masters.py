"""The masters that this process's sessions use: who is asked what its steps wait for."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Hashable, Iterable, Mapping
from typing import Protocol

from tfdist.plan.place_reasons import Placement
from tfdist.runtime.devices.local_devices import Device
from tfdist.runtime.step.requests import SessionOptions
from tfdist.tracing.census import Census
from tfdist.tracing.waits import Report

_masters: weakref.WeakSet[SessionMaster] = weakref.WeakSet()
_masters_lock = threading.Lock()


class SessionMaster(Protocol):
    """What sessions and reports ask of a master, wherever it is.

    `task.master.Master` is one of this process, `wire.peers.remote_master.RemoteMaster` one of
    another. What `prepare` gives is each one's own, and so is what runs it.
    """

    @property
    def is_open(self) -> bool:
        """Return whether a session is open, or others may open one."""

    @property
    def reach(self) -> Hashable:
        """Return who answers `report_everywhere`: the same for the tasks of one cluster."""

    def create_session(self, options: SessionOptions) -> str:
        """Open a session; returns its handle."""

    def close_session(self, handle: str) -> None:
        """Close a session."""

    def reset(self, containers: tuple[str, ...] = ()) -> None:
        """Abort all sessions and clear `containers`, all of them if none is named."""

    def devices(self, handle: str) -> list[Device]:
        """Return the devices that a session spans."""

    def placement(self, handle: str) -> Mapping[str, Placement]:
        """Return the device of each node of a session's graph, and why, as far as that is told."""

    def report(self) -> Report:
        """Return what is known in this process of the steps that it runs."""

    def report_everywhere(self) -> Report:
        """Return what all tasks of the cluster tell of steps in flight."""

    def census(self, holdings: bool = False) -> Census:
        """Return what its own task tells of itself, if that is in this process."""

    def census_everywhere(self, holdings: bool = False) -> Census:
        """Return what all tasks of the cluster tell of themselves."""


def list_master(master: SessionMaster) -> None:
    """Let `local_masters` return a master that this process's sessions use."""
    with _masters_lock:
        _masters.add(master)


def unlist_master(master: SessionMaster) -> None:
    """Undo `list_master`."""
    with _masters_lock:
        _masters.discard(master)


def local_masters() -> list[SessionMaster]:
    """Return the masters that this process's sessions use, or that are in it."""
    with _masters_lock:
        return list(_masters)


def reach_of(masters: Iterable[SessionMaster]) -> dict[Hashable, SessionMaster]:
    """Return one master of each cluster, by what it reaches."""
    return {master.reach: master for master in masters}
