"""The same elements elsewhere: tile, reverse, roll, bitcast."""

from __future__ import annotations

import math
from operator import mul
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.range import range as range_of
from tfdist.ops.array.reshape import one_of, reshape
from tfdist.ops.array.shape import shape, size
from tfdist.ops.array.transpose import transpose
from tfdist.ops.framework.shared_values import as_elements

__all__ = [
    "bitcast",
    "reverse",
    "reverse_sequence",
    "reverse_v2",
    "roll",
    "tile",
]


def _same_shape(input: Shape, *_: Shape) -> Shape:
    return input


# repeated

_ROW = 256  # elements

TILE = OpDef(
    "Tile(input: T, multiples: Tmultiples) -> output: T [T: type; Tmultiples: type = int32 {index}]"
)


@TILE.shape
def tile_shape(input: Shape, multiples: Shape, *, multiples_partial: Any) -> Shape:
    rank = len(input) if input is not None else multiples[0] if multiples else None
    if rank is None:
        return None
    shapes.require_rank(multiples, "multiples", 1)
    if multiples and multiples[0] not in (None, rank):
        raise InvalidArgumentError(f"Shape must be rank {rank} but is rank {multiples[0]}")
    if multiples_partial is None:
        return (None,) * rank
    input = (None,) * rank if input is None else input
    return tuple(
        0 if times == 0 else None if dim is None or times is None or times < 0 else dim * times
        for dim, times in zip(input, multiples_partial.tolist(), strict=True)
    )


@TILE.kernel
def tile_kernel(input: Any, multiples: Any) -> Any:
    times = multiples.tolist()
    if multiples.shape != (np.ndim(input),):
        raise InvalidArgumentError(
            f"Expected multiples argument to be a vector of length {np.ndim(input)} but got "
            f"length {multiples.size}"
        )
    for place, each in enumerate(times):
        if each < 0:
            raise InvalidArgumentError(f"Expected multiples[{place}] >= 0, but got {each}")
    input = as_elements(input)
    check_room(map(mul, input.shape, times), input.dtype)
    return _tiled(input, times)


def _tiled(input: Any, times: list[int]) -> Any:
    """Return what `np.tile` gives, which lets no other thread run meanwhile."""
    output, inner = input, 1
    for axis in reversed(range(input.ndim)):
        inner *= input.shape[axis]
        if times[axis] != 1:
            blocks = output.reshape(math.prod(input.shape[:axis]), 1, inner)
            output = np.empty((len(blocks), times[axis], inner), input.dtype)
            _repeat(blocks, output)
        inner *= times[axis]
    dims = tuple(map(mul, input.shape, times))
    return input.copy() if output is input else output.reshape(dims)


def _repeat(blocks: Any, output: Any) -> None:
    """Fill `output` [n, times, length] with `blocks` [n, 1, length].

    NumPy takes long for many short rows, so that some together are made first.
    """
    count, times, length = output.shape
    some = -(-_ROW // max(length, 1))
    if length == 1 or some >= times:
        output[...] = blocks
        return
    rows = np.empty((count, some, length), output.dtype)
    rows[...] = blocks
    parts = times // some
    longer = output[:, : parts * some].reshape(count, parts, some * length)  # the same memory
    longer[...] = rows.reshape(count, 1, some * length)
    output[:, parts * some :] = blocks


@TILE.gradient
def tile_gradient(op: Any, d_output: Any) -> Any:
    input, multiples = op.inputs
    both = raw.Pack([multiples, shape(input, None, multiples.dtype)])
    interleaved = reshape(transpose(both, [1, 0]), [-1])  # times, length, times, length, ...
    axes = range_of(0, size(interleaved), 2)
    d_input = raw.Sum(reshape(d_output, interleaved), axes)
    d_input.set_shape(input.plain_shape)
    return d_input, None


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """Return `input` repeated along each axis.

    Args:
      input: [d0, ..., dn].
      multiples: integers [n + 1], how often along each axis.
      name: of the node.

    Returns:
      [d0 * multiples[0], ..., dn * multiples[n]].

    Example:
      >>> Session().run(tile([[1, 2]], [2, 2]))
      array([[1, 2, 1, 2],
             [1, 2, 1, 2]], dtype=int32)
    """
    result: Tensor = raw.Tile(input, multiples, name=name)
    return result


# in another order

REVERSE_V2 = OpDef(
    "ReverseV2(tensor: T, axis: Tidx) -> output: T "
    "[Tidx: type = int32 {index}; T: type {numeric,bool,string}]"
)


@REVERSE_V2.shape
def reverse_v2_shape(tensor: Shape, axis: Shape, *, axis_value: Any) -> Shape:
    shapes.require_rank(axis, "axis", 1)
    if tensor is not None and axis_value is not None:
        _axes_of(axis_value, len(tensor))
    return tensor


def _axes_of(axis: Any, rank: int) -> list[int]:
    """Return the axes to reverse, counted from the front."""
    for place, each in enumerate(axis.tolist()):
        if not -rank <= each < rank:
            raise InvalidArgumentError(
                f"'axis'[{place}] = {each} is out of valid range [0, {rank - 1}]"
            )
    found = [each % rank for each in axis.tolist()]
    for each in found:
        if found.count(each) > 1:
            raise InvalidArgumentError(f"axis {each} specified more than once.")
    return found


@REVERSE_V2.kernel
def reverse_v2_kernel(tensor: Any, axis: Any) -> Any:
    axes = _axes_of(axis, np.ndim(tensor))
    return np.flip(tensor, tuple(axes)) if axes else tensor


@REVERSE_V2.gradient
def reverse_v2_gradient(op: Any, d_output: Any) -> Any:
    return raw.ReverseV2(d_output, op.inputs[1]), None


def reverse(tensor: Any, axis: Any = None, name: str | None = None, dims: Any = None) -> Tensor:
    """Return `tensor` with the order of its elements reversed along some axes.

    Args:
      tensor: [d0, ..., dn].
      axis: a list of axes; a list with one bool for each axis, as the first releases have it, is
        understood as well.
      name: of the node.
      dims: the old name of `axis`.

    Example:
      >>> Session().run(reverse([[1, 2, 3], [4, 5, 6]], [1]))
      array([[3, 2, 1],
             [6, 5, 4]], dtype=int32)
    """
    axis = one_of(axis=axis, dims=dims)
    if not hasattr(axis, "_as_tensor") and np.asarray(axis).dtype == bool and np.size(axis):
        axis = [i for i, reversed_here in enumerate(axis) if reversed_here]
    result: Tensor = raw.ReverseV2(tensor, axis, name=name)
    return result


reverse_v2 = reverse

REVERSE_SEQUENCE = OpDef(
    "ReverseSequence(input: T, seq_lengths: Tlen) -> output: T "
    "[seq_dim: int; batch_dim: int = 0; T: type; Tlen: type = int64 {index}]"
)


@REVERSE_SEQUENCE.shape
def reverse_sequence_shape(
    input: Shape, seq_lengths: Shape, *, seq_dim: int, batch_dim: int
) -> Shape:
    shapes.require_rank(seq_lengths, "seq_lengths", 1)
    if input is None:
        return None
    for name, axis in (("batch_dim", batch_dim), ("seq_dim", seq_dim)):
        if axis >= len(input):
            raise InvalidArgumentError(f"{name} must be < input rank: {axis} vs. {len(input)}")
    batch = shapes.merge_dim(input[batch_dim], seq_lengths[0] if seq_lengths else None)
    return (*input[:batch_dim], batch, *input[batch_dim + 1 :])


def _check_sequences(input: Any, seq_lengths: Any, seq_dim: int, batch_dim: int) -> None:
    if seq_lengths.ndim != 1:
        raise InvalidArgumentError(f"seq_lens input must be 1-dim, not {seq_lengths.ndim}")
    if batch_dim == seq_dim:
        raise InvalidArgumentError(f"batch_dim == seq_dim == {seq_dim}")
    for name, axis in (("seq_dim", seq_dim), ("batch_dim", batch_dim)):
        if axis >= input.ndim:
            raise InvalidArgumentError(f"{name} must be < input.dims()( {axis} vs. {input.ndim})")
    if len(seq_lengths) != input.shape[batch_dim]:
        raise InvalidArgumentError(
            f"len(seq_lens) != input.dims({batch_dim}), "
            f"({len(seq_lengths)} vs. {input.shape[batch_dim]})"
        )


@REVERSE_SEQUENCE.kernel
def reverse_sequence_kernel(input: Any, seq_lengths: Any, *, seq_dim: int, batch_dim: int) -> Any:
    _check_sequences(input, seq_lengths, seq_dim, batch_dim)
    output = input.copy()
    rows, mirrored = (np.moveaxis(each, (batch_dim, seq_dim), (0, 1)) for each in (input, output))
    for row, length in enumerate(seq_lengths.tolist()):
        if length < 0:
            raise InvalidArgumentError(f"seq_lens({row}) < 0")
        if length > rows.shape[1]:
            raise InvalidArgumentError(f"seq_lens({row}) > input.dims({seq_dim})")
        mirrored[row, :length] = rows[row, :length][::-1]
    return output


@REVERSE_SEQUENCE.gradient
def reverse_sequence_gradient(op: Any, d_output: Any) -> Any:
    axes = {name: op.get_attr(name) for name in ("seq_dim", "batch_dim")}
    return raw.ReverseSequence(d_output, op.inputs[1], **axes), None


def reverse_sequence(
    input: Any, seq_lengths: Any, seq_axis: int | None = None, batch_axis: int | None = None,
    name: str | None = None, seq_dim: int | None = None, batch_dim: int | None = None,
) -> Tensor:  # fmt: skip
    """Return `input` with the first places of each sequence in reverse order.

    Args:
      input: any shape.
      seq_lengths: integers [batch], how many places of each sequence to reverse.
      seq_axis: the axis along which a sequence runs; the old name is `seq_dim`.
      batch_axis: the axis of the batch, by default 0; the old name is `batch_dim`.
      name: of the node.
      seq_dim: see `seq_axis`.
      batch_dim: see `batch_axis`.

    Example:
      >>> Session().run(reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1))
      array([[2, 1, 3],
             [6, 5, 4]], dtype=int32)
    """
    along = one_of(seq_axis=seq_axis, seq_dim=seq_dim)
    batch = (batch_axis or 0) if batch_dim is None else batch_dim
    result: Tensor = raw.ReverseSequence(
        input, seq_lengths, seq_dim=along, batch_dim=batch, name=name
    )
    return result


ROLL = OpDef(
    "Roll(input: T, shift: Tshift, axis: Taxis) -> output: T "
    "[T: type; Tshift: type {index}; Taxis: type {index}]"
)


@ROLL.shape
def roll_shape(input: Shape, shift: Shape, axis: Shape) -> Shape:
    shapes.require_rank(input, "input", 1, shapes.ANY_RANK)
    shapes.require_rank(shift, "shift", 0, 1)
    shapes.require_rank(axis, "axis", 0, 1)
    shapes.merge(shift, axis, "shift and axis")
    return input


@ROLL.kernel
def roll_kernel(input: Any, shift: Any, axis: Any) -> Any:
    if not input.ndim:
        raise InvalidArgumentError("input must be 1-D or higher")
    axes = np.atleast_1d(axis).tolist()
    if np.size(shift) != len(axes):
        raise InvalidArgumentError("shift and axis must have the same size")
    for each in axes:
        if not -input.ndim <= each < input.ndim:
            at = each if each >= 0 else each + input.ndim
            raise InvalidArgumentError(f"axis {at} is out of range")
    return np.roll(input, np.atleast_1d(shift).tolist(), axes)


@ROLL.gradient
def roll_gradient(op: Any, d_output: Any) -> Any:
    _, shift, axis = op.inputs
    return raw.Roll(d_output, raw.Neg(shift), axis), None, None


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """Return `input` with its elements moved along `axis`; those that leave come in again.

    Args:
      input: [d0, ..., dn].
      shift: how far towards higher indices, an int or one for each of the axes.
      axis: an int, or a list.
      name: of the node.

    Example:
      >>> Session().run(roll([1, 2, 3, 4], 1, 0))
      array([4, 1, 2, 3], dtype=int32)
    """
    result: Tensor = raw.Roll(input, shift, axis, name=name)
    return result


BITCAST = OpDef(
    "Bitcast(input: T) -> output: type "
    "[T: type {numeric,quantized}; type: type {numeric,quantized}]"
).not_differentiable()


@BITCAST.shape
def bitcast_shape(input: Shape, *, T: DType, type: DType) -> Shape:
    if input is None or T.size == type.size:
        return input
    if T.size > type.size:
        return (*input, T.size // type.size)
    if not input:
        raise InvalidArgumentError(f"a scalar of {T.name} is too small for {type.name}")
    shapes.merge_dim(input[-1], type.size // T.size, f"the last axis, to become {type.name},")
    return input[:-1]


@BITCAST.kernel
def bitcast_kernel(input: Any, *, T: DType, type: DType) -> Any:
    output = bitcast_shape(np.shape(input), T=T, type=type)
    return np.frombuffer(input.tobytes(), type.as_numpy_dtype).reshape(output)  # type: ignore[arg-type]


def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """Return the bytes of `input` as elements of another type.

    Args:
      input: numbers.
      type: of the result; where sizes differ, the last axis makes up for it.
      name: of the node.

    Example:
      >>> Session().run(bitcast([1.0], "int32"))
      array([1065353216], dtype=int32)
    """
    result: Tensor = raw.Bitcast(input, type=type, name=name)
    return result
