"""ElasticAverageOptimizer: workers train alone, held together by springs to a common centre.

Source: TF 1.15 API documentation, tf.contrib.opt.ElasticAverageOptimizer; Zhang, Choromanska and
LeCun 2015, Deep Learning with Elastic Averaging SGD, arXiv 1412.6651.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation
from tfdist.ops.array.constants import constant
from tfdist.ops.control_flow.identity_group import group, no_op
from tfdist.ops.math.add_n import add_n
from tfdist.ops.queues.queue_kinds import FIFOQueue
from tfdist.ops.variables.collections import trainable_variables
from tfdist.ops.variables.state_ops import assign, assign_add, assign_sub
from tfdist.training.optimizers.contrib.local_copies import (
    LocalCopiesHook,
    LocalCopiesOptimizer,
    TwoCopiesGetter,
)
from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer
from tfdist.training.saving.saver import Saver

__all__ = ["ElasticAverageCustomGetter", "ElasticAverageOptimizer"]

LOCAL = "local_center_variable"


class ElasticAverageCustomGetter(TwoCopiesGetter):
    """Makes each trainable variable three times: the worker's, the centre, the centre it knows.

    The worker's own is a local variable, and so is "local_center_variable/...", the centre as the
    worker saw it last; "global_center_variable/..." is the centre, on a parameter server.

    Args:
      worker_device: the worker's device, as "/job:worker/task:0".

    Example:
      >>> getter = contrib.opt.ElasticAverageCustomGetter("/job:worker/task:0")
      >>> setter = train.replica_device_setter(ps_tasks=1, worker_device="/job:worker/task:0")
      >>> with device(setter), variable_scope("net", custom_getter=getter):
      ...     w = get_variable("w", initializer=1.0)
      >>> [(each.name, each.device) for each in global_variables()]
      [('global_center_variable/net/w:0', '/job:ps/task:0')]
    """

    prefix = LOCAL


class ElasticAverageOptimizer(LocalCopiesOptimizer):
    """Lets each worker train variables of its own, and draws them and a centre together.

    The loss has a spring to the centre that the worker knows; every `communication_period` steps
    the worker looks at the centre, and both move towards each other. The global step counts that.

    Args:
      opt: Optimizer that makes the worker's steps.
      num_worker: how many workers there are.
      ea_custom_getter: ElasticAverageCustomGetter that made the variables.
      communication_period: how many steps a worker makes before it looks at the centre.
      moving_rate: the part of the way to each other; 0.9 / communication_period / num_worker by
        default.
      rho: strength of the spring in the loss; moving_rate / the learning rate by default.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      synchronous: whether workers wait for each other before the first step.
      name: of the optimizer.

    Raises:
      ValueError: the period is less than one step.

    Example:
      >>> getter = contrib.opt.ElasticAverageCustomGetter("")
      >>> with variable_scope("", custom_getter=getter):
      ...     w = get_variable("w", initializer=4.0)
      >>> optimizer = contrib.opt.ElasticAverageOptimizer(
      ...     train.GradientDescentOptimizer(1.0), 1, getter, 1, moving_rate=0.25
      ... )
      >>> step = optimizer.minimize(w * 2.0, train.create_global_step())
      >>> hook = optimizer.make_session_run_hook(is_chief=True, task_index=0)
      >>> with train.MonitoredSession(hooks=[hook]) as session:
      ...     _ = session.run(step)
      ...     session.run([w, global_variables()[0]])
      [np.float32(2.5), np.float32(3.5)]
    """

    BETA = 0.9

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        ea_custom_getter: ElasticAverageCustomGetter,
        communication_period: int = 10,
        moving_rate: float | None = None,
        rho: float | None = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ) -> None:
        super().__init__(opt, num_worker, ea_custom_getter, communication_period, use_locking, name)
        if moving_rate is None:
            moving_rate = self.BETA / communication_period / num_worker
        self._moving_rate = moving_rate
        learning_rate: Any = getattr(opt, "_learning_rate", None)
        if rho is None and learning_rate is None:
            raise ValueError(f"{type(opt).__name__} has no learning rate; say what rho is")
        self._rho: Any = moving_rate / learning_rate if rho is None else rho
        self._local_map, self._synchronous = ea_custom_getter.local_map, synchronous
        self._global_step: Any = None

    def compute_gradients(
        self, loss: Any, var_list: Any = None, *args: Any, **kwargs: Any
    ) -> list[GradientAndVariable]:
        """Return gradients of the loss and the springs; see `tf.train.Optimizer`."""
        variables = list(var_list or trainable_variables())
        apart = [raw.Sub(each, self._known(each)) for each in variables]
        pulls: Any = add_n([raw.L2Loss(each) for each in apart])
        loss = self._call_if_callable(loss)
        return self._opt.compute_gradients(loss + self._rho * pulls, variables, *args, **kwargs)

    def _known(self, variable: Any) -> Any:
        self._getter.shared(variable)  # raises an error that tells what is there
        return self._local_map[variable]

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        """Return a tensor: makes the worker's step, and every so often moves centre and worker.

        Args:
          grads_and_vars: what `compute_gradients` returned, perhaps changed.
          global_step: Variable that counts how often workers looked at the centre.
          name: of the optimizer's own operation.
        """
        pairs = list(grads_and_vars)
        step = self._opt.apply_gradients(pairs, name=name)
        variables = [variable for _, variable in pairs]
        self._global_step = global_step
        return self._stepped(step, lambda: self._moved(variables, global_step))

    def _moved(self, variables: list[Any], global_step: Any) -> Operation:
        """Return an operation that moves variables and centres towards each other."""
        centres = [self._getter.shared(each) for each in variables]
        known = [self._known(each) for each in variables]
        seen = [assign(mine, centre) for mine, centre in zip(known, centres, strict=True)]
        with scopes.control_dependencies(seen):
            values = [each.read_value() for each in variables]  # those after the step
            apart = [raw.Sub(each, mine) for each, mine in zip(values, seen, strict=True)]
            locking = {"use_locking": self._use_locking}
            moves = [
                assign_sub(each, raw.Mul(self._moving_rate, way), **locking)
                for each, way in zip(variables, apart, strict=True)
            ]
            shared = []
            for centre, way in zip(centres, apart, strict=True):
                with scopes.device(centre.device):
                    shared.append(assign_add(centre, raw.Mul(self._moving_rate, way), **locking))
            if global_step is not None:
                with scopes.colocate_with(global_step.op):
                    shared.append(assign_add(global_step, 1))
        return group(*moves, *shared)

    def get_init_op(self, task_index: int) -> Operation:
        """Return an operation that gives the worker the values of the centre.

        If workers are synchronous, it ends when all have got there.

        Args:
          task_index: the worker's.
        """
        copies = []
        for variable, centre in self._getter._global_map.items():
            copies += [assign(variable, centre), assign(self._local_map[variable], centre)]
        ready = group(*copies)
        return self._all_ready(ready, task_index) if self._synchronous else ready

    def _all_ready(self, ready: Operation, task_index: int) -> Operation:
        """Return an operation that ends when all workers are ready: each tells each other."""
        where = self._global_step.device if self._global_step is not None else None
        with scopes.device(where):  # one place for all, so that the queues are shared
            queues = [
                FIFOQueue(self._num_worker, "bool", shapes=[[]],
                          shared_name=f"variable_init_sync_queue{index}")
                for index in range(self._num_worker)
            ]  # fmt: skip
            token = constant(False)
            with scopes.control_dependencies([ready]):
                told = [
                    no_op() if index == task_index else queue.enqueue(token)
                    for index, queue in enumerate(queues)
                ]
            heard = queues[task_index].dequeue_many(self._num_worker - 1)
        return group(*told, heard)

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> _ElasticAverageHook:
        """Return a hook that initialises the worker's variables, for a monitored session.

        Args:
          is_chief: whether this worker is the chief.
          task_index: the worker's.
        """
        return _ElasticAverageHook(is_chief, lambda: self.get_init_op(task_index))

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Saver:
        """Return a Saver of the centres, under the names of the worker's variables.

        Args:
          var_list: variables, or a dict from names; all that have a centre by default.
          name: of the saver's nodes.
          **kwargs: what else a Saver is given.
        """
        centres = self._getter._global_map
        listed = list(centres) if var_list is None else var_list
        if not isinstance(listed, dict):
            listed = {each.op.name: each for each in listed}
        swapped = {label: centres.get(each, each) for label, each in listed.items()}
        return Saver(swapped, name=name, **kwargs)


class _ElasticAverageHook(LocalCopiesHook):
    """Initialises a worker's variables, and gives them the values of the centre."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Give the worker the values of the centre."""
        session.run(self._variable_init_op)
