"""Losses as a graph's collections keep them, and their sum.

Source: TF 1.15 API documentation, tf.losses.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph import scopes
from tfdist.ops.array.constants import constant
from tfdist.ops.math.add_n import add_n
from tfdist.ops.variables.collections import GraphKeys

__all__ = [
    "add_loss", "get_losses", "get_regularization_loss", "get_regularization_losses",
    "get_total_loss",
]  # fmt: skip


def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Add a loss to a collection, unless that is None.

    Example:
      >>> losses.add_loss(constant(1.0))
      >>> losses.get_losses()
      [<tf.Tensor 'Const:0' shape=() dtype=float32>]
    """
    if loss_collection:
        scopes.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """Return the losses of the default graph.

    Args:
      scope: if given, only those whose name matches this regular expression at its start.
      loss_collection: their collection.

    Example:
      >>> len(losses.get_losses())
      0
    """
    return scopes.get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """Return what regularizers of variables made; `scope` as in `get_losses`.

    Example:
      >>> w = get_variable("w", [2], regularizer=nn.l2_loss)
      >>> len(losses.get_regularization_losses())
      1
    """
    return scopes.get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Any:
    """Return the sum of regularization losses, 0 where there are none.

    Args:
      scope: as in `get_losses`.
      name: of the node.

    Example:
      >>> Session().run(losses.get_regularization_loss())
      np.float32(0.0)
    """
    found = get_regularization_losses(scope)
    return add_n(found, name=name) if found else constant(0.0)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Any:
    """Return the sum of all losses.

    Args:
      add_regularization_losses: whether it has those of regularizers, too.
      name: of the node.
      scope: as in `get_losses`.

    Raises:
      ValueError: there are no losses.

    Example:
      >>> _ = [losses.add_loss(constant(value)) for value in (1.0, 2.0)]
      >>> Session().run(losses.get_total_loss())
      np.float32(3.0)
    """
    found = get_losses(scope)
    if add_regularization_losses:
        found += get_regularization_losses(scope)
    return add_n(found, name=name)
