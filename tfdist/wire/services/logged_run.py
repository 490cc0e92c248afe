"""A traced part of a step at a server of TensorFlow.

Our servers note what they receive together with what they run. TensorFlow's note it only between
two calls of `Logging`, and tell of it in the answer to a third.

Source: docs/wire.md section 5 (FULL_TRACE).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tfdist.base.aliases import Outcome
from tfdist.errors import OpError
from tfdist.protos import pb
from tfdist.wire.codec.codec import parse_message
from tfdist.wire.common.calls import Caller, Done
from tfdist.wire.service_methods import WORKER

Received = Callable[[Any, list[Any]], None]  # takes what became of the run, and DeviceStepStats


class LoggedRun:
    """A RunGraph between calls of Logging.

    Args:
      caller: the way to the server.
      request: the RunGraphRequest.
      done: takes what became of RunGraph, and the DeviceStepStats of what was received.
    """

    def __init__(self, caller: Caller, request: pb.RunGraphRequest, done: Received) -> None:
        self._caller = caller
        self._request = request
        self._done = done
        self._outcome: Any = None
        self._lock = threading.Lock()
        self._is_cancelled = False
        self._cancel: Callable[[], None] | None = None

    def begin(self) -> Callable[[], None]:
        """Begin; returns what cancels the run."""
        self._log(self._run, enable_rpc_logging=True)
        return self._end

    def _run(self, outcome: Outcome) -> None:
        if isinstance(outcome, OpError):  # it is gone, or cannot note anything
            self._done(outcome, [])
            return
        cancel = self._caller.begin(
            f"{WORKER}RunGraph", [self._request.SerializeToString()], self._ran
        )
        with self._lock:
            self._cancel = cancel
            is_late = self._is_cancelled
        if is_late:
            cancel()

    def _ran(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self._log(self._silenced, disable_rpc_logging=True)

    def _silenced(self, outcome: Outcome) -> None:
        if isinstance(self._outcome, OpError):
            self._done(self._outcome, [])
        else:
            self._log(self._told, fetch_step_id=[self._request.step_id])

    def _told(self, outcome: Outcome) -> None:
        received: list[Any] = []
        if not isinstance(outcome, OpError):
            for step in parse_message(pb.LoggingResponse, outcome).step:
                received += step.step_stats.dev_stats
        self._done(self._outcome, received)

    def _log(self, done: Done, **fields: object) -> None:
        request = pb.LoggingRequest(**fields).SerializeToString()
        self._caller.begin(f"{WORKER}Logging", [request], done)

    def _end(self) -> None:
        with self._lock:
            self._is_cancelled = True
            cancel = self._cancel
        if cancel is not None:
            cancel()
