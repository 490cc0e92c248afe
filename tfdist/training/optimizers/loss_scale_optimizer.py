"""MixedPrecisionLossScaleOptimizer: another optimizer with a scaled loss.

Source: TF 1.15 API documentation, tf.train.experimental.MixedPrecisionLossScaleOptimizer.
"""

from __future__ import annotations

import logging
from typing import Any

from tfdist.graph.op_def import raw
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import group, no_op
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.training.optimizers.loss_scale import LossScale, loss_scale_of
from tfdist.training.optimizers.optimizer import Optimizer
from tfdist.training.optimizers.wrapping_optimizer import WrappingOptimizer

__all__ = [
    "MixedPrecisionLossScaleOptimizer", "disable_mixed_precision_graph_rewrite",
    "enable_mixed_precision_graph_rewrite",
]  # fmt: skip

_LOG = logging.getLogger("tensorflow")


class MixedPrecisionLossScaleOptimizer(WrappingOptimizer, Optimizer):
    """Multiplies the loss, and divides the gradients by as much.

    A step whose gradients are not finite is left out, if the scale can change.

    Args:
      opt: the other optimizer.
      loss_scale: a LossScale, a number, or "dynamic".

    Raises:
      ValueError: `opt` is no optimizer, or `loss_scale` something else.

    Example:
      >>> v = Variable(1.0)
      >>> inner = train.GradientDescentOptimizer(0.5)
      >>> optimizer = train.experimental.MixedPrecisionLossScaleOptimizer(inner, 8.0)
      >>> step = optimizer.minimize(v * 1.0)
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run(step)
      ...     session.run(v)
      np.float32(0.5)
    """

    def __init__(self, opt: Optimizer, loss_scale: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt, False, "MixedPrecisionLossScaleOptimizer")
        self._loss_scale: LossScale = loss_scale_of(loss_scale)

    def compute_gradients(
        self, loss: Any, var_list: Any = None, *arguments: Any, **options: Any
    ) -> list[tuple[Any, Any]]:
        """Return pairs of gradient and variable; see `Optimizer.compute_gradients`."""
        if callable(loss):
            given = loss
            scaled: Any = lambda: given() * self._scale_for(given())  # noqa: E731
        else:
            scaled = loss * self._scale_for(loss)
        pairs = self._opt.compute_gradients(scaled, var_list, *arguments, **options)
        return [(self._divided(gradient), variable) for gradient, variable in pairs]

    def _scale_for(self, value: Any) -> Any:
        scale = self._loss_scale()
        dtype = value.dtype.base_dtype
        return scale if scale.dtype is dtype else raw.Cast(scale, DstT=dtype)

    def _divided(self, gradient: Any) -> Any:
        if gradient is None:
            return None
        if isinstance(gradient, IndexedSlices):
            return IndexedSlices(
                self._divided(gradient.values), gradient.indices, gradient.dense_shape
            )
        return gradient * raw.Reciprocal(self._scale_for(gradient))

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Return an operation that applies gradients, unless one is not finite."""
        pairs = list(grads_and_vars)
        update, is_applied = self._loss_scale.update([gradient for gradient, _ in pairs])
        if is_applied is True:
            return self._opt.apply_gradients(pairs, global_step, name)

        def apply() -> Any:
            return self._opt.apply_gradients(pairs, global_step, name)

        return group(cond(is_applied, apply, no_op), update, name=name)


def enable_mixed_precision_graph_rewrite(opt: Optimizer, loss_scale: Any = "dynamic") -> Optimizer:
    """Return an optimizer that scales the loss; no node is computed in half precision.

    TensorFlow's rewrite concerns GPUs with Tensor Cores, and leaves what runs on CPUs as it is.

    Args:
      opt: the other optimizer.
      loss_scale: a LossScale, a number, or "dynamic".

    Raises:
      ValueError: `opt` is no optimizer, or `loss_scale` something else.
    """
    if not isinstance(opt, Optimizer):
        raise ValueError(
            '"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, '
            f"but got: {opt}"
        )
    _LOG.warning("Mixed precision is not simulated: all nodes keep their types")
    return MixedPrecisionLossScaleOptimizer(opt, loss_scale)


def disable_mixed_precision_graph_rewrite() -> None:
    """Do nothing: nothing is rewritten."""
