"""Sessions around sessions, as programs subclass and stack them that look into monitored ones.

A monitored session itself does all four things in one (`SessionLife`); here each stands by itself,
under TensorFlow's name, for `tensorflow.python.training.monitored_session`.
"""

from __future__ import annotations

import logging
from typing import Any

from tfdist.training.sessions.hooked_run import HookedRun
from tfdist.training.sessions.monitored_session import HookedMonitoredSession as _MonitoredSession
from tfdist.training.sessions.monitored_session import (
    MonitoredSession,
    SingularMonitoredSession,
    StepContext,
)
from tfdist.training.sessions.session_life import LOSSES

__all__ = [
    "MonitoredSession", "SingularMonitoredSession", "_CoordinatedSession", "_HookedSession",
    "_MonitoredSession", "_RecoverableSession", "_WrappedSession",
]  # fmt: skip

_LOG = logging.getLogger("tensorflow")
_PREEMPTION_ERRORS = LOSSES


class _WrappedSession:
    """A session around another one, to which it hands everything on.

    A subclass says in `_check_stop` when no more runs are wanted.
    """

    def __init__(self, sess: Any) -> None:
        self._sess = sess

    @property
    def graph(self) -> Any:
        """Return the graph."""
        return self._sess.graph

    @property
    def sess_str(self) -> str:
        """Return the target that the Session was opened with."""
        return self._sess.sess_str  # type: ignore[no-any-return]

    def should_stop(self) -> bool:
        """Return whether no more runs are wanted: here, further inside, or after `close`."""
        if self._sess is None or self._check_stop():
            return True
        return isinstance(self._sess, _WrappedSession) and self._sess.should_stop()

    def _check_stop(self) -> bool:
        return False

    def close(self) -> None:
        """Close the session inside; a lost one is as good as closed."""
        if self._sess is not None:
            try:
                self._sess.close()
            except LOSSES as error:
                _LOG.error("A lost session could not be closed: %s", error)
            finally:
                self._sess = None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run as `Session.run` does."""
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn: Any, raw_session: Any, run_with_hooks: Any = None) -> Any:
        """Return what a function of a StepContext returns; see `MonitoredSession.run_step_fn`."""
        run_with_hooks = self.run if run_with_hooks is None else run_with_hooks
        if hasattr(self._sess, "run_step_fn"):
            return self._sess.run_step_fn(step_fn, raw_session, run_with_hooks)
        return step_fn(StepContext(raw_session, run_with_hooks))


class _CoordinatedSession(_WrappedSession):
    """A session whose threads have a coordinator, which also says when it stops.

    Args:
      sess: the session inside.
      coord: Coordinator.
      stop_grace_period_secs: that threads have to end.
    """

    def __init__(self, sess: Any, coord: Any, stop_grace_period_secs: float = 120) -> None:
        super().__init__(sess)
        self._coord, self._stop_grace_period_secs = coord, stop_grace_period_secs

    def _check_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._coord.should_stop()  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the threads, and close the session inside."""
        self._coord.request_stop()
        try:
            self._coord.join(
                stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True
            )
        finally:
            try:
                super().close()
            except Exception as error:  # what a thread has reported counts more
                _LOG.info("A session could not be closed: %s", error)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run as `Session.run` does; what a thread has reported counts more than an error here."""
        try:
            return self._sess.run(*args, **kwargs)
        except LOSSES:
            raise
        except Exception:
            self._coord.raise_requested_exception()
            raise


class _RecoverableSession(_WrappedSession):
    """A session that is made anew after the loss of a task.

    Args:
      sess_creator: SessionCreator.
    """

    def __init__(self, sess_creator: Any) -> None:
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._sess_creator.create_session()
            except LOSSES as error:
                _LOG.info("A session could not be made, and is tried again: %s", error)

    def _check_stop(self) -> bool:
        try:
            return self._sess._check_stop() if isinstance(self._sess, _WrappedSession) else False
        except LOSSES as error:
            self._replace(error)
            return False

    def _replace(self, error: BaseException) -> None:
        _LOG.info("A task is lost, or was started anew; a new session is made: %s", error)
        self.close()
        self._sess = self._create_session()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run as `Session.run` does, again in a new session after a loss."""
        return self._again(lambda: self._sess.run(*args, **kwargs))

    def run_step_fn(self, step_fn: Any, raw_session: Any, run_with_hooks: Any = None) -> Any:
        """Return what a function of a StepContext returns, which is called again after a loss."""
        return self._again(
            lambda: super(_RecoverableSession, self).run_step_fn(
                step_fn, raw_session, run_with_hooks
            )
        )

    def _again(self, call: Any) -> Any:
        while True:
            try:
                if self._sess is None:
                    self._sess = self._create_session()
                return call()
            except LOSSES as error:
                self._replace(error)


class _HookedSession(_WrappedSession):
    """A session whose runs hooks are told of.

    Args:
      sess: the session inside.
      hooks: SessionRunHooks.
    """

    def __init__(self, sess: Any, hooks: Any) -> None:
        super().__init__(sess)
        self._hooks = hooks
        self._hooked = HookedRun(sess, list(hooks))

    def _check_stop(self) -> bool:
        return self._hooked.should_stop

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Run as `MonitoredSession.run` does."""
        return self._hooked.run(fetches, feed_dict, options, run_metadata)
