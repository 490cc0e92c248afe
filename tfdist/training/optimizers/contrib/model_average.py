"""ModelAverageOptimizer: workers train alone, and go on from their mean every so often.

Source: TF 1.15 API documentation, tf.contrib.opt.ModelAverageOptimizer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.operation import Operation
from tfdist.ops.array.fill import fill
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.queues.accumulators import ConditionalAccumulator
from tfdist.ops.queues.queue_kinds import FIFOQueue
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.state_ops import assign, assign_add, is_resource
from tfdist.ops.variables.variable import Variable
from tfdist.training.optimizers.contrib.local_copies import (
    GLOBAL,
    LocalCopiesGetter,
    LocalCopiesHook,
    LocalCopiesOptimizer,
)
from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer

__all__ = ["ModelAverageCustomGetter", "ModelAverageOptimizer"]


class ModelAverageCustomGetter(LocalCopiesGetter):
    """Makes each trainable variable twice: the worker's own, and the mean that all share.

    The mean is "global_center_variable/...", on a parameter server.

    Args:
      worker_device: the worker's device, as "/job:worker/task:0".

    Example:
      >>> getter = contrib.opt.ModelAverageCustomGetter("/job:worker/task:0")
      >>> setter = train.replica_device_setter(ps_tasks=1, worker_device="/job:worker/task:0")
      >>> with device(setter), variable_scope("net", custom_getter=getter):
      ...     w = get_variable("w", initializer=1.0)
      >>> [(each.name, each.device) for each in global_variables()]
      [('global_center_variable/net/w:0', '/job:ps/task:0')]
    """

    def _make_shared(self, own: Any, getter: Any, name: str, *args: Any, **kwargs: Any) -> None:
        with scopes.name_scope(None):
            self._global_map[own] = Variable(
                own.initialized_value(), name=f"{GLOBAL}/{name}", trainable=False,
                collections=[GraphKeys.GLOBAL_VARIABLES],
            )  # fmt: skip


class ModelAverageOptimizer(LocalCopiesOptimizer):
    """Lets each worker train variables of its own, which become the mean of all every so often.

    Every `interval_steps` steps a worker gives its variables and waits for those of the others;
    the chief makes the mean, from which all go on. The global step counts that.

    Args:
      opt: Optimizer that makes the worker's steps.
      num_worker: how many workers there are.
      is_chief: whether this worker is the chief.
      ma_custom_getter: ModelAverageCustomGetter that made the variables.
      interval_steps: how many steps a worker makes before the mean is taken.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the optimizer.

    Raises:
      ValueError: the interval is less than one step.

    Example:
      >>> getter = contrib.opt.ModelAverageCustomGetter("")
      >>> with variable_scope("", custom_getter=getter):
      ...     w = get_variable("w", initializer=4.0)
      >>> optimizer = contrib.opt.ModelAverageOptimizer(
      ...     train.GradientDescentOptimizer(1.0), 1, True, getter, interval_steps=2
      ... )
      >>> step = optimizer.minimize(w * 1.0, train.create_global_step())
      >>> with train.MonitoredSession(hooks=[optimizer.make_session_run_hook()]) as session:
      ...     for _ in "123":
      ...         _ = session.run(step)
      ...     [float(each) for each in session.run([w, global_variables()[0]])]
      [1.0, 2.0]
    """

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: ModelAverageCustomGetter,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ) -> None:
        super().__init__(opt, num_worker, ma_custom_getter, interval_steps, use_locking, name)
        self._is_chief = is_chief
        self._chief_init_op: Operation | None = None

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        """Return a tensor: makes the worker's step, and every so often goes on from the mean.

        Args:
          grads_and_vars: what `compute_gradients` returned, perhaps changed.
          global_step: Variable that counts how often the mean was taken.
          name: of the optimizer's own operation.

        Raises:
          ValueError: there are no variables, or no global step.
          KeyError: a variable was not made through the custom getter.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        step = self._opt.apply_gradients(pairs)
        variables = [variable for _, variable in pairs]
        accumulators: list[tuple[Any, str]] = []
        done = self._stepped(step, lambda: self._averaged(variables, global_step, accumulators))
        self._chief_init_op = group(*_steps_set(accumulators, global_step))
        return done

    def _averaged(
        self, variables: list[Any], global_step: Any, accumulators: list[tuple[Any, str]]
    ) -> Operation:
        """Return an operation that takes the mean of all workers' variables."""
        with scopes.colocate_with(global_step.op):
            tokens = FIFOQueue(-1, "bool", shapes=[[]], shared_name="sync_queue")
        given, means = self._given(variables, global_step, accumulators)
        shared = [self._getter.shared(each) for each in variables]
        with scopes.control_dependencies(given):
            if not self._is_chief:
                with scopes.device(global_step.device):
                    ready = tokens.dequeue()
            else:
                ready = self._handed_out(tokens, shared, means, global_step)
        with scopes.control_dependencies([ready]):
            pairs = zip(variables, shared, strict=True)
            return group(*[assign(each, _read_there(mean)) for each, mean in pairs])

    def _given(
        self, variables: list[Any], global_step: Any, accumulators: list[tuple[Any, str]]
    ) -> tuple[list[Operation], list[Any]]:
        """Return what gives the worker's variables, and the means of all workers'."""
        given, means = [], []
        with scopes.name_scope(f"{self._name}/global"):
            for variable in variables:
                mean = self._getter.shared(variable)
                with scopes.device(mean.device):
                    accumulator = ConditionalAccumulator(
                        variable.dtype.base_dtype, variable.shape, f"{mean.name}/var_accum"
                    )
                    value = variable.value() if is_resource(variable) else variable._ref()
                    given.append(accumulator.apply_grad(value, global_step))
                    means.append(accumulator.take_grad(self._num_worker))
                accumulators.append((accumulator, mean.device))
        return given, means

    def _handed_out(
        self, tokens: Any, shared: list[Any], means: list[Any], global_step: Any
    ) -> Operation:
        """Return the chief's operation that sets the means and lets all workers go on."""
        updates = []
        for variable, mean in zip(shared, means, strict=True):
            with scopes.device(variable.device):
                updates.append(assign(variable, mean))
        with scopes.device(global_step.device):
            updates.append(assign_add(global_step, 1))
            with scopes.control_dependencies(updates):
                op: Operation = tokens.enqueue_many((fill([self._num_worker - 1], False),))
                return op

    def get_init_op(self) -> Operation:
        """Return an operation that gives the worker the values that are shared."""
        return group(*[
            assign(own, shared.read_value()) for own, shared in self._getter._global_map.items()
        ])  # fmt: skip

    def make_session_run_hook(self) -> LocalCopiesHook:
        """Return a hook for a monitored session."""
        return LocalCopiesHook(self._is_chief, self.get_init_op)


def _read_there(variable: Any) -> Any:
    """Return a variable's value, read on its device: what is sent is what it is then."""
    with scopes.device(variable.device):
        return variable.read_value()


def _steps_set(accumulators: list[tuple[Any, str]], global_step: Any) -> list[Operation]:
    """Return what sets the step of each accumulator."""
    found = []
    for accumulator, device in accumulators:
        with scopes.device(device):
            found.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
    return found
