"""The same elements elsewhere: tile, pad, reverse, roll, diagonals and bands of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Dim, Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.filling import range as range_of
from tfdist.ops.filling import zeros_like
from tfdist.ops.shaping import one_of, reshape, shape, size, transpose
from tfdist.ops.values import as_elements

__all__ = [
    "bitcast",
    "diag",
    "diag_part",
    "matrix_band_part",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_set_diag",
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
    "Tile(input: T, multiples: Tmultiples) -> output: T "
    "[T: type; Tmultiples: type = int32 {index}]"
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


_FIRST_COLUMN = {"begin_mask": 1, "end_mask": 1}

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
    return np.flip(tensor, axes) if axes else tensor


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
def reverse_sequence_kernel(
    input: Any, seq_lengths: Any, *, seq_dim: int, batch_dim: int
) -> Any:
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
    "Bitcast(input: T) -> output: type [T: type {numeric}; type: type {numeric}]"
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


# matrices and their diagonals

MATRIX_DIAG = OpDef("MatrixDiag(diagonal: T) -> output: T [T: type]")


@MATRIX_DIAG.shape
def matrix_diag_shape(diagonal: Shape) -> Shape:
    if diagonal is not None and not diagonal:
        raise InvalidArgumentError("a diagonal must have rank 1 at least, but is a scalar")
    return None if diagonal is None else (*diagonal, diagonal[-1])


@MATRIX_DIAG.kernel
def matrix_diag_kernel(diagonal: Any) -> Any:
    output = np.zeros_like(diagonal, shape=(*diagonal.shape, diagonal.shape[-1]))
    places = np.arange(diagonal.shape[-1])
    output[..., places, places] = diagonal
    return output


@MATRIX_DIAG.gradient
def matrix_diag_gradient(op: Any, d_output: Any) -> Any:
    return matrix_diag_part(d_output)


def matrix_diag(diagonal: Any, name: str | None = "diag") -> Tensor:
    """Return square matrices [..., n, n] with `diagonal` [..., n] and zeros elsewhere.

    Example:
      >>> Session().run(matrix_diag([1, 2]))
      array([[1, 0],
             [0, 2]], dtype=int32)
    """
    result: Tensor = raw.MatrixDiag(diagonal, name=name)
    return result


MATRIX_DIAG_PART = OpDef("MatrixDiagPart(input: T) -> diagonal: T [T: type]")


def _least(one: Dim, other: Dim) -> Dim:
    return None if one is None or other is None else min(one, other)


def _require_matrices(input: Shape) -> None:
    if input is not None and len(input) < 2:
        raise InvalidArgumentError(
            f"matrices must have rank 2 at least, but have shape {shapes.show(input)}"
        )


@MATRIX_DIAG_PART.shape
def matrix_diag_part_shape(input: Shape) -> Shape:
    _require_matrices(input)
    return None if input is None else (*input[:-2], _least(*input[-2:]))


@MATRIX_DIAG_PART.kernel
def matrix_diag_part_kernel(input: Any) -> Any:
    return np.diagonal(input, axis1=-2, axis2=-1)


@MATRIX_DIAG_PART.gradient
def matrix_diag_part_gradient(op: Any, d_output: Any) -> Any:
    return matrix_set_diag(zeros_like(op.inputs[0]), d_output)


def matrix_diag_part(input: Any, name: str | None = "diag_part") -> Tensor:
    """Return the diagonals [..., min(n, m)] of matrices [..., n, m].

    Example:
      >>> Session().run(matrix_diag_part([[1, 2, 3], [4, 5, 6]]))
      array([1, 5], dtype=int32)
    """
    result: Tensor = raw.MatrixDiagPart(input, name=name)
    return result


MATRIX_SET_DIAG = OpDef("MatrixSetDiag(input: T, diagonal: T) -> output: T [T: type]")


@MATRIX_SET_DIAG.shape
def matrix_set_diag_shape(input: Shape, diagonal: Shape) -> Shape:
    shapes.merge(matrix_diag_part_shape(input), diagonal, "the shapes of both diagonals")
    return input


@MATRIX_SET_DIAG.kernel
def matrix_set_diag_kernel(input: Any, diagonal: Any) -> Any:
    matrix_set_diag_shape(input.shape, diagonal.shape)
    output, places = input.copy(), np.arange(diagonal.shape[-1])
    output[..., places, places] = diagonal
    return output


@MATRIX_SET_DIAG.gradient
def matrix_set_diag_gradient(op: Any, d_output: Any) -> Any:
    return matrix_set_diag(d_output, zeros_like(op.inputs[1])), matrix_diag_part(d_output)


def matrix_set_diag(input: Any, diagonal: Any, name: str | None = "set_diag") -> Tensor:
    """Return matrices `input` [..., n, m] with `diagonal` [..., min(n, m)] in place of their own.

    Example:
      >>> Session().run(matrix_set_diag([[1, 2], [3, 4]], [8, 9]))
      array([[8, 2],
             [3, 9]], dtype=int32)
    """
    result: Tensor = raw.MatrixSetDiag(input, diagonal, name=name)
    return result


MATRIX_BAND_PART = OpDef(
    "MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> band: T "
    "[T: type; Tindex: type = int64 {index}]"
)


@MATRIX_BAND_PART.shape
def matrix_band_part_shape(input: Shape, num_lower: Shape, num_upper: Shape) -> Shape:
    _require_matrices(input)
    return input


@MATRIX_BAND_PART.kernel
def matrix_band_part_kernel(input: Any, num_lower: Any, num_upper: Any) -> Any:
    below = np.subtract.outer(*(np.arange(length) for length in input.shape[-2:]))
    kept = (num_lower < 0) | (below <= num_lower)
    kept &= (num_upper < 0) | (-below <= num_upper)
    return np.where(kept, input, input.dtype.type(0))


@MATRIX_BAND_PART.gradient
def matrix_band_part_gradient(op: Any, d_output: Any) -> Any:
    return raw.MatrixBandPart(d_output, *op.inputs[1:]), None, None


def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Return matrices with zeros outside of a band around their diagonal.

    Args:
      input: [..., n, m].
      num_lower: how many diagonals below the main one to keep; below 0 for all.
      num_upper: how many above it.
      name: of the node.

    Example: a lower triangle.
      >>> Session().run(matrix_band_part([[1, 2], [3, 4]], -1, 0))
      array([[1, 0],
             [3, 4]], dtype=int32)
    """
    result: Tensor = raw.MatrixBandPart(input, num_lower, num_upper, name=name)
    return result


_DIAGONAL_TYPES = "bfloat16,float16,float32,float64,int32,int64,complex64,complex128"
DIAG = OpDef(f"Diag(diagonal: T) -> output: T [T: type {{{_DIAGONAL_TYPES}}}]")


@DIAG.shape
def diag_shape(diagonal: Shape) -> Shape:
    return None if diagonal is None else diagonal * 2


@DIAG.kernel
def diag_kernel(diagonal: Any) -> Any:
    return np.diagflat(diagonal).reshape(diagonal.shape * 2)


@DIAG.gradient
def diag_gradient(op: Any, d_output: Any) -> Any:
    return diag_part(d_output)


def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """Return zeros of shape [d0, ..., dn, d0, ..., dn] with `diagonal` [d0, ..., dn] on the diagonal.

    Example:
      >>> Session().run(diag([1, 2]))
      array([[1, 0],
             [0, 2]], dtype=int32)
    """
    result: Tensor = raw.Diag(diagonal, name=name)
    return result


DIAG_PART = OpDef(f"DiagPart(input: T) -> diagonal: T [T: type {{{_DIAGONAL_TYPES}}}]")


@DIAG_PART.shape
def diag_part_shape(input: Shape) -> Shape:
    if input is None:
        return None
    half, odd = divmod(len(input), 2)
    if odd or not input:
        raise InvalidArgumentError(f"diag_part needs an even rank, got {shapes.show(input)}")
    return shapes.merge(input[:half], input[half:], "both halves of the shape")


@DIAG_PART.kernel
def diag_part_kernel(input: Any) -> Any:
    dims = diag_part_shape(input.shape)
    side = shapes.num_elements(dims)
    return input.reshape(side, side).diagonal().reshape(dims)


@DIAG_PART.gradient
def diag_part_gradient(op: Any, d_output: Any) -> Any:
    return diag(d_output)


def diag_part(input: Any, name: str | None = None) -> Tensor:
    """Return the diagonal [d0, ..., dn] of a tensor of shape [d0, ..., dn, d0, ..., dn].

    Example:
      >>> Session().run(diag_part([[1, 2], [3, 4]]))
      array([1, 4], dtype=int32)
    """
    result: Tensor = raw.DiagPart(input, name=name)
    return result
