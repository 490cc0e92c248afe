"""Conditional accumulators: gradients add up in a server until somebody takes their mean.

A gradient carries the step in which it was computed; those of steps that are over are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.framework.op_aliases import Spellings, of_handles

__all__ = ["ConditionalAccumulator", "ConditionalAccumulatorBase"]

_MADE = (
    "[dtype: type {numeric}; shape: shape; container: string = ''; shared_name: string = ''; "
    "reduction_type: string = 'MEAN' {MEAN,SUM}] !"
)
_TYPE = "[dtype: type {numeric}]"


def _both(op: str, inputs: str, outputs: str, attrs: str = "") -> Spellings:
    """Return both spellings of an op on an accumulator; only the older one takes sparse ones."""
    attrs = f" {attrs}" if attrs else ""
    return Spellings(
        OpDef(f"{op}(handle: Ref(string){inputs}) -> {outputs}{attrs}"),
        OpDef(f"Resource{op}(handle: resource{inputs}) -> {outputs}{attrs} !"),
    ).not_differentiable()


ACCUMULATOR = Spellings(
    OpDef(f"ConditionalAccumulator() -> handle: Ref(string) {_MADE}"),
    OpDef(f"ResourceConditionalAccumulator() -> handle: resource {_MADE}"),
).not_differentiable()
APPLY = _both("AccumulatorApplyGradient", ", local_step: int64, gradient: dtype", "()", _TYPE)
TAKE = _both("AccumulatorTakeGradient", ", num_required: int32", "average: dtype", _TYPE)
COUNT = _both("AccumulatorNumAccumulated", "", "num_accumulated: int32")
SET_STEP = _both("AccumulatorSetGlobalStep", ", new_global_step: int64", "()")

of_handles(ACCUMULATOR)


class _Dense:
    """What gradients of one shape add up to.

    Args:
      shape: that they must have, as far as it is known.
    """

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._total: Any = None

    def add(self, gradient: Any) -> None:
        """See `runtime.resources.accumulators.Total`."""
        got = np.shape(gradient)
        if not shapes.compatible(got, self._shape):
            raise InvalidArgumentError(
                f"Shape mismatch: expected {listed(self._shape)}, got {listed(got)}"
            )
        self._shape = got  # from now on, as in TensorFlow
        if self._total is None:
            self._total = np.array(gradient)
        else:
            self._total += gradient

    def take(self, divisor: int) -> Any:
        """See `runtime.resources.accumulators.Total`."""
        total, self._total = self._total, None
        return total if divisor == 1 else (total / divisor).astype(total.dtype)


def listed(shape: Shape) -> str:
    """Return a shape as TensorFlow's kernels print it."""
    return f"[{','.join('?' if dim is None else str(dim) for dim in shape or ())}]"


def find(
    ctx: Any,
    kind: str,
    total: Callable[[Shape], Any],
    *,
    dtype: DType,
    shape: TensorShape,
    container: bytes,
    shared_name: bytes,
    reduction_type: bytes,
) -> Any:
    """Return the accumulator of that name; the session's own one of the node if there is none."""
    shown = shared_name.decode() or ctx.node_name
    is_mean, plain = reduction_type == b"MEAN", shape.as_tuple()

    def make(Accumulator: Any) -> Any:
        identity = (kind, dtype)
        return Accumulator(shown, total(plain), is_mean, kind, container.decode(), identity)

    name = shown if shared_name else ctx.own_name()
    accumulator = ctx.resource("accumulator", container, name, make)
    if accumulator.identity != (kind, dtype):
        there, of = accumulator.identity
        raise InvalidArgumentError(
            f"Shared conditional accumulator {shown!r} is a {there} of {of.name} but requested "
            f"was a {kind} of {dtype.name}"
        )
    return accumulator


@ACCUMULATOR.kernel
def conditional_accumulator_kernel(
    ctx: Any,
    *,
    dtype: DType,
    shape: TensorShape,
    container: bytes,
    shared_name: bytes,
    reduction_type: bytes,
) -> Any:
    return find(
        ctx,
        "ConditionalAccumulator",
        _Dense,
        dtype=dtype,
        shape=shape,
        container=container,
        shared_name=shared_name,
        reduction_type=reduction_type,
    )


@APPLY.kernel
def apply_gradient_kernel(handle: Any, local_step: Any, gradient: Any, *, dtype: DType) -> None:
    _check_type(handle, dtype)
    handle.apply(gradient, int(local_step))


@TAKE.kernel
def take_gradient_kernel(
    handle: Any, num_required: Any, *, dtype: DType
) -> Generator[Any, Any, Any]:
    _check_type(handle, dtype)
    return (yield take(handle, num_required))


def take(handle: Any, num_required: Any) -> Any:
    """Return the wait for a mean of `num_required` gradients; InvalidArgumentError below 1."""
    if num_required < 1:
        raise InvalidArgumentError(
            f"Argument num_required must be positive, but was {num_required}"
        )
    return handle.take(int(num_required))


def _check_type(handle: Any, dtype: DType) -> None:
    kind, held = handle.identity
    if held is not dtype:
        raise InvalidArgumentError(f"{kind} {handle.name!r} is of {held.name}, not {dtype.name}")


@COUNT.shape
def num_accumulated_shape(handle: Shape) -> Shape:
    return ()


@COUNT.kernel
def num_accumulated_kernel(handle: Any) -> Any:
    return np.int32(handle.count())


@SET_STEP.kernel
def set_global_step_kernel(handle: Any, new_global_step: Any) -> None:
    handle.set_step(int(new_global_step))


def check_reduction(reduction_type: str) -> None:
    """Raise ValueError if there is no such reduction."""
    if reduction_type not in ("MEAN", "SUM"):
        raise ValueError(f"reduction_type is {reduction_type!r}; there are 'MEAN' and 'SUM'")


# the public classes


class ConditionalAccumulatorBase:
    """What both kinds of accumulators can do; made by a subclass.

    Args:
      dtype: of the gradients.
      shape: of the gradients, None if it is not known.
      accumulator_ref: tensor of the accumulator's handle.
    """

    def __init__(self, dtype: Any, shape: Any, accumulator_ref: Tensor) -> None:
        self._dtype = dtype
        self._shape = TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.split("/")[-1]

    @property
    def accumulator_ref(self) -> Tensor:
        """Return the tensor of the accumulator's handle."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """Return the name of the accumulator's node."""
        return self._name

    @property
    def dtype(self) -> DType:
        """Return the type of the gradients."""
        return dtypes.as_dtype(self._dtype)

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """Return an int32 tensor: how many gradients have added up."""
        name = name or f"{self._name}_NumAccumulated"
        tensor: Tensor = COUNT(self._accumulator_ref, name=name)
        return tensor

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Operation:
        """Return an op that sets the current step: gradients of earlier ones are dropped.

        Args:
          new_global_step: the step; what is less than the current one changes nothing.
          name: of the node.
        """
        step = as_step(new_global_step)
        op: Operation = SET_STEP(self._accumulator_ref, step, name=name)
        return op


def as_step(step: Any) -> Tensor:
    """Return a step's number as int64."""
    return cast(convert.convert_to_tensor(step), dtypes.int64)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Adds up gradients, and gives their mean when there are enough.

    Args:
      dtype: of the gradients.
      shape: of the gradients, None if it is not known.
      shared_name: name by which other sessions on the same server find it; without it, each
        session has its own.
      name: of the node.
      reduction_type: "MEAN" or "SUM".

    Raises:
      ValueError: there is no such reduction.

    Example:
      >>> import tfdist as tf
      >>> total = tf.ConditionalAccumulator(tf.float32, shape=[2])
      >>> add, mean = total.apply_grad([1.0, 3.0]), total.take_grad(2)
      >>> session = tf.Session()
      >>> session.run(add)
      >>> session.run(add)
      >>> session.run(mean)
      array([1., 3.], dtype=float32)
    """

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        check_reduction(reduction_type)
        handle = raw.ResourceConditionalAccumulator(
            dtype=dtypes.as_dtype(dtype),
            shape=TensorShape(shape),
            shared_name=shared_name or "",
            reduction_type=reduction_type,
            name=name,
        )
        super().__init__(dtype, shape, handle)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Operation:
        """Return an op that adds a gradient, unless it is stale.

        Args:
          grad: the gradient.
          local_step: the step in which it was computed.
          name: of the node.

        Raises:
          ValueError: its shape does not fit.
        """
        gradient = convert.convert_to_tensor(grad, self._dtype)
        gradient.shape.assert_is_compatible_with(self._shape)
        step = as_step(local_step)
        op: Operation = APPLY(self._accumulator_ref, step, gradient, name=name)
        return op

    def take_grad(self, num_required: Any, name: str | None = None) -> Tensor:
        """Return the mean of the gradients, once there are `num_required` at least.

        The accumulator is empty then, and its step is one further.

        Raises:
          InvalidArgumentError: when it runs and `num_required` is less than 1.
        """
        mean: Tensor = TAKE(self._accumulator_ref, num_required, dtype=self.dtype, name=name)
        mean.set_shape(self._shape)
        return mean
