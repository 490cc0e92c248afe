"""Waits at a `SimpleQueue` that end in time."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import TypeVar

Item = TypeVar("Item")


def get_in_time(inbox: SimpleQueue[Item], timeout: float) -> Item:
    """Return the next item of `inbox`; queue.Empty if there is none for `timeout` seconds.

    CPython 3.11 waits for ever if a thread is held up as long as its time-out (a process that is
    stopped, a computer that sleeps) in a `get` that finds the queue's lock free. A `get` in vain
    takes the lock, and only a new item frees it.
    """
    try:
        return inbox.get_nowait()
    except Empty:
        pass  # wait outside the handler: what ends the wait is no error in the handling of another
    return inbox.get(timeout=timeout)
