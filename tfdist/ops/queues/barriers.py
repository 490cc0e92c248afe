"""Barriers: the components of an element come one by one, under its key, and leave together."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.constant_values import constant_value
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.queues.queue_kinds import require_defined
from tfdist.ops.queues.queue_ops import type_names

__all__: list[str] = []  # TensorFlow has no public name for it either

BARRIER = OpDef(
    "Barrier() -> handle: Ref(string) [component_types: list(type) >=1; shapes: list(shape) = []; "
    "capacity: int = -1; container: string = ''; shared_name: string = ''] !"
).not_differentiable()
INSERT_MANY = OpDef(
    "BarrierInsertMany(handle: Ref(string), keys: string, values: T) -> () "
    "[T: type; component_index: int]",
    keeps_inputs=True,
).not_differentiable()
TAKE_MANY = OpDef(
    "BarrierTakeMany(handle: Ref(string), num_elements: int32) -> indices: int64, keys: string, "
    "values: component_types [component_types: list(type) >=1; allow_small_batch: bool = False; "
    "wait_for_incomplete: bool = False; timeout_ms: int = -1]"
).not_differentiable()
CLOSE = OpDef(
    "BarrierClose(handle: Ref(string)) -> () [cancel_pending_enqueues: bool = False]"
).not_differentiable()
READY_SIZE = OpDef("BarrierReadySize(handle: Ref(string)) -> size: int32").not_differentiable()
INCOMPLETE_SIZE = OpDef(
    "BarrierIncompleteSize(handle: Ref(string)) -> size: int32"
).not_differentiable()

BARRIER.shape(lambda: (2,))


@BARRIER.kernel
def barrier_kernel(
    ctx: Any,
    *,
    component_types: list[DType],
    shapes: list[TensorShape],
    container: bytes,
    shared_name: bytes,
) -> Any:
    shown = shared_name.decode() or ctx.node_name
    plain = [shape.as_tuple() for shape in shapes]
    name = shown if shared_name else ctx.own_name()
    found = ctx.resource(
        "barrier",
        container,
        name,
        lambda Barrier: Barrier(shown, component_types, plain, container.decode()),
    )
    if found.dtypes != component_types:
        raise InvalidArgumentError(
            f"Shared barrier {shown!r} has component types {type_names(found.dtypes)} but "
            f"requested component types were {type_names(component_types)}"
        )
    return found


@INSERT_MANY.kernel
def insert_many_kernel(
    handle: Any, keys: Any, values: Any, *, T: DType, component_index: int
) -> None:
    _check(handle, keys, values, T, component_index)
    handle.insert(component_index, list(zip(as_elements(keys), values, strict=True)))


def _check(barrier: Any, keys: Any, values: Any, dtype: DType, index: int) -> None:
    if not 0 <= index < len(barrier.dtypes):
        raise InvalidArgumentError(
            f"component_index {index} is not among the {len(barrier.dtypes)} components of "
            f"barrier {barrier.name!r}"
        )
    if barrier.dtypes[index] is not dtype:
        raise InvalidArgumentError(
            f"component {index} of barrier {barrier.name!r} is of {barrier.dtypes[index].name}, "
            f"not {dtype.name}"
        )
    told = barrier.shapes[index] if barrier.shapes else None
    wanted = () if told is None else told  # of elements that nobody told of it takes scalars
    got = np.shape(values)
    if np.ndim(keys) != 1 or got[:1] != np.shape(keys):
        raise InvalidArgumentError(
            f"Shape mismatch: {np.shape(keys)} keys with values of shape {got}: barrier "
            f"{barrier.name!r} takes a vector of keys, and a value for each"
        )
    if not shapes.compatible(got[1:], wanted):
        raise InvalidArgumentError(
            # behind the indices and the keys that a barrier gives as well
            f"Shape mismatch in tuple component {index + 2}. Expected {_sizes(wanted)}, got "
            f"{_sizes(got[1:])} in barrier {barrier.name!r}"
        )


def _sizes(shape: Any) -> str:
    """Return a shape as such messages have it: "[2,3]"."""
    return f"[{','.join('?' if dim is None else str(dim) for dim in shape)}]"


@TAKE_MANY.kernel
def take_many_kernel(
    handle: Any,
    num_elements: Any,
    *,
    component_types: list[DType],
    allow_small_batch: bool,
) -> Generator[Any, Any, Any]:
    if handle.dtypes != component_types:
        raise InvalidArgumentError(
            f"barrier {handle.name!r} has component types {type_names(handle.dtypes)}, not "
            f"{type_names(component_types)}"
        )
    elements = []
    if num_elements > 0:
        elements = yield handle.take(int(num_elements), allow_small_batch)
    keys = np.empty(len(elements), object)
    keys[:] = [each.key for each in elements]
    indices = np.array([each.number for each in elements], np.int64)
    return indices, keys, *_columns(handle, elements)


def _columns(barrier: Any, elements: Sequence[Any]) -> list[Any]:
    return [
        np.stack([np.asarray(each.components[i], dtype.as_numpy_dtype) for each in elements])
        if elements
        else np.zeros((0, *(barrier.shapes[i] or ())), dtype.as_numpy_dtype)
        for i, dtype in enumerate(barrier.dtypes)
    ]


@CLOSE.kernel
def close_kernel(handle: Any, *, cancel_pending_enqueues: bool) -> None:
    handle.close(cancel_pending_enqueues)


@READY_SIZE.shape
@INCOMPLETE_SIZE.shape
def size_shape(handle: Shape) -> Shape:
    return ()


@READY_SIZE.kernel
def ready_size_kernel(handle: Any) -> Any:
    return np.int32(handle.ready_size())


@INCOMPLETE_SIZE.kernel
def incomplete_size_kernel(handle: Any) -> Any:
    return np.int32(handle.incomplete_size())


class Taken(NamedTuple):
    """Whole elements that a barrier gives, along the first dimension."""

    indices: Tensor
    keys: Tensor
    values: list[Tensor]


class Barrier:
    """Collects the components of elements by key, and gives those that are whole.

    Args:
      types: list of the components' types, or one type.
      shapes: list of the components' shapes, which are known; all are scalars without it.
      shared_name: name by which other sessions on the same server find it; without it, each
        session has its own.
      name: of the node.

    Raises:
      ValueError: a shape is not fully known, or is empty.

    Example:
      >>> import tfdist as tf
      >>> barrier = Barrier([tf.int32, tf.string], shapes=[[], []])
      >>> numbers = barrier.insert_many(0, ["a", "b"], [1, 2])
      >>> words = barrier.insert_many(1, ["b"], ["two"])
      >>> whole, session = barrier.take_many(1), tf.Session()
      >>> session.run([numbers, words])
      [None, None]
      >>> session.run([whole.keys, *whole.values])
      [array([b'b'], dtype=object), array([2], dtype=int32), array([b'two'], dtype=object)]
    """

    def __init__(
        self, types: Any, shapes: Any = None, shared_name: str | None = None, name: str = "barrier"
    ) -> None:
        listed = list(types) if isinstance(types, list | tuple) else [types]
        self._types = [dtypes.as_dtype(each) for each in listed]
        self._shapes = [TensorShape(each) for each in shapes or [None] * len(listed)]
        if shapes is not None:
            _require_elements(self._shapes)
        self._barrier_ref: Tensor = raw.Barrier(
            component_types=self._types,
            shapes=self._shapes,
            shared_name=shared_name or "",
            name=name,
        )
        self._name = self._barrier_ref.op.name.split("/")[-1]

    @property
    def barrier_ref(self) -> Tensor:
        """Return the tensor of the barrier's handle."""
        return self._barrier_ref

    @property
    def name(self) -> str:
        """Return the name of the barrier's node."""
        return self._barrier_ref.op.name

    def insert_many(
        self, component_index: int, keys: Any, values: Any, name: str | None = None
    ) -> Operation:
        """Return an op that adds a component to the elements of some keys.

        Args:
          component_index: which component.
          keys: [n] strings.
          values: [n, ...].
          name: of the node.

        Raises:
          InvalidArgumentError: when it runs and a key has that component already.
          CancelledError: when it runs, the barrier is closed and a key is new.
        """
        op: Operation = raw.BarrierInsertMany(
            self._barrier_ref,
            keys,
            values,
            component_index=component_index,
            T=self._types[component_index] if component_index < len(self._types) else None,
            name=name or f"{self._name}_BarrierInsertMany",
        )
        return op

    def take_many(
        self,
        num_elements: Any,
        allow_small_batch: bool = False,
        timeout: int | None = None,
        name: str | None = None,
    ) -> Taken:
        """Return whole elements, once there are `num_elements`.

        Args:
          num_elements: how many.
          allow_small_batch: whether a closed barrier may give fewer.
          timeout: has no effect, as in TensorFlow.
          name: of the node.

        Returns:
          Their indices (which tell what came first), keys and components.

        Raises:
          OutOfRangeError: when it runs and the barrier is closed with fewer elements.
        """
        indices, keys, *values = raw.BarrierTakeMany(
            self._barrier_ref,
            num_elements,
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            timeout_ms=-1 if timeout is None else timeout,
            name=name or f"{self._name}_BarrierTakeMany",
        )
        count = None if allow_small_batch else constant_value(indices.op.inputs[1])
        lead = TensorShape([None if count is None else int(count)])
        for output, shape in zip((indices, keys, *values), ((), (), *self._shapes), strict=True):
            output.set_shape(lead.concatenate(shape))
        return Taken(indices, keys, values)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """Return an op that closes the barrier: no more keys are taken in.

        Args:
          cancel_pending_enqueues: whether elements that lack a component are forgotten.
          name: of the node.
        """
        op: Operation = raw.BarrierClose(
            self._barrier_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
            name=name or f"{self._name}_BarrierClose",
        )
        return op

    def ready_size(self, name: str | None = None) -> Tensor:
        """Return an int32 tensor: the number of whole elements."""
        name = name or f"{self._name}_BarrierReadySize"
        size: Tensor = raw.BarrierReadySize(self._barrier_ref, name=name)
        return size

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """Return an int32 tensor: the number of elements that lack a component."""
        name = name or f"{self._name}_BarrierIncompleteSize"
        size: Tensor = raw.BarrierIncompleteSize(self._barrier_ref, name=name)
        return size


def _require_elements(known: Sequence[TensorShape]) -> None:
    require_defined(known)
    for i, shape in enumerate(known):
        if shape.num_elements() == 0:
            raise ValueError(
                f"Empty tensors are not supported, but received shape '{shape}' at index {i}"
            )
