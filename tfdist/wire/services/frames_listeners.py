"""Where a server takes frames: at its local path, and for other hosts at a TCP port.

The port is opened when somebody of another host asks for it, so that a cluster on one host has
none.
"""

from __future__ import annotations

import os
import sys
import threading

from tfdist.base.settings import port_setting, setting
from tfdist.errors import OpError
from tfdist.wire.common.calls import Client, Methods
from tfdist.wire.common.host import this_host
from tfdist.wire.common.security import LOOPBACK, WILDCARDS, HostPort
from tfdist.wire.frames.server import FramesListener
from tfdist.wire.frames.tcp import TcpPlace
from tfdist.wire.frames.tls import TlsPlace
from tfdist.wire.frames.unix_sockets import UnixPlace, name_at


class FramesListeners:
    """The listeners of one server.

    Args:
      bound: where its gRPC port is; frames of other hosts come to the same interface.
      is_encrypted: whether callers have to show a certificate there.

    Attributes:
      path: of the local path, or its name; "" where none can be had.
    """

    def __init__(self, bound: HostPort, is_encrypted: bool) -> None:
        self._bound, self._is_encrypted = bound, is_encrypted
        self._lock = threading.Lock()
        self._near, self.path = _local_listener(bound)
        self._far: FramesListener | None = None
        self._port = -1  # before anybody asked
        self._methods: Methods | None = None  # of a server that answers

    def start(self, methods: Methods) -> None:
        """Answer calls of `methods`."""
        self._methods = methods
        if self._near is not None:
            self._near.start(methods)

    def port(self) -> int:
        """Return the port for other hosts, opened now if it was not; 0 if there is none."""
        with self._lock:
            if self._methods is None:
                return 0
            if self._port < 0:
                place = _tcp_place(self._bound, self._is_encrypted)
                self._port = place.port if place is not None else 0
                if place is not None:
                    self._far = FramesListener(place)
                    self._far.start(self._methods)
            return self._port

    def clients(self) -> set[Client]:
        """Return who is connected."""
        found: set[Client] = set()
        for each in (self._near, self._far):
            found |= each.clients() if each is not None else set()
        return found

    def stop(self) -> None:
        """End all connections, and free port and path."""
        with self._lock:
            listeners = self._near, self._far
            self._near = self._far = self._methods = None
        for each in listeners:
            if each is not None:
                each.stop()


def _local_listener(bound: HostPort) -> tuple[FramesListener | None, str]:
    """Return a local path, or none where none can be had: gRPC does the same, more slowly."""
    host = LOOPBACK if bound.host in WILDCARDS else bound.host
    try:
        place = UnixPlace(name_at(f"{host}:{bound.port}", this_host()))
    except (OSError, OpError):
        return None, ""
    return FramesListener(place), place.path


def _tcp_place(bound: HostPort, is_encrypted: bool) -> TcpPlace | None:
    """Return where other hosts send frames, by the rules that hold for the gRPC port."""
    if setting("TFDIST_TRANSPORT") == "grpc":
        return None
    port = port_setting("TFDIST_FRAMES_PORT")
    try:
        return (TlsPlace if is_encrypted else TcpPlace)(bound.host, port)
    except OSError as error:
        print(
            f"tfdist: the server at {bound} takes no frames of other hosts, which call it by gRPC "
            f"only: port {port} cannot be bound ({os.strerror(error.errno or 0)})",
            file=sys.stderr,
        )
        return None
