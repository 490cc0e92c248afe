"""The threads of a supervisor: what it starts beside the training, and the stop of it all."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from tfdist.graph.graph import Graph
from tfdist.ops.variables.collections import GraphKeys
from tfdist.protos import pb
from tfdist.training.global_step import global_step as value_of
from tfdist.training.sessions.coordinator import Coordinator
from tfdist.training.sessions.looper_thread import LooperThread
from tfdist.training.sessions.supervisor_parts import SupervisorParts
from tfdist.training.sessions.supervisor_services import (
    SVStepCounterThread,
    SVSummaryThread,
    SVTimerCheckpointThread,
)

_LOG = logging.getLogger("tensorflow")


class SupervisorThreads(SupervisorParts):
    """The threads of a supervisor, which end with its Coordinator."""

    _graph: Graph
    _is_chief: bool
    _logdir: str | None
    _coord: Coordinator
    _stop_grace_secs: float
    _save_summaries_secs: float | None
    _save_model_secs: float | None
    _summary_writer: Any
    _graph_was_written: bool

    @property
    def coord(self) -> Coordinator:
        """Return the Coordinator of all threads."""
        return self._coord

    @property
    def summary_writer(self) -> Any:
        """Return the FileWriter; None if nothing is written."""
        return self._summary_writer

    @property
    def save_model_secs(self) -> float | None:
        """Return the seconds between two checkpoints."""
        return self._save_model_secs

    @property
    def save_summaries_secs(self) -> float | None:
        """Return the seconds between two summaries."""
        return self._save_summaries_secs

    def start_standard_services(self, sess: Any) -> list[Any] | None:
        """Start the threads that write summaries, speed and checkpoints; returns them.

        Raises:
          RuntimeError: this is no chief.
        """
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief "
                "supervisors can write events."
            )
        if not self._logdir:
            _LOG.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None and self._summary_writer is not None:
            log = pb.SessionLog(status=pb.SessionLog.START)
            self._summary_writer.add_session_log(log, value_of(sess, self._global_step))
        threads = self._services(sess)
        for thread in threads:
            thread.start()
        return threads

    def _services(self, sess: Any) -> list[Any]:
        found: list[Any] = []
        if self._save_summaries_secs and self._summary_writer is not None:
            if self._summary_op is not None:
                found.append(SVSummaryThread(self, sess))
            if self._global_step is not None:
                found.append(SVStepCounterThread(self, sess))
        if self._saver is not None and self._save_model_secs:
            found.append(SVTimerCheckpointThread(self, sess))
        return found

    def start_queue_runners(
        self, sess: Any, queue_runners: Iterable[Any] | None = None
    ) -> list[threading.Thread]:
        """Start the threads of queue runners, by default of those in the graph; returns them."""
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        return [
            thread
            for runner in queue_runners
            for thread in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)
        ]

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Iterable[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """Start a thread that calls a function again and again, until the stop; returns it.

        Args:
          timer_interval_secs: from one call to the next; None for no pause.
          target: function to call.
          args: its positional arguments.
          kwargs: its arguments by name.
        """
        return LooperThread.loop(self._coord, timer_interval_secs, target, args, kwargs)

    def stop(
        self,
        threads: Iterable[threading.Thread] | None = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """End the threads; the session stays open.

        Args:
          threads: to wait for, besides the supervisor's.
          close_summary_writer: whether the FileWriter is closed.
          ignore_live_threads: whether it is no error if some live on.

        Raises:
          Exception: the first that a thread has reported.
          RuntimeError: threads live on after the grace period.
        """
        self._coord.request_stop()
        try:
            self._coord.join(
                threads, stop_grace_period_secs=self._stop_grace_secs,
                ignore_live_threads=ignore_live_threads,
            )  # fmt: skip
        finally:
            if close_summary_writer and self._summary_writer is not None:
                self._summary_writer.add_session_log(pb.SessionLog(status=pb.SessionLog.STOP))
                self._summary_writer.close()
                self._graph_was_written = False

    def request_stop(self, ex: Any = None) -> None:
        """Ask all threads to stop; see `Coordinator.request_stop`."""
        self._coord.request_stop(ex)

    def should_stop(self) -> bool:
        """Return whether a stop was asked for."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> AbstractContextManager[None]:
        """Turn an error in the block into a stop, which `stop` tells of."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Return when a stop was asked for."""
        self._coord.wait_for_stop()

    # before TensorFlow 0.8

    StartStandardServices = start_standard_services
    StartQueueRunners = start_queue_runners
    Loop = loop
    Stop = stop
    RequestStop = request_stop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
