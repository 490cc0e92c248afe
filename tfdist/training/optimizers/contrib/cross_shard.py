"""CrossShardOptimizer of tf.contrib.tpu: of one replica, what is inside.

Source: TF 1.15 API documentation, tf.contrib.tpu.CrossShardOptimizer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.graph.operation import Operation
from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer
from tfdist.training.optimizers.wrapping_optimizer import WrappingOptimizer

__all__ = ["CrossShardOptimizer"]

_REDUCTIONS = ("weighted_sum", "weighted_mean")


class CrossShardOptimizer(WrappingOptimizer, Optimizer):
    """Adds the gradients of all replicas on TPUs; here there is one, whose step it makes.

    TensorFlow on CPUs refuses this step, for it has no kernel of the sum over replicas there.

    Args:
      opt: Optimizer that makes the step.
      reduction: of `tf.losses.Reduction`: SUM or MEAN.
      name: of the optimizer.
      group_assignment: accepted.

    Raises:
      ValueError: `reduction` is another one.

    Example:
      >>> w = Variable(4.0)
      >>> inner = train.GradientDescentOptimizer(0.5)
      >>> step = contrib.tpu.CrossShardOptimizer(inner).minimize(w * w)
      >>> with Session() as session:
      ...     session.run(w.initializer)
      ...     session.run(step)
      ...     session.run(w)
      np.float32(0.0)
    """

    def __init__(
        self,
        opt: Optimizer,
        reduction: str = "weighted_mean",
        name: str = "CrossShardOptimizer",
        group_assignment: Any = None,
    ) -> None:
        if reduction not in _REDUCTIONS:
            raise ValueError(f"Unsupported reduction: {reduction}.")
        super().__init__(opt, False, name)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Any = None,
        name: str | None = None,
    ) -> Operation:
        """Return an operation that makes the step; see `tf.train.Optimizer`."""
        return self._opt.apply_gradients(list(grads_and_vars), global_step, name)
