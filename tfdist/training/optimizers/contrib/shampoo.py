"""Shampoo: gradients conditioned along each axis by the root of a matrix.

Source: TF 1.15 API documentation, tf.contrib.opt.ShampooOptimizer; slots by experiment.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.array.constants import constant
from tfdist.ops.array.fill import eye
from tfdist.ops.array.scatter_nd import scatter_nd
from tfdist.ops.array.transpose import transpose
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.math.tensordot import tensordot
from tfdist.ops.variables.state_ops import assign, assign_sub
from tfdist.training.optimizers.optimizer import Optimizer

__all__ = ["ShampooOptimizer"]


class ShampooOptimizer(Optimizer):
    """Adagrad with a matrix for each axis of a variable, instead of a number for each element.

    w changes by -learning_rate * gbar, along each axis j multiplied by mat_gbar_j^(-alpha / rank),
    where gbar sums gradients, and mat_gbar_j products of gradients over all other axes. Numbers
    may be functions of the step.

    Args:
      global_step: Variable or tensor: steps done before this one.
      max_matrix_size: axes that are longer have a number for each place instead of a matrix.
      gbar_decay: what is left of older gradients in each step.
      gbar_weight: with which the newest one counts.
      mat_gbar_decay: what is left of older products.
      mat_gbar_weight: with which the newest ones count.
      learning_rate: number or float tensor.
      svd_interval: after so many steps roots are computed anew.
      precond_update_interval: after so many steps products are added.
      epsilon: added to the diagonals.
      alpha: of the root.
      use_iterative_root: taken and not needed: roots are computed by singular values.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.

    Example:
      >>> w, step = Variable([5.0]), train.create_global_step()
      >>> optimizer = contrib.opt.ShampooOptimizer(step, learning_rate=0.5)
      >>> descend = optimizer.minimize(w * w, step, [w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([descend])
      ...     session.run(w)
      [None]
      array([4.5], dtype=float32)

    Source: Gupta, Koren and Singer 2018, arXiv 1802.09568.
    """

    def __init__(
        self,
        global_step: Any = 0,
        max_matrix_size: int = 768,
        gbar_decay: Any = 0.0,
        gbar_weight: Any = 1.0,
        mat_gbar_decay: Any = 1.0,
        mat_gbar_weight: Any = 1.0,
        learning_rate: Any = 1.0,
        svd_interval: Any = 1,
        precond_update_interval: Any = 1,
        epsilon: float = 1e-4,
        alpha: float = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ) -> None:
        super().__init__(use_locking, name)
        self._step: Any = cast(global_step, dtypes.float32)
        self._max_matrix_size, self._epsilon, self._alpha = max_matrix_size, epsilon, alpha
        self._gbar = gbar_decay, gbar_weight
        self._mat_gbar = mat_gbar_decay, mat_gbar_weight
        self._learning_rate = learning_rate
        self._svd_interval, self._update_interval = svd_interval, precond_update_interval

    def _now(self, parameter: Any) -> Any:
        return parameter(self._step) if callable(parameter) else parameter

    def _is_due(self, interval: Any) -> Any:
        return raw.Less(raw.FloorMod(self._step + 1.0, self._now(interval)), 1.0)

    def _create_slots(self, var_list: Any) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "gbar", self._name)
            for axis, size in enumerate(variable.get_shape().as_list()):
                is_matrix = size <= self._max_matrix_size
                shape = [size, size] if is_matrix else [size]
                if is_matrix and self._svd_interval != 1:
                    self._get_or_make_slot(variable, eye(size), f"H_{axis}", self._name)
                begin = constant(0.0, shape=shape)
                self._get_or_make_slot(variable, begin, f"Gbar_{axis}", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._changed(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._changed(grad, handle)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        shape = handle.get_shape().as_list()
        places = raw.ExpandDims(cast(indices, dtypes.int32), 1)
        return self._changed(scatter_nd(places, grad, shape), handle)

    def _changed(self, grad: Any, var: Any) -> Any:
        """Return what changes a variable."""
        decay, weight = map(self._now, self._gbar)
        total = grad * weight
        if not isinstance(decay, int | float) or decay:
            gbar = self.get_slot(var, "gbar")
            total = assign(gbar, gbar * decay + total)
        rank = len(grad.plain_shape)
        for axis in range(rank):
            # the axis goes to the back: after all of them they stand in order again
            total = self._conditioned(total, grad, var, axis, rank)
        return assign_sub(var, self._now(self._learning_rate) * total)

    def _conditioned(self, total: Any, grad: Any, var: Any, axis: int, rank: int) -> Any:
        """Return a sum of gradients whose first axis is conditioned, and is now the last."""
        power = -self._alpha / rank
        others = [each for each in range(rank) if each != axis]
        products = self.get_slot(var, f"Gbar_{axis}")
        if len(products.get_shape().as_list()) == 2:
            new = tensordot(grad, grad, [others, others])
            products = self._summed(products, new)
            return tensordot(total, self._root(products, var, axis, power), [[0], [0]])
        size = float(grad.plain_shape[axis])
        products = self._summed(products, reduce_sum(grad * grad, others) / size)  # type: ignore[operator]
        order = [*range(1, rank), 0]
        return transpose(total, order) * raw.Pow(products + self._epsilon, power)

    def _summed(self, products: Any, new: Any) -> Any:
        decay, weight = map(self._now, self._mat_gbar)
        weight = weight * self._now(self._update_interval)  # for the steps that are left out
        return cond(
            self._is_due(self._update_interval),
            lambda: identity(assign(products, products * decay + new * weight)),
            lambda: identity(products),
        )

    def _root(self, products: Any, var: Any, axis: int, power: float) -> Any:
        """Return a power of a matrix: the newest one, or that of the last time."""
        if self._svd_interval == 1:
            return self._powered(products, power)
        root = self.get_slot(var, f"H_{axis}")
        return cond(
            self._is_due(self._svd_interval),
            lambda: identity(assign(root, self._powered(products, power))),
            lambda: identity(root),
        )

    def _powered(self, matrix: Any, power: float) -> Any:
        size = matrix.plain_shape[0]
        found, left, right = raw.Svd(matrix / float(size) + self._epsilon * eye(size))  # type: ignore[operator]
        powers = raw.Pow(raw.Maximum(found, self._epsilon), power)
        return raw.MatMul(right * powers, left, transpose_b=True)
