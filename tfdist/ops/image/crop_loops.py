"""Crops of images, each pixel between four, by a loop that Numba compiles where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.machine_code import Compiler, MachineCode

_CALL, _PIXEL = 50_000, 5  # nanoseconds that NumPy takes, beside those for each number of a crop


def written(crops: Any, image: Any, box_ind: Any, rows: Any, columns: Any) -> bool:
    """Write crops, and return whether that was done; else NumPy has to.

    Args:
      crops: float32 [boxes, height, width, channels], to be written.
      image: [batch, old height, old width, channels], float32 for this way.
      box_ind: int32 [boxes], which image.
      rows: where the rows lie: `lower`, `upper` and `share` of [boxes, height], all in the image.
      columns: the same of the columns.
    """
    if type(image) is not np.ndarray or image.dtype != np.float32 or not image.flags.c_contiguous:
        return False
    write = _CODE.instead_of(_CALL + _PIXEL * crops.size)
    if write is None:
        return False
    axes = [(axis.lower, axis.upper, np.ascontiguousarray(axis.share)) for axis in (rows, columns)]
    write(crops, image, np.ascontiguousarray(box_ind), *axes[0], *axes[1])
    return True


def _write(
    crops: Any, image: Any, box_ind: Any,
    tops: Any, bottoms: Any, downs: Any, lefts: Any, rights: Any, shares: Any,
) -> None:  # fmt: skip
    for box in range(crops.shape[0]):
        old = image[box_ind[box]]
        for row in range(crops.shape[1]):
            above, below, down = old[tops[box, row]], old[bottoms[box, row]], downs[box, row]
            for column in range(crops.shape[2]):
                left, right, share = lefts[box, column], rights[box, column], shares[box, column]
                for i in range(crops.shape[3]):
                    top = above[left, i] + (above[right, i] - above[left, i]) * share
                    bottom = below[left, i] + (below[right, i] - below[left, i]) * share
                    crops[box, row, column, i] = top + (bottom - top) * down


def _compiled(compiler: Compiler) -> Any:
    place = compiler.read(np.intp, 2)
    axis = place, place, compiler.read(np.float32, 2)
    images = compiler.written(np.float32, 4), compiler.read(np.float32, 4)
    return compiler.procedure(_write, *images, compiler.read(np.int32), *axis, *axis)


_CODE = MachineCode(_compiled)
