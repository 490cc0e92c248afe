"""Optimizers of keras that follow means of the latest gradients: Adam and its relatives.

Source: TF 1.15 API documentation, tf.keras.optimizers; Kingma and Ba 2014, arXiv 1412.6980.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.keras_impl.optimizers.optimizer import grouped, tracked
from tfdist.keras_impl.optimizers.step_optimizer import StepOptimizer, rows_of
from tfdist.ops.array.cast import cast

__all__ = ["Adam", "Adamax", "Nadam"]


class Adam(StepOptimizer):
    """Divides the mean of the latest gradients by the root of their mean square.

    Args:
      learning_rate: number, schedule, or function that returns a number.
      beta_1: what is left of older gradients in each step.
      beta_2: what is left of older squares in each step.
      epsilon: keeps the divisor from 0.
      amsgrad: whether the divisor is the largest so far.
      name: of its nodes.
      **kwargs: `clipnorm`, `clipvalue`, `lr`, `decay`: see `Optimizer`.

    Example:
      >>> keras.optimizers.Adam(lr=0.5).get_config()["learning_rate"]
      0.5
    """

    SETTINGS = (
        "beta_1",
        "beta_2",
        "epsilon",
        "amsgrad",
    )
    FIXED = ("epsilon", "amsgrad")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        name: str = "Adam",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._set(
            learning_rate, kwargs, beta_1=beta_1, beta_2=beta_2, epsilon=epsilon, amsgrad=amsgrad
        )

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for name in ("m", "v", "vhat") if self.amsgrad else ("m", "v"):
            for var in var_list:
                self.add_slot(var, name)

    def _numbers(self, dtype: Any) -> dict[str, Any]:
        numbers = self._hypers(dtype, beta1="beta_1", beta2="beta_2")
        step = self._local_step(dtype)
        powers = {f"{key}_power": raw.Pow(beta, step) for key, beta in numbers.items()}
        epsilon = convert_to_tensor(self.epsilon, dtype)
        return {"lr": self._decayed_lr(dtype), "epsilon": epsilon, **numbers, **powers}

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        slots = {"m": "m", "v": "v"}
        if self.amsgrad:
            return self._step("AdamWithAmsgrad", var, {**slots, "vhat": "vhat"}, {"grad": grad})
        return self._step("Adam", var, slots, {"grad": grad})

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        n = self._shared[var.dtype.base_dtype]
        rate = n["lr"] * raw.Sqrt(1.0 - n["beta2_power"]) / (1.0 - n["beta1_power"])
        m = self._faded(var, "m", n["beta1"], grad, indices)
        v = self._faded(var, "v", n["beta2"], raw.Square(grad), indices)
        kept = [m, v]
        if self.amsgrad:
            largest = self.get_slot(var, "vhat")
            v = raw.Maximum(largest.value(), v)
            kept.append(largest.assign(v))
        return grouped(var.assign_sub(rate * m / (raw.Sqrt(v) + n["epsilon"])), *kept)

    def _faded(self, var: Any, name: str, beta: Any, value: Any, indices: Any) -> Any:
        """Return a mean over steps, all of whose rows fade while some get new values."""
        slot = self.get_slot(var, name)
        with scopes.control_dependencies([slot.assign(slot.value() * beta)]):
            return self._resource_scatter_add(slot, indices, value * (1.0 - beta))


class Adamax(StepOptimizer):
    """Divides the mean of the latest gradients by the largest of them, which fades.

    Args:
      learning_rate: number, schedule, or function that returns a number.
      beta_1: what is left of older gradients in each step.
      beta_2: what is left of older squares in each step.
      epsilon: keeps the divisor from 0.
      name: of its nodes.
      **kwargs: `clipnorm`, `clipvalue`, `lr`, `decay`: see `Optimizer`.

    Example:
      >>> keras.optimizers.Adamax(lr=0.5).get_config()["learning_rate"]
      0.5
    """

    SETTINGS = (
        "beta_1",
        "beta_2",
        "epsilon",
    )
    FIXED = ("epsilon",)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float = 1e-7,
        name: str = "Adamax",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._set(learning_rate, kwargs, beta_1=beta_1, beta_2=beta_2, epsilon=epsilon)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for name in ("m", "v"):
            for var in var_list:
                self.add_slot(var, name)

    def _numbers(self, dtype: Any) -> dict[str, Any]:
        numbers = self._hypers(dtype, beta1="beta_1", beta2="beta_2")
        power = raw.Pow(numbers["beta1"], self._local_step(dtype))
        epsilon = convert_to_tensor(self.epsilon, dtype)
        rate = self._decayed_lr(dtype)
        return {"lr": rate, "epsilon": epsilon, "beta1_power": power, **numbers}

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return self._step("AdaMax", var, {"m": "m", "v": "v"}, {"grad": grad})

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        n = self._shared[var.dtype.base_dtype]
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = rows_of(m, indices) * n["beta1"] + grad * (1.0 - n["beta1"])
        largest = raw.Maximum(rows_of(v, indices) * n["beta2"], raw.Abs(grad))
        step = n["lr"] / (1.0 - n["beta1_power"]) * (mean / (largest + n["epsilon"]))
        return grouped(
            raw.ResourceScatterUpdate(m.handle, indices, mean),
            raw.ResourceScatterUpdate(v.handle, indices, largest),
            raw.ResourceScatterAdd(var.handle, indices, -step),
        )


class Nadam(StepOptimizer):
    """Adam with a momentum that looks ahead, and grows over the first steps.

    Args:
      learning_rate: number, schedule, or function that returns a number.
      beta_1: what is left of older gradients in each step.
      beta_2: what is left of older squares in each step.
      epsilon: keeps the divisor from 0.
      name: of its nodes.
      **kwargs: `clipnorm`, `clipvalue`, `lr`, `decay`: see `Optimizer`.

    Example:
      >>> keras.optimizers.Nadam(lr=0.5).get_config()["learning_rate"]
      0.5
    """

    SETTINGS = (
        "beta_1",
        "beta_2",
        "epsilon",
    )
    FIXED = ("epsilon",)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float = 1e-7,
        name: str = "Nadam",
        **kwargs: Any,
    ) -> None:
        kwargs.setdefault("decay", kwargs.pop("schedule_decay", 0.004))
        super().__init__(name, **kwargs)
        self._cache: Any = None
        self._set(learning_rate, kwargs, beta_1=beta_1, beta_2=beta_2, epsilon=epsilon)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        if self._cache is None:
            self._cache = tracked(1.0, "momentum_cache", dtypes.float32)
            self._weights.append(self._cache)
        for name in ("m", "v"):
            for var in var_list:
                self.add_slot(var, name)

    def _numbers(self, dtype: Any) -> dict[str, Any]:
        numbers = self._hypers(dtype, lr="learning_rate", beta1="beta_1", beta2="beta_2")
        step, beta1 = self._local_step(dtype), numbers["beta1"]
        now, ahead = (
            beta1 * (1.0 - 0.5 * raw.Pow(convert_to_tensor(0.96, dtype), self._initial_decay * at))
            for at in (step, step + 1.0)
        )
        schedule = cast(self._cache.value(), dtype) * now
        self._caching = self._cache.assign(cast(schedule, dtypes.float32))
        power = 1.0 - raw.Pow(numbers["beta2"], step)
        return {
            **numbers, "now": now, "ahead": ahead, "schedule": schedule, "power": power,
            "next": schedule * ahead,
        }  # fmt: skip

    def _step_of(self, n: Mapping[str, Any], grad: Any, m: Any, v: Any) -> Any:
        mean = (1.0 - n["now"]) * (grad / (1.0 - n["schedule"]))
        mean = mean + n["ahead"] * (m / (1.0 - n["next"]))
        return n["lr"] * mean / (raw.Sqrt(v / n["power"]) + self.epsilon)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        n, slots = self._shared[var.dtype.base_dtype], [self.get_slot(var, k) for k in ("m", "v")]
        m = n["beta1"] * slots[0].value() + (1.0 - n["beta1"]) * grad
        v = n["beta2"] * slots[1].value() + (1.0 - n["beta2"]) * raw.Square(grad)
        step = var.assign_sub(self._step_of(n, grad, m, v))
        return grouped(step, slots[0].assign(m), slots[1].assign(v), self._caching)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        n, slots = self._shared[var.dtype.base_dtype], [self.get_slot(var, k) for k in ("m", "v")]
        means = []
        for slot, beta, value in zip(
            slots, (n["beta1"], n["beta2"]), (grad, raw.Square(grad)), strict=True
        ):
            with scopes.control_dependencies([slot.assign(slot.value() * beta)]):
                means.append(self._resource_scatter_add(slot, indices, value * (1.0 - beta)))
        m, v = (rows_of(mean, indices) for mean in means)
        step = raw.ResourceScatterAdd(var.handle, indices, -self._step_of(n, grad, m, v))
        return grouped(step, *means, self._caching)
