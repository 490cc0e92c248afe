"""What speech is recognised by: spectrograms of sounds, and the coefficients of their mel bands.

Each is one node, as programs of speech commands have them; `mel` composes the like of
others.

Source: TF 1.15 API documentation, tf.raw_ops; Davis and Mermelstein 1980; the scale of bands is
that of HTK, 1127 * log(1 + hertz / 700).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef

__all__: list[str] = []  # programs find these in `gen_audio_ops` and in tf.contrib

_AT_ONCE = 2**20  # numbers of windows that are transformed together
_FLOOR = 1e-12  # of a band, so that its logarithm is a number

AUDIO_SPECTROGRAM = OpDef(
    "AudioSpectrogram(input: float32) -> spectrogram: float32 "
    "[window_size: int; stride: int; magnitude_squared: bool = False]"
)


@AUDIO_SPECTROGRAM.shape
def audio_spectrogram_shape(input: Shape, *, window_size: int, stride: int) -> Shape:
    shapes.require_rank(input, "input", 2)
    if stride < 1:
        raise InvalidArgumentError(f"stride must be 1 or more, got {stride}")
    length, channels = (None, None) if input is None else input
    return channels, _count(length, window_size, stride), 1 + _points(window_size) // 2


def _count(length: int | None, window_size: int, stride: int) -> int | None:
    """Return how many windows a channel has."""
    if length is None:
        return None
    return 0 if length < window_size else 1 + (length - window_size) // stride


def _points(window_size: int) -> int:
    """Return the power of two that a window is filled up to."""
    return 1 << max(window_size - 1, 0).bit_length()


@AUDIO_SPECTROGRAM.kernel
def audio_spectrogram_kernel(
    input: Any, *, window_size: int, stride: int, magnitude_squared: bool
) -> Any:
    shape: Any = audio_spectrogram_shape(input.shape, window_size=window_size, stride=stride)
    if window_size < 2:
        raise InvalidArgumentError(
            f"Spectrogram initialization failed for window size {window_size} and stride {stride}"
        )
    found = np.empty(shape, np.float32)
    if found.size:
        stream = input.T.ravel()  # windows go on from one channel into the next, as TensorFlow's
        for channel, starts in enumerate(_starts(input.shape, window_size, stride)):
            _transform(stream, starts, window_size, magnitude_squared, found[channel])
    return found


def _starts(shape: tuple[int, ...], window_size: int, stride: int) -> list[Any]:
    """Return where the windows start that end in each channel.

    Raises:
      InvalidArgumentError: in one channel there are more than in another.
    """
    length, channels = shape
    count = _count(length, window_size, stride)
    starts = np.arange(0, length * channels - window_size + 1, stride)
    of_channel = (starts + window_size - 1) // length
    parts = [starts[of_channel == channel] for channel in range(channels)]
    for part in parts:
        if len(part) != count:
            raise InvalidArgumentError(
                f"Spectrogram size calculation failed: Expected height {count} but got {len(part)}"
                "; make one spectrogram for each channel"
            )
    return parts


def _transform(stream: Any, starts: Any, size: int, squared: bool, found: Any) -> None:
    """Write the spectra of the windows at `starts`, some at a time."""
    window = 0.5 - 0.5 * np.cos(2 * np.pi / size * np.arange(size))
    points = _points(size)
    step = max(1, _AT_ONCE // points)
    for first in range(0, len(starts), step):
        at = starts[first : first + step, None] + np.arange(size)
        spectra = np.fft.rfft(stream[at] * window, points)
        power = spectra.real**2 + spectra.imag**2
        found[first : first + step] = power if squared else np.sqrt(power)


MFCC = OpDef(
    "Mfcc(spectrogram: float32, sample_rate: int32) -> output: float32 "
    "[upper_frequency_limit: float = 4000.0; lower_frequency_limit: float = 20.0; "
    "filterbank_channel_count: int = 40; dct_coefficient_count: int = 13]"
)


@MFCC.shape
def mfcc_shape(spectrogram: Shape, sample_rate: Shape, *, dct_coefficient_count: int) -> Shape:
    shapes.require_rank(spectrogram, "spectrogram", 3)
    shapes.require_rank(sample_rate, "sample_rate", 0)
    outer = (None, None) if spectrogram is None else spectrogram[:2]
    return *outer, dct_coefficient_count


@MFCC.kernel
def mfcc_kernel(
    spectrogram: Any,
    sample_rate: Any,
    *,
    upper_frequency_limit: float,
    lower_frequency_limit: float,
    filterbank_channel_count: int,
    dct_coefficient_count: int,
) -> Any:
    mfcc_shape(spectrogram.shape, np.shape(sample_rate), dct_coefficient_count=0)
    bins, rate = spectrogram.shape[2], int(sample_rate)
    limits = lower_frequency_limit, upper_frequency_limit
    fits = 0 < dct_coefficient_count <= filterbank_channel_count
    if not fits or bins < 2 or rate <= 0 or not 0 <= limits[0] < limits[1]:
        raise InvalidArgumentError(
            f"Mfcc initialization failed for channel count {bins} and sample rate {rate}: got "
            f"{filterbank_channel_count} bands from {limits[0]} to {limits[1]} hertz and "
            f"{dct_coefficient_count} coefficients; there must be 2 bins and 1 band at least, and "
            "no more coefficients than bands"
        )
    width = 0.5 * rate / (bins - 1)  # of a bin, in hertz
    found = _bands(spectrogram, width, limits, filterbank_channel_count)
    if found is None:  # the bands are beyond the spectrum
        return np.zeros((*spectrogram.shape[:2], dct_coefficient_count), np.float32)
    cosines = _cosines(dct_coefficient_count, filterbank_channel_count)
    return (np.log(np.maximum(found, _FLOOR)) @ cosines).astype(np.float32)


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log1p(hertz / 700.0)


def _bands(spectrogram: Any, width: float, limits: tuple[float, float], count: int) -> Any:
    """Return the magnitudes in each band; None if the last one ends beyond the spectrum.

    Bands are triangles, each from the centre of the one before to that of the next one: what a
    bin has goes to the two bands whose centres it is between.
    """
    first, last = int(1.5 + limits[0] / width), int(limits[1] / width)
    if last >= spectrogram.shape[2]:
        return None
    low, high = _mel(np.array(limits))
    edges = low + (high - low) / (count + 1) * np.arange(count + 2)
    at = _mel(np.arange(first, last + 1) * width)
    upper = np.clip(np.searchsorted(edges, at), 1, count + 1)  # the next edge above
    share = (edges[upper] - at) / (edges[upper] - edges[upper - 1])
    with np.errstate(invalid="ignore"):  # powers below 0 become NaN, as in TensorFlow
        magnitudes = np.sqrt(spectrogram[..., first : last + 1].astype(np.float64))
    found = np.zeros((*spectrogram.shape[:2], count + 2))  # with one below and one above
    parts = (upper - 1, magnitudes * share), (upper, magnitudes * (1 - share))
    for band, part in parts:
        place: Any = (..., band)
        np.add.at(found, place, part)
    return found[..., 1:-1]


def _cosines(coefficients: int, bands: int) -> Any:
    """Return the matrix of the discrete cosine transform, [bands, coefficients]."""
    angles = np.outer(np.arange(bands) + 0.5, np.arange(coefficients)) * (np.pi / bands)
    return np.sqrt(2.0 / bands) * np.cos(angles)
