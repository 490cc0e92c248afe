"""Weights of losses and metrics: whether they broadcast to values, and how they do.

Weights have the values' rank, or are a scalar; each of their sizes is 1 or that of the values.

Source: TF 1.15 API documentation, tf.losses.compute_weighted_loss and tf.confusion_matrix.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.scopes import control_dependencies, name_scope
from tfdist.ops.array.fill import ones_like
from tfdist.ops.array.reshape import expand_dims, squeeze
from tfdist.ops.array.shape import rank, shape
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import no_op
from tfdist.ops.math.reductions import reduce_all

REFUSED = "weights can not be broadcast to values."


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """Return an operation that fails unless `weights` broadcast to `values`.

    Raises:
      ValueError: they do not, as far as is known already.
    """
    with name_scope(None, "assert_broadcastable", [weights, values]):
        weights, weights_shape, weights_rank = _measured("weights", weights)
        values, values_shape, values_rank = _measured("values", values)
        known, wanted = weights.plain_shape, values.plain_shape
        if known == ():
            return no_op("static_scalar_check_success")
        if known is None or wanted is None:
            return _checked(weights_shape, weights_rank, values_shape, values_rank)
        _check_ranks(known, wanted, weights, values)
        if None in known or None in wanted:
            fits = _fits(weights_shape, values_shape)
            return Assert(fits, [REFUSED, weights_shape, values_shape], name="Assert")
        _check_sizes(known, wanted)
        return no_op("static_dims_check_success")


def _measured(name: str, value: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Return a tensor, its shape and its rank, in a name scope of its own."""
    with name_scope(None, name, [value]) as scope:
        tensor = convert_to_tensor(value, name=scope)
        return tensor, shape(tensor, name="shape"), rank(tensor, name="rank")


def _check_ranks(known: Any, wanted: Any, weights: Tensor, values: Tensor) -> None:
    if len(known) != len(wanted):
        raise ValueError(
            f"{REFUSED} values.rank={len(wanted)}. weights.rank={len(known)}. "
            f"values.shape={values.shape}. weights.shape={weights.shape}."
        )


def _check_sizes(known: Any, wanted: Any) -> None:
    for axis, (size, whole) in enumerate(zip(known, wanted, strict=True)):
        if size not in (1, whole):
            raise ValueError(
                f"{REFUSED} Mismatch at dim {axis}. values.shape={list(wanted)} "
                f"weights.shape={list(known)}."
            )


def _fits(weights_shape: Tensor, values_shape: Tensor) -> Tensor:
    same, single = raw.Equal(weights_shape, values_shape), raw.Equal(weights_shape, 1)
    return reduce_all(raw.LogicalOr(same, single))


def _checked(
    weights_shape: Tensor, weights_rank: Tensor, values_shape: Tensor, values_rank: Tensor
) -> Operation:
    """Return the check where one of the ranks is known only when it runs."""
    is_scalar = raw.Equal(0, weights_rank, name="is_scalar")
    is_same_rank = raw.Equal(values_rank, weights_rank, name="is_same_rank")
    is_valid = cond(
        is_same_rank,
        lambda: _fits(weights_shape, values_shape),
        lambda: is_scalar,
        name="is_valid_shape",
    )
    return Assert(is_valid, [REFUSED, weights_shape, values_shape], name="Assert")


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """Return `weights` in the shape of `values`."""
    with name_scope(None, "broadcast_weights", [weights, values]) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, values.dtype.base_dtype, name="weights")
        known = values.plain_shape
        if known is not None and None not in known and weights.plain_shape == known:
            return weights
        with control_dependencies([assert_broadcastable(weights, values)]):
            ones = ones_like(values)
            tensor: Tensor = raw.Mul(weights, ones, name=scope)
            return tensor


def remove_squeezable_dimensions(
    labels: Any, predictions: Any, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return `labels` and `predictions`, without a last axis of size 1 that one has too many.

    Args:
      labels: a tensor.
      predictions: a tensor.
      expected_rank_diff: how many axes predictions shall have more.
      name: of the nodes' scope.
    """
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        many, few = predictions.plain_shape, labels.plain_shape
        if many is not None and few is not None:
            difference = len(many) - len(few)
            if difference == expected_rank_diff + 1 and _ends_single(many):
                predictions = squeeze(predictions, [-1])
            elif difference == expected_rank_diff - 1 and _ends_single(few):
                labels = squeeze(labels, [-1])
            return labels, predictions
        difference = raw.Sub(rank(predictions), rank(labels), name="sub")
        if many is None or _ends_single(many):
            predictions = _squeezed_if(expected_rank_diff + 1, difference, predictions)
        if few is None or _ends_single(few):
            labels = _squeezed_if(expected_rank_diff - 1, difference, labels)
        return labels, predictions


def _ends_single(known: Any) -> bool:
    """Return whether the last axis may have size 1."""
    return len(known) > 0 and known[-1] in (1, None)


def _squeezed_if(wanted: int, difference: Any, tensor: Tensor) -> Tensor:
    tensor = cond(raw.Equal(wanted, difference), lambda: squeeze(tensor, [-1]), lambda: tensor)
    return tensor


def fitted(weights: Any, like: Tensor, widen: bool = False) -> Tensor:
    """Return `weights` without a last axis of size 1 that `like` has not.

    Args:
      weights: a tensor; a scalar stays as it is.
      like: what they are for.
      widen: whether weights that have one axis fewer get one of size 1.
    """
    weights = convert_to_tensor(weights)
    known, wanted = weights.plain_shape, like.plain_shape
    if known == ():
        return weights
    if known is not None and wanted is not None:
        excess = len(known) - len(wanted)
        if excess == 1 and _ends_single(known):
            return squeeze(weights, [-1])
        return expand_dims(weights, [-1]) if widen and excess == -1 else weights
    return _fitted_when_run(weights, raw.Sub(rank(weights), rank(like), name="sub"), widen)


def _fitted_when_run(weights: Tensor, excess: Tensor, widen: bool) -> Tensor:
    known = weights.plain_shape
    if known is None or _ends_single(known):
        weights = _squeezed_if(1, excess, weights)
    if not widen:
        return weights
    given = weights
    result: Tensor = cond(raw.Equal(excess, -1), lambda: expand_dims(given, [-1]), lambda: given)
    return result
