"""What a way for messages is, whatever they travel over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tfdist.launch.exchange.messages import Message


class Channel(Protocol):
    """One end of an exchange.

    Attributes:
      interval: seconds between two looks where `reader` is None, which cannot be waited for.
      reader: descriptor that becomes readable when something comes.
      is_open: whether the other end may still say something.
    """

    @property
    def interval(self) -> float | None: ...

    @property
    def reader(self) -> int | None: ...

    @property
    def is_open(self) -> bool: ...

    def say(self, message: Message) -> None:
        """Send a message; OSError where nobody reads any more."""

    def heard(self) -> Sequence[Message]:
        """Return the messages that have come, without waiting.

        Raises:
          InvalidArgumentError: something else came.
        """

    def close(self) -> None:
        """Let go of what it holds."""
