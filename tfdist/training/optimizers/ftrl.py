"""FtrlOptimizer: follow the regularized leader.

Source: TF 1.15 API documentation, tf.train.FtrlOptimizer.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfdist.graph import scopes
from tfdist.graph.convert import constant
from tfdist.training.optimizers.optimizer import Optimizer
from tfdist.training.optimizers.step_optimizer import StepOptimizer

__all__ = ["FtrlOptimizer"]


class FtrlOptimizer(StepOptimizer, Optimizer):
    """Takes for each number the best value for all gradients so far; many are 0 exactly.

    Args:
      learning_rate: number or float tensor.
      learning_rate_power: how the rate falls with the sum of squares; 0 or below.
      initial_accumulator_value: with what the sum of squares begins; 0 or above.
      l1_regularization_strength: how far sums must be from 0 to count; 0 or above.
      l2_regularization_strength: draws numbers to 0; 0 or above.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.
      accum_name: of the slot with the sum of squares; `name` by default.
      linear_name: of the slot with the linear terms; `name` by default.
      l2_shrinkage_regularization_strength: draws numbers to 0 where their gradient is not 0 only;
        0 or above.

    Raises:
      ValueError: an argument is out of its bounds.

    Example:
      >>> w = Variable(0.0)
      >>> train = FtrlOptimizer(0.5, l1_regularization_strength=4.0).minimize(3.0 * w, None, [w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([train])
      ...     session.run(w)
      [None]
      np.float32(0.0)

    Source: McMahan et al. 2013, Ad Click Prediction: a View from the Trenches.
    """

    _SLOTS: ClassVar[dict[str, str]] = {"accum": "accum", "linear": "linear"}

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:
        parameters = {
            "lr": ("learning_rate", learning_rate),
            "l1": ("l1_regularization_strength", l1_regularization_strength),
            "l2": ("l2_regularization_strength", l2_regularization_strength),
            "l2_shrinkage": (
                "l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength,
            ),
            "lr_power": ("learning_rate_power", learning_rate_power),
        }  # fmt: skip
        bounded = {"initial_accumulator_value": initial_accumulator_value}
        bounded.update(list(parameters.values())[1:4])
        for what, value in bounded.items():
            if value < 0.0:
                raise ValueError(f"{what} {value} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power} needs to be negative or zero"
            )
        super().__init__(use_locking, name, parameters)
        self._STEP = "FtrlV2" if l2_shrinkage_regularization_strength > 0 else "Ftrl"
        self._initial_accumulator_value = initial_accumulator_value
        self._accum_name, self._linear_name = accum_name, linear_name

    def _create_slots(self, var_list: Any) -> None:
        for variable in var_list:
            dtype = variable.dtype.base_dtype
            begin = np.full(
                variable.get_shape().as_list(), self._initial_accumulator_value,
                dtype.as_numpy_dtype,
            )  # fmt: skip
            with scopes.colocate_with(variable.op):
                value = constant(begin, dtype)
            self._get_or_make_slot(variable, value, "accum", self._accum_name or self._name)
            self._zeros_slot(variable, "linear", self._linear_name or self._name)

    def _numbers(self, var: Any) -> dict[str, Any]:
        numbers = super()._numbers(var)
        if self._STEP == "Ftrl":
            del numbers["l2_shrinkage"]
        return numbers
