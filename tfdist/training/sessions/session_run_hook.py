"""SessionRunHook: what a monitored session tells at the turns of its life, and what hooks answer.

Source: TF 1.15 API documentation, tf.estimator.SessionRunHook and those around it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues"]


class SessionRunArgs(NamedTuple):
    """What a hook adds to a run.

    Attributes:
      fetches: as for `Session.run`, or None.
      feed_dict: as for `Session.run`.
      options: RunOptions.

    Example:
      >>> SessionRunArgs("loss:0").feed_dict is None
      True
    """

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a run gave to a hook.

    Attributes:
      results: of the fetches that the hook asked for, in their structure; None if there are none.
      options: RunOptions of the run, of all hooks together.
      run_metadata: RunMetadata of the run.

    Example:
      >>> SessionRunValues(0.5, None, None).results
      0.5
    """

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """The run that a hook is told of, and its way to stop those that would follow.

    Example:
      >>> context = SessionRunContext(SessionRunArgs("loss:0"), None)
      >>> context.request_stop()
      >>> context.stop_requested
      True
    """

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        """Keep what the user gave to `run`, and the Session that does it."""
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """Return what the user gave to `run`."""
        return self._original_args

    @property
    def session(self) -> Any:
        """Return the Session that does the run."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Return whether this was to be the last run."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Let this run be the last one: `should_stop` of the monitored session becomes true."""
        self._stop_requested = True


class SessionRunHook:
    """Told of what happens in a monitored session; subclasses override what they want to know.

    Example:
      >>> loss = constant(0.25)
      >>> class Goal(SessionRunHook):
      ...     def before_run(self, run_context):
      ...         return SessionRunArgs({"loss": loss})
      ...
      ...     def after_run(self, run_context, run_values):
      ...         if run_values.results["loss"] < 0.5:
      ...             run_context.request_stop()
      >>> with MonitoredSession(hooks=[Goal()]) as session:
      ...     while not session.should_stop():
      ...         session.run(loss)
      np.float32(0.25)
    """

    def begin(self) -> None:
        """Do what comes before the session; nodes can be added now, and later no more."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Do what comes after a Session was made: at the beginning, and after each recovery.

        Args:
          session: Session, whose variables are initialised.
          coord: Coordinator of the threads that fill its queues.
        """

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Return what to add to a run, or None."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Do what comes after a run; not called if it raised an error."""

    def end(self, session: Any) -> None:
        """Do what comes at the end; not called after an error other than the end of the data."""
