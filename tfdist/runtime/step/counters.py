"""Counters: what a task has done so far, for whoever takes a census (`runtime.task.census`).

Integers that grow where something ends or leaves, on the thread that does it, and without a lock:
a step must not wait for those who watch it. Two threads that count at the same moment may count
one thing between them on interpreters that switch threads there; CPython 3.11 and later do not.
"""

from __future__ import annotations

import time

from tfdist.base.aliases import TensorValue

_MOST_KEYS = 65536


class Counters:
    """Counts of one task.

    What a unit takes is measured anyway, and added here; so is when a wait began. A step that
    neither waits nor sends counts nothing else.

    Attributes:
      steps: that the task has begun to take part in.
      sent: tensors and bytes by the task that they were for.
      computed: nanoseconds in which its units ran, threads added up.
      waits: how many nodes wait now.
      since: when the first of them began to (`time.monotonic`).
      waited: seconds in which one node or more waited and no unit ran, until then.
    """

    __slots__ = ("_by_key", "computed", "sent", "since", "steps", "waited", "waits")

    def __init__(self) -> None:
        self.steps = self.computed = self.waits = 0
        self.since = self.waited = 0.0
        self.sent: dict[str, list[int]] = {}
        self._by_key: dict[str, list[int]] = {}  # the same lists, by the keys of transfers

    def send(self, key: str, value: TensorValue) -> None:
        """Count a value that leaves; `key` is "DEVICE;INCARNATION;DEVICE;NAME"."""
        tally = self._by_key.get(key)
        if tally is None:
            tally = self._tally(key)
        tally[0] += 1
        try:
            tally[1] += value.nbytes
        except AttributeError:  # a reference to a variable, a dead value, or one of another form
            tally[1] += getattr(getattr(value, "value", None), "nbytes", 0)

    def ran(self, nanoseconds: int) -> None:
        """Note that a unit has run; while others wait, that is no waiting."""
        self.computed += nanoseconds
        if self.waits:
            self.waited -= 1e-9 * nanoseconds

    def begin_wait(self, now: float) -> None:
        """Note that something of the task waits from `now` (`time.monotonic`) on."""
        if not self.waits:
            self.since = now
        self.waits += 1

    def end_wait(self, now: float) -> None:
        """Note that it waits no more."""
        self.waits -= 1
        if not self.waits:
            self.waited += now - self.since

    def _tally(self, key: str) -> list[int]:
        if len(self._by_key) >= _MOST_KEYS:
            self._by_key.clear()
        target = key.split(";")[2].partition("/device:")[0]
        tally = self.sent.setdefault(target, [0, 0])
        return self._by_key.setdefault(key, tally)


class Moves:
    """What the threads of this process took to move values between processes.

    Tasks of one process hand each other references: that takes no time that would count.

    Attributes:
      nanoseconds: in which values were packed, written, read or unpacked.
    """

    __slots__ = ("nanoseconds",)

    def __init__(self) -> None:
        self.nanoseconds = 0

    def add(self, began: int) -> int:
        """Count what began then (`time.perf_counter_ns`) and has ended now; return how long."""
        spent = time.perf_counter_ns() - began
        self.nanoseconds += spent
        return spent


MOVES = Moves()
