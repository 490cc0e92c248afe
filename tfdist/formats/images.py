"""PNG, JPEG, GIF and BMP files: bytes and arrays of pixels [height, width, channels].

Pillow reads and writes them; what is here makes of its images what TensorFlow's ops make. BMP is
read as TensorFlow does: colours of palettes are left alone.

A file of some bytes can tell of pixels that no memory holds. How many there may be in all of its
frames is bounded (`base.settings.BOUNDS`), and looked at before any of them is decoded.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfdist.base.settings import bound
from tfdist.errors import InvalidArgumentError
from tfdist.formats import png_wide

_GREY = np.array([9797, 19234, 3737], np.int32)  # of red, green, blue, in parts of 2**15
_BLOCK = 1 << 20  # pixels that are made grey at a time
_KINDS = {b"\xff\xd8\xff": "JPEG", b"\x89PNG": "PNG", b"GIF8": "GIF"}


def kind_of(data: bytes) -> str:
    """Return "JPEG", "PNG" or "GIF".

    Raises:
      InvalidArgumentError: it is none of them.

    Example:
      >>> kind_of(b"GIF89a")
      'GIF'
    """
    for start, kind in _KINDS.items():
        if data.startswith(start):
            return kind
    if not data:
        raise InvalidArgumentError("Expected image (JPEG, PNG, or GIF), got empty file")
    shown = data[:16].decode("latin-1").encode("unicode_escape").decode()
    raise InvalidArgumentError(
        f"Expected image (JPEG, PNG, or GIF), got unknown format starting with '{shown}'"
    )


_DAMAGED = (OSError, SyntaxError, ValueError, IndexError, KeyError, TypeError, struct.error)


def _opened(data: bytes, kind: str) -> Any:
    """Return an image whose pixels are not decoded yet.

    Not by `Image.open`: that has a bound of its own, which holds for the whole process, and warns.
    """
    from PIL import GifImagePlugin, Image, JpegImagePlugin, PngImagePlugin  # takes a while

    opener: dict[str, Any] = {
        "GIF": GifImagePlugin.GifImageFile,
        "JPEG": JpegImagePlugin.JpegImageFile,
        "PNG": PngImagePlugin.PngImageFile,
    }
    try:
        return opener[kind](io.BytesIO(data))
    except (Image.DecompressionBombError, *_DAMAGED) as error:
        raise _invalid(data, kind, error) from error


def _check_size(kind: str, width: int, height: int, frames: int = 1) -> None:
    """Raise InvalidArgumentError if there are more pixels than may be decoded."""
    pixels, most = width * height * frames, bound("TFDIST_IMAGE_PIXELS")
    if pixels > most:
        of_frames = f"{frames} frames of " if frames > 1 else ""
        raise InvalidArgumentError(
            f"{kind} size too large: {of_frames}{width} by {height} are {pixels} pixels, and "
            f"{most} at most are decoded; TFDIST_IMAGE_PIXELS sets how many"
        )


def _invalid(data: bytes, kind: str, error: Exception) -> InvalidArgumentError:
    # Pillow shows the file object where it knows no more; zlib and struct have their own words
    reason = str(error) if type(error) in (OSError, SyntaxError) else "it is damaged or cut off"
    return InvalidArgumentError(f"Invalid {kind} data, size {len(data)}: {reason}")


def _pixels(image: Any, data: bytes, kind: str, mode: str | None = None) -> Any:
    """Return the pixels of an open image, [height, width, channels]."""
    try:
        image.load()
        array = np.asarray(image if mode in (None, image.mode) else image.convert(mode))
    except _DAMAGED as error:
        raise _invalid(data, kind, error) from error
    return array if array.ndim == 3 else array[..., None]


def _with_channels(pixels: Any, channels: int) -> Any:
    """Return pixels with 1, 3 or 4 channels, of 1 (grey), 2 (and alpha), 3 or 4."""
    given = pixels.shape[-1]
    if channels in (0, given):
        return pixels
    colours, alpha = (pixels[..., :-1], pixels[..., -1:]) if given in (2, 4) else (pixels, None)
    if channels == 1:
        return _as_grey(colours)
    colours = np.broadcast_to(colours, (*colours.shape[:2], 3))
    if channels == 3:
        return np.ascontiguousarray(colours)
    full = np.full_like(colours[..., :1], np.iinfo(pixels.dtype).max) if alpha is None else alpha
    return np.concatenate([colours, full], -1)


def _as_grey(colours: Any) -> Any:
    if colours.shape[-1] == 1:
        return np.ascontiguousarray(colours)
    half = 1 << 14 if colours.dtype == np.uint16 else 0  # libpng rounds wide numbers only
    grey = np.empty(colours.shape[:2], colours.dtype)
    rows = max(_BLOCK // max(grey.shape[1], 1), 1)
    for first in range(0, len(grey), rows):
        part = slice(first, first + rows)
        grey[part] = (colours[part].astype(np.int32) @ _GREY + half) >> 15
    return grey[..., None]


# PNG


def read_png(data: bytes, channels: int = 0, wide: bool = False) -> Any:
    """Return the pixels of a PNG file.

    Args:
      data: the file.
      channels: 1, 3 or 4; 0 for those that it has.
      wide: whether the result has 16 bits, of which 8 are as 257 times themselves.

    Raises:
      InvalidArgumentError: it is damaged.

    Example:
      >>> read_png(write_png(np.uint8([[[1, 2, 3]]])))
      array([[[1, 2, 3]]], dtype=uint8)
    """
    image = _opened(data, "PNG")
    _check_size("PNG", *image.size)
    if png_wide.is_wide(data):
        pixels = _with_channels(png_wide.decode(data), channels)
        return pixels if wide else (pixels >> 8).astype(np.uint8)
    pixels = _with_channels(_pixels(image, data, "PNG", _png_mode(image)), channels)
    return pixels * np.uint16(257) if wide else pixels


def _png_mode(image: Any) -> str | None:
    """Return the mode without palettes and single bits, and with alpha where some is told."""
    has_alpha = "transparency" in image.info
    if image.mode in ("P", "RGB"):
        return "RGBA" if has_alpha else "RGB"
    if image.mode in ("1", "L"):
        return "LA" if has_alpha else "L"
    return None


def write_png(pixels: Any, compression: int = -1) -> bytes:
    """Return a PNG file.

    Args:
      pixels: uint8 or uint16 [height, width, 1 to 4 channels].
      compression: 0 (none) to 9 (most), -1 for what is usual.
    """
    from PIL import Image

    if pixels.dtype != np.uint8:
        return png_wide.encode(pixels, compression)
    image = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
    file = io.BytesIO()
    image.save(file, "PNG", **({"compress_level": compression} if compression >= 0 else {}))
    return file.getvalue()


# JPEG


def read_jpeg(
    data: bytes, channels: int = 0, ratio: int = 1, smooth: bool = True, fast: bool = True,
    recover: bool = False,
) -> Any:  # fmt: skip
    """Return the pixels of a JPEG file.

    Args:
      data: the file.
      channels: 1 or 3; 0 for those that it has.
      ratio: 1, 2, 4 or 8: how much smaller the image becomes.
      smooth: whether colours of fewer pixels than brightness are interpolated.
      fast: whether the quick cosine transform is used, of whole numbers. Pillow has it without
        `smooth` only: where both matter, the exact transform takes its place.
      recover: whether what is missing at the end is grey instead of an error.

    Raises:
      InvalidArgumentError: it is damaged.
    """
    image = _opened(data + b"\xff\xd9" if recover else data, "JPEG")
    mode = "L" if channels == 1 or image.mode == "L" else "RGB"
    width, height = image.size
    if image.mode != "CMYK":
        image.draft(mode, (max(width // ratio, 1), max(height // ratio, 1)))
    samplings = {layer[1:3] for layer in image.layer}
    is_quick = not smooth or (fast and (mode == "L" or len(samplings) == 1))
    _check_size("JPEG", *image.size)
    if hasattr(image, "decoderconfig"):
        image.decoderconfig = (ratio, int(is_quick))
    return _with_channels(_pixels(image, data, "JPEG", mode), channels)


def jpeg_shape(data: bytes) -> tuple[int, int, int]:
    """Return height, width and channels of a JPEG file, of which only the head is read.

    Raises:
      InvalidArgumentError: it is damaged.
    """
    image = _opened(data, "JPEG")
    return (*image.size[::-1], len(image.layer))


def write_jpeg(pixels: Any, quality: int, attributes: Mapping[str, Any]) -> bytes:
    """Return a JPEG file.

    Args:
      pixels: bytes [height, width, 1 or 3 channels].
      quality: 0 to 100.
      attributes: of the op EncodeJpeg: progressive, optimize_size, chroma_downsampling,
        density_unit, x_density, y_density, xmp_metadata.
    """
    from PIL import Image

    per_inch = 2.54 if attributes["density_unit"] == b"cm" else 1
    image = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
    file = io.BytesIO()
    image.save(
        file, "JPEG", quality=max(quality, 1), progressive=attributes["progressive"],
        optimize=attributes["optimize_size"],
        subsampling=2 if attributes["chroma_downsampling"] else 0,
        dpi=tuple(round(attributes[key] * per_inch) for key in ("x_density", "y_density")),
        **({"xmp": attributes["xmp_metadata"]} if attributes["xmp_metadata"] else {}),
    )  # fmt: skip
    return file.getvalue()


# GIF and BMP


def count_frames(data: bytes) -> int:
    """Return how many frames a GIF file has, none of which is decoded.

    Raises:
      InvalidArgumentError: it is damaged.
    """
    return _counted(_opened(data, "GIF"), data)


def _counted(image: Any, data: bytes) -> int:
    try:
        return image.n_frames  # type: ignore[no-any-return]
    except _DAMAGED as error:
        raise _invalid(data, "GIF", error) from error


def read_gif(data: bytes, check: Callable[[], None] = lambda: None) -> Any:
    """Return the frames of a GIF file, bytes [frames, height, width, 3].

    Args:
      data: the file.
      check: called before each frame; what it raises ends the work.

    Raises:
      InvalidArgumentError: it is damaged, or has more pixels than may be decoded.
    """
    image = _opened(data, "GIF")
    (width, height), count = image.size, _counted(image, data)
    _check_size("GIF", width, height, count)
    frames = np.empty((count, height, width, 3), np.uint8)
    for number in range(count):
        check()
        _seek(image, number, data)
        if image.size != (width, height):
            raise _invalid(data, "GIF", SyntaxError(f"frame {number} is larger than the first"))
        frames[number] = _pixels(image, data, "GIF", "RGB")
    return frames


def _seek(image: Any, number: int, data: bytes) -> None:
    from PIL.Image import DecompressionBombError  # of a frame beyond the canvas

    try:
        image.seek(number)
    except (EOFError, DecompressionBombError, *_DAMAGED) as error:
        raise _invalid(data, "GIF", error) from error


def read_bmp(data: bytes, channels: int = 0) -> Any:
    """Return the pixels of a BMP file.

    Args:
      data: the file.
      channels: 1, 3 or 4, those that it has; 0 for any.

    Raises:
      InvalidArgumentError: it is damaged, or has other channels.
    """
    if len(data) < 32:
        raise InvalidArgumentError(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, "
            f"height, and bpp, got {len(data)} bytes"
        )
    start, _, width, height, _, bits = struct.unpack_from("<IIiiHH", data, 10)
    found = bits // 8
    if channels not in (0, found):
        raise InvalidArgumentError(
            f"channels attribute {channels} does not match bits per pixel from file {found}"
        )
    if found not in (1, 3, 4):
        raise InvalidArgumentError(f"Number of channels must be 1, 3 or 4, was {found}")
    _check_size("BMP", max(width, 0), abs(height))
    stride = (width * bits + 31) // 32 * 4
    needed = start + stride * abs(height)
    if width <= 0 or not height or len(data) < needed:
        raise InvalidArgumentError(
            f"Incomplete bmp content, requires at least {needed} bytes, got {len(data)} bytes"
        )
    rows = np.frombuffer(data, np.uint8, stride * abs(height), start).reshape(-1, stride)
    pixels = rows[:: -1 if height > 0 else 1, : width * found].reshape(-1, width, found)
    return np.ascontiguousarray(pixels if found == 1 else pixels[..., [2, 1, 0, 3][:found]])
