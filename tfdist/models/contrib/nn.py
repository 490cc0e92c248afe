"""tf.contrib.nn: functions of networks that stayed at the side.

Source: TF 1.15 API documentation, tf.contrib.nn.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.sort import NTH_ELEMENT
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.nn.activations import softplus
from tfdist.ops.nn.cross_entropy import (
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from tfdist.ops.nn.sigmoid_cross_entropy import sigmoid_cross_entropy_with_logits
from tfdist.ops.random.random_ops import random_uniform

__all__ = [
    "alpha_dropout", "deprecated_flipped_sigmoid_cross_entropy_with_logits",
    "deprecated_flipped_softmax_cross_entropy_with_logits",
    "deprecated_flipped_sparse_softmax_cross_entropy_with_logits", "nth_element",
    "scaled_softplus",
]  # fmt: skip

_LEAST = -1.7580993408473766  # what SELU tends to on the left: minus scale times alpha


def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: str | None = None) -> Tensor:
    """Return alpha * softplus(x / alpha), not above `clip`.

    Args:
      x: float.
      alpha: float, positive, broadcast to x.
      clip: float, positive, broadcast to x.
      name: prefix for the nodes.

    Example:
      >>> Session().run(contrib.nn.scaled_softplus([0.0, 9.0], 1.0, clip=2.0))
      array([0.6931472, 2.       ], dtype=float32)
    """
    with name_scope(name, "scaled_softplus", [x, alpha]):
        x = convert_to_tensor(x, name="x")
        alpha = convert_to_tensor(alpha, x.dtype, name="alpha")
        found = alpha * softplus(x / alpha)
        return found if clip is None else raw.Minimum(found, convert_to_tensor(clip, x.dtype))  # type: ignore[no-any-return]


def alpha_dropout(
    x: Any, keep_prob: Any, noise_shape: Any = None, seed: int | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `x` with some elements set to what SELU gives on its left; mean and variance stay.

    Args:
      x: float.
      keep_prob: how probable it is that an element stays.
      noise_shape: of what decides, broadcast to x.
      seed: of the draws.
      name: prefix for the nodes.

    Raises:
      ValueError: `keep_prob` is not in (0, 1].

    Example:
      >>> Session().run(contrib.nn.alpha_dropout([1.0, 2.0], 1.0))
      array([1., 2.], dtype=float32)
    """
    with name_scope(name, "alpha_dropout", [x]):
        x = convert_to_tensor(x, name="x")
        keep: Any
        noise: Any
        if isinstance(keep_prob, int | float) and not 0 < keep_prob <= 1:
            raise ValueError(
                "keep_prob must be a scalar tensor or a float in the range (0, 1], got "
                f"{keep_prob:g}"
            )
        if isinstance(keep_prob, int | float) and keep_prob == 1:
            return identity(x)
        keep = convert_to_tensor(keep_prob, x.dtype, name="keep_prob")
        sizes = raw.Shape(x) if noise_shape is None else noise_shape
        noise = random_uniform(sizes, dtype=x.dtype, seed=seed)
        kept = raw.Floor(keep + noise)
        mixed = x * kept + _LEAST * (1.0 - kept)
        scale = raw.Sqrt(1.0 / (keep + _LEAST**2 * keep * (1.0 - keep)))
        return scale * mixed - scale * _LEAST * (1.0 - keep)  # type: ignore[no-any-return]


def nth_element(input: Any, n: Any, reverse: bool = False, name: str | None = None) -> Tensor:
    """Return the n-th smallest element of each row, counted from 0.

    Args:
      input: real [..., columns].
      n: int32 scalar.
      reverse: whether the n-th greatest is meant.
      name: of the node.

    Example:
      >>> Session().run(contrib.nn.nth_element([3.0, 1.0, 2.0], 1))
      np.float32(2.0)
    """
    return NTH_ELEMENT(input, n, reverse=reverse, name=name)  # type: ignore[no-any-return]


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, dim: int = -1, name: str | None = None
) -> Tensor:
    """Return `tf.nn.softmax_cross_entropy_with_logits`, whose arguments came the other way."""
    return softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, name: str | None = None
) -> Tensor:
    """Return `tf.nn.sparse_softmax_cross_entropy_with_logits`; its arguments came the other way."""
    return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: Any, targets: Any, name: str | None = None
) -> Tensor:
    """Return `tf.nn.sigmoid_cross_entropy_with_logits`, whose arguments came the other way."""
    return sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)
