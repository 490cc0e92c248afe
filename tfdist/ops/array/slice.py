"""A part of a tensor by its first position and its sizes: tf.slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.base import shapes
from tfdist.base.shapes import Dim, Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import Known, OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.shape import shape

__all__ = ["slice"]

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
    return input[_index(input.shape, begin, size)]


def _index(dims: Any, begin: Any, size: Any) -> tuple[Any, ...]:
    """Return the index of the part that starts at `begin` and has `size`."""
    starts = begin.tolist()
    if len(starts) != len(dims):
        raise InvalidArgumentError(
            f"Expected begin and size arguments to be 1-D tensors of size {len(dims)}, but got "
            f"shapes {list(begin.shape)} and {list(size.shape)} instead."
        )
    lengths = map(_slice_length, dims, starts, size.tolist(), range(len(dims)))
    return tuple(_slice(at, at + n) for at, n in zip(starts, lengths, strict=True))


@SLICE.specialize
def slice_specialized(known: Known) -> Any:
    """Return what takes a known part of a known shape."""
    dims, (_, begin, size) = known.shapes[0], known.values
    if dims is None or None in dims or begin is None or size is None:
        return None
    try:
        index = _index(dims, begin, size)
    except InvalidArgumentError:  # which the step shall raise
        return None
    return lambda input, *_: input[index]


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
