"""Batching: queues that collect single examples and give batches of them.

Eight functions that differ in three points: whether the queue shuffles, whether one set of tensors
fills it or several side by side (`_join`), and whether examples can be left out (`maybe_`).

Source: TF 1.15 API documentation, tf.train.batch and its relatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

from tfdist.base.dtypes import float32, int32
from tfdist.base.shapes import TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Tensor, constant_value
from tfdist.ops.cast import cast
from tfdist.ops.cond import cond
from tfdist.ops.control import no_op
from tfdist.ops.math import maximum
from tfdist.ops.partitions import dynamic_partition
from tfdist.ops.queue_kinds import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from tfdist.ops.summaries import scalar
from tfdist.training.queue_runner import QueueRunner, add_queue_runner
from tfdist.training.sparse_batching import as_tensor, restored, stored

__all__ = [
    "batch", "batch_join", "maybe_batch", "maybe_batch_join", "maybe_shuffle_batch",
    "maybe_shuffle_batch_join", "shuffle_batch", "shuffle_batch_join",
]  # fmt: skip


class _Collector(NamedTuple):
    """How a queue is filled and emptied: what the arguments of all functions say.

    Attributes:
      make_queue: takes capacity, types, shapes and shared name.
      kept: how many elements stay in the queue until the data end; None if it does not shuffle.
    """

    make_queue: Callable[..., Any]
    capacity: int
    kept: int | None
    batch_size: Any
    enqueue_many: bool
    shapes: Any
    smaller_final_batch: bool
    shared_name: str | None

    def collect(self, sets: list[list[Any]], keep: Any, threads: int, scope: str) -> Any:
        """Return the batches of a new queue that `sets` fill, `threads` threads each."""
        sets = [[as_tensor(each) for each in tensors] for tensors in sets]
        keep = _checked_keep(keep, self.enqueue_many)
        sets, sparse = stored(sets, keep, self.enqueue_many)
        types = _common_types(sets)
        shapes = _common_shapes(sets, self.shapes, self.enqueue_many)
        queue = self.make_queue(
            capacity=self.capacity, dtypes=types, shapes=shapes, shared_name=self.shared_name
        )
        ops = [self._enqueue(queue, tensors, keep) for tensors in sets]
        add_queue_runner(QueueRunner(queue, ops * threads))
        self._summarize(queue)
        take = queue.dequeue_up_to if self.smaller_final_batch else queue.dequeue_many
        return restored(take(self.batch_size, name=scope), sparse)

    def _enqueue(self, queue: Any, tensors: list[Tensor], keep: Tensor) -> Any:
        """Return the op that puts `tensors`, those of them that `keep` says."""
        put = queue.enqueue_many if self.enqueue_many else queue.enqueue
        if keep.shape.ndims == 1:
            sides = cast(keep, int32)
            return put([dynamic_partition(each, sides, 2)[1] for each in tensors])
        known = constant_value(keep)
        if known is None:
            return cond(keep, lambda: put(tensors), no_op)
        return put(tensors) if known else no_op()

    def _summarize(self, queue: Any) -> None:
        """Add a summary that tells how full the queue is."""
        if self.kept is None:
            name, count, room = f"fraction_of_{self.capacity}_full", queue.size(), self.capacity
        else:
            room = self.capacity - self.kept
            name = f"fraction_over_{self.kept}_of_{room}_full"
            count = maximum(0, queue.size() - self.kept)
        scalar(name, cast(count, float32) * (1.0 / room))  # type: ignore[operator]


def _in_order(
    batch_size: Any,
    capacity: int,
    enqueue_many: bool,
    shapes: Any,
    dynamic_pad: bool,
    smaller: bool,
    shared_name: str | None,
) -> _Collector:
    make = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    return _Collector(make, capacity, None, batch_size, enqueue_many, shapes, smaller, shared_name)


def _shuffled(
    batch_size: Any,
    capacity: int,
    kept: int,
    seed: int | None,
    enqueue_many: bool,
    shapes: Any,
    smaller: bool,
    shared_name: str | None,
) -> _Collector:
    if kept >= capacity:
        raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {kept}.")

    def make(**options: Any) -> Any:
        return RandomShuffleQueue(min_after_dequeue=kept, seed=seed, **options)

    return _Collector(make, capacity, kept, batch_size, enqueue_many, shapes, smaller, shared_name)


def _from_one(
    collector: _Collector, tensors: Any, keep: Any, threads: int, name: str | None, default: str
) -> Any:
    """Return batches of one set of tensors."""
    found = _as_list(tensors)
    with scopes.name_scope(name, default, [*found, keep]) as scope:
        if not found:
            raise ValueError("Expected at least one tensor in batch().")
        return _like(tensors, collector.collect([found], keep, threads, scope))


def _from_several(
    collector: _Collector, tensors_list: Any, keep: Any, name: str | None, default: str
) -> Any:
    """Return batches of several sets of tensors, each with a thread of its own."""
    sets = _as_lists(tensors_list)
    with scopes.name_scope(name, default, [*chain(*sets), keep]) as scope:
        return _like(tensors_list[0], collector.collect(sets, keep, 1, scope))


def _as_list(tensors: Any) -> list[Any]:
    if isinstance(tensors, dict):
        return [tensors[key] for key in sorted(tensors)]
    return list(tensors)


def _as_lists(tensors_list: Any) -> list[list[Any]]:
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    first = tensors_list[0]
    if isinstance(first, dict) and any(
        not isinstance(each, dict) or set(each) != set(first) for each in tensors_list
    ):
        raise ValueError("All dictionaries in tensors_list must have the same keys")
    return [_as_list(tensors) for tensors in tensors_list]


def _like(tensors: Any, batches: Any) -> Any:
    """Return `batches` by the keys of `tensors` if that is a dict; a single one as it is."""
    if not isinstance(tensors, dict):
        return batches
    found = batches if isinstance(batches, list) else [batches]
    return dict(zip(sorted(tensors), found, strict=True))


def _checked_keep(keep_input: Any, enqueue_many: bool) -> Tensor:
    keep = convert_to_tensor(keep_input)
    rank = keep.shape.ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep


def _common_types(sets: list[list[Tensor]]) -> list[Any]:
    types = [each.dtype.base_dtype for each in sets[0]]
    for tensors in sets[1:]:
        if len(tensors) != len(types):
            raise ValueError(
                f"all sets must have as many tensors as the first, {len(types)}, got {len(tensors)}"
            )
        for wanted, tensor in zip(types, tensors, strict=True):
            if tensor.dtype.base_dtype is not wanted:
                raise TypeError(
                    f"Expected types to be consistent: {wanted.name} vs. "
                    f"{tensor.dtype.base_dtype.name}."
                )
    return types


def _common_shapes(sets: list[list[Tensor]], given: Any, enqueue_many: bool) -> Any:
    if given is not None:
        return given
    return [_common_shape(column, enqueue_many) for column in zip(*sets, strict=True)]


def _common_shape(tensors: Sequence[Tensor], enqueue_many: bool) -> TensorShape:
    """Return the shape that an element of all `tensors` has."""
    for each in tensors:
        if each.shape.ndims is None:
            raise ValueError(f"Cannot infer Tensor's rank: {each}")
    shapes = [each.shape for each in tensors]
    if enqueue_many:
        shapes = [shape.with_rank_at_least(1)[1:] for shape in shapes]
    merged = shapes[0]
    for shape in shapes[1:]:
        merged = merged.merge_with(shape)
    return merged


def batch(
    tensors: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Return batches of the values that `tensors` have in successive steps.

    A queue collects them; its runner stands in the collection QUEUE_RUNNERS.

    Args:
      tensors: list or dict of tensors: one example, or several with `enqueue_many`.
      batch_size: examples in a batch.
      num_threads: how many threads fill the queue; with more than one the order is not kept.
      capacity: of the queue, in examples.
      enqueue_many: whether the first axis of `tensors` counts examples.
      shapes: list of the shapes of an example; those of `tensors` by default.
      dynamic_pad: whether shapes may differ; zeros or empty strings fill up what is missing.
      allow_smaller_final_batch: whether the last examples may be fewer than a batch; else those
        that are too few are left in the queue.
      shared_name: by which other sessions find the queue.
      name: of the batch's node.

    Returns:
      Tensors [batch_size, ...] in the structure of `tensors`; alone, if there is one in a list.

    Raises:
      ValueError: there is no tensor, or a shape is not known.
      OutOfRangeError: when it runs and the data have ended.

    Example:
      >>> number = range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
      >>> pairs = batch([number], 2)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     threads = start_queue_runners(session)
      ...     [session.run(pairs).tolist() for _ in "ab"]
      [[0, 1], [2, 3]]
    """
    collector = _in_order(
        batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name,
    )  # fmt: skip
    return _from_one(collector, tensors, True, num_threads, name, "batch")


def maybe_batch(
    tensors: Any,
    keep_input: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Return batches as `batch` does, of the examples that `keep_input` says.

    Args:
      tensors: see `batch`, for the other arguments too.
      keep_input: bool [], for what `tensors` have in a step; with `enqueue_many` also [n], for
        each example.
      batch_size: see there.
      num_threads: see there.
      capacity: see there.
      enqueue_many: see there.
      shapes: see there.
      dynamic_pad: see there.
      allow_smaller_final_batch: see there.
      shared_name: see there.
      name: see there.
    """
    collector = _in_order(
        batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name,
    )  # fmt: skip
    return _from_one(collector, tensors, keep_input, num_threads, name, "batch")


def batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Return batches as `batch` does, of several sets of tensors, each with its own thread.

    Args:
      tensors_list: list of what `batch` takes; all have the same types.
      batch_size: see `batch`, for the other arguments too.
      capacity: see there.
      enqueue_many: see there.
      shapes: see there.
      dynamic_pad: see there.
      allow_smaller_final_batch: see there.
      shared_name: see there.
      name: see there.
    """
    collector = _in_order(
        batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name,
    )  # fmt: skip
    return _from_several(collector, tensors_list, True, name, "batch_join")


def maybe_batch_join(
    tensors_list: Any,
    keep_input: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Return batches as `batch_join` does, of the examples that `keep_input` says.

    See `maybe_batch` for the arguments.
    """
    collector = _in_order(
        batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name,
    )  # fmt: skip
    return _from_several(collector, tensors_list, keep_input, name, "batch_join")


def shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Return batches of examples in an order drawn by chance.

    Args:
      tensors: see `batch`, for the other arguments too.
      batch_size: see there.
      capacity: see there.
      min_after_dequeue: so many examples stay in the queue, to be drawn from, until the data end.
      num_threads: see there.
      seed: of the order.
      enqueue_many: see there.
      shapes: see there.
      allow_smaller_final_batch: see there.
      shared_name: see there.
      name: see there.

    Raises:
      ValueError: as `batch`, or `min_after_dequeue` leaves no room.
    """
    collector = _shuffled(
        batch_size, capacity, min_after_dequeue, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name,
    )  # fmt: skip
    return _from_one(collector, tensors, True, num_threads, name, "shuffle_batch")


def maybe_shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Return batches as `shuffle_batch` does, of the examples that `keep_input` says.

    See `maybe_batch` for `keep_input`.
    """
    collector = _shuffled(
        batch_size, capacity, min_after_dequeue, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name,
    )  # fmt: skip
    return _from_one(collector, tensors, keep_input, num_threads, name, "shuffle_batch")


def shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Return batches as `shuffle_batch` does, of several sets of tensors; see `batch_join`."""
    collector = _shuffled(
        batch_size, capacity, min_after_dequeue, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name,
    )  # fmt: skip
    return _from_several(collector, tensors_list, True, name, "shuffle_batch_join")


def maybe_shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Return batches as `shuffle_batch_join` does, of the examples that `keep_input` says.

    See `maybe_batch` for `keep_input`.
    """
    collector = _shuffled(
        batch_size, capacity, min_after_dequeue, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name,
    )  # fmt: skip
    return _from_several(collector, tensors_list, keep_input, name, "shuffle_batch_join")
