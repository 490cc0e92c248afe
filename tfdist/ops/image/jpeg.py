"""Images in JPEG files, decoded and encoded.

Source: TF 1.15 API documentation, tf.image.decode_jpeg and its neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.formats import images as files
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.image.png_gif_bmp import (
    any_kind,
    as_bytes,
    check_channels,
    decoded_shape,
    encoded_shape,
)

__all__ = ["decode_and_crop_jpeg", "decode_jpeg", "encode_jpeg", "extract_jpeg_shape"]

_JPEG = (
    "[channels: int = 0; ratio: int = 1; fancy_upscaling: bool = True; "
    "try_recover_truncated: bool = False; acceptable_fraction: float = 1.0; "
    "dct_method: string = '']"
)
DECODE_JPEG = OpDef(f"DecodeJpeg(contents: string) -> image: uint8 {_JPEG}").not_differentiable()
DECODE_AND_CROP_JPEG = OpDef(
    f"DecodeAndCropJpeg(contents: string, crop_window: int32) -> image: uint8 {_JPEG}"
).not_differentiable()
DECODE_JPEG.shape(decoded_shape)


@DECODE_AND_CROP_JPEG.shape
def decode_and_crop_jpeg_shape(
    contents: Shape, crop_window: Shape, *, channels: int, crop_window_value: Any
) -> Shape:
    shapes.require_rank(contents, "contents", 0)
    shapes.merge(crop_window, (4,), "crop_window")
    size = (
        (None, None) if crop_window_value is None else shapes.from_constant(crop_window_value[2:])
    )
    return (*size, channels or None)  # type: ignore[misc]


@DECODE_JPEG.kernel
def decode_jpeg_kernel(
    contents: Any, *, channels: int, ratio: int, fancy_upscaling: bool,
    try_recover_truncated: bool, acceptable_fraction: float, dct_method: bytes,
) -> Any:  # fmt: skip
    data = as_bytes(contents)
    check_channels(channels, (0, 1, 3, 4), "0, 1, 3, or 4")
    if ratio not in (1, 2, 4, 8):
        raise InvalidArgumentError(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if dct_method not in (b"", b"INTEGER_FAST", b"INTEGER_ACCURATE"):
        raise InvalidArgumentError(
            "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}"
        )
    return any_kind(
        data, channels, ratio=ratio, smooth=fancy_upscaling, recover=try_recover_truncated,
        fast=dct_method != b"INTEGER_ACCURATE",
    )  # fmt: skip


@DECODE_AND_CROP_JPEG.kernel
def decode_and_crop_jpeg_kernel(
    contents: Any, crop_window: Any, *, channels: int, ratio: int, fancy_upscaling: bool,
    try_recover_truncated: bool, acceptable_fraction: float, dct_method: bytes,
) -> Any:  # fmt: skip
    pixels = decode_jpeg_kernel(
        contents, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
    )  # fmt: skip
    top, left, height, width = (int(each) for each in crop_window)
    rows, columns = pixels.shape[:2]
    if (
        min(top, left) < 0
        or min(height, width) <= 0
        or top + height > rows
        or left + width > columns
    ):
        raise InvalidArgumentError(
            f"Invalid JPEG data or crop window: y={top}, x={left}, h={height}, w={width} of an "
            f"image of {rows} x {columns}"
        )
    return np.ascontiguousarray(pixels[top : top + height, left : left + width])


def decode_jpeg(
    contents: Any, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True,
    try_recover_truncated: bool = False, acceptable_fraction: float = 1,
    dct_method: str = "", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the pixels of a JPEG file; of a PNG or GIF file as well.

    Args:
      contents: string [], the file.
      channels: 1 (grey) or 3 (red, green, blue); 0 for those that it has.
      ratio: 1, 2, 4 or 8: how much smaller the image becomes.
      fancy_upscaling: whether colours of fewer pixels than brightness are interpolated.
      try_recover_truncated: whether what is missing at the end is grey instead of an error.
      acceptable_fraction: taken for TensorFlow's sake.
      dct_method: "INTEGER_FAST", "INTEGER_ACCURATE", or "": the runtime chooses.
      name: of the node.

    Returns:
      uint8 [height, width, channels].

    Raises:
      InvalidArgumentError: it is none of these files (when it runs).

    Example:
      >>> file = image.encode_jpeg(constant([[[9, 9, 9]] * 8] * 8, "uint8"))
      >>> Session().run(image.decode_jpeg(file)).shape
      (8, 8, 3)
    """
    pixels: Tensor = DECODE_JPEG(
        contents, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction,
        dct_method=dct_method, name=name,
    )  # fmt: skip
    return pixels


def decode_and_crop_jpeg(
    contents: Any, crop_window: Any, channels: int = 0, ratio: int = 1,
    fancy_upscaling: bool = True, try_recover_truncated: bool = False,
    acceptable_fraction: float = 1, dct_method: str = "", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a part of the pixels of a JPEG file.

    Args:
      contents: string [], the file.
      crop_window: int32 [4]: first row, first column, rows, columns.
      channels: see `decode_jpeg`.
      ratio: see `decode_jpeg`.
      fancy_upscaling: see `decode_jpeg`.
      try_recover_truncated: see `decode_jpeg`.
      acceptable_fraction: see `decode_jpeg`.
      dct_method: see `decode_jpeg`.
      name: of the node.

    Example:
      >>> file = image.encode_jpeg(constant([[[9, 9, 9]] * 8] * 8, "uint8"))
      >>> Session().run(image.decode_and_crop_jpeg(file, [1, 2, 3, 4])).shape
      (3, 4, 3)
    """
    pixels: Tensor = DECODE_AND_CROP_JPEG(
        contents, crop_window, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction,
        dct_method=dct_method, name=name,
    )  # fmt: skip
    return pixels


EXTRACT_JPEG_SHAPE = OpDef(
    "ExtractJpegShape(contents: string) -> image_shape: output_type "
    "[output_type: type = int32 {index}]"
).not_differentiable()


@EXTRACT_JPEG_SHAPE.shape
def extract_jpeg_shape_shape(contents: Shape) -> Shape:
    shapes.require_rank(contents, "contents", 0)
    return (3,)


@EXTRACT_JPEG_SHAPE.kernel
def extract_jpeg_shape_kernel(contents: Any, *, output_type: DType) -> Any:
    return np.array(files.jpeg_shape(as_bytes(contents)), output_type.as_numpy_dtype)


def extract_jpeg_shape(
    contents: Any, output_type: Any = "int32", name: str | None = None
) -> Tensor:
    """Return height, width and channels of a JPEG file without reading all of it.

    Args:
      contents: string [], the file.
      output_type: int32 or int64.
      name: of the node.

    Example:
      >>> file = image.encode_jpeg(constant([[[9, 9, 9]] * 5] * 4, "uint8"))
      >>> Session().run(image.extract_jpeg_shape(file))
      array([4, 5, 3], dtype=int32)
    """
    return EXTRACT_JPEG_SHAPE(contents, output_type=output_type, name=name)  # type: ignore[no-any-return]


ENCODE_JPEG = OpDef(
    "EncodeJpeg(image: uint8) -> contents: string [format: string = ''; "
    "quality: int = 95; progressive: bool = False; optimize_size: bool = False; "
    "chroma_downsampling: bool = True; density_unit: string = 'in' {in,cm}; x_density: int = 300; "
    "y_density: int = 300; xmp_metadata: string = '']"
).not_differentiable()
ENCODE_JPEG.shape(encoded_shape)
ENCODE_JPEG_VARIABLE_QUALITY = OpDef(
    "EncodeJpegVariableQuality(images: uint8, quality: int32) -> contents: string"
).not_differentiable()


@ENCODE_JPEG_VARIABLE_QUALITY.shape
def encode_jpeg_variable_quality_shape(images: Shape, quality: Shape) -> Shape:
    shapes.require_rank(quality, "quality", 0)
    return encoded_shape(images)


@ENCODE_JPEG.kernel
def encode_jpeg_kernel(
    image: Any, *, format: bytes, quality: int, progressive: bool, optimize_size: bool,
    chroma_downsampling: bool, density_unit: bytes, x_density: int, y_density: int,
    xmp_metadata: bytes,
) -> bytes:  # fmt: skip
    shape = list(image.shape)
    if format not in (b"", b"grayscale", b"rgb"):
        raise InvalidArgumentError(f"format must be '', grayscale or rgb, got {format.decode()}")
    wanted = {b"grayscale": 1, b"rgb": 3}.get(format)
    if len(shape) != 3 or shape[2] not in (1, 3):
        raise InvalidArgumentError(f"image must have 1 or 3 channels, got {shape}")
    if wanted not in (None, shape[2]):
        raise InvalidArgumentError(
            f"format {format.decode()} expects {wanted} channels, got {shape}"
        )
    if not 0 <= quality <= 100:
        raise InvalidArgumentError(f"quality must be in [0,100], got {quality}")
    if not image.size:
        raise InvalidArgumentError(f"image must not be empty, got {shape}")
    return files.write_jpeg(image, quality, {
        "progressive": progressive, "optimize_size": optimize_size,
        "chroma_downsampling": chroma_downsampling, "density_unit": density_unit,
        "x_density": x_density, "y_density": y_density, "xmp_metadata": xmp_metadata,
    })  # fmt: skip


@ENCODE_JPEG_VARIABLE_QUALITY.kernel
def encode_jpeg_variable_quality_kernel(images: Any, quality: Any) -> bytes:
    attrs = {name: attr.default for name, attr in ENCODE_JPEG.signature.attrs.items()}
    return encode_jpeg_kernel(images, **{**attrs, "quality": int(quality)})


def encode_jpeg(
    image: Any, format: str = "", quality: int = 95, progressive: bool = False,
    optimize_size: bool = False, chroma_downsampling: bool = True, density_unit: str = "in",
    x_density: int = 300, y_density: int = 300, xmp_metadata: str = "", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a JPEG file of an image.

    Args:
      image: uint8 [height, width, 1 or 3 channels].
      format: "grayscale" or "rgb" to ask for such an image.
      quality: 0 to 100.
      progressive: whether the whole image comes first, and becomes finer.
      optimize_size: whether the file is made small, and slowly.
      chroma_downsampling: whether colours have fewer pixels than brightness.
      density_unit: "in" or "cm".
      x_density: pixels in one of that unit.
      y_density: pixels in one of that unit.
      xmp_metadata: what stands in the file besides.
      name: of the node.

    Example:
      >>> Session().run(image.encode_jpeg(constant([[[9]]], "uint8")))[:3]
      b'\\xff\\xd8\\xff'
    """
    contents: Tensor = ENCODE_JPEG(
        image, format=format, quality=quality, progressive=progressive,
        optimize_size=optimize_size, chroma_downsampling=chroma_downsampling,
        density_unit=density_unit, x_density=x_density, y_density=y_density,
        xmp_metadata=xmp_metadata, name=name,
    )  # fmt: skip
    return contents
