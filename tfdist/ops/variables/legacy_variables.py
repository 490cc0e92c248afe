"""`variable_op` and its relatives: variables as bare tensors, as old programs make them.

Source: TF 1.15 API documentation, tensorflow.python.ops.state_ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.variables.state_ops import VARIABLE, VARIABLE_V2


def variable_op(
    shape: Any,
    dtype: Any,
    name: str = "Variable",
    set_shape: bool = True,
    container: str = "",
    shared_name: str = "",
) -> Tensor:
    """Return a variable of a kind that versions before 0.12 write, whose shape may be open.

    Args:
      shape: of its values.
      dtype: of its values.
      name: of the node.
      set_shape: whether values must have the shape.
      container: that keeps it.
      shared_name: under which it is kept; the node's name by default.
    """
    wanted = TensorShape(shape if set_shape else None)
    plain = wanted if wanted.is_fully_defined() else TensorShape([])
    variable = _made(VARIABLE, plain, dtype, name, container, shared_name)
    if set_shape:
        variable.set_shape(wanted)
    return variable


def variable_op_v2(
    shape: Any,
    dtype: Any,
    name: str = "Variable",
    container: str = "",
    shared_name: str = "",
) -> Tensor:
    """Return a variable; see `variable_op` for the arguments."""
    return _made(VARIABLE_V2, TensorShape(shape), dtype, name, container, shared_name)


def _made(
    op_def: OpDef, shape: TensorShape, dtype: Any, name: str, container: str, shared_name: str
) -> Tensor:
    made: Tensor = op_def(
        shape=shape, dtype=dtypes.as_dtype(dtype), name=name, container=container,
        shared_name=shared_name,
    )  # fmt: skip
    return made


def init_variable(v: Any, init: Any, name: str = "init") -> Tensor:
    """Return a variable after it got its first value.

    Args:
      v: the variable.
      init: the value, or a function that makes it of the shape and the type.
      name: of the node, inside of the variable's scope.
    """
    with scopes.control_dependencies(None), scopes.name_scope(f"{v.op.name}/"), \
            scopes.colocate_with(v.op), scopes.name_scope(name) as scope:  # fmt: skip
        value = _called(init, v) if callable(init) else convert_to_tensor(init)
        assigned: Tensor = raw.Assign(v, value, name=scope)
        return assigned


def _called(init: Callable[[Any, Any], Any], variable: Any) -> Any:
    if not variable.get_shape().is_fully_defined():
        raise ValueError("init_variable needs a variable of known shape for a function")
    return init(variable.get_shape().as_list(), variable.dtype.base_dtype)
