"""What the windows of a convolution see, as rows of a matrix: one product of it is the convolution.

The matrix is many times as large as the images, and is never there as a whole: it is made for as
many images, or rows of one image, as fit into the cache, always in the same memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfdist.ops.convolution_windows import (
    Windows,
    border_maker,
    pieces,
    window_view,
)

Part = tuple[slice, slice]  # of the batch, and of the first spatial axis of the output

# A row of taps with fewer elements than this is copied along the image instead: NumPy is slow with
# short runs.
SHORT_RUN = 16


class Patches:
    """What the windows over a batch see.

    Attributes:
      size: bytes of the whole matrix.
    """

    def __init__(self, input: Any, windows: Windows) -> None:
        self._input, self._windows = input, windows
        self._width = int(np.prod(windows.kernel)) * input.shape[-1]
        self._row = int(np.prod(windows.out[1:])) * self._width * input.itemsize
        self.size = self._row * windows.out[0] * len(input)

    def shares(self, count: int) -> list[slice]:
        """Return at most `count` parts of the batch, of about the same length."""
        step = max(1, -(-len(self._input) // count))
        starts = range(0, len(self._input), step)
        return [slice(start, min(start + step, len(self._input))) for start in starts]

    def matrices(self, share: slice) -> Iterator[tuple[Part, Any]]:
        """Yield the parts of a share of the batch, and for each its matrix, over the one before."""
        if self._windows.are_points:
            points = (slice(0, None, stride) for stride in self._windows.strides)
            yield (share, slice(None)), self._input[(share, *points)].reshape(-1, self._width)
            return
        memory = np.empty(0, self._input.dtype)
        for part, seen in self._views(share):
            if memory.size < seen.size:
                memory = np.empty(seen.size, seen.dtype)
            yield part, self._matrix(seen, memory[: seen.size])

    def _views(self, share: slice) -> Iterator[tuple[Part, Any]]:
        """Yield parts of a share, and views of what their windows see: several images, or rows."""
        rows = list(pieces(self._windows.out[0], self._row))
        bordered = border_maker(self._windows)
        for images in pieces(share.stop - share.start, self._row * self._windows.out[0]):
            batch = slice(share.start + images.start, share.start + images.stop)
            view = window_view(bordered(self._input[batch]), self._windows)
            for part in rows:
                yield (batch, part), view[:, part]

    def _matrix(self, view: Any, memory: Any) -> Any:
        """Return windows as rows of a matrix, which lies in memory by rows or by columns."""
        if self._windows.kernel[-1] * self._input.shape[-1] >= SHORT_RUN:
            np.copyto(memory.reshape(view.shape), view)
            return memory.reshape(-1, self._width)
        axes = (view.ndim - 2) // 2 + 1  # the batch and one for each spatial axis
        turned = view.transpose(*range(axes, view.ndim), *range(axes))
        np.copyto(memory.reshape(turned.shape), turned)
        return memory.reshape(self._width, -1).T
