"""Optimizers of keras that follow gradients, divided by what they were so far.

Source: TF 1.15 API documentation, tf.keras.optimizers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.keras_impl.optimizers.optimizer import grouped
from tfdist.keras_impl.optimizers.step_optimizer import OneStepOptimizer, StepOptimizer, rows_of
from tfdist.ops.variables.initializers import constant_initializer

__all__ = ["SGD", "Adadelta", "Adagrad", "Ftrl", "RMSprop"]


class SGD(StepOptimizer):
    """Steps along the gradient, or along a momentum that gathers gradients.

    Args:
      learning_rate: number, schedule, or function that returns a number.
      momentum: what is left of older steps in each step, from 0 to 1.
      nesterov: whether the step looks ahead along the momentum.
      name: of its nodes.
      **kwargs: `clipnorm`, `clipvalue`, `lr`, `decay`: see `Optimizer`.

    Example:
      >>> keras.optimizers.SGD(lr=0.5).get_config()["learning_rate"]
      0.5
    """

    SETTINGS = (
        "momentum",
        "nesterov",
    )
    FIXED = ("nesterov",)

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: Any = 0.0,
        nesterov: bool = False,
        name: str = "SGD",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._set(learning_rate, kwargs, momentum=momentum, nesterov=nesterov)

        if isinstance(momentum, int | float) and not 0 <= momentum <= 1:
            raise ValueError(f"`momentum` must be between [0, 1], got {momentum}.")
        self._momentum = not isinstance(momentum, int | float) or momentum > 0

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list if self._momentum else ():
            self.add_slot(var, "momentum")

    def _numbers(self, dtype: Any) -> dict[str, Any]:
        numbers = {"lr": self._decayed_lr(dtype)}
        return (
            {**numbers, **self._hypers(dtype, momentum="momentum")} if self._momentum else numbers
        )

    def _moved(self, var: Any, **inputs: Any) -> Any:
        slots = {"accum": "momentum"}
        return self._step("KerasMomentum", var, slots, inputs, use_nesterov=self.nesterov)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        if self._momentum:
            return self._moved(var, grad=grad)
        rate = self._shared[var.dtype.base_dtype]["lr"]
        return raw.ResourceApplyGradientDescent(var.handle, rate, grad)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._moved(var, grad=grad, indices=indices)

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, var: Any, indices: Any) -> Any:
        if self._momentum:
            return super()._resource_apply_sparse_duplicate_indices(grad, var, indices)
        rate = self._shared[var.dtype.base_dtype]["lr"]
        return raw.ResourceScatterAdd(var.handle, indices, -grad * rate)


class RMSprop(StepOptimizer):
    """Divides gradients by the root of the mean of their latest squares.

    Args:
      learning_rate: number, schedule, or function that returns a number.
      rho: what is left of older squares in each step.
      momentum: what is left of older steps in each step.
      epsilon: keeps the divisor from 0.
      centered: whether the mean gradient, squared, is taken off the mean square.
      name: of its nodes.
      **kwargs: `clipnorm`, `clipvalue`, `lr`, `decay`: see `Optimizer`.

    Example:
      >>> keras.optimizers.RMSprop(lr=0.5).get_config()["learning_rate"]
      0.5
    """

    SETTINGS = (
        "rho",
        "momentum",
        "epsilon",
        "centered",
    )
    FIXED = ("epsilon", "centered")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        name: str = "RMSprop",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._set(
            learning_rate, kwargs, rho=rho, momentum=momentum, epsilon=epsilon, centered=centered
        )

        if isinstance(momentum, int | float) and not 0 <= momentum <= 1:
            raise ValueError(f"`momentum` must be between [0, 1], got {momentum}.")
        self._momentum = not isinstance(momentum, int | float) or momentum > 0

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        used = {"rms": True, "momentum": self._momentum, "mg": self.centered}
        for name in (name for name, wanted in used.items() if wanted):
            for var in var_list:
                self.add_slot(var, name)

    def _numbers(self, dtype: Any) -> dict[str, Any]:
        numbers = {"lr": self._decayed_lr(dtype), "epsilon": convert_to_tensor(self.epsilon, dtype)}
        return {**numbers, **self._hypers(dtype, rho="rho", momentum="momentum")}

    def _fused(self, var: Any, **inputs: Any) -> Any:
        slots = {"ms": "rms", "mom": "momentum"}
        if self.centered:
            return self._step("CenteredRMSProp", var, {**slots, "mg": "mg"}, inputs)
        return self._step("RMSProp", var, slots, inputs)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        if self._momentum:
            return self._fused(var, grad=grad)
        shared = self._shared[var.dtype.base_dtype]
        rho, kept = shared["rho"], []

        def faded(name: str, value: Any) -> Any:
            slot = self.get_slot(var, name)
            mean = rho * slot.value() + (1.0 - rho) * value
            kept.append(slot.assign(mean))
            return mean

        divisor = faded("rms", raw.Square(grad))
        if self.centered:
            divisor = divisor - raw.Square(faded("mg", grad))
        step = shared["lr"] * grad / (raw.Sqrt(divisor) + shared["epsilon"])
        return grouped(var.assign_sub(step), *kept)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        if self._momentum:
            return self._fused(var, grad=grad, indices=indices)
        shared = self._shared[var.dtype.base_dtype]
        rho = shared["rho"]

        def faded(name: str, value: Any) -> Any:
            slot = self.get_slot(var, name)
            with scopes.control_dependencies([slot.assign(slot.value() * rho)]):
                return self._resource_scatter_add(slot, indices, value * (1.0 - rho))

        means = [faded("rms", raw.Square(grad))]
        divisor = rows_of(means[0], indices)
        if self.centered:
            means.append(faded("mg", grad))
            divisor = divisor - raw.Square(rows_of(means[1], indices))
        step = shared["lr"] * grad / (raw.Sqrt(divisor) + shared["epsilon"])
        return grouped(raw.ResourceScatterAdd(var.handle, indices, -step), *means)


class Adagrad(OneStepOptimizer):
    """Divides gradients by the root of the sum of all their squares.

    Args:
      learning_rate: number, schedule, or function that returns a number.
      initial_accumulator_value: what that sum begins with.
      epsilon: keeps the divisor from 0.
      name: of its nodes.
      **kwargs: `clipnorm`, `clipvalue`, `lr`, `decay`: see `Optimizer`.

    Example:
      >>> keras.optimizers.Adagrad(lr=0.5).get_config()["learning_rate"]
      0.5
    """

    SETTINGS = (
        "initial_accumulator_value",
        "epsilon",
    )
    FIXED = ("initial_accumulator_value", "epsilon")
    STEP, SLOTS = "AdagradV2", {"accum": "accumulator"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        name: str = "Adagrad",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._set(
            learning_rate,
            kwargs,
            initial_accumulator_value=initial_accumulator_value,
            epsilon=epsilon,
        )

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            first = constant_initializer(self.initial_accumulator_value)
            self.add_slot(var, "accumulator", first)

    def _numbers(self, dtype: Any) -> dict[str, Any]:
        return {"lr": self._decayed_lr(dtype), "epsilon": convert_to_tensor(self.epsilon, dtype)}


class Adadelta(OneStepOptimizer):
    """Divides gradients by the root of their mean squares, times that of steps.

    Args:
      learning_rate: number, schedule, or function that returns a number.
      rho: what is left of older squares in each step.
      epsilon: keeps the divisor from 0.
      name: of its nodes.
      **kwargs: `clipnorm`, `clipvalue`, `lr`, `decay`: see `Optimizer`.

    Example:
      >>> keras.optimizers.Adadelta(lr=0.5).get_config()["learning_rate"]
      0.5
    """

    SETTINGS = (
        "rho",
        "epsilon",
    )
    FIXED = ("epsilon",)
    STEP, SLOTS = "Adadelta", {"accum": "accum_grad", "accum_update": "accum_var"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: float = 1e-7,
        name: str = "Adadelta",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._set(learning_rate, kwargs, rho=rho, epsilon=epsilon)

    def _numbers(self, dtype: Any) -> dict[str, Any]:
        epsilon = convert_to_tensor(self.epsilon, dtype)
        hypers = self._hypers(dtype, rho="rho")
        return {"lr": self._decayed_lr(dtype), "epsilon": epsilon, **hypers}


class Ftrl(OneStepOptimizer):
    """Follows the regularized leader: penalties keep weights small, or at 0.

    Args:
      learning_rate: number, schedule, or function that returns a number.
      learning_rate_power: of the number of steps, at most 0.
      initial_accumulator_value: what the sums of squares begin with.
      l1_regularization_strength: penalty of sizes.
      l2_regularization_strength: penalty of squares.
      name: of its nodes.
      l2_shrinkage_regularization_strength: penalty of squares that only shrinks.
      **kwargs: `clipnorm`, `clipvalue`, `lr`, `decay`: see `Optimizer`.

    Example:
      >>> keras.optimizers.Ftrl(lr=0.5).get_config()["learning_rate"]
      0.5
    """

    SETTINGS = (
        "learning_rate_power",
        "initial_accumulator_value",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "l2_shrinkage_regularization_strength",
    )
    FIXED = ("initial_accumulator_value", "l2_shrinkage_regularization_strength")
    SLOTS: ClassVar[Mapping[str, str]] = {"accum": "accumulator", "linear": "linear"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: Any = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        name: str = "Ftrl",
        l2_shrinkage_regularization_strength: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._set(
            learning_rate,
            kwargs,
            learning_rate_power=learning_rate_power,
            initial_accumulator_value=initial_accumulator_value,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
            l2_shrinkage_regularization_strength=l2_shrinkage_regularization_strength,
        )

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            first = constant_initializer(self.initial_accumulator_value)
            self.add_slot(var, "accumulator", first)
            self.add_slot(var, "linear")

    @property
    def STEP(self) -> str:  # type: ignore[override]
        """The op that has the shrinking penalty, or the one that has not."""
        return "FtrlV2" if self.l2_shrinkage_regularization_strength > 0 else "Ftrl"

    def _numbers(self, dtype: Any) -> dict[str, Any]:
        numbers = self._hypers(
            dtype, l1="l1_regularization_strength", l2="l2_regularization_strength",
            lr_power="learning_rate_power",
        )  # fmt: skip
        shrinkage = convert_to_tensor(self.l2_shrinkage_regularization_strength, dtype)
        return {"lr": self._decayed_lr(dtype), "l2_shrinkage": shrinkage, **numbers}
