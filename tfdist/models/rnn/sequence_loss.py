"""Losses of sequences: cross entropy with weights, for lists of steps and for whole tensors.

Source: TF 1.15 API documentation, tf.contrib.legacy_seq2seq.sequence_loss,
sequence_loss_by_example, and tf.contrib.seq2seq.sequence_loss.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.math.add_n import add_n
from tfdist.ops.math.composed_reductions import count_nonzero
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits

__all__ = ["sequence_loss", "sequence_loss_by_example"]

Loss = Callable[..., Any]


def sequence_loss_by_example(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    softmax_loss_function: Loss | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the weighted cross entropy of each sequence of a batch: a vector [batch].

    Args:
      logits: a list of tensors [batch, symbols], one for each step.
      targets: a list of int tensors [batch].
      weights: a list of float tensors [batch].
      average_across_timesteps: whether the sum is divided by the sum of the weights.
      softmax_loss_function: function of `labels` and `logits`, by these names, to use instead of
        the softmax's cross entropy.
      name: of the nodes' scope.

    Raises:
      ValueError: the lists differ in length.

    Example:
      >>> loss = contrib.legacy_seq2seq.sequence_loss_by_example
      >>> Session().run(loss([zeros([1, 4])], [constant([2])], [ones([1])]))
      array([1.3862944], dtype=float32)
    """
    if not len(logits) == len(targets) == len(weights):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )
    with scopes.name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                target = reshape(target, [-1])
                loss: Any = sparse_softmax_cross_entropy_with_logits(labels=target, logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total: Any = add_n(losses)
        if average_across_timesteps:
            size: Any = add_n(weights)
            total = total / (size + 1e-12)  # not 0, if all weights are
        return total  # type: ignore[no-any-return]


def legacy_sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Loss | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the weighted cross entropy of a batch of sequences: a scalar.

    Args:
      logits: a list of tensors [batch, symbols], one for each step.
      targets: a list of int tensors [batch].
      weights: a list of float tensors [batch].
      average_across_timesteps: whether a sequence's sum is divided by the sum of its weights.
      average_across_batch: whether the sum is divided by the number of sequences.
      softmax_loss_function: see `sequence_loss_by_example`.
      name: of the nodes' scope.
    """
    with scopes.name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = reduce_sum(
            sequence_loss_by_example(
                logits, targets, weights, average_across_timesteps, softmax_loss_function
            )
        )
        if not average_across_batch:
            return cost
        sizes: Any = shape(targets[0])
        tensor: Tensor = cost / cast(sizes[0], cost.dtype)
        return tensor


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Loss | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the weighted cross entropy of a batch of sequences.

    Args:
      logits: float tensor [batch, time, symbols].
      targets: int tensor [batch, time].
      weights: float tensor [batch, time].
      average_across_timesteps: whether to sum up along time, and divide by the sum of weights.
      average_across_batch: whether to do so along the batch.
      sum_over_timesteps: whether to sum up along time, and divide by the number of weights that
        are not 0.
      sum_over_batch: whether to do so along the batch.
      softmax_loss_function: see `tf.contrib.legacy_seq2seq.sequence_loss_by_example`.
      name: of the nodes' scope.

    Returns:
      A tensor [batch, time] without the axes that are summed up; by default a scalar.

    Raises:
      ValueError: a tensor is of another rank, or an axis is to be averaged and summed over.

    Example:
      >>> logits, targets = zeros([2, 3, 4]), zeros([2, 3], "int32")
      >>> Session().run(contrib.seq2seq.sequence_loss(logits, targets, ones([2, 3])))
      np.float32(1.3862944)
    """
    logits, targets, weights = map(convert_to_tensor, (logits, targets, weights))
    _check_ranks(logits, targets, weights)
    averaged = (average_across_timesteps, average_across_batch)
    summed = (sum_over_timesteps, sum_over_batch)
    for what, both in zip(("timesteps", "batch"), zip(averaged, summed, strict=True), strict=True):
        if all(both):
            raise ValueError(
                f"average_across_{what} and sum_over_{what} cannot be set to True at same time."
            )
    with scopes.name_scope(name, "sequence_loss", [logits, targets, weights]):
        losses = _losses(logits, targets, weights, softmax_loss_function)
        if all(averaged) or all(summed):
            return _divided(reduce_sum(losses), weights, None, all(summed))
        losses = reshape(losses, shape(logits)[:2])  # type: ignore[index]
        chosen = averaged if any(averaged) else summed  # an average over one axis is enough
        if not any(chosen):
            return losses
        axis = [1 if chosen[0] else 0]
        return _divided(reduce_sum(losses, axis), weights, axis, chosen is summed)


def _check_ranks(logits: Tensor, targets: Tensor, weights: Tensor) -> None:
    if logits.plain_shape is not None and len(logits.plain_shape) != 3:
        raise ValueError(
            "Logits must be a [batch_size x sequence_length x logits] tensor, got shape "
            f"{logits.shape}"
        )
    for name, tensor in (("Targets", targets), ("Weights", weights)):
        if tensor.plain_shape is not None and len(tensor.plain_shape) != 2:
            raise ValueError(
                f"{name} must be a [batch_size x sequence_length] tensor, got shape {tensor.shape}"
            )


def _losses(logits: Tensor, targets: Tensor, weights: Tensor, function: Loss | None) -> Any:
    """Return the weighted loss of each step of each sequence, in one row."""
    sizes: Any = shape(logits)
    flat = reshape(logits, [-1, sizes[2]])
    targets = reshape(targets, [-1])
    if function is None:
        losses: Any = sparse_softmax_cross_entropy_with_logits(labels=targets, logits=flat)
    else:
        losses = function(labels=targets, logits=flat)
    return losses * reshape(weights, [-1])


def _divided(total: Any, weights: Tensor, axis: Any, counted: bool) -> Tensor:
    if counted:
        size = cast(count_nonzero(weights, axis), total.dtype)
    else:
        size = reduce_sum(weights, axis)
    tensor: Tensor = raw.DivNoNan(total, size, name="div_no_nan")
    return tensor
