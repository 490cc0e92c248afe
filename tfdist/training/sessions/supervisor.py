"""Supervisor: the training helper of the first releases: sessions, checkpoints, summaries, stops.

Source: TF 1.15 API documentation, tf.train.Supervisor, tf.train.basic_train_loop.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.training.events.file_writer import FileWriter
from tfdist.training.global_step import global_step as value_of
from tfdist.training.sessions.coordinator import Coordinator
from tfdist.training.sessions.saving_hooks import write_described
from tfdist.training.sessions.session_manager import SessionManager
from tfdist.training.sessions.supervisor_parts import USE_DEFAULT, check_devices, is_default
from tfdist.training.sessions.supervisor_threads import SupervisorThreads

__all__ = ["Supervisor", "basic_train_loop"]

_LOG = logging.getLogger("tensorflow")


class Supervisor(SupervisorThreads):
    """Looks after a training: initialises or restores, saves, writes summaries, and stops.

    In a cluster one task is the chief, whose supervisor does all that; those of the others wait
    for it. Parts that are 0, the default, are taken from the collections of the graph, or made;
    None leaves a part out. The graph is finalized.

    Args:
      graph: the default graph by default.
      ready_op: gives the names of variables that have no value yet.
      ready_for_local_init_op: the same, of what `local_init_op` needs; none by default.
      is_chief: whether this task is the chief.
      init_op: initialises the variables.
      init_feed_dict: fed to `init_op`.
      local_init_op: initialises local variables and tables, in every session.
      logdir: folder for checkpoints and summaries; None for none.
      summary_op: gives all summaries, merged.
      saver: Saver.
      global_step: tensor or variable that counts the steps.
      save_summaries_secs: seconds between two summaries; 0 for none.
      save_model_secs: seconds between two checkpoints; 0 for none.
      recovery_wait_secs: the longest pause between two looks at whether the model is ready.
      stop_grace_secs: seconds that threads have to end after `stop`.
      checkpoint_basename: how the names of checkpoints begin.
      session_manager: SessionManager.
      summary_writer: FileWriter.
      init_fn: called with the session after `init_op`.
      local_init_run_options: RunOptions for `local_init_op`.

    Raises:
      ValueError: a variable of a task that is not the chief has no device.

    Example:
      >>> train = assign_add(create_global_step(), 1)
      >>> supervisor = Supervisor()
      >>> with supervisor.managed_session() as session:
      ...     while not supervisor.should_stop():
      ...         if session.run(train) == 3:
      ...             supervisor.request_stop()
      ...     session.run(supervisor.global_step)
      np.int64(3)
    """

    USE_DEFAULT = USE_DEFAULT

    def __init__(
        self,
        graph: Graph | None = None,
        ready_op: Any = USE_DEFAULT,
        ready_for_local_init_op: Any = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = USE_DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: Any = USE_DEFAULT,
        logdir: str | None = None,
        summary_op: Any = USE_DEFAULT,
        saver: Any = USE_DEFAULT,
        global_step: Any = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: Any = USE_DEFAULT,
        init_fn: Callable[[Any], Any] | None = None,
        local_init_run_options: Any = None,
    ) -> None:
        self._graph = scopes.get_default_graph() if graph is None else graph
        self._is_chief = is_chief
        self._init_feed_dict, self._init_fn = init_feed_dict, init_fn
        with self._graph.as_default():
            super().__init__(
                {
                    "ready_op": ready_op,
                    "ready_for_local_init_op": ready_for_local_init_op,
                    "init_op": init_op,
                    "local_init_op": local_init_op,
                    "saver": saver,
                    "summary_op": summary_op,
                    "global_step": global_step,
                }
            )
        self._stop_grace_secs = stop_grace_secs
        self._coord = Coordinator()
        self._take_folder(logdir, checkpoint_basename, summary_writer)
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._session_manager = session_manager or SessionManager(
            local_init_op=self._local_init_op,
            ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        if not is_chief:
            check_devices(self._graph)
        self._graph.finalize()

    def _take_folder(self, logdir: str | None, basename: str, writer: Any) -> None:
        """Take the folder, and what is written there: by the chief alone."""
        self._logdir = logdir if self._is_chief else None
        self._save_path = os.path.join(self._logdir, basename) if self._logdir else None
        self._summary_writer = None
        if self._is_chief and not is_default(writer):
            self._summary_writer = writer
        elif self._logdir:
            self._summary_writer = FileWriter(self._logdir)
        self._graph_was_written = False

    # parts

    @property
    def is_chief(self) -> bool:
        """Return whether this is the supervisor of the chief."""
        return self._is_chief

    @property
    def session_manager(self) -> SessionManager:
        """Return the SessionManager."""
        return self._session_manager

    @property
    def init_feed_dict(self) -> Any:
        """Return what is fed to `init_op`."""
        return self._init_feed_dict

    @property
    def save_path(self) -> str | None:
        """Return how the paths of checkpoints begin."""
        return self._save_path

    # sessions

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Any:
        """Return a session that is ready for training, with threads that fill its queues.

        Args:
          master: the session's target.
          config: ConfigProto of the session.
          wait_for_checkpoint: whether the chief waits until there is a checkpoint.
          max_wait_secs: for so long, or for the chief, at most.
          start_standard_services: whether threads are started.

        Raises:
          RuntimeError: the model is not ready although it was initialised.
          DeadlineExceededError: the chief has not made it ready.
          OpError: a task is lost, or an operation failed.
        """
        self._coord.clear_stop()
        if self._summary_writer is not None:
            self._summary_writer.reopen()
        if self._is_chief:
            session = self._session_manager.prepare_session(
                master, init_op=self._init_op, saver=self._saver, checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint, max_wait_secs=max_wait_secs,
                config=config, init_feed_dict=self._init_feed_dict, init_fn=self._init_fn,
            )  # fmt: skip
            self._write_graph()
        else:
            session = self._session_manager.wait_for_session(
                master, config=config, max_wait_secs=max_wait_secs
            )
        if start_standard_services:
            if self._is_chief:
                _LOG.info("Starting standard services.")
                self.start_standard_services(session)
            _LOG.info("Starting queue runners.")
            self.start_queue_runners(session)
        return session

    def _write_graph(self) -> None:
        """Write the graph into the folder, once for each event file."""
        if not self._logdir or self._graph_was_written:
            return
        write_described(self._graph, self._saver, self._logdir, self._summary_writer)
        self._graph_was_written = True

    @contextmanager
    def managed_session(
        self,
        master: str = "",
        config: Any = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Any]:
        """Give a session for the block; at its end threads end, and the session is closed.

        An error of the block or of a thread is raised at the end; the end of the data is none.

        Args:
          master: the session's target.
          config: ConfigProto of the session.
          start_standard_services: whether threads are started that save, summarise and fill queues.
          close_summary_writer: whether the FileWriter is closed at the end.
        """
        session = None
        try:
            session = self.prepare_or_wait_for_session(
                master, config, start_standard_services=start_standard_services
            )
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if session is not None:
                    with suppress(Exception):  # its task may be gone
                        session.close()

    def summary_computed(self, sess: Any, summary: Any, global_step: int | None = None) -> None:
        """Write a summary.

        Args:
          sess: Session, asked for the global step if that is not given.
          summary: Summary or bytes.
          global_step: of the summary.

        Raises:
          RuntimeError: there is no FileWriter: this is no chief, or has no folder.
          TypeError: it is no summary.
        """
        if self._summary_writer is None:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = value_of(sess, self._global_step)
        self._summary_writer.add_summary(summary, global_step)

    # before TensorFlow 0.8

    PrepareSession = prepare_or_wait_for_session
    SummaryComputed = summary_computed


def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., Any],
    args: Iterable[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    master: str = "",
) -> None:
    """Call a function of a session again and again, until the supervisor stops.

    Args:
      supervisor: Supervisor.
      train_step_fn: called as `train_step_fn(session, *args, **kwargs)`.
      args: its further positional arguments.
      kwargs: its arguments by name.
      master: the session's target.

    Example:
      >>> train = assign_add(create_global_step(), 1)
      >>> supervisor = Supervisor()
      >>> def step(session):
      ...     if session.run(train) == 3:
      ...         supervisor.request_stop()
      >>> basic_train_loop(supervisor, step)
    """
    args, kwargs = tuple(args or ()), dict(kwargs or {})
    with supervisor.managed_session(master) as session:
        while not supervisor.should_stop():
            train_step_fn(session, *args, **kwargs)
