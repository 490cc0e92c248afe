"""Summaries of images and sounds.

Source: TF 1.15 API documentation, tf.summary.image, tf.summary.audio.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tfdist.errors import InvalidArgumentError
from tfdist.formats import summaries
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.summary.summaries import (
    SUMMARIES,
    collect,
    show,
    summary_scope,
    summary_shape,
    tag_text,
)
from tfdist.protos import pb


def _serialized(tag: str, kind: str, most: int, parts: Iterable[Any]) -> bytes:
    """Return a Summary with a value for each part; if there may be several, the tags count."""
    tags = (f"{tag}/{kind}" if most == 1 else f"{tag}/{kind}/{i}" for i in range(most))
    found = [pb.Summary.Value(tag=each, **{kind: part}) for each, part in zip(tags, parts)]  # noqa: B905
    summary: bytes = pb.Summary(value=found).SerializeToString()
    return summary


# images

IMAGE_SUMMARY = OpDef(
    "ImageSummary(tag: string, tensor: T) -> summary: string [max_images: int = 3 >=1; "
    "T: type = float {uint8,float,half,double}; bad_color: tensor = [255, 0, 0, 255]]"
).not_differentiable()
IMAGE_SUMMARY.shape(summary_shape)


@IMAGE_SUMMARY.kernel
def image_summary_kernel(tag: Any, tensor: Any, *, max_images: int, bad_color: Any) -> bytes:
    tag = tag_text(tag, "Tags must be a scalar")
    _check_images(np.shape(tensor), tensor.dtype.kind == "f", np.ravel(bad_color))
    images = (
        summaries.as_pixels(each, np.ravel(bad_color)) if each.dtype.kind == "f" else each
        for each in tensor[:max_images]
    )
    return _serialized(tag, "image", max_images, map(summaries.image, images))


def _check_images(shape: tuple[int, ...], are_floats: bool, bad_color: Any) -> None:
    if len(shape) != 4 or shape[3] not in (1, 3, 4):
        raise InvalidArgumentError(
            f"Tensor must be 4-D with last dim 1, 3, or 4, not {show(shape)}"
        )
    if shape[0] and not (shape[1] and shape[2]):
        raise InvalidArgumentError(
            f"input tensor must have non-zero dims. Found: [{', '.join(map(str, shape))}]."
        )
    if are_floats and bad_color.size < shape[3]:
        raise InvalidArgumentError(
            f"expected depth <= bad_color.size, got depth = {shape[3]}, "
            f"bad_color.size = {bad_color.size}"
        )


def image(
    name: str,
    tensor: Any,
    max_outputs: int = 3,
    collections: Iterable[Any] | None = None,
    family: str | None = None,
) -> Tensor:
    """Return a string []: a serialized Summary of images, as PNG.

    Floats are scaled, each image by itself: the largest number becomes 255; if there are negative
    ones, 0.0 becomes 128 and the largest magnitude 1 or 255. What is not finite is red.

    Args:
      name: of the node, and with the scopes around it the tag.
      tensor: uint8 or float [batch, height, width, channels]; 1 channel is grey, 3 are red, green
        and blue, 4 have alpha.
      max_outputs: so many images of the batch are taken, with the tags NAME/image/0 and so on.
      collections: to which it is added; SUMMARIES by default.
      family: group of tags that it stands in.

    Raises:
      InvalidArgumentError: the shape is another one (when it runs).

    Example:
      >>> made = Session().run(image("digits", [[[[0.0], [1.0]]]]))
      >>> [(each.tag, each.image.width) for each in pb.Summary.FromString(made).value]
      [('digits/image/0', 2)]
    """
    with summary_scope(name, family, [tensor]) as (tag, scope):
        summary = raw.ImageSummary(tag, tensor, max_images=max_outputs, name=scope)
    return collect(summary, collections, SUMMARIES)


# sounds

AUDIO_SUMMARY = OpDef(
    "AudioSummary(tag: string, tensor: float) -> summary: string "
    "[sample_rate: float; max_outputs: int = 3 >=1]"
).not_differentiable()
AUDIO_SUMMARY_V2 = OpDef(
    "AudioSummaryV2(tag: string, tensor: float, sample_rate: float) -> summary: string "
    "[max_outputs: int = 3 >=1]"
).not_differentiable()
AUDIO_SUMMARY.shape(summary_shape)
AUDIO_SUMMARY_V2.shape(summary_shape)


@AUDIO_SUMMARY.kernel
def audio_summary_kernel(tag: Any, tensor: Any, *, sample_rate: float, max_outputs: int) -> bytes:
    return audio_summary_v2_kernel(tag, tensor, sample_rate, max_outputs=max_outputs)


@AUDIO_SUMMARY_V2.kernel
def audio_summary_v2_kernel(tag: Any, tensor: Any, sample_rate: Any, *, max_outputs: int) -> bytes:
    tag = tag_text(tag, "Tag must be a scalar")
    rate = _rate(sample_rate)
    if tensor.ndim not in (2, 3):
        raise InvalidArgumentError(f"Tensor must be 3-D or 2-D, got: {show(tensor.shape)}")
    clips = tensor.reshape(*tensor.shape[:2], -1) if tensor.size else tensor
    if len(clips) and not clips.size:
        raise InvalidArgumentError("audio is null")
    made = (summaries.audio(clip, rate) for clip in clips[:max_outputs])
    return _serialized(tag, "audio", max_outputs, made)


def _rate(sample_rate: Any) -> float:
    if np.size(sample_rate) != 1:
        raise InvalidArgumentError(f"sample_rate must be a scalar, got {sample_rate}")
    rate = float(np.ravel(sample_rate)[0])
    if not rate > 0:
        raise InvalidArgumentError("sample_rate must be > 0")
    if rate >= 2**32 or not round(rate):
        raise InvalidArgumentError(f"sample_rate must be in (0, 2^32), got: {rate}")
    return rate


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Iterable[Any] | None = None,
    family: str | None = None,
) -> Tensor:
    """Return a string []: a serialized Summary of sounds, as WAV.

    Args:
      name: of the node, and with the scopes around it the tag.
      tensor: float32 [batch, frames] or [batch, frames, channels], from -1.0 to 1.0.
      sample_rate: float32 [], frames per second.
      max_outputs: so many sounds of the batch are taken, with the tags NAME/audio/0 and so on.
      collections: to which it is added; SUMMARIES by default.
      family: group of tags that it stands in.

    Raises:
      InvalidArgumentError: the shape is another one, or the rate is not positive (when it runs).

    Example:
      >>> made = Session().run(audio("beep", [[0.0, 1.0, 0.0]], 8000.0))
      >>> [(each.tag, each.audio.length_frames) for each in pb.Summary.FromString(made).value]
      [('beep/audio/0', 3)]
    """
    with summary_scope(name, family, [tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, "float32", "sample_rate")
        summary = raw.AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs, name=scope)
    return collect(summary, collections, SUMMARIES)
