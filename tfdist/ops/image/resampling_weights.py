"""How a resized axis of an image is made of the old one: places, and what each counts.

A `Taps` has a row for each of the one, two or four old places that a new one is made of. A gradient
goes back by taps as well, from the new axis to the old one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tfdist.base.machine_code import Compiler, MachineCode
from tfdist.base.room import check_room
from tfdist.ops.array.repeated_indices import earlier_times
from tfdist.ops.convolution.windows import pieces

TABLE_SIZE = 1024  # a cubic weight is that of the nearest 1024th


class Taps(NamedTuple):
    """What each place of a new axis is made of.

    Attributes:
      places: int [taps, new size], in the old axis.
      weights: float32 [taps, new size]; None if each counts 1.
      sums_to_1: whether those of each new place do.
    """

    places: Any
    weights: Any
    sums_to_1: bool = True


Ways = Callable[..., Taps]


def scale_of(old: int, new: int, align_corners: bool) -> Any:
    """Return how many old places a new one takes, float32."""
    if align_corners and new > 1:
        return np.float32(old - 1) / np.float32(new - 1)
    return np.float32(old) / np.float32(new)


def positions(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Any:
    """Return where each new place lies in the old axis, float32 [new]."""
    scale = scale_of(old, new, align_corners)
    places = np.arange(new, dtype=np.float32)
    if half_pixel_centers:
        half = np.float32(0.5)
        return (places + half) * scale - half
    return places * scale


def nearest(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """Return the taps of the nearest neighbour."""
    scale = scale_of(old, new, align_corners)
    found = np.arange(new, dtype=np.float32)
    found = (found + np.float32(0.5)) * scale if half_pixel_centers else found * scale
    found = np.floor(found + np.float32(0.5)) if align_corners else np.floor(found)
    return Taps(np.clip(found.astype(np.intp), 0, old - 1)[None], None)


def linear(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """Return the taps of linear interpolation: the places before and behind."""
    found = positions(old, new, align_corners, half_pixel_centers)
    below = np.floor(found)
    behind = found - below
    lower = np.maximum(below.astype(np.intp), 0)
    upper = np.minimum(np.ceil(found).astype(np.intp), old - 1)
    return Taps(np.stack([lower, upper]), np.stack([1 - behind, behind]))


def cubic(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """Return the taps of cubic convolution.

    Source: R. Keys, Cubic convolution interpolation for digital image processing, 1981.
    """
    found = positions(old, new, align_corners, half_pixel_centers)
    below = np.floor(found)
    step = np.rint((found - below) * TABLE_SIZE) / TABLE_SIZE
    distances = np.stack([1 + step, step, 1 - step, 2 - step])
    wanted = below.astype(np.intp) + np.arange(-1, 3)[:, None]
    places = np.clip(wanted, 0, old - 1)
    weights = _keys(distances, -0.5 if half_pixel_centers else -0.75)
    if half_pixel_centers:  # what lies outside does not count
        weights = np.where(places == wanted, weights, 0)
        weights /= weights.sum(0)
    return Taps(places, weights.astype(np.float32))


def _keys(x: Any, a: float) -> Any:
    x = x.astype(np.float32)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, far)


def area(old: int, new: int, align_corners: bool) -> Taps:
    """Return the taps of means: how much of each old place a new one covers."""
    scale = scale_of(old, new, align_corners)
    start = np.arange(new, dtype=np.float32) * scale
    end = np.arange(1, new + 1, dtype=np.float32) * scale
    first = np.floor(start).astype(np.intp)
    count = int((np.ceil(end).astype(np.intp) - first).max())
    places = first + np.arange(max(count, 1))[:, None]
    covered = np.minimum(places + 1, end) - np.maximum(places, start)
    weights = (np.maximum(covered, 0) / scale).astype(np.float32)
    return Taps(np.minimum(places, old - 1), weights)  # beyond the end the last place goes on


@lru_cache(maxsize=64)
def forwards(ways: Ways, old: int, new: int, *flags: bool) -> Taps:
    """Return the taps of a way to resize, as the functions above do; nobody may change them."""
    return ways(old, new, *flags)


@lru_cache(maxsize=64)
def backwards(ways: Ways, old: int, new: int, *flags: bool) -> Taps:
    """Return the taps of the gradient: for each old place all new ones that are made of it."""
    places, weights, _ = ways(old, new, *flags)
    weights = np.ones(places.shape, np.float32) if weights is None else weights
    counted = np.flatnonzero(weights.T)  # what counts nothing passes nothing back
    given, taken = places.T.reshape(-1)[counted], counted // len(places)
    times = earlier_times(given)
    shape = (times.max(initial=0) + 1, old)
    sources, shares = np.zeros(shape, np.intp), np.zeros(shape, np.float32)
    sources[times, given], shares[times, given] = taken, weights.T.reshape(-1)[counted]
    sources = np.where(shares == 0, sources[0], sources)
    return Taps(sources, None if (shares == 1).all() else shares, sums_to_1=False)


def cost(taps: Taps, axis: int, other: int) -> int:
    """Return how much there is to do along an axis, where the other one has a given size."""
    # whole rows are copied at once; the parts of columns are looked up one by one
    return taps.places.size * other * (1 if axis == 1 else 4)


def applied(images: Any, taps: Taps, axis: int) -> Any:
    """Return images with axis 1 or 2 made anew, float32 or of any type for single taps."""
    if len(taps.places) == 1 and taps.weights is None:
        return images.take(taps.places[0], axis)
    shape = list(images.shape)
    shape[axis] = taps.places.shape[1]
    check_room(shape, images.dtype)
    if type(images) is np.ndarray and images.dtype == np.float32:
        write = _CODE.instead_of(_CALL + len(taps.places) * prod(shape))
        if write is not None:
            return _written(write, images, taps, axis, shape)
    flat, taps = _flat(images, taps, axis)
    made = np.empty((*flat.shape[:axis], taps.places.shape[1], *flat.shape[axis + 1 :]), flat.dtype)
    combine = _blend if taps.sums_to_1 and len(taps.places) == 2 else _add_up
    weights = taps.weights
    if weights is not None:
        weights = weights.astype(flat.dtype, copy=False)
        weights = weights[:, :, None] if axis == 1 else weights
    for part in pieces(len(flat), 4 * made[:1].nbytes):
        for some in pieces(made.shape[1], 4 * made[part, :1].nbytes):
            new = some if axis == 1 else slice(None)
            chosen = None if weights is None else weights[:, new]
            combine(flat[part], taps.places[:, new], chosen, axis, made[part, some])
    return made.reshape(shape)


def _written(write: Any, images: Any, taps: Taps, axis: int, shape: list[int]) -> Any:
    """Return the images by machine code, along the middle axis of [outer, axis, inner]."""
    made = np.empty(shape, np.float32)
    outer, inner = prod(shape[:axis]), prod(shape[axis + 1 :])
    weights = taps.weights
    if weights is None:
        weights = np.ones(taps.places.shape, np.float32)
    write(
        made.reshape(outer, shape[axis], inner),
        np.ascontiguousarray(images).reshape(outer, images.shape[axis], inner),
        np.ascontiguousarray(taps.places, np.intp),
        np.ascontiguousarray(weights),
        taps.sums_to_1 and len(taps.places) == 2,
    )
    return made


def _write_blend(made: Any, low: Any, high: Any, behind: Any) -> None:
    for i in range(made.size):
        made[i] = low[i] + (high[i] - low[i]) * behind


def _write_first(made: Any, old: Any, weight: Any) -> None:
    for i in range(made.size):
        made[i] = old[i] * weight


def _write_next(made: Any, old: Any, weight: Any) -> None:
    for i in range(made.size):
        made[i] += old[i] * weight


def _write_narrow(made: Any, old: Any, places: Any, weights: Any, is_blend: Any) -> None:
    """Write what has few channels, for which a loop of their own takes too long to begin."""
    for new in range(made.shape[0]):
        first = np.uintp(places[0, new])  # with a sign it might count from the end
        second = np.uintp(places[len(places) - 1, new])
        if is_blend:
            behind = weights[1, new]
            for i in range(made.shape[1]):
                low = old[first, i]
                made[new, i] = low + (old[second, i] - low) * behind
            continue
        for i in range(made.shape[1]):
            total = old[first, i] * weights[0, new]
            for tap in range(1, len(places)):
                total += old[np.uintp(places[tap, new]), i] * weights[tap, new]
            made[new, i] = total


def _compiled(compiler: Compiler) -> Any:
    parts: Any = _write_blend, _write_first, _write_next, _write_narrow
    blend, start, add, narrow = map(compiler.function, parts)

    def write(made: Any, images: Any, places: Any, weights: Any, is_blend: Any) -> None:
        for outer in range(made.shape[0]):
            old = images[outer]
            if made.shape[2] < _NARROW:
                narrow(made[outer], old, places, weights, is_blend)
                continue
            for new in range(made.shape[1]):
                if is_blend:
                    low, high = old[places[0, new]], old[places[1, new]]
                    blend(made[outer, new], low, high, weights[1, new])
                    continue
                start(made[outer, new], old[places[0, new]], weights[0, new])
                for tap in range(1, len(places)):
                    add(made[outer, new], old[places[tap, new]], weights[tap, new])

    images = compiler.written(np.float32, 3), compiler.read(np.float32, 3)
    taps = compiler.read(np.intp, 2), compiler.read(np.float32, 2)
    return compiler.procedure(write, *images, *taps, compiler.number(np.bool_))


_NARROW = 16  # channels
_CODE = MachineCode(_compiled)
_CALL = 20_000  # nanoseconds that NumPy takes, beside one for each tap of each number


def _blend(flat: Any, places: Any, weights: Any, axis: int, made: Any) -> None:
    """Put into `made` what lies between two places: one product is enough."""
    flat.take(places[0], axis, made, "clip")  # not "raise": NumPy would copy all once more
    behind = flat.take(places[1], axis, mode="clip")
    behind -= made
    behind *= weights[1]
    made += behind


def _add_up(flat: Any, places: Any, weights: Any, axis: int, made: Any) -> None:
    flat.take(places[0], axis, made, "clip")
    if weights is not None:
        made *= weights[0]
    found = np.empty_like(made)
    for tap in range(1, len(places)):
        flat.take(places[tap], axis, found, "clip")
        if weights is not None:
            found *= weights[tap]
        made += found


def _flat(images: Any, taps: Taps, axis: int) -> tuple[Any, Taps]:
    """Return images with width and channels in one axis, which NumPy is quicker with, and taps.

    [batch, height, width * channels], or along columns [batch * height, 1, width * channels].
    """
    batch, height, width, channels = images.shape
    if axis == 1:
        return images.reshape(batch, height, width * channels), taps
    places = taps.places[:, :, None] * channels + np.arange(channels)
    weights = None if taps.weights is None else np.repeat(taps.weights, channels, 1)
    taps = taps._replace(places=places.reshape(len(places), -1), weights=weights)
    return images.reshape(batch * height, 1, width * channels), taps
