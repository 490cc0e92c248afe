"""tf.contrib.slim.evaluation: evaluation of checkpoints with a summary at the end.

Source: TF 1.15 API documentation, tf.contrib.slim.evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfdist.training.saving.checkpoint_utils import checkpoints_iterator, wait_for_new_checkpoint
from tfdist.training.saving.saver import Saver
from tfdist.training.sessions import evaluation
from tfdist.training.sessions.evaluation import slim_hooks
from tfdist.training.sessions.scaffold import Scaffold
from tfdist.training.sessions.supervisor_parts import USE_DEFAULT

__all__ = [
    "checkpoints_iterator", "evaluate_once", "evaluation_loop", "wait_for_new_checkpoint",
]  # fmt: skip


def evaluate_once(
    master: str,
    checkpoint_path: str,
    logdir: str,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Sequence[Any] | None = None,
    session_config: Any = None,
    hooks: Iterable[Any] | None = None,
) -> Any:
    """Evaluate a checkpoint, and write a summary; returns the value of `final_op`.

    Args:
      master: the session's target.
      checkpoint_path: what `Saver.save` returned.
      logdir: folder for the summary.
      num_evals: how often `eval_op` is run.
      initial_op: run at the beginning.
      initial_op_feed_dict: feeds for it.
      eval_op: run again and again.
      eval_op_feed_dict: feeds for it.
      final_op: run at the end.
      final_op_feed_dict: feeds for it.
      summary_op: gives all summaries, merged; None for none.
      summary_op_feed_dict: feeds for it.
      variables_to_restore: variables of the checkpoint; all by default.
      session_config: ConfigProto of the session.
      hooks: further SessionRunHooks.
    """
    return evaluation.evaluate_once(
        checkpoint_path, master, _scaffold(initial_op, initial_op_feed_dict, variables_to_restore),
        eval_op, eval_op_feed_dict, final_op, final_op_feed_dict,
        slim_hooks(hooks, num_evals, logdir, summary_op, summary_op_feed_dict), session_config,
    )  # fmt: skip


def evaluation_loop(
    master: str,
    checkpoint_dir: str,
    logdir: str,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    init_fn: Callable[[Any], Any] | None = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Sequence[Any] | None = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: Any = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    hooks: Iterable[Any] | None = None,
) -> Any:
    """Evaluate each checkpoint of a folder as it comes; see `evaluate_once`.

    Args:
      master: as the rest: see `evaluate_once` and `tf.contrib.training.evaluate_repeatedly`.
      checkpoint_dir: folder.
      init_fn: called with the scaffold and the session at the beginning.
    """
    scaffold = _scaffold(initial_op, initial_op_feed_dict, variables_to_restore, init_fn)
    return evaluation.evaluate_repeatedly(
        checkpoint_dir, master, scaffold, eval_op, eval_op_feed_dict, final_op, final_op_feed_dict,
        eval_interval_secs, slim_hooks(hooks, num_evals, logdir, summary_op, summary_op_feed_dict),
        session_config, max_number_of_evaluations, timeout, timeout_fn,
    )  # fmt: skip


def _scaffold(
    init_op: Any, feed_dict: Any, variables: Sequence[Any] | None, init_fn: Any = None
) -> Scaffold:
    saver = None if variables is None else Saver(variables)
    return Scaffold(init_op=init_op, init_feed_dict=feed_dict, init_fn=init_fn, saver=saver)
