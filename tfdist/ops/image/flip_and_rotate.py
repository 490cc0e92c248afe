"""Images mirrored, turned and transposed, always or by chance."""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.control_flow.case import case
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.image.checks import checked_image
from tfdist.ops.random.random_ops import random_uniform

__all__ = [
    "flip_left_right", "flip_up_down", "random_flip_left_right", "random_flip_up_down", "rot90",
    "transpose_image",
]  # fmt: skip


def _is_batch(image: Tensor) -> bool:
    return image.plain_shape is not None and len(image.plain_shape) == 4


def _reversed(image: Tensor, axis: int) -> Tensor:
    """Return an image, or a batch of them, with its rows (0) or columns (1) in the other order."""
    result: Tensor = raw.ReverseV2(image, [axis + _is_batch(image)])
    result.set_shape([None] * 3 if image.plain_shape is None else image.plain_shape)
    return result


def _flip(image: Any, axis: int, name: str) -> Tensor:
    with name_scope(None, name, [image]):
        return _reversed(checked_image(image, most=4), axis)


def flip_left_right(image: Any) -> Tensor:
    """Return an image with its columns in the other order.

    Args:
      image: [height, width, channels], or [batch, height, width, channels].

    Example:
      >>> Session().run(image.flip_left_right([[[1], [2], [3]]]))[..., 0]
      array([[3, 2, 1]], dtype=int32)
    """
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image: Any) -> Tensor:
    """Return an image with its rows in the other order.

    Args:
      image: [height, width, channels], or [batch, height, width, channels].

    Example:
      >>> Session().run(image.flip_up_down([[[1]], [[2]], [[3]]]))[:, 0, 0]
      array([3, 2, 1], dtype=int32)
    """
    return _flip(image, 0, "flip_up_down")


def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """Return an image with its columns in the other order, or as it is: each half of the time.

    Args:
      image: [height, width, channels]; or [batch, height, width, channels], of which each image
        has its own chance.
      seed: of this op; see `set_random_seed`.

    Example:
      >>> Session().run(image.random_flip_left_right([[[1], [2], [3]]])).shape
      (1, 3, 1)
    """
    return _random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """Return an image with its rows in the other order, or as it is: each half of the time.

    Args:
      image: [height, width, channels]; or [batch, height, width, channels], of which each image
        has its own chance.
      seed: of this op; see `set_random_seed`.

    Example:
      >>> Session().run(image.random_flip_up_down([[[1], [2], [3]]])).shape
      (1, 3, 1)
    """
    return _random_flip(image, 0, seed, "random_flip_up_down")


def _random_flip(image: Any, axis: int, seed: int | None, name: str) -> Tensor:
    with name_scope(None, name, [image]) as scope:
        image = checked_image(image, most=4)
        if _is_batch(image):
            return _random_flips(image, axis, seed)
        chance = random_uniform([], 0, 1.0, seed=seed)
        result = cond(
            raw.Less(chance, 0.5), lambda: _reversed(image, axis), lambda: image, name=scope
        )
        result.set_shape([None] * 3 if image.plain_shape is None else image.plain_shape)
        return result  # type: ignore[no-any-return]


def _random_flips(images: Tensor, axis: int, seed: int | None) -> Tensor:
    """Return a batch of which each image is flipped or not."""
    size: Any = shape(images)
    batch = size[0]
    chances = reshape(random_uniform([batch], 0, 1.0, seed=seed), [batch, 1, 1, 1])
    flips = cast(raw.Round(chances), images.dtype)
    return flips * _reversed(images, axis) + (1 - flips) * images  # type: ignore[no-any-return]


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """Return an image turned to the left, `k` times by 90 degrees.

    Args:
      image: [height, width, channels], or [batch, height, width, channels].
      k: how often, an integer or int32 [].
      name: prefix for the nodes.

    Example:
      >>> Session().run(image.rot90([[[1], [2], [3]]]))[..., 0]
      array([[3],
             [2],
             [1]], dtype=int32)
    """
    with name_scope(name, "rot90", [image, k]) as scope:
        image = checked_image(image, most=4)
        k = convert_to_tensor(k, "int32", name="k")
        k.shape.assert_has_rank(0)
        k = raw.FloorMod(k, 4)
        turns = {1: _quarter, 2: _half, 3: _three_quarters}
        pairs = [(raw.Equal(k, n), _turned(turn, image)) for n, turn in turns.items()]
        result: Tensor = case(pairs, default=lambda: image, exclusive=True, name=scope)
        known = image.plain_shape
        if known is not None:
            result.set_shape([*known[:-3], None, None, known[-1]])
        return result


def _turned(turn: Any, image: Tensor) -> Any:
    return lambda: turn(image, int(_is_batch(image)))


def _swapped(image: Tensor, first: int) -> Tensor:
    return transpose(image, [*range(first), first + 1, first, first + 2])


def _quarter(image: Tensor, first: int) -> Tensor:
    return _swapped(raw.ReverseV2(image, [first + 1]), first)


def _half(image: Tensor, first: int) -> Tensor:
    return raw.ReverseV2(image, [first, first + 1])  # type: ignore[no-any-return]


def _three_quarters(image: Tensor, first: int) -> Tensor:
    return raw.ReverseV2(_swapped(image, first), [first + 1])  # type: ignore[no-any-return]


def transpose_image(image: Any, name: str | None = None) -> Tensor:
    """Return an image whose rows are the columns.

    Args:
      image: [height, width, channels], or [batch, height, width, channels].
      name: prefix for the nodes.

    Example:
      >>> Session().run(image.transpose_image([[[1], [2], [3]]]))[..., 0]
      array([[1],
             [2],
             [3]], dtype=int32)
    """
    with name_scope(name, "transpose", [image]):
        image = checked_image(image, most=4)
        first = int(_is_batch(image))
        axes = [*range(first), first + 1, first, first + 2]
        return transpose(image, axes, name="transpose")
