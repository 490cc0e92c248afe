"""Releases: telling senders that nothing refers to their messages any more.

That nothing does is learned in finalizers, which run on any thread at any moment: inside of
whoever holds a lock, and where Ctrl-C would be swallowed. So they put a note in a queue that is
made for that (`queue.SimpleQueue`), and a thread of its own tells.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

Note = Callable[[], None]


class ReleaseThread:
    """A thread that does what was noted; it runs while somebody holds it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._notes: SimpleQueue[Note | None] = SimpleQueue()

    def hold(self) -> None:
        """Have the thread run until `release` was called as often as this."""
        with self._lock:
            self._holders += 1
            if self._holders == 1:
                self._notes = SimpleQueue()
                threading.Thread(
                    target=_run, args=(self._notes,), name="tfdist-release", daemon=True
                ).start()

    def release(self) -> None:
        """Let go of the thread; it ends when nobody holds it."""
        with self._lock:
            self._holders -= 1
            if not self._holders:
                self._notes.put(None)

    def note(self, note: Note) -> None:
        """Have `note` called soon; this never waits, and does not let another thread run."""
        self._notes.put(note)

    def abandon(self) -> None:
        """Let go of the thread of the parent of this forked process: there is none here."""
        self._lock, self._holders = threading.Lock(), 0
        self._notes = SimpleQueue()


def _run(notes: SimpleQueue[Note | None]) -> None:
    while (note := notes.get()) is not None:
        note()
        del note  # it keeps a connection


RELEASES = ReleaseThread()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=RELEASES.abandon)
