"""Moving averages: variables that follow others, or tensors, slowly.

Source: TF 1.15 API documentation, tf.train.ExponentialMovingAverage.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation
from tfdist.ops.array.cast import cast
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.variables.collections import (
    GraphKeys,
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import zeros_initializer
from tfdist.ops.variables.moving_average import assign_moving_average
from tfdist.ops.variables.variable import Variable
from tfdist.ops.variables.variable_scope import variable_scope
from tfdist.training.optimizers.slots import create_slot, create_zeros_slot

__all__ = ["ExponentialMovingAverage", "assign_moving_average", "weighted_moving_average"]

_HOLDERS = ("Variable", "VariableV2", "VarHandleOp")


def weighted_moving_average(
    value: Any,
    decay: Any,
    weight: Any,
    truediv: bool = True,
    collections: Any = None,
    name: str | None = None,
) -> Any:
    """Return the moving average of `value`, in which each step counts as much as its `weight`.

    Args:
      value: float tensor.
      decay: float: what is left of older steps.
      weight: tensor that broadcasts to the shape of `value`.
      truediv: whether whole numbers are divided as floats.
      collections: of the two variables; GLOBAL_VARIABLES by default.
      name: of the nodes and of the variables' scope.

    Example:
      >>> average = weighted_moving_average(constant(3.0), 0.5, 2.0)
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run(average)
      np.float32(3.0)
    """
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        options = {
            "shape": value.get_shape(), "dtype": value.dtype, "initializer": zeros_initializer(),
            "trainable": False, "collections": collections,
        }  # fmt: skip
        total = get_variable("value", **options)
        weights = get_variable("weight", **options)
        moved = [
            assign_moving_average(kept, new, decay, zero_debias=False)
            for kept, new in ((total, value * weight), (weights, weight))
        ]
        inner = scope.original_name_scope
        if truediv:
            return raw.RealDiv(moved[0], moved[1], name=inner)
        return raw.Div(moved[0], moved[1], name=inner)


class ExponentialMovingAverage:
    """Keeps an average of each of some variables or tensors, in which older values fade.

    Each average is a variable, called after what it follows, as
    "layer/weights/ExponentialMovingAverage"; each step moves it: average = decay * average +
    (1 - decay) * value. That of a variable begins with the variable's value, that of a tensor
    with zeros.

    Args:
      decay: float: what is left of the old average in each step, such as 0.999.
      num_updates: int tensor or Variable: steps done; while it is small, so is the decay:
        (1 + num_updates) / (10 + num_updates) at most.
      zero_debias: whether averages of tensors shall not show the zeros they began with.
      name: of the averages, behind the name of what they follow.

    Example:
      >>> w = Variable([1.0, 2.0], name="w")
      >>> ema = ExponentialMovingAverage(0.75)
      >>> moved = ema.apply([w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run(w.assign([5.0, 2.0]))
      ...     session.run([moved])
      ...     session.run(ema.average(w))
      array([5., 2.], dtype=float32)
      [None]
      array([2., 2.], dtype=float32)
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        """Return the name of the averages."""
        return self._name

    def apply(self, var_list: Iterable[Any] | None = None) -> Operation:
        """Return an operation that moves the averages once; it makes those that are not there.

        Args:
          var_list: variables or tensors of floats; all trainable variables by default.

        Raises:
          TypeError: one holds no floats.
        """
        followed = list(trainable_variables() if var_list is None else var_list)
        for each in followed:
            self._check(each)
        debiased = set()
        for each in (each for each in followed if each not in self._averages):
            with scopes.init_scope():
                average = self._new_average(each)
            self._averages[each] = average
            if self._zero_debias and not isinstance(each, Variable):
                debiased.add(each)
        with scopes.name_scope(self._name) as scope:
            decay = self._decay_now()
            moved = [
                assign_moving_average(self._averages[each], each, decay, each in debiased)
                for each in followed
            ]
            return group(*moved, name=scope)

    def _check(self, followed: Any) -> None:
        floats = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16)
        if followed.dtype.base_dtype not in floats:
            raise TypeError(f"The variables must be half, float, or double: {followed.name}")

    def _new_average(self, followed: Any) -> Any:
        if isinstance(followed, Variable):
            average = create_slot(followed, followed.initialized_value(), self._name)
            scopes.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, followed)
            return average
        return create_zeros_slot(
            followed, self._name, colocate_with_primary=followed.op.type in _HOLDERS
        )

    def _decay_now(self) -> Any:
        decay = convert_to_tensor(self._decay, name="decay")
        if self._num_updates is None:
            return decay
        done = cast(self._num_updates, dtypes.float32, name="num_updates")
        return raw.Minimum(decay, (1.0 + done) / (10.0 + done))

    def average(self, var: Any) -> Any:
        """Return the variable that is the average of `var`; None if there is none."""
        return self._averages.get(var)

    def average_name(self, var: Any) -> str:
        """Return the name of the average of `var`, whether it is there or is still to be made."""
        if var in self._averages:
            return self._averages[var].op.name  # type: ignore[no-any-return]
        name = f"{var.op.name}/{self._name}"
        return scopes.get_default_graph().unique_name(name, mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """Return a dict from names to variables, for a Saver that reads averages into variables.

        Args:
          moving_avg_variables: variables that take the values of their averages; by default the
            trainable ones and those that have an average.

        Returns:
          These variables under the names of their averages; all others under their own names.
        """
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        averaged = list(dict.fromkeys(moving_avg_variables))
        found = {self.average_name(variable): variable for variable in averaged}
        own = {variable.op.name for variable in averaged}
        for variable in dict.fromkeys(global_variables()):
            if variable.op.name not in own:
                found.setdefault(variable.op.name, variable)
        return found
