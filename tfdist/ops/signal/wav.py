"""Sounds as WAV files: decoded and encoded.

Source: TF 1.15 API documentation, tf.audio; the file's form is in `formats.wav`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.formats import wav
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.image.png_gif_bmp import as_bytes

__all__ = ["decode_wav", "encode_wav"]

DECODE_WAV = OpDef(
    "DecodeWav(contents: string) -> audio: float32, sample_rate: int32 "
    "[desired_channels: int = -1; desired_samples: int = -1]"
)


@DECODE_WAV.shape
def decode_wav_shape(
    contents: Shape, *, desired_channels: int, desired_samples: int
) -> list[Shape]:
    shapes.require_rank(contents, "contents", 0)
    return [(_size("samples", desired_samples), _size("channels", desired_channels)), ()]


def _size(what: str, desired: int) -> int | None:
    if desired < -1:
        raise InvalidArgumentError(f"{what} must be non-negative, got {desired}")
    return None if desired == -1 else desired


@DECODE_WAV.kernel
def decode_wav_kernel(
    contents: Any, *, desired_channels: int, desired_samples: int
) -> tuple[Any, Any]:
    audio, rate = wav.decode(as_bytes(contents))
    if desired_channels != -1:  # the last one again where there are fewer
        audio = audio[:, np.minimum(np.arange(desired_channels), audio.shape[1] - 1)]
    if desired_samples != -1:
        audio = audio[:desired_samples]
        audio = np.pad(audio, [(0, desired_samples - len(audio)), (0, 0)])
    return audio, np.array(rate, np.uint32).astype(np.int32)[()]


ENCODE_WAV = OpDef("EncodeWav(audio: float32, sample_rate: int32) -> contents: string")


@ENCODE_WAV.shape
def encode_wav_shape(audio: Shape, sample_rate: Shape) -> Shape:
    shapes.require_rank(audio, "audio", 2)
    shapes.require_rank(sample_rate, "sample_rate", 0)
    return ()


@ENCODE_WAV.kernel
def encode_wav_kernel(audio: Any, sample_rate: Any) -> bytes:
    encode_wav_shape(np.shape(audio), np.shape(sample_rate))
    return wav.encode(audio, int(sample_rate))


class DecodeWav(NamedTuple):
    """What `decode_wav` returns.

    Attributes:
      audio: float32 [length, channels] in [-1, 1).
      sample_rate: int32 [], samples per second.
    """

    audio: Tensor
    sample_rate: Tensor


def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """Return the samples of a WAV file of 16-bit numbers, and its rate.

    Args:
      contents: string [], the bytes of the file.
      desired_channels: how many channels are wanted: further ones are left out, and where there
        are fewer, the last one stands again. -1 for those of the file.
      desired_samples: the length that is wanted: cut off there, or filled up with zeros. -1 for
        that of the file.
      name: of the node.

    Raises:
      ValueError: what is wanted is negative.
      InvalidArgumentError: at a step, if the file is another one.

    Example:
      >>> file = audio.encode_wav([[0.0], [0.5], [-1.0]], 8000)
      >>> sound = audio.decode_wav(file, desired_samples=4)
      >>> Session().run([sound.audio[:, 0], sound.sample_rate])
      [array([ 0. ,  0.5, -1. ,  0. ], dtype=float32), np.int32(8000)]
    """
    return DecodeWav(
        *DECODE_WAV(
            contents,
            desired_channels=desired_channels,
            desired_samples=desired_samples,
            name=name,
        )
    )


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Tensor:
    """Return a WAV file, string [], of 16-bit numbers.

    Args:
      audio: float32 [length, channels] in [-1, 1]; what is beyond is cut off.
      sample_rate: int32 [], samples per second.
      name: of the node.

    Raises:
      ValueError: the ranks are others.
      InvalidArgumentError: at a step, if there are no samples or the rate is not positive.

    Example:
      >>> len(Session().run(audio.encode_wav([[0.0, 0.5], [0.25, -1.0]], 16000)))
      52
    """
    tensor: Tensor = ENCODE_WAV(audio, sample_rate, name=name)
    return tensor
