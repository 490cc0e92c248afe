"""Blocks of space moved into the batch, and back."""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Dim, Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.concat import stack

__all__ = [
    "batch_to_space", "batch_to_space_nd", "required_space_to_batch_paddings", "space_to_batch",
    "space_to_batch_nd",
]  # fmt: skip


def divided(size: Dim, by: int) -> Dim:
    """Return how many blocks an axis has; InvalidArgumentError if some element is left."""
    if size is not None and size % by:
        raise InvalidArgumentError(f"Dimension size must be evenly divisible by {by} but is {size}")
    return None if size is None else size // by


_TYPES = "T: type; Tblock_shape: type = int32 {index}; "
SPACE_TO_BATCH_ND = OpDef(
    "SpaceToBatchND(input: T, block_shape: Tblock_shape, paddings: Tpaddings) -> output: T "
    f"[{_TYPES}Tpaddings: type = int32 {{index}}]"
)
BATCH_TO_SPACE_ND = OpDef(
    "BatchToSpaceND(input: T, block_shape: Tblock_shape, crops: Tcrops) -> output: T "
    f"[{_TYPES}Tcrops: type = int32 {{index}}]"
)


def _check_positive(block: Sequence[int]) -> None:
    if block and min(block) < 1:
        raise InvalidArgumentError(f"block_shape must be positive, got {list(block)}")


def _check(input: Any, block: Sequence[int], sides: Any, what: str) -> None:
    """Raise InvalidArgumentError unless blocks of that shape can be cut from an input of that."""
    if len(input) < 1 + len(block):
        raise InvalidArgumentError(
            f"Shape must be at least rank {1 + len(block)} but is rank {len(input)}: input rank "
            f"should be >= {1 + len(block)} instead of {len(input)}, for block_shape {list(block)}"
        )
    if np.shape(sides) != (len(block), 2):
        raise InvalidArgumentError(
            f"{what} should have shape [{len(block)}, 2] instead of {list(np.shape(sides))}"
        )
    _check_positive(block)
    if np.min(sides, initial=0) < 0:
        raise InvalidArgumentError(f"{what} cannot be negative, got {np.asarray(sides).tolist()}")


def _blocked_axes(block_shape: Shape, sides: Shape, what: str) -> Dim:
    """Return over how many axes a block reaches, as far as that is known."""
    if block_shape is not None and len(block_shape) != 1:
        raise InvalidArgumentError(f"block_shape must have rank 1, got {list(block_shape)}")
    axes = None if block_shape is None else block_shape[0]
    if sides is not None:
        shapes.require_rank(sides, what, 2)
        for got, wanted in zip(sides, (axes, 2), strict=True):
            shapes.merge_dim(got, wanted, f"Dimensions of {what} and its shape by block_shape")
    return axes


def _unknown_block(input: Shape, axes: Dim) -> Shape:
    """Return the shape of what is cut into, or put together from, blocks of unknown sizes."""
    if input is None:
        return None
    if axes is None:
        return (None,) * len(input)
    return (*(None,) * (1 + axes), *input[1 + axes :])


@SPACE_TO_BATCH_ND.shape
def space_to_batch_nd_shape(
    input: Shape, block_shape: Shape, paddings: Shape, *, block_shape_value: Any,
    paddings_value: Any,
) -> Shape:  # fmt: skip
    axes = _blocked_axes(block_shape, paddings, "paddings")
    if input is None or block_shape_value is None:
        return _unknown_block(input, axes)
    block = block_shape_value.tolist()
    _check_positive(block)
    if paddings_value is None:
        spatial: tuple[Dim, ...] = (None,) * len(block)
    else:
        _check(input, block, paddings_value, "paddings")
        wide = zip(input[1:], paddings_value.tolist(), block, strict=False)
        spatial = tuple(
            divided(None if size is None else size + sum(sides), by) for size, sides, by in wide
        )
    batch = None if input[0] is None else input[0] * int(np.prod(block))
    return (batch, *spatial, *input[1 + len(block) :])


@SPACE_TO_BATCH_ND.kernel
def space_to_batch_nd_kernel(input: Any, block_shape: Any, paddings: Any) -> Any:
    block, sides = block_shape.tolist(), paddings.tolist()
    _check(input.shape, block, paddings, "paddings")
    rest = [(0, 0)] * (input.ndim - 1 - len(block))
    sums = [0, *(sum(pair) for pair in sides), *(0 for _ in rest)]
    check_room(map(add, input.shape, sums), input.dtype)
    padded = np.pad(input, [(0, 0), *sides, *rest]) if paddings.any() else input
    counts = [
        divided(size, by) for size, by in zip(padded.shape[1 : 1 + len(block)], block, strict=True)
    ]
    pairs = [each for pair in zip(counts, block, strict=True) for each in pair]
    split = padded.reshape(padded.shape[0], *pairs, *padded.shape[1 + len(block) :])
    inside = range(2, 2 + 2 * len(block), 2)
    outside = range(1, 1 + 2 * len(block), 2)
    turned = split.transpose(*inside, 0, *outside, *range(1 + 2 * len(block), split.ndim))
    return turned.reshape(-1 if padded.size else padded.shape[0] * int(np.prod(block)),
                          *counts, *padded.shape[1 + len(block) :])  # fmt: skip


@SPACE_TO_BATCH_ND.gradient
def space_to_batch_nd_gradient(op: Any, d_output: Any) -> Any:
    return raw.BatchToSpaceND(d_output, op.inputs[1], op.inputs[2]), None, None


@BATCH_TO_SPACE_ND.shape
def batch_to_space_nd_shape(
    input: Shape, block_shape: Shape, crops: Shape, *, block_shape_value: Any, crops_value: Any
) -> Shape:
    axes = _blocked_axes(block_shape, crops, "crops")
    if input is None or block_shape_value is None:
        return _unknown_block(input, axes)
    block = block_shape_value.tolist()
    _check_positive(block)
    batch = divided(input[0], int(np.prod(block)))
    if crops_value is None:
        return (batch, *(None for _ in block), *input[1 + len(block) :])
    _check(input, block, crops_value, "crops")
    parts = zip(input[1:], block, crops_value.tolist(), strict=False)
    spatial = (None if size is None else size * by - sum(sides) for size, by, sides in parts)
    return (batch, *map(_not_negative, spatial), *input[1 + len(block) :])


def _not_negative(size: Dim) -> Dim:
    if size is not None and size < 0:
        raise InvalidArgumentError(
            f"Negative dimension size caused by subtracting crops: {size} would be left"
        )
    return size


@BATCH_TO_SPACE_ND.kernel
def batch_to_space_nd_kernel(input: Any, block_shape: Any, crops: Any) -> Any:
    block, sides = block_shape.tolist(), crops.tolist()
    _check(input.shape, block, crops, "crops")
    count = len(block)
    batch = divided(input.shape[0], int(np.prod(block)))
    sizes, rest = input.shape[1 : 1 + count], input.shape[1 + count :]
    split = input.reshape(*block, batch, *sizes, *rest)
    pairs = [axis for place in range(count) for axis in (count + 1 + place, place)]
    turned = split.transpose(count, *pairs, *range(2 * count + 1, split.ndim))
    wide = [size * by for size, by in zip(sizes, block, strict=True)]
    whole = turned.reshape(batch, *wide, *rest)
    left = [
        slice(start, _not_negative(size - start - stop) + start)  # type: ignore[operator]
        for size, (start, stop) in zip(wide, sides, strict=True)
    ]
    return whole[(slice(None), *left)]


@BATCH_TO_SPACE_ND.gradient
def batch_to_space_nd_gradient(op: Any, d_output: Any) -> Any:
    return raw.SpaceToBatchND(d_output, op.inputs[1], op.inputs[2]), None, None


SPACE_TO_BATCH = OpDef(
    "SpaceToBatch(input: T, paddings: Tpaddings) -> output: T "
    "[T: type; Tpaddings: type = int32 {index}; block_size: int >=2]"
)
BATCH_TO_SPACE = OpDef(
    "BatchToSpace(input: T, crops: Tidx) -> output: T "
    "[T: type; block_size: int >=2; Tidx: type = int32 {index}]"
)


@SPACE_TO_BATCH.checked_shape
def space_to_batch_shape(
    input: Shape, paddings: Shape, *, paddings_value: Any, block_size: int
) -> Shape:
    shapes.require_rank(input, "input", 4)
    return space_to_batch_nd_shape(
        input or (None,) * 4, (2,), paddings, block_shape_value=np.array([block_size] * 2),
        paddings_value=paddings_value,
    )  # fmt: skip


@BATCH_TO_SPACE.checked_shape
def batch_to_space_shape(input: Shape, crops: Shape, *, crops_value: Any, block_size: int) -> Shape:
    shapes.require_rank(input, "input", 4)
    return batch_to_space_nd_shape(
        input or (None,) * 4, (2,), crops, block_shape_value=np.array([block_size] * 2),
        crops_value=crops_value,
    )  # fmt: skip


@SPACE_TO_BATCH.kernel
def space_to_batch_kernel(input: Any, paddings: Any, *, block_size: int) -> Any:
    return space_to_batch_nd_kernel(input, np.array([block_size] * 2), paddings)


@BATCH_TO_SPACE.kernel
def batch_to_space_kernel(input: Any, crops: Any, *, block_size: int) -> Any:
    return batch_to_space_nd_kernel(input, np.array([block_size] * 2), crops)


@SPACE_TO_BATCH.gradient
def space_to_batch_gradient(op: Any, d_output: Any) -> Any:
    block_size = op.get_attr("block_size")
    return raw.BatchToSpace(d_output, op.inputs[1], block_size=block_size), None


@BATCH_TO_SPACE.gradient
def batch_to_space_gradient(op: Any, d_output: Any) -> Any:
    block_size = op.get_attr("block_size")
    return raw.SpaceToBatch(d_output, op.inputs[1], block_size=block_size), None


# public functions


def space_to_batch_nd(input: Any, block_shape: Any, paddings: Any, name: Any = None) -> Tensor:
    """Return `input` with the places of each block of space as so many parts of the batch.

    Args:
      input: [batch, spatial axes..., rest...].
      block_shape: int [spatial axes], sizes of a block.
      paddings: int [spatial axes, 2]: zeros in front and at the end, before blocks are cut.
      name: of the node.

    Returns:
      [batch * elements of a block, blocks along each axis..., rest...].

    Example:
      >>> Session().run(space_to_batch_nd([[1, 2, 3, 4]], [2], [[0, 0]]))
      array([[1, 3],
             [2, 4]], dtype=int32)
    """
    tensor: Tensor = SPACE_TO_BATCH_ND(input, block_shape, paddings, name=name)
    return tensor


def batch_to_space_nd(input: Any, block_shape: Any, crops: Any, name: Any = None) -> Tensor:
    """Return `input` with parts of the batch put beside each other: `space_to_batch_nd` undone.

    Args:
      input: [batch * elements of a block, spatial axes..., rest...].
      block_shape: int [spatial axes], sizes of a block.
      crops: int [spatial axes, 2]: what is cut off in front and at the end.
      name: of the node.

    Example:
      >>> Session().run(batch_to_space_nd([[1, 3], [2, 4]], [2], [[0, 0]]))
      array([[1, 2, 3, 4]], dtype=int32)
    """
    tensor: Tensor = BATCH_TO_SPACE_ND(input, block_shape, crops, name=name)
    return tensor


def space_to_batch(
    input: Any,
    paddings: Any,
    block_size: Any = None,
    name: str | None = None,
    block_shape: Any = None,
) -> Tensor:
    """Return `space_to_batch_nd` of images, in blocks of one size both ways.

    Args:
      input: [batch, height, width, channels].
      paddings: int [2, 2].
      block_size: the size of a block.
      name: of the node.
      block_shape: its later spelling.

    Example:
      >>> Session().run(space_to_batch([[[[1], [2]], [[3], [4]]]], [[0, 0], [0, 0]], 2)).shape
      (4, 1, 1, 1)
    """
    size = block_size if block_shape is None else block_shape
    block = np.broadcast_to(np.array(size, np.int32), 2) if np.ndim(size) == 0 else size
    result = space_to_batch_nd(input, block, paddings, name)
    result.set_shape(result.shape.with_rank(4))
    return result


def batch_to_space(
    input: Any,
    crops: Any,
    block_size: Any = None,
    name: str | None = None,
    block_shape: Any = None,
) -> Tensor:
    """Return `batch_to_space_nd` of images, in blocks of one size both ways.

    Args:
      input: [batch * block_size ** 2, height, width, channels].
      crops: int [2, 2].
      block_size: the size of a block.
      name: of the node.
      block_shape: its later spelling.

    Example:
      >>> Session().run(batch_to_space([[[[1]]], [[[2]]], [[[3]]], [[[4]]]], [[0, 0]] * 2, 2)).shape
      (1, 2, 2, 1)
    """
    size = block_size if block_shape is None else block_shape
    block = np.broadcast_to(np.array(size, np.int32), 2) if np.ndim(size) == 0 else size
    result = batch_to_space_nd(input, block, crops, name)
    result.set_shape(result.shape.with_rank(4))
    return result


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return the paddings that make blocks fit, and the crops that undo what was added for that.

    Args:
      input_shape: int [axes], sizes of the spatial axes.
      block_shape: int [axes], sizes of a block.
      base_paddings: int [axes, 2], which are there anyway; by default none.
      name: of the nodes' scope.

    Returns:
      Paddings and crops, int32 [axes, 2]: constants where all is known.

    Example:
      >>> Session().run(required_space_to_batch_paddings([5], [2]))
      (array([[0, 1]], dtype=int32), array([[0, 1]], dtype=int32))
    """
    given = [input_shape, block_shape]
    with name_scope(name, "required_space_to_batch_paddings", given):
        sizes = convert_to_tensor(input_shape, "int32", name="input_shape")
        block = convert_to_tensor(block_shape, "int32", name="block_shape")
        if base_paddings is not None:
            base = convert_to_tensor(base_paddings, "int32", name="base_paddings")
        else:
            axes = block.shape.with_rank(1).as_list()[0]
            base = raw.Const(value=np.zeros([axes, 2], np.int32), dtype="int32", name="zeros")
        block.shape.assert_is_fully_defined()
        sizes.shape.assert_is_compatible_with(block.shape)
        base.shape.assert_is_compatible_with(block.shape.concatenate([2]))
        known = [constant_value(each) for each in (sizes, block, base)]
        if all(value is not None for value in known):
            added = -(known[0] + known[2].sum(1)) % known[1]  # type: ignore[operator, index, union-attr]
            ends = known[2] + np.stack([0 * added, added], 1)  # type: ignore[operator]
            crops = np.stack([0 * added, added], 1)
            values = (("paddings", ends), ("crops", crops))
            return tuple(raw.Const(value=value.astype(np.int32), dtype="int32", name=kind)
                         for kind, value in values)  # type: ignore[return-value]  # fmt: skip
        return _later_paddings(sizes, block, base)


def _later_paddings(sizes: Any, block: Any, base: Any) -> tuple[Tensor, Tensor]:
    """Return the same by nodes."""
    start, end = base[:, 0], base[:, 1]
    full = raw.AddV2(raw.AddV2(sizes, start, name="add"), end, name="add")
    left = raw.FloorMod(full, block, name="mod")
    added = raw.FloorMod(raw.Sub(block, left, name="sub"), block, name="mod")
    ends = raw.AddV2(end, added, name="add")
    count = block.shape.as_list()[0]
    pairs = [[start[place], ends[place]] for place in range(count)]
    paddings = [stack(pair, name=f"paddings/{place}") for place, pair in enumerate(pairs)]
    both = stack(paddings, name="paddings")
    pairs = [[0, added[place]] for place in range(count)]
    crops = [stack(pair, name=f"crops/{place}") for place, pair in enumerate(pairs)]
    return both, stack(crops, name="crops")
