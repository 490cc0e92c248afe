"""`QueueBase`: state in a server that steps of several sessions fill and empty, and wait for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import convert, scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array import concat, gather
from tfdist.ops.framework.op_aliases import Spellings
from tfdist.ops.queues import queue_ops

__all__ = ["QueueBase"]


class QueueBase:
    """What all queues can do; made by a subclass.

    Args:
      dtypes: list of the components' types, or one type.
      shapes: list of the components' shapes, or None for any.
      names: list of the components' names, by which elements are dicts; or None.
      queue_ref: tensor of the queue's handle.

    Raises:
      ValueError: there are not as many shapes or names as types.
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Tensor) -> None:
        self._dtypes = list(dtypes) if isinstance(dtypes, list | tuple) else [dtypes]
        if shapes and len(shapes) != len(self._dtypes):
            raise ValueError("Queue shapes must have the same length as dtypes")
        if names and len(names) != len(self._dtypes):
            raise ValueError("Queue names must have the same length as dtypes")
        known = shapes if shapes else [None] * len(self._dtypes)
        self._shapes = [TensorShape(each) for each in known]
        self._names = names or None
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index: Any, queues: Any) -> QueueBase:
        """Return the queue of a list that a tensor chooses when it runs.

        Args:
          index: int32 scalar: its place in the list.
          queues: a list of queues with components of the same types and names.

        Raises:
          TypeError: it is no list of queues, or they differ.
        """
        if (
            not isinstance(queues, list | tuple)
            or not queues
            or not all(isinstance(each, QueueBase) for each in queues)
        ):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if not all(each.dtypes == first.dtypes for each in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if not all(each.names == first.names for each in queues):
            raise TypeError("Queues do not have matching component names.")
        handles = concat.stack([each.queue_ref for each in queues])
        chosen = gather.gather(handles, index)
        columns = zip(*(each.shapes for each in queues), strict=True)
        return QueueBase(first.dtypes, [_common(each) for each in columns], first.names, chosen)

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
          ValueError: the shapes: their types do not.
        """
        name = name or f"{self._name}_enqueue"
        return self._put(queue_ops.ENQUEUE, vals, name, 0)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Operation:
        """Return an op that puts several elements, one by one, along the first dimension.

        Args:
          vals: as for `enqueue`, each [n, ...].
          name: of the node.

        Raises:
          ValueError: as `enqueue`; also where the components are not of one length.
        """
        name = name or f"{self._name}_EnqueueMany"
        return self._put(queue_ops.ENQUEUE_MANY, vals, name, 1)

    def _put(self, spellings: Spellings, vals: Any, name: str, lead: int) -> Operation:
        values = self._components(vals)
        with scopes.name_scope(name, values=[self._queue_ref]) as scope:
            tensors = [
                convert.convert_to_tensor(value, dtype, f"component_{i}")
                for i, (value, dtype) in enumerate(zip(values, self._dtypes, strict=False))
            ]
            self._check_shapes(tensors, lead)
            op: Operation = spellings(self._queue_ref, tensors, name=scope)
        return op

    def _check_shapes(self, tensors: Sequence[Tensor], lead: int) -> None:
        if lead:
            first = [each.shape.with_rank_at_least(1)[0] for each in tensors]
            reduce(lambda one, other: one.merge_with(other), first)
        for tensor, wanted in zip(tensors, self._shapes, strict=False):
            tensor.shape[lead:].assert_is_compatible_with(wanted)

    def _components(self, vals: Any) -> list[Any]:
        if isinstance(vals, dict):
            return self._by_names(vals)
        if self._names:
            raise ValueError(
                "You must enqueue a dictionary in a Queue with names: queue "
                f"{self.name!r} takes {self._wanted()}, got {vals!r}"
            )
        values = list(vals) if isinstance(vals, list | tuple) else [vals]
        if not values:
            raise ValueError(
                "Attr 'Tcomponents' of 'QueueEnqueueV2' Op passed list of length 0 less than "
                f"minimum 1: queue {self.name!r} takes {self._wanted()}"
            )
        return values

    def _by_names(self, vals: dict[str, Any]) -> list[Any]:
        if not self._names:
            raise ValueError(
                f"Queue must have names to enqueue a dictionary: {self.name!r} takes "
                f"{self._wanted()}"
            )
        if sorted(vals) != sorted(self._names):
            raise ValueError(
                "Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                f"({sorted(vals)}), Queue: ({sorted(self._names)})"
            )
        return [vals[name] for name in self._names]

    def _wanted(self) -> str:
        if self._names:
            return f"a dict with the components {sorted(self._names)}"
        types = ", ".join(dtypes.as_dtype(each).name for each in self._dtypes)
        return f"{len(self._dtypes)} components ({types})"

    def dequeue(self, name: str | None = None) -> Any:
        """Return one element, waiting for it.

        Returns:
          The component, a list of them, or a dict by names.

        Raises:
          OutOfRangeError: when it runs and the queue is closed and empty.
        """
        outputs = self._take(queue_ops.DEQUEUE, name or f"{self._name}_Dequeue")
        return self._element(outputs, ())

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Return `n` elements as a batch, waiting until there are as many.

        Returns:
          As `dequeue`, each component [n, ...].

        Raises:
          OutOfRangeError: when it runs and the queue is closed with fewer elements; they stay.
          ValueError: `n` is known to be below 0.
        """
        outputs = self._take(queue_ops.DEQUEUE_MANY, name or f"{self._name}_DequeueMany", n)
        return self._element(outputs, (_constant(outputs[0]),))

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """Return `n` elements as a batch, or those that a closed queue still has.

        Returns:
          As `dequeue`, each component [at most n, ...].

        Raises:
          OutOfRangeError: when it runs and the queue is closed and empty. A closed
            `PriorityQueue` gives no fewer than `n`; what it has left is lost then.
        """
        outputs = self._take(queue_ops.DEQUEUE_UP_TO, name or f"{self._name}_DequeueUpTo", n)
        return self._element(outputs, (None,))

    def _take(self, spellings: Spellings, name: str, *count: Any) -> list[Tensor]:
        handle, types = self._queue_ref, self._dtypes
        outputs: list[Tensor] = spellings(handle, *count, component_types=types, name=name)
        return outputs

    def _element(self, outputs: list[Tensor], lead: tuple[int | None, ...]) -> Any:
        for output, shape in zip(outputs, self._shapes, strict=True):
            output.set_shape(TensorShape(lead).concatenate(shape))
        if self._names:
            return dict(zip(self._names, outputs, strict=True))
        return outputs[0] if len(outputs) == 1 else outputs

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """Return an op that closes the queue: no more elements are taken in.

        It does not wait for the producers that stand in line; their elements still come.

        Args:
          cancel_pending_enqueues: whether those that wait for room fail with CancelledError.
          name: of the node.

        Raises:
          CancelledError: when it runs without `cancel_pending_enqueues` and the queue was closed
            before.
        """
        op: Operation = queue_ops.CLOSE(
            self._queue_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
            name=name or f"{self._name}_Close",
        )
        return op

    def is_closed(self, name: str | None = None) -> Tensor:
        """Return a bool tensor: whether the queue was closed."""
        return self._asked(queue_ops.IS_CLOSED, name or f"{self._name}_Is_Closed")

    def size(self, name: str | None = None) -> Tensor:
        """Return an int32 tensor: the number of elements in the queue."""
        return self._asked(queue_ops.SIZE, name or f"{self._name}_Size")

    def _asked(self, spellings: Spellings, name: str) -> Tensor:
        tensor: Tensor = spellings(self._queue_ref, name=name)
        return tensor

    def __repr__(self) -> str:
        return f"<tf.{type(self).__name__} {self.name!r} of {self._wanted()}>"


def _constant(output: Tensor) -> int | None:
    value = constant_value(output.op.inputs[1])
    return None if value is None else int(np.reshape(value, ()))


def _common(shapes: Sequence[TensorShape]) -> TensorShape:
    """Return what is known of a component, whichever of the queues it comes from."""
    return reduce(lambda one, other: one.most_specific_compatible_shape(other), shapes)
