"""The wait for a value that is asked for at the task that sends it, in another process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from tfdist.base.aliases import Outcome
from tfdist.errors import OpError
from tfdist.graph.op_def import PENDING
from tfdist.protos import pb
from tfdist.runtime.resources.wait_info import WaitInfo, receive_info
from tfdist.runtime.step.counters import MOVES
from tfdist.wire.codec.transfers import received_value
from tfdist.wire.common.calls import as_op_error
from tfdist.wire.peers.task_links import TaskLinks
from tfdist.wire.service_methods import WORKER, new_request_id


def _nothing() -> None:
    """Tell nobody."""


def _nobody(outcome: Outcome) -> None:
    """Stand in for a callback before there is one."""


class RemoteReceive:
    """The wait for a value that a task of another process sends (a `graph.op_def.Wait`)."""

    __slots__ = (
        "_answered",
        "_cancel",
        "_done",
        "_is_over",
        "_key",
        "_links",
        "_lock",
        "_step_id",
        "_task",
    )

    def __init__(
        self,
        links: TaskLinks,
        task: str,
        step_id: int,
        key: str,
        answered: Callable[[], None] = _nothing,
    ) -> None:
        self._answered = answered
        self._links, self._task, self._step_id, self._key = links, task, step_id, key
        self._lock = threading.Lock()
        self._is_over = False
        self._cancel: Callable[[], None] | None = None
        self._done: Callable[[Any], None] = _nobody

    def start(self, done: Callable[[Outcome], None]) -> Outcome:
        """See `Wait.start`."""
        self._done = done
        request = pb.RecvTensorRequest(
            step_id=self._step_id, rendezvous_key=self._key, request_id=new_request_id()
        )
        self._cancel = self._links.link(self._task).begin(
            f"{WORKER}RecvTensor", [request.SerializeToString()], self._arrived
        )
        return PENDING

    def _arrived(self, outcome: Outcome) -> None:
        with self._lock:
            if self._is_over:
                return
            self._is_over = True
        self._answered()
        self._done(self._value(outcome))

    def _value(self, outcome: Outcome) -> Outcome:
        if isinstance(outcome, OpError):
            return self._links.explained(self._task, outcome)
        began = time.perf_counter_ns()
        try:
            return received_value(outcome, self._task, self._key)
        except Exception as error:  # somebody waits for an outcome, whatever it is
            return as_op_error(error)
        finally:
            MOVES.add(began)

    def cancel(self) -> bool:
        """See `Wait.cancel`."""
        with self._lock:
            if self._is_over:
                return False
            self._is_over = True
        self._answered()
        if self._cancel is not None:
            self._cancel()
        return True

    def describe(self) -> str:
        """Return what is waited for."""
        source, _, _, name, _ = self._key.split(";")
        return f"receive of {name} from {source}"

    def info(self) -> WaitInfo:
        """See `Wait.info`."""
        return receive_info(self._key)
