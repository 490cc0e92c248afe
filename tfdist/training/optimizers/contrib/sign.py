"""Optimizers that go further where a gradient and the mean of the latest ones have one sign.

Source: TF 1.15 API documentation, tf.contrib.opt.AddSignOptimizer, PowerSignOptimizer;
Bello et al. 2017, Neural Optimizer Search with Reinforcement Learning, arXiv 1709.07417.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.array.gather import gather
from tfdist.ops.control_flow import identity_group
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.variables.state_ops import assign
from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer
from tfdist.training.optimizers.step_optimizer import StepOptimizer

__all__ = ["AddSignOptimizer", "PowerSignOptimizer"]

E = 2.718281828459045


class _SignOptimizer(StepOptimizer, Optimizer):
    """What both share: the slot "m", the mean of the latest gradients, and a weight of signs."""

    _SLOTS: ClassVar[dict[str, str]] = {"m": "m"}

    def __init__(
        self,
        use_locking: bool,
        name: str,
        parameters: dict[str, tuple[str, Any]],
        sign_decay_fn: Callable[[Any], Any] | None,
    ) -> None:
        super().__init__(use_locking, name, parameters)
        self._sign_decay_fn = sign_decay_fn
        self._sign_decay: Any = 1.0

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        """Return an operation that changes each variable; see `tf.train.Optimizer`.

        Raises:
          ValueError: there is a `sign_decay_fn`, but no global step.
        """
        if self._sign_decay_fn is not None:
            if global_step is None:
                raise ValueError(
                    f"{type(self).__name__} has a sign_decay_fn, which needs the global step; pass "
                    "global_step to minimize or apply_gradients"
                )
            self._sign_decay = self._sign_decay_fn(global_step)
        return super().apply_gradients(grads_and_vars, global_step, name)

    def _create_slots(self, var_list: Any) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        self._tensors["sign_decay"] = convert_to_tensor(self._sign_decay, name="sign_decay")

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        numbers = self._numbers(var)
        base = self._base(var)
        m, beta = self.get_slot(var, "m"), numbers["beta"]
        dense = (m * beta) + grad * (1 - beta)
        m_t = assign(m, dense, use_locking=self._use_locking)
        sign = raw.Sign(grad.values)
        agreed = gather(raw.Sign(m_t), grad.indices) * sign
        step = numbers["lr"] * self._weight(base, agreed, numbers) * grad.values
        update = raw.ScatterSub(var, grad.indices, step, use_locking=self._use_locking)
        return identity_group.group(update, m_t)

    def _base(self, var: Any) -> Any:
        """Return a tensor that `_weight` needs."""

    def _weight(self, base: Any, agreed: Any, numbers: dict[str, Any]) -> Any:
        """Return by how much a step is longer, where `agreed` is 1, -1 or 0."""
        raise NotImplementedError


class AddSignOptimizer(_SignOptimizer):
    """Multiplies the gradient by alpha, plus 1 where it has the sign of its mean, less 1 where not.

    Args:
      learning_rate: number, or float tensor.
      alpha: what is added to the product of the signs.
      beta: what is left of older gradients in the mean in each step.
      sign_decay_fn: function from the global step to a factor of the product of the signs.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.

    Example:
      >>> w = Variable(5.0)
      >>> train = contrib.opt.AddSignOptimizer(0.25).minimize(w * 2.0, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      np.float32(4.0)
    """

    _STEP = "AddSign"

    def __init__(
        self,
        learning_rate: Any = 0.1,
        alpha: Any = 1.0,
        beta: Any = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:
        parameters = {
            "lr": ("learning_rate", learning_rate), "beta": ("beta", beta),
            "alpha": ("alpha", alpha),
        }  # fmt: skip
        super().__init__(use_locking, name, parameters, sign_decay_fn)

    def _weight(self, base: Any, agreed: Any, numbers: dict[str, Any]) -> Any:
        return numbers["alpha"] + numbers["sign_decay"] * agreed


class PowerSignOptimizer(_SignOptimizer):
    """Multiplies the gradient by `base` where it has the sign of its mean, divides it where not.

    Args:
      learning_rate: number, or float tensor.
      base: number.
      beta: what is left of older gradients in the mean in each step.
      sign_decay_fn: function from the global step to a factor of the exponent.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.

    Example:
      >>> w = Variable(5.0)
      >>> train = contrib.opt.PowerSignOptimizer(0.25, 4.0).minimize(w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      np.float32(4.0)
    """

    _STEP = "PowerSign"

    def __init__(
        self,
        learning_rate: Any = 0.1,
        base: float = E,
        beta: Any = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:
        parameters = {
            "lr": ("learning_rate", learning_rate), "beta": ("beta", beta),
            "logbase": ("logbase", math.log(base)),
        }  # fmt: skip
        super().__init__(use_locking, name, parameters, sign_decay_fn)

    def _base(self, var: Any) -> Any:
        return cast(E, var.dtype.base_dtype)

    def _weight(self, base: Any, agreed: Any, numbers: dict[str, Any]) -> Any:
        return raw.Pow(base, numbers["logbase"] * numbers["sign_decay"] * agreed)
