"""Python's operators on tensors: one table, set on `Tensor` when this file is imported.

`==` stays identity, as in TensorFlow 1.x, and `tensor[...]` is set where slicing is defined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops import comparison, division, elementwise, linear, math, sparse_elementwise
from tfdist.ops.sparse_tensor import SparseTensor


def _forward(op_def: OpDef, node: str | None = None) -> Callable[..., Any]:
    return lambda x, y: op_def(x, y, name=node)


def _reflected(op_def: OpDef, node: str | None = None) -> Callable[..., Any]:
    return lambda x, y: op_def(y, x, name=node)


def _add(x: Any, y: Any) -> Any:
    """Return x + y; strings are joined by the older op, which alone takes them."""
    strings = (x if hasattr(x, "_as_tensor") else y).dtype.name.startswith("string")
    return (math.ADD if strings else math.ADD_V2)(x, y, name="add")


def _mul(x: Any, y: Any) -> Any:
    """Return x * y; a sparse tensor stays sparse."""
    if type(y) is SparseTensor:
        return sparse_elementwise.multiply(y, x)
    return math.MUL(x, y, name="mul")


def _xor(x: Any, y: Any) -> Any:
    with name_scope(None, "xor", [x, y]) as scope:
        return comparison.logical_xor(x, y, name=scope)


# Name of the method -> function of the tensor and, if there is one, the other operand.
OPERATORS: dict[str, Callable[..., Any]] = {
    "__add__": _add,
    "__radd__": lambda x, y: _add(y, x),
    "__sub__": _forward(math.SUB, "sub"),
    "__rsub__": _reflected(math.SUB, "sub"),
    "__mul__": _mul,
    "__rmul__": _reflected(math.MUL, "mul"),
    "__truediv__": lambda x, y: division.truediv(x, y),
    "__rtruediv__": lambda x, y: division.truediv(y, x),
    "__floordiv__": _forward(math.FLOOR_DIV, "floordiv"),
    "__rfloordiv__": _reflected(math.FLOOR_DIV, "floordiv"),
    "__mod__": _forward(math.FLOOR_MOD, "mod"),
    "__rmod__": _reflected(math.FLOOR_MOD, "mod"),
    "__pow__": _forward(math.POW, "pow"),
    "__rpow__": _reflected(math.POW, "pow"),
    "__matmul__": lambda x, y: linear.matmul(x, y, name="matmul"),
    "__rmatmul__": lambda x, y: linear.matmul(y, x, name="matmul"),
    "__neg__": lambda x: math.raw.Neg(x),
    "__abs__": lambda x: elementwise.abs(x),
    "__and__": _forward(comparison.LOGICAL_AND, "and"),
    "__rand__": _reflected(comparison.LOGICAL_AND, "and"),
    "__or__": _forward(comparison.LOGICAL_OR, "or"),
    "__ror__": _reflected(comparison.LOGICAL_OR, "or"),
    "__xor__": _xor,
    "__rxor__": lambda x, y: _xor(y, x),
    "__invert__": lambda x: comparison.logical_not(x),
    "__lt__": _forward(comparison.LESS),
    "__le__": _forward(comparison.LESS_EQUAL),
    "__gt__": _forward(comparison.GREATER),
    "__ge__": _forward(comparison.GREATER_EQUAL),
}

for _name, _function in OPERATORS.items():
    setattr(Tensor, _name, _function)
