"""AdamOptimizer: steps from the mean and the mean square of the latest gradients.

Source: TF 1.15 API documentation, tf.train.AdamOptimizer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.control_flow import identity_group
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.variables.state_ops import assign, assign_sub
from tfdist.training.optimizers.optimizer import Optimizer
from tfdist.training.optimizers.step_optimizer import StepOptimizer

__all__ = ["AdamOptimizer"]


class AdamOptimizer(StepOptimizer, Optimizer):
    """Divides the mean of the latest gradients by the root of their mean square.

    The slots "m" and "v" of a variable are these means, the variables `beta1_power` and
    `beta2_power` tell how many steps they hold. A sparse gradient changes all rows, for the means
    of all fade.

    Args:
      learning_rate: number, float tensor, or function that returns one.
      beta1: number, or function that returns one: what is left of older gradients in each step.
      beta2: number, or function that returns one: what is left of older squares in each step.
      epsilon: number, or function that returns one: added to the root.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.

    Example:
      >>> w = Variable(5.0)
      >>> train = AdamOptimizer(0.5).minimize(w * w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      np.float32(4.5)

    Source: Kingma and Ba 2014, arXiv 1412.6980.
    """

    _STEP = "Adam"
    _SLOTS: ClassVar[dict[str, str]] = {"m": "m", "v": "v"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        parameters = {
            "lr": ("learning_rate", learning_rate), "beta1": ("beta1", beta1),
            "beta2": ("beta2", beta2), "epsilon": ("epsilon", epsilon),
        }  # fmt: skip
        super().__init__(use_locking, name, parameters)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        graph = scopes.get_default_graph()
        return (
            self._get_non_slot_variable("beta1_power", graph),
            self._get_non_slot_variable("beta2_power", graph),
        )

    def _create_slots(self, var_list: Any) -> None:
        # all workers of a cluster must find these on one device: that of the first variable
        first = min(var_list, key=lambda variable: variable.name)
        self._create_non_slot_variable(self._call_if_callable(self._beta1), "beta1_power", first)
        self._create_non_slot_variable(self._call_if_callable(self._beta2), "beta2_power", first)
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        tensors = self._tensors
        self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t = tensors.values()

    def _numbers(self, var: Any) -> dict[str, Any]:
        dtype, powers = var.dtype.base_dtype, self._get_beta_accumulators()
        named = zip(("beta1_power", "beta2_power"), powers, strict=True)
        numbers = {key: as_type(power, dtype) for key, power in named}
        return {**numbers, **super()._numbers(var)}

    def _apply_sparse_shared(
        self, grad: Any, var: Any, indices: Any, scatter_add: Callable[[Any, Any, Any], Any]
    ) -> Any:
        """Return what changes a variable whose gradient is `grad` in some rows, 0 in others."""
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = (as_type(p, dtype) for p in self._get_beta_accumulators())
        lr, beta1, beta2, epsilon = (cast(tensor, dtype) for tensor in self._tensors.values())
        rate = lr * raw.Sqrt(1 - beta2_power) / (1 - beta1_power)
        m = self.get_slot(var, "m")
        m_rows = grad * (1 - beta1)
        m_t = assign(m, m * beta1, use_locking=self._use_locking)
        with scopes.control_dependencies([m_t]):
            m_t = scatter_add(m, indices, m_rows)
        v = self.get_slot(var, "v")
        v_rows = (grad * grad) * (1 - beta2)
        v_t = assign(v, v * beta2, use_locking=self._use_locking)
        with scopes.control_dependencies([v_t]):
            v_t = scatter_add(v, indices, v_rows)
        root = raw.Sqrt(v_t)
        step = rate * m_t / (root + epsilon)
        update = assign_sub(var, step, use_locking=self._use_locking)
        return identity_group.group(update, m_t, v_t)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        def scatter_add(variable: Any, indices: Any, values: Any) -> Any:
            return raw.ScatterAdd(variable, indices, values, use_locking=self._use_locking)

        return self._apply_sparse_shared(grad.values, var, grad.indices, scatter_add)

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        with scopes.control_dependencies([raw.ResourceScatterAdd(x.handle, i, v)]):
            return x.value()

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply_sparse_shared(grad, handle, indices, self._resource_scatter_add)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        beta1_power, beta2_power = self._get_beta_accumulators()
        with scopes.control_dependencies(update_ops), scopes.colocate_with(beta1_power.op):
            powers = [
                power.assign(power * beta, use_locking=self._use_locking)
                for power, beta in ((beta1_power, self._beta1_t), (beta2_power, self._beta2_t))
            ]
        return identity_group.group(*update_ops, *powers, name=name_scope)


def as_type(power: Any, dtype: Any) -> Any:
    """Return a variable's value as `dtype`; itself if it has it, to be read by who takes it."""
    return power if power.dtype.base_dtype is dtype else cast(power, dtype)
