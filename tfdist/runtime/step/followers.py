"""Followers: tasks of other processes that are sent what is for them, without asking.

A value waits where it was made until its receiver asks for it (`rendezvous`). Between two tasks
that meet in step after step that would be a question for each value of each step. So a task follows
another one in a session, with one question: what steps of that session leave for it from then on is
handed on as soon as it is there, what is there at the same time in one parcel.

What was handed to a follower that is lost may not have come. Then the steps that it was for are
broken, for whoever asks and for who follows next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from tfdist.base.aliases import TensorValue
from tfdist.errors import OpError
from tfdist.runtime.step.rendezvous import Sent

Take = Callable[[int, Sent | OpError], None]  # gets what was sent in a step, or why nothing comes


class Follower:
    """A task that follows this one in a session.

    Args:
      task: its name.
      take: see `Take`.
      end: tells it that nothing comes any more.
    """

    __slots__ = ("end", "take", "task")

    def __init__(self, task: str, take: Take, end: Callable[[OpError], None]) -> None:
        self.task, self.take, self.end = task, take, end


class Parcel:
    """What a step has for a follower, and was not handed on so far."""

    __slots__ = ("_follower", "_sent", "_step_id")

    def __init__(self, follower: Follower, step_id: int) -> None:
        self._follower, self._step_id = follower, step_id
        self._sent: deque[tuple[str, TensorValue]] = deque()  # units on threads add to it, too

    def add(self, key: str, value: TensorValue) -> None:
        """Put in a value."""
        self._sent.append((key, value))

    def deliver(self) -> None:
        """Hand on what is in it."""
        sent = list(self._taken())
        if sent:
            self._follower.take(self._step_id, sent)

    def _taken(self) -> Iterator[tuple[str, TensorValue]]:
        while self._sent:
            try:
                yield self._sent.popleft()
            except IndexError:
                return
