"""A thread pool whose threads begin when there is something to do, and end after idle moments."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue

from tfdist.base.inboxes import get_in_time
from tfdist.runtime.devices.denormals import flush_here

IDLE = 1.0  # seconds after which a thread that has nothing to do ends

_Function = Callable[[], None]
_Inbox = SimpleQueue[_Function | None]


class Pool:
    """Calls functions, each on one of a few threads.

    A free thread waits at its inbox. The one that was busy last is taken first, so that those
    which are too many end.

    Args:
      most: number of threads at most.
      name: of each of them.
      idle: seconds after which a thread that has nothing to do ends; IDLE by default.
      computes: whether the process's end waits for what its threads do; not for what may wait.
    """

    def __init__(
        self, most: int, name: str, idle: float | None = None, computes: bool = True
    ) -> None:
        self._most, self._name, self._idle = most, name, idle
        self.computes = computes
        self._is_stopped = False
        self.abandon()
        _pools.add(self)

    def abandon(self) -> None:
        """Begin anew, without threads: in a forked process they are the parent's."""
        self._lock = threading.Lock()
        self._threads: set[threading.Thread] = set()
        self._free: list[_Inbox] = []
        self._functions: deque[_Function] = deque()  # for which there is no thread yet

    def submit(self, function: _Function) -> None:
        """Have `function` called soon; RuntimeError if there is no thread to be had."""
        with self._lock:
            if self._is_stopped:
                raise RuntimeError("the pool was stopped")
            if self._free:
                self._free.pop().put(function)
            elif len(self._threads) >= self._most or not self._began(function):
                self._functions.append(function)

    def stop(self) -> None:
        """Take no more functions, and let the threads end after those that were submitted."""
        with self._lock:
            self._is_stopped = True
            while self._free:
                self._free.pop().put(None)

    def join(self) -> None:
        """Wait until the threads of a pool that was stopped have ended."""
        for thread in list(self._threads):
            thread.join()

    def _began(self, function: _Function) -> bool:
        """Start a thread for `function`; returns whether there was one to be had.

        Raises:
          RuntimeError: there was none, and no other thread would ever call it.
        """
        inbox: _Inbox = SimpleQueue()
        thread = threading.Thread(target=self._work, args=(inbox,), name=self._name, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            if self._threads:
                return False
            raise
        self._threads.add(thread)
        inbox.put(function)
        return True

    def _work(self, inbox: _Inbox) -> None:
        flush_here()  # it runs steps
        function = inbox.get()
        while function is not None:
            _call(function)
            del function  # it may keep much alive
            function = self._next(inbox)

    def _next(self, inbox: _Inbox) -> _Function | None:
        """Return what this thread is to call next; None if it is to end."""
        with self._lock:
            if self._functions:
                return self._functions.popleft()
            if self._is_stopped:
                return None
            self._free.append(inbox)
        try:
            return get_in_time(inbox, IDLE if self._idle is None else self._idle)
        except Empty:
            return self._leave(inbox)

    def _leave(self, inbox: _Inbox) -> _Function | None:
        with self._lock:
            if inbox in self._free:
                self._free.remove(inbox)
                self._threads.discard(threading.current_thread())
                return None
        return inbox.get()  # it came in this moment


def _call(function: _Function) -> None:
    try:
        function()
    except BaseException:  # told as if the thread had died
        threading.excepthook(
            threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread()))
        )


_pools: weakref.WeakSet[Pool] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """Let no thread compute while the interpreter is taken down: the process might hang."""
    for pool in list(_pools):
        pool.stop()
    for pool in list(_pools):
        if pool.computes:
            pool.join()


def _abandon_all() -> None:
    for pool in list(_pools):
        pool.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
