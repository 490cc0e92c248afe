"""How examples are collected into batches: a queue, the threads that fill it, what comes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

from tfdist.base.dtypes import float32, int32
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.dynamic_partition import dynamic_partition
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import no_op
from tfdist.ops.math.arithmetic import maximum
from tfdist.ops.queues.queue_kinds import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from tfdist.ops.summary.summaries import scalar
from tfdist.training.input_queues.queue_runner import QueueRunner, add_queue_runner
from tfdist.training.input_queues.sparse_batching import as_tensor, restored, stored


class Collector(NamedTuple):
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
        shapes = common_shapes(sets, self.shapes, self.enqueue_many)
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


def in_order(
    batch_size: Any,
    capacity: int,
    enqueue_many: bool,
    shapes: Any,
    dynamic_pad: bool,
    smaller: bool,
    shared_name: str | None,
) -> Collector:
    """Return what collects examples in the order in which they come."""
    make = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    return Collector(make, capacity, None, batch_size, enqueue_many, shapes, smaller, shared_name)


def shuffled(
    batch_size: Any,
    capacity: int,
    kept: int,
    seed: int | None,
    enqueue_many: bool,
    shapes: Any,
    smaller: bool,
    shared_name: str | None,
) -> Collector:
    """Return what collects examples and shuffles them."""
    if kept >= capacity:
        raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {kept}.")

    def make(**options: Any) -> Any:
        return RandomShuffleQueue(min_after_dequeue=kept, seed=seed, **options)

    return Collector(make, capacity, kept, batch_size, enqueue_many, shapes, smaller, shared_name)


def from_one(
    collector: Collector, tensors: Any, keep: Any, threads: int, name: str | None, default: str
) -> Any:
    """Return batches of one set of tensors."""
    found = as_list(tensors)
    with scopes.name_scope(name, default, [*found, keep]) as scope:
        if not found:
            raise ValueError("Expected at least one tensor in batch().")
        return like(tensors, collector.collect([found], keep, threads, scope))


def from_several(
    collector: Collector, tensors_list: Any, keep: Any, name: str | None, default: str
) -> Any:
    """Return batches of several sets of tensors, each with a thread of its own."""
    sets = _as_lists(tensors_list)
    with scopes.name_scope(name, default, [*chain(*sets), keep]) as scope:
        return like(tensors_list[0], collector.collect(sets, keep, 1, scope))


def as_list(tensors: Any) -> list[Any]:
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
    return [as_list(tensors) for tensors in tensors_list]


def like(tensors: Any, batches: Any) -> Any:
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


def common_shapes(sets: list[list[Tensor]], given: Any, enqueue_many: bool) -> Any:
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
