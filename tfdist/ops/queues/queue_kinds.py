"""The kinds of queues: in order, shuffled, padded, by priority; `queue_creation` has their ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.op_def import raw
from tfdist.ops.queues.queue_base import QueueBase
from tfdist.ops.random.random_ops import get_seed

__all__ = ["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue"]


class FIFOQueue(QueueBase):
    """A queue that gives its elements in the order in which they came.

    Args:
      capacity: how many elements it holds at most; who puts more has to wait.
      dtypes: list of the components' types, or one type.
      shapes: list of the components' shapes; needed to dequeue several elements together.
      names: list of the components' names, by which elements are dicts.
      shared_name: name by which other sessions on the same server find the queue; without it,
        each session has its own.
      name: of the node.

    Example:
      >>> import tfdist as tf
      >>> queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
      >>> put, take = queue.enqueue_many([[1, 2, 3]]), queue.dequeue_many(2)
      >>> session = tf.Session()
      >>> session.run(put)
      >>> session.run(take)
      array([1, 2], dtype=int32)
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
        require_defined(plain)
        handle = raw.FIFOQueueV2(
            component_types=types,
            shapes=plain,
            capacity=capacity,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__(types, plain, labels, handle)


class RandomShuffleQueue(QueueBase):
    """A queue that gives its elements in a random order.

    Args:
      capacity: how many elements it holds at most; who puts more has to wait.
      min_after_dequeue: how many elements stay in until the queue is closed: the more, the better
        it shuffles.
      dtypes: list of the components' types, or one type.
      shapes: list of the components' shapes; needed to dequeue several elements together.
      names: list of the components' names, by which elements are dicts.
      seed: makes the order repeatable; see `set_random_seed`.
      shared_name: as for `FIFOQueue`.
      name: of the node.

    Example:
      >>> import tfdist as tf
      >>> queue = tf.RandomShuffleQueue(10, 0, tf.int32, shapes=[[]], seed=1)
      >>> put, take = queue.enqueue_many([[1, 2, 3]]), queue.dequeue_many(3)
      >>> session = tf.Session()
      >>> session.run(put)
      >>> sorted(int(each) for each in session.run(take))
      [1, 2, 3]
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        types, plain, labels = normal_components(dtypes, shapes, names)
        require_defined(plain)
        seed1, seed2 = _seeds(seed, shared_name)
        handle = raw.RandomShuffleQueueV2(
            component_types=types,
            shapes=plain,
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=seed1,
            seed2=seed2,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__(types, plain, labels, handle)


def _seeds(seed: int | None, shared_name: str | None) -> tuple[int, int]:
    """Return both seeds; those of a shared queue must not depend on the rest of the graph."""
    first, second = get_seed(seed)
    if seed is None and shared_name is not None and (first or second):
        # TensorFlow takes a hash of the name, too
        return first, hash_of(f"{first}{shared_name}")
    return first, second


def hash_of(text: str) -> int:
    """Return a number below 2 ** 31 that is the same for `text` in every process."""
    from hashlib import md5

    return int(md5(text.encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue whose elements may differ in size: what is dequeued together is padded.

    Args:
      capacity: how many elements it holds at most; who puts more has to wait.
      dtypes: list of the components' types.
      shapes: list of the components' shapes, None for dimensions that differ. A batch is as large
        there as its largest element; the others are filled with 0, False or the empty string.
      names: list of the components' names, by which elements are dicts.
      shared_name: as for `FIFOQueue`.
      name: of the node.

    Raises:
      ValueError: a component has no shape.

    Example:
      >>> import tfdist as tf
      >>> queue = tf.PaddingFIFOQueue(10, tf.int32, shapes=[[None]])
      >>> puts, take = [queue.enqueue([[1]]), queue.enqueue([[2, 3]])], queue.dequeue_many(2)
      >>> session = tf.Session()
      >>> for put in puts:
      ...     session.run(put)
      >>> session.run(take)
      array([[1, 0],
             [2, 3]], dtype=int32)
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        types, plain, labels = normal_components(dtypes, shapes, names, _all_shapes)
        handle = raw.PaddingFIFOQueueV2(
            component_types=types,
            shapes=plain,
            capacity=capacity,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__(types, plain, labels, handle)


class PriorityQueue(QueueBase):
    """A queue that gives first what has the least priority value.

    Args:
      capacity: how many elements it holds at most; who puts more has to wait.
      types: list of the types of the components behind the first one, which is the priority:
        an int64 scalar.
      shapes: list of the shapes of these components.
      names: list of the names of all components, by which elements are dicts.
      shared_name: as for `FIFOQueue`.
      name: of the node.

    Example:
      >>> import tfdist as tf
      >>> queue = tf.PriorityQueue(10, tf.string, shapes=[[]])
      >>> put, take = queue.enqueue_many([[2, 1], ["late", "early"]]), queue.dequeue()
      >>> session = tf.Session()
      >>> session.run(put)
      >>> session.run(take)
      [np.int64(1), b'early']
    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        if shapes is None:
            raise TypeError("Expected list for 'shapes' argument of a PriorityQueue, not None.")
        behind, plain, _ = normal_components(types, shapes, None)
        require_defined(plain)
        labels = _labels(names)
        if labels is not None and len(labels) != 1 + len(behind):
            raise ValueError("Queue names must have the same length as dtypes")
        handle = raw.PriorityQueueV2(
            component_types=behind,
            shapes=plain,
            capacity=capacity,
            shared_name=shared_name or "",
            name=name,
        )
        every = [dtypes.int64, *behind]
        super().__init__(every, [TensorShape([]), *plain], labels, handle)


def require_defined(plain: Sequence[TensorShape]) -> None:
    """Raise ValueError unless all dimensions are known."""
    if not all(shape.is_fully_defined() for shape in plain):
        raise ValueError(f"All shapes must be fully defined: {list(plain)}")


def _all_shapes(types: Sequence[DType], given: Any) -> None:
    """Check the shapes of a queue that pads."""
    if given is None or any(TensorShape(each).ndims is None for each in given):
        raise ValueError("When providing partial shapes, a list of shapes must be provided.")
    if len(given) != len(types):
        raise ValueError(
            f"Shapes must be provided for all components, but received {len(types)} dtypes and "
            f"{len(given)} shapes."
        )


def _any_shapes(types: Sequence[DType], given: Any) -> None:
    if given is not None and len(given) != len(types):
        raise ValueError("Queue shapes must have the same length as dtypes")


def normal_components(
    types: Any, given: Any, names: Any, check: Callable[..., None] = _any_shapes
) -> tuple[list[Any], list[TensorShape], Any]:
    """Return the components' types, shapes (empty if not given) and names (None) as lists.

    Args:
      types: a list of types, or one.
      given: a list of shapes, or one if there is one type; None if they are not known.
      names: a list of names, or one; None if there are none.
      check: raises ValueError if types and shapes do not fit together.

    Raises:
      ValueError: the numbers of types and names differ.
    """
    listed = list(types) if isinstance(types, list | tuple) else [types]
    normal = [dtypes.as_dtype(each) for each in listed]
    if given is not None and len(listed) == 1 and _is_one_shape(given):
        given = [given]
    check(normal, given)
    labels = _labels(names)
    if labels is not None and len(labels) != len(normal):
        raise ValueError("List of names must have the same length as the list of dtypes")
    return normal, [TensorShape(each) for each in given or ()], labels


def _labels(names: Any) -> list[Any] | None:
    """Return names as a list, whatever they are: a list, one of them, or None for none."""
    if names is None:
        return None
    return list(names) if isinstance(names, list | tuple) else [names]


def _is_one_shape(given: Any) -> bool:
    """Return whether `given` is a shape itself instead of a list with one."""
    if isinstance(given, TensorShape):
        return True
    return given != [None] and all(each is None or isinstance(each, int) for each in given)
