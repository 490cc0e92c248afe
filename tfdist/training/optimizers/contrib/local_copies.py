"""What optimizers share that train copies of the variables, one for each worker.

A custom getter makes the copies: each worker trains local variables, and what all share is kept in
"global_center_variable/...". Every so many steps of its own a worker looks at that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfdist.graph import scopes
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import no_op
from tfdist.ops.math.arithmetic import floormod
from tfdist.ops.math.comparison import equal
from tfdist.ops.variables.collections import (
    GraphKeys,
    global_variables_initializer,
    local_variables_initializer,
)
from tfdist.ops.variables.state_ops import assign_add
from tfdist.ops.variables.variable import Variable
from tfdist.training.optimizers.optimizer import Optimizer
from tfdist.training.optimizers.wrapping_optimizer import WrappingOptimizer
from tfdist.training.sessions.session_run_hook import SessionRunHook

GLOBAL = "global_center_variable"


class LocalCopiesGetter:
    """A custom getter: trainable variables stand on the worker, as do local ones.

    Args:
      worker_device: the worker's device.
    """

    def __init__(self, worker_device: str) -> None:
        self._worker_device = worker_device
        self._global_map: dict[Any, Any] = {}  # a worker's variable -> what all share

    def __call__(
        self,
        getter: Callable[..., Any],
        name: str,
        trainable: bool | None = None,
        collections: Iterable[str] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Return a variable, which is made where it belongs."""
        options = {"trainable": trainable, "collections": collections, **kwargs}
        if trainable is False:
            if GraphKeys.LOCAL_VARIABLES not in (collections or ()):
                return getter(name, *args, **options)
            with scopes.device(self._worker_device):
                return getter(name, *args, **options)
        with scopes.device(self._worker_device):
            own = getter(
                name, *args, trainable=True, collections=[GraphKeys.LOCAL_VARIABLES], **kwargs
            )
        if own not in self._global_map:
            self._make_shared(own, getter, name, *args, **kwargs)
        return own

    def _make_shared(self, own: Any, getter: Any, name: str, *args: Any, **kwargs: Any) -> None:
        """Make what is shared of the worker's variable `own`, and put it into the map."""
        raise NotImplementedError

    def shared(self, variable: Any) -> Any:
        """Return what is shared of a worker's variable.

        Raises:
          KeyError: the getter has not made it.
        """
        if variable not in self._global_map:
            made = ", ".join(each.name for each in self._global_map) or "none yet"
            raise KeyError(
                f"{variable.name} was not made through this {type(self).__name__}, which has made: "
                f"{made}; make it in tf.variable_scope(..., custom_getter=getter)"
            )
        return self._global_map[variable]


class TwoCopiesGetter(LocalCopiesGetter):
    """A custom getter that makes a centre, and one more local variable of each worker's.

    Attributes:
      prefix: of the names of the latter.
    """

    prefix = ""

    def __init__(self, worker_device: str) -> None:
        super().__init__(worker_device)
        self.local_map: dict[Any, Any] = {}  # a worker's variable -> its other one

    def _make_shared(self, own: Any, getter: Any, name: str, *args: Any, **kwargs: Any) -> None:
        kept = {**kwargs, "trainable": False}
        self._global_map[own] = getter(
            f"{GLOBAL}/{name}", *args, collections=[GraphKeys.GLOBAL_VARIABLES], **kept
        )
        with scopes.device(self._worker_device):
            self.local_map[own] = getter(
                f"{self.prefix}/{name}", *args, collections=[GraphKeys.LOCAL_VARIABLES], **kept
            )


class LocalCopiesOptimizer(WrappingOptimizer, Optimizer):
    """An optimizer that lets a worker make steps alone, and something else every so often.

    Args:
      opt: Optimizer that makes the worker's steps.
      num_worker: how many workers there are.
      getter: custom getter that made the variables.
      period: how many steps of its own a worker makes in between.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the optimizer.
    """

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        getter: LocalCopiesGetter,
        period: int,
        use_locking: bool,
        name: str,
    ) -> None:
        super().__init__(opt, use_locking, name)
        if period < 1:
            raise ValueError(f"a worker makes one step in between at least, not {period}")
        self._num_worker, self._getter, self._period = num_worker, getter, period
        with scopes.device(getter._worker_device):
            self._local_step = Variable(
                0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], name="local_step"
            )
        opt._prepare()

    def _stepped(self, step: Any, every_so_often: Callable[[], Any]) -> Any:
        """Return a tensor: makes the worker's step, and every so often something else."""
        with scopes.control_dependencies([step]):
            counted = assign_add(self._local_step, 1, name="local_step_update")
        with scopes.control_dependencies([counted]):
            is_due = equal(floormod(counted, self._period), 0)
            return cond(is_due, every_so_often, no_op)


class LocalCopiesHook(SessionRunHook):
    """What initialises a worker's copies.

    Args:
      is_chief: whether this worker initialises what is shared, too.
      make_init_op: function to an op that gives the copies the values of what is shared.
    """

    def __init__(self, is_chief: bool, make_init_op: Callable[[], Any]) -> None:
        self._is_chief, self._make_init_op = is_chief, make_init_op

    def begin(self) -> None:
        """Make the ops that initialize variables."""
        self._local_init_op = local_variables_initializer()
        self._global_init_op = global_variables_initializer() if self._is_chief else None
        self._variable_init_op = self._make_init_op()
