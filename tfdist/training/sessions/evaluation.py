"""Evaluation of checkpoints: of one, or of each as it comes.

Source: TF 1.15 API documentation, tf.contrib.training.evaluate_once and those beside it; lines of
the log by experiment.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.ops.summary.summaries import merge_all
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import zeros_initializer
from tfdist.ops.variables.state_ops import assign_add
from tfdist.training.events.file_writer import FileWriterCache
from tfdist.training.global_step import get_or_create_global_step
from tfdist.training.saving.checkpoint_utils import checkpoints_iterator
from tfdist.training.sessions.monitored_session import MonitoredSession
from tfdist.training.sessions.scaffold import Scaffold
from tfdist.training.sessions.session_creators import ChiefSessionCreator
from tfdist.training.sessions.session_run_hook import SessionRunArgs, SessionRunHook
from tfdist.training.sessions.supervisor_parts import is_default
from tfdist.training.sessions.value_hooks import FinalOpsHook

__all__ = [
    "StopAfterNEvalsHook", "SummaryAtEndHook", "evaluate_once", "evaluate_repeatedly",
    "get_or_create_eval_step",
]  # fmt: skip

EVAL_STEP = "eval_step"
FEW = 20  # evaluations that are told of one by one; of more, about ten lines are written

_LOG = logging.getLogger("tensorflow")


def get_or_create_eval_step() -> Any:
    """Return the variable that counts the runs of an evaluation; made if it is not there.

    Example:
      >>> contrib.training.get_or_create_eval_step().name
      'eval_step:0'
    """
    graph = scopes.get_default_graph()
    found = graph.get_collection(EVAL_STEP)
    if found:
        return found[0]
    return get_variable(
        EVAL_STEP, [], dtypes.int64, zeros_initializer(), trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, EVAL_STEP],
    )  # fmt: skip


class StopAfterNEvalsHook(SessionRunHook):
    """Ends an evaluation after a number of runs.

    Args:
      num_evals: how many; None for no end but that of the data.
      log_progress: whether the log tells of them.

    Example:
      >>> w = get_variable("w", initializer=2.0)
      >>> hook = contrib.training.StopAfterNEvalsHook(3, log_progress=False)
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals, self._log_progress = num_evals, log_progress
        self._evals_completed: Any = None
        is_few = num_evals is None or num_evals < FEW
        self._log_frequency = 1 if is_few else (num_evals or 0) // 10

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Ask for the number of runs."""
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Stop if it is enough."""
        done = int(run_values.results["evals_completed"])
        if self._log_progress and (done % self._log_frequency == 0 or done == self._num_evals):
            if self._num_evals is None:
                _LOG.info("Evaluation [%d]", done)
            else:
                _LOG.info("Evaluation [%d/%d]", done, self._num_evals)
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Writes a summary at the end.

    Args:
      log_dir: folder.
      summary_writer: FileWriter, instead of a folder.
      summary_op: gives the summary; all that are in the graph, merged, by default.
      feed_dict: feeds for it.

    Raises:
      ValueError: there is neither folder nor writer.

    Example:
      >>> import tempfile
      >>> hook = contrib.training.SummaryAtEndHook(tempfile.mkdtemp())
    """

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: Any = None,
        summary_op: Any = None,
        feed_dict: Any = None,
    ) -> None:
        if summary_writer is None and log_dir is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._log_dir, self._summary_writer = log_dir, summary_writer
        self._summary_op, self._merges = summary_op, summary_op is None
        self._feed_dict = feed_dict

    def begin(self) -> None:
        """Merge the summaries, and take the global step."""
        if self._merges:
            self._summary_op = merge_all()
        self._global_step = get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Take the folder's writer."""
        if self._summary_writer is None and self._log_dir is not None:
            self._summary_writer = FileWriterCache.get(self._log_dir)

    def end(self, session: Any) -> None:
        """Write the summary."""
        if self._summary_op is not None:
            step, summary = session.run([self._global_step, self._summary_op], self._feed_dict)
            self._summary_writer.add_summary(summary, step)
        self._summary_writer.flush()


def evaluate_once(
    checkpoint_path: str,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    hooks: Iterable[Any] | None = None,
    config: Any = None,
) -> Any:
    """Run something on a checkpoint again and again; returns what comes of `final_ops` at the end.

    Args:
      checkpoint_path: what `Saver.save` returned.
      master: the session's target.
      scaffold: Scaffold; one of the default parts by default.
      eval_ops: a dict, a list, or one: that is run until a hook stops it; None for nothing.
      feed_dict: feeds for `eval_ops`.
      final_ops: run once at the end, as the fetches of `Session.run`.
      final_ops_feed_dict: feeds for them.
      hooks: SessionRunHooks, such as `StopAfterNEvalsHook`.
      config: ConfigProto of the session.

    Example:
      >>> import tempfile
      >>> w = get_variable("w", initializer=2.0)
      >>> with Session() as session:
      ...     session.run(w.initializer)
      ...     path = train.Saver().save(session, f"{tempfile.mkdtemp()}/model")
      >>> hooks = [contrib.training.StopAfterNEvalsHook(3)]
      >>> contrib.training.evaluate_once(path, eval_ops=w.op, final_ops=w * 2.0, hooks=hooks)
      np.float32(4.0)
    """
    hooks, eval_ops, final = _prepared(hooks, eval_ops, final_ops, final_ops_feed_dict)
    _LOG.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    return _evaluated(checkpoint_path, scaffold, master, config, hooks, eval_ops, feed_dict, final)


def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    eval_interval_secs: float = 60,
    hooks: Iterable[Any] | None = None,
    config: Any = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """Evaluate each checkpoint of a folder as it comes; returns the last value of `final_ops`.

    Args:
      checkpoint_dir: folder.
      master: as the rest: see `evaluate_once`.
      eval_interval_secs: seconds between two.
      max_number_of_evaluations: after which it ends; None for no end.
      timeout: seconds to wait for a new one; by default without end.
      timeout_fn: called when they are over: whether that is the end; by default it is.
    """
    hooks, eval_ops, final = _prepared(hooks, eval_ops, final_ops, final_ops_feed_dict)
    found = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for number, path in enumerate(found, 1):
        _LOG.info("Starting evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
        _evaluated(path, scaffold, master, config, hooks, eval_ops, feed_dict, final)
        if max_number_of_evaluations is not None and number >= max_number_of_evaluations:
            break
    return final.final_ops_values


def _prepared(
    hooks: Iterable[Any] | None, eval_ops: Any, final_ops: Any, feed_dict: Any
) -> tuple[list[Any], Any, FinalOpsHook]:
    """Return the hooks, what is run again and again and counts that, and the last hook."""
    step = get_or_create_eval_step()
    hooks = list(hooks or ())
    counted = step
    if eval_ops is not None:
        counted = assign_add(step, 1, use_locking=True)
        if isinstance(eval_ops, dict):
            eval_ops = {**eval_ops, "update_eval_step": counted}
        else:
            eval_ops = [*_listed(eval_ops), counted]
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook._evals_completed = counted
    final = FinalOpsHook(final_ops, feed_dict)
    return [*hooks, final], eval_ops, final


def _listed(eval_ops: Any) -> list[Any]:
    return list(eval_ops) if isinstance(eval_ops, list | tuple) else [eval_ops]


def _evaluated(
    path: str, scaffold: Any, master: str, config: Any, hooks: list[Any], eval_ops: Any,
    feed_dict: Any, final: FinalOpsHook,
) -> Any:  # fmt: skip
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_filename_with_path=path)
    with MonitoredSession(creator, hooks) as session:
        while eval_ops is not None and not session.should_stop():
            session.run(eval_ops, feed_dict)
    _LOG.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
    return final.final_ops_values


def slim_hooks(
    hooks: Iterable[Any] | None, num_evals: int, logdir: str, summary_op: Any, feed_dict: Any
) -> list[Any]:
    """Return the hooks of an evaluation of tf.contrib.slim: it stops, and writes a summary."""
    if is_default(summary_op):
        summary_op = merge_all()
    made: list[Any] = [StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        made.append(SummaryAtEndHook(logdir, summary_op=summary_op, feed_dict=feed_dict))
    return [*made, *(hooks or ())]
