"""Queues: state in a server that steps of several sessions fill and empty, and wait for.

An element is a tuple of components, one array per component type.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.shapes import Shape, TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor, constant_value

__all__ = ["FIFOQueue", "QueueBase"]

FIFO_QUEUE = OpDef(
    "FIFOQueueV2() -> handle: resource [component_types: list(type) >=1; shapes: list(shape) = []; "
    "capacity: int = -1; container: string = ''; shared_name: string = ''] !"
).not_differentiable()


@FIFO_QUEUE.shape
def queue_shape() -> Shape:
    return ()


@FIFO_QUEUE.kernel
def fifo_queue_kernel(
    ctx: Any,
    *,
    component_types: list[Any],
    shapes: list[TensorShape],
    capacity: int,
    container: bytes,
    shared_name: bytes,
) -> Any:
    name = shared_name.decode() if shared_name else ctx.node_name
    plain = [shape.as_tuple() for shape in shapes]
    queue = ctx.resource(
        "queue", container, name, lambda Queue: Queue(name, capacity, component_types, plain)
    )
    if queue.dtypes != component_types or queue.shapes != plain:
        raise InvalidArgumentError(
            f"queue {name!r} exists with components {_show(queue.dtypes, queue.shapes)}, but is "
            f"asked for with {_show(component_types, plain)}"
        )
    return queue


def _show(types: Sequence[Any], plain: Sequence[Shape]) -> str:
    known = list(plain) or [None] * len(types)
    return ", ".join(f"{t.name}{shapes.show(s)}" for t, s in zip(types, known, strict=True))


def _check(queue: Any, components: Sequence[Any], lead: int) -> None:
    """Raise InvalidArgumentError unless `components` fit the queue, behind `lead` axes."""
    for component, wanted in zip(components, queue.shapes, strict=False):
        got = np.shape(component)[lead:]
        if not shapes.compatible(got, wanted):
            raise InvalidArgumentError(
                f"queue {queue.name!r} holds elements of {_show(queue.dtypes, queue.shapes)}, got "
                f"one of shape {got}"
            )


_COMPONENTS = "handle: resource, components: Tcomponents"
_OUTPUTS = "component_types: list(type) >=1; timeout_ms: int = -1"

ENQUEUE = OpDef(
    f"QueueEnqueueV2({_COMPONENTS}) -> () [Tcomponents: list(type) >=1; timeout_ms: int = -1] !",
    keeps_inputs=True,
).not_differentiable()


@ENQUEUE.kernel
def enqueue_kernel(handle: Any, components: list[Any]) -> Iterator[Any]:
    _check(handle, components, 0)
    yield handle.put([tuple(components)])


ENQUEUE_MANY = OpDef(
    f"QueueEnqueueManyV2({_COMPONENTS}) -> () [Tcomponents: list(type) >=1; "
    "timeout_ms: int = -1] !",
    keeps_inputs=True,
).not_differentiable()


@ENQUEUE_MANY.kernel
def enqueue_many_kernel(handle: Any, components: list[Any]) -> Iterator[Any]:
    _check(handle, components, 1)
    sizes = {len(component) for component in components}
    if len(sizes) != 1:
        raise InvalidArgumentError(
            f"enqueue_many on queue {handle.name!r}: the components must have one first dimension, "
            f"got {sorted(sizes)}"
        )
    elements = list(zip(*components, strict=True))
    if elements:
        yield handle.put(elements)


DEQUEUE = OpDef(
    f"QueueDequeueV2(handle: resource) -> components: component_types [{_OUTPUTS}] !"
).not_differentiable()


@DEQUEUE.kernel
def dequeue_kernel(handle: Any) -> Generator[Any, Any, Any]:
    [element] = yield handle.take(1)
    return element


DEQUEUE_MANY = OpDef(
    f"QueueDequeueManyV2(handle: resource, n: int32) -> components: component_types [{_OUTPUTS}] !"
).not_differentiable()


def _stacked(handle: Any, elements: list[Any]) -> list[Any]:
    """Return each component of all elements as one array, [n, ...]."""
    if elements:
        return [np.stack(parts) for parts in zip(*elements, strict=True)]
    return [
        np.zeros((0, *(dim or 0 for dim in shape or ())), dtype.as_numpy_dtype)
        for dtype, shape in zip(handle.dtypes, handle.shapes, strict=True)
    ]


def _batch(handle: Any, n: Any, up_to: bool) -> Generator[Any, Any, Any]:
    if n < 0:
        raise InvalidArgumentError(f"cannot dequeue {n} elements from queue {handle.name!r}")
    if len(handle.shapes) != len(handle.dtypes) or any(
        shape is None or None in shape for shape in handle.shapes
    ):
        raise InvalidArgumentError(
            f"queue {handle.name!r} must be made with shapes= for its elements to be dequeued "
            f"together; it has {_show(handle.dtypes, handle.shapes)}"
        )
    elements = yield handle.take(int(n), up_to)
    return _stacked(handle, elements)


@DEQUEUE_MANY.kernel
def dequeue_many_kernel(handle: Any, n: Any) -> Generator[Any, Any, Any]:
    return (yield from _batch(handle, n, False))


DEQUEUE_UP_TO = OpDef(
    f"QueueDequeueUpToV2(handle: resource, n: int32) -> components: component_types [{_OUTPUTS}] !"
).not_differentiable()


@DEQUEUE_UP_TO.kernel
def dequeue_up_to_kernel(handle: Any, n: Any) -> Generator[Any, Any, Any]:
    return (yield from _batch(handle, n, True))


CLOSE = OpDef(
    "QueueCloseV2(handle: resource) -> () [cancel_pending_enqueues: bool = False] !"
).not_differentiable()


@CLOSE.kernel
def close_kernel(handle: Any, *, cancel_pending_enqueues: bool) -> None:
    handle.close(cancel_pending_enqueues)


SIZE = OpDef("QueueSizeV2(handle: resource) -> size: int32 !").not_differentiable()
IS_CLOSED = OpDef("QueueIsClosedV2(handle: resource) -> is_closed: bool !").not_differentiable()


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


class QueueBase:
    """What all queues can do; made by a subclass.

    Args:
      dtypes: list of the components' types, or one type.
      shapes: list of the components' shapes, or None for any.
      names: list of the components' names, by which elements are dicts; or None.
      queue_ref: tensor of the queue's handle.
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Tensor) -> None:
        self._dtypes = dtypes
        self._shapes = shapes if shapes else [TensorShape(None)] * len(dtypes)
        self._names = names
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.split("/")[-1]

    @property
    def queue_ref(self) -> Tensor:
        """Return the tensor of the queue's handle."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """Return the name of the queue's node."""
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> list[Any]:
        """Return the types of the components."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """Return the shapes of the components."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """Return the names of the components, None if they have none."""
        return self._names

    def enqueue(self, vals: Any, name: str | None = None) -> Operation:
        """Return an op that puts one element, waiting while the queue is full.

        Args:
          vals: the components: a list; one tensor, if there is one component; or a dict by
            names.
          name: of the node.

        Raises:
          ValueError: the number of components or a shape does not fit.
          CancelledError: when it runs and the queue is closed.

        Example:
          >>> queue = FIFOQueue(2, "float32", shapes=[()])
          >>> with Session() as session:
          ...     session.run(queue.enqueue(1.0))
          ...     session.run(queue.dequeue())
          np.float32(1.0)
        """
        name = name or f"{self._name}_enqueue"
        return self._put(raw.QueueEnqueueV2, vals, name, 0)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Operation:
        """Return an op that puts the elements of a batch, one after the other.

        Args:
          vals: the components, each with the batch as first axis; see `enqueue`.
          name: of the node.
        """
        name = name or f"{self._name}_EnqueueMany"
        return self._put(raw.QueueEnqueueManyV2, vals, name, 1)

    def _put(self, op_def: OpDef, vals: Any, name: str, lead: int) -> Operation:
        values = self._components(vals)
        with scopes.name_scope(name, values=[self._queue_ref]) as scope:
            tensors = [
                convert.convert_to_tensor(value, dtype, f"component_{i}")
                for i, (value, dtype) in enumerate(zip(values, self._dtypes, strict=True))
            ]
            for tensor, wanted in zip(tensors, self._shapes, strict=True):
                tensor.shape[lead:].assert_is_compatible_with(wanted)
            op: Operation = op_def(self._queue_ref, tensors, name=scope)
        return op

    def _components(self, vals: Any) -> list[Any]:
        if isinstance(vals, dict) != bool(self._names):
            raise ValueError(f"queue {self.name!r} takes {self._wanted()}, got {vals!r}")
        if self._names:
            if sorted(vals) != sorted(self._names):
                raise ValueError(f"queue {self.name!r} takes {self._wanted()}, got {sorted(vals)}")
            return [vals[name] for name in self._names]
        values = list(vals) if isinstance(vals, list | tuple) else [vals]
        if len(self._dtypes) == 1 and len(values) != 1:
            return [vals]
        if len(values) != len(self._dtypes):
            raise ValueError(f"queue {self.name!r} takes {self._wanted()}, got {len(values)}")
        return values

    def _wanted(self) -> str:
        if self._names:
            return f"a dict with the components {sorted(self._names)}"
        return f"{len(self._dtypes)} components ({', '.join(d.name for d in self._dtypes)})"

    def dequeue(self, name: str | None = None) -> Any:
        """Return one element, waiting for it.

        Returns:
          The component, a list of them, or a dict by names.

        Raises:
          OutOfRangeError: when it runs and the queue is closed and empty.
        """
        name = name or f"{self._name}_Dequeue"
        outputs = raw.QueueDequeueV2(self._queue_ref, component_types=self._dtypes, name=name)
        return self._element(outputs, ())

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Return `n` elements as a batch, waiting until there are as many.

        Returns:
          As `dequeue`, each component [n, ...].

        Raises:
          OutOfRangeError: when it runs and the queue is closed with fewer elements; they stay.
        """
        name = name or f"{self._name}_DequeueMany"
        outputs = raw.QueueDequeueManyV2(
            self._queue_ref, n, component_types=self._dtypes, name=name
        )
        return self._element(outputs, (self._constant(outputs),))

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """Return `n` elements as a batch, or those that a closed queue still has.

        Returns:
          As `dequeue`, each component [at most n, ...].
        """
        name = name or f"{self._name}_DequeueUpTo"
        outputs = raw.QueueDequeueUpToV2(
            self._queue_ref, n, component_types=self._dtypes, name=name
        )
        return self._element(outputs, (None,))

    def _constant(self, outputs: list[Tensor]) -> int | None:
        value = constant_value(outputs[0].op.inputs[1])
        return None if value is None else int(value)

    def _element(self, outputs: list[Tensor], lead: tuple[int | None, ...]) -> Any:
        for output, shape in zip(outputs, self._shapes, strict=True):
            output.set_shape(TensorShape(lead).concatenate(shape))
        if self._names:
            return dict(zip(self._names, outputs, strict=True))
        return outputs[0] if len(outputs) == 1 else outputs

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """Return an op that closes the queue: no more elements are taken in.

        Args:
          cancel_pending_enqueues: whether those that wait for room fail with CancelledError.
          name: of the node.
        """
        op: Operation = raw.QueueCloseV2(
            self._queue_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
            name=name or f"{self._name}_Close",
        )
        return op

    def is_closed(self, name: str | None = None) -> Tensor:
        """Return a bool tensor: whether the queue was closed."""
        tensor: Tensor = raw.QueueIsClosedV2(
            self._queue_ref, name=name or f"{self._name}_Is_Closed"
        )
        return tensor

    def size(self, name: str | None = None) -> Tensor:
        """Return an int32 tensor: the number of elements in the queue."""
        tensor: Tensor = raw.QueueSizeV2(self._queue_ref, name=name or f"{self._name}_Size")
        return tensor

    def __repr__(self) -> str:
        return f"<tf.{type(self).__name__} {self.name!r} of {self._wanted()}>"


class FIFOQueue(QueueBase):
    """A queue that gives its elements in the order in which they came.

    Args:
      capacity: how many elements it holds at most; who puts more has to wait.
      dtypes: list of the components' types, or one type.
      shapes: list of the components' shapes; needed to dequeue several elements together.
      names: list of the components' names, by which elements are dicts.
      shared_name: name by which other sessions on the same server find the queue; the node's
        own name by default.
      name: of the node.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        types, plain, labels = normal_components(dtypes, shapes, names)
        handle = raw.FIFOQueueV2(
            component_types=types,
            shapes=plain,
            capacity=capacity,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__(types, plain, labels, handle)


def normal_components(types: Any, given: Any, names: Any) -> tuple[list[Any], list[Any], Any]:
    """Return the components' types, shapes (empty if not given) and names (None) as lists.

    Raises:
      ValueError: their numbers differ.
    """
    listed = list(types) if isinstance(types, list | tuple) else [types]
    normal = [dtypes.as_dtype(each) for each in listed]
    if given is not None and (len(listed) == 1 and _is_one_shape(given)):
        given = [given]
    plain = [] if given is None else [TensorShape(each) for each in given]
    if plain and len(plain) != len(normal):
        raise ValueError(f"{len(normal)} dtypes need as many shapes, got {len(plain)}")
    labels = [names] if isinstance(names, str) else names
    if labels and len(labels) != len(normal):
        raise ValueError(f"{len(normal)} dtypes need as many names, got {len(labels)}")
    return normal, plain, list(labels) if labels else None


def _is_one_shape(given: Any) -> bool:
    """Return whether `given` is a shape itself instead of a list with one."""
    if isinstance(given, TensorShape):
        return True
    return all(each is None or isinstance(each, int) for each in given)
