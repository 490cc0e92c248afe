"""Signs of life between processes of one host: who is frozen has its sockets, and answers nothing.

Whoever calls asks now and then for a sign of life, so that each side hears the other one. Who was
not heard for long may still be busy with something that lets no other thread of it run: as long as
it uses the processor it lives. (Between hosts, gRPC's keepalive and the system's do this.)
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tfdist.wire.common.timeouts import timeouts

_LOOK = 0.5  # of the time between two questions, between two looks at who is silent
_OWN_TICK = 0.618  # seconds for each process number: not all ask at the same moment


class _Seconds(NamedTuple):
    """What `timeouts` come to here: who freezes is given up after at most `alive` + `silence`."""

    bound: float
    pause: float

    @classmethod
    def of_timeouts(cls) -> _Seconds:
        limits = timeouts()
        return cls(limits.alive + limits.silence, min(0.5 * limits.alive, limits.silence))


def _call_at_tick(pause: float, function: Callable[[], None]) -> asyncio.TimerHandle:
    """Have `function` called within `pause` seconds, with all others of this process."""
    loop = asyncio.get_running_loop()
    phase = os.getpid() * _OWN_TICK % pause
    ticks = (loop.time() - phase) // pause
    return loop.call_at((ticks + 1) * pause + phase, function)


class ServerWatch:
    """Asks a server's process now and then for a sign of life; on the loop.

    Args:
      process: its number.
      heard: returns when it showed last that it lives (`time.monotonic`).
      ask: asks it.
      lost: called when it is frozen, once.
    """

    def __init__(
        self,
        process: int,
        heard: Callable[[], float],
        ask: Callable[[], None],
        lost: Callable[[], None],
    ) -> None:
        self._heard, self._ask, self._lost = heard, ask, lost
        bound, self._pause = _Seconds.of_timeouts()
        self._patience = bound - 1.25 * self._pause
        self._asked = 0.0
        self._progress = Progress(process)
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Ask from now on, until `stop`."""
        self._timer = _call_at_tick(self._pause, self._look)

    def stop(self) -> None:
        """Ask no more, and let go of who is told: it has this watch."""
        if self._timer is not None:
            self._timer.cancel()
        self._ask = self._lost = _nothing
        self._heard = time.monotonic

    def _look(self) -> None:
        now = time.monotonic()
        # counted from the question: this process may have been stopped itself, and heard nothing
        if self._heard() >= self._asked:
            self._asked = now
            self._progress.forget()
            self._ask()
            self.begin()
        elif not self._progress.is_there() and now - self._asked >= self._patience:
            self._lost()
        else:
            self._timer = _call_at_tick(_LOOK * self._pause, self._look)


class ClientsWatch:
    """Looks now and then which of a server's clients live; on the loop.

    Args:
      heard: returns when each process showed last that it lives (`time.monotonic`), by its number.
      lost: called with the number of one that is frozen.
    """

    def __init__(
        self, heard: Callable[[], Mapping[int, float]], lost: Callable[[int], None]
    ) -> None:
        self._heard, self._lost = heard, lost
        bound, pause = _Seconds.of_timeouts()
        self._patience, self._pause = bound - 1.5 * pause, pause
        self._silent: dict[int, Progress] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Look from now on, until there are no clients; the second time, do nothing."""
        if self._timer is None:
            pause = _LOOK * self._pause if self._silent else self._pause
            self._timer = _call_at_tick(pause, self._look)

    def stop(self) -> None:
        """Look no more, and let go of who is told: it has this watch."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._heard, self._lost = None, dict, _nothing

    def _look(self) -> None:
        self._timer, heard = None, self._heard()
        late = time.monotonic() - self._patience
        silent = {process for process, last in heard.items() if last < late}
        self._silent = {each: self._silent.get(each) or Progress(each) for each in silent}
        for process in silent:
            if not self._silent[process].is_there():
                self._lost(process)
        if heard:
            self.begin()


def _nothing(*_: int) -> None:
    """Stand in for whom nobody tells any more."""


class Progress:
    """Whether a process of this host uses the processor.

    Args:
      process: its number.
    """

    def __init__(self, process: int) -> None:
        self._process = process
        self._used: float | None = None  # since the last look

    def is_there(self) -> bool:
        """Return whether it has used some since it was looked at last; at first, True."""
        before, self._used = self._used, processor_time(self._process)
        return before is None or self._used > before

    def forget(self) -> None:
        """Forget when it was looked at."""
        self._used = None


def processor_time(process: int) -> float:
    """Return the seconds of processor time that a process has used; -1 where that is not told.

    Example:
      >>> processor_time(os.getpid()) >= 0
      True
    """
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return -1.0
