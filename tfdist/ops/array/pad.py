"""The same elements surrounded by others: pad, with a constant or with their mirror."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError, OpError
from tfdist.graph.op_def import Known, OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.range import range as range_of
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.framework.shared_values import as_elements

__all__ = ["pad"]

PAD = OpDef(
    "Pad(input: T, paddings: Tpaddings) -> output: T [T: type; Tpaddings: type = int32 {index}]",
    gives_fresh=True,
)
_NUMBERS = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


@PAD.shape
def pad_shape(input: Shape, paddings: Shape, *, paddings_partial: Any) -> Shape:
    rank = len(input) if input is not None else paddings[0] if paddings else None
    if rank is None:
        return None
    _check_paddings(paddings, rank)
    if input is None or paddings_partial is None:
        return (None,) * rank
    sides = paddings_partial.tolist()
    known = [side for pair in sides for side in pair]
    if None not in known and min(known, default=0) < 0:
        raise InvalidArgumentError(f"Paddings must be non-negative: {sides}")
    return tuple(
        None if dim is None or None in pair else dim + sum(pair)
        for dim, pair in zip(input, sides, strict=True)
    )


def _check_paddings(paddings: Shape, rank: int) -> None:
    shapes.require_rank(paddings, "paddings", 2)
    if paddings and paddings[1] not in (2, None):
        raise InvalidArgumentError(f"Dimension must be 2 but is {paddings[1]}")
    if paddings and paddings[0] not in (rank, None):
        raise InvalidArgumentError(f"Shape must be rank {paddings[0]} but is rank {rank}")


@PAD.kernel
def pad_kernel(input: Any, paddings: Any) -> Any:
    input = as_elements(input)
    nothing = b"" if input.dtype == object else input.dtype.type(0)
    return _surrounded(input, paddings, nothing)


def _surrounded(input: Any, paddings: Any, value: Any) -> Any:
    if paddings.ndim == 2 and len(paddings) != input.ndim:
        raise InvalidArgumentError(
            "The first dimension of paddings must be the rank of inputs"
            f"{shapes.brackets(paddings.shape)} {shapes.brackets(input.shape)}"
        )
    dims = pad_shape(input.shape, paddings.shape, paddings_partial=paddings)
    check_room(dims, input.dtype)
    output = np.full_like(input, value, shape=dims)
    output[_middle(paddings, input.shape)] = input
    return output


def _middle(paddings: Any, shape: Any) -> tuple[slice, ...]:
    """Return where in the output the input is."""
    starts = paddings[:, 0].tolist()
    return tuple(slice(at, at + size) for at, size in zip(starts, shape, strict=True))


@PAD.specialize
def pad_specialized(known: Known) -> Any:
    """Return what puts arrays of one shape in the middle of zeros, None where that is not known."""
    shape, paddings = known.shapes[0], known.values[1]
    if paddings is None or not known.has_shapes or known.dtypes[0] not in _NUMBERS:
        return None
    try:
        dims: Any = pad_shape(shape, paddings.shape, paddings_partial=paddings)
        check_room(dims, known.dtypes[0].as_numpy_dtype)
    except OpError:
        return None  # the kernel says so when it runs
    middle = _middle(paddings, shape)

    def padded(input: Any, paddings: Any) -> Any:
        output = np.zeros(dims, input.dtype)
        output[middle] = input
        return output

    return padded


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
    input: Shape, paddings: Shape, constant_values: Shape, *, paddings_partial: Any
) -> Shape:
    return pad_shape(input, paddings, paddings_partial=paddings_partial)


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


MIRROR_PAD.checked_shape(pad_shape)


@MIRROR_PAD.kernel
def mirror_pad_kernel(input: Any, paddings: Any, *, mode: bytes) -> Any:
    for dim, sides in zip(input.shape, paddings.tolist(), strict=True):
        _check_sides(dim, sides, mode, "dimension")
    check_room(input.shape + paddings.sum(1), input.dtype)
    return np.pad(input, paddings.tolist(), mode.decode().lower())  # type: ignore[call-overload]


def _check_sides(dim: int, sides: list[int], mode: bytes, what: str) -> None:
    """Raise InvalidArgumentError if there is less to be mirrored than is to be added."""
    if min(sides) < 0:
        raise InvalidArgumentError(f"Paddings must be non-negative: {sides[0]}, {sides[1]}")
    if max(sides) > dim - (mode == b"REFLECT"):
        bound, less = (
            ("less than", "not less") if mode == b"REFLECT" else ("no greater than", "greater")
        )
        pair = f"{sides[0]}, {sides[1]} {less} than {dim}"
        raise InvalidArgumentError(f"paddings must be {bound} the {what} size: {pair}")


@MIRROR_PAD.gradient
def mirror_pad_gradient(op: Any, d_output: Any) -> Any:
    return raw.MirrorPadGrad(d_output, op.inputs[1], mode=op.get_attr("mode")), None


MIRROR_PAD_GRAD = OpDef(
    "MirrorPadGrad(input: T, paddings: Tpaddings) -> output: T "
    f"[T: type; Tpaddings: type = int32 {{index}}; {_MODES}]"
)


@MIRROR_PAD_GRAD.checked_shape
def mirror_pad_grad_shape(input: Shape, paddings: Shape, *, paddings_value: Any) -> Shape:
    negative = None if paddings_value is None else paddings_value.sum(1).tolist()
    if input is None or negative is None:
        return None if input is None else (None,) * len(input)
    return tuple(
        None if dim is None else dim - less for dim, less in zip(input, negative, strict=True)
    )


@MIRROR_PAD_GRAD.kernel
def mirror_pad_grad_kernel(input: Any, paddings: Any, *, mode: bytes) -> Any:
    edge = int(mode == b"REFLECT")  # which is not mirrored itself
    for axis, sides in enumerate(paddings.tolist()):
        _check_sides(input.shape[axis] - sum(sides), sides, mode, "output dimension")
        if any(sides):
            before, after = sides
            input = _mirrored_back(input, axis, before, after, edge)
    return input


def _mirrored_back(input: Any, axis: int, before: int, after: int, edge: int) -> Any:
    """Return the middle of an axis, with what lies around it added to what it mirrors."""
    first = np.moveaxis(input, axis, 0)
    end = len(first) - after
    made = first[before:end].copy()
    made[edge : edge + before] += first[:before][::-1]
    last = len(made) - edge
    made[last - after : last] += first[end:][::-1]
    return np.moveaxis(made, 0, axis)


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
        raise ValueError(
            f"Unknown padding mode: {mode}, which is none of CONSTANT, REFLECT and SYMMETRIC"
        )
    is_zero = not hasattr(constant_values, "_as_tensor") and not np.any(constant_values)
    if is_zero:
        return raw.Pad(tensor, paddings, name=name)
    return raw.PadV2(tensor, paddings, constant_values, name=name)
