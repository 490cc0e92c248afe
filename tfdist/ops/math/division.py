"""Division as Python does it: `/` of integers gives floats in Python 3, integers in Python 2."""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.math.arithmetic import FLOOR_DIV, REAL_DIV

__all__ = ["div", "divide", "truediv"]

# What integers are converted to before a true division.
QUOTIENTS = {
    **dict.fromkeys((dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16), dtypes.float32),
    **dict.fromkeys((dtypes.int32, dtypes.uint32, dtypes.int64, dtypes.uint64), dtypes.float64),
}


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Return x / y as Python 3 divides: integers give floats.

    Args:
      x: a tensor, or anything that converts to one; the shapes broadcast.
      y: of the same type; a Python number takes the type of the tensor.
      name: of the node.

    Raises:
      TypeError: the types differ.

    Example:
      >>> Session().run(truediv([7, 8], 2))
      array([3.5, 4. ])
    """
    found = _dtype_of(x, y)
    if found is not None and found.is_floating:
        tensor: Tensor = REAL_DIV(x, y, name=name or "truediv")
        return tensor
    with name_scope(name, "truediv", [x, y]) as scope:
        x, y = _converted_pair(x, y, found)
        wanted = QUOTIENTS.get(x.dtype.base_dtype)
        if wanted is not None:
            x, y = raw.Cast(x, DstT=wanted), raw.Cast(y, DstT=wanted)
        quotient: Tensor = REAL_DIV(x, y, name=scope)
        return quotient


def _dtype_of(*values: Any) -> DType | None:
    """Return the type of the first tensor, None if there is none."""
    for value in values:
        if hasattr(value, "_as_tensor"):
            base: DType = value.dtype.base_dtype
            return base
    return None


def _converted_pair(x: Any, y: Any, dtype: DType | None) -> tuple[Tensor, Tensor]:
    x = convert_to_tensor(x, None if hasattr(x, "_as_tensor") else dtype, "x")
    y = convert_to_tensor(y, None if hasattr(y, "_as_tensor") else x.dtype.base_dtype, "y")
    if x.dtype.base_dtype is not y.dtype.base_dtype:
        raise TypeError(
            f"x and y must have the same type, got {x.dtype.base_dtype.name} and "
            f"{y.dtype.base_dtype.name}; tf.cast converts"
        )
    return x, y


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Return x / y as Python 2 divides: rounded down for integers, true for floats.

    Args:
      x: a tensor, or anything that converts to one; the shapes broadcast.
      y: of the same type; a Python number takes the type of the tensor.
      name: of the node.

    Example:
      >>> Session().run([div(7, 2), div(7.0, 2.0)])
      [np.int32(3), np.float32(3.5)]
    """
    with name_scope(name, "div", [x, y]) as scope:
        x, y = _converted_pair(x, y, _dtype_of(x, y))
        divides = FLOOR_DIV if x.dtype.is_integer else REAL_DIV
        quotient: Tensor = divides(x, y, name=scope)
        return quotient


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x / y by Python's operator: two Python numbers give a number, not a tensor.

    Args:
      x: a tensor, a number or an array.
      y: a tensor, a number or an array.
      name: of the node; with a name the result is a tensor always.

    Example:
      >>> divide(7, 2), Session().run(divide([7.0], [2.0], name="half"))
      (3.5, array([3.5], dtype=float32))
    """
    if name is not None or _dtype_of(x, y) is not None:
        return truediv(x, y, name)
    return x / y
