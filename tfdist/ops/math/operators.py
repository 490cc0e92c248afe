"""Python's operators on tensors: one table, set on `Tensor` when this file is imported.

`==` stays identity, as in TensorFlow 1.x, and `tensor[...]` is set where slicing is defined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.math import arithmetic, comparison, division, elementwise
from tfdist.ops.math import matmul as math_matmul
from tfdist.ops.sparse import elementwise as sparse_elementwise
from tfdist.ops.sparse.sparse_tensor import SparseTensor


def _forward(op_def: OpDef, node: str | None = None) -> Callable[..., Any]:
    return lambda x, y: op_def(x, y, name=node)


def _reflected(op_def: OpDef, node: str | None = None) -> Callable[..., Any]:
    return lambda x, y: op_def(y, x, name=node)


def _add(x: Any, y: Any) -> Any:
    """Return x + y; strings are joined by the older op, which alone takes them."""
    strings = (x if hasattr(x, "_as_tensor") else y).dtype.name.startswith("string")
    return (arithmetic.ADD if strings else arithmetic.ADD_V2)(x, y, name="add")


def _mul(x: Any, y: Any) -> Any:
    """Return x * y; a sparse tensor stays sparse."""
    if type(y) is SparseTensor:
        return sparse_elementwise.multiply(y, x)
    return arithmetic.MUL(x, y, name="mul")


def _xor(x: Any, y: Any) -> Any:
    with name_scope(None, "xor", [x, y]) as scope:
        return comparison.logical_xor(x, y, name=scope)


# Name of the method -> function of the tensor and, if there is one, the other operand.
OPERATORS: dict[str, Callable[..., Any]] = {
    "__add__": _add,
    "__radd__": lambda x, y: _add(y, x),
    "__sub__": _forward(arithmetic.SUB, "sub"),
    "__rsub__": _reflected(arithmetic.SUB, "sub"),
    "__mul__": _mul,
    "__rmul__": _reflected(arithmetic.MUL, "mul"),
    "__truediv__": lambda x, y: division.truediv(x, y),
    "__rtruediv__": lambda x, y: division.truediv(y, x),
    "__div__": lambda x, y: division.div(x, y),
    "__rdiv__": lambda x, y: division.div(y, x),
    "__floordiv__": _forward(arithmetic.FLOOR_DIV, "floordiv"),
    "__rfloordiv__": _reflected(arithmetic.FLOOR_DIV, "floordiv"),
    "__mod__": _forward(arithmetic.FLOOR_MOD, "mod"),
    "__rmod__": _reflected(arithmetic.FLOOR_MOD, "mod"),
    "__pow__": _forward(arithmetic.POW, "pow"),
    "__rpow__": _reflected(arithmetic.POW, "pow"),
    "__matmul__": lambda x, y: math_matmul.matmul(x, y, name="matmul"),
    "__rmatmul__": lambda x, y: math_matmul.matmul(y, x, name="matmul"),
    "__neg__": lambda x: arithmetic.raw.Neg(x),
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
