"""Sums and means of the rows that indices name, segment by segment: what embeddings are made of.

Row i of the result is the sum, mean, or sum over the root of the count of data[indices[j]] for all
j with segment_ids[j] == i; the ids ascend, and a segment without rows gives zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.gather import check_indices
from tfdist.ops.array.shape import shape
from tfdist.ops.sparse import products_scipy
from tfdist.ops.sparse.products_scipy import MANY_NUMBERS

__all__ = ["sparse_segment_mean", "sparse_segment_sqrt_n", "sparse_segment_sum"]

Divisor = Callable[[Any], Any]

# What a sum is divided by, from the number of rows of each segment.
DIVISORS: dict[str, Divisor | None] = {"Sum": None, "Mean": lambda count: count, "SqrtN": np.sqrt}

_AT_A_TIME = 1 << 18  # numbers of one segment that are summed at once


def gathered_sums(rows: Any, indices: Any, places: Any, count: int) -> Any:
    """Return [count, ...]: the sums of the rows that `indices` name, by places, which ascend."""
    flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    sums = products_scipy.summed(places, indices, None, flat, count)
    if sums is None:
        return summed_rows(rows.take(indices, 0), places, count)
    return sums.reshape(count, *rows.shape[1:])


def summed_rows(rows: Any, places: Any, count: int) -> Any:
    """Return [count, ...]: the sums of the rows of equal place; `places` ascend."""
    output = np.zeros((count, *rows.shape[1:]), rows.dtype)
    if not len(places):
        return output
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    if rows.size < MANY_NUMBERS or rows[0].size < 32:
        output[places[starts]] = np.add.reduceat(rows, starts, axis=0, dtype=rows.dtype)
        return output
    segments = Segments(starts, np.diff(starts, append=len(places)))
    output[places[segments.starts]] = segments.summed(lambda some: rows.take(some, 0))
    return output


class Segments:
    """Neighbouring rows that are summed: the first ones of all segments, then the second ones.

    NumPy's `reduceat` is several times slower where there are many wide rows.
    """

    def __init__(self, starts: Any, lengths: Any) -> None:
        """Put segments into order.

        Args:
          starts: the first row of each.
          lengths: how many rows each has, 1 at least.
        """
        order = np.argsort(-lengths, kind="stable")
        self.starts, self.lengths = starts[order], lengths[order]  # the longest first

    def summed(self, terms: Callable[[Any], Any]) -> Any:
        """Return the sum of each segment.

        Args:
          terms: returns some of the rows, a new array.
        """
        sums = terms(self.starts)
        most = int(self.lengths[0])
        for turn in range(1, most):
            live = int(np.searchsorted(-self.lengths, -turn))  # segments that have such a row
            if live <= most - turn:  # fewer segments than turns are left
                for place in range(live):
                    self._add_rest(sums, place, turn, terms)
                break
            sums[:live] += terms(self.starts[:live] + turn)
        return sums

    def _add_rest(self, sums: Any, place: int, turn: int, terms: Callable[[Any], Any]) -> None:
        step = max(_AT_A_TIME // max(sums[0].size, 1), 1)
        start, length = int(self.starts[place]), int(self.lengths[place])
        for first in range(start + turn, start + length, step):
            rows = terms(np.arange(first, min(first + step, start + length)))
            sums[place] += np.add.reduce(rows, axis=0, dtype=rows.dtype)


def _check(data: Any, indices: Any, ids: Any) -> None:
    if len(indices) != len(ids):
        raise InvalidArgumentError(
            f"segment_ids and indices should have same size, but are {len(ids)} and {len(indices)}"
        )
    check_indices(indices, len(data))
    if len(ids) and (ids[0] < 0 or (np.diff(ids) < 0).any()):
        raise InvalidArgumentError(f"segment ids are not increasing from 0: {ids.tolist()[:20]}")


def _divisors(divisor: Divisor, ids: Any, count: int, like: Any) -> Any:
    """Return what each segment's sum is divided by, as a column as `like` has rows."""
    sizes = np.maximum(np.bincount(ids, minlength=count), 1)
    column = (-1, *[1] * (like.ndim - 1))
    return divisor(sizes.astype(like.dtype)).reshape(column)


def _reduced(divisor: Divisor | None, data: Any, indices: Any, ids: Any, count: int) -> Any:
    check_room((count, *data.shape[1:]), data.dtype)
    sums = gathered_sums(data, indices, ids, count)
    if divisor is not None:
        sums /= _divisors(divisor, ids, count, sums)
    return sums


def _reducing(kind: str, types: str) -> tuple[OpDef, OpDef]:
    """Return the op, and the one that is told the number of segments."""
    typed = f"T: type {{{types}}}; Tidx: type = int32 {{index}}"
    plain = OpDef(
        f"SparseSegment{kind}(data: T, indices: Tidx, segment_ids: int32) -> output: T [{typed}]"
    )
    numbered = OpDef(
        f"SparseSegment{kind}WithNumSegments(data: T, indices: Tidx, segment_ids: int32, "
        f"num_segments: Tnumsegments) -> output: T "
        f"[{typed}; Tnumsegments: type = int32 {{index}}]"
    )
    divisor = DIVISORS[kind]

    @plain.kernel
    def kernel(data: Any, indices: Any, segment_ids: Any) -> Any:
        _check(data, indices, segment_ids)
        count = int(segment_ids[-1]) + 1 if len(segment_ids) else 0
        return _reduced(divisor, data, indices, segment_ids, count)

    @numbered.kernel
    def numbered_kernel(data: Any, indices: Any, segment_ids: Any, num_segments: Any) -> Any:
        _check(data, indices, segment_ids)
        if len(segment_ids) and segment_ids[-1] >= num_segments:
            raise InvalidArgumentError(
                f"segment ids must be < num_segments: {segment_ids[-1]} is not < {num_segments}"
            )
        return _reduced(divisor, data, indices, segment_ids, int(num_segments))

    plain.checked_shape(_shape)
    numbered.checked_shape(_numbered_shape)
    return plain, numbered


def _shape(data: Shape, indices: Shape, segment_ids: Shape) -> Shape:
    shapes.require_rank(indices, "indices", 1)
    shapes.require_rank(segment_ids, "segment_ids", 1)
    shapes.merge(indices, segment_ids, "indices and segment_ids")
    return None if data is None else (None, *data[1:])


def _numbered_shape(
    data: Shape, indices: Shape, segment_ids: Shape, num_segments: Shape, *, num_segments_value: Any
) -> Shape:
    found = _shape(data, indices, segment_ids)
    count = None if num_segments_value is None else int(num_segments_value)
    return None if found is None else (count, *found[1:])


SUM, NUMBERED_SUM = _reducing("Sum", "real")
MEAN, NUMBERED_MEAN = _reducing("Mean", "float32,float64")
SQRT_N, NUMBERED_SQRT_N = _reducing("SqrtN", "float32,float64")


# gradients


def _length(op: Any) -> Tensor:
    """Return the number of rows of an op's data."""
    dims = shape(op.inputs[0])
    tensor: Tensor = raw.StridedSlice(dims, [0], [1], [1], shrink_axis_mask=1, name="strided_slice")
    return tensor


def _sum_gradient(op: Any, d_output: Any) -> Any:
    _, indices, ids, *others = op.inputs
    length = _length(op)
    rows = raw.GatherV2(d_output, ids, 0)
    return raw.UnsortedSegmentSum(rows, indices, length), *[None] * (2 + len(others))


def _scaled_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    def gradient(op: Any, d_output: Any) -> Any:
        _, indices, ids, *others = op.inputs
        return function(d_output, indices, ids, _length(op)), *[None] * (2 + len(others))

    return gradient


def _spreading(kind: str) -> OpDef:
    """Return the op that spreads the rows of a gradient over those of the data."""
    op_def = OpDef(
        f"SparseSegment{kind}Grad(grad: T, indices: Tidx, segment_ids: int32, output_dim0: int32) "
        "-> output: T [T: type {float32,float64}; Tidx: type = int32 {index}]"
    ).not_differentiable()
    divisor = DIVISORS[kind]

    @op_def.kernel
    def kernel(grad: Any, indices: Any, segment_ids: Any, output_dim0: Any) -> Any:
        _check(np.empty(int(output_dim0)), indices, segment_ids)
        check_indices(segment_ids, len(grad))
        assert divisor is not None
        shares = grad / _divisors(divisor, segment_ids, len(grad), grad)
        order = np.argsort(indices, kind="stable")
        return gathered_sums(shares, segment_ids[order], indices[order], int(output_dim0))

    op_def.checked_shape(_spread_shape)
    return op_def


def _spread_shape(
    grad: Shape, indices: Shape, segment_ids: Shape, output_dim0: Shape, *, output_dim0_value: Any
) -> Shape:
    return _numbered_shape(
        grad, indices, segment_ids, output_dim0, num_segments_value=output_dim0_value
    )


MEAN_GRAD, SQRT_N_GRAD = _spreading("Mean"), _spreading("SqrtN")

for _op_def in (SUM, NUMBERED_SUM):
    _op_def.gradient(_sum_gradient)
for _op_def in (MEAN, NUMBERED_MEAN):
    _op_def.gradient(_scaled_gradient(MEAN_GRAD))
for _op_def in (SQRT_N, NUMBERED_SQRT_N):
    _op_def.gradient(_scaled_gradient(SQRT_N_GRAD))


def _public(plain: OpDef, numbered: OpDef, public: str, what: str, result: str) -> Any:
    def function(
        data: Any, indices: Any, segment_ids: Any, name: str | None = None, num_segments: Any = None
    ) -> Tensor:
        tensor: Tensor
        if num_segments is None:
            tensor = plain(data, indices, segment_ids, name=name)
        else:
            tensor = numbered(data, indices, segment_ids, num_segments, name=name)
        return tensor

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return {what} of the rows that `indices` name, for each segment.

    Args:
      data: [rows, ...].
      indices: integers [n], which rows.
      segment_ids: integers [n], ascending from 0: to which segment each of them belongs.
      name: of the node.
      num_segments: how many segments there are; the last id + 1 by default.

    Returns:
      [number of segments, ...]; zeros where a segment has no rows.

    Raises:
      InvalidArgumentError: the ids are not ascending, or an index is out of range (when it runs).

    Example:
      >>> Session().run({public}([[1.0, 2.0], [3.0, 6.0]], [0, 1, 1], [0, 0, 2]))
      {result}
    """
    return function


_TWO_ROWS = "array([[{}],\n             [0., 0.],\n             [3., 6.]], dtype=float32)"
sparse_segment_sum = _public(
    SUM, NUMBERED_SUM, "sparse_segment_sum", "the sum", _TWO_ROWS.format("4., 8.")
)
sparse_segment_mean = _public(
    MEAN, NUMBERED_MEAN, "sparse_segment_mean", "the mean", _TWO_ROWS.format("2., 4.")
)
sparse_segment_sqrt_n = _public(
    SQRT_N, NUMBERED_SQRT_N, "sparse_segment_sqrt_n", "the sum over the root of the number",
    "array([[2.828427, 5.656854],\n             [0.      , 0.      ],\n"
    "             [3.      , 6.      ]], dtype=float32)",
)  # fmt: skip
