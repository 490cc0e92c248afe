"""Connections that a server with TLS does not let in: its log says from where they come.

gRPC refuses strangers in the handshake, and tells nobody: it only lets know that a handshake
begins. The kernel says then who is connected; who has made no call and is gone a moment later was
refused. A transport that shakes hands itself knows why, and tells `Refusals.say`.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time

from tfdist.wire.common.connection_ends import connected_to, end_of
from tfdist.wire.common.loop import LOOP
from tfdist.wire.common.security import HostPort

HANDSHAKE = 10.0  # seconds that one may take
UNKNOWN = (
    "it speaks no TLS, shows no certificate of this cluster's authority that holds now, or does "
    "not believe this server's"
)
_MOMENT = 0.5  # seconds, after which it is looked whether a handshake has failed
_QUIET = 60.0  # seconds in which a host is told of once
_HOSTS = 1000  # that are remembered
_LOOKS = 20  # a second: a busy host's table is long


class Refusals:
    """Tells on stderr who was not let in; any thread may call it.

    Args:
      server: address of the server.
    """

    def __init__(self, server: HostPort) -> None:
        self._server = server
        self._told: dict[str, tuple[float, int]] = {}  # by host: when, and how many since then
        self._lock = threading.Lock()

    def say(self, peer: HostPort, reason: str = UNKNOWN) -> None:
        """Tell that a connection was refused, unless its host was told of a moment ago."""
        now = time.monotonic()
        with self._lock:
            when, more = self._told.pop(peer.host, (-_QUIET, 0))
            is_quiet = now - when < _QUIET
            self._told[peer.host] = (when, more + 1) if is_quiet else (now, 0)
            if len(self._told) > _HOSTS:
                del self._told[next(iter(self._told))]
        if not is_quiet:
            others = f"; and {more} more from there in between" if more else ""
            print(
                f"tfdist: {self._server} refused a connection from {peer} in its handshake: "
                f"{reason}{others}",
                file=sys.stderr,
            )


class HandshakeWatch:
    """Finds out whose handshakes fail, and says so, once it is started."""

    def __init__(self) -> None:
        self._port = 0
        self._refusals: Refusals | None = None
        self._lock = threading.Lock()
        self._known: set[HostPort] = set()  # connected when somebody came last
        self._quiet: dict[HostPort, float] = {}  # came then, and made no call so far
        self._heard: set[str] = set()  # made one; as gRPC writes them
        self._second, self._looks = 0.0, 0  # when the latest second began, and looks in it
        self._timer: asyncio.TimerHandle | None = None

    def start(self, server: HostPort) -> None:
        """Look at the handshakes of a server.

        Args:
          server: where it listens.
        """
        self._port, self._refusals = server.port, Refusals(server)

    def begun(self) -> None:
        """Note who is connected: a handshake begins, on some thread."""
        now = time.monotonic()
        with self._lock:
            if self._refusals is None or not self._may_look(now):
                return
            connected = connected_to(self._port)
            self._quiet.update(dict.fromkeys(connected - self._known, now))
            self._known = connected
        LOOP.soon(self._look_soon)

    def _may_look(self, now: float) -> bool:
        """Return whether this is one of the first looks of a second; several may come at once."""
        if now - self._second >= 1:
            self._second, self._looks = now, 0
        self._looks += 1
        return self._looks <= _LOOKS

    def heard(self, peer: str) -> None:
        """Note that somebody makes a call, and so was let in; called on the loop."""
        self._heard.add(peer)

    def close(self) -> None:
        """Look no more; called on the loop."""
        self._refusals = None
        if self._timer is not None:
            self._timer.cancel()

    def _look_soon(self) -> None:
        if self._timer is None and self._refusals is not None:
            self._timer = asyncio.get_running_loop().call_later(_MOMENT, self._look)

    def _look(self) -> None:
        self._timer = None
        for end in self._refused():
            if self._refusals is not None:
                self._refusals.say(end)
        if self._quiet:
            self._look_soon()

    def _refused(self) -> set[HostPort]:
        """Return who is gone without a call; and forget whom there is nothing to find out about."""
        let_in = time.monotonic() - HANDSHAKE - _MOMENT  # who came before that, and is still there
        with self._lock:
            connected = connected_to(self._port)
            heard = {peer: end_of(peer) for peer in self._heard}
            self._heard = {peer for peer, end in heard.items() if end in connected}
            unheard = self._quiet.keys() - set(heard.values())
            waiting = {end for end in unheard & connected if self._quiet[end] > let_in}
            self._quiet = {end: self._quiet[end] for end in waiting}
        return unheard - connected
