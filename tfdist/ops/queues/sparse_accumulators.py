"""Sparse conditional accumulators: gradients that are a few rows of a large tensor add up."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.queues import accumulators
from tfdist.ops.queues.accumulators import ConditionalAccumulatorBase

__all__ = ["SparseConditionalAccumulator"]

ACCUMULATOR = OpDef(
    "SparseConditionalAccumulator() -> handle: Ref(string) [dtype: type {numeric}; shape: shape; "
    "container: string = ''; shared_name: string = ''; "
    "reduction_type: string = 'MEAN' {MEAN,SUM}] !"
).not_differentiable()
APPLY = OpDef(
    "SparseAccumulatorApplyGradient(handle: Ref(string), local_step: int64, "
    "gradient_indices: int64, gradient_values: dtype, gradient_shape: int64) -> () "
    "[dtype: type {numeric}; has_known_shape: bool]",
    keeps_inputs=True,
).not_differentiable()
TAKE = OpDef(
    "SparseAccumulatorTakeGradient(handle: Ref(string), num_required: int32) -> indices: int64, "
    "values: dtype, shape: int64 [dtype: type {numeric}]"
).not_differentiable()

ACCUMULATOR.shape(lambda: (2,))


class Gradient(NamedTuple):
    """Some rows of a gradient.

    Attributes:
      indices: [n].
      values: [n, ...].
      shape: of the whole, None if it is not known.
    """

    indices: Any
    values: Any
    shape: tuple[int, ...] | None


class _Sparse:
    """What sparse gradients add up to: rows by index.

    As in TensorFlow a row counts as often as it was given, and the mean of a row is over those
    gradients that have it.

    Args:
      shape: of the whole, as far as it is known.
    """

    def __init__(self, shape: Shape) -> None:
        self._shape = shape or None  # a scalar's shape says nothing, as in TensorFlow
        self._row_shape: tuple[int, ...] | None = None
        self._rows: dict[int, Any] = {}
        self._counts: dict[int, int] = {}

    def add(self, gradient: Gradient) -> None:
        """See `runtime.resources.accumulators.Total`."""
        self._check(gradient)
        self._row_shape = np.shape(gradient.values)[1:]
        dtype = gradient.values.dtype
        self._empty = np.zeros((0, *self._row_shape), dtype)
        seen = set()
        for index, row in zip(gradient.indices.tolist(), gradient.values, strict=True):
            self._rows[index] = self._rows[index] + row if index in self._rows else row
            self._counts[index] = self._counts.get(index, 0) + (index not in seen)
            seen.add(index)

    def _check(self, gradient: Gradient) -> None:
        indices, values, shape = gradient
        _check_form(indices, values)
        row = np.shape(values)[1:]
        self._check_whole(shape, len(row) + 1)
        known = self._shape[1:] if self._shape is not None else (None,) * len(row)
        for dim, (wanted, got) in enumerate(zip(self._row_shape or known, row, strict=True), 1):
            if wanted is not None and wanted != got:
                raise InvalidArgumentError(
                    f"Shape mismatch: expected values dim {dim} to be {wanted}, got {got}"
                )
        whole = shape or self._shape or (None,)
        limit = whole[0]
        if limit is None:
            return
        over = np.flatnonzero(indices >= limit)
        if len(over):
            raise InvalidArgumentError(
                f"Shape mismatch: index of slice {over[0]} exceeded limits of shape; index is "
                f"{indices[over[0]]} exceeded {limit}"
            )

    def _check_whole(self, shape: tuple[int, ...] | None, rank: int) -> None:
        known = self._shape if self._shape is not None else (None,) * rank
        if rank < len(known):
            raise InvalidArgumentError(
                f"Shape mismatch: expected values rank at least {len(known)}, got {rank}"
            )
        if shape is None:
            return
        if len(shape) < len(known):
            raise InvalidArgumentError(
                f"Shape mismatch: expected shape rank at least {len(known)}, got {len(shape)}"
            )
        for dim, (wanted, got) in enumerate(zip(known, shape, strict=False)):
            if wanted is not None and wanted != got:
                raise InvalidArgumentError(
                    f"Shape mismatch: expected shape dim {dim} to be {wanted}, got {got}"
                )

    def take(self, divisor: int) -> tuple[Any, Any, Any]:
        """See `runtime.resources.accumulators.Total`; 1 stands for the sum."""
        indices = sorted(self._rows)
        rows = [self._row(index, divisor > 1) for index in indices]
        values = np.stack(rows) if rows else self._empty
        first = -1 if self._shape is None or self._shape[0] is None else self._shape[0]
        shape = np.array([first, *values.shape[1:]], np.int64)
        self._rows, self._counts, self._row_shape = {}, {}, None
        return np.array(indices, np.int64), values, shape

    def _row(self, index: int, is_mean: bool) -> Any:
        row = self._rows[index]
        return row / row.dtype.type(self._counts[index]) if is_mean else row


def _check_form(indices: Any, values: Any) -> None:
    """Raise InvalidArgumentError unless there is a row for each index."""
    if np.ndim(indices) != 1:
        raise InvalidArgumentError(
            "Input indices should be vector but received shape: "
            f"{accumulators.listed(np.shape(indices))}"
        )
    if np.ndim(values) < 1 or len(values) != len(indices):
        raise InvalidArgumentError(
            f"Expected {len(indices)} non-empty input values, got {np.shape(values)[:1] or 0}"
        )


@ACCUMULATOR.kernel
def sparse_conditional_accumulator_kernel(
    ctx: Any,
    *,
    dtype: DType,
    shape: TensorShape,
    container: bytes,
    shared_name: bytes,
    reduction_type: bytes,
) -> Any:
    return accumulators.find(
        ctx,
        "SparseConditionalAccumulator",
        _Sparse,
        dtype=dtype,
        shape=shape,
        container=container,
        shared_name=shared_name,
        reduction_type=reduction_type,
    )


@APPLY.kernel
def sparse_apply_gradient_kernel(
    handle: Any,
    local_step: Any,
    gradient_indices: Any,
    gradient_values: Any,
    gradient_shape: Any,
    *,
    has_known_shape: bool,
) -> None:
    shape = tuple(gradient_shape.tolist()) if has_known_shape else None
    handle.apply(Gradient(gradient_indices, gradient_values, shape), int(local_step))


@TAKE.kernel
def sparse_take_gradient_kernel(handle: Any, num_required: Any) -> Generator[Any, Any, Any]:
    return (yield accumulators.take(handle, num_required))


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Adds up sparse gradients, and gives the mean of each row when there are enough.

    A row's mean is over those gradients that have it.

    Args:
      dtype: of the gradients.
      shape: of the whole tensor, None if it is not known.
      shared_name: name by which other sessions on the same server find it; without it, each
        session has its own.
      name: of the node.
      reduction_type: "MEAN" or "SUM".

    Example:
      >>> import tfdist as tf
      >>> total = SparseConditionalAccumulator(float32, shape=[9, 1])
      >>> adds = [total.apply_grad([0], [[1.0]]), total.apply_grad([0, 7], [[3.0], [5.0]])]
      >>> mean, session = total.take_indexed_slices_grad(2), Session()
      >>> for add in adds:
      ...     session.run(add)
      >>> session.run([mean.indices, mean.values])
      [array([0, 7]), array([[2.],
             [5.]], dtype=float32)]
    """

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        accumulators.check_reduction(reduction_type)
        handle = raw.SparseConditionalAccumulator(
            dtype=dtypes.as_dtype(dtype),
            shape=TensorShape(shape),
            shared_name=shared_name or "",
            reduction_type=reduction_type,
            name=name,
        )
        super().__init__(dtype, shape, handle)

    def apply_grad(
        self,
        grad_indices: Any,
        grad_values: Any,
        grad_shape: Any = None,
        local_step: Any = 0,
        name: str | None = None,
    ) -> Operation:
        """Return an op that adds rows of a gradient, unless they are stale.

        Args:
          grad_indices: [n], which rows.
          grad_values: [n, ...], the rows.
          grad_shape: of the whole gradient, or None.
          local_step: the step in which it was computed.
          name: of the node.
        """
        step = accumulators.as_step(local_step)
        op: Operation = raw.SparseAccumulatorApplyGradient(
            self._accumulator_ref,
            step,
            cast(grad_indices, dtypes.int64),
            grad_values,
            cast([] if grad_shape is None else grad_shape, dtypes.int64),
            has_known_shape=grad_shape is not None,
            dtype=self.dtype,
            name=name,
        )
        return op

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None
    ) -> Operation:
        """Return an op that adds a gradient, unless it is stale; see `apply_grad`."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """Return indices, values and shape of the mean, once there are `num_required` gradients.

        Raises:
          InvalidArgumentError: when it runs and `num_required` is less than 1.
        """
        taken = raw.SparseAccumulatorTakeGradient(
            self._accumulator_ref, num_required, dtype=self.dtype, name=name
        )
        return Taken(*taken)

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> IndexedSlices:
        """Return the mean as IndexedSlices; see `take_grad`."""
        taken = self.take_grad(num_required, name)
        return IndexedSlices(taken.values, taken.indices, taken.shape)


class Taken(NamedTuple):
    """What a sparse accumulator gives."""

    indices: Tensor
    values: Tensor
    shape: Tensor
