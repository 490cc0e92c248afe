"""MonitoredSession: a session that initialises, recovers, tells hooks, and ends its threads.

A session may be lost with a task. What lives and dies with it stands in `SessionLife`; the
monitored session takes a new one then, and runs the step again.

Source: TF 1.15 API documentation, tf.train.MonitoredSession, tf.train.SingularMonitoredSession.
"""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, Self

from tfdist.errors import OpError, OutOfRangeError
from tfdist.graph import scopes
from tfdist.training.sessions.scaffold import Scaffold
from tfdist.training.sessions.session_creators import ChiefSessionCreator, SessionCreator
from tfdist.training.sessions.session_life import LOSSES, SessionLife

__all__ = ["MonitoredSession", "SingularMonitoredSession"]

LONGEST_PAUSE = 2.0  # seconds between two tries to make a session

_LOG = logging.getLogger("tensorflow")


class StepContext:
    """What a step function is given.

    Args:
      session: the Session, whose runs the hooks are not told of.
      run_with_hooks_fn: runs as the monitored session does.
    """

    def __init__(self, session: Any, run_with_hooks_fn: Callable[..., Any]) -> None:
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    @property
    def session(self) -> Any:
        """Return the Session."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Run as `MonitoredSession.run` does."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> NoReturn:
        """End the loop: the `with` block of the monitored session is left, without an error.

        Raises:
          StopIteration: always.
        """
        raise StopIteration("step_fn has requested the iterations to stop.")


class HookedMonitoredSession:
    """What both monitored sessions share.

    Args:
      session_creator: SessionCreator.
      hooks: SessionRunHooks.
      recovers: whether a lost session is replaced.
      stop_grace_period_secs: that threads have to end.
    """

    StepContext = StepContext

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Iterable[Any] | None,
        recovers: bool,
        stop_grace_period_secs: float,
    ) -> None:
        self._graph = scopes.get_default_graph()
        self._graph_was_finalized = self._graph.finalized
        self._hooks = list(hooks or ())
        self._creator = session_creator or ChiefSessionCreator()
        self._recovers = recovers
        self._grace = stop_grace_period_secs
        self._life: SessionLife | None = None
        for hook in self._hooks:
            if not hasattr(hook, "begin"):
                raise TypeError(f"hooks must be tf.train.SessionRunHooks, not {hook!r}")
            hook.begin()
        self._life = self._new_life()

    def _new_life(self) -> SessionLife:
        """Return a new session, with what belongs to it; tries until one can be made."""
        pause = 0.0
        while True:
            try:
                return SessionLife(self._creator, self._hooks, self._grace, self._recovers)
            except LOSSES as error:
                if not self._recovers:
                    raise
                _LOG.warning("A session could not be made, and is tried again: %s", error)
            time.sleep(pause)
            pause = min(2 * pause + 0.05, LONGEST_PAUSE)

    @property
    def graph(self) -> Any:
        """Return the graph; None after `close`."""
        return None if self._life is None else self._life.session.graph

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Run as `Session.run` does; the hooks are told, and may add to it.

        If a task is lost, a new session is made, from the last checkpoint, and the run repeated.

        Raises:
          RuntimeError: the session is closed, a hook has asked for the stop, or what hooks and the
            user feed has something in common.
          Exception: what the run raises, or a hook.
        """
        while True:
            life = self._open()
            try:
                return life.hooked.run(fetches, feed_dict, options, run_metadata)
            except Exception as error:
                self._recover(life, error)

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Return what a function of a StepContext returns, which may run this and that.

        If a task is lost, a new session is made and the function called again.

        Args:
          step_fn: function with one argument, `step_context`.

        Raises:
          StopIteration: the function called `request_stop`.
          ValueError: the function has other arguments.
          RuntimeError: the session is closed.

        Example:
          >>> def step(step_context):
          ...     return step_context.session.run(two) * step_context.run_with_hooks(two)
          >>> two = constant(2.0)
          >>> with MonitoredSession() as session:
          ...     session.run_step_fn(step)
          np.float32(4.0)
        """
        _check_step_fn(step_fn)
        while True:
            life = self._open()
            try:
                return step_fn(StepContext(life.session, life.hooked.run))
            except Exception as error:
                self._recover(life, error)

    def _open(self) -> SessionLife:
        if self._life is None:
            raise RuntimeError(
                f"this {type(self).__name__} is closed; make a new one to run more steps"
            )
        return self._life

    def _recover(self, life: SessionLife, error: Exception) -> None:
        """Take a new session after the loss of a task; raise any other error."""
        loss = error if isinstance(error, LOSSES) else life.reported_loss()
        if loss is None:
            raise error
        if not self._recovers:
            raise loss
        self._replace(life, loss)

    def _replace(self, life: SessionLife, loss: OpError) -> None:
        _LOG.warning("A task is lost, or was started anew; a new session is made: %s", loss)
        try:
            life.close()
        except Exception as error:  # the loss is what counts
            _LOG.info("A thread of the lost session had reported: %s", error)
        self._life = self._new_life()

    def should_stop(self) -> bool:
        """Return whether no more runs are wanted: by a hook, by a thread, or after `close`.

        Raises:
          Exception: what a thread has reported, in a session that does not recover.
        """
        life = self._life
        if life is None:
            return True
        if not self._recovers:
            return life.should_stop()
        loss = life.reported_loss()
        if loss is not None:
            self._replace(life, loss)
            return False
        return life.coordinator.should_stop() or life.hooked.should_stop

    def close(self) -> None:
        """Tell the hooks of the end, end the threads, and close the session.

        Raises:
          RuntimeError: it is closed already.
          Exception: what a hook raises, or a thread has reported.
        """
        self._close(tells_hooks=True)

    def _close(self, tells_hooks: bool) -> None:
        life = self._life
        if life is None:
            raise RuntimeError("Session is already closed.")
        try:
            for hook in self._hooks if tells_hooks else ():
                hook.end(life.session)
        finally:
            self._life = None
            try:
                life.close()
            finally:
                if not self._graph_was_finalized:
                    self._graph._unsafe_unfinalize()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        is_end = kind is None or issubclass(kind, OutOfRangeError | StopIteration)
        self._close(tells_hooks=is_end)
        return is_end

    def _tf_sess(self) -> Any:
        """Return the Session, as programs ask for it that want to save by themselves."""
        return None if self._life is None else self._life.session

    @property
    def _sess(self) -> Any:
        """Return the Session, to programs that look for it inside."""
        return self._tf_sess()


class MonitoredSession(HookedMonitoredSession):
    """A session for training in a cluster: it survives the loss of tasks.

    At the beginning hooks may add nodes; then the graph is finalized, a session made, its
    variables restored or initialised, and the threads of its queues started. When a run raises
    AbortedError or UnavailableError, all that but the first is done anew, and the run is repeated.
    As a context manager it is closed at the end of the block, which the end of the data
    (OutOfRangeError) leaves without an error.

    It is no `Session`: it cannot be the default session, nor be given to `Saver.save`.

    Args:
      session_creator: SessionCreator; a ChiefSessionCreator by default.
      hooks: SessionRunHooks.
      stop_grace_period_secs: seconds that threads have to end after `close`.

    Example:
      >>> train = assign_add(create_global_step(), 1)
      >>> with MonitoredSession(hooks=[StopAtStepHook(last_step=3)]) as session:
      ...     while not session.should_stop():
      ...         print(session.run(train))
      1
      2
      3
    """

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Iterable[Any] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


class SingularMonitoredSession(HookedMonitoredSession):
    """A MonitoredSession for one process: it does not recover, and gives its Session away.

    Args:
      hooks: SessionRunHooks.
      scaffold: Scaffold; one of the default parts by default.
      master: the session's target.
      config: ConfigProto of the session.
      checkpoint_dir: folder, whose latest checkpoint is restored.
      stop_grace_period_secs: seconds that threads have to end after `close`.
      checkpoint_filename_with_path: the checkpoint itself, instead of a folder.

    Example:
      >>> v = Variable(1.0)
      >>> with SingularMonitoredSession() as session:
      ...     session.raw_session().run(v)
      np.float32(1.0)
    """

    def __init__(
        self,
        hooks: Iterable[Any] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        creator = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self) -> Any:
        """Return the Session, whose runs the hooks are not told of; None after `close`."""
        return self._tf_sess()


def _check_step_fn(step_fn: Any) -> None:
    """Raise an error unless `step_fn` takes a `step_context`."""
    if not callable(step_fn):
        raise TypeError(f"step_fn must be a function of a step_context, not {step_fn!r}")
    names = tuple(inspect.signature(step_fn).parameters)
    if names not in (("step_context",), ("self", "step_context")):
        raise ValueError(
            "`step_fn` may either have one `step_context` argument, or `self` and `step_context` "
            f"arguments if it's an instance method. Got {names} instead."
        )
