"""WAV files with 16 bits a sample, from bytes and to bytes.

Source: Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0, 1991.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from tfdist.errors import InvalidArgumentError

_PCM, _BITS, _FULL = 1, 16, 32768
_LONGEST = 2**31 - 1


class _Reader:
    """Bytes that are read from the front."""

    def __init__(self, contents: bytes) -> None:
        self.contents = contents
        self.at = 0

    @property
    def is_left(self) -> bool:
        return self.at < len(self.contents)

    def take(self, count: int) -> bytes:
        """Return the next bytes; InvalidArgumentError if there are fewer."""
        left = len(self.contents) - self.at
        if count > left:
            raise InvalidArgumentError(
                f"Data too short when trying to read string: {count} bytes wanted, {left} are left"
            )
        self.at += count
        return self.contents[self.at - count : self.at]

    def expect(self, text: bytes) -> None:
        """Read a mark; InvalidArgumentError if another one stands there."""
        found = self.take(len(text))
        if found != text:
            raise InvalidArgumentError(
                f"Header mismatch: Expected {text.decode()} but found {found.decode('latin-1')}"
            )

    def chunk(self) -> tuple[bytes, int]:
        """Return the name of the next chunk and how many bytes it says to have."""
        name, size = struct.unpack("<4sI", self.take(8))
        if size > _LONGEST:
            raise InvalidArgumentError(
                f"WAV data chunk {name.decode('latin-1')!r} is too large: {size} bytes, but the "
                f"limit is {_LONGEST}"
            )
        return name, size


def decode(contents: bytes) -> tuple[Any, int]:
    """Return the samples of a file and how many there are each second.

    Returns:
      float32 [length, channels] in [-1, 1), and samples per second. They take no more memory than
      twice that of the file, whatever its header says.

    Raises:
      InvalidArgumentError: it is no WAV file of 16-bit numbers.
    """
    reader = _Reader(contents)
    reader.expect(b"RIFF")
    reader.take(4)
    reader.expect(b"WAVE")
    channels, rate = _form(reader)
    found = None
    while reader.is_left:
        name, size = reader.chunk()
        if name != b"data":
            reader.at += size
            continue
        if found is not None:
            raise InvalidArgumentError("More than one data chunk found in WAV")
        found = reader.take(size - size % (2 * channels))
    if found is None:
        raise InvalidArgumentError("No data chunk found in WAV")
    samples = np.frombuffer(found, "<i2").reshape(-1, channels)
    return samples.astype(np.float32) / np.float32(_FULL), rate


def _form(reader: _Reader) -> tuple[int, int]:
    """Return how many channels there are, and samples each second."""
    reader.expect(b"fmt ")
    size, form, channels, rate, bytes_per_second, frame, bits = struct.unpack(
        "<IHHIIHH", reader.take(20)
    )
    rules = (
        (size in (16, 18), f"Bad file size for WAV: Expected 16 or 18, but got {size}"),
        (form == _PCM, f"Bad audio format for WAV: Expected {_PCM} (PCM), but got {form}"),
        (channels > 0, f"Bad number of channels for WAV: Expected at least 1, but got {channels}"),
        (bits == _BITS, f"Can only read {_BITS}-bit WAV files, but received {bits}"),
        (
            frame == 2 * channels,
            f"Bad bytes per sample in WAV header: Expected {2 * channels} but got {frame}",
        ),
        (
            bytes_per_second == frame * rate,
            f"Bad bytes per second in WAV header: Expected {frame * rate} but got "
            f"{bytes_per_second} (sample_rate={rate}, bytes_per_sample={frame})",
        ),
    )
    for holds, text in rules:
        if not holds:
            raise InvalidArgumentError(text)
    reader.take(size - 16)
    return channels, rate


def encode(audio: Any, rate: int) -> bytes:
    """Return the file of samples in [-1, 1], [length, channels]; what is beyond is cut off.

    Raises:
      InvalidArgumentError: there are no samples, too many channels, or the rate is not positive.
    """
    length, channels = audio.shape
    rules = (
        (audio.size > 0, f"audio is null: its shape is {list(audio.shape)}"),
        (rate > 0, f"sample_rate must be in (0, 2^32), got: {rate}"),
        (channels < 2**16, f"num_channels must be in (0, 2^16), got: {channels}"),
        (2 * audio.size < 2**32 - 36, f"a WAV file cannot hold {length} * {channels} samples"),
    )
    for holds, text in rules:
        if not holds:
            raise InvalidArgumentError(text)
    scaled = np.clip(np.nan_to_num(audio * np.float32(_FULL), nan=0.0), -_FULL, _FULL - 1)
    data: bytes = np.trunc(scaled + np.copysign(np.float32(0.5), scaled)).astype("<i2").tobytes()
    frame = 2 * channels
    form = struct.pack(
        "<IHHIIHH", 16, _PCM, channels, rate, rate * frame % 2**32, frame % 2**16, _BITS
    )
    size = struct.pack("<I", len(data))
    body = b"WAVEfmt " + form + b"data" + size + data
    return b"RIFF" + struct.pack("<I", len(body)) + body
