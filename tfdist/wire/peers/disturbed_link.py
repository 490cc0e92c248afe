"""A link whose calls are cut off, or lost, on purpose.

A call is held when it is made and again when it is answered, until its way is healed; one that is
held for too long, or lost, ends as the calls to a lost peer do. What tensors suffer is decided
where they are received. Who asks what is wrong is always answered; and graphs can be registered, so
that a step that gets no further is one that waits, and can say for what.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from tfdist.base.aliases import Outcome
from tfdist.errors import CancelledError, OpError, UnavailableError
from tfdist.runtime.disturbances.disturber import Crossing, Disturber, Ends
from tfdist.runtime.disturbances.waits import go_across
from tfdist.wire.common.calls import Done, Pieces
from tfdist.wire.peers.link import Link
from tfdist.wire.service_methods import INSPECTION, WORKER

_UNDISTURBED = (INSPECTION, f"{WORKER}RecvTensor", f"{WORKER}RegisterGraph")


class DisturbedLink:
    """A `Link` that obeys a `Disturber`; what is not here is the link's own.

    Args:
      link: to a task.
      disturber: of the task that calls.
      ends: the task that calls and the one that answers.
    """

    def __init__(self, link: Link, disturber: Disturber, ends: Ends) -> None:
        self._link, self._disturber, self._ends = link, disturber, ends

    def __getattr__(self, name: str) -> object:
        return getattr(self._link, name)

    def call(self, path: str, request: Pieces, timeout: float | None = None) -> memoryview:
        """See `Caller.call`."""
        if path.startswith(_UNDISTURBED):
            return self._link.call(path, request, timeout)
        go_across(self._disturber, self._ends)
        answer = self._link.call(path, request, timeout)
        go_across(self._disturber, self._ends[::-1])
        return answer

    def begin(self, path: str, request: Pieces, done: Done) -> Callable[[], None]:
        """See `Caller.begin`."""
        if path.startswith(_UNDISTURBED):
            return self._link.begin(path, request, done)
        call = _DisturbedCall(self._disturber, self._ends, done)
        call.begin(lambda answered: self._link.begin(path, request, answered))
        return call.cancel

    def begin_unary(
        self, path: str, request: Pieces, done: Done, patience: float
    ) -> Callable[[], None]:
        """See `Link.begin_unary`."""
        call = _DisturbedCall(self._disturber, self._ends, done, patience)
        call.begin(lambda answered: self._link.begin_unary(path, request, answered, patience))
        return call.cancel

    def probe(self, done: Done) -> Callable[[], None]:
        """See `Link.probe`; a way that is cut says so."""
        blocked = self._disturber.passage(self._ends).blocked
        if blocked is None:
            return self._link.probe(done)
        error = UnavailableError(blocked.named)
        error.reason = blocked.named
        done(error)
        return _nothing


class _DisturbedCall:
    """One call, and the crossing that it or its answer is at."""

    def __init__(
        self, disturber: Disturber, ends: Ends, done: Done, bound: float | None = None
    ) -> None:
        self._disturber, self._ends, self._done, self._bound = disturber, ends, done, bound
        self._lock = threading.Lock()
        self._is_over = False
        self._answer: Outcome = None
        self._back: Crossing | None = None
        self._cancel: Callable[[], None] = _nothing

    def begin(self, begin: Callable[[Done], Callable[[], None]]) -> None:
        """Make the call, by `begin`, as soon as it gets through."""

        def go() -> None:
            back = self._ends[::-1]
            self._back = self._disturber.depart(back, self._give, self._end, self._bound)
            self._cancel = begin(self._answered)

        there = self._disturber.depart(self._ends, go, self._end, self._bound)
        self._cancel = partial(self._forget, there)
        self._disturber.arrive(there)

    def _forget(self, crossing: Crossing) -> None:
        self._disturber.forget(crossing)

    def _answered(self, outcome: Outcome) -> None:
        assert self._back is not None
        self._answer = outcome
        if isinstance(outcome, UnavailableError):  # no answer that could be lost
            self._disturber.forget(self._back)
            self._give()
        else:
            self._disturber.arrive(self._back)

    def _give(self) -> None:
        self._end(self._answer)

    def _end(self, outcome: Outcome) -> None:
        with self._lock:
            if self._is_over:
                return
            self._is_over = True
        if isinstance(outcome, OpError) and outcome is not self._answer:
            self._cancel()
        self._done(outcome)

    def cancel(self) -> None:
        """Cancel the call, wherever it is."""
        self._cancel()
        if self._back is not None:
            self._disturber.forget(self._back)
        self._end(CancelledError("the call was cancelled"))


def _nothing() -> None:
    """Cancel nothing: no call was made."""
