"""MonitoredTrainingSession: a monitored session with the hooks that a training usually has.

Source: TF 1.15 API documentation, tf.train.MonitoredTrainingSession.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from tfdist.training.sessions.monitored_session import MonitoredSession
from tfdist.training.sessions.saving_hooks import CheckpointSaverHook, SummarySaverHook
from tfdist.training.sessions.scaffold import Scaffold
from tfdist.training.sessions.session_creators import ChiefSessionCreator, WorkerSessionCreator
from tfdist.training.sessions.step_hooks import StepCounterHook

__all__ = ["MonitoredTrainingSession"]

USE_DEFAULT: Any = object()

_LOG = logging.getLogger("tensorflow")


def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Iterable[Any] | None = None,
    chief_only_hooks: Iterable[Any] | None = None,
    save_checkpoint_secs: float | None = USE_DEFAULT,
    save_summaries_steps: int | None = USE_DEFAULT,
    save_summaries_secs: float | None = USE_DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: int | None = USE_DEFAULT,
    summary_dir: str | None = None,
) -> MonitoredSession:
    """Return a MonitoredSession for training: that of a chief restores, saves and summarises.

    Of two intervals, in steps and in seconds, one may be given; None or 0 switches off.

    Args:
      master: the session's target.
      is_chief: whether this task initialises the model; the others wait for that.
      checkpoint_dir: folder for checkpoints, from which the latest is restored.
      scaffold: Scaffold; one of the default parts by default.
      hooks: SessionRunHooks.
      chief_only_hooks: further hooks, if this is the chief.
      save_checkpoint_secs: seconds between two checkpoints; 600 by default.
      save_summaries_steps: global steps between two summaries; 100 by default.
      save_summaries_secs: seconds between two summaries.
      config: ConfigProto of the session.
      stop_grace_period_secs: seconds that threads have to end after `close`.
      log_step_count_steps: global steps between two lines about their speed.
      max_wait_secs: seconds that a worker waits for the chief.
      save_checkpoint_steps: global steps between two checkpoints.
      summary_dir: folder for summaries; `checkpoint_dir` by default.

    Raises:
      ValueError: steps and seconds are given.
      RuntimeError: there is a folder, but no global step.
      DeadlineExceededError: the chief has not initialised the model.

    Example:
      >>> import tempfile
      >>> train = assign_add(create_global_step(), 1)
      >>> folder = tempfile.mkdtemp()
      >>> for _ in "ab":
      ...     with MonitoredTrainingSession(checkpoint_dir=folder) as session:
      ...         session.run(train)
      np.int64(1)
      np.int64(2)
      >>> summary.FileWriterCache.clear()
    """
    scaffold = scaffold or Scaffold()
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks, stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or ())
    folder = summary_dir or checkpoint_dir
    if folder:
        all_hooks += _summaries(
            folder, scaffold, save_summaries_steps, save_summaries_secs, log_step_count_steps
        )
    if checkpoint_dir:
        all_hooks += _checkpoints(
            checkpoint_dir, scaffold, save_checkpoint_steps, save_checkpoint_secs
        )
    chief = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(chief, [*all_hooks, *(hooks or ())], stop_grace_period_secs)


def _summaries(
    folder: str, scaffold: Scaffold, steps: Any, seconds: Any, log_steps: int | None
) -> list[Any]:
    hooks: list[Any] = []
    if log_steps:
        hooks.append(StepCounterHook(every_n_steps=log_steps, output_dir=folder))
    steps, seconds = _intervals(steps, seconds, (100, None))
    if steps or seconds:
        hooks.append(SummarySaverHook(steps, seconds, folder, scaffold=scaffold))
    return hooks


def _checkpoints(folder: str, scaffold: Scaffold, steps: Any, seconds: Any) -> list[Any]:
    steps, seconds = _intervals(steps, seconds, (None, 600))
    if not (steps or seconds):
        return []
    _LOG.info("Create CheckpointSaverHook.")
    return [CheckpointSaverHook(folder, seconds, steps, scaffold=scaffold)]


def _intervals(steps: Any, seconds: Any, default: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return steps and seconds: the default if neither was given, else None for the other."""
    if steps is USE_DEFAULT and seconds is USE_DEFAULT:
        return default
    return (None if steps is USE_DEFAULT else steps, None if seconds is USE_DEFAULT else seconds)
