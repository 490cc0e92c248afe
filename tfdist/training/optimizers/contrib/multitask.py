"""For networks that learn several tasks, of which a step has gradients of some only.

Source: TF 1.15 API documentation, tf.contrib.opt.MultitaskOptimizerWrapper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.graph.operation import Tensor
from tfdist.ops.array.fill import zeros
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import no_op
from tfdist.ops.math.clip import clip_by_global_norm, global_norm
from tfdist.ops.math.comparison import equal
from tfdist.ops.math.composed_reductions import count_nonzero
from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer

__all__ = ["MultitaskOptimizerWrapper", "clip_gradients_by_global_norm"]

_METHODS = (
    "_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse",
)  # fmt: skip


class MultitaskOptimizerWrapper:
    """An optimizer that leaves a variable and its slots as they are where a gradient is all zeros.

    So the momentum of one task's layers does not fade while another is trained. What is not said
    here is that of the optimizer inside, which is changed.

    Args:
      opt: Optimizer inside.

    Raises:
      TypeError: it is no Optimizer.

    Example:
      >>> w, is_trained = Variable(4.0), placeholder_with_default(0.0, [])
      >>> optimizer = contrib.opt.MultitaskOptimizerWrapper(train.MomentumOptimizer(1.0, 0.5))
      >>> step = optimizer.minimize(w * is_trained, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     for now in (1.0, 0.0, 1.0):
      ...         _ = session.run([step], {is_trained: now})
      ...     session.run(w)
      np.float32(1.5)
    """

    def __init__(self, opt: Optimizer) -> None:
        if not isinstance(opt, Optimizer):
            raise TypeError(
                f"Supplied optimizer must be an instance of tf.train.Optimizer, not {opt!r}"
            )
        self._opt = opt
        for name in _METHODS:
            setattr(opt, name, _where_not_zero(getattr(opt, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def _where_not_zero(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that does what `method` does, unless the gradient is all zeros."""

    def guarded(grad: Any, *args: Any) -> Any:
        return cond(_is_all_zeros(grad), no_op, lambda: method(grad, *args))

    return guarded


def _is_all_zeros(gradient: Any) -> Tensor:
    return equal(count_nonzero(gradient), 0)


def clip_gradients_by_global_norm(
    gradients_variables: Sequence[GradientAndVariable], clip_norm: float = 20.0
) -> list[GradientAndVariable]:
    """Return gradients that together have no greater norm than `clip_norm`, and their variables.

    Args:
      gradients_variables: pairs, as `compute_gradients` returns them; gradients that are all zeros
        do not count for the norm.
      clip_norm: the greatest norm.

    Example:
      >>> w = Variable([0.0, 0.0])
      >>> [(clipped, _)] = contrib.opt.clip_gradients_by_global_norm(
      ...     [(constant([3.0, 4.0]), w)], 1.0
      ... )
      >>> Session().run(clipped)
      array([0.6, 0.8], dtype=float32)
    """
    gradients = [gradient for gradient, _ in gradients_variables]
    counted = [_counted(gradient) for gradient in gradients]
    clipped, _ = clip_by_global_norm(gradients, clip_norm, use_norm=global_norm(counted))
    pairs = zip(clipped, (variable for _, variable in gradients_variables), strict=True)
    return list(pairs)


def _counted(gradient: Any) -> Any:
    if gradient is None:
        return None
    return cond(_is_all_zeros(gradient), lambda: zeros([]), lambda: gradient)
