"""Sigmoid cross entropies: losses of answers yes or no, straight from their logits."""

from __future__ import annotations

from typing import Any

from tfdist.base import shapes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.nn.cross_entropy import in_old_order

__all__ = ["sigmoid_cross_entropy_with_logits", "weighted_cross_entropy_with_logits"]


def sigmoid_cross_entropy_with_logits(
    *old_order: Any,
    labels: Any = None,
    logits: Any = None,
    name: str | None = None,
    targets: Any = None,
) -> Tensor:
    """Return the cross-entropy of each label under sigmoid(logit), without overflow.

    Args:
      *old_order: logits, labels and name, as TensorFlow before 1.0 took them.
      labels: float, each in [0, 1].
      logits: of the same type and shape.
      name: of the node.
      targets: the old spelling of labels.

    Returns:
      Nats for each element: max(x, 0) - x * label + log(1 + exp(-|x|)).

    Raises:
      TypeError: their types differ: labels are not cast here.
      ValueError: labels or logits are missing, or their shapes differ.

    Example:
      >>> Session().run(nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]))
      array([0.6931472], dtype=float32)
    """
    labels = targets if labels is None else labels
    x, labels, name = in_old_order("sigmoid", old_order, logits, labels, name)
    with name_scope(name, "logistic_loss", [x, labels]) as scope:
        x, z = convert_to_tensor(x, name="logits"), convert_to_tensor(labels, name="labels")
        shapes_fit(x, z)
        zeros = zeros_like(x)
        positive = raw.GreaterEqual(x, zeros)
        # the two selections stand for max(x, 0) and -|x|: their gradient at 0 is right
        top, bottom = raw.Select(positive, x, zeros), raw.Select(positive, raw.Neg(x), x)
        linear = raw.Sub(top, raw.Mul(x, z, name="mul"), name="sub")
        loss: Tensor = raw.Add(linear, raw.Log1p(raw.Exp(bottom)), name=scope)
        return loss


def shapes_fit(logits: Tensor, labels: Tensor) -> None:
    """Raise ValueError unless both could have one shape."""
    if not shapes.compatible(logits.plain_shape, labels.plain_shape):
        raise ValueError(
            f"logits and labels must have the same shape ({logits.shape} vs {labels.shape}): got "
            f"{logits!r} and {labels!r}"
        )


def weighted_cross_entropy_with_logits(
    labels: Any = None,
    logits: Any = None,
    pos_weight: Any = None,
    name: str | None = None,
    targets: Any = None,
) -> Tensor:
    """Return `sigmoid_cross_entropy_with_logits` with a weight on the positive part.

    Args:
      labels: float, each in [0, 1].
      logits: of the same type and shape.
      pos_weight: factor on the cost of a missed positive.
      name: of the node.
      targets: the old spelling of labels.

    Example:
      >>> Session().run(nn.weighted_cross_entropy_with_logits([1.0], [0.0], 2.0))
      array([1.3862944], dtype=float32)
    """
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        x = convert_to_tensor(logits, name="logits")
        z = convert_to_tensor(targets if labels is None else labels, name="labels")
        shapes_fit(x, z)
        weight = raw.AddV2(1.0, raw.Mul(pos_weight - 1.0, z, name="mul"), name="add")
        linear = raw.Mul(raw.Sub(1.0, z, name="sub"), x, name="mul")
        soft = raw.AddV2(raw.Log1p(raw.Exp(raw.Neg(raw.Abs(x)))), raw.Relu(raw.Neg(x)), name="add")
        loss: Tensor = raw.Add(linear, raw.Mul(weight, soft, name="mul"), name=scope)
        return loss
