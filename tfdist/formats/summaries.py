"""What TensorBoard draws, as messages: histograms, images and sounds made of arrays.

A histogram's buckets are TensorFlow's: the powers of 1.1 from 1e-12 to 1e20, of both signs. An
image is PNG, a sound is WAV with 16 bits a sample.
"""

from __future__ import annotations

import io
import wave
from functools import cache
from itertools import accumulate, repeat, takewhile
from operator import mul
from typing import Any

import numpy as np

from tfdist.protos import pb

_LARGEST = float(np.finfo(np.float64).max)
_PART = 8192  # numbers that are added at a time
_SMALL = 1e-6  # what an image's largest number must reach, or it is taken for a black one


@cache
def bucket_limits() -> Any:
    """Return the upper ends of all buckets, rising.

    Example:
      >>> limits = bucket_limits()
      >>> len(limits), limits[774:777].tolist()
      (1551, [-1e-12, 0.0, 1e-12])
    """
    powers = list(takewhile(lambda end: end < 1e20, accumulate(repeat(1.1), mul, initial=1e-12)))
    return np.array([-_LARGEST, *(-x for x in reversed(powers)), 0.0, *powers, _LARGEST])


def histogram(values: Any) -> Any:
    """Return the HistogramProto of an array of finite numbers.

    Runs of empty buckets are told as one.

    Example:
      >>> made = histogram(np.array([1.0, 2.0, 2.0]))
      >>> (made.min, made.max, made.sum, list(made.bucket))
      (1.0, 2.0, 5.0, [0.0, 1.0, 0.0, 2.0, 0.0])
    """
    flat = np.reshape(values, -1)
    if flat.dtype != np.float32:  # NumPy is quickest at sorting these
        flat = flat.astype(np.float64)
    in_order = np.sort(flat)
    counts = _counts(in_order)
    told = np.append((counts[:-1] > 0) | (counts[1:] > 0), True)
    least, most = (in_order[0], in_order[-1]) if flat.size else (_LARGEST, -_LARGEST)
    total, squares = _sums(flat)
    return pb.HistogramProto(
        min=float(least), max=float(most), num=flat.size, sum=total, sum_squares=squares,
        bucket_limit=bucket_limits()[told].tolist(), bucket=counts[told].tolist(),
    )  # fmt: skip


def _counts(in_order: Any) -> Any:
    """Return how many of sorted numbers are in each bucket; a limit itself is in the next one."""
    below = np.searchsorted(in_order, bucket_limits())
    below[-1] = in_order.size  # the largest number of all has no next bucket
    return np.diff(below, prepend=0)


def _sums(flat: Any) -> tuple[float, float]:
    """Return the sum of numbers, and of their squares.

    They are added from the first to the last, for in another order the last digit is another; in
    parts, which fit into the processor's cache.
    """
    total = squares = 0.0
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, _PART):
            part = flat[start : start + _PART].astype(np.float64)
            square = part * part
            part[0] += total
            square[0] += squares
            total = float(np.add.accumulate(part, out=part)[-1])
            squares = float(np.add.accumulate(square, out=square)[-1])
    return total, squares


def as_pixels(image: Any, bad_color: Any) -> Any:
    """Return an image of floats [height, width, channels] as bytes.

    The largest number becomes 255; if there are negative ones, 0.0 becomes 128, and the largest
    magnitude 1 or 255. A pixel with a number that is not finite gets a colour of its own.

    Args:
      image: float array.
      bad_color: uint8 [channels or more].
    """
    finite = np.isfinite(image).all(-1)
    scale, offset = _scale(image[finite])
    with np.errstate(all="ignore"):
        pixels = np.where(finite[..., None], image * scale + offset, image.dtype.type(0))
    result = pixels.astype(np.uint8)
    result[~finite] = bad_color[: image.shape[-1]]
    return result


def _scale(finite: Any) -> tuple[Any, Any]:
    """Return what numbers are multiplied with, never finer than float32, and what is added."""
    kind = finite.dtype.type
    coarse = kind if kind is np.float16 else np.float32
    least, most = (finite.min(), finite.max()) if finite.size else (kind(0), kind(0))
    if least < 0:
        most = max(abs(least), abs(most))
    whole, offset = (127, kind(128)) if least < 0 else (255, kind(0))
    return (coarse(0) if most < kind(_SMALL) else coarse(whole) / coarse(most)), offset


def image(pixels: Any) -> Any:
    """Return the Summary.Image of bytes [height, width, 1, 3 or 4 channels].

    Example:
      >>> made = image(np.zeros([2, 5, 3], np.uint8))
      >>> (made.height, made.width, made.colorspace, made.encoded_image_string[1:4])
      (2, 5, 3, b'PNG')
    """
    from PIL import Image  # takes a while, and few programs have images

    height, width, channels = pixels.shape
    file = io.BytesIO()
    Image.fromarray(pixels[..., 0] if channels == 1 else pixels).save(file, "PNG")
    return pb.Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue()
    )


def audio(samples: Any, sample_rate: float) -> Any:
    """Return the Summary.Audio of floats [frames, channels] from -1.0 to 1.0.

    Example:
      >>> made = audio(np.zeros([10, 2], np.float32), 8000.0)
      >>> (made.length_frames, made.num_channels, made.content_type)
      (10, 2, 'audio/wav')
    """
    frames, channels = samples.shape
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((channels, 2, round(sample_rate), frames, "NONE", ""))
        writer.writeframes(_in_16_bits(samples))
    return pb.Summary.Audio(
        sample_rate=sample_rate, num_channels=channels, length_frames=frames,
        encoded_audio_string=file.getvalue(), content_type="audio/wav",
    )  # fmt: skip


def _in_16_bits(samples: Any) -> bytes:
    scaled = np.nan_to_num(samples.astype(np.float32) * 32768)
    rounded = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))  # halves away from zero
    data: bytes = np.clip(rounded, -32768, 32767).astype("<i2").tobytes()
    return data
