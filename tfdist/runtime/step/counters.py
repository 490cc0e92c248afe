"""Counters: what a task has done so far, for whoever takes a census (`runtime.task.census`).

Integers that grow where something ends or leaves, on the thread that does it, and without a lock:
a step must not wait for those who watch it. Two threads that count at the same moment may count
one thing between them on interpreters that switch threads there; CPython 3.11 and later do not.
"""

from __future__ import annotations

from tfdist.base.aliases import TensorValue

_MOST_KEYS = 65536


class Counters:
    """Counts of one task.

    Attributes:
      steps: that the task has begun to take part in.
      sent: tensors and bytes by the task that they were for.
    """

    __slots__ = ("_by_key", "sent", "steps")

    def __init__(self) -> None:
        self.steps = 0
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

    def _tally(self, key: str) -> list[int]:
        if len(self._by_key) >= _MOST_KEYS:
            self._by_key.clear()
        target = key.split(";")[2].partition("/device:")[0]
        tally = self.sent.setdefault(target, [0, 0])
        return self._by_key.setdefault(key, tally)
