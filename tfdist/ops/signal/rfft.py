"""Fourier transforms of real signals, and back: of the last one, two or three axes.

They give, and take, the half of the last axis that is not the mirror of the other one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.shape import shape as shape_tensor
from tfdist.ops.autodiff.gradient_utils import shape_of
from tfdist.ops.signal.fft import SUFFIX, check_rank, transform_size

__all__: list[str] = []  # its names are those of tf.signal only


def _lengths(fft_length: Any, axes: int) -> list[int]:
    """Return the lengths of a transform; InvalidArgumentError if they are none."""
    lengths = fft_length.tolist()
    if np.shape(lengths) != (axes,) or min(lengths) < 0:
        raise InvalidArgumentError(
            f"fft_length must have {axes} elements, none of them negative, but is {lengths}"
        )
    return lengths  # type: ignore[no-any-return]


def _check_long_enough(input: Any, wanted: list[int]) -> None:
    for axis, length in zip(range(-len(wanted), 0), wanted, strict=True):
        if input.shape[axis] < length:
            raise InvalidArgumentError(
                f"Input dimension {input.ndim + axis} must have length of at least {length} but "
                f"got: {input.shape[axis]}"
            )


def _real_shape(axes: int, last: Callable[[int], int]) -> Callable[..., Shape]:
    """Return the shape rule of a transform of real signals; `last` gives the last dimension."""

    def rule(input: Shape, fft_length: Shape, *, fft_length_value: Any) -> Shape:
        shapes.require_rank(input, "input", axes, 99)
        shapes.require_rank(fft_length, "fft_length", 1)
        if fft_length is not None:
            shapes.merge_dim(fft_length[0], axes, f"elements of fft_length, and {axes},")
        if input is None:
            return None
        if fft_length_value is None:
            return (*input[:-axes], *(None,) * axes)
        *others, length = fft_length_value.tolist()
        return (*input[:-axes], *others, last(length))

    return rule


def _rfft(axes: int) -> OpDef:
    op_def = OpDef(f"RFFT{SUFFIX[axes]}(input: float, fft_length: int32) -> output: complex64")
    op_def.shape(_real_shape(axes, lambda length: length // 2 + 1 if length else 0))

    @op_def.kernel
    def rfft_kernel(input: Any, fft_length: Any) -> Any:
        check_rank(input, axes)
        lengths = _lengths(fft_length, axes)
        _check_long_enough(input, lengths)
        *others, last = lengths
        check_room((*input.shape[:-axes], *lengths), np.float64)
        if not input.size or not all(lengths):
            half = last // 2 + 1 if last else 0
            return np.zeros((*input.shape[:-axes], *others, half), np.complex64)
        return np.fft.rfftn(input, lengths, tuple(range(-axes, 0)))

    return op_def


def _irfft(axes: int) -> OpDef:
    op_def = OpDef(f"IRFFT{SUFFIX[axes]}(input: complex64, fft_length: int32) -> output: float")
    op_def.shape(_real_shape(axes, lambda length: length))

    @op_def.kernel
    def irfft_kernel(input: Any, fft_length: Any) -> Any:
        check_rank(input, axes)
        lengths = _lengths(fft_length, axes)
        *others, last = lengths
        _check_long_enough(input, [*others, last // 2 + 1 if last else 0])
        check_room((*input.shape[:-axes], *lengths), np.float64)
        if not input.size or not all(lengths):
            return np.zeros((*input.shape[:-axes], *lengths), np.float32)
        return np.fft.irfftn(input, lengths, tuple(range(-axes, 0)))

    return op_def


RFFT, RFFT2D, RFFT3D = (_rfft(axes) for axes in (1, 2, 3))
IRFFT, IRFFT2D, IRFFT3D = (_irfft(axes) for axes in (1, 2, 3))


def _rfft_gradient(axes: int) -> Callable[..., Any]:
    """Return the rule of a transform of real signals: back with zeros for the other half."""

    def rule(op: Any, d_output: Any) -> Any:
        whole = _fitted(d_output, op.inputs[1], axes)
        back = getattr(raw, f"IFFT{SUFFIX[axes]}")(whole)
        real = raw.Real(raw.Mul(back, transform_size(back, axes)), Tout="float32")
        return _fitted(real, _last_sizes(op.inputs[0], axes), axes), None

    return rule


def _irfft_gradient(axes: int) -> Callable[..., Any]:
    """Return the rule of a transform to real signals: what has a mirror counts twice."""

    def rule(op: Any, d_output: Any) -> Any:
        lengths = op.inputs[1]
        half = getattr(raw, f"RFFT{SUFFIX[axes]}")(d_output, lengths)
        last = raw.Sub(raw.Slice(raw.Shape(half), raw.Sub(raw.Rank(half), [1]), [1]), 1)
        place = raw.Range(0, raw.Add(raw.Squeeze(last), 1), 1)
        length = raw.Slice(lengths, [axes - 1], [1])
        has_mirror = raw.LogicalAnd(raw.Greater(place, 0), raw.Less(raw.Mul(place, 2), length))
        factors = raw.AddV2(raw.Cast(has_mirror, DstT="complex64"), np.complex64(1))
        scaled = raw.RealDiv(
            raw.Mul(half, factors), raw.Cast(transform_size(d_output, axes), DstT="complex64")
        )
        return _fitted(scaled, _last_sizes(op.inputs[0], axes), axes), None

    return rule


for _axes in (1, 2):
    getattr(raw, f"RFFT{SUFFIX[_axes]}").gradient(_rfft_gradient(_axes))
    getattr(raw, f"IRFFT{SUFFIX[_axes]}").gradient(_irfft_gradient(_axes))


def _last_sizes(tensor: Tensor, axes: int) -> Tensor:
    sizes: Tensor = raw.Slice(
        shape_of(tensor), raw.Sub(raw.Pack([raw.Rank(tensor)], axis=0), axes), [axes]
    )
    return sizes


def _fitted(tensor: Tensor, lengths: Tensor, axes: int) -> Tensor:
    """Return a tensor with the last axes in these lengths: cut, or filled up with zeros."""
    rank, sizes = raw.Rank(tensor), raw.Shape(tensor)
    front = raw.Slice(sizes, [0], raw.Pack([raw.Sub(rank, axes)], axis=0))
    wanted = raw.ConcatV2([front, lengths], 0)
    cut = raw.Slice(tensor, raw.ZerosLike(sizes), raw.Minimum(sizes, wanted))
    missing = raw.Maximum(raw.Sub(wanted, sizes), 0)
    fitted: Tensor = raw.Pad(cut, raw.Pack([raw.ZerosLike(missing), missing], axis=1))
    return fitted


def _public_real(name: str, op_def: OpDef, axes: int, example: str) -> Callable[..., Tensor]:
    """Return the public function of a transform of real signals, or back to them."""
    back = name.startswith("i")

    def function(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
        with name_scope(name, public, [input_tensor, fft_length]) as scope:
            dtype = "complex64" if back else "float32"
            tensor = convert_to_tensor(input_tensor, dtype)
            tensor.shape.with_rank_at_least(axes)
            lengths = _inferred(tensor, axes, back) if fft_length is None else fft_length
            lengths = convert_to_tensor(lengths, "int32")
            padded = _padded(tensor, lengths, axes, back)
            transformed: Tensor = op_def(padded, lengths, name=scope)
            return transformed

    public = name
    function.__name__ = function.__qualname__ = name
    source = "half of a spectrum" if back else "real signals"
    function.__doc__ = f"""Return the {"inverse " if back else ""}Fourier transform of {source}.

    Args:
      input_tensor: {"complex64" if back else "float32"}, with at least {
        axes
    } axes; these are cut, or
        filled up with zeros, where their lengths differ from fft_length.
      fft_length: int32 [{axes}], the lengths of the signals; by default {
        "twice the last axis - 2" if back else "those of the input"
    }.
      name: of the node.

    Raises:
      ValueError: the input has fewer axes, or fft_length another number of elements.

    Example:
      {example}
    """
    return function


def _inferred(tensor: Tensor, axes: int, back: bool) -> Any:
    """Return the lengths of the signals that belong to an input."""
    sizes = tensor.plain_shape
    if sizes is not None and None not in sizes[-axes:]:
        lengths = np.array(sizes[-axes:], np.int32)
        if back:
            lengths[-1] = max(0, 2 * (lengths[-1] - 1))
        return lengths
    known: Any = shape_tensor(tensor)
    if not back:
        return known[-axes:]
    *others, last = raw.Unpack(known[-axes:], num=axes, axis=0) if axes > 1 else [known[-1]]
    return raw.Pack([*others, raw.Maximum(0, raw.Mul(2, raw.Sub(last, 1)))], axis=0)


def _padded(tensor: Tensor, lengths: Tensor, axes: int, back: bool) -> Tensor:
    """Return an input with zeros behind it, where it is shorter than the transform takes."""
    known = lengths.op._attrs.get("value") if lengths.op.type == "Const" else None
    sizes = tensor.plain_shape
    if (
        known is not None
        and sizes is not None
        and None not in sizes[-axes:]
        and np.shape(known) == (axes,)
    ):
        wanted = [int(each) for each in known]
        if back:
            wanted[-1] = wanted[-1] // 2 + 1
        missing = [max(0, want - size) for want, size in zip(wanted, sizes[-axes:], strict=True)]  # type: ignore[operator]
        if not any(missing):
            return tensor
        paddings = [(0, 0)] * (len(sizes) - axes) + [(0, each) for each in missing]
        return raw.Pad(tensor, np.array(paddings, np.int32))  # type: ignore[no-any-return]
    return _padded_when_run(tensor, lengths, axes, back)


def _padded_when_run(tensor: Tensor, lengths: Any, axes: int, back: bool) -> Tensor:
    sizes: Any = shape_tensor(tensor)
    if back:
        last = raw.AddV2(raw.FloorDiv(lengths[-1:], 2), 1)
        lengths = raw.ConcatV2([lengths[:-1], last], 0)
    missing = raw.Maximum(raw.Sub(lengths, sizes[-axes:]), 0)
    behind = raw.ConcatV2([raw.ZerosLike(sizes[:-axes]), missing], 0)
    padded: Tensor = raw.Pad(tensor, raw.Pack([raw.ZerosLike(behind), behind], axis=1))
    return padded


_FORTH = """>>> Session().run(signal.{}({}))
      array({}, dtype=complex64)"""
_BACK = """>>> Session().run(signal.{}({}))
      array({}, dtype=float32)"""
rfft = _public_real("rfft", RFFT, 1, _FORTH.format("rfft", "[1.0, 1.0]", "[2.+0.j, 0.+0.j]"))
rfft2d = _public_real(
    "rfft2d", RFFT2D, 2, _FORTH.format("rfft2d", "[[1.0, 1.0]]", "[[2.+0.j, 0.+0.j]]")
)
rfft3d = _public_real(
    "rfft3d", RFFT3D, 3, _FORTH.format("rfft3d", "[[[1.0, 1.0]]]", "[[[2.+0.j, 0.+0.j]]]")
)
irfft = _public_real("irfft", IRFFT, 1, _BACK.format("irfft", "[2.0, 0.0]", "[1., 1.]"))
irfft2d = _public_real("irfft2d", IRFFT2D, 2, _BACK.format("irfft2d", "[[2.0, 0.0]]", "[[1., 1.]]"))
irfft3d = _public_real(
    "irfft3d", IRFFT3D, 3, _BACK.format("irfft3d", "[[[2.0, 0.0]]]", "[[[1., 1.]]]")
)
