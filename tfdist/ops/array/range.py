"""Tensors of counted values: range and linspace, and the grids and masks made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.shape import shape as shape_of
from tfdist.ops.framework.shared_values import refine

__all__ = ["lin_space", "linspace", "meshgrid", "range", "sequence_mask"]

_range = range  # Python's; `tf.range` takes the name below

RANGE = OpDef(
    "Range(start: Tidx, limit: Tidx, delta: Tidx) -> output: Tidx "
    "[Tidx: type = int32 {bfloat16,float32,float64,int32,int64}]"
)


@RANGE.shape
def range_shape(
    start: Shape, limit: Shape, delta: Shape, *,
    start_value: Any, limit_value: Any, delta_value: Any,
) -> Shape:  # fmt: skip
    for what, each in (("start", start), ("limit", limit), ("delta", delta)):
        shapes.require_rank(each, what, 0)
    if start_value is None or limit_value is None or delta_value is None:
        return (None,)
    _check_range(start_value, limit_value, delta_value)
    return (max(0, int(np.ceil((limit_value - start_value) / delta_value))),)


_LONG, _LONGEST = 2.0**16, 2.0**62


def _check_range(start: Any, limit: Any, delta: Any) -> None:
    if not delta:
        raise InvalidArgumentError("Requires delta != 0: 0")
    if not (limit - start if delta > 0 else start - limit) >= 0:  # NaN gets nowhere either
        sign, goes = (">", "<=") if delta > 0 else ("<", ">=")
        raise InvalidArgumentError(
            f"Requires start {goes} limit when delta {sign} 0: {start:g}/{limit:g}"
        )


@RANGE.kernel
def range_kernel(start: Any, limit: Any, delta: Any) -> Any:
    _check_range(start, limit, delta)
    length = (float(limit) - float(start)) / float(delta)
    if length > _LONG:  # not where it is no number
        check_room([min(length, _LONGEST)], start.dtype)
    if start.dtype.kind == "V":  # bfloat16, which arange does not know
        return np.arange(float(start), float(limit), float(delta)).astype(start.dtype)
    return np.arange(start, limit, delta, dtype=start.dtype)


@RANGE.gradient
def range_gradient(op: Any, d_output: Any) -> Any:
    steps = raw.Cast(range(0, shape_of(d_output)[0]), DstT=d_output.dtype)  # type: ignore[index]
    return raw.Sum(d_output, [0]), None, raw.Sum(raw.Mul(d_output, steps), [0])


_RANGE_TYPES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


def range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range"
) -> Tensor:
    """Return the numbers from `start` by `delta` to just before `limit`.

    Args:
      start: a scalar; the only argument is `limit`, and starts at 0.
      limit: a scalar.
      delta: a scalar, not 0.
      dtype: of the numbers; by default the widest of int32, int64, float32, float64 among the
        arguments.
      name: of the node.

    Raises:
      ValueError: `delta` is 0, or leads away from `limit`.

    Example:
      >>> Session().run(range(1, 10, 3))
      array([1, 4, 7], dtype=int32)
    """
    if limit is None:
        start, limit = 0, start
    with scopes.name_scope(name, None, [start, limit, delta]) as scope:
        given = (("start", start), ("limit", limit), ("delta", delta))
        ends = [convert.convert_to_tensor(value, dtype, key) for key, value in given]
        wanted = max((end.dtype.base_dtype for end in ends), key=_width)
        return raw.Range(*[_cast(end, wanted) for end in ends], name=scope)


def _width(dtype: DType) -> int:
    return _RANGE_TYPES.index(dtype) if dtype in _RANGE_TYPES else -1


def _cast(tensor: Tensor, dtype: DType) -> Tensor:
    return tensor if tensor.dtype.base_dtype is dtype else raw.Cast(tensor, DstT=dtype)


LIN_SPACE = OpDef(
    "LinSpace(start: T, stop: T, num: Tidx) -> output: T "
    "[T: type {bfloat16,float32,float64}; Tidx: type = int32 {index}]"
)


@LIN_SPACE.shape
def lin_space_shape(start: Shape, stop: Shape, num: Shape, *, num_value: Any) -> Shape:
    return (None if num_value is None else _positive(int(num_value)),)


def _positive(num: int) -> int:
    if num <= 0:
        raise InvalidArgumentError(f"Requires num > 0: {num}")
    return num


@LIN_SPACE.kernel
def lin_space_kernel(start: Any, stop: Any, num: Any) -> Any:
    count = _positive(int(num))
    check_room([count], np.float64)
    return np.linspace(start.astype(float), stop.astype(float), count).astype(start.dtype)


@LIN_SPACE.gradient
def lin_space_gradient(op: Any, d_output: Any) -> Any:
    start, _, num = op.inputs
    one = convert.constant(1, start.dtype)
    weights = raw.LinSpace(raw.ZerosLike(one), one, num)
    d_stop = raw.Sum(raw.Mul(d_output, weights), [0])
    return raw.Sub(raw.Sum(d_output, [0]), d_stop), d_stop, None


def linspace(start: Any, stop: Any, num: Any, name: str | None = None) -> Tensor:
    """Return `num` numbers at equal distances from `start` to `stop`, both included.

    Args:
      start: a float scalar.
      stop: a float scalar.
      num: how many, 1 at least.
      name: of the node.

    Example:
      >>> Session().run(linspace(0.0, 1.0, 5))
      array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    result: Tensor = raw.LinSpace(start, stop, num, name=name)
    return result


lin_space = linspace


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool_, name: str | None = None
) -> Tensor:
    """Return which of the first `maxlen` places each length covers.

    Args:
      lengths: integers [d0, ..., dn].
      maxlen: a scalar; by default the greatest length.
      dtype: of the result, 1 for True.
      name: prefix for the nodes.

    Returns:
      [d0, ..., dn, maxlen].

    Raises:
      ValueError: maxlen is no scalar.

    Example:
      >>> Session().run(sequence_mask([1, 3], 4, "int32"))
      array([[1, 0, 0, 0],
             [1, 1, 1, 0]], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype)
    with scopes.name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert.convert_to_tensor(lengths)
        end = _longest(lengths) if maxlen is None else convert.convert_to_tensor(maxlen)
        if end.plain_shape:
            raise ValueError("maxlen must be scalar for sequence_mask")
        ends = convert.constant(0, end.dtype), end, convert.constant(1, end.dtype)
        places, rows = raw.Range(*ends), raw.ExpandDims(lengths, -1)
        covered = _cast(raw.Less(places, raw.Cast(rows, DstT=end.dtype.base_dtype)), dtype)
        known = constant_value(lengths)
        if maxlen is None and known is not None:
            covered.set_shape((*known.shape, max(0, int(known.max(initial=0)))))
        return covered


def _longest(lengths: Tensor) -> Tensor:
    """Return the greatest length, 0 if there is none."""
    known = lengths.plain_shape
    if known is None:
        axes: Any = range(0, raw.Rank(lengths), name="Range")
    else:
        axes = convert.constant(np.arange(len(known), dtype=np.int32))
    most = raw.Max(lengths, axes)
    longest: Tensor = raw.Maximum(convert.constant(0, lengths.dtype.base_dtype), most)
    return longest


def meshgrid(*args: Any, indexing: str = "xy", name: str = "meshgrid") -> list[Tensor]:
    """Return the coordinates of a grid, one tensor for each of the axes `args`.

    Args:
      args: vectors.
      indexing: "xy" swaps the first two axes of the result, as pictures have them; "ij" does not.
      name: prefix for the nodes.

    Example:
      >>> Session().run(meshgrid([1, 2], [3, 4, 5])[0])
      array([[1, 2],
             [1, 2],
             [1, 2]], dtype=int32)
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing parameter must be either 'xy' or 'ij', got {indexing!r}")
    with scopes.name_scope(name):
        order = list(_range(len(args)))
        if indexing == "xy" and len(args) > 1:
            order[0], order[1] = 1, 0
        vectors = [convert.convert_to_tensor(each) for each in args]
        dims = raw.Pack([raw.Size(vectors[axis]) for axis in order])
        return [_along(vector, order.index(i), dims) for i, vector in enumerate(vectors)]


def _along(vector: Tensor, axis: int, dims: Tensor) -> Tensor:
    own = [1] * (dims.shape.as_list()[0] or 0)
    own[axis] = -1
    return refine(raw.BroadcastTo(raw.Reshape(vector, own), dims), dims)
