"""Ctrl-C and SIGTERM of a server's own process: noted at a descriptor that can be waited for."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def wakeup() -> Iterator[int]:
    """Yield a descriptor that becomes readable on Ctrl-C and SIGTERM."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _noted)
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(-1)
        os.close(reader)
        os.close(writer)


def let_signals_end_the_process() -> None:
    """Let a second Ctrl-C or SIGTERM end what takes too long."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _noted(number: int, frame: FrameType | None) -> None:
    """Do nothing: that there was a signal is seen at the descriptor."""
