"""One tensor to several along an axis: split, into equal pieces or by sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.shapes import Dim, Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert
from tfdist.graph.constant_values import constant_value
from tfdist.graph.op_def import Known, OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.concat import concat
from tfdist.ops.array.reshape import one_of
from tfdist.ops.framework.shared_values import or_zeros

__all__ = ["split"]

SPLIT = OpDef(
    "Split(split_dim: int32, value: T) -> output: num_split*T [num_split: int >=1; T: type]"
)


@SPLIT.shape
def split_shape(
    split_dim: Shape, value: Shape, *, split_dim_value: Any, num_split: int
) -> list[Shape]:
    if value is None:
        return [None] * num_split
    if split_dim_value is None:
        return [(None,) * len(value)] * num_split
    axis = _axis_in(int(split_dim_value.item()), len(value))
    dim = value[axis]
    if dim is not None and dim % num_split:
        raise InvalidArgumentError(
            f"Dimension size must be evenly divisible by {num_split} but is {dim}\n\t"
            "Number of ways to split should evenly divide the split dimension"
        )
    each = None if dim is None else dim // num_split
    return [(*value[:axis], each, *value[axis + 1 :])] * num_split


def _axis_in(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise InvalidArgumentError(
            f"Dimension size, given by scalar input {axis} must be in range [-{rank}, {rank})"
        )
    return axis % rank


def _axis_at(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise InvalidArgumentError(
            f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {axis}"
        )
    return axis % rank


@SPLIT.kernel
def split_kernel(split_dim: Any, value: Any, *, num_split: int) -> Any:
    split_dim = np.asarray(split_dim)
    if split_dim.size != 1:
        raise InvalidArgumentError(f"split_dim must be a scalar, but has shape {split_dim.shape}")
    axis = _axis_at(int(split_dim.item()), value.ndim)
    if value.shape[axis] % num_split:
        raise InvalidArgumentError(
            "Number of ways to split should evenly divide the split dimension, but got split_dim "
            f"{axis} (size = {value.shape[axis]}) and num_split {num_split}"
        )
    return np.split(value, num_split, axis)


@SPLIT.specialize
def split_specialized(known: Known) -> Any:
    """Return what cuts an axis of known length into equal pieces."""
    axis, shape, count = known.values[0], known.shapes[1], known.attrs["num_split"]
    if axis is None or shape is None or not -len(shape) <= axis < len(shape):
        return None
    at = int(axis) % len(shape)
    length = shape[at]
    if length is None or length % count:
        return None
    before, each = (slice(None),) * at, length // count
    indices = [(*before, slice(i * each, (i + 1) * each)) for i in range(count)]
    return lambda _, value: [value[index] for index in indices]


@SPLIT.gradient
def split_gradient(op: Any, *d_outputs: Any) -> Any:
    return None, concat(or_zeros(op, d_outputs), op.inputs[0])


SPLIT_V = OpDef(
    "SplitV(value: T, size_splits: Tlen, split_dim: int32) -> output: num_split*T "
    "[num_split: int >=1; T: type; Tlen: type = int64 {index}]"
)


@SPLIT_V.shape
def split_v_shape(
    value: Shape, size_splits: Shape, split_dim: Shape, *,
    size_splits_value: Any, split_dim_value: Any, num_split: int,
) -> list[Shape]:  # fmt: skip
    if value is None:
        return [None] * num_split
    if split_dim_value is None:
        return [(None,) * len(value)] * num_split
    axis = _axis_in(int(split_dim_value.item()), len(value))
    sizes = [-1] * num_split if size_splits_value is None else size_splits_value.tolist()
    if size_splits_value is not None and sizes.count(-1) > 1:
        raise InvalidArgumentError("size_splits can only have one -1")
    if sizes.count(-1) < 2:
        sizes = _full_sizes(sizes, value[axis])
    dims = [None if size < 0 else size for size in sizes]
    return [(*value[:axis], dim, *value[axis + 1 :]) for dim in dims]


def _full_sizes(sizes: list[int], total: Dim) -> list[int]:
    """Return `sizes` with its -1, if there is one, replaced by what remains of `total`."""
    if total is None:
        return sizes
    rest = total - sum(size for size in sizes if size >= 0)
    if rest < 0 or (rest and -1 not in sizes):
        pieces = ",".join(map(str, sizes))
        raise InvalidArgumentError(
            f"can't split axis of size {total} into pieces of size [{pieces}]"
        )
    return [rest if size == -1 else size for size in sizes]


@SPLIT_V.kernel
def split_v_kernel(value: Any, size_splits: Any, split_dim: Any) -> Any:
    axis = _axis_at(int(split_dim), value.ndim)
    given, total = size_splits.tolist(), value.shape[axis]
    if given.count(-1) > 1:
        raise InvalidArgumentError("There can only be one -1 in the input.")
    if sum(given) + given.count(-1) > total or (-1 not in given and sum(given) != total):
        raise InvalidArgumentError(
            "Determined shape must either match input shape along split_dim exactly if fully "
            "specified, or be less than the size of the input along split_dim if not fully "
            f"specified.  Got: {sum(given)}, of {given} for {total}"
        )
    sizes = _full_sizes(given, total)
    return np.split(value, np.cumsum(sizes[:-1]), axis)


@SPLIT_V.gradient
def split_v_gradient(op: Any, *d_outputs: Any) -> Any:
    return concat(or_zeros(op, d_outputs), op.inputs[2]), None, None


def split(
    value: Any, num_or_size_splits: Any = None, axis: Any = 0, num: int | None = None,
    name: str = "split", split_dim: Any = None, num_split: int | None = None,
) -> list[Tensor]:  # fmt: skip
    """Return the pieces of `value` along `axis`.

    Args:
      value: [d0, ..., dn].
      num_or_size_splits: an int: that many pieces of the same length; a list or vector: their
        lengths, of which one may be -1.
      axis: along which to split. `tf.split(axis, count, value)`, the order of the first releases,
        is understood as well: there the first argument is an int and the third one a tensor.
      num: how many pieces, where `num_or_size_splits` is a vector of unknown length.
      name: of the node.
      split_dim: the old name of `axis`.
      num_split: the old name of `num_or_size_splits`.

    Raises:
      ValueError: the lengths do not fit.

    Example: the same in both orders.
      >>> x = constant([[1, 2, 3, 4], [5, 6, 7, 8]])
      >>> Session().run([split(x, 2, 1)[1], split(1, 2, x)[1]])
      [array([[3, 4],
             [7, 8]], dtype=int32), array([[3, 4],
             [7, 8]], dtype=int32)]
    """
    axis = axis if split_dim is None else split_dim
    sizes = one_of(num_or_size_splits=num_or_size_splits, num_split=num_split)
    if _is_scalar(value):
        value, axis = axis, value
    known, sizes = sizes, convert.convert_to_tensor(sizes)  # a node, as TensorFlow has
    if not _is_scalar(known):
        count = _piece_count(sizes, num)
        if count >= 0:
            return raw.SplitV(value, sizes, axis, num_split=count, name=name)
        known = -count
    return raw.Split(axis, value, num_split=int(known), name=name)


def _is_scalar(value: Any) -> bool:
    return not hasattr(value, "_as_tensor") and np.ndim(value) == 0


def _piece_count(sizes: Tensor, num: int | None) -> int:
    """Return the number of pieces; negative if `sizes` is itself that number."""
    dims = sizes.plain_shape
    value = constant_value(sizes)
    if dims == () and value is not None:
        return -int(value)
    if num is None and (not dims or dims[0] is None):
        raise ValueError(f"split needs `num`: the length of {sizes!r} is not known")
    return dims[0] if num is None else num  # type: ignore[index, return-value]
