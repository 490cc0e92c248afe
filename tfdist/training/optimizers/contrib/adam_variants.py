"""Kin of Adam in tf.contrib.opt: by the greatest gradient, with Nesterov's step, of some rows only.

Source: TF 1.15 API documentation, tf.contrib.opt.AdaMaxOptimizer and those beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.array.gather import gather
from tfdist.ops.control_flow import identity_group
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.variables.state_ops import assign
from tfdist.training.optimizers.adam import AdamOptimizer, as_type
from tfdist.training.optimizers.step_optimizer import StepOptimizer

__all__ = ["AdaMaxOptimizer", "LazyAdamOptimizer", "NadamOptimizer"]

RowsFunction = Callable[[Any, Any, Any], Any]


class AdaMaxOptimizer(AdamOptimizer):
    """Divides the mean of the latest gradients by the greatest of them, which fades.

    The slots "m" and "v" of a variable are this mean and this greatest one; the variable
    `beta1_power` tells how many steps the mean holds. A sparse gradient changes its rows only.

    Args:
      learning_rate: number, float tensor, or function that returns one.
      beta1: number, or function that returns one: what is left of older gradients in each step.
      beta2: number, or function that returns one: what is left of the greatest one in each step.
      epsilon: number, or function that returns one: added to the divisor.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.

    Example:
      >>> w = Variable(5.0)
      >>> train = contrib.opt.AdaMaxOptimizer(0.5).minimize(w * w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      np.float32(4.5)

    Source: Kingma and Ba 2014, section 7.1, arXiv 1412.6980.
    """

    _STEP = "AdaMax"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    @property
    def _beta1_power(self) -> Any:
        return self._get_non_slot_variable("beta1_power", scopes.get_default_graph())

    def _create_slots(self, var_list: Any) -> None:
        # all workers of a cluster must find this on one device: that of the first variable
        first = min(var_list, key=lambda variable: variable.name)
        self._create_non_slot_variable(self._call_if_callable(self._beta1), "beta1_power", first)
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _numbers(self, var: Any) -> dict[str, Any]:
        power = as_type(self._beta1_power, var.dtype.base_dtype)
        return {"beta1_power": power, **StepOptimizer._numbers(self, var)}

    def _apply_rows(
        self, grad: Any, var: Any, indices: Any, update: RowsFunction, add: RowsFunction
    ) -> Any:
        """Return what changes the rows `indices`; `update` and `add` change rows of a variable."""
        dtype = var.dtype.base_dtype
        rate, beta1, beta2, epsilon = (cast(tensor, dtype) for tensor in self._tensors.values())
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = gather(m, indices) * beta1 + grad * (1 - beta1)
        m_t = update(m, indices, m_rows)
        v_rows = raw.Maximum(gather(v, indices) * beta2, raw.Abs(grad))
        v_t = update(v, indices, v_rows)
        rate_now = -rate / (1 - as_type(self._beta1_power, dtype))
        step = rate_now * (m_rows / (v_rows + epsilon))
        return identity_group.group(add(var, indices, step), m_t, v_t)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        options: dict[str, Any] = {"use_locking": self._use_locking}
        return self._apply_rows(
            grad.values, var, grad.indices,
            lambda x, rows, values: raw.ScatterUpdate(x, rows, values, **options),
            lambda x, rows, values: raw.ScatterAdd(x, rows, values, **options),
        )  # fmt: skip

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply_rows(
            grad, handle, indices, _scattered("ResourceScatterUpdate"),
            _scattered("ResourceScatterAdd"),
        )  # fmt: skip

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        power = self._beta1_power
        with scopes.control_dependencies(update_ops), scopes.colocate_with(power.op):
            moved = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return identity_group.group(*update_ops, moved, name=name_scope)


def _scattered(op: str) -> RowsFunction:
    """Return a function that changes rows of a resource variable and gives its new value."""

    def change(variable: Any, indices: Any, values: Any) -> Any:
        done = getattr(raw, op)(variable.handle, indices, values)
        with scopes.control_dependencies([done, values]):
            return variable.value()

    return change


class NadamOptimizer(AdamOptimizer):
    """Adam, which goes ahead as far as its mean takes it next; see `tf.train.AdamOptimizer`.

    A sparse gradient changes its rows only, though the means of all fade.

    Example:
      >>> w = Variable(5.0)
      >>> train = contrib.opt.NadamOptimizer(0.5).minimize(w * w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      np.float32(4.05)

    Source: Dozat 2015, Incorporating Nesterov Momentum into Adam.
    """

    _FLAGS: ClassVar[dict[str, str]] = {**AdamOptimizer._FLAGS, "use_nesterov": "_use_nesterov"}
    _use_nesterov = True

    def _apply_sparse_shared(
        self, grad: Any, var: Any, indices: Any, scatter_add: RowsFunction
    ) -> Any:
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = (as_type(p, dtype) for p in self._get_beta_accumulators())
        lr, beta1, beta2, epsilon = (cast(tensor, dtype) for tensor in self._tensors.values())
        rate = lr * raw.Sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = grad * (1 - beta1)
        m_t = assign(m, m * beta1, use_locking=self._use_locking)
        with scopes.control_dependencies([m_t]):
            m_t = scatter_add(m, indices, m_rows)
            ahead = m_rows + beta1 * gather(m_t, indices)
        v_rows = (grad * grad) * (1 - beta2)
        v_t = assign(v, v * beta2, use_locking=self._use_locking)
        with scopes.control_dependencies([v_t]):
            v_t = scatter_add(v, indices, v_rows)
        root = raw.Sqrt(gather(v_t, indices))
        update = scatter_add(var, indices, -rate * ahead / (root + epsilon))
        return identity_group.group(update, ahead, v_t)


class LazyAdamOptimizer(AdamOptimizer):
    """Adam, in which a sparse gradient leaves all rows but its own as they are, and their means.

    For embeddings, of which a step sees few rows; see `tf.train.AdamOptimizer`.

    Example:
      >>> rows = Variable([[5.0], [5.0]])
      >>> train = contrib.opt.LazyAdamOptimizer(0.5).minimize(gather(rows, [1]), var_list=[rows])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(rows)
      [None]
      array([[5. ],
             [4.5]], dtype=float32)
    """

    def _rows_now(self, grad: Any, var: Any) -> tuple[Any, Any, Callable[..., Any]]:
        """Return the rate, epsilon, and a function to the next means of rows."""
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = (as_type(p, dtype) for p in self._get_beta_accumulators())
        lr, beta1, beta2, epsilon = (cast(tensor, dtype) for tensor in self._tensors.values())
        rate = lr * raw.Sqrt(1 - beta2_power) / (1 - beta1_power)

        def mean(slot: str, indices: Any) -> tuple[Any, Any]:
            kept = self.get_slot(var, slot)
            if slot == "m":
                return kept, beta1 * gather(kept, indices) + (1 - beta1) * grad
            return kept, beta2 * gather(kept, indices) + (1 - beta2) * raw.Square(grad)

        return rate, epsilon, mean

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        indices = grad.indices
        options: dict[str, Any] = {"use_locking": self._use_locking}
        rate, epsilon, mean = self._rows_now(grad.values, var)
        m_t = raw.ScatterUpdate(*_placed(mean("m", indices), indices), **options)
        v_t = raw.ScatterUpdate(*_placed(mean("v", indices), indices), **options)
        m_rows, v_rows = gather(m_t, indices), gather(v_t, indices)
        divisor = raw.Sqrt(v_rows) + epsilon
        update = raw.ScatterSub(var, indices, rate * m_rows / divisor, **options)
        return identity_group.group(update, m_t, v_t)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        rate, epsilon, mean = self._rows_now(grad, handle)
        m, m_rows = mean("m", indices)
        m_t = raw.ResourceScatterUpdate(m.handle, indices, m_rows)
        v, v_rows = mean("v", indices)
        v_t = raw.ResourceScatterUpdate(v.handle, indices, v_rows)
        step = rate * m_rows / (raw.Sqrt(v_rows) + epsilon)
        return identity_group.group(raw.ResourceScatterSub(handle.handle, indices, step), m_t, v_t)


def _placed(mean: tuple[Any, Any], indices: Any) -> tuple[Any, Any, Any]:
    kept, rows = mean
    return kept, indices, rows
