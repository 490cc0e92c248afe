"""Images in files: PNG, GIF and BMP, decoded and encoded; JPEG has a file of its own.

Source: TF 1.15 API documentation, tf.image.decode_image and its neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType, uint16
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.formats import images as files
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor

__all__ = ["decode_bmp", "decode_gif", "decode_png", "encode_png"]


def as_bytes(contents: Any) -> bytes:
    """Return the bytes that an op is given.

    Raises:
      InvalidArgumentError: there are several.
    """
    if np.ndim(contents):
        raise InvalidArgumentError(f"contents must be scalar, got shape {list(contents.shape)}")
    found: bytes = contents if isinstance(contents, bytes) else np.asarray(contents).item()
    return found


def check_channels(channels: int, allowed: tuple[int, ...], words: str) -> None:
    if channels not in allowed:
        raise InvalidArgumentError(f"channels must be {words}, got {channels}")


def decoded_shape(contents: Shape, *, channels: int) -> Shape:
    shapes.require_rank(contents, "contents", 0)
    return (None, None, channels or None)


# PNG, and whatever else its kernel takes: they all take each other's

DECODE_PNG = OpDef(
    "DecodePng(contents: string) -> image: dtype "
    "[channels: int = 0; dtype: type = uint8 {uint8,uint16}]"
).not_differentiable()
DECODE_PNG.shape(decoded_shape)


@DECODE_PNG.kernel
def decode_png_kernel(contents: Any, *, channels: int, dtype: DType) -> Any:
    data = as_bytes(contents)
    check_channels(channels, (0, 1, 3, 4), "0, 1, 3, or 4")
    if files.kind_of(data) == "PNG":
        return files.read_png(data, channels, wide=dtype is uint16)
    pixels = any_kind(data, channels)
    return pixels * np.uint16(257) if dtype is uint16 else pixels


def any_kind(data: bytes, channels: int, **jpeg: Any) -> Any:
    """Return the one image in a JPEG, PNG or GIF file."""
    kind = files.kind_of(data)
    if kind == "PNG":
        return files.read_png(data, channels)
    if kind == "JPEG":
        if channels == 4:
            raise InvalidArgumentError("channels must be 0, 1, or 3 for JPEG, got 4")
        return files.read_jpeg(data, channels, **jpeg)
    if channels not in (0, 3):
        raise InvalidArgumentError(f"channels must be 0 or 3 for GIF, got {channels}")
    count = files.count_frames(data)
    if count > 1:
        raise InvalidArgumentError(
            f"Got {count} frames, but animated gifs can only be decoded by "
            "tf.image.decode_gif or tf.image.decode_image"
        )
    return files.read_gif(data)[0]


def decode_png(
    contents: Any, channels: int = 0, dtype: Any = "uint8", name: str | None = None
) -> Tensor:
    """Return the pixels of a PNG file; of a JPEG or GIF file as well.

    Args:
      contents: string [], the file.
      channels: 1 (grey), 3 (red, green, blue) or 4 (and alpha); 0 for those that it has.
      dtype: uint8 or uint16.
      name: of the node.

    Returns:
      [height, width, channels].

    Raises:
      InvalidArgumentError: it is none of these files (when it runs).

    Example:
      >>> file = image.encode_png(constant([[[1, 2, 3]]], "uint8"))
      >>> Session().run(image.decode_png(file))
      array([[[1, 2, 3]]], dtype=uint8)
    """
    return DECODE_PNG(contents, channels=channels, dtype=dtype, name=name)  # type: ignore[no-any-return]


ENCODE_PNG = OpDef(
    "EncodePng(image: T) -> contents: string "
    "[compression: int = -1; T: type = uint8 {uint8,uint16}]"
).not_differentiable()


@ENCODE_PNG.shape
def encoded_shape(image: Shape) -> Shape:
    shapes.require_rank(image, "image", 3)
    return ()


@ENCODE_PNG.kernel
def encode_png_kernel(image: Any, *, compression: int) -> bytes:
    encoded_shape(image.shape)
    if image.shape[2] not in (1, 2, 3, 4):
        raise InvalidArgumentError(f"image must have 1, 2, 3, or 4 channels, got {image.shape[2]}")
    if not -1 <= compression <= 9:
        raise InvalidArgumentError(f"compression should be in [-1,9], got {compression}")
    if not image.size:
        raise InvalidArgumentError(f"image must not be empty, got {list(image.shape)}")
    return files.write_png(image, compression)


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """Return a PNG file of an image.

    Args:
      image: uint8 or uint16 [height, width, 1 to 4 channels].
      compression: 0 (none) to 9 (most), -1 for what is usual.
      name: of the node.

    Example:
      >>> Session().run(image.encode_png(constant([[[7]]], "uint8")))[1:4]
      b'PNG'
    """
    return ENCODE_PNG(image, compression=compression, name=name)  # type: ignore[no-any-return]


# GIF and BMP

DECODE_GIF = OpDef("DecodeGif(contents: string) -> image: uint8").not_differentiable()
DECODE_BMP = OpDef(
    "DecodeBmp(contents: string) -> image: uint8 [channels: int = 0]"
).not_differentiable()
DECODE_BMP.shape(decoded_shape)


@DECODE_GIF.shape
def decode_gif_shape(contents: Shape) -> Shape:
    shapes.require_rank(contents, "contents", 0)
    return (None, None, None, 3)


@DECODE_GIF.kernel
def decode_gif_kernel(ctx: Any, contents: Any) -> Any:
    data = as_bytes(contents)
    if files.kind_of(data) == "GIF":
        return files.read_gif(data, ctx.check)
    return any_kind(data, 3)[None]


@DECODE_BMP.kernel
def decode_bmp_kernel(contents: Any, *, channels: int) -> Any:
    check_channels(channels, (0, 1, 3, 4), "0, 1, 3 or 4")
    return files.read_bmp(as_bytes(contents), channels)


def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """Return the frames of a GIF file, uint8 [frames, height, width, 3].

    Args:
      contents: string [], the file; that of one PNG or JPEG image will do.
      name: of the node.

    Example:
      >>> file = image.encode_png(constant([[[7]]], "uint8"))
      >>> Session().run(image.decode_gif(file))
      array([[[[7, 7, 7]]]], dtype=uint8)
    """
    return DECODE_GIF(contents, name=name)  # type: ignore[no-any-return]


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """Return the pixels of a BMP file, uint8 [height, width, channels].

    Args:
      contents: string [], the file.
      channels: 1, 3 or 4, as it has; 0 for any.
      name: of the node.

    Example:
      >>> image.decode_bmp(b"BM...").dtype.name
      'uint8'
    """
    return DECODE_BMP(contents, channels=channels, name=name)  # type: ignore[no-any-return]
