"""Patches of images and volumes: what each window sees, laid out along the channels.

Source: TF 1.15 API documentation, tf.image.extract_patches, tf.extract_volume_patches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError, UnimplementedError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.shape import shape
from tfdist.ops.convolution.windows import (
    bordered,
    inferred_size,
    output_size,
    taps,
    window_view,
    windows_over,
)

__all__ = ["extract_image_patches", "extract_volume_patches"]

EXTRACT_IMAGE_PATCHES = OpDef(
    "ExtractImagePatches(images: T) -> patches: T [ksizes: list(int) >=4; "
    "strides: list(int) >=4; rates: list(int) >=4; T: type {real}; "
    "padding: string {SAME,VALID}]"
)
EXTRACT_VOLUME_PATCHES = OpDef(
    "ExtractVolumePatches(input: T) -> patches: T [ksizes: list(int) >=5; "
    "strides: list(int) >=5; T: type {real}; padding: string {SAME,VALID}]"
)

Ints = Sequence[int]

_FEW_TAPS = 32  # up to which each has nodes of its own


def _patches_shape(
    images: Shape,
    ksizes: Ints,
    strides: Ints,
    rates: Ints,
    padding: bytes,
    size_of: Any = inferred_size,
) -> Shape:
    for values, what in ((ksizes, "ksizes"), (strides, "strides"), (rates, "rates")):
        if len(values) != len(ksizes) or min(values) < 1:
            raise InvalidArgumentError(
                f"{what} must be {len(ksizes)} positive numbers, got {list(values)}"
            )
    shapes.require_rank(images, "images", len(ksizes))
    if images is None:
        return (None,) * len(ksizes)
    axes = zip(images[1:-1], ksizes[1:-1], strides[1:-1], rates[1:-1], strict=True)
    sizes = [size_of(*axis, padding, (0, 0)) for axis in axes]
    if None in sizes:  # as TensorFlow's rules: one that is not known leaves all unknown
        sizes = [None] * len(sizes)
    depth = None if images[-1] is None else images[-1] * int(np.prod(ksizes[1:-1]))
    return (images[0], *sizes, depth)


def _patches(images: Any, ksizes: Ints, strides: Ints, rates: Ints, padding: bytes) -> Any:
    for values, what in ((ksizes, "ksizes"), (strides, "strides"), (rates, "rates")):
        if (values[0], values[-1]) != (1, 1):
            raise UnimplementedError(
                f"{what} must be 1 along the batch and the channels, got {list(values)}: patches "
                "are cut out across space only"
            )
    out = _patches_shape(images.shape, ksizes, strides, rates, padding, output_size)
    check_room(out or (), images.dtype)
    if out is None or 0 in out:
        return np.zeros(out, images.dtype)  # type: ignore[arg-type]
    inner = (tuple(each[1:-1]) for each in (images.shape, ksizes, strides, rates))
    windows = windows_over(*inner, padding, ((0, 0),) * (images.ndim - 2))
    return window_view(bordered(images, windows), windows).reshape(out)


@EXTRACT_IMAGE_PATCHES.shape
def extract_image_patches_shape(
    images: Shape, *, ksizes: Ints, strides: Ints, rates: Ints, padding: bytes
) -> Shape:
    return _patches_shape(images, ksizes, strides, rates, padding)


@EXTRACT_IMAGE_PATCHES.kernel
def extract_image_patches_kernel(
    images: Any, *, ksizes: Ints, strides: Ints, rates: Ints, padding: bytes
) -> Any:
    return _patches(images, ksizes, strides, rates, padding)


@EXTRACT_VOLUME_PATCHES.shape
def extract_volume_patches_shape(
    input: Shape, *, ksizes: Ints, strides: Ints, padding: bytes
) -> Shape:
    return _patches_shape(input, ksizes, strides, [1] * len(ksizes), padding)


@EXTRACT_VOLUME_PATCHES.kernel
def extract_volume_patches_kernel(
    input: Any, *, ksizes: Ints, strides: Ints, padding: bytes
) -> Any:
    return _patches(input, ksizes, strides, [1] * len(ksizes), padding)


def _patches_gradient(op: Any, d_patches: Any, **attrs: Any) -> Any:
    """Return the sum of what all windows give to each element."""
    known = op.inputs[0].plain_shape
    if known is not None and None not in known[1:] and np.prod(attrs["ksizes"]) <= _FEW_TAPS:
        return _sum_of_taps(known, shape(op.inputs[0]), d_patches, **attrs)
    return _sum_by_numbers(op, d_patches, **attrs)


def _sum_of_taps(
    known: Any, sizes: Any, d_patches: Any, ksizes: Ints, strides: Ints, padding: bytes,
    rates: Ints | None = None,
) -> Any:  # fmt: skip
    """Return that sum, of one tensor for each place in a window."""
    rates = rates or [1] * len(ksizes)
    inner = (tuple(each[1:-1]) for each in (known, ksizes, strides, rates))
    windows = windows_over(*inner, padding, ((0, 0),) * (len(known) - 2))
    parts = []
    for tap in taps(windows):
        number = int(np.ravel_multi_index(tap.place, windows.kernel))
        channels = slice(number * known[-1], (number + 1) * known[-1], 1)
        given = raw.StridedSlice(
            d_patches, *_bounds(tap.outputs, channels), begin_mask=1, end_mask=1
        )
        to = _bounds(tap.inputs, slice(0, known[-1], 1))
        parts.append(raw.StridedSliceGrad(sizes, *to, given, begin_mask=1, end_mask=1))
    result = raw.AddN(parts)
    result.set_shape(known)
    return result


def _bounds(places: Sequence[slice], channels: slice) -> list[list[int]]:
    """Return begin, end and strides of a slice; the whole batch is left to masks."""
    axes = [slice(0, 0, 1), *places[1:], channels]
    return [[axis.start for axis in axes], [axis.stop for axis in axes],
            [axis.step or 1 for axis in axes]]  # fmt: skip


def _sum_by_numbers(op: Any, d_patches: Any, **attrs: Any) -> Any:
    """Return that sum, of as many elements as there may be.

    The elements' numbers are cut into patches like the elements, and tell where each goes. Number 0
    is the border, whose sum is dropped.
    """
    images = op.inputs[0]
    sizes: Any = shape(images)
    inner = raw.Slice(sizes, [1], [len(op.get_attr("ksizes")) - 2])
    count = raw.Prod(inner, [0])
    numbers = raw.Reshape(raw.Range(1, count + 1, 1), raw.ConcatV2([[1], inner, [1]], 0))
    places = raw.Reshape(op.op_def(numbers, **attrs), [-1])
    batch, depth = sizes[0], sizes[-1]
    given = raw.Reshape(d_patches, raw.Pack([batch, -1, depth], axis=0))
    rows = raw.Reshape(raw.Transpose(given, [1, 0, 2]), raw.Pack([-1, batch * depth], axis=0))
    sums = raw.UnsortedSegmentSum(rows, places, count + 1)
    whole = raw.Reshape(raw.Slice(sums, [1, 0], [-1, -1]), raw.Pack([count, batch, depth], axis=0))
    result = raw.Reshape(raw.Transpose(whole, [1, 0, 2]), sizes)
    result.set_shape(images.shape)
    return result


@EXTRACT_IMAGE_PATCHES.gradient
def extract_image_patches_gradient(op: Any, d_patches: Any) -> Any:
    names = ("ksizes", "strides", "rates", "padding")
    return _patches_gradient(op, d_patches, **{name: op.get_attr(name) for name in names})


@EXTRACT_VOLUME_PATCHES.gradient
def extract_volume_patches_gradient(op: Any, d_patches: Any) -> Any:
    names = ("ksizes", "strides", "padding")
    return _patches_gradient(op, d_patches, **{name: op.get_attr(name) for name in names})


def extract_image_patches(
    images: Any, ksizes: Any = None, strides: Any = None, rates: Any = None, padding: Any = None,
    name: str | None = None, sizes: Any = None,
) -> Tensor:  # fmt: skip
    """Return what each window over an image sees, along the channels.

    Args:
      images: [batch, rows, columns, channels].
      ksizes: [1, rows, columns, 1], size of a window.
      strides: [1, rows, columns, 1], from window to window.
      rates: [1, rows, columns, 1], from one element of a window to the next.
      padding: "SAME" or "VALID".
      name: of the node.
      sizes: the later name of ksizes.

    Returns:
      [batch, windows down, windows across, rows * columns * channels of a window].

    Example:
      >>> images = reshape(range(9), [1, 3, 3, 1])
      >>> Session().run(
      ...     extract_image_patches(images, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
      ... )[0, 0, 0]
      array([0, 1, 3, 4], dtype=int32)
    """
    if ksizes is not None and sizes is not None:
        raise ValueError("ksizes and sizes are two names of one argument: give one")
    return EXTRACT_IMAGE_PATCHES(  # type: ignore[no-any-return]
        images, ksizes=sizes if ksizes is None else ksizes, strides=strides, rates=rates,
        padding=padding, name=name,
    )  # fmt: skip


def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: Any, name: str | None = None
) -> Tensor:
    """Return the same as `extract_image_patches`; its later name.

    Args:
      images: see `extract_image_patches`.
      sizes: see `extract_image_patches`.
      strides: see `extract_image_patches`.
      rates: see `extract_image_patches`.
      padding: see `extract_image_patches`.
      name: see `extract_image_patches`.

    Example:
      >>> images = ones([1, 3, 3, 2])
      >>> image.extract_patches(images, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID").shape
      TensorShape([Dimension(1), Dimension(2), Dimension(2), Dimension(8)])
    """
    return extract_image_patches(images, sizes, strides, rates, padding, name)


def extract_volume_patches(
    input: Any, ksizes: Any, strides: Any, padding: Any, name: str | None = None
) -> Tensor:
    """Return what each window over a volume sees, along the channels.

    Args:
      input: [batch, planes, rows, columns, channels].
      ksizes: [1, planes, rows, columns, 1], size of a window.
      strides: [1, planes, rows, columns, 1], from window to window.
      padding: "SAME" or "VALID".
      name: of the node.

    Example:
      >>> extract_volume_patches(
      ...     ones([1, 3, 3, 3, 1]), [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID"
      ... ).shape.as_list()
      [1, 2, 2, 2, 8]
    """
    return EXTRACT_VOLUME_PATCHES(  # type: ignore[no-any-return]
        input, ksizes=ksizes, strides=strides, padding=padding, name=name
    )
