"""What lives and dies with one Session of a monitored session: threads, hooked runs, a stop."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from tfdist.errors import AbortedError, OpError, UnavailableError
from tfdist.ops.variables.collections import GraphKeys
from tfdist.training.input_queues.queue_runner import runner_threads, start_queue_runners
from tfdist.training.sessions.coordinator import Coordinator, join_threads
from tfdist.training.sessions.hooked_run import HookedRun

# Errors after which a new session may succeed.
LOSSES = (AbortedError, UnavailableError)

CANCELLED = 2.0  # seconds in which threads end whose queues or sessions are cancelled

_LOG = logging.getLogger("tensorflow")


class SessionLife:
    """What lives as long as one Session: itself, its coordinator, its threads, and a stop.

    Args:
      creator: makes the Session.
      hooks: that are told of it.
      grace: seconds that its threads have to end.
      forgives: whether it is no error that a thread has reported the loss of a task.
    """

    def __init__(self, creator: Any, hooks: list[Any], grace: float, forgives: bool) -> None:
        self.session = creator.create_session()
        self._forgives = forgives
        self.coordinator = Coordinator(clean_stop_exception_types=())
        self._grace = grace
        try:
            if self.session.graph.get_collection(GraphKeys.QUEUE_RUNNERS):
                start_queue_runners(self.session, self.coordinator)
            for hook in hooks:
                hook.after_create_session(self.session, self.coordinator)
        except BaseException:
            self.close()
            raise
        self.hooked = HookedRun(self.session, hooks)

    def reported_loss(self) -> OpError | None:
        """Return the loss of a task that a thread has reported, None if none did."""
        try:
            self.coordinator.raise_requested_exception()
        except LOSSES as error:
            return error
        except BaseException:
            return None
        return None

    def should_stop(self) -> bool:
        """Return whether no more runs are wanted.

        Raises:
          Exception: what a thread has reported.
        """
        self.coordinator.raise_requested_exception()
        return self.coordinator.should_stop() or self.hooked.should_stop

    def close(self) -> None:
        """End threads and Session.

        Raises:
          Exception: what a thread has reported, unless it is forgiven.
        """
        self.coordinator.request_stop()
        fillers = self._stopped_runners()
        try:
            self.coordinator.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
        except LOSSES as error:
            if not self._forgives:
                raise
            _LOG.info("A thread had reported, before its session was closed: %s", error)
        finally:
            _close_quietly(self.session)
            join_threads(fillers, time.monotonic() + CANCELLED)

    def _stopped_runners(self) -> set[threading.Thread]:
        """Return threads of queue runners that live on though their queues are cancelled.

        They wait for something else, as the one of `SyncReplicasOptimizer` for gradients that
        nobody gives any more: only the session's end is theirs, so it need not wait for them.
        """
        fillers = runner_threads(self.session)
        join_threads(fillers, time.monotonic() + min(self._grace, CANCELLED))
        fillers = {thread for thread in fillers if thread.is_alive()}
        self.coordinator.unregister_threads(fillers)
        return fillers


def _close_quietly(session: Any) -> None:
    try:
        session.close()
    except Exception as error:  # its task may be gone
        _LOG.info("A session could not be closed: %s", error)
