"""Blocks of space moved into the channels, and back."""

from __future__ import annotations

from typing import Any

from tfdist.base import shapes
from tfdist.base.shapes import Dim, Shape
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.convolution.space_to_batch import divided
from tfdist.ops.convolution.windows import channels_back, channels_last, has_channels_first

__all__ = ["depth_to_space", "space_to_depth"]

_DEPTH = "[T: type; block_size: int >=2; data_format: string = 'NHWC' {NHWC,NCHW}]"
SPACE_TO_DEPTH = OpDef(f"SpaceToDepth(input: T) -> output: T {_DEPTH}")
DEPTH_TO_SPACE = OpDef(f"DepthToSpace(input: T) -> output: T {_DEPTH}")


def _as_format(batch: Dim, height: Dim, width: Dim, depth: Dim, data_format: bytes) -> Shape:
    if has_channels_first(data_format):
        return batch, depth, height, width
    return batch, height, width, depth


def _in_order(input: Shape, data_format: bytes) -> Any:
    """Return batch, height, width and channels of a shape."""
    shapes.require_rank(input, "input", 4)
    batch, *rest = input or (None,) * 4
    return (batch, *rest[1:], rest[0]) if has_channels_first(data_format) else (batch, *rest)


@SPACE_TO_DEPTH.shape
def space_to_depth_shape(input: Shape, *, block_size: int, data_format: bytes) -> Shape:
    batch, height, width, depth = _in_order(input, data_format)
    deep = None if depth is None else depth * block_size**2
    sizes = divided(height, block_size), divided(width, block_size)
    return _as_format(batch, *sizes, deep, data_format)


@SPACE_TO_DEPTH.kernel
def space_to_depth_kernel(input: Any, *, block_size: int, data_format: bytes) -> Any:
    batch, height, width, depth = channels_last(input, data_format).shape
    space_to_depth_shape(input.shape, block_size=block_size, data_format=data_format)
    rows, columns = height // block_size, width // block_size
    last = channels_last(input, data_format)
    split = last.reshape(batch, rows, block_size, columns, block_size, depth)
    deep = split.transpose(0, 1, 3, 2, 4, 5).reshape(batch, rows, columns, depth * block_size**2)
    return channels_back(deep, data_format)


@DEPTH_TO_SPACE.shape
def depth_to_space_shape(input: Shape, *, block_size: int, data_format: bytes) -> Shape:
    batch, height, width, depth = _in_order(input, data_format)
    sizes = (None if size is None else size * block_size for size in (height, width))
    return _as_format(batch, *sizes, divided(depth, block_size**2), data_format)  # type: ignore


@DEPTH_TO_SPACE.kernel
def depth_to_space_kernel(input: Any, *, block_size: int, data_format: bytes) -> Any:
    depth_to_space_shape(input.shape, block_size=block_size, data_format=data_format)
    last = channels_last(input, data_format)
    batch, rows, columns, depth = last.shape
    flat = depth // block_size**2
    split = last.reshape(batch, rows, columns, block_size, block_size, flat)
    wide = split.transpose(0, 1, 3, 2, 4, 5)
    whole = wide.reshape(batch, rows * block_size, columns * block_size, flat)
    return channels_back(whole, data_format)


def _inverse(op_def: OpDef, other: OpDef) -> None:
    @op_def.gradient
    def gradient(op: Any, d_output: Any) -> Any:
        attrs = {key: op.get_attr(key) for key in ("block_size", "data_format")}
        return getattr(raw, other.name)(d_output, **attrs)


_inverse(SPACE_TO_DEPTH, DEPTH_TO_SPACE)
_inverse(DEPTH_TO_SPACE, SPACE_TO_DEPTH)


# public functions


def space_to_depth(
    input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """Return images with each block of pixels as the channels of one.

    Args:
      input: [batch, height, width, channels], or as `data_format` says.
      block_size: height and width of a block.
      name: of the node.
      data_format: "NHWC" or "NCHW".

    Example:
      >>> Session().run(space_to_depth([[[[1], [2]], [[3], [4]]]], 2))
      array([[[[1, 2, 3, 4]]]], dtype=int32)
    """
    tensor: Tensor = SPACE_TO_DEPTH(
        input, block_size=block_size, data_format=data_format, name=name
    )
    return tensor


def depth_to_space(
    input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """Return images with the channels of each pixel as a block of pixels.

    Args:
      input: [batch, height, width, channels], or as `data_format` says.
      block_size: height and width of a block.
      name: of the node.
      data_format: "NHWC" or "NCHW".

    Example:
      >>> Session().run(depth_to_space([[[[1, 2, 3, 4]]]], 2))[0, :, :, 0]
      array([[1, 2],
             [3, 4]], dtype=int32)
    """
    tensor: Tensor = DEPTH_TO_SPACE(
        input, block_size=block_size, data_format=data_format, name=name
    )
    return tensor
