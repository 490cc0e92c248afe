"""Optimizers that go down the gradient by one learning rate for all.

Source: TF 1.15 API documentation, tf.train.GradientDescentOptimizer and those named below.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.training.optimizers.optimizer import Optimizer
from tfdist.training.optimizers.step_optimizer import StepOptimizer

__all__ = ["GradientDescentOptimizer", "MomentumOptimizer", "ProximalGradientDescentOptimizer"]


class GradientDescentOptimizer(Optimizer):
    """Changes a variable by its gradient times the learning rate.

    Args:
      learning_rate: number, float tensor, or function that returns one.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.

    Example:
      >>> w = Variable(5.0)
      >>> train = GradientDescentOptimizer(0.5).minimize((w - 3.0) ** 2, var_list=[w])
      >>> with Session() as session:
      ...     session.run(w.initializer)
      ...     session.run(train)
      ...     session.run(w)
      np.float32(3.0)
    """

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        rate = cast(self._learning_rate_tensor, var.dtype.base_dtype)
        return raw.ApplyGradientDescent(var, rate, grad, use_locking=self._use_locking).op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        rate = cast(self._learning_rate_tensor, grad.dtype.base_dtype)
        return raw.ResourceApplyGradientDescent(
            handle.handle, rate, grad, use_locking=self._use_locking
        )

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        step = raw.Mul(raw.Neg(grad), self._call_if_callable(self._learning_rate), name="mul")
        return raw.ResourceScatterAdd(handle.handle, indices, step)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        rate = cast(self._learning_rate_tensor, var.dtype.base_dtype)
        step = raw.Mul(grad.values, rate, name="mul")
        return raw.ScatterSub(var, grad.indices, step, use_locking=self._use_locking).op


class MomentumOptimizer(StepOptimizer, Optimizer):
    """Changes a variable by a sum of its gradients, in which older ones fade.

    The slot "momentum" of a variable becomes itself times `momentum` plus the gradient; the
    variable loses the learning rate times that.

    Args:
      learning_rate: number, float tensor, or function that returns one.
      momentum: number, or function that returns one: what is left of older gradients in each step.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.
      use_nesterov: whether the variable goes ahead as far as its momentum takes it next.

    Example:
      >>> w = Variable(5.0)
      >>> train = MomentumOptimizer(0.25, 0.5).minimize((w - 3.0) ** 2, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      np.float32(4.0)

    Source: Sutskever et al. 2013, for `use_nesterov`.
    """

    _STEP = "Momentum"
    _SLOTS: ClassVar[dict[str, str]] = {"accum": "momentum"}
    _FLAGS: ClassVar[dict[str, str]] = {**StepOptimizer._FLAGS, "use_nesterov": "_use_nesterov"}

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        parameters = {"lr": ("learning_rate", learning_rate), "momentum": ("momentum", momentum)}
        super().__init__(use_locking, name, parameters)
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: Any) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "momentum", self._name)


class ProximalGradientDescentOptimizer(StepOptimizer, Optimizer):
    """Goes down the gradient, and draws each number to 0 as well.

    Args:
      learning_rate: number, or float tensor.
      l1_regularization_strength: by how much, times the rate, a number comes nearer to 0.
      l2_regularization_strength: by what factor it shrinks: 1 / (1 + this times the rate).
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.

    Example:
      >>> w = Variable(5.0)
      >>> train = ProximalGradientDescentOptimizer(0.5, 2.0).minimize(w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(w.initializer)
      ...     session.run(train)
      ...     session.run(w)
      np.float32(3.5)

    Source: Duchi and Singer 2009, Efficient Learning using Forward-Backward Splitting.
    """

    _STEP = "ProximalGradientDescent"

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(
            use_locking,
            name,
            {
                "alpha": ("learning_rate", learning_rate),
                "l1": ("l1_regularization_strength", l1_regularization_strength),
                "l2": ("l2_regularization_strength", l2_regularization_strength),
            },
        )
