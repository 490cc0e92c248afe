"""What all candidate samplers do: draw classes, and say how often each is to be expected.

Where all must be different, one draws until there are enough of them; the number of tries then
tells how likely each class was to be among them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.ops.array.repeated_indices import run_starts

MOST_TRIES = 1 << 28  # for classes that are all different: seconds
AT_ONCE = 1 << 18


def sampler_shape(true_classes: Shape, *, num_true: int, num_sampled: int) -> list[Shape]:
    """Return the shapes of the classes drawn, and of the two kinds of expected counts."""
    shapes.require_rank(true_classes, "true_classes", 2)
    columns = None if true_classes is None else true_classes[1]
    shapes.merge_dim(columns, num_true, "the columns of true_classes and num_true")
    rows = None if true_classes is None else true_classes[0]
    return [(num_sampled,), (rows, num_true), (num_sampled,)]


def sampled(
    ctx: Any, true_classes: Any, count: int, unique: bool, draw: Callable[[int], Any],
    chance: Callable[[Any], Any], classes: int,
) -> list[Any]:  # fmt: skip
    """Return what a sampler gives.

    Args:
      ctx: tells whether the step goes on.
      true_classes: [batch, num_true].
      count: how many to draw.
      unique: whether all must be different.
      draw: takes a number, returns so many classes.
      chance: takes classes, returns how likely each is to be drawn.
      classes: how many there are that can be drawn.
    """
    if unique and count > classes:
        raise InvalidArgumentError(
            f"Sampler's range is too small: {count} different classes of {classes}"
        )
    check_room([count], np.float64)
    found, tries = _different(ctx, count, draw) if unique else (draw(count), count)
    classes_asked = np.concatenate([true_classes.reshape(-1), found])  # of all in one go
    expected = _expected(chance(classes_asked).astype(np.float32), count, tries)
    size = true_classes.size
    true_expected = expected[:size].reshape(true_classes.shape)
    return [found.astype(np.int64, copy=False), true_expected, expected[size:]]


def _expected(chances: Any, count: int, tries: int) -> Any:
    """Return how often classes are to be expected, rounded to float32 where TensorFlow does."""
    if tries == count:
        return chances * np.float32(count)
    stays_out = np.log1p(-chances.astype(np.float64)).astype(np.float32) * np.float32(tries)
    return -np.expm1(stays_out.astype(np.float64)).astype(np.float32)


def _different(ctx: Any, count: int, draw: Callable[[int], Any]) -> tuple[Any, int]:
    """Return different classes in the order drawn, and how many tries that took.

    They are drawn some at a time, so that memory stays bounded and a step that ends is noticed:
    the last of many seldom classes takes millions of tries.
    """
    found = np.zeros(0, np.int64)
    tries, size = 0, min(2 * count, AT_ONCE)
    while tries < MOST_TRIES:
        ctx.check()
        drawn = np.asarray(draw(size))
        fresh = np.flatnonzero(np.isin(drawn, found, invert=True))
        fresh = fresh[_first_places(drawn[fresh])]
        missing = count - len(found)
        found = np.concatenate([found, drawn[fresh[:missing]]])
        if len(fresh) >= missing:
            return found, tries + int(fresh[missing - 1]) + 1
        tries += size
        size = min(max(2 * size, len(found)), AT_ONCE)
    raise InvalidArgumentError(
        f"{tries} draws gave {len(found)} different classes, but {count} are asked for: the "
        "others are too seldom; ask for fewer, or for unique=False"
    )


def _first_places(drawn: Any) -> Any:
    """Return where each class that was drawn stands first, in order."""
    order = drawn.argsort(kind="stable")
    first = order[run_starts(drawn[order])]
    first.sort()
    return first
