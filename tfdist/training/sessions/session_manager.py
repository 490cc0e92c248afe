"""SessionManager: sessions whose variables are initialised, restored, or waited for.

Source: TF 1.15 API documentation, tf.train.SessionManager.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfdist.errors import (
    AbortedError,
    DeadlineExceededError,
    FailedPreconditionError,
    UnavailableError,
)
from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.session.session import Session
from tfdist.training.saving.checkpoint_management import latest_checkpoint

__all__ = ["SessionManager"]

FIRST_PAUSE = 0.25  # seconds between the first looks at a model; later ones are further apart

_LOG = logging.getLogger("tensorflow")


class SessionManager:
    """Makes sessions that are ready for training.

    The chief calls `prepare_session`, the other workers `wait_for_session`.

    Args:
      local_init_op: run in every session, after the global variables have values.
      ready_op: gives the names of variables that have no value yet, and nothing if all is ready.
      ready_for_local_init_op: the same, of what `local_init_op` needs.
      graph: that the sessions run; the default graph by default.
      recovery_wait_secs: the longest pause between two looks at whether a model is ready.
      local_init_run_options: RunOptions for `local_init_op`.

    Example:
      >>> v = Variable(3.0)
      >>> manager = SessionManager(ready_op=report_uninitialized_variables())
      >>> with manager.prepare_session("", init_op=v.initializer) as session:
      ...     session.run(v)
      np.float32(3.0)
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
    ) -> None:
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = scopes.get_default_graph() if graph is None else graph
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Any], Any] | None = None,
    ) -> Session:
        """Return a session whose model was restored from a checkpoint, or initialised.

        Args:
          master: the session's target.
          init_op: run if there is no checkpoint.
          saver: Saver that restores.
          checkpoint_dir: folder, whose latest checkpoint is restored.
          checkpoint_filename_with_path: the checkpoint itself, instead of a folder.
          wait_for_checkpoint: whether to wait until there is one.
          max_wait_secs: for so long at most.
          config: ConfigProto of the session.
          init_feed_dict: fed to `init_op`.
          init_fn: called with the session after `init_op`.

        Raises:
          RuntimeError: there is nothing that could initialise the model, or it is not ready after
            it was initialised; the variables without values are named.
          ValueError: both a folder and a checkpoint are given.
          OpError: a task is lost, or an operation failed.
        """
        session, is_restored = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint,
            max_wait_secs, config,
        )  # fmt: skip
        with _closed_on_error(session):
            if not is_restored:
                self._initialize(session, init_op, init_feed_dict, init_fn)
            self._finish(session, init_op, init_fn)
        return session

    def _initialize(self, session: Session, init_op: Any, feeds: Any, init_fn: Any) -> None:
        if init_op is None and not init_fn and self._local_init_op is None:
            raise RuntimeError(
                "Model is not initialized and no init_op or init_fn or local_init_op was given"
            )
        if init_op is not None:
            session.run(init_op, feed_dict=feeds)
        if init_fn:
            init_fn(session)

    def _finish(self, session: Session, init_op: Any, init_fn: Any) -> None:
        """Run `local_init_op`, and see whether the model is ready."""
        said = f"Init op: {_name(init_op)}, init fn: {init_fn}"
        missing = self._initialize_local(session)
        if missing:
            raise RuntimeError(
                "Init operations did not make model ready for local_init.  "
                f"{said}, error: {missing}"
            )
        missing = self._missing(session)
        if missing:
            raise RuntimeError(
                f"Init operations did not make model ready.  {said}, "
                f"local_init_op: {_name(self._local_init_op)}, error: {missing}"
            )

    def recover_session(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Session, bool]:
        """Return a session, and whether its model was restored from a checkpoint and is ready.

        See `prepare_session` for arguments and errors.
        """
        session, is_restored = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint,
            max_wait_secs, config,
        )  # fmt: skip
        if not is_restored:
            return session, False
        source = checkpoint_dir or checkpoint_filename_with_path
        with _closed_on_error(session):
            missing, purpose = self._initialize_local(session), " for local init"
            if not missing:
                missing, purpose = self._missing(session), ""
        if missing:
            _LOG.info(
                "Restoring model from %s did not make model ready%s: %s", source, purpose, missing
            )
            return session, False
        _LOG.info("Restored model from %s", source)
        return session, True

    def _restored(
        self,
        master: str,
        saver: Any,
        folder: str | None,
        path: str | None,
        waits: bool,
        max_wait_secs: float,
        config: Any,
    ) -> tuple[Session, bool]:
        """Return a new session, and whether variables were restored from a checkpoint."""
        if folder and path:
            raise ValueError(
                "Can not provide both checkpoint_dir and checkpoint_filename_with_path."
            )
        session = Session(master, graph=self._graph, config=config)
        if saver is None or not (folder or path):
            return session, False
        with _closed_on_error(session):
            path = path or self._latest_checkpoint(str(folder), max_wait_secs if waits else None)
            if path is None:
                return session, False
            saver.restore(session, path)
        return session, True

    def _latest_checkpoint(self, folder: str, patience: float | None) -> str | None:
        """Return the path of the latest checkpoint in a folder, None if there is none."""
        begun = time.monotonic()
        while (found := latest_checkpoint(folder)) is None:
            left = (patience or 0.0) - (time.monotonic() - begun)
            if left <= 0:
                return None
            _LOG.info("Waiting for checkpoint to be available in %s", folder)
            time.sleep(min(self._recovery_wait_secs, left))
        return found

    def wait_for_session(
        self, master: str, config: Any = None, max_wait_secs: float = float("inf")
    ) -> Session:
        """Return a session, as soon as somebody else has made its model ready.

        What is waited for is logged.

        Args:
          master: the session's target.
          config: ConfigProto of the session.
          max_wait_secs: seconds after which it is an error.

        Raises:
          DeadlineExceededError: the model is not ready; what it lacks is named.
          OpError: an operation failed.
        """
        begun, pause = time.monotonic(), FIRST_PAUSE
        while True:
            session, local, missing = self._session_if_ready(master, config)
            if session is not None:
                return session
            left = max_wait_secs - (time.monotonic() - begun)
            if left <= 0:
                raise _too_late(max_wait_secs, local or missing)
            _LOG.warning(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s",
                local or None, missing or None,
            )  # fmt: skip
            time.sleep(max(0.0, min(pause, self._recovery_wait_secs, left)))
            pause *= 2

    def _session_if_ready(self, master: str, config: Any) -> tuple[Session | None, str, str]:
        """Return a session if its model is ready; else what it lacks: first, and then."""
        session, local, missing = Session(master, graph=self._graph, config=config), "", ""
        with _closed_on_error(session):
            try:
                local = self._initialize_local(session)
                missing = "" if local else self._missing(session)
            except (AbortedError, UnavailableError) as error:
                missing = error.message
        if not (local or missing):
            return session, "", ""
        session.close()
        return None, local, missing

    def _initialize_local(self, session: Session) -> str:
        """Run `local_init_op`; returns what it still lacks, "" if it has run."""
        missing = _lacks(session, self._ready_for_local_init_op)
        if missing or self._local_init_op is None:
            return missing
        _LOG.info("Running local_init_op.")
        session.run(self._local_init_op, options=self._local_init_run_options)
        _LOG.info("Done running local_init_op.")
        return ""

    def _missing(self, session: Session) -> str:
        """Return what the model lacks, "" if it is ready."""
        return _lacks(session, self._ready_op)


@contextmanager
def _closed_on_error(session: Session) -> Iterator[None]:
    """Close a session that nobody will get because of an error."""
    try:
        yield
    except BaseException:
        session.close()
        raise


def _name(op: Any) -> Any:
    return getattr(op, "name", op)


def _lacks(session: Session, ready_op: Any) -> str:
    """Return in words what `ready_op` finds missing, "" if nothing."""
    if ready_op is None:
        return ""
    try:
        found = session.run(ready_op)
    except FailedPreconditionError as error:
        return error.message
    names = np.asarray([] if found is None else found)
    if names.dtype.kind not in "OSU":  # before 0.8, a ready_op gave numbers or failed
        return ""
    words = [each.decode() if isinstance(each, bytes) else str(each) for each in names.reshape(-1)]
    return f"Variables not initialized: {', '.join(words)}" if words else ""


def _too_late(seconds: float, missing: str) -> DeadlineExceededError:
    return DeadlineExceededError(
        f"Session was not ready after waiting {seconds:g} secs. {missing}. Another process is to "
        "initialise the model: is the chief running, and does it use the same cluster and the "
        "same names of variables?"
    )
