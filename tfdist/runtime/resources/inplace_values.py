"""`InplaceValue`: copy-on-write values that outlive steps, updated in place if nobody sees it.

What has been read never changes: readers hold the array itself, by reference. They take `value`
without a lock. An update has the lock, and takes the array out first, so that nobody new can come
to hold it; if its reference count then says that nobody does, the array is written in place, else
its successor is made anew. A reader that finds no value meanwhile waits for the lock and looks
again, so that nobody ever sees half an update.

Reference counts are those of CPython with its lock: another interpreter needs another answer in
`take`, and None is always right.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.errors import OpError
from tfdist.runtime.resources.shared_work import share

_ALONE = 2  # references: the slot `taken`, and the argument of getrefcount
_SMALL = 4096  # bytes; a shorter array is made anew as soon as it is known who holds the old one


class InplaceValue:
    """A value, None while there is none or an update has it out.

    Attributes:
      lock: who sets the value has it.
      value: to be read without the lock; `look` waits for an update.
      taken: where an update keeps the value, and nowhere else: references are counted.
      share: calls what computes a part of a new value, for all parts, perhaps on several threads.
    """

    __slots__ = ("lock", "taken", "value")
    share = staticmethod(share)

    def __init__(self) -> None:
        self.value: Any = None
        self.taken: Any = None
        self.lock = threading.Lock()

    def look(self) -> TensorValue:
        """Return the value, after the update that has it out perhaps; None if there is none."""
        value = self.value
        if value is None:
            with self.lock:
                value = self.value
        return value

    def absent(self) -> OpError:
        """Return the error for an op that needs a value."""
        raise NotImplementedError

    def update(self, function: Callable[[TensorValue, TensorValue], TensorValue]) -> TensorValue:
        """Set the value to `function(value, out)`, whole: concurrent updates are not lost.

        Args:
          function: returns what the value becomes; `out` is the value if it may be written in
            place, as NumPy's functions do with their argument `out`, else None. It checks all
            before it writes: if it raises, the value stays what it is then.

        Raises:
          OpError: there is no value, see `absent`.
        """
        with self.lock:
            if self.is_small():
                value = self.value
                if value is None:
                    raise self.absent()
                self.value = value = function(value, None)
                return value
            value = None
            try:
                out = self.take()
                value = function(self.taken, out)
            finally:
                self.put(value)
        return value

    def is_small(self) -> bool:
        """Return whether the value, or its absence, is not worth the care that `take` needs."""
        value = self.value
        return type(value) is not np.ndarray or value.nbytes < _SMALL

    def take(self) -> TensorValue:
        """Take the value out to `taken`; call it with the lock, and `put` in any case.

        Returns:
          The array if it may be written in place, else None.
        """
        self.taken = self.value
        self.value = None
        if type(self.taken) is not np.ndarray or sys.getrefcount(self.taken) != _ALONE:
            return None
        # memory of a feed, a message or a checkpoint is not ours; parts are taken as flat views
        flags = self.taken.flags
        return self.taken if flags.owndata and flags.carray else None

    def put(self, value: TensorValue) -> None:
        """End what `take` began: set the value, or leave it as it is if there is no new one."""
        if value is None:
            value = self.taken
        if value is not None:
            self.value = value
        self.taken = None
