"""Parts of a tensor as Python's indexing names them: StridedSlice; `indexing` has the brackets.

StridedSlice describes Python's indexing by three vectors, with a bit mask for each special kind of
entry: a slice without begin or end, an ellipsis, a new axis, a single index whose axis goes away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Dim, Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import Known, OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.fill import ones_like
from tfdist.ops.array.shape import shape
from tfdist.ops.framework.shared_values import as_elements

__all__ = ["strided_slice"]

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
    return slice(None if masks.begin & bit else begin, None if masks.end & bit else end, stride)


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
        if isinstance(entry, slice):
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
    return index[: dots[0]] + (slice(None, None, 1),) * (rank - named) + index[dots[0] + 1 :]


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
    return _part(as_elements(input), index)


def _part(input: Any, index: tuple[Any, ...]) -> Any:
    try:
        return input[index]
    except IndexError:
        indexed_shape(np.shape(input), index)  # says which entry does not fit
        raise


@STRIDED_SLICE.specialize
def strided_slice_specialized(known: Known) -> Any:
    """Return what takes a known part."""
    _, begin, end, strides = known.values
    if begin is None or end is None or strides is None or known.attrs["T"] is dtypes.string:
        return None
    if not begin.shape == end.shape == strides.shape or not strides.all():
        return None
    masks = Masks(*(known.attrs[name] for name in MASK_NAMES))
    index = index_of(begin.tolist(), end.tolist(), strides.tolist(), masks)
    return lambda input, *_: _part(input, index)


@STRIDED_SLICE.gradient
def strided_slice_gradient(op: Any, d_output: Any) -> Any:
    input, begin, end, strides = op.inputs
    masks = {name: op.get_attr(name) for name in MASK_NAMES}
    dims = shape(input, None, begin.dtype)
    return raw.StridedSliceGrad(dims, begin, end, strides, d_output, **masks), None, None, None


MASK_NAMES = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")

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
    masks = {name: op.get_attr(name) for name in MASK_NAMES}
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
    attrs = dict(zip(MASK_NAMES, masks, strict=True))
    result: Tensor = raw.StridedSlice(input_, begin, end, strides, **attrs, name=name)
    return result if var is None else var._part(result)  # type: ignore[no-any-return]
