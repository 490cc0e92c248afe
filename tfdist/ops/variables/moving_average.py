"""A variable that follows values slowly.

Source: TF 1.15 API documentation, tf.train.ExponentialMovingAverage; the nodes by experiment.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.variables import state_ops
from tfdist.ops.variables.collections import global_variables
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import zeros_initializer
from tfdist.ops.variables.variable_scope import get_variable_scope, variable_scope


def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None
) -> Any:
    """Return an op that moves `variable` a part of the way to `value`, and gives it.

    Args:
      variable: Variable, the average.
      value: tensor of its type and shape.
      decay: float: what is left of the old average.
      zero_debias: whether the average began with zeros, and shall not show it: it is then kept in
        a variable `biased` beside `variable`, and its steps in `local_step`.
      name: of the nodes.

    Example:
      >>> average = Variable(1.0)
      >>> moved = assign_moving_average(average, 2.0, 0.75, zero_debias=False)
      >>> with Session() as session:
      ...     session.run(average.initializer)
      ...     session.run(moved)
      np.float32(1.25)
    """
    with scopes.name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        way = convert_to_tensor(1.0 - decay, name="decay")
        if way.dtype.base_dtype is not variable.dtype.base_dtype:
            way = cast(way, variable.dtype.base_dtype)
        if zero_debias:
            return state_ops.assign(variable, _without_zeros(variable, value, way), name=scope)
        return state_ops.assign_sub(variable, (variable - value) * way, name=scope)


def _without_zeros(variable: Any, value: Any, way: Any) -> Any:
    """Return the average of all values so far, without the zeros that it began with."""
    with variable_scope(variable.op.name), scopes.colocate_with(variable.op):
        options = {"dtype": variable.dtype.base_dtype, "trainable": False}
        zeros = zeros_initializer()
        biased = get_variable(
            _new_name("biased"), variable.get_shape(), initializer=zeros, **options
        )
        steps = get_variable(_new_name("local_step"), [], initializer=zeros, **options)
    moved = state_ops.assign_sub(biased, (biased - value) * way)
    counted = state_ops.assign_add(steps, 1)
    return moved / (1 - raw.Pow(1.0 - way, counted))


def _new_name(name: str) -> str:
    """Return a name that no variable of the scope has, unless variables are to be found again."""
    scope = get_variable_scope()
    if scope.reuse:
        return name
    taken = {variable.op.name for variable in global_variables()}
    number, candidate = 0, name
    while f"{scope.name}/{candidate}" in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
