"""AGNOptimizer: workers train alone, and give the mean of their gradients to a common centre.

Source: TF 1.15 API documentation, tf.contrib.opt.AGNOptimizer; Hermans, Spanakis and Möckel 2017,
Accumulated Gradient Normalization, arXiv 1710.02368.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.operation import Operation
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import group, no_op
from tfdist.ops.math.arithmetic import floormod
from tfdist.ops.math.comparison import equal
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.state_ops import assign, assign_add
from tfdist.ops.variables.variable import Variable
from tfdist.training.optimizers.contrib.local_copies import LocalCopiesHook, TwoCopiesGetter
from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer
from tfdist.training.optimizers.wrapping_optimizer import WrappingOptimizer

__all__ = ["AGNCustomGetter", "AGNOptimizer"]

SUMMED = "grad_variable"


class AGNCustomGetter(TwoCopiesGetter):
    """Makes each trainable variable three times: the worker's, the centre, the gradients' sum.

    The worker's own is a local variable, and so is "grad_variable/...", the sum of its gradients
    since it last looked at the centre: "global_center_variable/...", on a parameter server.

    Args:
      worker_device: the worker's device, as "/job:worker/task:0".

    Example:
      >>> getter = contrib.opt.AGNCustomGetter("/job:worker/task:0")
      >>> setter = train.replica_device_setter(ps_tasks=1, worker_device="/job:worker/task:0")
      >>> with device(setter), variable_scope("net", custom_getter=getter):
      ...     w = get_variable("w", initializer=1.0)
      >>> [(each.name, each.device) for each in global_variables() + local_variables()[1:]]
      [('global_center_variable/net/w:0', '/job:ps/task:0'), ('grad_variable/net/w:0', \
'/job:worker/task:0')]
    """

    prefix = SUMMED


class AGNOptimizer(WrappingOptimizer, Optimizer):
    """Lets each worker train variables of its own, and a centre by the mean of their gradients.

    After `communication_period` steps the optimizer changes the centre by the mean of the gradients
    of these steps, and the worker goes on from there. The global step counts that.

    Args:
      optimizer: Optimizer that makes the worker's steps and those of the centre.
      num_worker: how many workers there are.
      custom_getter: AGNCustomGetter that made the variables.
      communication_period: how many steps a worker makes before it looks at the centre.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the optimizer.

    Raises:
      ValueError: the period is less than one step.

    Example:
      >>> getter = contrib.opt.AGNCustomGetter("")
      >>> with variable_scope("", custom_getter=getter):
      ...     w = get_variable("w", initializer=4.0)
      >>> optimizer = contrib.opt.AGNOptimizer(
      ...     train.GradientDescentOptimizer(0.5), 1, getter, communication_period=2
      ... )
      >>> step = optimizer.minimize(w * 2.0, train.create_global_step())
      >>> hook = optimizer.make_session_run_hook(is_chief=True, task_index=0)
      >>> with train.MonitoredSession(hooks=[hook]) as session:
      ...     _ = session.run(step), session.run(step)
      ...     session.run([w, global_variables()[0]])
      [np.float32(3.0), np.float32(3.0)]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        num_worker: int,
        custom_getter: AGNCustomGetter,
        communication_period: int = 10,
        use_locking: bool = True,
        name: str = "AGNOptimizer",
    ) -> None:
        super().__init__(optimizer, use_locking, name)
        if communication_period < 1:
            raise ValueError(f"a period has one step at least, not {communication_period}")
        self._num_worker, self._getter = num_worker, custom_getter
        self._period = communication_period
        # where the device setter puts it, as on TensorFlow: workers of one server share the count
        self._local_step = Variable(
            0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], name="local_step"
        )
        optimizer._prepare()

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        """Return a tensor: makes the worker's step, and every so often one of the centre.

        Args:
          grads_and_vars: what `compute_gradients` returned, perhaps changed.
          global_step: Variable that counts the steps of the centre.
          name: of the optimizer's own operation.

        Raises:
          KeyError: a variable was not made through the custom getter.
          ValueError: there is no gradient at all.
        """
        pairs = list(grads_and_vars)
        with _made_here():
            step = self._opt.apply_gradients(pairs, name=name)
        variables = [variable for _, variable in pairs]
        summed = [assign_add(self._summed(variable), gradient) for gradient, variable in pairs]
        counted = assign_add(self._local_step, 1, name="local_step_update")
        with scopes.control_dependencies([counted]):
            is_due = equal(floormod(counted, self._period), 0)
        with scopes.control_dependencies([step, *summed]):
            return cond(is_due, lambda: self._shared(variables, global_step), no_op)

    def _summed(self, variable: Any) -> Any:
        self._getter.shared(variable)  # raises an error that tells what is there
        return self._getter.local_map[variable]

    def _shared(self, variables: list[Any], global_step: Any) -> Operation:
        """Return an operation that makes a step of the centre, and goes on from there."""
        sums = [self._summed(each) for each in variables]
        centres = [self._getter.shared(each) for each in variables]
        means = [assign(each, each / float(self._period)) for each in sums]
        with scopes.control_dependencies(means):
            step = self._opt.apply_gradients(zip(means, centres, strict=True))
        with scopes.control_dependencies([step]):
            after = []
            if global_step is not None:
                with scopes.colocate_with(global_step.op):
                    after.append(assign_add(global_step, 1))
            for variable, centre, each in zip(variables, centres, sums, strict=True):
                with scopes.device(centre.device):  # a read elsewhere might begin before the step
                    value = centre.read_value()
                after += [assign(variable, value), assign(each, zeros_like(each))]
        return group(*after)

    def get_init_op(self, task_index: int) -> Operation:
        """Return an operation that gives the worker the values of the centre, and sums of 0.

        Args:
          task_index: the worker's.
        """
        centres, sums = self._getter._global_map, self._getter.local_map
        copies = [assign(own, centre) for own, centre in centres.items()]
        return group(*copies, *(assign(each, zeros_like(each)) for each in sums.values()))

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> _AGNHook:
        """Return a hook that initialises the worker's variables, for a monitored session.

        Args:
          is_chief: whether this worker is the chief.
          task_index: the worker's.
        """
        return _AGNHook(is_chief, lambda: self.get_init_op(task_index))


@contextmanager
def _made_here() -> Iterator[None]:
    """Let variables that are made be local ones: what the optimizer keeps for the worker's."""
    everywhere = scopes.get_default_graph().get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
    before = len(everywhere)
    yield
    scopes.get_default_graph().get_collection_ref(GraphKeys.LOCAL_VARIABLES).extend(
        everywhere[before:]
    )
    del everywhere[before:]


class _AGNHook(LocalCopiesHook):
    """Initialises a worker's variables, and gives them the values of the centre."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Give the worker the values of the centre."""
        session.run(self._variable_init_op)
