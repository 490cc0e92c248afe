"""Elements repeated, sequences without repetitions, and places of elements by their number."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.boolean_mask import boolean_mask
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import ones_like
from tfdist.ops.array.range import sequence_mask
from tfdist.ops.array.reshape import expand_dims, reshape
from tfdist.ops.array.shape import rank, shape, size
from tfdist.ops.array.tile_roll import tile
from tfdist.ops.math.reductions import reduce_max, reduce_sum

__all__ = ["repeat", "unravel_index"]


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Return `input` with each element along an axis several times, one after the other.

    Args:
      input: a tensor, or what converts to one.
      repeats: integers: one, or one for each element along the axis.
      axis: a number; by default `input` is flattened first.
      name: prefix for the nodes.

    Raises:
      ValueError: there are not as many repeats as elements.

    Example:
      >>> Session().run(repeat([7, 8], [1, 3]))
      array([7, 8, 8, 8], dtype=int32)
    """
    if axis is None:
        input, axis = reshape(input, [-1]), 0
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        times = raw.Cast(convert_to_tensor(repeats, name="repeats"), DstT="int32")
        return _repeated(data, times, _checked_axis(data.plain_shape, times.plain_shape, axis))


def _checked_axis(data: Shape, times: Shape, axis: int) -> int:
    """Return the axis counted from the front."""
    if data is None or times is None:
        raise ValueError("tf.repeat needs to know the ranks of what it gets; set_shape tells them")
    if not -len(data) <= axis < len(data):
        raise ValueError(f"axis must be in [{-len(data)}, {len(data)}), got {axis}")
    axis %= len(data)
    if len(times) > 1:
        raise ValueError(f"repeats must have rank 0 or 1, got {shapes.show(times)}")
    if times and None not in (times[0], data[axis]) and times[0] not in (1, data[axis]):
        raise ValueError(f"there are {times[0]} repeats for {data[axis]} elements")
    return axis


def _repeated(data: Tensor, times: Tensor, axis: int) -> Tensor:
    sizes: Any = shape(data)
    after = len(data.plain_shape) - axis - 1  # type: ignore[arg-type]
    if not times.plain_shape:
        tiled = tile(expand_dims(data, axis + 1), [1] * (axis + 1) + [times] + [1] * after)
        return reshape(tiled, concat([sizes[:axis], [-1], sizes[axis + 1 :]], 0))
    if axis:
        number: Any = rank(times)
        lead = sizes[: axis + 1 - number]
        times = raw.BroadcastTo(times, concat([lead, shape(times)], 0))
        times.set_shape([None] * (axis + 1))
    most = raw.Maximum(0, reduce_max(times))
    mask = sequence_mask(times, most)
    tiled = tile(expand_dims(data, axis + 1), [1] * (axis + 1) + [most] + [1] * after)
    chosen = boolean_mask(tiled, mask)
    if not axis:
        return chosen
    return reshape(chosen, concat([sizes[:axis], [-1], sizes[axis + 1 :]], 0))


UNRAVEL_INDEX = OpDef(
    "UnravelIndex(indices: Tidx, dims: Tidx) -> output: Tidx [Tidx: type = int32 {index}]"
).not_differentiable()


@UNRAVEL_INDEX.checked_shape
def unravel_index_shape(indices: Shape, dims: Shape) -> Shape:
    shapes.require_rank(dims, "dims", 1)
    if indices is None:
        return None
    count = (shapes.num_elements(indices),) if indices else ()  # rank 2 fails when it runs
    return (None if dims is None else dims[0], *count)


@UNRAVEL_INDEX.kernel
def unravel_index_kernel(indices: Any, dims: Any) -> Any:
    if indices.ndim > 1:
        raise InvalidArgumentError(f"indices must have rank 0 or 1, got {list(indices.shape)}")
    if (dims == 0).any():
        raise InvalidArgumentError(f"a tensor of dims {dims.tolist()} has no elements")
    steps = np.append(np.cumprod(dims[:0:-1], dtype=dims.dtype)[::-1], dims.dtype.type(1))
    places = indices // steps.reshape(-1, *(1,) * indices.ndim)
    return (places % dims.reshape(-1, *(1,) * indices.ndim)).astype(dims.dtype)


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """Return where elements stand in a tensor, whose numbers in its flat form are given.

    Args:
      indices: integers [] or [n].
      dims: integers [rank], shape of the tensor.
      name: of the node.

    Returns:
      [rank] or [rank, n].

    Example: elements 2 and 5 of a tensor of shape [3, 3].
      >>> Session().run(unravel_index([2, 5], [3, 3]))
      array([[0, 1],
             [2, 2]], dtype=int32)
    """
    tensor: Tensor = UNRAVEL_INDEX(indices, dims, name=name)
    return tensor


def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> Any:
    """Return sequences of labels of which no two neighbours are the same.

    Args:
      labels: [batch, longest].
      seq_length: int32 [batch], lengths of the sequences.
      name: prefix for the nodes.

    Returns:
      (labels [batch, longest that is left], filled up with zeros, and the new lengths [batch]).

    Example:
      >>> Session().run(nn.collapse_repeated([[1, 1, 2, 2, 1]], [4]))
      (array([[1, 2]], dtype=int32), array([2], dtype=int32))
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        first = ones_like(labels[:, :1], "bool")
        new = concat([first, raw.NotEqual(labels[:, 1:], labels[:, :-1])], 1)
        kept = raw.LogicalAnd(new, sequence_mask(seq_length, _size(labels, 1)))
        lengths = reduce_sum(cast(kept, "int32"), 1)
        longest = reduce_max(lengths)
        places = reshape(sequence_mask(lengths, longest), [-1])
        values = boolean_mask(reshape(labels, [-1]), reshape(kept, [-1]))
        numbers = raw.Range(0, size(places), 1)
        rows = expand_dims(boolean_mask(numbers, places), 1)
        flat = raw.ScatterNd(rows, values, shape(places))
        return reshape(flat, [_size(labels, 0), longest]), cast(lengths, seq_length.dtype)


def _size(tensor: Any, axis: int) -> Any:
    sizes: Any = shape(tensor)
    return sizes[axis]
