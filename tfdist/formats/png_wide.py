"""PNG files of 16-bit numbers: bytes and arrays of uint16 [height, width, channels].

Pillow reads and writes such files of grey only.

Source: PNG specification, W3C Recommendation, ISO/IEC 15948.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfdist.errors import InvalidArgumentError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # of each colour type
COLOUR_TYPES = {count: kind for kind, count in CHANNELS.items()}
WHOLE = [(0, 0, 1, 1)]  # first column and row, steps to the next ones
ADAM7 = [
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
    (0, 1, 1, 2),
]  # fmt: skip


def is_wide(data: bytes) -> bool:
    """Return whether a PNG file has numbers of 16 bits."""
    return len(data) > 25 and data.startswith(SIGNATURE) and data[24] == 16


def decode(data: bytes) -> Any:
    """Return the numbers of a PNG file that has 16 bits for each.

    Raises:
      InvalidArgumentError: it is damaged.

    Example:
      >>> decode(encode(np.uint16([[[1, 2, 65535]]])))
      array([[[    1,     2, 65535]]], dtype=uint16)
    """
    try:
        parts = list(_chunks(data))
        width, height, _, kind, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
        packed = b"".join(body for name, body in parts if name == b"IDAT")
        most = 2 * width * height * CHANNELS[kind] + 8 * (width + height)  # with filters of passes
        packed = zlib.decompressobj().decompress(packed, max(most, 1))
        return _unpacked(packed, width, height, CHANNELS[kind], ADAM7 if interlaced else WHOLE)
    except (struct.error, zlib.error, ValueError, IndexError, KeyError) as error:
        raise InvalidArgumentError(f"Invalid PNG data, size {len(data)}: {error}") from None


def encode(pixels: Any, compression: int = -1) -> bytes:
    """Return a PNG file of uint16 [height, width, 1 to 4 channels].

    `compression` goes from 0 (none) to 9 (most); -1 is what is usual.
    """
    height, width, channels = pixels.shape
    rows = np.zeros(
        (height, 1 + 2 * width * channels), np.uint8
    )  # each begins with its filter: none
    rows[:, 1:] = np.frombuffer(pixels.astype(">u2").tobytes(), np.uint8).reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 16, COLOUR_TYPES[channels], 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), compression)), (b"IEND", b"")
    return SIGNATURE + b"".join(_chunk(name, body) for name, body in parts)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and body of each chunk."""
    at = len(SIGNATURE)
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + size]
        if (
            len(body) < size
            or zlib.crc32(name + body) != struct.unpack_from(">I", data, at + 8 + size)[0]
        ):
            raise ValueError(f"chunk {name!r} is damaged")
        yield name, body
        at += 12 + size


def _unpacked(packed: bytes, width: int, height: int, channels: int, passes: Any) -> Any:
    """Return the image whose parts, one for each pass, stand one after the other."""
    image = np.zeros((height, width, channels), np.uint16)
    at = 0
    for left, top, across, down in passes:
        part = image[top::down, left::across]
        if not part.size:
            continue
        count = part.shape[0] * (1 + 2 * part.shape[1] * channels)
        rows = np.frombuffer(packed, np.uint8, count, at).reshape(part.shape[0], -1)
        at += count
        filtered = rows[:, 1:].reshape(*part.shape[:2], 2 * channels)
        plain = _unfiltered(rows[:, 0], filtered)
        part[...] = plain.view(">u2")
    return image


def _unfiltered(kinds: Any, filtered: Any) -> Any:
    """Return bytes [height, width, bytes of a pixel] of which a prediction was subtracted.

    A pixel is predicted from those to its left, above, and above left: so those of one diagonal
    are independent of each other, and are computed together.
    """
    height, width, size = filtered.shape
    padded = np.zeros((height + 1, width + 1, size), np.int16)  # nothing is left of the first ones
    for diagonal in range(height + width - 1):
        rows = np.arange(max(0, diagonal - width + 1), min(height, diagonal + 1))
        columns = diagonal - rows
        left, above = padded[rows + 1, columns], padded[rows, columns + 1]
        corner = padded[rows, columns]
        guesses = [0 * left, left, above, (left + above) >> 1, _nearest(left, above, corner)]
        guess = np.choose(kinds[rows, None], guesses)
        padded[rows + 1, columns + 1] = (filtered[rows, columns] + guess) & 255
    return np.ascontiguousarray(padded[1:, 1:]).astype(np.uint8)


def _nearest(left: Any, above: Any, corner: Any) -> Any:
    """Return which of the three is nearest to left + above - corner; Paeth's predictor."""
    to_left, to_above = abs(above - corner), abs(left - corner)
    to_corner = abs(left + above - 2 * corner)
    is_left = (to_left <= to_above) & (to_left <= to_corner)
    return np.where(is_left, left, np.where(to_above <= to_corner, above, corner))
