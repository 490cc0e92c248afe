"""The gate of a private network: a process with one foot inside and one outside.

    python -m tfdist.launch.gate '{"inside": [PORTS], "outside": [PORTS], "parent": PID}'

Servers of TensorFlow listen on every interface and do what anyone who reaches them says. So they
get a network that has nothing but a loopback interface of its own, and this process hands on what
is meant for them: a connection to the outer loopback at one of the ports `inside` goes to that port
inside, if it belongs to this user (`wire.common.same_user`); one from inside to one of the ports
`outside` goes to the outer loopback. Nothing else comes in or out.

A socket belongs to the network of the thread that made it, whoever uses it later. One thread of
this process has moved inside and makes the inner sockets; the network lives as long as a process
has a thread there. Who enters needs the names of two files, which the line says that comes when
the gate is open. What is handed on is copied once, by two threads per connection: simple, and
quicker than the servers' own copying.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import selectors
import socket
import struct
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from tfdist.launch.serve import LOOK_AT_PARENT, STDIN
from tfdist.wire.common.same_user import SameUser
from tfdist.wire.common.security import LOOPBACK, HostPort

PIECE = 2**20  # bytes that are copied at once
STACK = 256 * 1024  # bytes of a thread's stack: there may be hundreds

# Linux, <sched.h>, <net/if.h> and <linux/sockios.h>.
_CLONE_NEWNET = 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_FLAGS = struct.Struct("16sH14x")  # struct ifreq: name and flags


class PrivateNamespace:
    """A new network with a loopback interface, and a thread that lives in it.

    Raises:
      OSError: this process may not make one.

    Attributes:
      path: of the file that stands for the network, for whoever enters it.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "tfdist-inside")
        self.path = self._thread.submit(_enter_new_network).result()

    def listen(self, port: int) -> socket.socket:
        """Return a socket that listens inside."""
        return self._thread.submit(socket.create_server, (LOOPBACK, port)).result()

    def socket(self) -> socket.socket:
        """Return a TCP socket that can connect inside."""
        return self._thread.submit(socket.socket).result()


def _enter_new_network() -> str:
    library = ctypes.CDLL(None, use_errno=True)
    library.unshare.argtypes = (ctypes.c_int,)
    if library.unshare(_CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"unshare: {os.strerror(ctypes.get_errno())}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as anything:
        request = fcntl.ioctl(anything, _SIOCGIFFLAGS, _FLAGS.pack(b"lo", 0))
        name, flags = _FLAGS.unpack(request)
        fcntl.ioctl(anything, _SIOCSIFFLAGS, _FLAGS.pack(name, flags | _IFF_UP))
    return f"/proc/{os.getpid()}/task/{threading.get_native_id()}/ns/net"


class ForwardedPort(NamedTuple):
    """One port at which connections come in, from one side.

    Attributes:
      listener: on the side that they come from.
      inside: of the network that they go to, None for the outer one.
      guard: tells who may not come in; None where everyone may.
    """

    listener: socket.socket
    inside: PrivateNamespace | None
    guard: SameUser | None

    def let_in(self) -> None:
        """Take a connection and hand on what it brings."""
        comer, peer = self.listener.accept()
        if self.guard is not None:
            refusal = self.guard.refusal(f"ipv4:{peer[0]}:{peer[1]}")
            if refusal is not None:
                print(refusal.message, file=sys.stderr, flush=True)
                comer.close()
                return
        goal = socket.socket() if self.inside is None else self.inside.socket()
        address = self.listener.getsockname()
        threading.Thread(target=_connect, args=(comer, goal, address), daemon=True).start()


def _connect(comer: socket.socket, goal: socket.socket, address: tuple[str, int]) -> None:
    """Copy both ways until both have ended, then close both."""
    with comer, goal:
        try:
            goal.connect(address)
        except OSError:  # nobody listens there: the comer sees its connection end
            return
        for each in (comer, goal):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=_copy, args=(goal, comer), daemon=True)
        back.start()
        _copy(comer, goal)
        back.join()


def _copy(source: socket.socket, drain: socket.socket) -> None:
    piece = memoryview(bytearray(PIECE))
    with contextlib.suppress(OSError):  # one of both was cut off: so is the other
        while count := source.recv_into(piece):
            drain.sendall(piece[:count])
    for each, how in ((drain, socket.SHUT_WR), (source, socket.SHUT_RD)):
        with contextlib.suppress(OSError):
            each.shutdown(how)


def forwarded_ports(
    network: PrivateNamespace, inside: Sequence[int], outside: Sequence[int]
) -> list[ForwardedPort]:
    """Return what forwards each port; see the module's docstring."""
    inner = [
        ForwardedPort(_listen(port), network, SameUser(HostPort(LOOPBACK, port))) for port in inside
    ]
    return [*inner, *(ForwardedPort(network.listen(port), None, None) for port in outside)]


def _listen(port: int) -> socket.socket:
    """Return a listener in the outer network; `create_server` reuses a port that is kept."""
    return socket.create_server((LOOPBACK, port), backlog=128)


def main() -> None:
    """Be the gate until the lifeline or the parent ends."""
    settings = json.loads(sys.argv[1])
    threading.stack_size(STACK)
    network = PrivateNamespace()
    with selectors.DefaultSelector() as waiting:
        for forwarded in forwarded_ports(network, settings["inside"], settings["outside"]):
            waiting.register(forwarded.listener, selectors.EVENT_READ, forwarded.let_in)
        waiting.register(STDIN, selectors.EVENT_READ, partial(os._exit, 0))
        print(network.path, flush=True)
        while os.getppid() == settings["parent"]:
            for key, _ in waiting.select(LOOK_AT_PARENT):
                with contextlib.suppress(OSError):  # who came has gone again
                    key.data()
    os._exit(0)  # threads may wait for ever in connections


if __name__ == "__main__":
    main()
