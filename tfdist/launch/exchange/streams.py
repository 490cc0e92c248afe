"""Messages over a pair of streams: a child's standard input and output, the ends of an ssh."""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Sequence

from tfdist.errors import InvalidArgumentError
from tfdist.launch.exchange.messages import LARGEST, Message, decode, encode

_PIECE = 65536  # bytes that are read at once


class StreamChannel:
    """One end of an exchange over two descriptors, which whoever made them closes.

    Args:
      reader: descriptor that messages come from.
      writer: descriptor that they go to.

    Attributes:
      is_open: whether the other end may still say something.
    """

    interval: float | None = None  # it can be waited for, at `reader`

    def __init__(self, reader: int, writer: int) -> None:
        self.reader, self._writer = reader, writer
        self._rest = b""
        self.is_open = True

    def say(self, message: Message) -> None:
        """Send a message; OSError where nobody reads any more."""
        line = encode(message).encode() + b"\n"
        while line:
            line = line[os.write(self._writer, line) :]

    def heard(self) -> Sequence[Message]:
        """Return the messages that have come, without waiting.

        Raises:
          InvalidArgumentError: a line is no message.
        """
        while self.is_open and select.select([self.reader], [], [], 0.0)[0]:
            piece = b""
            with contextlib.suppress(ConnectionError):
                piece = os.read(self.reader, _PIECE)
            self._rest += piece
            self.is_open = bool(piece)
            if b"\n" in piece:
                break
            if len(self._rest) > LARGEST:
                raise InvalidArgumentError(f"a message has more than {LARGEST} bytes")
        *lines, self._rest = self._rest.split(b"\n")
        return [decode(line) for line in lines if line.strip()]

    def close(self) -> None:
        """Nothing to do; whoever opened the streams closes them."""


def own_streams() -> StreamChannel:
    """Return the end of a process whose standard input and output are the exchange.

    Whatever else the process prints goes to standard error from then on.
    """
    writer = os.dup(1)
    os.dup2(2, 1)
    return StreamChannel(0, writer)
