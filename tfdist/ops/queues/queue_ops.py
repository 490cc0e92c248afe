"""The ops on queues: enqueue, dequeue, size, close. `queue_creation` makes queues.

An element is a tuple of components, one array per component type. The ops have two spellings; the
older one, whose handle is `Ref(string)`, is there for graphs that were stored.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import PENDING, OpDef
from tfdist.ops.framework.op_aliases import Spellings

__all__: list[str] = []  # queues has the public classes


def _on_queue(
    name: str, inputs: str, outputs: str, attrs: str = "", keeps_inputs: bool = False
) -> Spellings:
    """Return an op on a queue, in both spellings.

    Args:
      name: of the older one; the newer one ends with V2.
      inputs: besides the handle.
      outputs: as in a signature.
      attrs: as in a signature.
      keeps_inputs: as for `OpDef`.
    """
    attrs = f" [{attrs}]" if attrs else ""
    forms = (
        f"{name}(handle: Ref(string){inputs}) -> {outputs}{attrs}",
        f"{name}V2(handle: resource{inputs}) -> {outputs}{attrs} !",
    )
    ops = [OpDef(form, keeps_inputs=keeps_inputs) for form in forms]
    return Spellings(*ops).not_differentiable()


_PUTS = ", components: Tcomponents", "()", "Tcomponents: list(type) >=1; timeout_ms: int = -1", True
_TAKES = "components: component_types", "component_types: list(type) >=1; timeout_ms: int = -1"

ENQUEUE = _on_queue("QueueEnqueue", *_PUTS)
ENQUEUE_MANY = _on_queue("QueueEnqueueMany", *_PUTS)
DEQUEUE = _on_queue("QueueDequeue", "", *_TAKES)
DEQUEUE_MANY = _on_queue("QueueDequeueMany", ", n: int32", *_TAKES)
DEQUEUE_UP_TO = _on_queue("QueueDequeueUpTo", ", n: int32", *_TAKES)
CLOSE = _on_queue("QueueClose", "", "()", "cancel_pending_enqueues: bool = False")
SIZE = _on_queue("QueueSize", "", "size: int32")
IS_CLOSED = _on_queue("QueueIsClosed", "", "is_closed: bool")


def _held(queue: Any) -> str:
    """Return types and shapes of a queue's components as text."""
    known = queue.shapes or [None] * len(queue.dtypes)
    pairs = zip(queue.dtypes, known, strict=True)
    return ", ".join(f"{dtype.name}{shapes.show(shape)}" for dtype, shape in pairs)


# elements in


@ENQUEUE.kernel
def enqueue_kernel(
    handle: Any, components: list[Any], *, Tcomponents: list[DType]
) -> Iterator[Any]:
    _check_one(handle, components, Tcomponents)
    yield handle.put_one(components)


@ENQUEUE.prompt
def enqueue_now(handle: Any, components: list[Any], *, Tcomponents: list[DType]) -> Any:
    _check_one(handle, components, Tcomponents)
    return handle.put_now(components)


def _check_one(handle: Any, components: list[Any], types: list[DType]) -> None:
    _check_types(handle, types)
    for component, wanted in zip(components, handle.shapes, strict=False):
        if getattr(component, "shape", ()) != wanted:
            _check_shapes(handle, components, ())


@ENQUEUE_MANY.kernel
def enqueue_many_kernel(
    handle: Any, components: list[Any], *, Tcomponents: list[DType]
) -> Iterator[Any]:
    _check_types(handle, Tcomponents)
    _check_shapes(handle, components, np.shape(components[0])[:1] or (1,))
    if len(components[0]):
        yield handle.put_many(components)


def _check_types(queue: Any, types: list[DType]) -> None:
    if queue.dtypes != types:
        raise InvalidArgumentError(
            f"Signature mismatch, have: {type_names(types)}, expected: {type_names(queue.dtypes)}: "
            f"the components of {queue.kind} {queue.name!r}"
        )


def type_names(types: Sequence[DType]) -> str:
    """Return the names of types as text."""
    return ", ".join(each.name for each in types)


def _check_shapes(queue: Any, components: Sequence[Any], lead: tuple[int, ...]) -> None:
    """Raise InvalidArgumentError unless `components` fit the queue, behind the axes `lead`."""
    known = queue.shapes or [None] * len(components)
    for i, (component, wanted) in enumerate(zip(components, known, strict=True)):
        got, rank = np.shape(component), len(lead)
        if got[:rank] != lead or not shapes.compatible(got[rank:], wanted):
            expected = ",".join("?" if d is None else str(d) for d in (*lead, *(wanted or ())))
            raise InvalidArgumentError(
                f"Shape mismatch in tuple component {i}. Expected [{expected}], got "
                f"[{','.join(map(str, got))}]; queue {queue.name!r} holds elements of "
                f"{_held(queue)}"
            )


# elements out


@DEQUEUE.kernel
def dequeue_kernel(handle: Any, *, component_types: list[DType]) -> Generator[Any, Any, Any]:
    _check_types(handle, component_types)
    taken = yield handle.take(1)
    return taken.first()


@DEQUEUE.prompt
def dequeue_now(handle: Any, *, component_types: list[DType]) -> Any:
    _check_types(handle, component_types)
    taken = handle.take_now(1)
    return taken if taken is PENDING else taken.first()


@DEQUEUE_MANY.shape
def dequeue_many_shape(
    handle: Shape, n: Shape, *, n_value: Any, component_types: list[DType]
) -> list[Shape]:
    if n_value is not None and np.any(n_value < 0):
        raise InvalidArgumentError(f"Input 'n' must be >= 0, but is {n_value}")
    return [None] * len(component_types)


@DEQUEUE_MANY.kernel
def dequeue_many_kernel(
    handle: Any, n: Any, *, component_types: list[DType]
) -> Generator[Any, Any, Any]:
    return (yield from _batch(handle, n, component_types, False))


@DEQUEUE_UP_TO.kernel
def dequeue_up_to_kernel(
    handle: Any, n: Any, *, component_types: list[DType]
) -> Generator[Any, Any, Any]:
    return (yield from _batch(handle, n, component_types, True))


@DEQUEUE_MANY.prompt
@DEQUEUE_UP_TO.prompt
def dequeue_many_now(handle: Any, n: Any, *, component_types: list[DType]) -> Any:
    n = _count(handle, n, component_types, False)
    taken = handle.take_now(n) if n else None
    return taken if taken is PENDING else handle.together(taken)


def _batch(handle: Any, n: Any, types: list[DType], up_to: bool) -> Generator[Any, Any, Any]:
    n = _count(handle, n, types, up_to)
    taken = None
    if n:
        taken = yield handle.take(n, up_to)
    return handle.together(taken)


_COUNTED = {False: "DequeueManyOp", True: "DequeueUpToOp"}


def _count(handle: Any, n: Any, types: list[DType], up_to: bool) -> int:
    """Return the number of elements that are asked for, if the queue can give several at once."""
    _check_types(handle, types)
    if np.size(n) != 1:
        raise InvalidArgumentError(
            f"n must be one number, got shape {list(np.shape(n))}: queue {handle.name!r}"
        )
    n = int(np.reshape(n, ()))
    if n < 0:
        raise InvalidArgumentError(
            f"{_COUNTED[up_to]} requested {n} < 0 elements of queue {handle.name!r}"
        )
    if not handle.shapes or None in handle.shapes:
        raise InvalidArgumentError(
            f"{handle.kind}'s DequeueMany and DequeueUpTo require the components to have specified "
            f"shapes. Queue {handle.name!r} must be made with shapes= for its elements to be "
            f"dequeued together; it has {_held(handle)}"
        )
    return n


# the queue


@CLOSE.kernel
def close_kernel(handle: Any, *, cancel_pending_enqueues: bool) -> None:
    handle.close(cancel_pending_enqueues)


@SIZE.shape
@IS_CLOSED.shape
def scalar_shape(handle: Shape) -> Shape:
    return ()


@SIZE.kernel
def size_kernel(handle: Any) -> Any:
    return np.int32(handle.size())


@IS_CLOSED.kernel
def is_closed_kernel(handle: Any) -> Any:
    return np.bool_(handle.closed)
