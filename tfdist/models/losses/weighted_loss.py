"""Losses times weights, reduced to a number.

Source: TF 1.15 API documentation, tf.losses.compute_weighted_loss.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import control_dependencies, name_scope
from tfdist.models.losses.loss_collections import add_loss
from tfdist.models.losses.weights import assert_broadcastable, broadcast_weights
from tfdist.ops.array.cast import cast
from tfdist.ops.array.fill import ones_like, zeros_like
from tfdist.ops.array.range import range as range_of
from tfdist.ops.array.shape import rank, size
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.variables.collections import GraphKeys

__all__ = ["Reduction", "compute_weighted_loss"]


class Reduction:
    """How losses become one number.

    Attributes:
      NONE: not at all: they keep their shape.
      SUM: the sum of weighted losses.
      MEAN: that divided by the sum of weights.
      SUM_OVER_BATCH_SIZE: that divided by the number of losses.
      SUM_BY_NONZERO_WEIGHTS: that divided by the number of losses whose weight is not 0.

    Example:
      >>> losses.Reduction.SUM
      'weighted_sum'
    """

    NONE = "none"
    SUM = "weighted_sum"
    MEAN = "weighted_mean"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Return all ways."""
        return (
            cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )  # fmt: skip

    @classmethod
    def validate(cls, key: str) -> None:
        """Raise ValueError unless `key` is one of them."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}; there are {', '.join(cls.all())}")


MEAN = Reduction.SUM_BY_NONZERO_WEIGHTS


def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = MEAN,
) -> Tensor:
    """Return `losses` times `weights`, reduced, and add that to a collection.

    Args:
      losses: a tensor of numbers, one an example or more.
      weights: a scalar, or of the same rank: each size is 1 or that of losses.
      scope: name scope of the nodes.
      loss_collection: collection that the loss is added to; None for none.
      reduction: one of `Reduction`.

    Returns:
      The loss, of the type of `losses`; a scalar unless `reduction` is NONE.

    Raises:
      ValueError: weights do not broadcast to losses, or the reduction is unknown.

    Example: the loss with weight 0 does not count.
      >>> Session().run(losses.compute_weighted_loss([1.0, 9.0, 3.0], [1.0, 0.0, 1.0]))
      np.float32(2.0)
    """
    Reduction.validate(reduction)
    with (
        name_scope(scope, "weighted_loss", [losses, weights]),
        control_dependencies([assert_broadcastable(weights, losses)]),
    ):
        losses = convert_to_tensor(losses)
        given = losses.dtype.base_dtype
        losses, weights = cast(losses, dtypes.float32), cast(weights, dtypes.float32)
        weighted = raw.Mul(losses, weights)
        loss = cast(_reduced(weighted, losses, weights, reduction), given)
        add_loss(loss, loss_collection)
        return loss


def _reduced(weighted: Tensor, losses: Tensor, weights: Tensor, reduction: str) -> Tensor:
    if reduction == Reduction.NONE:
        return weighted
    total = reduce_sum(weighted)
    if reduction == Reduction.SUM:
        return total
    if reduction == Reduction.MEAN:
        count = reduce_sum(raw.Mul(ones_like(losses), weights, name="mul"))
    elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
        count = _number_of(losses)
    else:
        count = number_present(losses, weights)
    return safe_ratio(reduce_sum(total), count)


def safe_ratio(total: Any, count: Any) -> Any:
    """Return total / count, 0 where the count is 0."""
    return raw.DivNoNan(total, count, name="value")


def _number_of(losses: Tensor) -> Tensor:
    with name_scope(None, "num_elements", [losses]) as scope:
        return cast(size(losses, name=scope), losses.dtype)  # type: ignore[no-any-return]


def number_present(losses: Tensor, weights: Any, per_batch: bool = False) -> Tensor:
    """Return how many losses have a weight that is not 0: all together, or in each example."""
    with name_scope(None, "num_present", [losses, weights]) as scope:
        weights = cast(weights, dtypes.float32)
        is_zero = raw.Equal(weights, 0.0)
        nothing = zeros_like(weights)
        present = broadcast_weights(where(is_zero, nothing, ones_like(weights)), losses)
        if not per_batch:
            return reduce_sum(present, name=scope)
        axes = range_of(1, rank(present))
        return reduce_sum(present, axes, keepdims=True, name=scope)
