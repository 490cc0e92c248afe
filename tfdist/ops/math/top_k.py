"""Where the greatest elements stand: the best one, the best k, and whether one is among them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.convolution.windows import pieces

__all__ = ["arg_max", "arg_min", "argmax", "argmin"]


def _position(name: str, find: Callable[..., Any]) -> OpDef:
    """Define an op that gives the position of an extreme along one axis."""
    op_def = OpDef(
        f"{name}(input: T, dimension: Tidx) -> output: output_type "
        "[T: type {numeric}; Tidx: type = int32 {index}; "
        "output_type: type = int64 {index}]"
    ).not_differentiable()

    @op_def.shape
    def position_shape(input: Shape, dimension: Shape, *, dimension_value: Any) -> Shape:
        if input is None or dimension_value is None:
            return None if input is None else (None,) * (len(input) - 1)
        axis, rank = int(dimension_value), max(len(input), 1)
        if not -rank <= axis < rank:
            raise InvalidArgumentError(
                f"Dimension ({axis}) must be in the range [{-rank}, {rank}), where {rank} is the "
                "number of dimensions in the input."
            )
        axis %= rank
        return input[:axis] + input[axis + 1 :]

    @op_def.kernel
    def position_kernel(input: Any, dimension: Any, *, output_type: DType) -> Any:
        axis, rank = int(dimension), input.ndim
        if not -rank <= axis < rank:
            raise InvalidArgumentError(
                f"Expected dimension in the range [{-rank}, {rank}), but got {axis}"
            )
        if not input.shape[axis]:
            full = shapes.brackets(input.shape)
            raise InvalidArgumentError(f"Reduction axis {axis % rank} is empty in shape {full}")
        return find(input, axis).astype(output_type.as_numpy_dtype)

    return op_def


ARG_MAX = _position("ArgMax", lambda input, axis: input.argmax(axis))
ARG_MIN = _position("ArgMin", lambda input, axis: input.argmin(axis))


def argmax(
    input: Any,
    axis: Any = None,
    name: str | None = None,
    dimension: Any = None,
    output_type: Any = dtypes.int64,
) -> Tensor:
    """Return the position of the greatest element along an axis, the first of equals.

    Args:
      input: a tensor, or anything that converts to one.
      axis: an integer; 0 by default.
      name: of the node.
      dimension: the old spelling of axis.
      output_type: int64 or int32.

    Example:
      >>> Session().run(argmax([[1, 5, 3], [4, 2, 6]], axis=1))
      array([1, 2])
    """
    tensor: Tensor = ARG_MAX(input, _one_axis(axis, dimension), output_type=output_type, name=name)
    return tensor


def argmin(
    input: Any,
    axis: Any = None,
    name: str | None = None,
    dimension: Any = None,
    output_type: Any = dtypes.int64,
) -> Tensor:
    """Return the position of the least element along an axis, the first of equals.

    Args:
      input: a tensor, or anything that converts to one.
      axis: an integer; 0 by default.
      name: of the node.
      dimension: the old spelling of axis.
      output_type: int64 or int32.

    Example:
      >>> Session().run(argmin([[1, 5, 3], [4, 2, 6]], axis=1))
      array([0, 1])
    """
    tensor: Tensor = ARG_MIN(input, _one_axis(axis, dimension), output_type=output_type, name=name)
    return tensor


def _one_axis(axis: Any, dimension: Any) -> Any:
    if axis is not None and dimension is not None:
        raise ValueError("axis and dimension are two spellings of one: give one")
    return next((each for each in (axis, dimension) if each is not None), 0)


def arg_max(
    input: Any, dimension: Any = 0, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Return what `argmax` gives, with arguments in another order.

    Example:
      >>> Session().run(arg_max([[1, 2], [3, 0]], 1))
      array([1, 0])
    """
    return argmax(input, dimension, name, output_type=output_type)


def arg_min(
    input: Any, dimension: Any = 0, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Return what `argmin` gives, with arguments in another order.

    Example:
      >>> Session().run(arg_min([[1, 2], [3, 0]], 1))
      array([0, 1])
    """
    return argmin(input, dimension, name, output_type=output_type)


TOP_K_V2 = OpDef(
    "TopKV2(input: T, k: int32) -> values: T, indices: int32 [sorted: bool = True; T: type {real}]"
)


@TOP_K_V2.shape
def top_k_shape(input: Shape, k: Shape, *, k_value: Any) -> list[Shape]:
    shapes.require_rank(input, "input", 1, 99)
    if input is None:
        return [None, None]
    if k is not None and len(k):
        raise InvalidArgumentError(f"Input must be scalar but has rank {len(k)}")
    count = None if k_value is None else int(k_value)
    if count is not None and count < 0:
        raise InvalidArgumentError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {count}"
        )
    if count is not None and input[-1] is not None and input[-1] < count:
        raise InvalidArgumentError(
            f"input must have last dimension >= k = {count} but is {input[-1]}"
        )
    return [(*input[:-1], count)] * 2


MOST_TURNS = 128  # twice as many elements are searched for one by one at most


@TOP_K_V2.kernel
def top_k_kernel(input: Any, k: Any) -> Any:
    if not input.ndim:
        raise InvalidArgumentError("input must be >= 1-D, got shape []")
    size, count = input.shape[-1], int(k)
    if count < 0:
        raise InvalidArgumentError(f"Need k >= 0, got {count}")
    if size < count:
        raise InvalidArgumentError(
            f"input must have at least k columns. Had {size}, needed {count}"
        )
    rows = input.reshape(math.prod(input.shape[:-1]), size)
    indices = np.empty((len(rows), count), np.intp)
    for part in pieces(len(rows), 8 * size):
        indices[part] = _best(rows[part], count)
    values = rows[np.arange(len(rows))[:, None], indices]
    shape = *input.shape[:-1], count
    return [values.reshape(shape), indices.reshape(shape).astype(np.int32)]


def _best(rows: Any, count: int) -> Any:
    """Return where the greatest of each row stand, greatest first; of equal ones the first."""
    if count == 1 and rows.dtype.kind in "fiu":
        return rows.argmax(1)[:, None]
    size = rows.shape[1]
    if 0 < 2 * count <= min(size, MOST_TURNS) and rows.dtype.kind in "fiu":
        least = -np.inf if rows.dtype.kind == "f" else np.iinfo(rows.dtype).min
        if rows.min() > least:  # and no NaN is there
            return _best_by_turns(rows, count, least)
    keys = _descending(rows)
    if keys is None:  # sorted backwards, from the back: the first of equal elements comes first
        order = np.argsort(rows[:, ::-1], axis=-1, kind="stable")[:, ::-1]
        return size - 1 - order[:, :count]
    keys <<= 32
    keys |= np.arange(size)  # whole numbers that all differ are what NumPy sorts fastest
    if 0 < count < size:
        keys.partition(count - 1, axis=1)
    keys = keys[:, :count]
    keys.sort(axis=1)
    return keys & 0xFFFFFFFF


def _best_by_turns(rows: Any, count: int, least: Any) -> Any:
    """Return `_best` of rows whose elements are all greater than `least`.

    NumPy finds the greatest of a row more than a hundred times faster than it sorts or parts it.
    """
    left, row = rows.copy(), np.arange(len(rows))
    indices = np.empty((len(rows), count), np.intp)
    for turn in range(count):
        indices[:, turn] = found = left.argmax(1)
        left[row, found] = least
    return indices


def _descending(rows: Any) -> Any:
    """Return int64 numbers of 32 bits in the reverse order; None where there are none such."""
    kind, size = rows.dtype.kind, rows.dtype.itemsize
    if kind in "iu" and (size < 4 or rows.dtype == np.int32):
        return ~rows.astype(np.int64)
    floats = rows.astype(np.float32) + np.float32(0) if kind in "fV" and size <= 4 else None
    if floats is None or np.isnan(floats).any():
        return None
    bits = floats.view(np.int32)  # 0 and -0 have become the same ones
    return ~(bits ^ ((bits >> 31) & 0x7FFFFFFF)).astype(np.int64)


@TOP_K_V2.gradient
def top_k_gradient(op: Any, d_values: Any, _: Any) -> Any:
    """Return the gradients put where the values came from."""
    if d_values is None:
        return None, None
    x, indices = op.inputs[0], op.outputs[1]
    columns = raw.OneHot(indices, _last(x), 1, 0, axis=-1)
    placed = raw.Mul(
        raw.ExpandDims(d_values, -1), raw.Cast(columns, DstT=d_values.dtype.base_dtype)
    )
    return raw.Sum(placed, -2), None


def _last(tensor: Tensor) -> Any:
    """Return the size of the last axis."""
    shape = tensor.plain_shape
    if shape is not None and shape[-1] is not None:
        return shape[-1]
    sizes = raw.Shape(tensor)
    last = raw.ExpandDims(raw.Sub(raw.Size(sizes), 1), 0)
    return raw.Squeeze(raw.Slice(sizes, last, [1]), squeeze_dims=[0])


TOP_K = OpDef(
    "TopK(input: T) -> values: T, indices: int32 [k: int >=0; sorted: bool = True; T: type {real}]"
)
TOP_K.shape(lambda input, *, k: top_k_shape(input, (), k_value=k))
TOP_K.kernel(lambda input, *, k: top_k_kernel(input, k))
TOP_K.gradient(lambda op, d_values, d_indices: top_k_gradient(op, d_values, d_indices)[0])


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> Any:
    """Return the k greatest elements of each row, greatest first, and their positions.

    Args:
      input: [..., columns], a tensor or anything that converts to one.
      k: how many; at most the number of columns.
      sorted: taken and not needed: they come sorted.
      name: of the node.

    Returns:
      A named tuple of values and indices (int32), both [..., k]; of equal elements the first comes
      first.

    Raises:
      ValueError: k is greater than the number of columns.

    Example:
      >>> Session().run(nn.top_k([3, 1, 4, 1, 5], k=2).indices)
      array([4, 2], dtype=int32)
    """
    return TOP_K_V2(input, k, sorted=sorted, name=name)


def _in_top_k_shape(predictions: Shape, targets: Shape) -> Shape:
    shapes.require_rank(predictions, "predictions", 2)
    shapes.require_rank(targets, "targets", 1)
    batch = None if predictions is None else predictions[0]
    size = shapes.merge_dim(
        batch, None if targets is None else targets[0], "the sizes of the batch"
    )
    return (size,)


def _in_top_k(predictions: Any, targets: Any, k: Any) -> Any:
    """Return whether fewer than k predictions of a row are greater than the target's."""
    classes = predictions.shape[1]
    known = (targets >= 0) & (targets < classes) & np.isfinite(predictions).all(axis=1)
    chosen = predictions[np.arange(len(targets)), np.where(known, targets, 0)]
    greater = (predictions > chosen[:, None]).sum(axis=1)
    return known & (greater < k)


IN_TOP_K_V2 = OpDef(
    "InTopKV2(predictions: float, targets: T, k: T) -> precision: bool [T: type = int32 {index}]"
).not_differentiable()
IN_TOP_K_V2.checked_shape(lambda predictions, targets, k: _in_top_k_shape(predictions, targets))
IN_TOP_K_V2.kernel(_in_top_k)

IN_TOP_K = OpDef(
    "InTopK(predictions: float, targets: T) -> precision: bool [k: int; T: type = int32 {index}]"
).not_differentiable()
IN_TOP_K.checked_shape(_in_top_k_shape)
IN_TOP_K.kernel(lambda predictions, targets, *, k: _in_top_k(predictions, targets, k))


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Return whether each target is among the k best predictions of its row.

    Args:
      predictions: float32 [batch, classes].
      targets: int32 or int64 [batch].
      k: how many count as best.
      name: of the nodes' scope.

    Returns:
      bool [batch]; False where the target is no class or a prediction is not finite.

    Example:
      >>> Session().run(nn.in_top_k([[0.1, 0.9], [0.8, 0.2]], [1, 1], 1))
      array([ True, False])
    """
    with name_scope(name, "in_top_k", [predictions, targets]):
        tensor: Tensor = IN_TOP_K_V2(predictions, targets, k)
        return tensor
