"""The memory watchdog of a process that others may use: it sees to it that none runs out.

Servers share it. Its thread looks how much memory the process has, the more often the less is left,
and tells kernels how large a new array may be (`base.room`). When the process has more than its
limit, what was freed goes back to the system; is that not enough, the step that holds most ends
with ResourceExhaustedError, and queues and the like take nothing until there is room again. All
else goes on.

No kernel can be stopped while it computes, and most of them just ask NumPy for memory. In a process
that only serves, the guard therefore has the system refuse what is far beyond what is left
(`_Edge`): NumPy gets MemoryError then, and the step ends as it does elsewhere.
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
import time
from typing import Any

from tfdist.base.aliases import TensorValue
from tfdist.base.room import ROOM
from tfdist.runtime.resources.exhausted import step_too_large
from tfdist.runtime.resources.inplace_values import InplaceValue
from tfdist.runtime.resources.memory_limit import MemoryLimit, memory_limit
from tfdist.runtime.step.step import Step
from tfdist.runtime.task.census import master_steps, process_bytes
from tfdist.runtime.task.masters import local_masters
from tfdist.runtime.task.memory_use import held_by
from tfdist.runtime.task.peers import LocalTask

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

_SMALL = 1 << 20  # bytes; what takes less is never refused
_FASTEST = 4e9  # bytes a second: memory does not fill up faster
_OFTEN, _SELDOM = 0.01, 1.0  # seconds between two looks
_PATIENCE = 0.1  # seconds between two returns of what was freed
_MERCY = 1.0  # seconds that a stopped step has to end before the next one is stopped
_BEYOND = 1 << 29  # bytes that the edge leaves: for threads' stacks, and what malloc takes ahead


class MemoryGuard:
    """Watches the memory of this process while it has servers.

    Args:
      limit: what the process may have; see `memory_limit`.
    """

    def __init__(self, limit: MemoryLimit) -> None:
        self.limit = limit
        self._edge = _Edge()
        self._stop = threading.Event()
        self._measured = self._struck = -math.inf  # when (`time.monotonic`)
        self._stopped: Step | None = None  # the step that was stopped last
        self._thread = threading.Thread(target=self._watch, name="tfdist-memory", daemon=True)

    def start(self, only_serves: bool) -> None:
        """Begin to watch.

        Args:
          only_serves: whether the process does nothing else, so that the system may refuse it
            memory.
        """
        ROOM.limit = self.limit.process
        self._edge.is_set = only_serves and self.limit.process < math.inf
        self._look()
        ROOM.look = self._measure
        self._thread.start()

    def stop(self) -> None:
        """End it; what the process may have is the system's matter again."""
        self._stop.set()
        self._thread.join()
        self._edge.remove()
        ROOM.limit = ROOM.bytes = math.inf
        ROOM.is_short, ROOM.look = False, None

    def _watch(self) -> None:
        while not self._stop.wait(pause(ROOM.bytes, self.limit)):
            self._look()

    def _look(self) -> None:
        """Find out how much is left, and stop what takes too much."""
        now, used = time.monotonic(), process_bytes()
        if used > self.limit.process and now - self._measured > _PATIENCE:
            used = self._measure()
        else:
            self._note(used)
        if used > self.limit.process or self.limit.step < math.inf:
            self._strike(now, used)

    def _measure(self) -> int:
        """Note what is left when what was freed is given back to the system; return what is used.

        Any thread may call this: somebody is about to be refused.
        """
        give_back_freed()
        self._measured, used = time.monotonic(), process_bytes()
        self._note(used)
        return used

    def _note(self, used: int) -> None:
        left = self.limit.process - used
        ROOM.bytes = max(min(left, self.limit.step), _SMALL)
        ROOM.is_short = left < 0
        self._edge.follow(left)

    def _strike(self, now: float, used: int) -> None:
        """Stop the step that holds most, unless one is ending now."""
        steps = local_steps()
        if self._stopped in steps and now - self._struck < _MERCY:
            return
        running = [step for step in steps if step.error is None]
        if not running:
            return
        try:
            held = held_by(running, kept_arrays())
        except RuntimeError:  # a table changed while it was looked through; the next look is soon
            return
        step = max(held, key=lambda each: held[each])
        is_own = held[step] > self.limit.step
        if is_own or (used > self.limit.process and held[step] >= _SMALL):
            limit = self.limit.step if is_own else self.limit.process
            self._stopped, self._struck = step, now
            step.abort(step_too_large(held[step], used, limit, is_own))


def pause(left: float, limit: MemoryLimit) -> float:
    """Return the seconds until the next look: before what is left can be filled.

    Example:
      >>> pause(40e9, MemoryLimit(50e9)), pause(100e6, MemoryLimit(50e9))
      (1.0, 0.0125)
    """
    least = min(left, limit.step)
    return min(max(least / _FASTEST / 2, _OFTEN), _SELDOM)


def local_steps() -> list[Step]:
    """Return the steps in flight in this process."""
    found = {id(step): step for master in local_masters() for step in master_steps(master)}
    for task in _tasks():
        found.update({id(step): step for step in task.worker.steps()})
    return list(found.values())


def kept_arrays() -> list[TensorValue]:
    """Return the values of all variables in this process."""
    resources = [each for task in _tasks() for _, each, _ in task.worker.states()]
    found = (kept for each in resources for *_, kept in each.items())
    return [kept.value for kept in found if isinstance(kept, InplaceValue)]


def give_back_freed() -> None:
    """Let malloc give what was freed back to the system, where it knows how."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


class _Edge:
    """What the system lets this process take at most: its limit of data, moved along.

    It stands `_BEYOND` what is left for arrays, counted from what the process has reserved so far:
    what is small always passes, and what would not fit at all is refused before it is written to.
    """

    def __init__(self) -> None:
        self.is_set = False
        self._before: tuple[int, int] | None = None

    def follow(self, left: float) -> None:
        """Move it, for so many bytes that are left."""
        reserved = _reserved() if self.is_set and resource is not None else 0
        if not reserved:
            return
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        self._before = self._before or (soft, hard)
        wanted = reserved + int(max(left, 0)) + _BEYOND
        bounds = [each for each in (wanted, self._before[0], hard) if each >= 0]  # below 0: none
        resource.setrlimit(resource.RLIMIT_DATA, (min(bounds), hard))

    def remove(self) -> None:
        """Set the limit to what it was."""
        if self._before is not None:
            resource.setrlimit(resource.RLIMIT_DATA, self._before)


def _reserved() -> int:
    """Return what counts for that limit, 0 where that is not known."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            line = next(line for line in file if line.startswith("VmData:"))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration):
        return 0


_holders: set[Any] = set()  # tasks whose servers run
_lock = threading.Lock()
_guard: MemoryGuard | None = None


def _tasks() -> list[LocalTask]:
    return list(_holders)


def guard_memory(task: LocalTask, only_serves: bool = False) -> None:
    """Watch this process's memory as long as others can use a task in it.

    Args:
      task: the task; `leave_memory` undoes this.
      only_serves: whether the process does nothing else.

    Raises:
      ValueError: the environment variable of the limit says nothing that makes sense.
    """
    global _guard
    with _lock:
        if _guard is None:
            guard = MemoryGuard(memory_limit())
            guard.start(only_serves and not _has_cards(task))
            _guard = guard
        _holders.add(task)


def _has_cards(task: LocalTask) -> bool:
    """Return whether a task has GPUs: their drivers reserve more than there is."""
    devices = task.worker.devices
    return any(each.device_type == "GPU" and not each.is_simulated for each in devices)


def leave_memory(task: LocalTask) -> None:
    """Undo `guard_memory`."""
    global _guard
    with _lock:
        _holders.discard(task)
        if _holders or _guard is None:
            return
        guard, _guard = _guard, None
    guard.stop()
