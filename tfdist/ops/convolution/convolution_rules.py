"""What convolutions of images and volumes do and which shapes they have, for any number of axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Dim, Shape
from tfdist.errors import InvalidArgumentError, UnimplementedError
from tfdist.ops.convolution.kernels import convolve, convolve_to_filters, convolve_to_input
from tfdist.ops.convolution.windows import (
    Windows,
    channels_back,
    channels_last,
    channels_of,
    explicit_around,
    inferred_size,
    output_size,
    require_spatial,
    require_spatial_only,
    require_steps,
    spatial,
    windows_over,
    with_axes,
)


class Attributes:
    """What the attributes of a convolution say, in the order of its spatial axes."""

    def __init__(
        self,
        strides: Sequence[int],
        padding: bytes,
        data_format: bytes,
        dilations: Sequence[int],
        explicit_paddings: Sequence[int] = (),
    ) -> None:
        self.data_format, self.padding = data_format, padding
        self.steps = {"strides": strides, "dilations": dilations}
        require_steps(strides, len(data_format), "stride")
        require_steps(dilations, len(data_format), "dilation")
        self.strides = spatial(strides, data_format)
        self.dilations = spatial(dilations, data_format)
        self.around: Any = ((0, 0),) * len(self.strides)
        if explicit_paddings or padding == b"EXPLICIT":
            self.around = explicit_around(explicit_paddings, len(data_format), data_format)

    def checked(self) -> Attributes:
        """Return itself; InvalidArgumentError if no kernel takes steps as these."""
        for what, values in self.steps.items():
            require_spatial_only(values, what, self.data_format)
        return self

    def windows(self, sizes: Sequence[int], kernel: Sequence[int]) -> Windows:
        """Return the windows over an input of those sizes."""
        return windows_over(
            tuple(sizes), tuple(kernel), self.strides, self.dilations, self.padding, self.around
        )

    def out(
        self, sizes: Sequence[Any], kernel: Sequence[Any], size_of: Callable[..., Any]
    ) -> list[Any]:
        """Return how many windows there are, as far as that is known, by a rule for one axis."""
        parts = zip(sizes, kernel, self.strides, self.dilations, self.around, strict=True)
        return [
            size_of(size, reach, stride, step, self.padding, around)
            for size, reach, stride, step, around in parts
        ]


def convolution_shape(
    input: Shape,
    filter: Shape,
    attributes: Attributes,
    size_of: Callable[..., Any] = inferred_size,
) -> Shape:
    """Return the shape of a convolution's output; `size_of` is a kernel's or a graph's rule."""
    data_format = attributes.data_format
    require_spatial(input, "input", data_format)
    rank = len(data_format)
    shapes.require_rank(filter, "filter", rank)
    input = input or (None,) * rank
    filter = filter or (None,) * rank
    _require_groups(channels_of(input, data_format), filter[-2], filter[-1])
    out = attributes.out(spatial(input, data_format), filter[:-2], size_of)
    shape: Shape = with_axes(input[0], out, filter[-1], data_format)
    return shape


def _require_groups(depth: Dim, of_filter: Dim, outputs: Dim) -> None:
    """Raise InvalidArgumentError unless the filters see the channels in whole groups."""
    if depth is None or of_filter is None or depth == of_filter:
        return
    if not of_filter or depth % of_filter:
        raise InvalidArgumentError(
            f"Depth of input ({depth}) is not a multiple of input depth of filter ({of_filter}): "
            f"input depth must be evenly divisible by filter depth: {depth} vs {of_filter}"
        )
    groups = depth // of_filter
    if outputs is not None and outputs % groups:
        raise InvalidArgumentError(
            f"Depth of output ({outputs}) is not a multiple of the number of groups ({groups})"
        )


def _require_one_group(depth: int, of_filter: int) -> None:
    if depth != of_filter:
        raise UnimplementedError(
            "The Conv2D op currently does not support grouped convolutions on the CPU: the input "
            f"depth of {depth} does not match the filter input depth of {of_filter}"
        )


def convolution_kernel(input: Any, filter: Any, attributes: Attributes) -> Any:
    """Return a convolution's output."""
    shape = convolution_shape(input.shape, filter.shape, attributes, output_size)
    last = channels_last(input, attributes.data_format)
    _require_one_group(last.shape[-1], filter.shape[-2])
    if not (input.size and filter.size):
        return np.zeros(shape or (), input.dtype)
    windows = attributes.windows(last.shape[1:-1], filter.shape[:-2])
    return channels_back(convolve(last, filter, windows), attributes.data_format)


def input_kernel(sizes: Sequence[int], filter: Any, d_output: Any, attributes: Attributes) -> Any:
    """Return the gradient of a convolution's input, which has the shape `sizes`."""
    last = channels_last(d_output, attributes.data_format)
    windows = _checked_windows(sizes, filter.shape, d_output.shape, attributes)
    if not (filter.size and d_output.size):
        return np.zeros([int(size) for size in sizes], d_output.dtype)
    return channels_back(convolve_to_input(filter, last, windows), attributes.data_format)


def filter_kernel(input: Any, sizes: Sequence[int], d_output: Any, attributes: Attributes) -> Any:
    """Return the gradient of a convolution's filters, which have the shape `sizes`."""
    windows = _checked_windows(input.shape, sizes, d_output.shape, attributes)
    if not (input.size and d_output.size):
        return np.zeros([int(size) for size in sizes], d_output.dtype)
    last, d_last = (channels_last(each, attributes.data_format) for each in (input, d_output))
    return convolve_to_filters(last, d_last, windows)


def _checked_windows(
    input: Sequence[int], filter: Sequence[int], d_output: Sequence[int], attributes: Attributes
) -> Windows:
    """Return the windows of a convolution; InvalidArgumentError if it has not that output."""
    input, filter = (_sizes(each) for each in (input, filter))
    wanted = convolution_shape(tuple(input), tuple(filter), attributes, output_size) or ()
    _require_one_group(channels_of(input, attributes.data_format), filter[-2])
    if wanted != tuple(d_output):
        raise InvalidArgumentError(
            f"{_difference(wanted, d_output, attributes.data_format)}: the convolution of "
            f"{list(input)} with filters {list(filter)} has the output {list(wanted)}, but "
            f"out_backprop is {list(d_output)}"
        )
    return attributes.windows(spatial(input, attributes.data_format), filter[:-2])


def _difference(wanted: Sequence[Any], got: Sequence[int], data_format: bytes) -> str:
    """Return in which respect a gradient has not the shape of the output."""
    if len(wanted) == len(got) and wanted[0] != got[0]:
        return "input and out_backprop must have the same batch size"
    if len(wanted) == len(got) and channels_of(wanted, data_format) != channels_of(
        got, data_format
    ):
        return "filter and out_backprop must have the same out_depth"
    return "Size of out_backprop doesn't match computed"


def _sizes(given: Any) -> list[int]:
    """Return a shape, which a tensor may have told."""
    sizes = np.asarray(given)
    if sizes.ndim != 1:
        raise InvalidArgumentError(f"sizes must be a vector, but have shape {sizes.shape}")
    return [int(each) for each in sizes]


def spelled(value: Any, like: Shape, rank: int) -> Shape:
    """Return the shape that an input spells: all is unknown but its rank without its value."""
    if value is None:
        return (None,) * rank
    shape = shapes.from_constant(value)
    if shape is None or len(shape) != rank:
        raise InvalidArgumentError(
            f"the sizes must be {rank} numbers, got {list(value)}: "
            f"Shape must be rank {rank} but is rank {len(list(value))}"
        )
    return shape if like is None else shapes.merge(shape, like)
