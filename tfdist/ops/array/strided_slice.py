"""Parts of a tensor: `tensor[1:3, ..., None, -1]` and tf.slice.

StridedSlice describes Python's indexing by three vectors, with a bit mask for each special kind of
entry: a slice without begin or end, an ellipsis, a new axis, a single index whose axis goes away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Dim, Shape
from tfdist.base.tensor_shape import Dimension
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.fill import ones_like
from tfdist.ops.array.shape import shape
from tfdist.ops.framework.shared_values import as_elements

__all__ = ["newaxis", "slice", "strided_slice"]

newaxis = None

_slice = slice  # Python's; `tf.slice` takes the name below

SLICE = OpDef(
    "Slice(input: T, begin: Index, size: Index) -> output: T [T: type; Index: type {index}]"
)


@SLICE.shape
def slice_shape(
    input: Shape, begin: Shape, size: Shape, *, begin_partial: Any, size_partial: Any
) -> Shape:
    shapes.merge(begin, size, "begin and size")
    rank = begin[0] if begin else size[0] if size else None
    if input is None:
        input = None if rank is None else (None,) * rank
    if input is None or size_partial is None:
        return None if input is None else (None,) * len(input)
    starts = [None] * len(input) if begin_partial is None else begin_partial.tolist()
    _check_length(starts, input)
    sizes = size_partial.tolist()
    shapes.from_constant(sizes)  # none is less than -1
    if None in sizes:  # as in TensorFlow, -1 is an unknown size then
        sizes = [None if size == -1 else size for size in sizes]
    return tuple(map(_slice_dim, input, starts, sizes))


def _slice_dim(dim: Dim, start: int | None, size: int | None) -> Dim:
    """Return what is known of a part; what leaves the axis is found when it runs."""
    if size is None:
        return None
    if size != -1 or dim is None or start is None:
        return None if size == -1 else size
    if start > dim:
        raise InvalidArgumentError(
            f"Negative dimension size caused by subtracting {start} from {dim}"
        )
    return dim - start


def _slice_length(dim: int, start: int, size: int, axis: int) -> int:
    length = dim - start if size == -1 else size
    if not 0 <= start <= dim:
        raise InvalidArgumentError(f"Expected begin[{axis}] in [0, {dim}], but got {start}")
    if not 0 <= length <= dim - start:
        raise InvalidArgumentError(f"Expected size[{axis}] in [0, {dim - start}], but got {size}")
    return length


def _check_length(starts: Sequence[Any], input: Any) -> None:
    if len(starts) != len(input):
        raise InvalidArgumentError(f"Shape must be rank {len(starts)} but is rank {len(input)}")


@SLICE.kernel
def slice_kernel(input: Any, begin: Any, size: Any) -> Any:
    starts, dims = begin.tolist(), input.shape
    if len(starts) != len(dims):
        raise InvalidArgumentError(
            f"Expected begin and size arguments to be 1-D tensors of size {len(dims)}, but got "
            f"shapes {list(begin.shape)} and {list(size.shape)} instead."
        )
    lengths = map(_slice_length, dims, starts, size.tolist(), range(len(dims)))
    return input[tuple(_slice(at, at + n) for at, n in zip(starts, lengths, strict=True))]


@SLICE.gradient
def slice_gradient(op: Any, d_output: Any) -> Any:
    input, begin, _ = op.inputs
    before = raw.ExpandDims(begin, 1)
    after = raw.ExpandDims(raw.Sub(raw.Sub(shape(input, None, begin.dtype), begin),
                                   shape(op.outputs[0], None, begin.dtype)), 1)  # fmt: skip
    return raw.Pad(d_output, raw.ConcatV2([before, after], 1)), None, None


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """Return the part of `input_` that starts at `begin` and has `size`.

    Args:
      input_: [d0, ..., dn].
      begin: integers [n + 1], where the part starts on each axis.
      size: integers [n + 1], its length there; -1 for all that follows.
      name: of the node.

    Raises:
      ValueError: the part leaves `input_` (InvalidArgumentError if that shows only when it runs).

    Example:
      >>> Session().run(slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, -1]))
      array([[2, 3],
             [5, 6]], dtype=int32)
    """
    result: Tensor = raw.Slice(input_, begin, size, name=name)
    return result


STRIDED_MASKS = (
    "begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; "
    "shrink_axis_mask: int = 0"
)

STRIDED_SLICE = OpDef(
    "StridedSlice(input: T, begin: Index, end: Index, strides: Index) -> output: T "
    f"[T: type; Index: type {{index}}; {STRIDED_MASKS}]"
)


class Masks(NamedTuple):
    """Bit i says that entry i is special in this way."""

    begin: int
    end: int
    ellipsis: int
    new_axis: int
    shrink_axis: int


def index_of(
    begin: Sequence[int | None] | None,
    end: Sequence[int | None] | None,
    strides: Sequence[int],
    masks: Masks,
) -> tuple[Any, ...]:
    """Return Python's index for what StridedSlice is given: ints, slices, None and Ellipsis.

    Args:
      begin: first positions; None for all, or for one, that is not known yet.
      end: positions after the last, in the same form.
      strides: steps, not 0.
      masks: which entries are special.
    """
    count = len(strides)
    begin, end = begin or [_UNKNOWN] * count, end or [_UNKNOWN] * count
    return tuple(_entry(i, begin[i], end[i], strides[i], masks) for i in range(count))


_UNKNOWN: Any = object()  # a position that only the running step knows


def _entry(i: int, begin: Any, end: Any, stride: int, masks: Masks) -> Any:
    bit = 1 << i
    if masks.ellipsis & bit:
        return Ellipsis
    if masks.new_axis & bit:
        return None
    if masks.shrink_axis & bit:
        return begin
    if not stride:
        raise InvalidArgumentError(f"strides[{i}] must be non-zero")
    return _slice(None if masks.begin & bit else begin, None if masks.end & bit else end, stride)


@STRIDED_SLICE.shape
def strided_slice_shape(
    input: Shape, begin: Shape, end: Shape, strides: Shape, *,
    begin_value: Any, end_value: Any, strides_value: Any, begin_mask: int, end_mask: int,
    ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> Shape:  # fmt: skip
    for each in (begin, end):
        shapes.merge(each, strides, "begin, end and strides")
    if input is None or strides_value is None:
        return None
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    starts, ends = (None if v is None else v.tolist() for v in (begin_value, end_value))
    return indexed_shape(input, index_of(starts, ends, strides_value.tolist(), masks))


def indexed_shape(dims: tuple[Dim, ...], index: tuple[Any, ...]) -> Shape:
    """Return the shape of `array[index]` for an array of shape `dims`."""
    index = _full_index(index, len(dims))
    result: list[Dim] = []
    axis = 0
    for entry in index:
        if entry is None:
            result.append(1)
            continue
        if isinstance(entry, _slice):
            result.append(_length(dims[axis], entry))
        elif entry is not _UNKNOWN:
            _check_index(entry, axis, dims[axis])
        axis += 1
    return (*result, *dims[axis:])


def _full_index(index: tuple[Any, ...], rank: int) -> tuple[Any, ...]:
    """Return `index` with whole axes in place of its ellipsis; checks that the axes suffice."""
    named = sum(entry is not None and entry is not Ellipsis for entry in index)
    dots = [i for i, entry in enumerate(index) if entry is Ellipsis]
    if len(dots) > 1:
        raise InvalidArgumentError("Multiple ellipses in slice spec not allowed")
    if named > rank:
        raise InvalidArgumentError(
            f"Index out of range using input dim {rank}; input has only {rank} dims"
        )
    if not dots:
        return index
    return index[: dots[0]] + (_slice(None, None, 1),) * (rank - named) + index[dots[0] + 1 :]


def _length(dim: Dim, entry: Any) -> Dim:
    if _UNKNOWN in (entry.start, entry.stop):
        return None
    if dim is not None:
        return len(range(*entry.indices(dim)))
    return 0 if entry.start == entry.stop and entry.start is not None else None


def _check_index(entry: int, axis: int, dim: Dim) -> None:
    if dim is not None and not -dim <= entry < dim:
        at = entry if entry >= 0 else entry + dim
        raise InvalidArgumentError(
            f"slice index {at} of dimension {axis} out of bounds. Its length is {dim}"
        )


@STRIDED_SLICE.kernel
def strided_slice_kernel(
    input: Any, begin: Any, end: Any, strides: Any, *,
    begin_mask: int, end_mask: int, ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> Any:  # fmt: skip
    if not begin.shape == end.shape == strides.shape:
        for each in (begin, end):
            shapes.merge(each.shape, strides.shape, "begin, end and strides")
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    index = index_of(begin.tolist(), end.tolist(), strides.tolist(), masks)
    try:
        return as_elements(input)[index]
    except IndexError:
        indexed_shape(np.shape(input), index)  # says which entry does not fit
        raise


@STRIDED_SLICE.gradient
def strided_slice_gradient(op: Any, d_output: Any) -> Any:
    input, begin, end, strides = op.inputs
    masks = {name: op.get_attr(name) for name in _MASK_NAMES}
    dims = shape(input, None, begin.dtype)
    return raw.StridedSliceGrad(dims, begin, end, strides, d_output, **masks), None, None, None


_MASK_NAMES = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")

STRIDED_SLICE_GRAD = OpDef(
    "StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T) -> output: T "
    f"[T: type; Index: type {{index}}; {STRIDED_MASKS}]"
)


@STRIDED_SLICE_GRAD.shape
def strided_slice_grad_shape(
    shape: Shape, begin: Shape, end: Shape, strides: Shape, dy: Shape, *, shape_value: Any
) -> Shape:
    if shape_value is not None:
        return shapes.from_constant(shape_value)
    return None if shape is None or shape[0] is None else (None,) * shape[0]


@STRIDED_SLICE_GRAD.kernel
def strided_slice_grad_kernel(
    shape: Any, begin: Any, end: Any, strides: Any, dy: Any, *,
    begin_mask: int, end_mask: int, ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> Any:  # fmt: skip
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    dims = shapes.from_sizes(shape)
    check_room(dims, dy.dtype)
    output = np.zeros_like(dy, shape=dims)
    output[index_of(begin.tolist(), end.tolist(), strides.tolist(), masks)] = dy
    return output


@STRIDED_SLICE_GRAD.gradient
def strided_slice_grad_gradient(op: Any, d_output: Any) -> Any:
    _, begin, end, strides, _ = op.inputs
    masks = {name: op.get_attr(name) for name in _MASK_NAMES}
    return None, None, None, None, raw.StridedSlice(d_output, begin, end, strides, **masks)


def strided_slice(
    input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0, end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a part of `input_`, as `input_[begin[0]:end[0]:strides[0], ...]` does.

    Args:
      input_: [d0, ..., dn].
      begin: integers [k], the first position on each of the first axes.
      end: integers [k], the position after the last.
      strides: integers [k], the steps, not 0; by default 1.
      begin_mask: bit i set: begin[i] does not count, the part starts at the axis' start.
      end_mask: bit i set: end[i] does not count, the part goes to the axis' end.
      ellipsis_mask: bit i set: entry i stands for all axes that the others do not name.
      new_axis_mask: bit i set: entry i makes a new axis of length 1.
      shrink_axis_mask: bit i set: entry i is the single index begin[i], and its axis goes away.
      var: the variable that `input_` is the value of; then the result has a method `assign`.
      name: of the node.

    Example:
      >>> Session().run(strided_slice([1, 2, 3, 4, 5], [1], [5], [2]))
      array([2, 4], dtype=int32)
    """
    if strides is None:
        strides = ones_like(begin)
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    attrs = dict(zip(_MASK_NAMES, masks, strict=True))
    result: Tensor = raw.StridedSlice(input_, begin, end, strides, **attrs, name=name)
    return result if var is None else var._part(result)  # type: ignore[no-any-return]


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
      >>> Session().run(getitem(constant([[1, 2, 3], [4, 5, 6]]), (_slice(None), -1)))
      array([3, 6], dtype=int32)
    """
    if _is_mask(key):
        return _masked(tensor, key)
    entries = list(key) if isinstance(key, list | tuple) else [key]
    parts = [_parts(entry) for entry in entries]
    attrs = dict.fromkeys(_MASK_NAMES, 0)
    for i, part in enumerate(parts):
        for mask in part[3:]:
            attrs[mask] |= 1 << i
    with scopes.name_scope("strided_slice", None, [tensor]) as scope:
        vectors = [_vector([part[position] for part in parts]) for position in range(3)]
        return raw.StridedSlice(tensor, *_of_one_type(vectors), **attrs, name=scope)


def _is_mask(key: Any) -> bool:
    dtype = getattr(key, "dtype", None)
    return isinstance(key, bool) or (dtype is not None and dtype in (bool, "bool"))


def _masked(tensor: Any, key: Any) -> Tensor:
    from tfdist.ops.array.boolean_mask import boolean_mask

    return boolean_mask(tensor, key)


def _parts(entry: Any) -> tuple[Any, ...]:
    """Return begin, end and stride of one entry, and the names of its masks."""
    if entry is None:
        return 0, 0, 1, "new_axis_mask"
    if entry is Ellipsis:
        return 0, 0, 1, "ellipsis_mask"
    if not isinstance(entry, _slice):
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
