"""PNG files of 16 bits: every filter and the interlaced order are undone."""

import struct
import zlib

import numpy as np
import pytest

from tfdist.errors import InvalidArgumentError
from tfdist.formats import png_wide


def filtered(rows: np.ndarray, size: int) -> bytes:
    """Return rows of bytes, the first one unfiltered, then by each of the four filters in turn."""
    height, width = rows.shape
    padded = np.zeros((height + 1, width + size), int)
    padded[1:, size:] = rows
    made = []
    for y in range(height):
        kind = y % 5
        line = [kind]
        for x in range(width):
            left, above = padded[y + 1, x], padded[y, x + size]
            corner = padded[y, x]
            base = left + above - corner
            nearest = min((left, above, corner), key=lambda each: abs(base - each))
            guess = (0, left, above, (left + above) // 2, nearest)[kind]
            line.append((int(rows[y, x]) - guess) % 256)
        made.append(bytes(line))
    return b"".join(made)


def file_of(image: np.ndarray, interlaced: bool) -> bytes:
    height, width, channels = image.shape
    packed = b""
    for left, top, across, down in png_wide.ADAM7 if interlaced else png_wide.WHOLE:
        part = image[top::down, left::across]
        if part.size:
            rows = np.frombuffer(part.astype(">u2").tobytes(), np.uint8).reshape(len(part), -1)
            packed += filtered(rows, 2 * channels)
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    head = struct.pack(">IIBBBBB", width, height, 16, kind, 0, 0, interlaced)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(packed)), (b"IEND", b"")]
    return png_wide.SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts
    )


@pytest.mark.parametrize("interlaced", [False, True], ids=["in rows", "interlaced"])
@pytest.mark.parametrize("shape", [(11, 6, 3), (7, 9, 1), (1, 1, 4), (5, 13, 2)])
def test_a_file_gives_its_numbers(shape, interlaced):
    image = np.random.RandomState(1).randint(0, 65536, shape).astype(np.uint16)
    np.testing.assert_array_equal(png_wide.decode(file_of(image, interlaced)), image)
    np.testing.assert_array_equal(png_wide.decode(png_wide.encode(image)), image)


@pytest.mark.parametrize("damage", [lambda f: f[:60], lambda f: f[:50] + b"?" + f[51:]])
def test_a_damaged_file_is_told(damage):
    whole = png_wide.encode(np.ones((9, 9, 3), np.uint16))
    with pytest.raises(InvalidArgumentError, match="Invalid PNG data"):
        png_wide.decode(damage(whole))
