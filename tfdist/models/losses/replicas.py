"""Losses of batches that are parts of a greater one.

Source: TF 1.15 API documentation, tf.nn.compute_average_loss.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.shape import size
from tfdist.ops.math.reductions import reduce_sum

__all__ = ["compute_average_loss", "scale_regularization_loss"]


def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Tensor:
    """Return the sum of losses, each times its weight, divided by the size of the whole batch.

    Args:
      per_example_loss: [examples].
      sample_weight: [examples], or a scalar; 1 by default.
      global_batch_size: of all replicas together; the number of losses by default, as there is one
        replica.

    Example:
      >>> float(Session().run(nn.compute_average_loss([1.0, 3.0], global_batch_size=8)))
      0.5
    """
    losses = convert_to_tensor(per_example_loss)
    if sample_weight is not None:
        losses = losses * cast(convert_to_tensor(sample_weight), losses.dtype)
    count = size(losses) if global_batch_size is None else global_batch_size
    return reduce_sum(losses) / cast(count, losses.dtype)


def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """Return the sum of losses divided by the number of replicas, which is 1.

    Example:
      >>> float(Session().run(nn.scale_regularization_loss([1.0, 2.0])))
      3.0
    """
    return reduce_sum(regularization_loss)
