"""How a thread waits for the answer to its call: awake at first, then asleep, up for signals."""

from __future__ import annotations

import os
import threading
import time
from queue import Empty, SimpleQueue

from tfdist.base.inboxes import get_in_time
from tfdist.errors import OpError
from tfdist.runtime.step.interrupts import LOOK_UP
from tfdist.wire.codec.frames import Frame
from tfdist.wire.frames.connection import Connection

_AWAKE = 60e-6 if hasattr(os, "sched_yield") else 0.0  # seconds before a caller sleeps
_LONG_WAIT = 5.0  # seconds after which other threads than the main one look up


def wait_at(connection: Connection, deadline: float) -> Frame:
    """Return the frame of the answer that comes at a connection of its own.

    Raises:
      TimeoutError: there was none before `deadline`.
      UnavailableError: the connection broke or was closed.
    """
    at_once = _quick_answer(connection)
    if at_once:
        return at_once[0]
    longest = _longest_wait()
    while (left := deadline - time.monotonic()) > 0:
        connection.set_patience(min(longest, left))
        try:
            arrived = connection.receive(wait=True)
        except BlockingIOError:
            continue
        if arrived:
            return arrived[0]
    raise TimeoutError


def _quick_answer(connection: Connection) -> list[Frame]:
    """Return the answer if it comes at once: a thread that does not sleep need not be woken.

    That halves the time of a short call where the other process runs on another core; to yield
    lets it run where there is one core for both.
    """
    end = time.monotonic() + _AWAKE
    while time.monotonic() < end:
        try:
            return connection.receive()
        except BlockingIOError:
            os.sched_yield()
    return []


def wait_for(answers: SimpleQueue[memoryview | OpError], deadline: float) -> memoryview | OpError:
    """Return the answer that another thread puts there.

    Raises:
      TimeoutError: there was none before `deadline`.
    """
    longest = _longest_wait()
    while (left := deadline - time.monotonic()) > 0:
        try:
            return get_in_time(answers, min(longest, left))
        except Empty:
            continue
    raise TimeoutError


def _longest_wait() -> float:
    """Return after how many seconds this thread looks up: a signal may come just before a wait."""
    is_main = threading.current_thread() is threading.main_thread()
    return LOOK_UP if is_main else _LONG_WAIT
