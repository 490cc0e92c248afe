"""The way to a process, and the connections that are made by it."""

from __future__ import annotations

import errno
from typing import Protocol

from tfdist.errors import UnavailableError
from tfdist.wire.frames.connection import Connection
from tfdist.wire.frames.streams import Stream


class Way(Protocol):
    """How a process is connected to; its text says where it is."""

    def connect(self) -> Stream:
        """Return a new connection.

        Raises:
          UnavailableError: somebody else is there, or who does not let this process in.
          OSError: nobody answers, or this process has no descriptor left.
        """


def connected(way: Way, greeting: tuple[str, bytes] | None) -> Connection | None:
    """Return a new connection that has said who calls, or None if there is no descriptor left.

    Raises:
      UnavailableError: nobody listens, or somebody who is not to be trusted.
    """
    try:
        connection = Connection(way.connect())
    except UnavailableError as error:
        raise UnavailableError(unreachable(way, error.message)) from None
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            return None
        raise UnavailableError(unreachable(way, str(error))) from None
    try:
        if greeting is not None:
            connection.notify(greeting[0], [greeting[1]])
    except BaseException:
        connection.close()
        raise
    return connection


def unreachable(way: Way, why: str) -> str:
    """Return the sentence that nobody answers on a way."""
    return f"{way} cannot be reached: {why}; its server has probably ended"
