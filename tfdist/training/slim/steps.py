"""The steps of tf.contrib.slim.learning.train: what one does, and when it is enough.

Source: TF 1.15 API documentation, tf.contrib.slim.learning; lines of the log by experiment.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from tfdist.errors import OutOfRangeError
from tfdist.graph import scopes
from tfdist.ops.array.constants import constant
from tfdist.ops.math.arithmetic import floormod
from tfdist.ops.math.comparison import equal, greater_equal
from tfdist.protos import pb
from tfdist.training.sessions.supervisor import Supervisor

StepFunction = Callable[[Any, Any, Any, dict[str, Any]], tuple[Any, Any]]

_LOG = logging.getLogger("tensorflow")


def train_step(
    sess: Any, train_op: Any, global_step: Any, train_step_kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Make a step: what `train` calls again and again, unless it is given another function.

    Args:
      sess: Session.
      train_op: gives the loss, and makes the step.
      global_step: counts the steps.
      train_step_kwargs: may have the tensors "should_stop", "should_log" and "should_trace", and
        "logdir" and "summary_writer" for a trace.

    Returns:
      The loss, and whether to stop.
    """
    start = time.monotonic()
    options, metadata = _traced(sess, train_step_kwargs)
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    elapsed = time.monotonic() - start
    if metadata is not None:
        _write_trace(metadata, step, train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        _LOG.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, elapsed)
    stops = train_step_kwargs.get("should_stop")
    return loss, False if stops is None else sess.run(stops)


def _traced(sess: Any, kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return RunOptions and RunMetadata of a step that is traced; None of one that is not."""
    if "should_trace" not in kwargs:
        return None, None
    if "logdir" not in kwargs:
        raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
    if not sess.run(kwargs["should_trace"]):
        return None, None
    options = pb.RunOptions(trace_level=pb.RunOptions.FULL_TRACE)
    return options, pb.RunMetadata()


def _write_trace(metadata: Any, step: int, kwargs: Mapping[str, Any]) -> None:
    from tfdist.tracing.steps.timeline import Timeline

    path = os.path.join(kwargs["logdir"], f"tf_trace-{step}.json")
    _LOG.info("Writing trace to %s", path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(Timeline(metadata.step_stats).generate_chrome_trace_format())
    if "summary_writer" in kwargs:
        kwargs["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}")


def step_tensors(step: Any, number_of_steps: int | None, every: int) -> dict[str, Any]:
    """Return the tensors by which `train_step` knows what to do."""
    with scopes.name_scope("train_step"):
        stops = constant(False) if number_of_steps is None else greater_equal(step, number_of_steps)
        tensors: dict[str, Any] = {"should_stop": stops}
        if every > 0:
            tensors["should_log"] = equal(floormod(step, every), 0)
    return tensors


def run_steps(supervisor: Supervisor, session: Any, function: StepFunction, *arguments: Any) -> Any:
    """Make steps until it is enough, or the data ends; returns the last loss."""
    loss = None
    try:
        while not supervisor.should_stop():
            loss, stops = function(session, *arguments)
            if stops:
                _LOG.info("Stopping Training.")
                supervisor.request_stop()
                break
    except OutOfRangeError as error:
        _LOG.info("Caught OutOfRangeError. Stopping Training. %s", error)
    return loss
