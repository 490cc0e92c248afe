"""A picture for light and for dark: one PNG, and the colours that make the other of it.

Both are drawn, so that every colour is exact. Their pixels are told by one set of numbers, with a
table of colours for each theme: the second costs a kilobyte in a notebook, not a picture.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tfdist.plots.shared.palette import DOTS_PER_INCH
from tfdist.plots.shared.themes import THEMES, drawn

if TYPE_CHECKING:
    from tfdist.plots.shared.palette import Figure

COLOURS = 256
_PLACE = 33  # of the table of colours in a PNG: behind its signature and header


class TwoGrounds(NamedTuple):
    """A picture for both themes.

    Attributes:
      light: as PNG.
      dark_table: what stands in the PNG for dark from byte 33 on, instead of the table there.
      size: width and height, in inches.
    """

    light: bytes
    dark_table: bytes
    size: tuple[float, float]

    @property
    def dark(self) -> bytes:
        """Return the picture for dark, as PNG."""
        return self.light[:_PLACE] + self.dark_table + self.light[_PLACE + len(self.dark_table) :]


def two_grounds(draw: Callable[[], Figure]) -> TwoGrounds:
    """Return what `draw` draws, for both themes."""
    pixels: list[NDArray[np.uint8]] = []
    for theme in THEMES:
        with drawn(theme):
            figure = draw()
            pixels.append(_pixels(figure))
    width, height = figure.get_size_inches()
    pairs = np.concatenate(pixels, axis=2)
    numbers, tables = _numbered(pairs.reshape(-1, 6))
    light = _png(numbers.reshape(pairs.shape[:2]), tables[:, :3])
    return TwoGrounds(light, _table(tables[:, 3:]), (float(width), float(height)))


def _pixels(figure: Figure) -> NDArray[np.uint8]:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="rgba", dpi=DOTS_PER_INCH)
    width = int(figure.get_figwidth() * DOTS_PER_INCH)
    return np.frombuffer(buffer.getvalue(), np.uint8).reshape(-1, width, 4)[:, :, :3]


def _numbered(pairs: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return a number for each pair of colours, and the pairs that the numbers stand for.

    The most frequent ones are exact; what is between a letter and its ground is nearly so.
    """
    wide = np.zeros((len(pairs), 8), np.uint8)
    wide[:, :6] = pairs
    codes, where, counts = np.unique(
        wide.view(np.uint64)[:, 0], return_inverse=True, return_counts=True
    )
    colours = codes.view(np.uint8).reshape(-1, 8)[:, :6].astype(np.float32)
    kept = colours[_telling(colours, counts)]
    nearest = np.empty(len(colours), np.uint8)
    norms = (kept**2).sum(1)
    for first in range(0, len(colours), 4096):
        part = colours[first : first + 4096]
        nearest[first : first + 4096] = (norms - 2 * part @ kept.T).argmin(1)
    return nearest[where.reshape(-1)], kept.astype(np.uint8)


def _telling(colours: NDArray[np.float32], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which colours are kept: half as often as they are seen, half as far as they reach."""
    if len(colours) <= COLOURS:
        return np.arange(len(colours))
    order = np.argsort(-counts, kind="stable")
    kept = list(order[: COLOURS // 2])
    cells = (colours // 32).astype(np.int64) @ (8 ** np.arange(6))
    seen = set(cells[kept].tolist())
    for i in order[COLOURS // 2 :]:
        if cells[i] not in seen:
            seen.add(int(cells[i]))
            kept.append(i)
        if len(kept) == COLOURS:
            break
    return np.array(kept)


def _png(numbers: NDArray[np.uint8], table: NDArray[np.uint8]) -> bytes:
    from PIL import Image

    picture = Image.fromarray(numbers, "P")
    picture.putpalette(_whole(table))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", bits=8)
    return buffer.getvalue()


def _whole(table: NDArray[np.uint8]) -> bytes:
    return table.tobytes().ljust(3 * COLOURS, b"\0")


def _table(table: NDArray[np.uint8]) -> bytes:
    """Return a table of colours as a chunk of a PNG."""
    chunk = b"PLTE" + _whole(table)
    return struct.pack(">I", 3 * COLOURS) + chunk + struct.pack(">I", zlib.crc32(chunk))
