"""Variables that are given values by name, without nodes that hold the values.

Source: TF 1.15 API documentation, tf.contrib.framework.assign_from_values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfdist.graph import scopes
from tfdist.graph.operation import Operation
from tfdist.ops.array.constants import placeholder
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.variables.collections import GraphKeys
from tfdist.training.global_step import assert_global_step, get_global_step

__all__ = ["assert_or_get_global_step", "assign_from_values", "assign_from_values_fn"]


def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Operation, dict[Any, Any]]:
    """Return an op that gives variables values, and what must be fed to it.

    Args:
      var_names_to_values: arrays by names of variables.

    Raises:
      ValueError: there is no variable, or are several, of a name; or an array has another size.

    Example:
      >>> v = get_variable("v", [2])
      >>> assign, feeds = contrib.framework.assign_from_values({"v": np.ones(2)})
      >>> with Session() as session:
      ...     session.run(assign, feeds)
      ...     session.run(v)
      array([1., 1.], dtype=float32)
    """
    feeds, assigned = {}, []
    for name, value in var_names_to_values.items():
        variable = _variable(name)
        told = placeholder(
            variable.dtype.base_dtype, variable.shape, f"placeholder/{variable.op.name}"
        )
        assigned.append(variable.assign(told))
        feeds[told] = np.asarray(value).reshape(variable.shape.as_list())
    return group(*assigned), feeds


def _variable(name: str) -> Any:
    found = [
        each
        for each in scopes.get_collection(GraphKeys.GLOBAL_VARIABLES, name)
        if each.op.name == name
    ]
    if not found:
        raise ValueError(f"Variable {name} wasn't found")
    return found[0]


def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], None]:
    """Return a function of a Session that gives variables values; see `assign_from_values`."""
    assign, feeds = assign_from_values(var_names_to_values)

    def callback(session: Any) -> None:
        session.run(assign, feeds)

    return callback


def assert_or_get_global_step(graph: Any = None, global_step_tensor: Any = None) -> Any:
    """Return the global step that is given, after a check, or that of the graph; None if none is.

    Raises:
      TypeError: it is no scalar of integers.

    Example:
      >>> step = train.create_global_step()
      >>> contrib.framework.assert_or_get_global_step() is step
      True
    """
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor
