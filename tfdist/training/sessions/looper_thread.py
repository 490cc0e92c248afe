"""LooperThread: a thread that does one thing again and again, until its coordinator stops it.

Source: TF 1.15 API documentation, tf.train.LooperThread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfdist.training.sessions.coordinator import Coordinator

__all__ = ["LooperThread"]


class LooperThread(threading.Thread):
    """Calls a function until a coordinator's stop; an error in it stops all.

    A subclass may override `start_loop`, `run_loop` and `stop_loop` instead of passing `target`.

    Args:
      coord: a Coordinator, which the thread is registered with.
      timer_interval_secs: from the beginning of one call to that of the next; None calls without
        a pause.
      target: function to call.
      args: its positional arguments.
      kwargs: its arguments by name.

    Raises:
      ValueError: `coord` is none, or there are arguments without a target.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Iterable[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        if target is None and (args is not None or kwargs is not None):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        super().__init__(daemon=True)
        self._coord = coord
        self._interval = timer_interval_secs
        self._loop_target = target
        self._loop_args, self._loop_kwargs = tuple(args or ()), dict(kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Iterable[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """Return a started thread; see the class for the arguments."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """Loop until the stop."""
        with self._coord.stop_on_exception():
            self.start_loop()
            following = time.monotonic()
            while not self._coord.wait_for_stop(max(0.0, following - time.monotonic())):
                following += self._interval or 0.0
                self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Do what comes before the first round."""

    def run_loop(self) -> None:
        """Call the target once."""
        if self._loop_target is not None:
            self._loop_target(*self._loop_args, **self._loop_kwargs)

    def stop_loop(self) -> None:
        """Do what comes after the last round."""
