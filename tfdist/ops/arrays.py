"""The same elements elsewhere: tile, pad, reverse, roll, bitcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.filling import range as range_of
from tfdist.ops.shaping import one_of, reshape, shape, size
from tfdist.ops.transposing import transpose
from tfdist.ops.values import as_elements

__all__ = [
    "bitcast",
    "pad",
    "reverse",
    "reverse_sequence",
    "reverse_v2",
    "roll",
    "tile",
]


def _same_shape(input: Shape, *_: Shape) -> Shape:
    return input


# repeated, and surrounded by others

TILE = OpDef(
    "Tile(input: T, multiples: Tmultiples) -> output: T [T: type; Tmultiples: type = int32 {index}]"
)


@TILE.shape
def tile_shape(input: Shape, multiples: Shape, *, multiples_value: Any) -> Shape:
    rank = len(input) if input is not None else multiples[0] if multiples else None
    if rank is None:
        return None
    if multiples is not None:
        shapes.merge(multiples, (rank,), "multiples and the rank of the input")
    if input is None or multiples_value is None:
        return (None,) * rank
    return tuple(
        None if dim is None or times < 0 else dim * times
        for dim, times in zip(input, multiples_value.tolist(), strict=True)
    )


@TILE.kernel
def tile_kernel(input: Any, multiples: Any) -> Any:
    times = multiples.tolist()
    if any(each < 0 for each in times):
        raise InvalidArgumentError(f"multiples must be 0 or more, but are {times}")
    return np.tile(as_elements(input), times)


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


PAD = OpDef(
    "Pad(input: T, paddings: Tpaddings) -> output: T [T: type; Tpaddings: type = int32 {index}]"
)


@PAD.shape
def pad_shape(input: Shape, paddings: Shape, *, paddings_value: Any) -> Shape:
    rank = len(input) if input is not None else paddings[0] if paddings else None
    if rank is None:
        return None
    shapes.merge(paddings, (rank, 2), "the shape of paddings and (rank of the input, 2)")
    if input is None or paddings_value is None:
        return (None,) * rank
    if (paddings_value < 0).any():
        raise InvalidArgumentError(f"paddings must be 0 or more, but are {paddings_value.tolist()}")
    return tuple(
        None if dim is None else int(dim + sides.sum())
        for dim, sides in zip(input, paddings_value, strict=True)
    )


@PAD.kernel
def pad_kernel(input: Any, paddings: Any) -> Any:
    input = as_elements(input)
    nothing = b"" if input.dtype == object else input.dtype.type(0)
    return _surrounded(input, paddings, nothing)


def _surrounded(input: Any, paddings: Any, value: Any) -> Any:
    dims = pad_shape(input.shape, paddings.shape, paddings_value=paddings)
    output = np.full_like(input, value, shape=dims)
    starts = paddings[:, 0].tolist()
    output[tuple(slice(at, at + n) for at, n in zip(starts, input.shape, strict=True))] = input
    return output


@PAD.gradient
def pad_gradient(op: Any, d_output: Any) -> Any:
    return _unpadded(op, d_output), None


def _unpadded(op: Any, d_output: Any) -> Tensor:
    input, paddings = op.inputs[:2]
    dims = shape(input, None, paddings.dtype)
    starts = reshape(raw.StridedSlice(paddings, [0, 0], [0, 1], [1, 1], **_FIRST_COLUMN), [-1])
    result: Tensor = raw.Slice(d_output, starts, dims)
    return result


_FIRST_COLUMN: dict[str, Any] = {"begin_mask": 1, "end_mask": 1}

PAD_V2 = OpDef(
    "PadV2(input: T, paddings: Tpaddings, constant_values: T) -> output: T "
    "[T: type; Tpaddings: type = int32 {index}]"
)


@PAD_V2.shape
def pad_v2_shape(
    input: Shape, paddings: Shape, constant_values: Shape, *, paddings_value: Any
) -> Shape:
    return pad_shape(input, paddings, paddings_value=paddings_value)


@PAD_V2.kernel
def pad_v2_kernel(input: Any, paddings: Any, constant_values: Any) -> Any:
    return _surrounded(as_elements(input), paddings, as_elements(constant_values))


@PAD_V2.gradient
def pad_v2_gradient(op: Any, d_output: Any) -> Any:
    d_input = _unpadded(op, d_output)
    both = (raw.Sum(each, range_of(0, raw.Rank(each))) for each in (d_output, d_input))
    return d_input, None, raw.Sub(*both)


_MODES = "mode: string {'REFLECT','SYMMETRIC'}"

MIRROR_PAD = OpDef(
    "MirrorPad(input: T, paddings: Tpaddings) -> output: T "
    f"[T: type; Tpaddings: type = int32 {{index}}; {_MODES}]"
)
MIRROR_PAD.shape(pad_shape)


@MIRROR_PAD.kernel
def mirror_pad_kernel(input: Any, paddings: Any, *, mode: bytes) -> Any:
    for dim, sides in zip(input.shape, paddings.tolist(), strict=True):
        if max(sides) > dim - (mode == b"REFLECT"):
            raise InvalidArgumentError(
                f"paddings {sides} of an axis of length {dim} are more than {mode.decode()} has "
                "elements to mirror"
            )
    return np.pad(input, paddings, mode.decode().lower())  # type: ignore[call-overload]


@MIRROR_PAD.gradient
def mirror_pad_gradient(op: Any, d_output: Any) -> Any:
    return raw.MirrorPadGrad(d_output, op.inputs[1], mode=op.get_attr("mode")), None


MIRROR_PAD_GRAD = OpDef(
    "MirrorPadGrad(input: T, paddings: Tpaddings) -> output: T "
    f"[T: type; Tpaddings: type = int32 {{index}}; {_MODES}]"
)


@MIRROR_PAD_GRAD.shape
def mirror_pad_grad_shape(input: Shape, paddings: Shape, *, paddings_value: Any) -> Shape:
    negative = None if paddings_value is None else paddings_value.sum(1).tolist()
    if input is None or negative is None:
        return None if input is None else (None,) * len(input)
    return tuple(
        None if dim is None else dim - less for dim, less in zip(input, negative, strict=True)
    )


@MIRROR_PAD_GRAD.kernel
def mirror_pad_grad_kernel(input: Any, paddings: Any, *, mode: bytes) -> Any:
    for axis, sides in enumerate(paddings.tolist()):
        length = input.shape[axis] - sum(sides)
        source = np.pad(np.arange(length), sides, mode.decode().lower())  # type: ignore[call-overload]
        folded = np.zeros_like(input, shape=(length, *np.delete(input.shape, axis)))
        np.add.at(folded, source, np.moveaxis(input, axis, 0))
        input = np.moveaxis(folded, 0, axis)
    return input


@MIRROR_PAD_GRAD.gradient
def mirror_pad_grad_gradient(op: Any, d_output: Any) -> Any:
    return raw.MirrorPad(d_output, op.inputs[1], mode=op.get_attr("mode")), None


def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None,
    constant_values: Any = 0,
) -> Tensor:  # fmt: skip
    """Return `tensor` with more elements before and after on each axis.

    Args:
      tensor: [d0, ..., dn].
      paddings: integers [n + 1, 2], how many before and after on each axis.
      mode: "CONSTANT"; "REFLECT" mirrors at the outermost elements, "SYMMETRIC" at the edges.
      name: of the node.
      constant_values: what is added in mode "CONSTANT".

    Raises:
      ValueError: the mode is none of these, or `paddings` has another shape or is negative.

    Example:
      >>> Session().run(pad([[1, 2]], [[1, 0], [0, 1]]))
      array([[0, 0, 0],
             [1, 2, 0]], dtype=int32)
    """
    mode = mode.upper()
    if mode in ("REFLECT", "SYMMETRIC"):
        return raw.MirrorPad(tensor, paddings, mode=mode, name=name)
    if mode != "CONSTANT":
        raise ValueError(f"mode is CONSTANT, REFLECT or SYMMETRIC, got {mode!r}")
    is_zero = not hasattr(constant_values, "_as_tensor") and not np.any(constant_values)
    if is_zero:
        return raw.Pad(tensor, paddings, name=name)
    return raw.PadV2(tensor, paddings, constant_values, name=name)


# in another order

REVERSE_V2 = OpDef(
    "ReverseV2(tensor: T, axis: Tidx) -> output: T "
    "[Tidx: type = int32 {index}; T: type {numeric,bool,string}]"
)


@REVERSE_V2.shape
def reverse_v2_shape(tensor: Shape, axis: Shape, *, axis_value: Any) -> Shape:
    if tensor is not None and axis_value is not None:
        for each in axis_value.tolist():
            shapes.axis_of(each, len(tensor))
    return tensor


@REVERSE_V2.kernel
def reverse_v2_kernel(tensor: Any, axis: Any) -> Any:
    axes = [shapes.axis_of(each, np.ndim(tensor)) for each in axis.tolist()]
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
REVERSE_SEQUENCE.shape(_same_shape)


@REVERSE_SEQUENCE.kernel
def reverse_sequence_kernel(input: Any, seq_lengths: Any, *, seq_dim: int, batch_dim: int) -> Any:
    output = input.copy()
    rows, mirrored = (np.moveaxis(each, (batch_dim, seq_dim), (0, 1)) for each in (input, output))
    for row, length in enumerate(seq_lengths.tolist()):
        if not 0 <= length <= rows.shape[1]:
            raise InvalidArgumentError(
                f"seq_lengths[{row}] is {length}, but sequences have {rows.shape[1]} places"
            )
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
ROLL.shape(_same_shape)


@ROLL.kernel
def roll_kernel(input: Any, shift: Any, axis: Any) -> Any:
    axes = [shapes.axis_of(each, input.ndim) for each in np.atleast_1d(axis).tolist()]
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
