"""A call with retries: it waits for its server, however often that one is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

from tfdist.base.aliases import Outcome
from tfdist.errors import CancelledError, OpError, UnavailableError
from tfdist.wire.common.calls import Caller, Done, Pieces
from tfdist.wire.frames.client import FramesCaller
from tfdist.wire.grpc.client import GrpcCaller, elsewhere

_PAUSE = 0.05  # seconds between two attempts: a server may refuse at once, again and again


class RetryingCall:
    """A call that may do no harm if it is carried out twice; see `begin`.

    It begins again when its server is lost before the answer, as that of a task which is killed
    and started anew; and when its connection was replaced by somebody who uses it, too.

    Args:
      connection: returns the present connection to the server.
      near: returns what calls it by frames, if it is one of this host that is there.
      path: "/SERVICE/METHOD".
      request: the message.
      done: takes the outcome.
      patience: seconds after which the last attempt ends.
    """

    def __init__(
        self,
        connection: Callable[[], GrpcCaller],
        near: Callable[[], FramesCaller | None],
        path: str,
        request: Pieces,
        done: Done,
        patience: float,
    ) -> None:
        self._connection, self._near = connection, near
        self._path, self._request = path, request
        self._done = done
        self._deadline = time.monotonic() + patience
        self._lock = threading.Lock()  # held while an attempt begins
        self._is_cancelled = threading.Event()
        self._cancel: Callable[[], None] = _nothing

    def begin(self) -> None:
        """Begin the next attempt; its outcome comes on another thread."""
        if not self._begin_near():
            self._begin_by_grpc()

    def _begin_near(self) -> bool:
        caller = self._near()
        if caller is None:
            return False
        with self._lock:
            if self._is_cancelled.is_set():
                return False
            try:
                self._cancel = caller.begin(
                    self._path, self._request, partial(self._ended_near, caller)
                )
            except UnavailableError:
                return False
        return True

    def _ended_near(self, caller: FramesCaller, outcome: Outcome) -> None:
        if isinstance(outcome, OpError):
            elsewhere(partial(self._ended, caller, outcome))  # the loop must not wait
        else:
            self._done(outcome)

    def _begin_by_grpc(self) -> None:
        caller = self._connection()
        ended = partial(self._ended, caller)
        with self._lock:
            if not self._is_cancelled.is_set():
                self._cancel = caller.begin(
                    self._path, self._request, ended, self._left(), wait_for_ready=True
                )
                return
        self._done(CancelledError(f"the call of {self._path} was cancelled"))

    def cancel(self) -> None:
        """Cancel the call."""
        with self._lock:
            self._is_cancelled.set()
        self._cancel()

    def _left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def _ended(self, caller: Caller, outcome: Outcome) -> None:
        if self._is_to_repeat(caller, outcome):
            self.begin()
        else:
            self._done(outcome)

    def _is_to_repeat(self, caller: Caller, outcome: Outcome) -> bool:
        if self._is_cancelled.is_set() or self._left() <= _PAUSE:
            return False
        if isinstance(outcome, CancelledError):
            return self._connection() is not caller
        return isinstance(outcome, UnavailableError) and not self._is_cancelled.wait(_PAUSE)


def _nothing() -> None:
    """Cancel nothing: no attempt has begun."""
