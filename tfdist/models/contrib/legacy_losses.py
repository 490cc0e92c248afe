"""tf.contrib.losses, also slim.losses: losses as they were before tf.losses, predictions first.

Weights weigh whole examples here: they lead the axes of the losses, which are summed over the rest.

Source: TF 1.15 API documentation, tf.contrib.losses.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.models.losses.loss_collections import (
    add_loss,
    get_losses,
    get_regularization_losses,
    get_total_loss,
)
from tfdist.models.losses.weighted_loss import safe_ratio
from tfdist.ops.array.cast import cast
from tfdist.ops.array.fill import ones, ones_like, zeros_like
from tfdist.ops.array.reshape import reshape, squeeze
from tfdist.ops.array.shape import shape, size
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_prod, reduce_sum
from tfdist.ops.nn.cross_entropy import (
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from tfdist.ops.nn.sigmoid_cross_entropy import sigmoid_cross_entropy_with_logits

__all__ = [
    "absolute_difference", "add_loss", "compute_weighted_loss", "cosine_distance", "get_losses",
    "get_regularization_losses", "get_total_loss", "hinge_loss", "log_loss",
    "mean_pairwise_squared_error", "mean_squared_error", "sigmoid_cross_entropy",
    "softmax_cross_entropy", "sparse_softmax_cross_entropy",
]  # fmt: skip


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """Return the mean of the weighted losses whose weight is not 0, and add it to LOSSES.

    Args:
      losses: numbers, [batch, ...].
      weights: a scalar, or of the shape of the first axes of `losses`, as [batch]; a last axis of
        size 1 is dropped.
      scope: name scope of the nodes.

    Returns:
      A scalar of the type of `losses`.

    Raises:
      ValueError: weights are None, or a number of axes is unknown or does not fit.

    Example: the example with weight 0 does not count.
      >>> Session().run(contrib.losses.compute_weighted_loss([[1.0, 3.0], [9.0, 9.0]], [1.0, 0.0]))
      np.float32(2.0)
    """
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        given = losses.dtype.base_dtype
        weights = _weights(losses, weights, is_squeezed=True)
        losses = cast(losses, dtypes.float32)
        total = _scaled(losses, weights)
        present = reduce_sum(_present_in_batch(losses, weights))
        mean = cast(safe_ratio(reduce_sum(total), present), given)
        add_loss(mean)
        return mean


def _weights(losses: Tensor, weights: Any, is_squeezed: bool = False) -> Tensor:
    """Return the weights as float32, `is_squeezed` without a last axis of size 1."""
    _require(weights=weights)
    weights = cast(convert_to_tensor(weights), dtypes.float32)
    if losses.plain_shape is None or weights.plain_shape is None:
        raise ValueError(
            f"losses and weights need known numbers of axes, got {losses!r} and {weights!r}; "
            "set_shape tells what is known"
        )
    if is_squeezed and len(weights.plain_shape) > 1 and weights.plain_shape[-1] == 1:
        weights = squeeze(weights, [-1])
    if _rank(weights) > len(losses.plain_shape):
        raise ValueError(f"weights have more axes than losses: {weights!r}, {losses!r}")
    return weights


def _rank(tensor: Tensor) -> int:
    return len(tensor.plain_shape or ())


def _scaled(losses: Tensor, weights: Tensor) -> Tensor:
    """Return the sum of weighted losses."""
    sums = reduce_sum(losses, list(range(_rank(weights), _rank(losses))))
    return reduce_sum(raw.Mul(sums, weights))  # type: ignore[no-any-return]


def _present_in_batch(losses: Tensor, weights: Tensor) -> Any:
    """Return how many losses of each example have a weight that is not 0."""
    if _rank(weights) == 0:
        batch = reshape(raw.Slice(shape(losses), [0], [1]), [])
        count, examples = cast(size(losses), dtypes.float32), cast(batch, dtypes.float32)
        each = raw.RealDiv(count, examples, name="div")
        each = where(raw.Equal(weights, 0.0), 0.0, each)
        return raw.Mul(ones(reshape(batch, [1])), each)
    present = cast(raw.NotEqual(weights, 0.0), dtypes.float32)
    present = reduce_sum(present, list(range(1, _rank(weights))))
    others = reduce_prod(raw.Slice(shape(losses), [_rank(weights)], [-1]))
    return raw.Mul(present, cast(others, dtypes.float32))


def _require(**given: Any) -> None:
    for name, value in given.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def _pair(predictions: Any, labels: Any) -> tuple[Any, Any]:
    """Return both as float32 tensors."""
    _require(predictions=predictions, labels=labels)
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return cast(predictions, dtypes.float32), cast(labels, dtypes.float32)


def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """Return |predictions - labels|, weighted and reduced.

    Args:
      predictions: [batch, ...].
      labels: of the same shape.
      weights: see `compute_weighted_loss`.
      scope: name scope of the nodes.

    Example:
      >>> Session().run(contrib.losses.absolute_difference([1.0, 4.0], [1.0, 2.0]))
      np.float32(1.0)
    """
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        predictions, labels = _pair(predictions, labels)
        return compute_weighted_loss(raw.Abs(raw.Sub(predictions, labels)), weights, scope)


def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """Return (predictions - labels)**2, weighted and reduced; see `absolute_difference`.

    Example:
      >>> Session().run(contrib.losses.mean_squared_error([1.0, 4.0], [1.0, 2.0]))
      np.float32(2.0)
    """
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _pair(predictions, labels)
        return compute_weighted_loss(raw.SquaredDifference(predictions, labels), weights, scope)


def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """Return 1 - the inner product along `axis` (earlier: `dim`), weighted and reduced.

    Raises:
      ValueError: there is no axis.

    Example:
      >>> Session().run(contrib.losses.cosine_distance([[1.0, 0.0]], [[0.0, 1.0]], 1))
      np.float32(1.0)
    """
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _pair(predictions, labels)
        product = reduce_sum(raw.Mul(predictions, labels), [axis])
        return compute_weighted_loss(raw.Sub(1.0, product, name="sub"), weights, scope)


def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Tensor:
    """Return max(0, 1 - (2 labels - 1) logits) of each element: neither reduced nor remembered.

    Args:
      logits: float32 [batch, ...].
      labels: of the same shape, 0 or 1.
      scope: name scope of the nodes.

    Example:
      >>> Session().run(contrib.losses.hinge_loss([0.5, 0.5], [1.0, 0.0]))
      array([0.5, 1.5], dtype=float32)
    """
    with name_scope(scope, "hinge_loss", [logits, labels]):
        _require(labels=labels)
        logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        labels = cast(labels, dtypes.float32)
        all_ones = ones_like(labels)
        signs = raw.Sub(raw.Mul(2.0, labels, name="mul"), all_ones)
        loss: Tensor = raw.Relu(raw.Sub(all_ones, raw.Mul(signs, logits)))
        return loss


def log_loss(
    predictions: Any,
    labels: Any = None,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Tensor:
    """Return the cross-entropy (nats) of labels and predictions, chances of being 1.

    `epsilon` is added before logarithms; for the others see `absolute_difference`.

    Example:
      >>> Session().run(contrib.losses.log_loss([0.5], [1.0]))  # doctest: +ELLIPSIS
      np.float32(0.69314...)
    """
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _pair(predictions, labels)
        positive = raw.Neg(raw.Mul(labels, raw.Log(predictions + epsilon)))
        negative = raw.Mul(1 - labels, raw.Log(1 - predictions + epsilon))
        return compute_weighted_loss(positive - negative, weights, scope)


def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """Return how much differences between elements of an example differ from those of labels.

    It counts each pair of the n elements of an example, n**2 pairs; tf.losses counts n (n - 1).
    The arguments are those of `absolute_difference`.

    Example: adding 7 to all predictions costs nothing.
      >>> Session().run(contrib.losses.mean_pairwise_squared_error([[8.0, 9.0]], [[1.0, 2.0]]))
      np.float32(0.0)
    """
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        predictions, labels = _pair(predictions, labels)
        weights = _weights(predictions, weights)
        differences = raw.Sub(predictions, labels)
        axes = list(range(1, _rank(differences)))
        squares = reduce_sum(raw.Square(differences), axes)
        present = _present_in_batch(differences, weights)
        term: Any = 2.0 * safe_ratio(squares, present)
        total = reduce_sum(differences, axes)
        other = 2.0 * safe_ratio(raw.Square(total), raw.Square(present))
        loss = _scaled(term - other, weights)
        is_any = raw.Greater(reduce_sum(present), 0.0)
        mean: Tensor = where(is_any, loss, zeros_like(loss), name="value")
        add_loss(mean)
        return mean


def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """Return the cross-entropy (nats) of labels in {0, 1} under sigmoid(logits).

    With `label_smoothing` above 0 labels move that far towards 1/2; for the others see
    `absolute_difference`.

    Example:
      >>> Session().run(contrib.losses.sigmoid_cross_entropy([[0.0, 0.0]], [[1, 0]]))
      np.float32(0.6931472)
    """
    with name_scope(
        scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]
    ) as scope:
        logits, labels = _labelled(logits, multi_class_labels)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope)


def _labelled(logits: Any, labels: Any) -> tuple[Tensor, Any]:
    """Return logits, and labels of their type."""
    logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
    logits.get_shape().assert_is_compatible_with(labels.get_shape())
    return logits, cast(labels, logits.dtype.base_dtype)


def softmax_cross_entropy(
    logits: Any,
    onehot_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """Return the cross-entropy (nats) of distributions under softmax(logits).

    With `label_smoothing` above 0 labels move that far towards 1 / classes; weights are a scalar,
    [batch] or [batch, 1].

    Example:
      >>> Session().run(contrib.losses.softmax_cross_entropy([[0.0, 0.0]], [[1, 0]]))
      np.float32(0.6931472)
    """
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as scope:
        logits, labels = _labelled(logits, onehot_labels)
        if label_smoothing > 0:
            sizes: Any = shape(labels)
            classes: Any = cast(sizes[1], logits.dtype)
            negatives = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + negatives
        losses = softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope)


def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """Return the cross-entropy (nats) of classes under softmax(logits).

    Args:
      logits: [batch, classes].
      labels: int32 or int64 [batch] or [batch, 1], numbers of classes.
      weights: a scalar, [batch] or [batch, 1].
      scope: name scope of the nodes.

    Example:
      >>> Session().run(contrib.losses.sparse_softmax_cross_entropy([[0.0, 0.0]], [1]))
      np.float32(0.6931472)
    """
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        labels = convert_to_tensor(labels)
        count: Any = shape(labels)
        labels = reshape(labels, [count[0]])
        losses = sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope)
