"""Optimizers with a rate for each number, which becomes smaller where gradients were large.

Source: TF 1.15 API documentation, tf.train.AdagradOptimizer and those named below.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfdist.graph import scopes
from tfdist.graph.convert import constant
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.array.fill import fill
from tfdist.ops.array.shape import shape as shape_of
from tfdist.ops.variables.initializers import constant_initializer, ones_initializer
from tfdist.training.optimizers.optimizer import Optimizer
from tfdist.training.optimizers.step_optimizer import StepOptimizer

__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "ProximalAdagradOptimizer",
    "RMSPropOptimizer",
]  # fmt: skip


class AdagradOptimizer(StepOptimizer, Optimizer):
    """Divides the learning rate by the root of the sum of all squared gradients so far.

    Args:
      learning_rate: number, float tensor, or function that returns one.
      initial_accumulator_value: with what the slot "accumulator", the sum, begins; above 0.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.

    Raises:
      ValueError: `initial_accumulator_value` is not above 0.

    Example:
      >>> w = Variable(5.0)
      >>> train = AdagradOptimizer(0.5, 7.0).minimize(3.0 * w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      np.float32(4.625)

    Source: Duchi et al. 2011, Adaptive Subgradient Methods.
    """

    _STEP = "Adagrad"
    _SLOTS: ClassVar[dict[str, str]] = {"accum": "accumulator"}

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        _require_positive(initial_accumulator_value, "initial_accumulator_value")
        super().__init__(use_locking, name, {"lr": ("learning_rate", learning_rate)})
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: Any) -> None:
        begin = self._initial_accumulator_value
        for variable in var_list:
            dtype, shape = variable.dtype.base_dtype, variable.get_shape()
            if shape.is_fully_defined():
                self._get_or_make_slot_with_initializer(
                    variable, constant_initializer(begin, dtype), shape, dtype, "accumulator",
                    self._name,
                )  # fmt: skip
            else:
                value = fill(shape_of(variable), cast(begin, dtype))
                self._get_or_make_slot(variable, value, "accumulator", self._name)


class AdagradDAOptimizer(StepOptimizer, Optimizer):
    """Does as Adagrad, on the sums of all gradients: what they do not move stays at 0.

    For sparse linear models. `global_step` counts the steps of the schedule, and must be raised.

    Args:
      learning_rate: number or float tensor.
      global_step: int64 Variable or tensor: steps done before this one.
      initial_gradient_squared_accumulator_value: with what the sum of squares begins; above 0.
      l1_regularization_strength: how far, times the step, sums must be from 0 to count.
      l2_regularization_strength: how much of a number is taken away.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.

    Raises:
      ValueError: `initial_gradient_squared_accumulator_value` is not above 0.

    Example:
      >>> w, step = Variable(5.0), Variable(0, dtype="int64", trainable=False)
      >>> train = AdagradDAOptimizer(0.5, step, 7.0).minimize(3.0 * w, step, [w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      np.float32(-0.375)

    Source: Duchi et al. 2011, Adaptive Subgradient Methods.
    """

    _STEP = "AdagradDA"
    _SLOTS: ClassVar[dict[str, str]] = {
        "gradient_accumulator": "gradient_accumulator",
        "gradient_squared_accumulator": "gradient_squared_accumulator",
    }

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        _require_positive(
            initial_gradient_squared_accumulator_value,
            "initial_gradient_squared_accumulator_value",
        )
        super().__init__(use_locking, name, {"lr": ("learning_rate", learning_rate)})
        self._initial_value = initial_gradient_squared_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._global_step = global_step

    def _create_slots(self, var_list: Any) -> None:
        for variable in var_list:
            with scopes.colocate_with(variable.op):
                total = _filled(0.0, variable)
                squares = _filled(self._initial_value, variable)
            self._get_or_make_slot(variable, total, "gradient_accumulator", self._name)
            self._get_or_make_slot(variable, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        with scopes.colocate_with(self._learning_rate_tensor.op):
            self._steps = raw.Identity(self._global_step) + 1

    def _numbers(self, var: Any) -> dict[str, Any]:
        steps = raw.Identity(self._steps)
        dtype = var.dtype.base_dtype
        return {
            "lr": cast(self._learning_rate_tensor, dtype), "l1": cast(self._l1, dtype),
            "l2": cast(self._l2, dtype), "global_step": steps,
        }  # fmt: skip


class AdadeltaOptimizer(StepOptimizer, Optimizer):
    """Takes the rate for each number from its latest steps and gradients, both squared.

    Args:
      learning_rate: number, float tensor, or function that returns one: factor of all steps.
      rho: number, or function that returns one: what is left of older squares in each step.
      epsilon: number, or function that returns one: added to both sums of squares.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.

    Example:
      >>> w = Variable(5.0)
      >>> optimizer = AdadeltaOptimizer(1.0)
      >>> train = optimizer.minimize(w * w, var_list=[w])
      >>> optimizer.get_slot_names()
      ['accum', 'accum_update']

    Source: Zeiler 2012, arXiv 1212.5701.
    """

    _STEP = "Adadelta"
    _SLOTS: ClassVar[dict[str, str]] = {"accum": "accum", "accum_update": "accum_update"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        parameters = {"lr": ("lr", learning_rate), "rho": ("rho", rho),
                      "epsilon": ("epsilon", epsilon)}  # fmt: skip
        super().__init__(use_locking, name, parameters)

    def _create_slots(self, var_list: Any) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "accum", self._name)
            self._zeros_slot(variable, "accum_update", self._name)


class RMSPropOptimizer(StepOptimizer, Optimizer):
    """Divides the learning rate by the root of the mean of the latest squared gradients.

    Args:
      learning_rate: number, float tensor, or function that returns one.
      decay: number, or function that returns one: what is left of older squares in each step.
      momentum: number, or function that returns one: what is left of older steps in each step.
      epsilon: number, or function that returns one: added to the mean of squares.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      centered: whether the square of the mean gradient is taken from the mean square.
      name: of the nodes it makes.

    Example:
      >>> w = Variable(5.0)
      >>> train = RMSPropOptimizer(0.5, decay=0.75).minimize(w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      np.float32(4.5)

    Source: Tieleman and Hinton 2012, lecture 6.5 of Neural Networks for Machine Learning.
    """

    _SLOTS: ClassVar[dict[str, str]] = {"ms": "rms", "mom": "momentum"}

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        parameters = {
            "lr": ("learning_rate", learning_rate), "rho": ("decay", decay),
            "momentum": ("momentum", momentum), "epsilon": ("epsilon", epsilon),
        }  # fmt: skip
        super().__init__(use_locking, name, parameters)
        self._centered = centered
        self._STEP = "CenteredRMSProp" if centered else "RMSProp"
        if centered:
            self._SLOTS = {**self._SLOTS, "mg": "mg"}  # type: ignore[misc]

    def _create_slots(self, var_list: Any) -> None:
        for variable in var_list:
            dtype, shape = variable.dtype.base_dtype, variable.get_shape()
            ones = ones_initializer(dtype)
            self._get_or_make_slot_with_initializer(variable, ones, shape, dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(variable, "mg", self._name)
            self._zeros_slot(variable, "momentum", self._name)


class ProximalAdagradOptimizer(StepOptimizer, Optimizer):
    """Does as Adagrad, and draws each number to 0 as well.

    Args:
      learning_rate: number or float tensor.
      initial_accumulator_value: with what the slot "accumulator" begins; above 0.
      l1_regularization_strength: by how much, times the rate, a number comes nearer to 0.
      l2_regularization_strength: by what factor it shrinks: 1 / (1 + this times the rate).
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.

    Raises:
      ValueError: `initial_accumulator_value` is not above 0.

    Example:
      >>> w = Variable(5.0)
      >>> train = ProximalAdagradOptimizer(0.5, 7.0, 2.0).minimize(3.0 * w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      np.float32(4.375)

    Source: Duchi et al. 2011; Duchi and Singer 2009.
    """

    _STEP = "ProximalAdagrad"
    _SLOTS: ClassVar[dict[str, str]] = {"accum": "accumulator"}

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        _require_positive(initial_accumulator_value, "initial_accumulator_value")
        parameters = {
            "lr": ("learning_rate", learning_rate),
            "l1": ("l1_regularization_strength", l1_regularization_strength),
            "l2": ("l2_regularization_strength", l2_regularization_strength),
        }
        super().__init__(use_locking, name, parameters)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: Any) -> None:
        for variable in var_list:
            with scopes.colocate_with(variable.op):
                value = _filled(self._initial_accumulator_value, variable)
            self._get_or_make_slot(variable, value, "accumulator", self._name)


def _filled(value: Any, variable: Any) -> Any:
    """Return a constant of the shape of `variable`."""
    shape, dtype = variable.get_shape().as_list(), variable.dtype.base_dtype
    return constant(np.full(shape, value, dtype.as_numpy_dtype), dtype)


def _require_positive(value: float, what: str) -> None:
    if value <= 0.0:
        raise ValueError(f"{what} must be positive: {value}")
