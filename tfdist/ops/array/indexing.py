"""`tensor[1:3, ..., None, -1]`: what is between the brackets, as a StridedSlice."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import lazy
from tfdist.base.tensor_shape import Dimension
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.strided_slice import MASK_NAMES

__all__ = ["newaxis"]

# gather brings the gradients with it, which an index does not need
_boolean_mask = lazy.function("tfdist.ops.array.boolean_mask", "boolean_mask")

newaxis = None


def getitem(tensor: Any, key: Any) -> Tensor:
    """Return `tensor[key]`: what `Tensor.__getitem__` is.

    Args:
      tensor: a Tensor or a Variable.
      key: an int, a slice, `...`, None (tf.newaxis), a scalar integer tensor, or a tuple of such;
        a boolean tensor or array selects elements as tf.boolean_mask does.

    Raises:
      TypeError: the key has an entry of another kind.
      ValueError: an index is out of range, or there are more entries than axes.

    Example:
      >>> Session().run(getitem(constant([[1, 2, 3], [4, 5, 6]]), (..., -1)))
      array([3, 6], dtype=int32)
    """
    if _is_mask(key):
        found: Tensor = _boolean_mask(tensor, key)
        return found
    entries = list(key) if isinstance(key, list | tuple) else [key]
    parts = [_parts(entry) for entry in entries]
    attrs = dict.fromkeys(MASK_NAMES, 0)
    for i, part in enumerate(parts):
        for mask in part[3:]:
            attrs[mask] |= 1 << i
    with scopes.name_scope("strided_slice", None, [tensor]) as scope:
        vectors = [_vector([part[position] for part in parts]) for position in range(3)]
        return raw.StridedSlice(tensor, *_of_one_type(vectors), **attrs, name=scope)


def _is_mask(key: Any) -> bool:
    dtype = getattr(key, "dtype", None)
    return isinstance(key, bool) or (dtype is not None and dtype in (bool, "bool"))


def _parts(entry: Any) -> tuple[Any, ...]:
    """Return begin, end and stride of one entry, and the names of its masks."""
    if entry is None:
        return 0, 0, 1, "new_axis_mask"
    if entry is Ellipsis:
        return 0, 0, 1, "ellipsis_mask"
    if not isinstance(entry, slice):
        position = _position(entry)
        return position, position + 1, 1, "shrink_axis_mask"
    masks = ("begin_mask",) * (entry.start is None) + ("end_mask",) * (entry.stop is None)
    begin, end, step = (
        default if bound is None else _position(bound)
        for bound, default in ((entry.start, 0), (entry.stop, 0), (entry.step, 1))
    )
    return begin, end, step, *masks


def _position(entry: Any) -> Any:
    if hasattr(entry, "_as_tensor"):
        tensor = entry._as_tensor(False)
        if tensor.dtype.is_integer and tensor.plain_shape in ((), None):
            return tensor
    elif isinstance(entry, Dimension) or (hasattr(entry, "__index__") and np.ndim(entry) == 0):
        return int(entry)
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {entry!r}"
    )


def _vector(values: list[Any]) -> Any:
    """Return a vector of ints and scalar tensors, named as TensorFlow names it."""
    types = {value.dtype.base_dtype for value in values if hasattr(value, "_as_tensor")}
    if not types:
        wide = any(abs(value) >> 31 for value in values)
        return convert.constant(np.array(values, np.int64 if wide else np.int32), name="stack")
    dtype = min(types, key=lambda dtype: dtype.size) if len(types) == 1 else "int64"
    with scopes.name_scope("stack") as scope:
        scalars = [_scalar(value, dtype, str(i)) for i, value in enumerate(values)]
        return raw.Pack(scalars, name=scope)


def _scalar(value: Any, dtype: Any, name: str) -> Tensor:
    if not hasattr(value, "_as_tensor"):
        return convert.constant(value, dtype, name=name)
    return value if value.dtype.base_dtype == dtype else raw.Cast(value, DstT=dtype)


def _of_one_type(vectors: list[Tensor]) -> list[Tensor]:
    if all(vector.dtype == vectors[0].dtype for vector in vectors):
        return vectors
    return [v if v.dtype == "int64" else raw.Cast(v, DstT="int64", name="Cast") for v in vectors]


Tensor.__getitem__ = getitem  # type: ignore[misc, attr-defined]
