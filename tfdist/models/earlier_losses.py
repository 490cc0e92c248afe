"""tf.contrib.losses, also slim.losses: tf.losses as they were, with predictions first.

Source: TF 1.15 API documentation, tf.contrib.losses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.models import losses, weighted_loss
from tfdist.models.loss_collections import (
    add_loss,
    get_losses,
    get_regularization_losses,
    get_total_loss,
)

__all__ = [
    "absolute_difference", "add_loss", "compute_weighted_loss", "cosine_distance", "get_losses",
    "get_regularization_losses", "get_total_loss", "hinge_loss", "log_loss",
    "mean_pairwise_squared_error", "mean_squared_error", "sigmoid_cross_entropy",
    "softmax_cross_entropy", "sparse_softmax_cross_entropy",
]  # fmt: skip


def compute_weighted_loss(losses_: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """Do as `tf.losses.compute_weighted_loss`.

    Example:
      >>> Session().run(contrib.losses.compute_weighted_loss([1.0, 3.0]))
      np.float32(2.0)
    """
    return weighted_loss.compute_weighted_loss(losses_, weights, scope)


def _earlier(name: str, arguments: str, example: str, found: str) -> Callable[..., Any]:
    """Return a loss of tf.losses that takes its first two arguments in the other order."""
    later: Any = getattr(losses, name)

    def function(predictions: Any = None, labels: Any = None, *rest: Any, **options: Any) -> Any:
        renamed = {"onehot_labels", "multi_class_labels"} & set(options)
        predictions = options.pop("logits", predictions)
        labels = options.pop(renamed.pop()) if renamed else labels
        return later(labels, predictions, *rest, **options)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Do as `tf.losses.{name}`, with {arguments} first.

    Example:
      >>> Session().run(contrib.losses.{name}({example}))
      {found}
    """
    return function


_NUMBERS = "constant([1.0, 4.0]), constant([1.0, 2.0])"
_LOGITS = "constant([[0.0, 0.0]]), constant([[1, 0]])"

absolute_difference = _earlier("absolute_difference", "predictions", _NUMBERS, "np.float32(1.0)")
mean_squared_error = _earlier("mean_squared_error", "predictions", _NUMBERS, "np.float32(2.0)")
cosine_distance = _earlier(
    "cosine_distance", "predictions", "[[1.0, 0.0]], [[0.0, 1.0]], 1", "np.float32(1.0)"
)
hinge_loss = _earlier("hinge_loss", "logits", "[0.5, 0.5], [1.0, 0.0]", "np.float32(1.0)")
log_loss = _earlier("log_loss", "predictions", "[0.5], [1.0]", "np.float32(0.69314...)")
mean_pairwise_squared_error = _earlier(
    "mean_pairwise_squared_error", "predictions", "[[8.0, 9.0]], [[1.0, 2.0]]", "np.float32(0.0)"
)
sigmoid_cross_entropy = _earlier(
    "sigmoid_cross_entropy", "logits", _LOGITS, "np.float32(0.6931472)"
)
softmax_cross_entropy = _earlier(
    "softmax_cross_entropy", "logits", _LOGITS, "np.float32(0.6931472)"
)
sparse_softmax_cross_entropy = _earlier(
    "sparse_softmax_cross_entropy", "logits", "[[0.0, 0.0]], [1]", "np.float32(0.6931472)"
)
