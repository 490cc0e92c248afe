"""Signals cut into frames, their spectra over time, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.shape import shape
from tfdist.ops.signal.rfft import irfft, rfft
from tfdist.ops.signal.window_functions import hann_window

__all__: list[str] = []  # its names are those of tf.signal only

Number = Any  # an int where it is known, else a scalar tensor


def _number(value: Any, name: str) -> tuple[Number, Tensor]:
    """Return an integer as an int if it is known, and as a tensor."""
    tensor = convert_to_tensor(value, "int32", name=name)
    if tensor.plain_shape not in ((), None):
        raise ValueError(f"{name} must be a scalar, but has shape {tensor.shape}")
    known = tensor.op._attrs["value"] if tensor.op.type == "Const" else None
    if known is not None and name == "frame_step" and known <= 0:
        raise ValueError(f"frame_step must be positive, but is {known}")
    return (tensor if known is None else int(known)), tensor


def _size(tensor: Tensor, axis: int) -> Number:
    """Return the size of an axis: an int if it is known."""
    sizes: Any = tensor.plain_shape
    known: Any = shape(tensor) if sizes is None or sizes[axis] is None else sizes
    return known[axis]


def _ceiling(one: Number, other: Number) -> Number:
    """Return the quotient, rounded up."""
    return -(-one // other)


def _at_least_0(number: Number) -> Number:
    return raw.Maximum(0, number) if isinstance(number, Tensor) else max(0, number)


def _range(count: Number) -> Any:
    return raw.Range(0, count, 1) if isinstance(count, Tensor) else np.arange(count, dtype=np.int32)


def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Return frames of a signal, which may overlap.

    Args:
      signal: [..., samples, ...], of known rank if `axis` is not the last one.
      frame_length: samples of a frame.
      frame_step: samples from the start of a frame to that of the next.
      pad_end: whether frames that reach beyond the end are filled up; else they are left out.
      pad_value: with what.
      axis: of the samples.
      name: of the nodes' scope.

    Returns:
      [..., frames, frame_length, ...].

    Raises:
      ValueError: the rank is not known, or a length or step is no scalar.

    Example:
      >>> Session().run(signal.frame([1, 2, 3, 4, 5], 3, 2))
      array([[1, 2, 3],
             [3, 4, 5]], dtype=int32)
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        tensor = convert_to_tensor(signal, name="signal")
        length, _ = _number(frame_length, "frame_length")
        step, _ = _number(frame_step, "frame_step")
        if tensor.plain_shape is None:
            if axis != -1:
                raise ValueError(
                    f"frame needs a signal of known rank along axis {axis}: {tensor!r}"
                )
            return _by_rows(tensor, 1, lambda rows: frame(rows, length, step, pad_end, pad_value))
        place = shapes.axis_of(axis, len(tensor.plain_shape))
        size = _size(tensor, place)
        if pad_end:
            count = _at_least_0(_ceiling(size, step))
            missing = _at_least_0(length + step * (count - 1) - size)
            tensor = _padded(tensor, place, missing, pad_value)
        else:
            count = _at_least_0(1 + (size - length) // step)
        return _gathered(tensor, place, count, length, step)


def _by_rows(tensor: Tensor, axes: int, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Return what a function makes of the last axes of a tensor of unknown rank."""
    sizes: Any = shape(tensor)
    last = sizes[-axes:]
    rows = raw.Reshape(tensor, raw.ConcatV2([[-1], last], 0))
    rows.set_shape([None] * (axes + 1))
    found = function(rows)
    behind: Any = shape(found)
    result: Tensor = raw.Reshape(found, raw.ConcatV2([sizes[:-axes], behind[1:]], 0))
    return result


def _padded(tensor: Tensor, axis: int, missing: Number, value: Any) -> Tensor:
    """Return a tensor with a value behind the end of an axis."""
    rank = len(tensor.plain_shape or ())
    is_axis = (np.arange(rank) == axis).astype(np.int32)
    paddings = raw.Pack([np.zeros(rank, np.int32), raw.Mul(is_axis, missing)], axis=1)
    if not isinstance(missing, Tensor):
        paddings = np.stack([0 * is_axis, is_axis * missing], axis=1)
    value = convert_to_tensor(value, tensor.dtype.base_dtype)
    padded: Tensor = raw.PadV2(tensor, paddings, value)
    return padded


def _gathered(tensor: Tensor, axis: int, count: Number, length: Number, step: Number) -> Tensor:
    """Return the frames: all samples by their places."""
    starts = raw.ExpandDims(_range(count) * step, 1)
    places = starts + raw.ExpandDims(_range(length), 0)
    if isinstance(count, int) and isinstance(length, int) and isinstance(step, int):
        places = np.arange(count)[:, None] * step + np.arange(length)[None, :]
        places = places.astype(np.int32)
    frames: Tensor = raw.GatherV2(tensor, places, axis)
    sizes = list(tensor.plain_shape or ())
    known = [each if isinstance(each, int) else None for each in (count, length)]
    frames.set_shape([*sizes[:axis], *known, *sizes[axis + 1 :]])
    return frames


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """Return the signal whose frames these are: where they overlap they are added.

    Args:
      signal: [..., frames, frame_length].
      frame_step: samples from the start of a frame to that of the next.
      name: of the nodes' scope.

    Returns:
      [..., (frames - 1) * frame_step + frame_length].

    Raises:
      ValueError: the rank is less than 2, or the step is not an integer.

    Example:
      >>> Session().run(signal.overlap_and_add([[1, 2, 3], [10, 20, 30]], 2))
      array([ 1,  2, 13, 20, 30], dtype=int32)
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        tensor = convert_to_tensor(signal, name="signal")
        tensor.shape.with_rank_at_least(2)
        step = convert_to_tensor(frame_step, name="frame_step")
        if not step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {step.dtype.name}")
        if tensor.plain_shape is None:
            return _by_rows(tensor, 2, lambda rows: overlap_and_add(rows, frame_step))
        return _added(tensor, _number(step, "frame_step")[0])


def _added(tensor: Tensor, step: Number) -> Tensor:
    """Return frames added: as rows of segments of one step, each row one further to the right.

    With as many empty frames behind as there are segments in one, and read as if the rows were
    shorter by one, the segments that belong together come to stand below each other.
    """
    frames, length = _size(tensor, -2), _size(tensor, -1)
    segments = _ceiling(length, step)
    rank = len(tensor.plain_shape or ())
    behind = _padded(tensor, rank - 2, segments, 0)
    behind = _padded(behind, rank - 1, segments * step - length, 0)
    rows = raw.Reshape(behind, _joined(tensor, frames + segments, segments, step))
    order = np.array([*range(rank - 2), rank - 1, rank - 2, rank], np.int32)
    columns = raw.Transpose(rows, order)
    flat = raw.Reshape(columns, _joined(tensor, (frames + segments) * segments, step))
    kept = flat[..., : (frames + segments - 1) * segments, :]
    shorter = raw.Reshape(kept, _joined(tensor, segments, frames + segments - 1, step))
    sums = raw.Sum(shorter, np.int32(-3))
    joined = raw.Reshape(sums, _joined(tensor, (frames + segments - 1) * step))
    total = length + step * (frames - 1)
    result: Tensor = joined[..., :total]
    size = None if isinstance(total, Tensor) else total
    result.set_shape([*(tensor.plain_shape or ())[:-2], size])
    return result


def _joined(tensor: Tensor, *last: Number) -> Any:
    """Return the shape of a tensor with others instead of its last two dimensions."""
    front = (tensor.plain_shape or ())[:-2]
    if None not in front and not any(isinstance(each, Tensor) for each in last):
        return np.array([*front, *last], np.int32)
    sizes: Any = shape(tensor)
    return raw.ConcatV2([sizes[:-2], raw.Pack(list(last), axis=0)], 0)


def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Tensor] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the spectra of a signal's frames: the short-time Fourier transform.

    Args:
      signals: float32 [..., samples].
      frame_length: samples of a frame.
      frame_step: samples from the start of a frame to that of the next.
      fft_length: of the transforms; by default the next power of 2.
      window_fn: takes the length and a dtype, gives what frames are multiplied with; or None.
      pad_end: whether frames that reach beyond the end are filled up with zeros.
      name: of the nodes' scope.

    Returns:
      complex64 [..., frames, fft_length // 2 + 1].

    Example:
      >>> Session().run(signal.stft([1.0] * 8, 4, 2)).shape
      (3, 3)
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        tensor = convert_to_tensor(signals, name="signals")
        tensor.shape.with_rank_at_least(1)
        length, length_tensor = _number(frame_length, "frame_length")
        step, _ = _number(frame_step, "frame_step")
        transform = _transform_length(length, fft_length)
        frames = frame(tensor, length, step, pad_end=pad_end)
        if window_fn is not None:
            window = window_fn(length_tensor, dtype=frames.dtype.base_dtype)
            frames = raw.Mul(frames, window, name="mul")
        return rfft(frames, _listed(transform))


def _transform_length(frame_length: Number, fft_length: Any) -> Number:
    """Return the length of the transforms: by default the least power of 2 that is enough."""
    if fft_length is not None:
        return _number(fft_length, "fft_length")[0]
    if isinstance(frame_length, int):
        return 1 << max(0, frame_length - 1).bit_length()
    logarithm = raw.RealDiv(raw.Log(raw.Cast(frame_length, DstT="float32")), np.log(np.float32(2)))
    return raw.Cast(raw.Pow(2.0, raw.Ceil(logarithm)), DstT="int32")


def _listed(length: Number) -> Any:
    return raw.Pack([length], axis=0) if isinstance(length, Tensor) else [length]


def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Tensor] | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """Return the signal whose spectra over time these are.

    Args:
      stfts: complex64 [..., frames, fft_length // 2 + 1].
      frame_length: samples of a frame.
      frame_step: samples from the start of a frame to that of the next.
      fft_length: of the transforms; by default the next power of 2.
      window_fn: takes the length and a dtype, gives what frames are multiplied with; or None. That
        of `inverse_stft_window_fn` undoes the one of `stft`.
      name: of the nodes' scope.

    Returns:
      float32 [..., samples].

    Example:
      >>> frames = signal.stft([1.0] * 8, 4, 2, window_fn=None)
      >>> Session().run(signal.inverse_stft(frames, 4, 2, window_fn=None)).round(3)
      array([1., 1., 2., 2., 2., 2., 1., 1.], dtype=float32)
    """
    with name_scope(name, "inverse_stft", [stfts]):
        tensor = convert_to_tensor(stfts, name="stfts")
        tensor.shape.with_rank_at_least(2)
        if tensor.plain_shape is None:
            how = (frame_length, frame_step, fft_length, window_fn)
            return _by_rows(tensor, 2, lambda rows: inverse_stft(rows, *how))
        length, length_tensor = _number(frame_length, "frame_length")
        step, _ = _number(frame_step, "frame_step")
        transform = _transform_length(length, fft_length)
        frames = _cut(irfft(tensor, _listed(transform)), length)
        if window_fn is not None:
            window = window_fn(length_tensor, dtype=frames.dtype.base_dtype)
            frames = raw.Mul(frames, window, name="mul")
        return overlap_and_add(frames, step)


def _cut(frames: Any, length: Number) -> Tensor:
    """Return frames of a length: their first samples, or zeros behind them."""
    size = _size(frames, -1)
    if isinstance(size, int) and size == length:
        return frames
    missing = _at_least_0(length - size)
    if isinstance(missing, Tensor) or missing:
        frames = _padded(frames, len(frames.shape) - 1, missing, 0.0)
    cut: Tensor = frames[..., :length]
    return cut


def inverse_stft_window_fn(
    frame_step: Any,
    forward_window_fn: Callable[..., Tensor] = hann_window,
    name: str | None = None,
) -> Callable[..., Tensor]:
    """Return the function of a window for `inverse_stft` that undoes the one of `stft`.

    Args:
      frame_step: samples from the start of a frame to that of the next.
      forward_window_fn: the one that `stft` took.
      name: of the nodes' scope.

    Returns:
      A function that takes the length of a frame and a dtype.

    Example:
      >>> window = signal.inverse_stft_window_fn(2)(4, dtype=float32)
      >>> Session().run(window).round(3)
      array([0., 1., 1., 1.], dtype=float32)
    """

    def inverse_window(frame_length: Any, dtype: Any = dtypes.float32) -> Tensor:
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length, length_tensor = _number(frame_length, "frame_length")
            step, _ = _number(frame_step, "frame_step")
            window = forward_window_fn(length_tensor, dtype=dtype)
            overlaps = _ceiling(length, step)
            squares = _padded(raw.Square(window), 0, overlaps * step - length, 0)
            rows = raw.Reshape(squares, raw.Pack([overlaps, step], axis=0))
            sums = raw.Sum(rows, np.int32(0), keep_dims=True)
            spread = raw.Reshape(raw.Tile(sums, raw.Pack([overlaps, 1], axis=0)), [-1])
            quotient: Tensor = raw.RealDiv(window, spread[:length], name="truediv")
            return quotient

    return inverse_window
