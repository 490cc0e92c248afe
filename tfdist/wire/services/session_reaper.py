"""The session reaper: closes the sessions of clients that are gone.

The services tell it of every call that uses a session; now and then it looks which of those clients
are connected, and `cluster.abandoned` decides. It keeps sessions of masters as well as what masters
of other processes have on this server's worker; variables belong to neither, and stay.
"""

from __future__ import annotations

import gc
import math
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tfdist.cluster.abandoned import ENDED, GracePeriods, SessionUse, why_abandoned
from tfdist.runtime.step.async_driver import Runner
from tfdist.runtime.task.memory_guard import give_back_freed
from tfdist.wire.common.calls import Client
from tfdist.wire.common.connection_ends import (
    ESTABLISHED,
    ends_in_table,
    peer_endpoint,
    tables,
)
from tfdist.wire.common.timeouts import timeouts

_LOOKS = 4  # in each span of grace
_MANY = 1000  # clients that said that they are tfdist's; then those that have gone are forgotten


class SessionOwner(Protocol):
    """What has sessions: a master, or a worker."""

    def has(self, handle: str) -> bool:
        """Return whether a session is open."""

    def is_used(self, handle: str) -> bool:
        """Return whether a step of a session runs."""

    def abandon(self, handle: str, why: str) -> None:
        """Close a session whose client is gone."""


@dataclass
class _Record:
    """A session that is kept, as it was seen last.

    Attributes:
      owner: what has it.
      clients: those that have used it and may still be there.
      processes: of this host, that have used it.
      used: when it was used last (`time.monotonic`).
      lost: when the last client was found to be gone; infinite while one is there.
      is_ours: whether all clients that are gone were tfdist's.
    """

    owner: SessionOwner
    clients: set[Client] = field(default_factory=set)
    processes: set[int] = field(default_factory=set)
    used: float = 0.0
    lost: float = math.inf
    is_ours: bool = True


class Presence(NamedTuple):
    """Who is there.

    Attributes:
      here: the clients that are connected.
      ours: clients that said that they are tfdist's.
    """

    here: Callable[[Collection[Client]], set[Client]]
    ours: set[Client]


class SessionReaper:
    """SessionOwner the sessions of one server.

    Args:
      presence: tells which clients are connected.
      runner: has it look now and then, while there are sessions.
    """

    def __init__(self, presence: Presence, runner: Runner) -> None:
        limits = timeouts()
        self._grace = GracePeriods(limits.gone, limits.unused)
        self._presence, self._runner = presence, runner
        self._records: dict[tuple[int, str], _Record] = {}
        self._lock = threading.Lock()
        self._call_off: Callable[[], None] | None = None
        self._is_stopped = False

    def use(self, owner: SessionOwner, handle: str, client: Client) -> None:
        """Note that a client uses a session."""
        record = self._records.get((id(owner), handle))
        if record is None:
            record = self._new(owner, handle)
        record.used, record.lost = time.monotonic(), math.inf
        record.clients.add(client)
        if client.process:
            record.processes.add(client.process)

    def forget(self, owner: SessionOwner, handle: str) -> None:
        """Note that a session was closed."""
        self._records.pop((id(owner), handle), None)

    def stop(self) -> None:
        """Look no more."""
        with self._lock:
            self._is_stopped = True
            call_off, self._call_off = self._call_off, None
        if call_off is not None:
            call_off()

    def _new(self, owner: SessionOwner, handle: str) -> _Record:
        record = self._records.setdefault((id(owner), handle), _Record(owner))
        self._look_later()
        return record

    def _look_later(self) -> None:
        with self._lock:
            if self._call_off is None and self._records and not self._is_stopped:
                self._call_off = self._runner.later(self._pause(), self._wake)

    def _pause(self) -> float:
        return min(*self._grace, _LOOKS * ENDED) / _LOOKS

    def _wake(self) -> None:
        self._runner.submit(self._look_and_go_on, False)  # it reads tables, and waits for others

    def _look_and_go_on(self) -> None:
        try:
            self.look(time.monotonic())
        finally:
            with self._lock:
                self._call_off = None
            self._look_later()

    def look(self, now: float) -> None:
        """Close what is abandoned.

        Args:
          now: `time.monotonic()`.
        """
        records = dict(self._records)
        known = {client for record in records.values() for client in record.clients}
        ours = self._presence.ours
        asks_grpc = len(ours) > _MANY or not all(client.process for client in known)
        here = self._presence.here(known | ours if asks_grpc else known)
        closed = False
        for (_, handle), record in records.items():
            if not record.owner.has(handle):  # it was reset, or a task was lost
                self.forget(record.owner, handle)
                continue
            why = why_abandoned(self._use_of(handle, record, here, now), self._grace)
            if why and record.used <= now:  # else somebody has used it meanwhile
                self.forget(record.owner, handle)
                record.owner.abandon(handle, f"{why}, so that the server closed it")
                closed = True
        if closed:  # a graph and its programs refer to each other
            gc.collect()
            give_back_freed()
        if asks_grpc:
            ours.intersection_update(here)

    def _use_of(self, handle: str, record: _Record, here: set[Client], now: float) -> SessionUse:
        is_busy = record.owner.is_used(handle)
        if is_busy:
            record.used = now
        for client in [each for each in list(record.clients) if each not in here]:
            record.is_ours &= client in self._presence.ours or client.is_watched
            record.clients.discard(client)
            if not record.clients:
                record.lost = now
        is_connected = bool(record.clients) or record.lost == math.inf
        return SessionUse(
            is_busy,
            is_connected,
            not is_connected and record.is_ours and _have_ended(record.processes),
            record.is_ours,
            now - record.used,
            now - record.lost,
        )


def _have_ended(processes: Collection[int]) -> bool:
    """Return whether all clients were processes of this host, and have ended."""
    return bool(processes) and all(map(has_ended, processes))


def has_ended(process: int) -> bool:
    """Return whether a process of this host has ended; who waits for it may not know yet."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _state_of(process) in "ZX"


def _state_of(process: int) -> str:
    """Return the letter of a process's state, such as "Z" for a zombie, "?" if it is not told."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "?"


def connected_peers(port: int, texts: Iterable[str] | None = None) -> set[str] | None:
    """Return "HOST:PORT" of all that are connected to a port; None where that is not known.

    Args:
      port: of this host.
      texts: like that of /proc/net/tcp.
    """
    known = list(tables() if texts is None else texts)
    if not known:
        return None
    return {str(end) for text in known for end in ends_in_table(text, port, ESTABLISHED)}


def here_of(
    port: int, sides: Callable[[], set[Client]]
) -> Callable[[Collection[Client]], set[Client]]:
    """Return what tells which of some clients are connected.

    Args:
      port: where gRPC's clients are.
      sides: returns the clients that are connected for frames.
    """

    def here(asked: Collection[Client]) -> set[Client]:
        by_side = sides()
        # where many tasks share a host, each would read the connections of all of them
        peers = None if all(each.process for each in asked) else connected_peers(port)
        return {each for each in asked if each in by_side or _may_be_here(each, peers)}

    return here


def _may_be_here(client: Client, peers: set[str] | None) -> bool:
    if client.is_watched:
        return False
    end = peer_endpoint(client.name)
    return peers is None or end is None or str(end) in peers
