"""LARSOptimizer: each variable has a learning rate after its size and that of its gradient.

Source: TF 1.15 API documentation, tf.contrib.opt.LARSOptimizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tfdist.ops.array.cast import cast
from tfdist.ops.linalg.norms import norm
from tfdist.ops.math.comparison import greater, where
from tfdist.training.optimizers.gradient_descent import MomentumOptimizer

__all__ = ["LARSOptimizer"]


class LARSOptimizer(MomentumOptimizer):
    """Momentum, in which no variable goes further than a part of its own length.

    The rate of a variable is `learning_rate` times eeta |w| / (|g| + weight_decay |w| + epsilon),
    for its norm |w| and that of its gradient, |g|. For training with very large batches. A sparse
    gradient goes as in `tf.train.MomentumOptimizer`.

    Args:
      learning_rate: number, or float tensor.
      momentum: what is left of older gradients in each step.
      weight_decay: this part of a variable is added to its gradient.
      eeta: how much a variable is trusted: the part of its length that a step may have.
      epsilon: added to the divisor.
      name: of the nodes it makes.
      skip_list: parts of names; variables with such a name go as in MomentumOptimizer.
      use_nesterov: whether the variable goes ahead as far as its momentum takes it next.

    Raises:
      ValueError: momentum or weight_decay is negative.

    Example: a step of a hundredth of the variable's length.
      >>> w = Variable([3.0, 4.0])
      >>> optimizer = contrib.opt.LARSOptimizer(1.0, 0.0, 0.0, eeta=0.01)
      >>> train = optimizer.minimize(reduce_sum(w * [6.0, 8.0]), var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      array([2.97, 3.96], dtype=float32)

    Source: You, Gitman and Ginsburg 2017, arXiv 1708.03888.
    """

    _FLAGS: ClassVar[dict[str, str]] = {"use_nesterov": "_use_nesterov"}

    def __init__(
        self,
        learning_rate: Any,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        for label, value in (("momentum", momentum), ("weight_decay", weight_decay)):
            if value < 0.0:
                raise ValueError(f"{label} should be positive: {value}")
        super().__init__(learning_rate, momentum, False, name, use_nesterov)
        self._weight_decay, self._eeta, self._epsilon = weight_decay, eeta, epsilon
        self._skip_list = skip_list

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """Return a variable's learning rate, and its gradient with the weight decay.

        Args:
          grad: its gradient.
          var: Variable.
        """
        rate = self._learning_rate
        if any(part in var.name for part in self._skip_list or ()):
            return rate, grad
        size: Any = norm(var)
        slope: Any = norm(grad)
        var_moves, grad_moves = greater(size, 0.0), greater(slope, 0.0)
        trust = self._eeta * size / (slope + self._weight_decay * size + self._epsilon)
        rate = rate * where(var_moves, where(grad_moves, trust, 1.0), 1.0)
        return rate, grad + self._weight_decay * var

    def _scaled(self, grad: Any, var: Any) -> dict[str, Any]:
        """Return the inputs of the op of the step: the rate is 1, the gradient has it all."""
        rate, grad = self.compute_lr(grad, var)
        dtype = var.dtype.base_dtype
        return {"lr": cast(1.0, dtype), "grad": grad * rate, "momentum": self._momentum}

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._applied("", var, **self._scaled(grad, var)).op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._applied("Resource", handle, **self._scaled(grad, handle))
