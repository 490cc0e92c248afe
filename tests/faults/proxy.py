"""A TCP proxy that can be a black hole or a bad line, or cut a connection within a message.

To the programs at its ends it is the network; unlike a packet filter it needs no rights.
"""

from __future__ import annotations

import contextlib
import random
import select
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

Direction = Literal["to server", "to client"]
How = Literal["reset", "half close"]

_CHUNK = 65_536  # bytes
_LOOK_UP = 0.01  # seconds after which a thread sees that a direction was opened or shut
_LOST, _AGAIN = 0.2, 0.2  # share of pieces that a bad line loses; seconds until they come again
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close() sends RST instead of FIN


class _Cut:
    """Where a direction ends: after so many more bytes."""

    def __init__(self, after: int, how: How) -> None:
        self.left, self.how = after, how
        self.done = threading.Event()


class Proxy:
    """Forwards connections to another port of the loopback.

    Args:
      server: "HOST:PORT" to forward to.

    Attributes:
      address: "HOST:PORT" of the proxy.
    """

    def __init__(self, server: str) -> None:
        host, _, port = server.rpartition(":")
        self._server = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self._swallowed: frozenset[Direction] = frozenset()
        self._dice: random.Random | None = None
        self._cuts: dict[Direction, _Cut] = {}
        self._carried = {"to server": 0, "to client": 0}
        self._closed = False
        self._threads: list[threading.Thread] = []
        self._begin(self._accept)

    def swallow(self, *directions: Direction) -> None:
        """Forward nothing more in `directions`; connections stay open."""
        with self._lock:
            self._swallowed = frozenset(directions)

    def disturb(self, seed: int) -> None:
        """Hold back every fifth piece, at random, as long as TCP takes to send it again."""
        self._dice = random.Random(seed)

    def heal(self) -> None:
        """Forward everything again, what was held back included, and at once."""
        self._swallowed, self._dice = frozenset(), None

    def cut(self, direction: Direction, after: int, how: How) -> threading.Event:
        """Cut, once, the connection that carries byte number `after` from now on in `direction`.

        Returns:
          What is set when it has happened.
        """
        cut = _Cut(after, how)
        with self._lock:
            self._cuts[direction] = cut
        return cut.done

    def carried(self, direction: Direction) -> int:
        """Return how many bytes went in `direction` so far."""
        return self._carried[direction]

    def close(self) -> None:
        """End all connections and free the port."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _begin(self, function: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=function, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                self._begin(self._connect, self._listener.accept()[0])

    def _connect(self, client: socket.socket) -> None:
        with client:
            try:
                server = socket.create_connection(self._server)
            except OSError:  # nobody is there: nor is here
                _set_reset(client)
                return
            with server:
                self._carry(client, server)

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        for each in (client, server):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ways: dict[Direction, tuple[socket.socket, socket.socket]] = {
            "to server": (client, server), "to client": (server, client)
        }  # fmt: skip
        with contextlib.suppress(OSError):  # an end is gone
            while ways and not self._closed:
                for direction in self._readable(ways):
                    if not self._forward(*ways[direction], direction):
                        del ways[direction]

    def _readable(self, ways: dict[Direction, tuple[Any, Any]]) -> list[Direction]:
        sources = {ways[each][0]: each for each in ways if each not in self._swallowed}
        ready, _, _ = select.select(list(sources), [], [], _LOOK_UP)
        return [sources[each] for each in ready]

    def _forward(self, source: Any, sink: Any, direction: Direction) -> bool:
        """Forward what is there; returns whether more can come in this direction."""
        dice = self._dice
        if dice is not None and dice.random() < _LOST:
            time.sleep(_AGAIN)
        with self._lock:
            if direction in self._swallowed:  # since the look at what is readable
                return True
            data = source.recv(_CHUNK)
        cut, data = self._cut_in(data, direction)
        sink.sendall(data)
        self._carried[direction] += len(data)
        if cut is None and data:
            return True
        if cut is None or cut.how == "half close":
            sink.shutdown(socket.SHUT_WR)
        if cut is not None:
            cut.done.set()
        if cut is not None and cut.how == "reset":
            for each in (source, sink):
                _set_reset(each)
            raise ConnectionResetError
        return False

    def _cut_in(self, data: bytes, direction: Direction) -> tuple[_Cut | None, bytes]:
        """Return the cut if it is due in `data`, and what of `data` comes before it."""
        with self._lock:
            cut = self._cuts.get(direction)
            if cut is None or cut.left > len(data):
                if cut is not None:
                    cut.left -= len(data)
                return None, data
            del self._cuts[direction]
            return cut, data[: cut.left]


def _set_reset(each: socket.socket) -> None:
    """Let the end of a connection be RST, not FIN."""
    each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
