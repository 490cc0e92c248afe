"""Where the threads of this process are."""

from __future__ import annotations

import gc
import sys
import threading
from types import FrameType

_LOCK = threading.RLock()  # held while garbage is not collected; a signal may ask, too


def thread_frames() -> dict[int, FrameType]:
    """Return the innermost frame of each thread, by the thread's identifier.

    Garbage is not collected meanwhile. Python before 3.11.9 and 3.12.3 holds the lock of its list
    of threads while it makes the answer; if memory for it begins a collection, and something
    collected lets another thread run, and that thread begins or ends one, both wait for ever
    (https://github.com/python/cpython/issues/106883).
    """
    with _LOCK:
        collects = gc.isenabled()
        gc.disable()
        try:
            return sys._current_frames()
        finally:
            if collects:
                gc.enable()
