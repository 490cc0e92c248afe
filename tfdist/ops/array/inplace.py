"""Rows of a tensor changed by their numbers, and room for such a tensor: Empty, InplaceUpdate.

TensorFlow writes to the buffer of the input, whoever else holds it; here the result is another
tensor and the input stays as it is. Programs that go on with the result, as they should, see no
difference.

Source: TF 1.15 API documentation, tf.raw_ops.InplaceUpdate and its like.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.ops.array.repeated_indices import change_rows

__all__: list[str] = []

EMPTY = OpDef(
    "Empty(shape: int32) -> output: dtype [dtype: type; init: bool = False] !"
).not_differentiable()


@EMPTY.shape
def empty_shape(shape: Shape, *, shape_value: Any) -> Shape:
    shapes.require_rank(shape, "shape", 1)
    if shape_value is not None:
        return shapes.from_constant(shape_value)
    return None if shape is None or shape[0] is None else (None,) * shape[0]


@EMPTY.kernel
def empty_kernel(shape: Any, *, dtype: DType, init: bool) -> Any:
    dims = tuple(shape.tolist())
    if min(dims, default=0) < 0:
        raise InvalidArgumentError(f"a shape must not have negative dimensions, got {list(dims)}")
    check_room(dims, dtype.as_numpy_dtype)
    if dtype is dtypes.string:
        return np.full(dims, b"", object)
    return np.zeros(dims, dtype.as_numpy_dtype)


def _changing(name: str, change: Callable[[Any, Any, Any], Any]) -> OpDef:
    """Define an op that changes some rows, as often as each is named, and gives all rows."""
    op_def = OpDef(f"{name}(x: T, i: int32, v: T) -> y: T [T: type]")

    def inplace_kernel(x: Any, i: Any, v: Any) -> Any:
        _require_fit(x, i, v)
        y = x.copy()
        if i.size:
            change(y, i % len(y), v)  # numbers out of range wrap around, as in TensorFlow
        return y

    op_def.shape(lambda x, i, v: x)
    op_def.kernel(inplace_kernel)
    return op_def


def _require_fit(x: Any, i: Any, v: Any) -> None:
    if np.ndim(i) != 1:
        raise InvalidArgumentError(f"i must be a vector. It has shape {list(np.shape(i))}")
    if not np.ndim(x) or np.shape(v) != (len(i), *np.shape(x)[1:]):
        wanted = [len(i), *np.shape(x)[1:]] if np.ndim(x) else "that of rows, but x is a scalar"
        raise InvalidArgumentError(
            f"x and v shape doesn't match: {list(np.shape(x))} vs. {list(np.shape(v))}; the shape "
            f"of v must be {wanted}"
        )
    if i.size and not len(x):
        raise InvalidArgumentError(f"x has no rows, but i names {i.tolist()}")


def _each(ufunc: np.ufunc) -> Callable[[Any, Any, Any], None]:
    def change(rows: Any, places: Any, by: Any) -> None:
        if rows.ndim > 1:
            change_rows(ufunc, rows, places, by)
        else:
            ufunc.at(rows, places, by)

    return change


INPLACE_UPDATE = _changing("InplaceUpdate", np.ndarray.__setitem__)
INPLACE_ADD = _changing("InplaceAdd", _each(np.add))
INPLACE_SUB = _changing("InplaceSub", _each(np.subtract))

DEEP_COPY = OpDef("DeepCopy(x: T) -> y: T [T: type] !")


@DEEP_COPY.shape
def deep_copy_shape(x: Shape) -> Shape:
    return x


@DEEP_COPY.kernel
def deep_copy_kernel(x: Any) -> Any:
    return x.copy()
