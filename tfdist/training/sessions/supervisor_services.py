"""What a supervisor does beside the training: threads that save, summarise and count."""

from __future__ import annotations

import logging
import time
from typing import Any

from tfdist.protos import pb
from tfdist.training.global_step import global_step
from tfdist.training.sessions.looper_thread import LooperThread

_LOG = logging.getLogger("tensorflow")


class _Service(LooperThread):
    """Does something for a supervisor every so many seconds, beginning at once.

    Args:
      sv: the Supervisor.
      sess: its Session.
    """

    def __init__(self, sv: Any, sess: Any, interval: float) -> None:
        super().__init__(sv.coord, interval)
        self.name = type(self).__name__
        self._sv, self._sess = sv, sess

    def _step(self) -> int:
        return global_step(self._sess, self._sv.global_step)


class SVSummaryThread(_Service):
    """Writes summaries."""

    def __init__(self, sv: Any, sess: Any) -> None:
        super().__init__(sv, sess, sv.save_summaries_secs)

    def run_loop(self) -> None:
        """Run the supervisor's `summary_op`, and write what it gives."""
        fetches = [self._sv.summary_op]
        if self._sv.global_step is not None:
            fetches.append(self._sv.global_step)
        summary, *steps = self._sess.run(fetches)
        step = int(steps[0]) if steps else None
        if self._sv.summary_writer is not None:
            _LOG.info("Recording summary at step %s.", step)
            self._sv.summary_writer.add_summary(summary, step)


class SVStepCounterThread(_Service):
    """Writes how many global steps pass in a second."""

    def __init__(self, sv: Any, sess: Any, step_counter: Any = None) -> None:
        super().__init__(sv, sess, sv.save_summaries_secs)
        counted = sv.global_step if step_counter is None else step_counter
        self._tag = f"{counted.op.name}/sec"

    def start_loop(self) -> None:
        """Note when and where it begins."""
        self._last_time, self._last_step = time.monotonic(), self._step()

    def run_loop(self) -> None:
        """Write the speed since the round before."""
        now, step = time.monotonic(), self._step()
        elapsed, added = now - self._last_time, step - self._last_step
        speed = added / elapsed if elapsed else float("inf")
        self._last_time, self._last_step = now, step
        if self._sv.summary_writer is not None:
            value = pb.Summary.Value(tag=self._tag, simple_value=speed)
            self._sv.summary_writer.add_summary(pb.Summary(value=[value]), step)
        _LOG.info("%s: %g", self._tag, speed)


class SVTimerCheckpointThread(_Service):
    """Writes checkpoints."""

    def __init__(self, sv: Any, sess: Any) -> None:
        super().__init__(sv, sess, sv.save_model_secs)

    def run_loop(self) -> None:
        """Write a checkpoint, and a note of it for TensorBoard."""
        _LOG.info("Saving checkpoint to path %s", self._sv.save_path)
        self._sv.saver.save(self._sess, self._sv.save_path, global_step=self._sv.global_step)
        if self._sv.summary_writer is not None and self._sv.global_step is not None:
            log = pb.SessionLog(status=pb.SessionLog.CHECKPOINT, checkpoint_path=self._sv.save_path)
            self._sv.summary_writer.add_session_log(log, self._step())
