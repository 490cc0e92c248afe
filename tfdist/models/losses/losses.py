"""tf.losses: what is compared with what, weighted, reduced to a number, and remembered.

Every loss is added to the collection LOSSES, whose sum `get_total_loss` returns. Labels come first;
in tf.contrib.losses (`legacy_losses`) they came second.

Source: TF 1.15 API documentation, tf.losses.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import control_dependencies, name_scope
from tfdist.models.losses.loss_collections import add_loss
from tfdist.models.losses.weighted_loss import (
    MEAN,
    compute_weighted_loss,
    number_present,
    safe_ratio,
)
from tfdist.models.losses.weights import assert_broadcastable, fitted, remove_squeezable_dimensions
from tfdist.ops.array.cast import cast
from tfdist.ops.array.fill import ones_like, zeros_like
from tfdist.ops.array.range import range as range_of
from tfdist.ops.array.shape import rank, shape
from tfdist.ops.control_flow.identity_group import stop_gradient
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn.cross_entropy import (
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from tfdist.ops.nn.sigmoid_cross_entropy import sigmoid_cross_entropy_with_logits
from tfdist.ops.variables.collections import GraphKeys

__all__ = [
    "absolute_difference", "cosine_distance", "hinge_loss", "huber_loss", "log_loss",
    "mean_pairwise_squared_error", "mean_squared_error",
    "sigmoid_cross_entropy", "softmax_cross_entropy", "sparse_softmax_cross_entropy",
]  # fmt: skip


def _pair(labels: Any, predictions: Any) -> tuple[Tensor, Tensor]:
    """Return both as float32, predictions first."""
    predictions = cast(predictions, dtypes.float32)
    labels = cast(labels, dtypes.float32)
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return predictions, labels


def _require(**given: Any) -> None:
    for name, value in given.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = MEAN,
) -> Tensor:
    """Return |predictions - labels|, weighted and reduced.

    Args:
      labels: a tensor of numbers.
      predictions: of the same shape.
      weights: a scalar, or of the same rank: each size is 1 or that of labels.
      scope: name scope of the nodes.
      loss_collection: collection that the loss is added to; None for none.
      reduction: one of `Reduction`.

    Returns:
      The loss, float32; a scalar unless `reduction` is NONE.

    Raises:
      ValueError: shapes do not fit, or labels or predictions are None.

    Example:
      >>> Session().run(losses.absolute_difference([1.0, 2.0], [2.0, 5.0]))
      np.float32(2.0)
    """
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as name:
        predictions, labels = _pair(labels, predictions)
        losses = raw.Abs(raw.Sub(predictions, labels))
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = MEAN,
    dim: int | None = None,
) -> Tensor:
    """Return 1 - the inner product of labels and predictions, weighted and reduced.

    Both are unit vectors along `axis` already (see `nn.l2_normalize`). `dim` is the old name of
    `axis`; the other arguments are those of `absolute_difference`.

    Raises:
      ValueError: there is no axis, or as `absolute_difference`.

    Example:
      >>> Session().run(losses.cosine_distance([[1.0, 0.0]], [[0.0, 1.0]], axis=1))
      np.float32(1.0)
    """
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as name:
        predictions, labels = _pair(labels, predictions)
        product = reduce_sum(raw.Mul(predictions, labels), [axis], keepdims=True)
        losses = raw.Sub(1.0, product, name="sub")
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = MEAN,
) -> Tensor:
    """Return max(0, 1 - logits) where labels are 1, max(0, 1 + logits) where they are 0.

    The arguments are those of `absolute_difference`.

    Example:
      >>> Session().run(losses.hinge_loss([1.0, 0.0], [0.5, 0.5]))
      np.float32(1.0)
    """
    _require(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", [logits, labels, weights]) as name:
        logits, labels = _pair(labels, logits)
        ones = ones_like(labels)
        signs = raw.Sub(raw.Mul(2.0, labels, name="mul"), ones)
        losses = raw.Relu(raw.Sub(ones, raw.Mul(signs, logits)))
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = MEAN,
) -> Tensor:
    """Return half the squared error, but linear in it where it is larger than `delta`.

    The other arguments are those of `absolute_difference`.

    Example:
      >>> Session().run(losses.huber_loss([0.0, 0.0], [1.0, 3.0]))
      np.float32(1.5)
    """
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss", [predictions, labels, weights]) as name:
        predictions, labels = _pair(labels, predictions)
        error = raw.Abs(raw.Sub(predictions, labels))
        quadratic = raw.Minimum(error, delta)
        linear = raw.Sub(error, quadratic)
        half = convert_to_tensor(0.5, quadratic.dtype)
        losses = raw.Add(raw.Mul(half, raw.Mul(quadratic, quadratic)), raw.Mul(delta, linear))
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = MEAN,
) -> Tensor:
    """Return the cross-entropy (nats) of labels and predictions, chances of being 1.

    `epsilon` is added before logarithms. The other arguments are those of `absolute_difference`.

    Example:
      >>> Session().run(losses.log_loss([1.0, 0.0], [0.5, 0.5]))  # doctest: +ELLIPSIS
      np.float32(0.69314...)
    """
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as name:
        predictions, labels = _pair(labels, predictions)
        ones = raw.Neg(raw.Mul(labels, raw.Log(predictions + epsilon)))
        zeros = raw.Mul(1 - labels, raw.Log(1 - predictions + epsilon))
        return compute_weighted_loss(ones - zeros, weights, name, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """Return how much differences between elements of an example differ from those of labels.

    For each example, the mean over pairs of elements of the squared difference of differences.

    Args:
      labels: [batch, ...].
      predictions: of the same shape.
      weights: a scalar, or [batch], or of the same rank: each size is 1 or that of labels.
      scope: name scope of the nodes.
      loss_collection: collection that the loss is added to; None for none.

    Example: adding 7 to all predictions costs nothing.
      >>> loss = losses.mean_pairwise_squared_error([[1.0, 2.0]], [[8.0, 9.0]])
      >>> Session().run(loss)
      np.float32(0.0)
    """
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        weights = cast(weights, dtypes.float32)
        labels = cast(labels, dtypes.float32)
        with control_dependencies([assert_broadcastable(weights, labels)]):
            predictions, labels = _pair(labels, predictions)
            differences = raw.Sub(predictions, labels)
            loss = _pairwise(differences, weights)
        add_loss(loss, loss_collection)
        return loss


def _pairwise(differences: Any, weights: Any) -> Any:
    axes = range_of(1, rank(differences))
    squares = reduce_sum(raw.Square(differences), axes, keepdims=True)
    present: Any = number_present(differences, weights, per_batch=True)
    term: Any = 2.0 * safe_ratio(squares, raw.Maximum(present - 1, 0.0))
    total = reduce_sum(differences, axes, keepdims=True)
    squared = raw.Square(total)
    pairs = raw.Maximum(raw.Mul(present, present - 1), 0.0)
    other = 2.0 * safe_ratio(squared, pairs)
    loss = reduce_sum(raw.Mul(term - other, weights))
    return where(raw.Greater(reduce_sum(present), 0.0), loss, zeros_like(loss), name="value")


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = MEAN,
) -> Tensor:
    """Return (predictions - labels)**2, weighted and reduced.

    The arguments are those of `absolute_difference`.

    Example:
      >>> Session().run(losses.mean_squared_error([1.0, 2.0], [2.0, 5.0]))
      np.float32(5.0)
    """
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as name:
        predictions, labels = _pair(labels, predictions)
        losses = raw.SquaredDifference(predictions, labels)
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = MEAN,
) -> Tensor:
    """Return the cross-entropy (nats) of labels in {0, 1} under sigmoid(logits).

    With `label_smoothing` above 0 labels move that far towards 1/2. The other arguments are those
    of `absolute_difference`.

    Example:
      >>> Session().run(losses.sigmoid_cross_entropy([[1, 0]], [[0.0, 0.0]]))
      np.float32(0.6931472)
    """
    _require(multi_class_labels=multi_class_labels, logits=logits)
    with name_scope(
        scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]
    ) as name:
        logits = convert_to_tensor(logits)
        labels = cast(multi_class_labels, logits.dtype)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = MEAN,
) -> Tensor:
    """Return the cross-entropy (nats) of distributions `onehot_labels` under softmax(logits).

    With `label_smoothing` above 0 labels move that far towards 1 / classes. Weights are a scalar,
    [batch] or [batch, 1]; the other arguments are those of `absolute_difference`.

    Example:
      >>> Session().run(losses.softmax_cross_entropy([[1.0, 0.0]], [[0.0, 0.0]]))
      np.float32(0.6931472)
    """
    _require(onehot_labels=onehot_labels, logits=logits)
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as name:
        logits = convert_to_tensor(logits)
        labels = cast(onehot_labels, logits.dtype)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        if label_smoothing > 0:
            labels = _smoothed(labels, label_smoothing, shape(labels), logits.dtype)
        labels = stop_gradient(labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits_v2(labels, logits, name="xentropy")
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def _smoothed(labels: Any, smoothing: float, sizes: Any, dtype: Any) -> Any:
    negatives = smoothing / cast(sizes[-1], dtype)
    return labels * (1.0 - smoothing) + negatives


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = MEAN,
) -> Tensor:
    """Return the cross-entropy (nats) of the classes `labels` under softmax(logits).

    Args:
      labels: int32 or int64 [batch] or [batch, 1], numbers of classes.
      logits: [batch, classes].
      weights: a scalar, [batch] or [batch, 1].
      scope: name scope of the nodes.
      loss_collection: collection that the loss is added to; None for none.
      reduction: one of `Reduction`.

    Returns:
      The loss, of the type of logits; a scalar unless `reduction` is NONE.

    Raises:
      ValueError: shapes do not fit, or labels or logits are None.

    Example:
      >>> Session().run(losses.sparse_softmax_cross_entropy([1], [[0.0, 0.0]]))
      np.float32(0.6931472)
    """
    _require(labels=labels, logits=logits)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as name:
        labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        weights = fitted(weights, labels)
        losses = sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)
