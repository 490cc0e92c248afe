"""Optimizers that let variables shrink beside their training, not through their gradients.

Source: TF 1.15 API documentation, tf.contrib.opt.AdamWOptimizer and those beside it; Loshchilov and
Hutter 2017, Decoupled Weight Decay Regularization, arXiv 1711.05101.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.array.gather import gather
from tfdist.ops.control_flow import identity_group
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.variables.state_ops import assign_sub
from tfdist.training.optimizers.adam import AdamOptimizer
from tfdist.training.optimizers.gradient_descent import MomentumOptimizer
from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer

__all__ = [
    "AdamWOptimizer", "DecoupledWeightDecayExtension", "MomentumWOptimizer",
    "extend_with_decoupled_weight_decay",
]  # fmt: skip


class DecoupledWeightDecayExtension:
    """What stands before an Optimizer among the bases of a class that lets variables shrink.

    Before a variable follows its gradient, it loses `weight_decay` times itself; where the
    gradient is sparse, only its rows do.

    Args:
      weight_decay: number, float tensor, or variable.
      **kwargs: what the optimizer is given.

    Example:
      >>> class Decaying(contrib.opt.DecoupledWeightDecayExtension, train.AdagradOptimizer):
      ...     '''Adagrad, with decay: Decaying(weight_decay, learning_rate=...).'''
      >>> Decaying(0.01, learning_rate=0.1).get_name()
      'Adagrad'
    """

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._decay_var_list: Any = None
        self._weight_decay = weight_decay
        self._weight_decay_tensor: Any = None
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        decay_var_list: Any = None,
    ) -> Any:
        """Return an operation that lowers the loss; see `tf.train.Optimizer.minimize`.

        Args:
          decay_var_list: the variables that shrink; all that are changed by default.
        """
        self._decay_var_list = set(decay_var_list) if decay_var_list else None
        return super().minimize(  # type: ignore[misc]
            loss, global_step, var_list, gate_gradients, aggregation_method,
            colocate_gradients_with_ops, name, grad_loss,
        )  # fmt: skip

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Any = None,
        name: str | None = None,
        decay_var_list: Any = None,
    ) -> Any:
        """Return an operation that changes variables; see `tf.train.Optimizer.apply_gradients`.

        Args:
          decay_var_list: the variables that shrink; all that are changed by default.
        """
        if decay_var_list:
            self._decay_var_list = set(decay_var_list)
        return super().apply_gradients(grads_and_vars, global_step, name)  # type: ignore[misc]

    def _prepare(self) -> None:
        self._weight_decay_tensor = convert_to_tensor(
            _called(self._weight_decay), name="weight_decay"
        )
        super()._prepare()  # type: ignore[misc]

    def _shrinks(self, var: Any) -> bool:
        return self._decay_var_list is None or var in self._decay_var_list

    def _decay_of(self, var: Any) -> Any:
        decay = _called(self._weight_decay)
        return cast(decay, var.dtype.base_dtype) if hasattr(decay, "dtype") else decay

    def _shrunk(self, var: Any) -> Any:
        """Return what takes the decay from a variable."""
        if not self._shrinks(var):
            return identity_group.no_op()
        return assign_sub(var, self._decay_of(var) * var, use_locking=self._use_locking)  # type: ignore[attr-defined]

    def _shrunk_rows(self, var: Any, indices: Any, add: Callable[..., Any]) -> Any:
        """Return what takes the decay from rows of a variable."""
        if not self._shrinks(var):
            return identity_group.no_op()
        rows = gather(var, indices)
        return add(var, indices, -self._decay_of(var) * rows)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with scopes.control_dependencies([self._shrunk(var)]):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        with scopes.control_dependencies([self._shrunk(handle)]):
            return super()._resource_apply_dense(grad, handle)  # type: ignore[misc]

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        def add(variable: Any, indices: Any, values: Any) -> Any:
            locking = self._use_locking  # type: ignore[attr-defined]
            return raw.ScatterAdd(variable, indices, values, use_locking=locking)

        with scopes.control_dependencies([self._shrunk_rows(var, grad.indices, add)]):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        def add(variable: Any, indices: Any, values: Any) -> Any:
            done = raw.ResourceScatterAdd(variable.handle, indices, values)
            with scopes.control_dependencies([done]):
                return variable.value()

        with scopes.control_dependencies([self._shrunk_rows(handle, indices, add)]):
            return super()._resource_apply_sparse(grad, handle, indices)  # type: ignore[misc]


def _called(value: Any) -> Any:
    return value() if callable(value) and not hasattr(value, "dtype") else value


def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> type[Optimizer]:
    """Return a class: that of an optimizer, with weight decay as first argument.

    Args:
      base_optimizer: class of an optimizer.

    Example:
      >>> decaying = contrib.opt.extend_with_decoupled_weight_decay(train.GradientDescentOptimizer)
      >>> w = Variable(4.0)
      >>> step = decaying(weight_decay=0.5, learning_rate=1.0).minimize(w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(w.initializer)
      ...     session.run(step)
      ...     session.run(w)
      np.float32(1.0)
    """

    class OptimizerWithDecoupledWeightDecay(
        DecoupledWeightDecayExtension,
        base_optimizer,  # type: ignore[valid-type,misc]
    ):
        """An optimizer with weight decay; see `DecoupledWeightDecayExtension`."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
            if args:
                raise TypeError(
                    f"pass the arguments of {base_optimizer.__name__} by name, behind weight_decay;"
                    f" got {args!r}"
                )
            super().__init__(weight_decay, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam with weight decay.

    Args:
      weight_decay: the part of itself that a variable loses in each step.
      learning_rate: as the rest: see `tf.train.AdamOptimizer`.

    Example:
      >>> w = Variable(5.0)
      >>> train = contrib.opt.AdamWOptimizer(0.5, 0.25).minimize(w * w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      np.float32(2.25)
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
            use_locking=use_locking, name=name,
        )  # fmt: skip


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with weight decay.

    Args:
      weight_decay: the part of itself that a variable loses in each step.
      learning_rate: as the rest: see `tf.train.MomentumOptimizer`.

    Example:
      >>> w = Variable(4.0)
      >>> train = contrib.opt.MomentumWOptimizer(0.5, 1.0, 0.9).minimize(w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      np.float32(1.0)
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay, learning_rate=learning_rate, momentum=momentum,
            use_locking=use_locking, name=name, use_nesterov=use_nesterov,
        )  # fmt: skip
