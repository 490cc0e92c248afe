"""Event loop or thread pool: what resumes the steps that other processes asked for.

Short steps run on the loop's own thread, where their calls arrive and nothing has to be handed
over. The others get a thread of the pool, so that the loop stays free for calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tfdist.wire.common.loop import LOOP
from tfdist.wire.common.thread_pool import Pool

_THREADS = 32  # of steps that compute at the same time; those that wait need none


class LoopRunner:
    """Resumes steps (a `runtime.step.async_driver.Runner`) while a server runs."""

    def __init__(self) -> None:
        self._loop = LOOP.hold()
        self._pool = Pool(_THREADS, "tfdist-step")

    def submit(self, function: Callable[[], None], is_light: bool) -> None:
        """See `Runner.submit`."""
        try:
            if not is_light:
                self._pool.submit(function)
            elif LOOP.is_current:
                self._loop.call_soon(function)
            else:
                self._loop.call_soon_threadsafe(function)
        except RuntimeError:  # stopped; what is left of the step ends here and now
            function()

    def later(self, seconds: float, function: Callable[[], None]) -> Callable[[], None]:
        """See `Runner.later`."""
        timer = _Timer(seconds, function)
        LOOP.soon(timer.begin)
        return lambda: LOOP.soon(timer.call_off)

    def stop(self) -> None:
        """Let go of the loop and the pool."""
        self._pool.stop()
        LOOP.release()


class _Timer:
    """A call that is made after a while, unless it is called off; lives on the loop's thread."""

    def __init__(self, seconds: float, function: Callable[[], None]) -> None:
        self._seconds, self._function = seconds, function
        self._is_off = False
        self._handle: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Start the clock."""
        if not self._is_off:
            loop = asyncio.get_running_loop()
            self._handle = loop.call_later(self._seconds, self._function)

    def call_off(self) -> None:
        """Let the call not be made."""
        self._is_off = True
        if self._handle is not None:
            self._handle.cancel()
