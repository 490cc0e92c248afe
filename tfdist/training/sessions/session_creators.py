"""What makes the sessions of monitored sessions: for a chief, and for its workers.

Source: TF 1.15 API documentation, tf.train.ChiefSessionCreator, tf.train.WorkerSessionCreator.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.training.sessions.scaffold import Scaffold
from tfdist.training.sessions.session_manager import SessionManager

__all__ = ["ChiefSessionCreator", "SessionCreator", "WorkerSessionCreator"]


class SessionCreator:
    """Makes a session whenever one is needed: at the beginning, and after each loss of a task.

    Example:
      >>> class Plain(SessionCreator):
      ...     def create_session(self):
      ...         return Session()
      >>> two = constant(2.0)
      >>> with MonitoredSession(Plain()) as session:
      ...     session.run(two)
      np.float32(2.0)
    """

    def create_session(self) -> Any:
        """Return a new Session.

        Raises:
          NotImplementedError: a subclass does not say how.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method create_session")


class _FromScaffold(SessionCreator):
    """Makes sessions with the parts of a scaffold."""

    def __init__(self, scaffold: Scaffold | None, master: str, config: Any) -> None:
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._graph: Graph | None = None
        self._manager: SessionManager | None = None

    def _prepared(self) -> SessionManager:
        """Return the manager of the sessions; finalizes the scaffold, and with it the graph."""
        self._graph = self._graph or scopes.get_default_graph()
        with self._graph.as_default():
            self._scaffold.finalize()
        if self._manager is None:
            self._manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=self._graph,
            )
        return self._manager


class ChiefSessionCreator(_FromScaffold):
    """Makes sessions whose variables it restores from a checkpoint, or initialises.

    Args:
      scaffold: Scaffold; one of the default parts by default.
      master: the target of the sessions.
      config: their ConfigProto.
      checkpoint_dir: folder, whose latest checkpoint is restored.
      checkpoint_filename_with_path: the checkpoint itself, instead of a folder.

    Example:
      >>> v = Variable(3.0)
      >>> with MonitoredSession(ChiefSessionCreator()) as session:
      ...     session.run(v)
      np.float32(3.0)
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self) -> Any:
        """Return a new Session, ready for training; see `SessionManager.prepare_session`."""
        return self._prepared().prepare_session(
            self._master,
            init_op=self._scaffold.init_op,
            saver=self._scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )


class WorkerSessionCreator(_FromScaffold):
    """Makes sessions whose variables a chief initialises.

    Args:
      scaffold: Scaffold; one of the default parts by default.
      master: the target of the sessions.
      config: their ConfigProto.
      max_wait_secs: seconds that the chief may take.

    Example:
      >>> v = Variable(3.0, name="weights")
      >>> try:
      ...     MonitoredSession(WorkerSessionCreator(max_wait_secs=0))
      ... except errors.DeadlineExceededError as error:
      ...     print(error.message[:75])
      Session was not ready after waiting 0 secs. Variables not initialized: weig
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        max_wait_secs: float = 30 * 60,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Any:
        """Return a new Session, ready for training; see `SessionManager.wait_for_session`."""
        return self._prepared().wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )
