"""Loss scales: what a loss is multiplied by, so that small gradients do not vanish.

Source: TF 1.15 API documentation, tf.train.experimental.LossScale.
"""

from __future__ import annotations

import abc
from typing import Any

from tfdist.base import dtypes, nest
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import group, no_op
from tfdist.ops.math.elementwise import is_finite
from tfdist.ops.math.reductions import reduce_all
from tfdist.ops.variables import state_ops
from tfdist.ops.variables.variable import Variable
from tfdist.training.saving.trackable import Trackable

__all__ = ["DynamicLossScale", "FixedLossScale", "LossScale"]


class LossScale(Trackable, abc.ABC):
    """What a loss is multiplied by, and gradients are divided by: to be subclassed."""

    @abc.abstractmethod
    def __call__(self) -> Any:
        """Return the scale, float32 []."""

    @abc.abstractmethod
    def update(self, grads: Any) -> tuple[Any, Any]:
        """Return an op that changes the scale, and whether the gradients shall be applied.

        Args:
          grads: structure of gradients, which are divided by the scale already; None for none.
        """

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make another one."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LossScale:
        """Return one of these arguments."""
        return cls(**config)


class FixedLossScale(LossScale):
    """A scale that never changes.

    Args:
      loss_scale_value: the scale.

    Raises:
      ValueError: it is no number, or below 1.

    Example:
      >>> Session().run(train.experimental.FixedLossScale(8.0)())
      np.float32(8.0)
    """

    def __init__(self, loss_scale_value: float) -> None:
        if not isinstance(loss_scale_value, int | float):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._value = float(loss_scale_value)

    def __call__(self) -> Any:
        """See `LossScale`."""
        return convert_to_tensor(self._value, dtypes.float32)

    def update(self, grads: Any) -> tuple[Any, Any]:
        """See `LossScale`."""
        return no_op(), True

    def get_config(self) -> dict[str, Any]:
        """See `LossScale`."""
        return {"loss_scale_value": self._value}


class DynamicLossScale(LossScale):
    """A scale that grows while gradients are finite, and shrinks when they are not.

    Args:
      initial_loss_scale: with which it begins.
      increment_period: after so many steps with finite gradients it is multiplied.
      multiplier: by which it is multiplied, and divided when a gradient is not finite.

    Example:
      >>> scale = train.experimental.DynamicLossScale(8.0)
      >>> update, is_finite = scale.update([constant(float("inf"))])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     done = session.run(update)
      ...     session.run([is_finite, scale()])
      [np.False_, np.float32(4.0)]
    """

    def __init__(
        self,
        initial_loss_scale: float = 2.0**15,
        increment_period: int = 2000,
        multiplier: float = 2.0,
    ) -> None:
        self._initial, self._multiplier = float(initial_loss_scale), float(multiplier)
        self._period = int(increment_period)
        self.current_loss_scale = self._weight("current_loss_scale", self._initial, dtypes.float32)
        self.good_steps = self._weight("good_steps", 0, dtypes.int64)

    def _weight(self, name: str, value: Any, dtype: Any) -> Any:
        return Variable(value, trainable=False, name=name, dtype=dtype, use_resource=True)

    def __call__(self) -> Any:
        """See `LossScale`."""
        return convert_to_tensor(self.current_loss_scale)

    def update(self, grads: Any) -> tuple[Any, Any]:
        """See `LossScale`."""
        checks = [
            reduce_all(is_finite(getattr(each, "values", each)))
            for each in nest.flatten(grads)
            if each is not None
        ]
        finite = reduce_all(raw.Pack(checks)) if checks else convert_to_tensor(True)
        return cond(finite, self._grown, self._shrunk), finite

    def _grown(self) -> Any:
        """Return the op that counts a step, and multiplies after so many."""
        scale: Any = convert_to_tensor(self.current_loss_scale)

        def multiplied() -> Any:
            grown = scale * self._multiplier
            kept = raw.Select(is_finite(grown), grown, scale)
            return self._set(kept, 0)

        is_due = raw.GreaterEqual(
            convert_to_tensor(self.good_steps), cast(self._period - 1, dtypes.int64)
        )
        return cond(is_due, multiplied, lambda: group(self.good_steps.assign_add(1).op))

    def _shrunk(self) -> Any:
        scale: Any = convert_to_tensor(self.current_loss_scale)
        return self._set(raw.Maximum(scale / self._multiplier, 1.0), 0)

    def _set(self, scale: Any, steps: int) -> Any:
        both = (
            state_ops.assign(self.good_steps, steps),
            state_ops.assign(self.current_loss_scale, scale),
        )
        return group(*(each.op for each in both))

    def get_config(self) -> dict[str, Any]:
        """See `LossScale`."""
        return {
            "initial_loss_scale": self._initial, "increment_period": self._period,
            "multiplier": self._multiplier,
        }  # fmt: skip


def loss_scale_of(given: Any) -> LossScale:
    """Return a LossScale, which is given as a number, as "dynamic", or as one.

    Raises:
      ValueError: it is something else.
    """
    if given == "dynamic":
        return DynamicLossScale()
    if isinstance(given, int | float):
        return FixedLossScale(given)
    if isinstance(given, LossScale):
        return given
    raise ValueError(f"Could not interpret loss scale identifier: {given}")
