"""Hooks that write files: checkpoints, summaries and profiles.

Source: TF 1.15 API documentation, tf.estimator.CheckpointSaverHook, CheckpointSaverListener,
SummarySaverHook, ProfilerHook.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.graph_files import write_graph
from tfdist.protos import pb
from tfdist.tracing.steps.timeline import Timeline
from tfdist.training.events.file_writer import FileWriterCache
from tfdist.training.saving.meta_graph import export_meta_graph
from tfdist.training.sessions.scaffold import Scaffold, default_saver
from tfdist.training.sessions.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tfdist.training.sessions.step_hooks import SecondOrStepTimer, needed_global_step

__all__ = ["CheckpointSaverHook", "CheckpointSaverListener", "ProfilerHook", "SummarySaverHook"]

_LOG = logging.getLogger("tensorflow")


class CheckpointSaverListener:
    """Told of the checkpoints that a CheckpointSaverHook writes; for subclasses.

    Example:
      >>> import tempfile
      >>> class Told(CheckpointSaverListener):
      ...     def after_save(self, session, global_step_value):
      ...         print("saved", global_step_value)
      >>> count = assign_add(create_global_step(), 1)
      >>> hook = CheckpointSaverHook(tempfile.mkdtemp(), save_steps=9, listeners=[Told()])
      >>> with MonitoredSession(hooks=[hook]) as session:
      ...     _ = session.run(count)
      saved 0
      saved 1
      >>> summary.FileWriterCache.clear()
    """

    def begin(self) -> None:
        """Do what comes before the session; nodes can be added now."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Do what comes before a checkpoint."""

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """Do what comes after a checkpoint; True asks for the stop of the training."""

    def end(self, session: Any, global_step_value: int) -> None:
        """Do what comes after the last checkpoint."""


class CheckpointSaverHook(SessionRunHook):
    """Writes checkpoints: at the beginning, every so many steps or seconds, and at the end.

    Args:
      checkpoint_dir: folder for them.
      save_secs: seconds between two.
      save_steps: global steps between two.
      saver: Saver; by default that of the scaffold, or of the graph.
      checkpoint_basename: how their names begin.
      scaffold: Scaffold whose saver is used, instead of `saver`.
      listeners: CheckpointSaverListeners, told of each.

    Raises:
      ValueError: seconds and steps are given, or none; or a saver and a scaffold.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> count = assign_add(create_global_step(), 1)
      >>> with MonitoredSession(hooks=[CheckpointSaverHook(folder, save_steps=2)]) as session:
      ...     while session.run(count) < 3:
      ...         pass
      >>> summary.FileWriterCache.clear()
      >>> train.latest_checkpoint(folder).replace(folder, "")
      '/model.ckpt-3'
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
        listeners: Iterable[Any] | None = None,
    ) -> None:
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold = saver, scaffold
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._listeners = list(listeners or ())

    def begin(self) -> None:
        """Find the global step and the writer."""
        self._global_step = needed_global_step(self)
        self._writer = FileWriterCache.get(self._checkpoint_dir)
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Write the graph, and a first checkpoint."""
        step = int(session.run(self._global_step))
        graph = session.graph if hasattr(session, "graph") else scopes.get_default_graph()
        write_described(graph, self._get_saver(), self._checkpoint_dir, self._writer)
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write a checkpoint, if it is time; what came with the run may be of before its update."""
        if not self._timer.should_trigger_for_step(int(run_values.results) + 1):
            return
        step = int(run_context.session.run(self._global_step))
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        """Write the last checkpoint, unless that was done."""
        step = int(session.run(self._global_step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: int) -> bool:
        """Write a checkpoint; returns whether a listener asks for the stop."""
        _LOG.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        log = pb.SessionLog(status=pb.SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._writer.add_session_log(log, step)
        stops = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                stops = True
                _LOG.info(
                    "A CheckpointSaverListener requested that training be stopped. listener: %s",
                    listener,
                )
        return stops

    def _get_saver(self) -> Any:
        if self._saver is None and self._scaffold is not None:
            return self._scaffold.saver
        if self._saver is None:
            self._saver = default_saver()
        return self._saver


def write_described(graph: Any, saver: Any, folder: str, writer: Any) -> None:
    """Write a graph into `graph.pbtxt`, and as events, with a MetaGraph that names the saver."""
    write_graph(graph.as_graph_def(add_shapes=True), folder, "graph.pbtxt")
    if writer is not None:
        saver_def = None if saver is None else saver.as_saver_def()
        writer.add_graph(graph)
        writer.add_meta_graph(export_meta_graph(graph=graph, saver_def=saver_def))


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds.

    Args:
      save_steps: global steps between two.
      save_secs: seconds between two.
      output_dir: folder for them.
      summary_writer: FileWriter, instead of a folder.
      scaffold: Scaffold whose `summary_op` is run.
      summary_op: gives summaries: one tensor or a list; instead of a scaffold.

    Raises:
      ValueError: seconds and steps are given, or none; or a scaffold and an op, or none.

    Example:
      >>> import tempfile
      >>> count = assign_add(create_global_step(), 1)
      >>> loss = summary.scalar("loss", 0.5)
      >>> with summary.FileWriter(tempfile.mkdtemp()) as writer:
      ...     hook = SummarySaverHook(save_steps=1, summary_writer=writer, summary_op=loss)
      ...     with MonitoredSession(hooks=[hook]) as session:
      ...         session.run(count)
      np.int64(1)
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
        scaffold: Scaffold | None = None,
        summary_op: Any = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op, self._scaffold = summary_op, scaffold
        self._writer, self._output_dir = summary_writer, output_dir
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        """Find the global step and the writer."""
        self._global_step = needed_global_step(self)
        if self._writer is None and self._output_dir:
            self._writer = FileWriterCache.get(self._output_dir)
        self._next_step: int | None = None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step, and for the summaries if it is time."""
        following = self._next_step
        self._is_time = following is None or self._timer.should_trigger_for_step(following)
        ops = self._summary_ops() if self._is_time else []
        return SessionRunArgs([self._global_step, ops] if ops else [self._global_step])

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write what came."""
        stale, *found = run_values.results
        if self._writer is None:
            return
        step = int(stale) + 1
        if self._is_time:
            step = int(run_context.session.run(self._global_step))
            self._timer.update_last_triggered_step(step)
        if self._next_step is None:
            self._writer.add_session_log(pb.SessionLog(status=pb.SessionLog.START), step)
        for summary in found[0] if found else ():
            self._writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Any = None) -> None:
        """Write what is left."""
        if self._writer is not None:
            self._writer.flush()

    def _summary_ops(self) -> list[Any]:
        op = self._summary_op
        if op is None and self._scaffold is not None:
            op = self._scaffold.summary_op
        if op is None:
            return []
        return list(op) if isinstance(op, list | tuple) else [op]


class ProfilerHook(SessionRunHook):
    """Traces a step now and then, and writes it as `timeline-STEP.json`, for Perfetto.

    Args:
      save_steps: global steps between two.
      save_secs: seconds between two.
      output_dir: folder for them.
      show_dataflow: whether arrows lead from makers to takers.
      show_memory: whether a counter shows memory.

    Raises:
      ValueError: seconds and steps are given, or none.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> train = assign_add(create_global_step(), 1)
      >>> hook = ProfilerHook(save_steps=1, output_dir=folder)
      >>> with MonitoredSession(hooks=[hook]) as session:
      ...     print(session.run(train), session.run(train))
      1 2
      >>> summary.FileWriterCache.clear()
      >>> os.path.exists(os.path.join(folder, "timeline-2.json"))
      True
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._output_dir = output_dir
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._show_dataflow, self._show_memory = show_dataflow, show_memory

    def begin(self) -> None:
        """Find the global step and the writer."""
        self._global_step = needed_global_step(self)
        self._writer = FileWriterCache.get(self._output_dir or os.curdir)
        self._next_step: int | None = None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for a trace, if it is time; never in the first run, which has other things to do."""
        following = self._next_step
        self._is_time = following is not None and self._timer.should_trigger_for_step(following)
        options = pb.RunOptions(trace_level=pb.RunOptions.FULL_TRACE) if self._is_time else None
        return SessionRunArgs(self._global_step, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the trace, if there is one."""
        stale = int(run_values.results)
        if self._next_step is None:
            self._timer.update_last_triggered_step(stale)
        step = stale + 1
        if self._is_time:
            step = int(run_context.session.run(self._global_step))
            self._timer.update_last_triggered_step(step)
            self._save(step, run_values.run_metadata)
        self._next_step = step + 1

    def _save(self, step: int, metadata: Any) -> None:
        path = os.path.join(self._output_dir, f"timeline-{step}.json")
        _LOG.info("Saving timeline for %d into '%s'.", step, path)
        trace = Timeline(metadata.step_stats).generate_chrome_trace_format(
            self._show_dataflow, self._show_memory
        )
        with open(path, "w", encoding="utf-8") as file:
            file.write(trace)
        self._writer.add_run_metadata(metadata, f"step_{step}")
