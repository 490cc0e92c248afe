"""tf.keras.optimizers.schedules: learning rates that depend on the number of steps.

Source: TF 1.15 API documentation, tf.keras.optimizers.schedules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfdist.keras_impl.serialization import deserialize_keras_object, serialize_keras_object
from tfdist.training.learning_rate.decay import (
    exponential_decay,
    inverse_time_decay,
    piecewise_constant,
    polynomial_decay,
)

__all__ = [
    "ExponentialDecay", "InverseTimeDecay", "LearningRateSchedule", "PiecewiseConstantDecay",
    "PolynomialDecay", "deserialize", "serialize",
]  # fmt: skip


class LearningRateSchedule:
    """A learning rate: a subclass is called with the number of steps, and has `get_config`.

    Example:
      >>> class Halves(keras.optimizers.schedules.LearningRateSchedule):
      ...     def __call__(self, step):
      ...         return 0.5**step
      >>> Halves()(2.0)
      0.25
    """

    def __call__(self, step: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must have a method __call__(step)")

    def get_config(self) -> dict[str, Any]:
        """Return the settings, from which `from_config` makes the schedule again."""
        raise NotImplementedError(f"{type(self).__name__} must have a method get_config()")

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """Return the schedule with these settings."""
        return cls(**config)


class _Decay(LearningRateSchedule):
    """A schedule whose settings are the arguments of a function of `tf.train`."""

    def __init__(self, rule: Callable[[Any, dict[str, Any]], Any], **settings: Any) -> None:
        self._rule, self._settings = rule, settings

    def __call__(self, step: Any) -> Any:
        return self._rule(step, self._settings)

    def get_config(self) -> dict[str, Any]:
        return dict(self._settings)


def _from_first(decay: Callable[..., Any]) -> Callable[[Any, dict[str, Any]], Any]:
    """Return a rule that calls a decay with the first rate, the step, and the other settings."""

    def rule(step: Any, settings: dict[str, Any]) -> Any:
        others = {k: v for k, v in settings.items() if k != "initial_learning_rate"}
        return decay(settings["initial_learning_rate"], step, **others)

    return rule


class ExponentialDecay(_Decay):
    """The first rate times decay_rate ** (step / decay_steps).

    Args:
      initial_learning_rate: the first rate.
      decay_steps: the number of steps in which decay_rate is reached.
      decay_rate: factor.
      staircase: whether step / decay_steps is rounded down.
      name: of the nodes.

    Example:
      >>> Session().run(keras.optimizers.schedules.ExponentialDecay(1.0, 10, 0.25)(constant(5.0)))
      np.float32(0.5)
    """

    def __init__(
        self, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any,
        staircase: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            _from_first(exponential_decay), initial_learning_rate=initial_learning_rate,
            decay_steps=decay_steps, decay_rate=decay_rate, staircase=staircase, name=name,
        )  # fmt: skip


class InverseTimeDecay(_Decay):
    """The first rate divided by 1 + decay_rate * step / decay_steps.

    Args:
      initial_learning_rate: the first rate.
      decay_steps: the number of steps in which the divisor grows by decay_rate.
      decay_rate: factor.
      staircase: whether step / decay_steps is rounded down.
      name: of the nodes.

    Example:
      >>> Session().run(keras.optimizers.schedules.InverseTimeDecay(1.0, 10, 2.0)(constant(5.0)))
      np.float32(0.5)
    """

    def __init__(
        self, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any,
        staircase: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            _from_first(inverse_time_decay), initial_learning_rate=initial_learning_rate,
            decay_steps=decay_steps, decay_rate=decay_rate, staircase=staircase, name=name,
        )  # fmt: skip


class PolynomialDecay(_Decay):
    """From the first rate to the last one, along a power of the part of steps that is left.

    Args:
      initial_learning_rate: the first rate.
      decay_steps: the number of steps.
      end_learning_rate: the last rate.
      power: of the polynomial.
      cycle: whether it begins anew after decay_steps.
      name: of the nodes.

    Example:
      >>> Session().run(keras.optimizers.schedules.PolynomialDecay(1.0, 10, 0.0)(constant(5.0)))
      np.float32(0.5)
    """

    def __init__(
        self, initial_learning_rate: Any, decay_steps: Any, end_learning_rate: Any = 0.0001,
        power: Any = 1.0, cycle: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            _from_first(polynomial_decay), initial_learning_rate=initial_learning_rate,
            decay_steps=decay_steps, end_learning_rate=end_learning_rate, power=power,
            cycle=cycle, name=name,
        )  # fmt: skip


class PiecewiseConstantDecay(_Decay):
    """A rate for each range of steps.

    Args:
      boundaries: the last step of each range but the last one.
      values: the rates, one more.
      name: of the nodes.

    Example:
      >>> schedule = keras.optimizers.schedules.PiecewiseConstantDecay([10.0], [0.5, 0.25])
      >>> Session().run(schedule(constant(11.0)))
      np.float32(0.25)
    """

    def __init__(
        self, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
    ) -> None:
        super().__init__(
            lambda step, settings: piecewise_constant(step, **settings),
            boundaries=boundaries, values=values, name=name,
        )  # fmt: skip


def serialize(learning_rate_schedule: Any) -> Any:
    """Return what tells of a schedule: a dictionary of class and settings.

    Args:
      learning_rate_schedule: schedule.

    Example:
      >>> keras.optimizers.schedules.serialize(
      ...     keras.optimizers.schedules.ExponentialDecay(1.0, 10, 0.25)
      ... )["class_name"]
      'ExponentialDecay'
    """
    return serialize_keras_object(learning_rate_schedule)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the schedule that `serialize` told of.

    Args:
      config: dictionary of class and settings.
      custom_objects: a program's own schedules, by name.

    Raises:
      ValueError: there is no such schedule.

    Example:
      >>> config = keras.optimizers.schedules.serialize(
      ...     keras.optimizers.schedules.ExponentialDecay(1.0, 10, 0.25)
      ... )
      >>> keras.optimizers.schedules.deserialize(config).get_config()["decay_steps"]
      10
    """
    return deserialize_keras_object(config, globals(), custom_objects, "decay")
