"""Where the windows of a convolution or pooling stand, for any number of spatial axes.

Kernels here see arrays as [batch, spatial axes..., channels]; what comes with the channels in front
is turned by `channels_last`. A position of a kernel's window is called a tap: its offset, and which
outputs and inputs it joins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tfdist.base.shapes import Dim, Shape
from tfdist.errors import InvalidArgumentError

CHUNK_BYTES = 1 << 20  # what a kernel works on at a time: about what a core's cache holds

Ints = tuple[int, ...]


class Windows(NamedTuple):
    """Windows over the spatial axes; each field has an entry for each of these axes.

    Attributes:
      sizes: of the input.
      kernel: sizes of the window.
      strides: from window to window.
      dilations: from tap to tap.
      before: how far the first window reaches over the front.
      out: how many windows there are.
    """

    sizes: Ints
    kernel: Ints
    strides: Ints
    dilations: Ints
    before: Ints
    out: Ints

    @property
    def are_points(self) -> bool:
        """Return whether each window is one element."""
        return set(self.kernel) == {1} and not any(self.before)

    @property
    def spans(self) -> Ints:
        """Return how much of each axis, borders included, the windows cover."""
        parts = zip(self.out, self.strides, self.kernel, self.dilations, strict=True)
        return tuple(
            (out - 1) * stride + (size - 1) * step + 1 for out, stride, size, step in parts
        )

    @property
    def are_apart(self) -> bool:
        """Return whether no two windows share an element."""
        parts = zip(self.kernel, self.strides, self.dilations, strict=True)
        return all(size <= stride and step == 1 for size, stride, step in parts)


def output_size(
    size: Dim, kernel: Dim, stride: int, dilation: int, padding: bytes, around: Sequence[int]
) -> Dim:
    """Return how many windows stand along an axis, None if that is not known.

    Args:
      size: of the input.
      kernel: of the window.
      stride: from window to window.
      dilation: from tap to tap.
      padding: SAME, VALID or EXPLICIT.
      around: what EXPLICIT adds in front and at the end.

    Raises:
      InvalidArgumentError: there are less than no windows: a stride as long as what is missing to
        one leaves 0, as TensorFlow's kernels count.
    """
    if size is None or (kernel is None and padding != b"SAME"):
        return None
    if padding == b"SAME":
        return -(-size // stride)
    reach, room = _reach_and_room(size, kernel or 1, dilation, padding, around)
    count = (room - reach + stride) // stride
    if count < 0:
        raise InvalidArgumentError(
            f"Computed output size would be negative: {count} [input_size: {room}, "
            f"effective_filter_size: {reach}, stride: {stride}]"
        )
    return count


def inferred_size(
    size: Dim, kernel: Dim, stride: int, dilation: int, padding: bytes, around: Sequence[int]
) -> Dim:
    """Return `output_size`, where no graph is built in which a window does not fit."""
    if size is not None and kernel is not None and padding != b"SAME":
        reach, room = _reach_and_room(size, kernel, dilation, padding, around)
        if reach > room:
            raise InvalidArgumentError(
                f"Negative dimension size caused by subtracting {reach} from {room}: a window of "
                f"{reach} does not fit into an axis of {room} with padding {padding.decode()}"
            )
    return output_size(size, kernel, stride, dilation, padding, around)


def _reach_and_room(
    size: int, kernel: int, dilation: int, padding: bytes, around: Sequence[int]
) -> tuple[int, int]:
    """Return how much a window covers of an axis, and how long that is with its border."""
    return (kernel - 1) * dilation + 1, size + (sum(around) if padding == b"EXPLICIT" else 0)


def front(
    size: int, kernel: int, stride: int, dilation: int, padding: bytes, around: Sequence[int]
) -> int:
    """Return how far the first window reaches over the front of an axis."""
    if padding == b"EXPLICIT":
        return around[0]
    if padding == b"VALID":
        return 0
    reach = (-(-size // stride) - 1) * stride + (kernel - 1) * dilation + 1
    return max(reach - size, 0) // 2


@lru_cache(maxsize=1024)
def windows_over(
    sizes: Ints,
    kernel: Ints,
    strides: Ints,
    dilations: Ints,
    padding: bytes,
    around: tuple[tuple[int, int], ...],
) -> Windows:
    """Return the windows over axes of `sizes`; the arguments are those of `output_size`."""
    axes = list(
        zip(sizes, kernel, strides, dilations, (padding,) * len(sizes), around, strict=True)
    )
    out = tuple(output_size(*axis) or 0 for axis in axes)
    before = tuple(front(*axis) for axis in axes)
    return Windows(sizes, kernel, strides, dilations, before, out)


# attributes of a node, which stand in the order of its data format


def has_channels_first(data_format: bytes) -> bool:
    return data_format[1:2] == b"C"


def spatial(values: Sequence[Any], data_format: bytes) -> tuple[Any, ...]:
    """Return what belongs to the spatial axes, of a list with an entry for each axis."""
    return tuple(values[2:] if has_channels_first(data_format) else values[1:-1])


def channels_of(shape: Sequence[Any], data_format: bytes) -> Any:
    return shape[1 if has_channels_first(data_format) else -1]


def with_axes(batch: Any, sizes: Sequence[Any], channels: Any, data_format: bytes) -> Any:
    """Return the shape of a tensor of that format."""
    if has_channels_first(data_format):
        return (batch, channels, *sizes)
    return (batch, *sizes, channels)


def channels_last(array: Any, data_format: bytes) -> Any:
    """Return an array of that format as [batch, spatial axes..., channels]."""
    return np.moveaxis(array, 1, -1) if has_channels_first(data_format) else array


def channels_back(array: Any, data_format: bytes) -> Any:
    """Return [batch, spatial axes..., channels] in that format."""
    if has_channels_first(data_format):
        return np.ascontiguousarray(np.moveaxis(array, -1, 1))
    return array


def explicit_around(explicit: Sequence[int], rank: int, data_format: bytes) -> Any:
    """Return what explicit paddings add around each spatial axis, in pairs."""
    if len(explicit) != 2 * rank:
        raise InvalidArgumentError(
            f"explicit_paddings attribute must contain {2 * rank} values, but got: {len(explicit)}"
        )
    if min(explicit) < 0:
        raise InvalidArgumentError(
            f"All elements of explicit_paddings must be nonnegative, got {list(explicit)}"
        )
    pairs = list(zip(explicit[::2], explicit[1::2], strict=True))
    rest = pairs[0], channels_of(pairs, data_format)
    if rest != ((0, 0), (0, 0)):
        raise InvalidArgumentError(
            "Nonzero explicit padding in the batch or depth dimensions is not supported, got "
            f"{list(explicit)}"
        )
    return spatial(pairs, data_format)


def require_steps(values: Sequence[int], count: int, what: str) -> None:
    """Raise InvalidArgumentError unless there is a step for each of `count` axes, 1 or more.

    Args:
      values: strides or dilations.
      count: of the axes.
      what: a key of `LEAST`.
    """
    if len(values) != count:
        raise InvalidArgumentError(
            f"{what.capitalize()} attribute must contain {count} values, but got: {len(values)}"
        )
    if min(values) < 1:
        raise InvalidArgumentError(
            f"{LEAST[what]}, but got {next(each for each in values if each < 1)}"
        )


LEAST = {"stride": "Stride must be > 0", "dilation": "Dilation rate must be >= 1"}


def require_spatial_only(values: Sequence[int], what: str, data_format: bytes) -> None:
    """Raise InvalidArgumentError if there is a step along the batch or the channels.

    Graphs may have such nodes, and kernels refuse them.
    """
    if (values[0], channels_of(values, data_format)) != (1, 1):
        raise InvalidArgumentError(
            f"Current implementation does not yet support {what} in the batch and depth "
            f"dimensions, got {list(values)}"
        )


def require_spatial(shape: Shape, what: str, data_format: bytes) -> None:
    """Raise InvalidArgumentError unless a shape has an axis for each letter of the format."""
    if shape is not None and len(shape) != len(data_format):
        raise InvalidArgumentError(
            f"{what} must be {len(data_format)}-dimensional{list(shape)}: "
            f"Shape must be rank {len(data_format)} but is rank {len(shape)} "
            f"({data_format.decode()})"
        )


# views


def pieces(count: int, bytes_of_one: int) -> Iterator[slice]:
    """Yield parts of a batch, each so small that a kernel's work on it stays in the cache."""
    step = max(1, CHUNK_BYTES // max(bytes_of_one, 1))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def bordered(array: Any, windows: Windows) -> Any:
    """Return an array with zeros around it, as far as the windows reach."""
    spans = windows.spans
    if not any(windows.before) and all(
        span <= size for span, size in zip(spans, windows.sizes, strict=True)
    ):
        return array
    wide = np.zeros((len(array), *spans, array.shape[-1]), array.dtype)
    wide[(slice(None), *_inner(windows))] = array[(slice(None), *_reached(windows))]
    return wide


def _reached(windows: Windows) -> tuple[slice, ...]:
    """Return the part of the input that stays when a border is put around it."""
    parts = zip(windows.spans, windows.before, windows.sizes, strict=True)
    return tuple(slice(0, max(0, min(size, span - before))) for span, before, size in parts)


def _inner(windows: Windows) -> tuple[slice, ...]:
    """Return where that part is put."""
    parts = zip(windows.before, _reached(windows), strict=True)
    return tuple(slice(before, before + part.stop) for before, part in parts)


def window_view(array: Any, windows: Windows) -> Any:
    """Return [batch, windows..., taps..., channels], a view of an array that has its borders."""
    batch, *steps, channel = array.strides
    moved = (step * by for step, by in zip(steps, windows.strides, strict=True))
    inside = (step * by for step, by in zip(steps, windows.dilations, strict=True))
    shape = (len(array), *windows.out, *windows.kernel, array.shape[-1])
    return as_strided(array, shape, (batch, *moved, *inside, channel), writeable=False)


class Tap(NamedTuple):
    """One position of a kernel's window.

    Attributes:
      place: of the tap in the window.
      outputs: the windows whose tap is inside of the input, as an index of [batch, windows...].
      inputs: the elements that these taps see, as an index of [batch, spatial axes...].
    """

    place: Ints
    outputs: tuple[slice, ...]
    inputs: tuple[slice, ...]


@lru_cache(maxsize=256)
def taps(windows: Windows) -> tuple[Tap, ...]:
    """Return the taps, row by row, without those that see nothing but borders."""
    axes = [
        [(place, *_seen(windows, axis, place)) for place in range(size)]
        for axis, size in enumerate(windows.kernel)
    ]
    every = slice(None)
    found = []
    for parts in product(*axes):
        places, outputs, inputs = zip(*parts, strict=True)
        if all(part.stop > part.start for part in outputs):
            found.append(Tap(places, (every, *outputs), (every, *inputs)))
    return tuple(found)


def _seen(windows: Windows, axis: int, place: int) -> tuple[slice, slice]:
    """Return which outputs of an axis see an input at that place of their window, and which."""
    stride = windows.strides[axis]
    offset = place * windows.dilations[axis] - windows.before[axis]
    first = max(0, -(offset // stride))
    last = min(windows.out[axis], (windows.sizes[axis] - 1 - offset) // stride + 1)
    start = first * stride + offset
    stop = max(start, (last - 1) * stride + offset + 1)
    return slice(first, max(first, last)), slice(start, stop, stride)
