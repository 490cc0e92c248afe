"""Regularizers: functions from weights to what their size costs.

Source: TF 1.15 API documentation, tf.contrib.layers.l2_regularizer and its relatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.array.constants import constant
from tfdist.ops.math.add_n import add_n
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.collections import GraphKeys

__all__ = [
    "apply_regularization", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer",
    "sum_regularizer",
]  # fmt: skip

Regularizer = Callable[..., Any]


def _check(scale: Any) -> None:
    if isinstance(scale, Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, Real) and not 0 <= float(scale) < float("inf"):
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale}")


def _scaled(scale: Any, name: str, scope: str | None, measure: Callable[[Any], Any]) -> Regularizer:
    """Return the regularizer that gives `scale` times the measure; None for a scale of 0."""
    _check(scale)
    if isinstance(scale, Real) and scale == 0.0:
        return lambda _: None

    def regularizer(weights: Any) -> Any:
        with scopes.name_scope(scope, name, [weights]) as label:
            factor = convert_to_tensor(scale, weights.dtype.base_dtype, name="scale")
            return raw.Mul(factor, measure(weights), name=label)

    return regularizer


def l1_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """Return a function that gives `scale` times the sum of absolute weights.

    Args:
      scale: a float, 0 or above; 0 for no regularization.
      scope: name of the nodes' scope.

    Raises:
      ValueError: the scale is negative, or an integer.

    Example:
      >>> Session().run(contrib.layers.l1_regularizer(0.5)(constant([1.0, -3.0])))
      np.float32(2.0)
    """
    return _scaled(scale, "l1_regularizer", scope, lambda weights: reduce_sum(raw.Abs(weights)))


def l2_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """Return a function that gives `scale` times half the sum of squares; see `l1_regularizer`.

    Example:
      >>> Session().run(contrib.layers.l2_regularizer(0.5)(constant([1.0, -3.0])))
      np.float32(2.5)
    """
    return _scaled(scale, "l2_regularizer", scope, nn.l2_loss)


def l1_l2_regularizer(
    scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None
) -> Regularizer:
    """Return a function that gives the sum of both; see `l1_regularizer`, `l2_regularizer`.

    Example:
      >>> Session().run(contrib.layers.l1_l2_regularizer(0.5, 0.5)(constant([1.0, -3.0])))
      np.float32(4.5)
    """
    scope = scope or "l1_l2_regularizer"
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope)


def sum_regularizer(
    regularizer_list: Iterable[Regularizer | None], scope: str | None = None
) -> Regularizer | Any:
    """Return a function that gives the sum of several regularizers; None if there are none.

    Example:
      >>> both = contrib.layers.sum_regularizer([contrib.layers.l1_regularizer(0.5)] * 2)
      >>> Session().run(both(constant([1.0, -3.0])))
      np.float32(4.0)
    """
    parts = [each for each in regularizer_list if each is not None]
    if not parts:
        return None

    def regularizer(weights: Any) -> Any:
        with scopes.name_scope(scope, "sum_regularizer", [weights]) as label:
            found = [part(weights) for part in parts]
            found = [each for each in found if each is not None]
            return add_n(found, name=label) if found else None

    return regularizer


def apply_regularization(regularizer: Regularizer, weights_list: Any = None) -> Any:
    """Return the sum of a regularizer over variables, after adding it to REGULARIZATION_LOSSES.

    Args:
      regularizer: a function from a variable to a scalar, or None.
      weights_list: variables; those in the collection WEIGHTS by default.

    Raises:
      ValueError: there are no variables.

    Example:
      >>> w = Variable([3.0, 4.0])
      >>> penalty = contrib.layers.apply_regularization(contrib.layers.l2_regularizer(0.1), [w])
      >>> with Session() as session:
      ...     session.run(w.initializer)
      ...     session.run(penalty)
      np.float32(1.25)
    """
    weights_list = weights_list or scopes.get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with scopes.name_scope("get_regularization_penalty", values=weights_list) as label:
        penalties = [regularizer(weights) for weights in weights_list]
        penalties = [constant(0.0) if each is None else each for each in penalties]
        for each in penalties:
            if each.plain_shape != ():
                raise ValueError(f"regularizer must return a scalar Tensor instead of {each!r}")
        total = add_n(penalties, name=label)
        scopes.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
