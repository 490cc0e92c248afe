"""tf.contrib.slim.learning: a whole training in one call, as the models of that time had it.

Source: TF 1.15 API documentation, tf.contrib.slim.learning; lines of the log by experiment.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tfdist.errors import AbortedError
from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.lookup.table_initializers import tables_initializer
from tfdist.ops.math.arithmetic import floormod
from tfdist.ops.math.comparison import equal
from tfdist.ops.summary.summaries import merge_all
from tfdist.ops.variables.collections import (
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from tfdist.training.global_step import get_or_create_global_step
from tfdist.training.optimizers import train_ops
from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer
from tfdist.training.optimizers.train_ops import (
    USE_GLOBAL_STEP,
    clip_gradient_norms,
    multiply_gradients,
)
from tfdist.training.saving.saver import Saver
from tfdist.training.sessions.supervisor import Supervisor
from tfdist.training.sessions.supervisor_parts import USE_DEFAULT, is_default
from tfdist.training.slim.steps import StepFunction, run_steps, step_tensors, train_step

__all__ = [
    "add_gradients_summaries", "clip_gradient_norms", "create_train_op", "multiply_gradients",
    "train", "train_step",
]  # fmt: skip

_LOG = logging.getLogger("tensorflow")


def add_gradients_summaries(grads_and_vars: Iterable[GradientAndVariable]) -> list[Tensor]:
    """Return summaries of gradients and their norms; see `tf.contrib.training`.

    Example:
      >>> pairs = [(constant([3.0]), Variable([0.0], name="w"))]
      >>> [each.op.name for each in contrib.slim.learning.add_gradients_summaries(pairs)]
      ['w/gradient', 'w/gradient_norm']
    """
    return train_ops.gradient_summaries(grads_and_vars, "/")


def create_train_op(
    total_loss: Any,
    optimizer: Optimizer,
    global_step: Any = USE_GLOBAL_STEP,
    update_ops: Iterable[Operation] | None = None,
    variables_to_train: Iterable[Any] | None = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    check_numerics: bool = True,
) -> Tensor:
    """Return the loss, which makes a step of the optimizer whenever it is computed.

    Args:
      total_loss: as the rest: see `tf.contrib.training.create_train_op`.
      clip_gradient_norm: the greatest norm of a gradient; 0 for any.
      gradient_multipliers: factors of gradients, by variable or its name.

    Example:
      >>> w = Variable(4.0)
      >>> sgd = GradientDescentOptimizer(1.0)
      >>> step = contrib.slim.learning.create_train_op(w * w, sgd, clip_gradient_norm=0.5)
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     _ = session.run(step)
      ...     session.run(w)
      np.float32(3.5)
    """

    def transformed(pairs: list[GradientAndVariable]) -> list[GradientAndVariable]:
        if gradient_multipliers:
            with scopes.name_scope("multiply_grads"):
                pairs = multiply_gradients(pairs, gradient_multipliers)
        if clip_gradient_norm > 0:
            with scopes.name_scope("clip_grads"):
                pairs = clip_gradient_norms(pairs, clip_gradient_norm)
        return pairs

    return train_ops.create_train_op(
        total_loss, optimizer, global_step, update_ops, variables_to_train, transformed,
        summarize_gradients, gate_gradients, aggregation_method, colocate_gradients_with_ops,
        check_numerics,
    )  # fmt: skip


def train(
    train_op: Any,
    logdir: str | None,
    train_step_fn: StepFunction = train_step,
    train_step_kwargs: Any = USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Graph | None = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: int | None = None,
    init_op: Any = USE_DEFAULT,
    init_feed_dict: Any = None,
    local_init_op: Any = USE_DEFAULT,
    init_fn: Callable[[Any], Any] | None = None,
    ready_op: Any = USE_DEFAULT,
    summary_op: Any = USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: Any = USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    session_wrapper: Callable[[Any], Any] | None = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Run steps until it is enough, with checkpoints and summaries; returns the last loss.

    Args:
      train_op: gives the loss, and makes a step; see `create_train_op`.
      logdir: folder for checkpoints and summaries; None for none.
      train_step_fn: makes a step; returns the loss, and whether to stop.
      train_step_kwargs: a dict for that; see `train_step` for the default's tensors.
      log_every_n_steps: steps between two lines of the log; 0 for none.
      graph: the default graph by default.
      master: the session's target.
      is_chief: whether this task initialises, saves and summarises.
      global_step: counts the steps; the graph's by default.
      number_of_steps: the global step to stop at; None for no end.
      init_op: initialises the variables.
      init_feed_dict: fed to it.
      local_init_op: initialises local variables and tables.
      init_fn: called with the session after `init_op`.
      ready_op: gives the names of variables that have no value yet.
      summary_op: gives all summaries, merged; None for none.
      save_summaries_secs: seconds between two summaries.
      summary_writer: FileWriter; None for none.
      startup_delay_steps: the global step at which a task that is not the chief begins.
      saver: Saver.
      save_interval_secs: seconds between two checkpoints.
      sync_optimizer: SyncReplicasOptimizer, or a list of such.
      session_config: ConfigProto of the session.
      session_wrapper: function from the session to what the steps run in.
      trace_every_n_steps: steps between two traces, which are written to logdir.
      ignore_live_threads: whether threads may go on after the end.

    Raises:
      ValueError: there is no train_op, number_of_steps is not positive, or there is something to
        be written, but no logdir.

    Example:
      >>> w = Variable(4.0)
      >>> sgd = GradientDescentOptimizer(0.25)
      >>> step = contrib.slim.learning.create_train_op(w * w, sgd)
      >>> contrib.slim.learning.train(step, None, number_of_steps=3)
      np.float32(1.0)
    """
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    _check_folder(logdir, summary_op, saver, trace_every_n_steps)
    optimizers = _listed(sync_optimizer)
    _check_steps(optimizers, startup_delay_steps, number_of_steps)
    graph = graph or scopes.get_default_graph()
    with graph.as_default():
        step = get_or_create_global_step() if global_step is None else global_step
        saver = saver or Saver()
        parts = _parts(init_op, ready_op, local_init_op, optimizers, is_chief)
        tokens = _tokens_of(optimizers if is_chief else [])
        if is_default(summary_op):
            summary_op = merge_all()
        if is_default(train_step_kwargs):
            train_step_kwargs = step_tensors(step, number_of_steps, log_every_n_steps)
            if is_chief and trace_every_n_steps is not None:
                due = equal(floormod(step, trace_every_n_steps), 0)
                train_step_kwargs.update(should_trace=due, logdir=logdir)
    supervisor = Supervisor(
        graph=graph, is_chief=is_chief, logdir=logdir, init_feed_dict=init_feed_dict,
        init_fn=init_fn, saver=saver, global_step=step, summary_op=summary_op,
        summary_writer=summary_writer, save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs, **parts,
    )  # fmt: skip
    if train_step_kwargs is not None and supervisor.summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer

    def prepared(session: Any) -> Any:
        _LOG.info("Starting Session.")
        if session_wrapper is not None:
            _LOG.info("Wrapping session with wrapper function: %s", session_wrapper)
            session = session_wrapper(session)
        if not is_chief and startup_delay_steps > 0:
            _wait_for_step(session, step, min(startup_delay_steps, number_of_steps or sys.maxsize))
        return session

    def steps(session: Any) -> Any:
        return run_steps(supervisor, session, train_step_fn, train_op, step, train_step_kwargs)

    while True:
        try:
            with supervisor.managed_session(
                master, start_standard_services=False, config=session_config
            ) as session:
                loss = _train_in(
                    prepared(session), supervisor, steps, optimizers, tokens,
                    saves=bool(is_chief and logdir), ignore_live_threads=ignore_live_threads,
                )  # fmt: skip
            return loss
        except AbortedError:
            _LOG.info("Retrying training!")


def _train_in(
    session: Any, supervisor: Supervisor, steps: Callable[[Any], Any], optimizers: list[Any],
    tokens: _Tokens, saves: bool, ignore_live_threads: bool,
) -> Any:  # fmt: skip
    """Make all steps in one session, with what runs beside them; returns the last loss."""
    services = supervisor.start_standard_services(session) if saves else None
    threads = _started(supervisor, session, optimizers, tokens.first)
    loss = steps(session)
    if saves:
        _save(supervisor, session, services or ())
    if tokens.last:  # lets replicas go on that wait for the chief, and ends its thread
        session.run(tokens.last)
        session.close()
    supervisor.stop(threads, close_summary_writer=False, ignore_live_threads=ignore_live_threads)
    return loss


class _Tokens(NamedTuple):
    """What the chief of synchronous replicas runs so that the others may begin, and end."""

    first: list[Any]
    last: list[Any]


def _tokens_of(optimizers: list[Any]) -> _Tokens:
    with scopes.name_scope("init_ops"):
        first = [each.get_init_tokens_op() for each in optimizers]
        return _Tokens(first, [each._last_tokens_op() for each in optimizers])


def _check_steps(
    optimizers: list[Any], startup_delay_steps: int, number_of_steps: int | None
) -> None:
    if optimizers and startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")


def _check_folder(logdir: Any, summary_op: Any, saver: Any, trace_every_n_steps: Any) -> None:
    """Raise an error if something is to be written, but there is no folder."""
    if logdir is not None:
        return
    given = {
        "summary_op": None if is_default(summary_op) else summary_op, "saver": saver,
        "trace_every_n_steps": trace_every_n_steps,
    }  # fmt: skip
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"Cannot provide {name} because logdir=None")


def _listed(sync_optimizer: Any) -> list[Any]:
    if sync_optimizer is None:
        return []
    return list(sync_optimizer) if isinstance(sync_optimizer, list | tuple) else [sync_optimizer]


def _parts(
    init_op: Any, ready_op: Any, local_init_op: Any, optimizers: list[Any], is_chief: bool
) -> dict[str, Any]:
    """Return what a Supervisor is to initialise with; made where it was not given."""
    with scopes.name_scope("init_ops"):
        if is_default(init_op):
            init_op = global_variables_initializer()
        if is_default(ready_op):
            ready_op = report_uninitialized_variables()
        ready_for_local: Any = USE_DEFAULT
        if is_default(local_init_op):
            local_init_op = group(local_variables_initializer(), tables_initializer())
        for each in optimizers:
            own = each.chief_init_op if is_chief else each.local_step_init_op
            local_init_op = group(local_init_op, own)
            ready_for_local = each.ready_for_local_init_op
    return {
        "init_op": init_op, "ready_op": ready_op, "local_init_op": local_init_op,
        "ready_for_local_init_op": ready_for_local,
    }  # fmt: skip


def _wait_for_step(session: Any, global_step: Any, wanted: int) -> None:
    """Wait until the others have made as many steps."""
    while True:
        now = session.run(global_step)
        if now >= wanted:
            return
        _LOG.info("Waiting for step %d before starting training; it is at %d", wanted, now)
        time.sleep(1)


def _started(
    supervisor: Supervisor, session: Any, optimizers: list[Any], tokens: list[Any]
) -> list[Any]:
    """Start the threads of a session's queues."""
    threads = list(supervisor.start_queue_runners(session) or ())
    _LOG.info("Starting Queues.")
    if supervisor.is_chief and optimizers:
        runners = [each.get_chief_queue_runner() for each in optimizers]
        threads += supervisor.start_queue_runners(session, runners) or ()
        session.run(tokens)
    return threads


def _save(supervisor: Supervisor, session: Any, services: Iterable[Any]) -> None:
    """Save at the end, when no other thread saves any more, so that this is the latest."""
    _LOG.info("Finished training! Saving model to disk.")
    supervisor.request_stop()
    for thread in services:
        thread.join()
    supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
