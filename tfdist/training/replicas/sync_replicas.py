"""SyncReplicasOptimizer: one update from the gradients of several replicas.

Each replica gives its gradients to accumulators, which stand where the variables do, and waits for
a token. When there are enough gradients, the chief's thread applies their means, raises the global
step, and hands out a token with the new step to every replica. A gradient that was computed in a
step that is over is dropped.

Source: TF 1.15 API documentation, tf.train.SyncReplicasOptimizer; Chen et al. 2016, "Revisiting
Distributed Synchronous SGD", arXiv 1604.00981.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.fill import fill
from tfdist.ops.autodiff.gradients import IndexedSlices
from tfdist.ops.control_flow.identity_group import group, no_op
from tfdist.ops.queues.accumulators import ConditionalAccumulator
from tfdist.ops.queues.queue_kinds import FIFOQueue
from tfdist.ops.queues.sparse_accumulators import SparseConditionalAccumulator
from tfdist.ops.variables.collections import (
    GraphKeys,
    global_variables,
    report_uninitialized_variables,
)
from tfdist.ops.variables.state_ops import assign
from tfdist.ops.variables.variable import Variable
from tfdist.training.input_queues.queue_runner import QueueRunner
from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer
from tfdist.training.optimizers.wrapping_optimizer import WrappingOptimizer
from tfdist.training.replicas.sync_replicas_hook import SyncReplicasOptimizerHook

__all__ = ["SyncReplicasOptimizer", "SyncReplicasOptimizerV2"]

_LOG = logging.getLogger("tensorflow")


class SyncReplicasOptimizer(WrappingOptimizer, Optimizer):
    """Lets replicas make one update together: of the mean of their gradients.

    Every replica runs what `apply_gradients` returns; the chief also has to run `chief_init_op` and
    `get_init_tokens_op()` once, and the threads of `get_chief_queue_runner()`; the others run
    `local_step_init_op`. `make_session_run_hook` does all that in a monitored session.

    Args:
      opt: Optimizer that makes the update.
      replicas_to_aggregate: how many gradients make an update.
      total_num_replicas: how many replicas there are; if they are more, the slowest gradients of
        each step are dropped. As many as `replicas_to_aggregate` by default.
      variable_averages: ExponentialMovingAverage that follows the variables, or None.
      variables_to_average: which variables it follows.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.
      replica_id: accepted for programs of TensorFlow 0.8 to 0.11, whose third and fourth arguments
        are `variable_averages` and `variables_to_average`.

    Attributes:
      local_step_init_op: sets the replica's step to the global one.
      chief_init_op: does that, and sets the step of the accumulators.
      ready_for_local_init_op: tensor of the names of variables that must be initialised before.

    Example:
      >>> step, w = train.create_global_step(), Variable(4.0)
      >>> optimizer = train.SyncReplicasOptimizer(train.GradientDescentOptimizer(0.5), 2, 3)
      >>> train_op = optimizer.minimize(w * w, global_step=step)
      >>> hook = optimizer.make_session_run_hook(is_chief=True)  # for a monitored session
      >>> optimizer.local_step_init_op.name
      'Assign:0'
    """

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: Any = None,
        variable_averages: Any = None,
        variables_to_average: Any = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
        replica_id: int | None = None,
    ) -> None:
        if hasattr(total_num_replicas, "apply"):  # the order of 0.8 to 0.11
            variable_averages, variables_to_average = total_num_replicas, variable_averages
            total_num_replicas = None
        super().__init__(opt, use_locking, name)
        total = total_num_replicas or replicas_to_aggregate
        _LOG.info("SyncReplicas: %s gradients of %s replicas", replicas_to_aggregate, total)
        self._to_aggregate, self._total = replicas_to_aggregate, total
        self._tokens_per_step = max(total, replicas_to_aggregate)
        self._averages, self._to_average = variable_averages, variables_to_average
        self._gradients_applied = False

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        """Return what gives a replica's gradients, waits for the update, and gives the new step.

        Args:
          grads_and_vars: what `compute_gradients` returned, perhaps changed.
          global_step: Variable that counts the updates.
          name: not used.

        Raises:
          ValueError: there are no variables or no global step, or a gradient is neither a tensor
            nor IndexedSlices.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        with scopes.colocate_with(no_op()):
            self._local_step = Variable(
                0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=global_step.dtype.base_dtype, name="sync_rep_local_step",
            )  # fmt: skip
        self.local_step_init_op = assign(self._local_step, global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with scopes.name_scope(None, self._name):
            train_op = self._synchronized(pairs)
        self._gradients_applied = True
        return train_op

    def _synchronized(self, pairs: list[GradientAndVariable]) -> Any:
        """Make the nodes of accumulators, update and tokens; returns the replica's train op."""
        accumulators: list[tuple[Any, str]] = []
        given: list[Operation] = []
        means: list[GradientAndVariable] = []
        for gradient, variable in pairs:
            with scopes.device(variable.device):
                mean = None
                if gradient is not None:
                    accumulator, apply, mean = self._accumulated(gradient, variable)
                    accumulators.append((accumulator, variable.device))
                    given.append(apply)
            means.append((mean, variable))
        with scopes.device(self._global_step.device), scopes.name_scope(""):
            update = self._opt.apply_gradients(means, self._global_step)
            train_op = self._with_tokens(given, update)
        self.chief_init_op = group(self.local_step_init_op, *self._steps_set(accumulators))
        return train_op

    def _accumulated(self, gradient: Any, variable: Any) -> tuple[Any, Operation, Any]:
        """Return a variable's accumulator, what gives it a gradient, and what takes the mean."""
        shared_name = f"{variable.name}/grad_accum"
        total: Any
        if isinstance(gradient, Tensor):
            total = ConditionalAccumulator(gradient.dtype, variable.shape, shared_name)
            apply = total.apply_grad(gradient, self._local_step)
            return total, apply, total.take_grad(self._to_aggregate)
        if not isinstance(gradient, IndexedSlices):
            raise ValueError(f"Unknown grad type! It is a {type(gradient).__name__}: {gradient!r}")
        total = SparseConditionalAccumulator(gradient.dtype, (), shared_name)
        apply = total.apply_indexed_slices_grad(gradient, self._local_step)
        return total, apply, total.take_indexed_slices_grad(self._to_aggregate)

    def _with_tokens(self, given: list[Operation], update: Operation) -> Any:
        """Make the queue of tokens and the chief's queue runner; returns the replica's train op."""
        dtype = self._global_step.dtype.base_dtype
        self._tokens = FIFOQueue(
            -1, dtype, shapes=(), name="sync_token_q", shared_name="sync_token_q"
        )
        dummy = FIFOQueue(1, "int32", shapes=(), name="dummy_queue", shared_name="dummy_queue")
        with scopes.control_dependencies(given):
            token = self._tokens.dequeue()
        train_op = assign(self._local_step, token)
        with scopes.control_dependencies([update]):
            synced = self._enqueued(self._tokens_per_step)
        if self._averages is not None:
            with scopes.control_dependencies([synced]):
                synced = self._averages.apply(self._to_average)
        self._chief_queue_runner = QueueRunner(dummy, [synced])
        return train_op

    def _enqueued(self, count: int) -> Operation:
        op: Operation = self._tokens.enqueue_many((fill([count], self._global_step),))
        return op

    def _steps_set(self, accumulators: list[tuple[Any, str]]) -> list[Operation]:
        """Return what sets the step of each accumulator."""
        found = []
        for accumulator, device in accumulators:
            with scopes.device(device):
                found.append(accumulator.set_global_step(self._global_step, name="SetGlobalStep"))
        return found

    def get_chief_queue_runner(self) -> QueueRunner:
        """Return the QueueRunner whose thread makes the updates, for the chief to start.

        Raises:
          ValueError: `apply_gradients` was not called before.
        """
        self._check_applied("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Operation:
        """Return an op that hands out the first tokens, for the chief to run once.

        Args:
          num_tokens: how many; as many as gradients make an update by default.

        Raises:
          ValueError: `apply_gradients` was not called before, or the first step would not end.
        """
        self._check_applied("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._to_aggregate - self._total
        if num_tokens == -1:
            num_tokens = self._to_aggregate
        elif num_tokens < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} "
                "(needed)"
            )
        if num_tokens <= 0:
            op: Operation = no_op(name="no_init_tokens")
            return op
        with scopes.device(self._global_step.device), scopes.name_scope(""):
            return self._enqueued(num_tokens)

    def _last_tokens_op(self) -> Operation:
        """Return an op that lets every replica that waits for the chief, which ends, go on."""
        with scopes.device(self._global_step.device), scopes.name_scope("last_tokens"):
            return self._enqueued(self._tokens_per_step)

    def get_clean_up_op(self) -> Operation:
        """Return an op that does nothing: of TensorFlow 0.8 to 0.11, which had to clean up."""
        op: Operation = no_op(name="no_clean_up")
        return op

    def make_session_run_hook(
        self, is_chief: bool, num_tokens: int = -1
    ) -> SyncReplicasOptimizerHook:
        """Return a hook for a monitored session, which initialises and starts what is needed.

        Args:
          is_chief: whether this replica is the chief.
          num_tokens: see `get_init_tokens_op`.
        """
        return SyncReplicasOptimizerHook(self, is_chief, num_tokens)

    def _check_applied(self, message: str) -> None:
        if not self._gradients_applied:
            raise ValueError(message)


SyncReplicasOptimizerV2 = SyncReplicasOptimizer  # its name in TensorFlow 0.9 to 0.11
