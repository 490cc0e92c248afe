"""The event loop of this process's network side (asyncio), on a thread of its own.

It runs while somebody holds it: servers and callers take hold when they begin and let go when
they are closed. A thousand blocked calls wait on this one thread.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import TypeVar

from tfdist.runtime.devices.denormals import flush_here

T = TypeVar("T")

_ENDING = 0.5  # seconds that tasks have to end by themselves when the loop ends


class LoopThread:
    """An asyncio loop that runs on its own thread while it is held."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._left: asyncio.AbstractEventLoop | None = None

    def hold(self) -> asyncio.AbstractEventLoop:
        """Return the loop, running; it goes on until `release` was called as often as `hold`."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._run, args=(self._loop,), name="tfdist-wire", daemon=True
                )
                self._thread.start()
            self._holders += 1
            return self._loop

    def release(self) -> None:
        """Let go of the loop; the last one to do so waits until its thread has ended."""
        with self._lock:
            self._holders -= 1
            if self._holders or self._loop is None:
                return
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        loop.call_soon_threadsafe(loop.stop)
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def run(self, work: Coroutine[object, None, T]) -> T:
        """Return the result of `work`, done on the loop, to a thread that is not its own."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def soon(self, function: Callable[..., object], *arguments: object) -> None:
        """Call `function` on the loop; nothing happens if it does not run any more."""
        loop = self._loop
        try:
            if loop is not None:
                loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            pass  # closed in this moment

    @property
    def is_current(self) -> bool:
        """Return whether the calling thread is the loop's."""
        return threading.current_thread() is self._thread

    def abandon(self) -> None:
        """Let go of the loop of the parent of this forked process: no thread runs it here."""
        self._left, self._loop, self._thread = self._loop, None, None  # closed by the parent only
        self._lock, self._holders = threading.Lock(), 0

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        flush_here()  # short steps run on this thread
        try:
            loop.run_forever()
            loop.run_until_complete(_end_tasks())
        finally:
            loop.close()


def guarded(function: Callable[[], object]) -> None:
    """Call a function that is not ours; the loop goes on whatever it raises."""
    try:
        function()
    except Exception:
        thread = threading.current_thread()
        threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), thread)))


async def _end_tasks() -> None:
    """End what still runs: a task that is dropped with its loop says so on stderr."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    if not tasks:
        return
    _, left = await asyncio.wait(tasks, timeout=_ENDING)  # gRPC's dislike to be cancelled
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


LOOP = LoopThread()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LOOP.abandon)
