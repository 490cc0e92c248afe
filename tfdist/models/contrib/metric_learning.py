"""tf.contrib.losses.metric_learning: losses that bring embeddings of one label near each other.

Source: TF 1.15 API documentation, tf.contrib.losses.metric_learning; the papers that it names.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.fill import ones_like
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.array.transpose import transpose
from tfdist.ops.checks.print_assert import Print
from tfdist.ops.linalg.diag import matrix_diag
from tfdist.ops.math.comparison import where_v2
from tfdist.ops.math.matmul import matmul
from tfdist.ops.math.reductions import reduce_max, reduce_mean, reduce_min, reduce_sum
from tfdist.ops.nn.cross_entropy import softmax_cross_entropy_with_logits

__all__ = ["contrastive_loss", "lifted_struct_loss", "npairs_loss", "triplet_semihard_loss"]

_TINY = 1e-16  # what the root of a distance 0 is taken of: its slope is not infinite


def contrastive_loss(
    labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0
) -> Tensor:
    """Return how far pairs of one label are apart, and how near others are, squared: the mean.

    Args:
      labels: int32 [batch]: 1 for a pair of one label, else 0.
      embeddings_anchor: float32 [batch, size], the first of each pair.
      embeddings_positive: of the same shape, the second.
      margin: from this distance on pairs of two labels cost nothing.

    Example:
      >>> Session().run(contrib.losses.metric_learning.contrastive_loss([1], [[3.0]], [[1.0]]))
      np.float32(4.0)
    """
    squares = raw.SquaredDifference(embeddings_anchor, embeddings_positive)
    distances = raw.Sqrt(reduce_sum(squares, 1))
    same: Any = cast(convert_to_tensor(labels), dtypes.float32)
    near = raw.Square(raw.Maximum(margin - distances, 0.0))
    costs = same * raw.Square(distances) + (1.0 - same) * near
    return reduce_mean(costs, name="contrastive_loss")  # type: ignore[no-any-return]


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Tensor:
    """Return how much nearer embeddings of one label should be than the nearest other beyond them.

    Args:
      labels: int32 [batch].
      embeddings: float32 [batch, size], of length 1 each.
      margin: by how much nearer, in squared distance.

    Returns:
      The mean over all pairs of one label; NaN if there are none.

    Raises:
      AssertionError: labels are not one axis.

    Example: the pair is 1 apart, the other label 9 and 4.
      >>> loss = contrib.losses.metric_learning.triplet_semihard_loss
      >>> Session().run(loss([0, 0, 1], [[0.0], [1.0], [3.0]], margin=6.0))
      np.float32(1.5)
    """
    same, others = _pairs(labels)
    distances = _squared_distances(convert_to_tensor(embeddings))
    beyond = raw.Greater(expand_dims(distances, 1), expand_dims(distances, 2))
    chosen: Any = cast(raw.LogicalAnd(expand_dims(others, 1), beyond), dtypes.float32)
    nearest = _masked_least(expand_dims(distances, 1), chosen, 2)
    farthest = _masked_greatest(distances, cast(others, dtypes.float32), 1)
    is_any = raw.Greater(reduce_sum(chosen, 2), 0.0)
    negatives = where_v2(is_any, nearest, farthest)
    costs: Any = raw.Maximum((margin + distances - negatives) * same, 0.0)
    return raw.RealDiv(reduce_sum(costs), reduce_sum(same), name="triplet_semihard_loss")  # type: ignore[no-any-return]


def lifted_struct_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Tensor:
    """Return how far pairs of one label are apart, against all others near either of the two.

    Args:
      labels: int32 [batch].
      embeddings: float32 [batch, size].
      margin: from this distance on others count little.

    Returns:
      Half of the mean over pairs of one label of max(0, J)**2, where J is their distance and the
      logarithm of the sum of exp(margin - distance) over the others of both.

    Raises:
      AssertionError: labels are not one axis.

    Example:
      >>> loss = contrib.losses.metric_learning.lifted_struct_loss
      >>> Session().run(loss([0, 0, 1], [[0.0], [1.0], [0.5]]))  # doctest: +ELLIPSIS
      np.float32(2.40...)
    """
    same, others = _pairs(labels)
    distances = _distances(_squared_distances(convert_to_tensor(embeddings)))
    nearness = margin - distances
    counted: Any = cast(others, dtypes.float32)
    greatest = _masked_greatest(nearness, counted, 1)
    shift: Any = raw.Maximum(greatest, transpose(greatest))
    shifted: Any = raw.Sub(expand_dims(nearness, 1), expand_dims(shift, 2))
    parts: Any = raw.Mul(raw.Exp(shifted), expand_dims(counted, 1))
    sums: Any = reduce_sum(parts, 2)
    scores = raw.Log(sums + transpose(sums)) + shift + distances
    costs = raw.Square(raw.Maximum(scores * same, 0.0))
    pairs: Any = reduce_sum(same)
    total: Any = reduce_sum(costs)
    return raw.RealDiv(0.25 * total, pairs / 2.0, name="liftedstruct_loss")  # type: ignore[no-any-return]


def npairs_loss(
    labels: Any,
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Tensor:
    """Return the cross-entropy (nats) of labels under the products of anchors and positives.

    Args:
      labels: int32 [pairs].
      embeddings_anchor: float32 [pairs, size].
      embeddings_positive: of the same shape.
      reg_lambda: how much the squared lengths of embeddings cost.
      print_losses: whether both parts are printed whenever they are computed.

    Example:
      >>> loss = contrib.losses.metric_learning.npairs_loss
      >>> Session().run(loss([0, 1], [[0.0], [0.0]], [[1.0], [1.0]], 0.0))
      np.float32(0.6931472)
    """
    anchors, positives = map(convert_to_tensor, (embeddings_anchor, embeddings_positive))
    lengths: Any = [reduce_mean(reduce_sum(raw.Square(each), 1)) for each in (anchors, positives)]
    regular = 0.25 * reg_lambda * (lengths[0] + lengths[1])
    labels = convert_to_tensor(labels)
    same: Any = cast(raw.Equal(expand_dims(labels, 1), expand_dims(labels, 0)), dtypes.float32)
    wanted = same / reduce_sum(same, 1, keepdims=True)
    logits = matmul(anchors, positives, transpose_b=True)
    entropy: Any = reduce_mean(softmax_cross_entropy_with_logits(labels=wanted, logits=logits))
    if print_losses:
        entropy = Print(entropy, ["cross entropy:", entropy, "l2loss:", regular])
    return regular + entropy  # type: ignore[no-any-return]


# distances


def _pairs(labels: Any) -> tuple[Any, Any]:
    """Return which pairs are of one label, as float32 without the diagonal, and which are not."""
    labels = convert_to_tensor(labels)
    if labels.plain_shape is None or len(labels.plain_shape) != 1:
        raise AssertionError(f"labels need shape [batch], got {labels!r}; tf.reshape(labels, [-1])")
    equal = raw.Equal(expand_dims(labels, 1), expand_dims(labels, 0))
    return cast(equal, dtypes.float32) - _diagonal(labels), raw.LogicalNot(equal)


def _diagonal(labels: Tensor) -> Any:
    return matrix_diag(ones_like(cast(labels, dtypes.float32)))


def _squared_distances(embeddings: Tensor) -> Any:
    """Return the squared distances of all pairs, [batch, batch], 0 on the diagonal."""
    lengths: Any = reduce_sum(raw.Square(embeddings), 1, keepdims=True)
    products: Any = matmul(embeddings, embeddings, transpose_b=True)
    found: Any = raw.Maximum(lengths + transpose(lengths) - 2.0 * products, 0.0)
    return found * (1.0 - _diagonal(lengths[:, 0]))


def _distances(squares: Any) -> Any:
    """Return the roots; where a square is 0, neither value nor slope."""
    is_zero: Any = cast(raw.LessEqual(squares, 0.0), dtypes.float32)
    return raw.Sqrt(squares + is_zero * _TINY) * (1.0 - is_zero)


def _masked_greatest(values: Any, mask: Any, axis: int) -> Any:
    """Return the greatest value of those in the mask along an axis; the least without any."""
    least: Any = reduce_min(values, axis, keepdims=True)
    greatest: Any = reduce_max((values - least) * mask, axis, keepdims=True)
    return greatest + least


def _masked_least(values: Any, mask: Any, axis: int) -> Any:
    """Return the least value of those in the mask along an axis, which is dropped."""
    greatest: Any = reduce_max(values, axis, keepdims=True)
    least: Any = reduce_min((values - greatest) * mask, axis, keepdims=True)
    return (least + greatest)[..., 0]
