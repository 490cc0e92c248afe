"""tf.contrib.estimator.clip_gradients_by_norm: an optimizer that keeps steps short.

Source: TF 1.15 API documentation, tf.contrib.estimator.clip_gradients_by_norm; names by
experiment.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.ops.math.clip import clip_by_global_norm
from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer
from tfdist.training.optimizers.wrapping_optimizer import WrappingOptimizer

__all__ = ["clip_gradients_by_norm"]


def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: Any) -> Optimizer:
    """Return an optimizer that first shortens all gradients alike, if they are too long together.

    Args:
      optimizer: that applies the gradients.
      clip_norm: the greatest norm of all gradients together, a number or scalar tensor.

    Example:
      >>> v = Variable([1.0, 2.0])
      >>> optimizer = contrib.estimator.clip_gradients_by_norm(
      ...     train.GradientDescentOptimizer(0.5), 1.0
      ... )
      >>> step = optimizer.minimize(reduce_sum(v * [3.0, 4.0]))
      >>> with Session() as session:
      ...     session.run(v.initializer)
      ...     session.run(step)
      ...     session.run(v)
      array([0.7, 1.6], dtype=float32)
    """
    return _Clipping(optimizer, clip_norm)


class _Clipping(WrappingOptimizer, Optimizer):
    def __init__(self, optimizer: Optimizer, clip_norm: Any) -> None:
        super().__init__(optimizer, False, f"ClipByNorm{optimizer.get_name()}")
        self._clip_norm = clip_norm

    def apply_gradients(
        self, grads_and_vars: Iterable[GradientAndVariable], global_step: Any = None,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """Return an operation that updates the variables by the shortened gradients."""
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = clip_by_global_norm(gradients, self._clip_norm)
        pairs = list(zip(clipped, variables, strict=True))
        return self._opt.apply_gradients(pairs, global_step, name)
