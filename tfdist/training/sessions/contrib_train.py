"""tf.contrib.training.train: steps of a train op, in a monitored session.

Source: TF 1.15 API documentation, tf.contrib.training.train.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.training.sessions.monitored_training_session import MonitoredTrainingSession
from tfdist.training.sessions.scaffold import Scaffold

__all__ = ["train"]


def train(
    train_op: Any,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Scaffold | None = None,
    hooks: Iterable[Any] | None = None,
    chief_only_hooks: Iterable[Any] | None = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: Any = None,
    max_wait_secs: float = 7200,
    run_metadata: Any = None,
) -> Any:
    """Run a train op until a hook says that it is enough; returns what it gave last.

    Args:
      train_op: gives the loss, and makes a step.
      logdir: folder for checkpoints and summaries; None for none.
      master: as the rest: see `tf.train.MonitoredTrainingSession`.
      hooks: SessionRunHooks, of which one should stop it.
      run_metadata: RunMetadata that is filled by each step.

    Raises:
      ValueError: there is no folder, and yet checkpoints or summaries are wanted.

    Example:
      >>> w = Variable(4.0)
      >>> sgd = GradientDescentOptimizer(0.25)
      >>> step = contrib.training.create_train_op(w * w, sgd)
      >>> hooks = [StopAtStepHook(last_step=3)]
      >>> contrib.training.train(
      ...     step, None, hooks=hooks, save_checkpoint_secs=None, save_summaries_steps=None
      ... )
      np.float32(1.0)
    """
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError("logdir cannot be None when save_summaries_steps is not None")
        if save_checkpoint_secs:
            raise ValueError("logdir cannot be None when save_checkpoint_secs is not None")
    loss = None
    with MonitoredTrainingSession(
        master, is_chief, logdir, scaffold, hooks, chief_only_hooks, save_checkpoint_secs,
        save_summaries_steps, config=config, max_wait_secs=max_wait_secs,
    ) as session:  # fmt: skip
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
