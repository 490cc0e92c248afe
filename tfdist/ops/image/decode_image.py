"""Images in files of any kind: decode_image; and what JPEG does to an image."""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.image.convert_dtype import convert_image_dtype
from tfdist.ops.image.jpeg import ENCODE_JPEG_VARIABLE_QUALITY, decode_jpeg
from tfdist.ops.image.png_gif_bmp import decode_bmp, decode_gif, decode_png
from tfdist.ops.random.random_ops import random_uniform

__all__ = ["adjust_jpeg_quality", "decode_image", "is_jpeg", "random_jpeg_quality"]


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Return whether a file begins as JPEG files do, bool [].

    Args:
      contents: string [].
      name: prefix for the nodes.

    Example:
      >>> Session().run(image.is_jpeg(b"GIF89a"))
      np.False_
    """
    return _starts(contents, b"\xff\xd8\xff", name or "is_jpeg")


def _starts(contents: Any, start: bytes, name: str) -> Tensor:
    with name_scope(name):
        return raw.Equal(raw.Substr(contents, 0, len(start)), start)  # type: ignore[no-any-return]


def decode_image(
    contents: Any, channels: int | None = None, dtype: Any = "uint8", name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:  # fmt: skip
    """Return the pixels of a JPEG, PNG, GIF or BMP file; what it is shows when it runs.

    Args:
      contents: string [], the file.
      channels: 1, 3 or 4, of which GIF and BMP know 3 only; 0 or None for those that it has.
      dtype: uint8, uint16, or a float's, whose numbers go from 0 to 1.
      name: prefix for the nodes.
      expand_animations: whether the result for GIF has all frames, [frames, height, width, 3];
        else it has the first one, and the result is known to have rank 3.

    Raises:
      InvalidArgumentError: it is none of these files (when it runs).

    Example:
      >>> file = image.encode_png(constant([[[51]]], "uint8"))
      >>> Session().run(image.decode_image(file, dtype="float32")).round(3)
      array([[[0.2]]], dtype=float32)
    """
    if channels not in (None, 0, 1, 3, 4):
        raise ValueError(f"channels must be in (None, 0, 1, 3, 4), got {channels}")
    channels, dtype = channels or 0, dtypes.as_dtype(dtype)
    depth = dtypes.uint16 if dtype is dtypes.uint16 else dtypes.uint8

    def converted(pixels: Tensor) -> Tensor:
        return convert_image_dtype(pixels, dtype)

    def checked(kind: str, allowed: tuple[int, ...]) -> Any:
        words = "None, " + ", ".join(map(str, allowed))
        message = f"Channels must be in ({words}) when decoding {kind} images"
        check = Assert(channels in allowed, [message])
        return with_dependencies([check], contents)

    def of_jpeg() -> Tensor:
        return converted(decode_jpeg(checked("JPEG", (0, 1, 3)), channels))

    def of_png() -> Tensor:
        return converted(decode_png(contents, channels, depth))

    def of_gif() -> Any:
        frames: Any = converted(decode_gif(checked("GIF", (0, 3))))
        return frames if expand_animations else frames[0]

    def of_bmp() -> Tensor:
        message = "Unable to decode bytes as JPEG, PNG, GIF, or BMP"
        check = Assert(_starts(contents, b"BM", "is_bmp"), [message])
        with_check = with_dependencies([check, checked("BMP", (0, 3)).op], contents)
        return converted(decode_bmp(with_check))

    with name_scope(name, "decode_image", [contents]):
        contents = convert_to_tensor(contents, "string", name="contents")
        return cond(  # type: ignore[no-any-return]
            is_jpeg(contents), of_jpeg,
            lambda: cond(
                _starts(contents, b"\x89PN", "is_png"), of_png,
                lambda: cond(
                    _starts(contents, b"GIF", "is_gif"), of_gif, of_bmp, name="cond_gif"
                ), name="cond_png",
            ), name="cond_jpeg",
        )  # fmt: skip


def adjust_jpeg_quality(image: Any, jpeg_quality: Any, name: str | None = None) -> Tensor:
    """Return what is left of an image when it was a JPEG file.

    Args:
      image: [height, width, 1 or 3 channels]; as floats, its numbers go from 0 to 1.
      jpeg_quality: int32 [], 0 to 100.
      name: prefix for the nodes.

    Example:
      >>> Session().run(image.adjust_jpeg_quality(zeros([8, 8, 3]), 50)).shape
      (8, 8, 3)
    """
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        given = image.dtype.base_dtype
        pixels = convert_image_dtype(image, dtypes.uint8)
        quality = convert_to_tensor(jpeg_quality, "int32")
        file = ENCODE_JPEG_VARIABLE_QUALITY(pixels, quality)
        return convert_image_dtype(decode_jpeg(file), given)


def random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Tensor:
    """Return `adjust_jpeg_quality` of an image with a random quality.

    Args:
      image: see `adjust_jpeg_quality`.
      min_jpeg_quality: least quality, 0 or more.
      max_jpeg_quality: end of the qualities, above that one, 100 at most.
      seed: of this op; see `set_random_seed`.

    Raises:
      ValueError: the qualities are others.

    Example:
      >>> Session().run(image.random_jpeg_quality(zeros([8, 8, 3]), 50, 90)).shape
      (8, 8, 3)
    """
    if min(min_jpeg_quality, max_jpeg_quality) < 0 or max(min_jpeg_quality, max_jpeg_quality) > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_uniform([], min_jpeg_quality, max_jpeg_quality, "int32", seed)
    return adjust_jpeg_quality(image, quality)
