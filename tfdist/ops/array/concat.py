"""Several tensors to one, and a stack back to several: concat, stack, unstack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Dim, Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.shape import rank, shape
from tfdist.ops.framework.shared_values import as_elements, or_zeros

__all__ = ["concat", "pack", "stack", "unpack", "unstack"]

CONCAT_V2 = OpDef(
    "ConcatV2(values: N*T, axis: Tidx) -> output: T "
    "[N: int >=2; T: type; Tidx: type = int32 {index}]"
)


@CONCAT_V2.shape
def concat_v2_shape(values: list[Shape], axis: Shape, *, axis_value: Any) -> Shape:
    shapes.require_rank(axis, "axis", 0)
    known = [value for value in values if value is not None]
    if not known:
        return None
    rank = len(known[0])
    if not rank:
        raise InvalidArgumentError("Can't concatenate scalars (use tf.stack instead)")
    for value in known:
        shapes.require_rank(value, "values", rank)
    if axis_value is None:
        return (None,) * rank
    at = int(axis_value)
    shapes.require_rank(known[0], f"axis {at}", at + 1 if at >= 0 else -at, shapes.ANY_RANK)
    return _joined(values, known, at % rank)


def _joined(values: list[Shape], known: list[Any], axis: int) -> Shape:
    before: Shape = None
    after: Shape = None
    for value in known:
        before = shapes.merge(before, value[:axis], f"axes before {axis}")
        after = shapes.merge(after, value[axis + 1 :], f"axes after {axis}")
    lengths = [None if value is None else value[axis] for value in values]
    total = None if None in lengths else sum(lengths)  # type: ignore[arg-type]
    return (*before, total, *after)  # type: ignore[misc]


@CONCAT_V2.kernel
def concat_v2_kernel(values: list[Any], axis: Any) -> Any:
    if getattr(axis, "shape", ()):
        raise InvalidArgumentError(
            f"axis tensor should be a scalar integer, but got shape {shapes.brackets(axis.shape)}"
        )
    try:
        return np.concatenate(values, int(axis))
    except ValueError:
        raise InvalidArgumentError(_unjoinable([np.shape(each) for each in values], axis)) from None


def _unjoinable(found: list[tuple[int, ...]], axis: Any) -> str:
    """Return why arrays of these shapes cannot be concatenated."""
    rank = len(found[0])
    if not -rank <= axis < rank:
        bounds = f"[{-rank}, {rank}), but got {axis}"
        return f"ConcatOp : Expected concatenating dimensions in the range {bounds}"
    first = shapes.brackets(found[0])
    for place, other in enumerate(found):
        pair = f"shape[0] = {first} vs. shape[{place}] = {shapes.brackets(other)}"
        if len(other) != rank:
            return f"ConcatOp : Ranks of all input tensors should match: {pair}"
        if any(
            a != b
            for at, (a, b) in enumerate(zip(found[0], other, strict=True))
            if at != axis % rank
        ):
            return f"ConcatOp : Dimensions of inputs should match: {pair}"
    return "ConcatOp : the inputs do not fit"


@CONCAT_V2.gradient
def concat_v2_gradient(op: Any, d_output: Any) -> Any:
    *values, axis = op.inputs
    return (*_cut_as(d_output, values, axis), None)


def _cut_as(joined: Any, parts: Sequence[Any], axis: Any) -> list[Tensor]:
    """Return `joined` cut along `axis` into pieces of the shapes of `parts`."""
    place = raw.FloorMod(raw.Cast(axis, DstT="int32"), rank(parts[0]), name="mod")
    dims = [shape(part) for part in parts]
    starts = raw.ConcatOffset(place, dims)
    return [raw.Slice(joined, start, dim) for start, dim in zip(starts, dims, strict=True)]


CONCAT_OFFSET = OpDef(
    "ConcatOffset(concat_dim: int32, shape: N*int32) -> offset: N*int32 [N: int >=2]"
).not_differentiable()


@CONCAT_OFFSET.shape
def concat_offset_shape(concat_dim: Shape, shape: list[Shape]) -> list[Shape]:
    return shape


@CONCAT_OFFSET.kernel
def concat_offset_kernel(concat_dim: Any, shape: list[Any]) -> Any:
    starts = np.zeros((len(shape), len(shape[0])), np.int32)
    for place, dims in enumerate(shape[:-1]):
        starts[place + 1, concat_dim] = starts[place, concat_dim] + dims[concat_dim]
    return list(starts)


CONCAT = OpDef("Concat(concat_dim: int32, values: N*T) -> output: T [N: int >=2; T: type]")


@CONCAT.shape
def concat_shape(concat_dim: Shape, values: list[Shape], *, concat_dim_value: Any) -> Shape:
    return concat_v2_shape(values, concat_dim, axis_value=concat_dim_value)


@CONCAT.kernel
def concat_kernel(concat_dim: Any, values: list[Any]) -> Any:
    return concat_v2_kernel(values, concat_dim)


@CONCAT.gradient
def concat_gradient(op: Any, d_output: Any) -> Any:
    axis, *values = op.inputs
    return (None, *_cut_as(d_output, values, axis))


def concat(values: Any, axis: Any = None, name: str = "concat", concat_dim: Any = None) -> Tensor:
    """Return `values` one after the other along `axis`.

    Args:
      values: tensors that differ in length along `axis` only; one tensor is returned as it is.
      axis: an int, or a scalar tensor; below 0 it counts from the last. `tf.concat(axis, values)`,
        the order of the first releases, is understood as well.
      name: of the node.
      concat_dim: the old name of `axis`.

    Raises:
      ValueError: the shapes do not fit.

    Example:
      >>> Session().run(concat([[[1, 2]], [[3, 4], [5, 6]]], 0))
      array([[1, 2],
             [3, 4],
             [5, 6]], dtype=int32)
    """
    axis = concat_dim if axis is None else axis
    if not _is_sequence(values) and _is_sequence(axis):
        values, axis = axis, values
    if not isinstance(values, list | tuple):
        values = [values]
    if len(values) != 1:
        return raw.ConcatV2(list(values), axis, name=name)
    with scopes.name_scope(name):
        convert.convert_to_tensor(axis, "int32", name="concat_dim")
        return raw.Identity(values[0], name=name)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, list | tuple)


PACK = OpDef("Pack(values: N*T) -> output: T [N: int >=1; T: type; axis: int = 0]")


@PACK.shape
def pack_shape(values: list[Shape], *, axis: int) -> Shape:
    joint: Shape = None
    for value in values:
        joint = shapes.merge(joint, value, "shapes to stack")
    if joint is None:
        return None
    at = shapes.axis_of(axis, len(joint) + 1)
    return (*joint[:at], len(values), *joint[at:])


def _is_plain(part: Any) -> bool:
    """Return whether it is an array of numbers in the host's memory."""
    return isinstance(part, np.ndarray) and part.dtype != object


@PACK.kernel
def pack_kernel(values: list[Any], *, axis: int) -> Any:
    parts = [as_elements(value) for value in values]
    rank = getattr(parts[0], "ndim", 0) + 1  # a list of tensors is a scalar
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"axis = {axis} not in [{-rank}, {rank})")
    try:
        if isinstance(parts[0], np.generic) or (not axis and _is_plain(parts[0])):
            return np.array(parts)  # takes half as long as np.stack
        return np.stack(parts, axis)
    except ValueError:
        first = shapes.brackets(parts[0].shape)
        for place, part in enumerate(parts):
            if part.shape != parts[0].shape:
                raise InvalidArgumentError(
                    f"Shapes of all inputs must match: values[0].shape = {first} != "
                    f"values[{place}].shape = {shapes.brackets(part.shape)}"
                ) from None
        raise


@PACK.gradient
def pack_gradient(op: Any, d_output: Any) -> Any:
    return raw.Unpack(d_output, num=op.get_attr("N"), axis=op.get_attr("axis"), name="unstack")


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Return `values`, all of one shape, side by side along a new axis.

    Args:
      values: a list of N tensors, or anything that converts to a tensor whose first axis is that
        list.
      axis: where the new axis of length N will stand; below 0 it counts from the last.
      name: of the node.

    Raises:
      ValueError: the shapes differ, or `axis` is out of range.

    Example:
      >>> Session().run(stack([[1, 2], [3, 4], [5, 6]], axis=1))
      array([[1, 3, 5],
             [2, 4, 6]], dtype=int32)
    """
    if axis == 0:
        whole = _as_whole(values, name)
        if whole is not None:
            return whole
    parts = list(values) if isinstance(values, list | tuple | np.ndarray) else unstack(values)
    return raw.Pack(parts, axis=_stack_axis(parts, axis), name=name)


def _as_whole(values: Any, name: str) -> Tensor | None:
    """Return `values` as one tensor if they convert to it, a constant if no tensor is among them.

    None if there are tensors that do not: what is wrong then is told of the node that takes them.
    """
    try:
        return convert.convert_to_tensor(values, name=name)
    except (TypeError, ValueError):
        if not convert.holds_tensor(values):
            raise
        return None


def _stack_axis(parts: list[Any], axis: int) -> int:
    first = parts[0]
    dims = first._as_tensor(False).plain_shape if hasattr(first, "_as_tensor") else None
    rank = None if dims is None else len(dims)
    if rank is not None and not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis = {axis} not in [{-rank - 1}, {rank + 1})")
    return axis


def pack(values: Any, axis: int = 0, name: str = "pack") -> Tensor:
    """Return `stack(values, axis)`: its name in the first releases.

    Example:
      >>> Session().run(pack([1, 2]))
      array([1, 2], dtype=int32)
    """
    return stack(values, axis, name)


UNPACK = OpDef("Unpack(value: T) -> output: num*T [num: int >=0; T: type; axis: int = 0]")


@UNPACK.shape
def unpack_shape(value: Shape, *, num: int, axis: int) -> list[Shape]:
    if value is None:
        return [None] * num
    at = shapes.axis_of(axis, len(value))
    if value[at] not in (num, None):
        raise InvalidArgumentError(f"Dimension must be {num} but is {value[at]}")
    return [(*value[:at], *value[at + 1 :])] * num


@UNPACK.kernel
def unpack_kernel(value: Any, *, num: int, axis: int) -> Any:
    at = shapes.axis_of(axis, value.ndim)
    if value.shape[at] != num:
        got = shapes.brackets(value.shape)
        raise InvalidArgumentError(f"Input shape axis {at} must equal {num}, got shape {got}")
    parts = np.moveaxis(value, axis, 0) if axis else value
    return list(map(as_elements, parts) if value.dtype == object else parts)


@UNPACK.gradient
def unpack_gradient(op: Any, *d_outputs: Any) -> Any:
    return raw.Pack(or_zeros(op, d_outputs), axis=op.get_attr("axis"), name="stack")


def unstack(
    value: Any, num: int | None = None, axis: int = 0, name: str | None = "unstack"
) -> list[Tensor]:
    """Return the slices of `value` along `axis`, without that axis.

    Args:
      value: [d0, ..., dn].
      num: how many there are; by default the length of the axis, if that is known.
      axis: along which to take slices.
      name: of the node.

    Raises:
      ValueError: `num` is not given and the length is not known, or they differ.

    Example:
      >>> Session().run(unstack([[1, 2], [3, 4], [5, 6]], axis=1))
      [array([1, 3, 5], dtype=int32), array([2, 4, 6], dtype=int32)]
    """
    tensor = convert.convert_to_tensor(value)
    dims = tensor.plain_shape
    if num is None:
        num = None if dims is None else dims[_axis_in(dims, axis)]
    if num is None:
        raise ValueError(
            f"Cannot infer num from shape {tensor.shape}: axis {axis} of {tensor.name} has no "
            "known length, so give `num`"
        )
    found: list[Tensor] = raw.Unpack(tensor, num=num, axis=axis, name=name)
    return found


def _axis_in(dims: tuple[Dim, ...], axis: int) -> int:
    if not -len(dims) <= axis < len(dims):
        raise ValueError(f"axis must be in [{-len(dims)}, {len(dims)}), but is {axis}")
    return axis


def unpack(
    value: Any, num: int | None = None, axis: int = 0, name: str | None = "unpack"
) -> list[Tensor]:
    """Return `unstack(value, num, axis)`: its name in the first releases.

    Example:
      >>> Session().run(unpack([1, 2]))
      [np.int32(1), np.int32(2)]
    """
    return unstack(value, num, axis, name)
