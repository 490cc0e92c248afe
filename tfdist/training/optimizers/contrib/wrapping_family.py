"""Optimizers of tf.contrib.opt around another one: what they add comes before or after its step.

Source: TF 1.15 API documentation, tf.contrib.opt.DropStaleGradientOptimizer and those beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.gather import gather
from tfdist.ops.array.reshape import reshape
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import group, identity
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.math.clip import clip_by_norm
from tfdist.ops.math.comparison import less_equal
from tfdist.ops.summary import summaries
from tfdist.ops.variables.collections import global_variables
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import zeros_initializer
from tfdist.ops.variables.state_ops import assign_sub, is_resource
from tfdist.training.optimizers.moving_averages import ExponentialMovingAverage
from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer
from tfdist.training.optimizers.wrapping_optimizer import WrappingOptimizer
from tfdist.training.saving.saver import Saver

__all__ = ["DropStaleGradientOptimizer", "MovingAverageOptimizer", "VariableClippingOptimizer"]


class VariableClippingOptimizer(WrappingOptimizer, Optimizer):
    """Holds variables to a greatest norm, after each step of another optimizer.

    Args:
      opt: Optimizer that makes the step.
      vars_to_clip_dims: the axes over which the norm of a variable is taken, by variable. Of one
        whose gradient is sparse, the rows of the step are clipped, one by one unless axis 0 is
        among them.
      max_norm: the greatest norm.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      colocate_clip_ops_with_vars: whether clipping is done where the variable is.
      name: of the nodes it makes.

    Example:
      >>> w = Variable([3.0, 4.0])
      >>> inner = train.GradientDescentOptimizer(1.0)
      >>> optimizer = contrib.opt.VariableClippingOptimizer(inner, {w: [0]}, 1.0)
      >>> step = optimizer.minimize(reduce_sum(w * 0.0), var_list=[w])
      >>> with Session() as session:
      ...     session.run(w.initializer)
      ...     session.run(step)
      ...     session.run(w).round(3)
      array([0.6, 0.8], dtype=float32)
    """

    def __init__(
        self,
        opt: Optimizer,
        vars_to_clip_dims: Mapping[Any, Sequence[int]],
        max_norm: float,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        super().__init__(opt, use_locking, name)
        for variable, axes in vars_to_clip_dims.items():
            if not isinstance(axes, Sequence):
                raise TypeError(f"axes of {variable.name} must be a list, not {axes!r}")
        self._axes = dict(vars_to_clip_dims)
        self._max_norm = max_norm
        self._colocates = colocate_clip_ops_with_vars

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Any = None,
        name: str | None = None,
    ) -> Operation:
        """Return an operation that makes the step, and clips; see `tf.train.Optimizer`."""
        pairs = list(grads_and_vars)
        with scopes.name_scope(name, self._name) as scope:
            step = self._opt.apply_gradients(pairs, global_step)
            clipped = []
            with scopes.control_dependencies([step]):
                for gradient, variable in pairs:
                    if gradient is not None and variable in self._axes:
                        clipped.append(self._clipped(gradient, variable))
            return group(step, *clipped, name=scope)

    def _clipped(self, gradient: Any, variable: Any) -> Any:
        with scopes.name_scope(f"clip_{variable.op.name}"):
            if not self._colocates:
                return self._clip(gradient, variable)
            with scopes.colocate_with(variable.op):
                return self._clip(gradient, variable)

    def _clip(self, gradient: Any, variable: Any) -> Any:
        axes = self._axes[variable]
        if not isinstance(gradient, IndexedSlices):
            value = variable.read_value()
            excess = value - clip_by_norm(value, self._max_norm, axes)
            return assign_sub(variable, excess, use_locking=self._use_locking)
        with scopes.colocate_with(variable.op):
            rows = gather(variable, gradient.indices)
        excess = rows - clip_by_norm(rows, self._max_norm, axes)
        with scopes.colocate_with(variable.op):
            if is_resource(variable):
                return raw.ResourceScatterSub(variable.handle, gradient.indices, excess)
            return raw.ScatterSub(variable, gradient.indices, excess, use_locking=self._use_locking)


class DropStaleGradientOptimizer(WrappingOptimizer, Optimizer):
    """Drops a gradient if too many steps were made by others while it was computed.

    For workers that do not wait for each other. The variable "stale_counter" counts what was
    dropped, and a summary says how much of all that is.

    Args:
      opt: Optimizer that makes the step.
      staleness: how many steps of others a gradient may have missed.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the optimizer.

    Example:
      >>> step, w = train.create_global_step(), Variable(4.0)
      >>> inner = train.GradientDescentOptimizer(0.5)
      >>> optimizer = contrib.opt.DropStaleGradientOptimizer(inner, staleness=2)
      >>> dropped = optimizer.minimize(w * w, step)
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run(dropped)
      np.float32(0.0)
    """

    def __init__(
        self, opt: Optimizer, staleness: int, use_locking: bool = False,
        name: str = "DropStaleGradient",
    ) -> None:  # fmt: skip
        super().__init__(opt, use_locking, name)
        self._staleness = staleness
        self._local_step: Any = None

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list[GradientAndVariable]:
        """Return gradients that come after a look at the global step; see `tf.train.Optimizer`."""
        loss = self._call_if_callable(loss)
        with scopes.colocate_with(loss.op):
            step = _global_step()
            self._local_step = step + 0
        with scopes.control_dependencies([self._local_step]):
            seen = identity(loss)
        return self._opt.compute_gradients(seen, *args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        """Return a tensor: makes the step or drops it, and gives how many were dropped so far.

        Args:
          grads_and_vars: what `compute_gradients` returned, perhaps changed.
          global_step: Variable that counts the steps.
          name: of the optimizer's own operation.

        Raises:
          ValueError: there is no global step, or no gradient.
        """
        pairs = list(grads_and_vars)
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        dropped = self._dropped_counter(global_step)
        found = [gradient for gradient, _ in pairs if gradient is not None]

        def accepted() -> Any:
            with scopes.control_dependencies([self._opt.apply_gradients(pairs, global_step, name)]):
                return identity(0.0)

        is_fresh = less_equal(self._missed(found, global_step), self._staleness)
        now = cond(is_fresh, accepted, lambda: identity(1.0))
        with scopes.colocate_with(dropped.op):
            counted = dropped.assign_add(now)
        self._summarize(dropped, global_step)
        return counted

    def _dropped_counter(self, global_step: Any) -> Any:
        with scopes.colocate_with(global_step.op):
            return get_variable(
                "stale_counter", [], initializer=zeros_initializer(), trainable=False
            )

    def _missed(self, gradients: list[Any], global_step: Any) -> Tensor:
        """Return how many steps were made since the look at the global step."""
        values = [g.values if isinstance(g, IndexedSlices) else g for g in gradients]
        with scopes.control_dependencies(values), scopes.colocate_with(global_step.op):
            missed: Tensor = reshape(global_step - self._local_step, [])
            return missed

    def _summarize(self, dropped: Any, global_step: Any) -> None:
        steps = cast(global_step + 1, dtypes.float32)
        summaries.scalar("Gradient staleness percentage", dropped / steps)


def _global_step() -> Any:
    from tfdist.training.global_step import get_global_step

    step = get_global_step()
    if step is None:
        raise ValueError(
            "there is no global step; make one, with tf.train.get_or_create_global_step()"
        )
    return step


class MovingAverageOptimizer(WrappingOptimizer, Optimizer):
    """Lets an average of the variables follow the steps of another optimizer.

    `swapping_saver` saves the averages under the names of the variables, so that what restores
    them evaluates the averages.

    Args:
      opt: Optimizer that makes the step.
      average_decay: float: what is left of the old average in each step.
      num_updates: int tensor or Variable: steps done; while it is small, so is the decay.
      sequential_update: whether the average is moved after the step; beside it otherwise.

    Example:
      >>> w = Variable(4.0, name="w")
      >>> inner = train.GradientDescentOptimizer(2.0)
      >>> optimizer = contrib.opt.MovingAverageOptimizer(inner, average_decay=0.5)
      >>> step = optimizer.minimize(w, var_list=[w])
      >>> saver = optimizer.swapping_saver()
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([step])
      ...     session.run(global_variables())
      [None]
      [np.float32(2.0), np.float32(3.0)]
    """

    def __init__(
        self,
        opt: Optimizer,
        average_decay: Any = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ) -> None:
        super().__init__(opt, False, "MovingAverageOptimizer")
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped_variable_name_map: dict[str, str] | None = None
        self._sequential_update = sequential_update

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Any = None,
        name: str | None = None,
    ) -> Operation:
        """Return an operation that makes the step, and moves the averages."""
        pairs = list(grads_and_vars)
        step = self._opt.apply_gradients(pairs, global_step, name)
        variables = [variable for gradient, variable in pairs if gradient is not None]
        self._swapped_variable_name_map = {}
        before = [step] if self._sequential_update else []
        with scopes.control_dependencies(before):
            moved = self._ema.apply(variables)
        for variable in variables:
            average = self._ema.average(variable)
            self._swapped_variable_name_map[variable.op.name] = average.op.name
            self._swapped_variable_name_map[average.op.name] = variable.op.name
        return group(step, moved, name="train_with_avg")

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Saver:
        """Return a Saver in which a variable and its average have each other's name.

        Args:
          var_list: variables, or a dict from names; all global ones by default. The averages of
            those it has must be among them.
          name: of the saver's nodes.
          **kwargs: what else a Saver is given.

        Raises:
          RuntimeError: `minimize` or `apply_gradients` was not called before.
          ValueError: a variable is there, and what it is swapped with is not.
        """
        if self._swapped_variable_name_map is None:
            raise RuntimeError(
                "Must call apply_gradients or minimize before creating the swapping_saver"
            )
        listed = global_variables() if var_list is None else var_list
        if not isinstance(listed, dict):
            listed = {variable.op.name: variable for variable in listed}
        swapped = {name: self._swapped(name, each, listed) for name, each in listed.items()}
        return Saver(swapped, name=name, **kwargs)

    def _swapped(self, name: str, variable: Any, listed: Mapping[str, Any]) -> Any:
        wanted = (self._swapped_variable_name_map or {}).get(getattr(variable, "op", variable).name)
        if wanted is None:
            return variable
        for each in listed.values():
            if each.op.name == wanted:
                return each
        raise ValueError(
            f"{name} is swapped with {wanted}, which is not among the variables to save: "
            f"{sorted(listed)}; add it to var_list"
        )
