"""Ports of the loopback that nobody else takes before a server of a test does.

They lie below those that the system gives out by itself, to outgoing connections and to whoever
binds port 0: one of those could go to another test's process meanwhile.
"""

import contextlib
import random
import socket

_PORTS = range(20_000, 32_000)
_chance = random.SystemRandom()  # the common one may have been seeded


def free_ports(count: int) -> list[int]:
    """Return different ports that nobody has bound."""
    found: list[int] = []
    with contextlib.ExitStack() as held:
        while len(found) < count:
            holder = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                holder.bind(("127.0.0.1", _chance.choice(_PORTS)))
                found.append(holder.getsockname()[1])
    return found


def free_port() -> int:
    """Return a port that nobody has bound."""
    [port] = free_ports(1)
    return port
