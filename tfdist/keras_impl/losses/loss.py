"""What all classes of losses are: a function of a batch, weighted and reduced.

Source: TF 1.15 API documentation, tf.keras.losses.Loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.models.losses.weighted_loss import safe_ratio
from tfdist.models.losses.weights import broadcast_weights, fitted
from tfdist.ops.array.cast import cast
from tfdist.ops.array.shape import size
from tfdist.ops.math.reductions import reduce_sum

REDUCTIONS = ("auto", "none", "sum", "sum_over_batch_size")


def weighted_loss(losses: Any, sample_weight: Any, reduction: str) -> Tensor:
    """Return losses times weights (None for 1), reduced to one number unless it is "none"."""
    with name_scope("weighted_loss"):
        losses = convert_to_tensor(losses)
        given = losses.dtype.base_dtype
        losses = cast(losses, dtypes.float32)
        weights = cast(1.0 if sample_weight is None else sample_weight, dtypes.float32)
        weights = fitted(weights, losses, widen=True)
        if not losses.get_shape().is_fully_defined() or weights.plain_shape != losses.plain_shape:
            weights = broadcast_weights(weights, losses)
        return cast(_reduced(raw.Mul(losses, weights), losses, reduction), given)


def _reduced(weighted: Tensor, losses: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return weighted
    total: Tensor = reduce_sum(weighted)
    if reduction == "sum":
        return total
    with name_scope("num_elements", None) as scope:
        count = cast(size(losses, name=scope), losses.dtype)
    return safe_ratio(reduce_sum(total), count)  # type: ignore[no-any-return]


class Loss:
    """A loss: a subclass says in `call(y_true, y_pred)` what each example has lost.

    Args:
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Raises:
      ValueError: there is no such reduction.

    Example:
      >>> class Difference(keras.losses.Loss):
      ...     def call(self, y_true, y_pred):
      ...         return y_pred - y_true
      >>> Session().run(Difference()(constant([1.0, 2.0]), constant([2.0, 5.0])))
      np.float32(2.0)
    """

    def __init__(self, reduction: str = "auto", name: str | None = None) -> None:
        if reduction not in REDUCTIONS:
            raise ValueError(f"Invalid Reduction Key {reduction}; there are {REDUCTIONS}.")
        self.reduction, self.name = reduction, name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Tensor:
        """Return the loss of a batch.

        Args:
          y_true: what is wanted.
          y_pred: what was found.
          sample_weight: what each example, or element of the losses, counts.
        """
        with name_scope((self.name or type(self).__name__).replace("<lambda>", "lambda")):
            return weighted_loss(self.call(y_true, y_pred), sample_weight, self.reduction)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Return what each example has lost."""
        raise NotImplementedError(f"{type(self).__name__} must have a method call")

    def get_config(self) -> dict[str, Any]:
        """Return the settings, from which `from_config` makes the loss again."""
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Loss:
        """Return the loss with these settings."""
        return cls(**config)


class LossFunctionWrapper(Loss):
    """A loss function as a Loss; `settings` are its further arguments."""

    def __init__(
        self, fn: Callable[..., Any], reduction: str = "auto", name: str | None = None,
        **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__(reduction, name)
        self.fn, self._settings = fn, settings

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return self.fn(y_true, y_pred, **self._settings)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self._settings}
