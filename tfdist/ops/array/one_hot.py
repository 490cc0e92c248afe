"""One-hot vectors: a value at each index, another elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.range import range as range_
from tfdist.ops.framework.shared_values import as_elements

__all__ = ["one_hot"]

ONE_HOT = OpDef(
    "OneHot(indices: TI, depth: int32, on_value: T, off_value: T) -> output: T "
    "[axis: int = -1; T: type; TI: type = int64 {uint8,int32,int64}]"
)


@ONE_HOT.shape
def one_hot_shape(
    indices: Shape, depth: Shape, on_value: Shape, off_value: Shape, *, depth_value: Any, axis: int
) -> Shape:
    if axis < -1:
        raise InvalidArgumentError("axis must be >= -1")
    if depth:
        raise InvalidArgumentError(f"Input must be scalar but has rank {len(depth)}")
    if depth_value is not None and depth_value < 0:
        raise InvalidArgumentError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {depth_value}"
        )
    if indices is None:
        return None
    at = len(indices) if axis == -1 else axis
    return (*indices[:at], None if depth_value is None else int(depth_value), *indices[at:])


@ONE_HOT.kernel
def one_hot_kernel(indices: Any, depth: Any, on_value: Any, off_value: Any, *, axis: int) -> Any:
    on_value, off_value = as_elements(on_value), as_elements(off_value)
    if axis > np.ndim(indices):
        raise InvalidArgumentError(
            f"Expected axis to be -1 or between [0, {np.ndim(indices)}).  But received: {axis}"
        )
    if depth < 0:
        raise InvalidArgumentError(f"depth must be non-negative, got: {depth}")
    check_room((*np.shape(indices), depth), on_value.dtype)
    flat = np.asarray(indices).reshape(-1)
    if flat.size * depth <= _FEW:
        made = np.where(flat[:, None] == np.arange(depth), on_value, off_value)
    else:
        made = _few_of_many(flat, depth, on_value, off_value)
    made = made.reshape(*np.shape(indices), int(depth))
    return made if axis in (-1, made.ndim - 1) else np.moveaxis(made, -1, axis).copy()


_FEW = 1024  # elements that are compared all, which is one call


def _few_of_many(flat: Any, depth: Any, on_value: Any, off_value: Any) -> Any:
    """Return rows of `off_value`, but for an element each."""
    (there,) = np.nonzero((flat >= 0) & (flat < depth))
    made = np.full((len(flat), int(depth)), off_value)
    made[there, flat[there]] = on_value
    return made


@ONE_HOT.gradient
def one_hot_gradient(op: Any, d_output: Any) -> Any:
    indices, depth, _, _ = op.inputs
    one = convert.constant(1, d_output.dtype)
    hot = raw.OneHot(indices, depth, one, raw.ZerosLike(one), axis=op.get_attr("axis"))
    axes = range_(0, raw.Rank(d_output))
    d_on = raw.Sum(raw.Mul(d_output, hot), axes)
    return None, None, d_on, raw.Sub(raw.Sum(d_output, axes), d_on)


def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: int | None = None,
    dtype: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `on_value` at each index along a new axis, `off_value` elsewhere.

    Args:
      indices: integers [d0, ..., dn]; one that is not in [0, depth) gives no `on_value` at all.
      depth: the length of the new axis.
      on_value: a scalar, by default 1.
      off_value: a scalar, by default 0.
      axis: where the new axis stands; by default the last.
      dtype: of the result; by default that of the values, float32 if none is given.
      name: of the node.

    Example:
      >>> Session().run(one_hot([0, 2], 3))
      array([[1., 0., 0.],
             [0., 0., 1.]], dtype=float32)
    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as scope:
        wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        on_type = _hot_type(on_value, wanted, "on_value")
        off_type = _hot_type(off_value, wanted, "off_value")
        found = wanted or on_type or off_type or dtypes.float32
        if on_type and off_type and on_type is not off_type:
            raise TypeError(
                f"dtype {on_type} of on_value does not match dtype {off_type} of off_value"
            )
        if on_value is None:
            on_value = convert.constant(1, found, name="on_value")
        if off_value is None:
            off_value = convert.constant(0, found, name="off_value")
        axis = -1 if axis is None else axis
        return raw.OneHot(indices, depth, on_value, off_value, axis=axis, name=scope)


def _hot_type(value: Any, wanted: DType | None, name: str) -> DType | None:
    """Return the type of a value, None if there is none; TypeError if another is wanted."""
    if value is None:
        return None
    found = convert.convert_to_tensor(value).dtype.base_dtype
    if wanted not in (None, found):
        raise TypeError(f"dtype {found!r} of {name} does not match dtype parameter {wanted!r}")
    return found
