"""Buckets: examples of one kind, of similar length say, that become batches of their own.

Each bucket has a queue; a batch that is full goes to the top queue, from which batches are taken.

Source: TF 1.15 API documentation, tf.contrib.training.bucket.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tfdist import errors
from tfdist.base.dtypes import float32, int32
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.array.constants import constant
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import group, no_op
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_min
from tfdist.ops.queues.queue_kinds import FIFOQueue, PaddingFIFOQueue
from tfdist.ops.summary.summaries import scalar
from tfdist.training.input_queues.collecting import as_list, common_shapes, like
from tfdist.training.input_queues.queue_runner import QueueRunner, add_queue_runner
from tfdist.training.input_queues.sparse_batching import as_tensor, restored, stored

__all__ = ["bucket", "bucket_by_sequence_length"]

_ENDS = (errors.OutOfRangeError, errors.CancelledError)


def bucket(
    tensors: Any,
    which_bucket: Any,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Return batches of examples that are in one bucket.

    Args:
      tensors: list or dict of tensors: one example.
      which_bucket: int32 [], the example's bucket, from 0 to `num_buckets`.
      batch_size: examples in a batch, for all buckets, or a list with one for each.
      num_buckets: how many buckets there are.
      num_threads: how many threads fill them.
      capacity: of the top queue, in batches, and of the buckets, in examples.
      bucket_capacities: those of the buckets, if they are others.
      shapes: list of the shapes of an example; those of `tensors` by default.
      dynamic_pad: whether shapes may differ; zeros or empty strings fill up what is missing.
      allow_smaller_final_batch: whether the last examples may be fewer than a batch.
      keep_input: bool [], whether an example is taken.
      shared_name: by which other sessions find the queues.
      name: of the nodes' scope.

    Returns:
      The batch's bucket, and tensors [batch_size, ...] in the structure of `tensors`.

    Raises:
      ValueError: there is no tensor, a size is missing, or there are other than `num_buckets`.

    Example:
      >>> number = train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
      >>> which, numbers = contrib.training.bucket([number], number % 2, 2, 2)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     threads = train.start_queue_runners(session)
      ...     sorted(session.run(numbers[0]).tolist() for _ in "ab")
      [[0, 2], [1, 3]]
    """
    sizes = list(batch_size) if isinstance(batch_size, list | tuple) else [batch_size] * num_buckets
    rooms = list(bucket_capacities or [capacity] * num_buckets)
    _check(sizes, rooms, num_buckets)
    found = as_list(tensors)
    with scopes.name_scope(name, "bucket", found):
        if not found:
            raise ValueError("Expected at least one tensor in bucket().")
        found = [as_tensor(each) for each in found]
        keep = convert_to_tensor(keep_input)
        if keep.shape.ndims != 0:
            raise ValueError(f"`keep_input` must be a scalar, got shape {keep.shape}")
        sizes = [convert_to_tensor(each, int32, name="batch_size") for each in sizes]
        [found], sparse = stored([found], keep, False)
        shapes = common_shapes([found], shapes, False)
        most = _top_batch(sizes, allow_smaller_final_batch)
        queues = _Queues.made(found, shapes, rooms, capacity, dynamic_pad, most, shared_name)
        filled = _filled(queues, found, which_bucket, keep)
        _run(queues, filled, num_threads, sizes, allow_smaller_final_batch, len(found))
        _summarize(queues, capacity)
        which, *batches = queues.top.dequeue(name="dequeue_top")
        return which, like(tensors, _restored(batches, sparse))


def _check(sizes: Sequence[Any], rooms: Sequence[int], count: int) -> None:
    if count < 1:
        raise ValueError(f"there must be a bucket at least, got num_buckets {count}")
    for what, given in (("batch_size", sizes), ("bucket_capacities", rooms)):
        if len(given) != count:
            raise ValueError(f"If {what} is a list it must have num_buckets elements, got {given}")


def _top_batch(sizes: list[Any], smaller: bool) -> int | None:
    """Return how many examples all batches have; None if they differ."""
    known = {None if constant_value(each) is None else int(constant_value(each)) for each in sizes}  # type: ignore[arg-type]
    return None if smaller or len(known) != 1 else known.pop()


def _restored(batches: list[Any], sparse: Any) -> list[Any]:
    made = restored(batches, sparse)
    return made if isinstance(made, list) else [made]


class _Queues(NamedTuple):
    """The buckets' queues, and the top one."""

    buckets: list[Any]
    top: Any

    @staticmethod
    def made(
        tensors: list[Any], shapes: Any, rooms: Sequence[int], capacity: int, pads: bool,
        batch: int | None, shared_name: str | None,
    ) -> _Queues:  # fmt: skip
        types = [each.dtype.base_dtype for each in tensors]
        make = PaddingFIFOQueue if pads else FIFOQueue
        buckets = [
            make(
                room, types, shapes,
                shared_name=None if shared_name is None else f"{shared_name}_{index}",
                name=f"bucket_queue_{index}",
            )
            for index, room in enumerate(rooms)
        ]  # fmt: skip
        whole = [TensorShape([batch]).concatenate(each) for each in shapes]
        # batches of examples that are filled up may differ in shape
        top = PaddingFIFOQueue(
            capacity, [int32, *types], [TensorShape([]), *whole], shared_name=shared_name,
            name="top_queue",
        )  # fmt: skip
        return _Queues(buckets, top)


def _filled(queues: _Queues, tensors: list[Any], which: Any, keep: Any) -> Any:
    """Return the op that puts an example into its bucket."""

    def put() -> Any:
        ops = [
            cond(raw.Equal(which, index), functools.partial(queue.enqueue, tensors), no_op)
            for index, queue in enumerate(queues.buckets)
        ]
        return group(*ops, name="group_enqueues")

    known = constant_value(keep)
    if known is None:
        return cond(keep, put, no_op)
    return put() if known else no_op()


def _run(
    queues: _Queues, filled: Any, threads: int, sizes: list[Any], smaller: bool, count: int
) -> None:
    """Add the runners: one of the examples, one of the batches."""
    ops = []
    for index, (queue, size) in enumerate(zip(queues.buckets, sizes, strict=True)):
        number, known = constant(index), constant_value(size)
        size = size if known is None else int(known)
        take = queue.dequeue_up_to if smaller else queue.dequeue_many
        taken = take(size, name=f"read_bucket_{index}")
        batch = taken if count > 1 else [taken]
        ops.append(queues.top.enqueue([number, *batch], name=f"enqueue_from_bucket_{index}"))
    closed = queues.top.close(), queues.top.close(cancel_pending_enqueues=True)
    add_queue_runner(QueueRunner(queues.buckets[0], ops, *closed, _ENDS))
    ended = group(*(each.close() for each in queues.buckets))
    cancelled = group(*(each.close(cancel_pending_enqueues=True) for each in queues.buckets))
    add_queue_runner(QueueRunner(queues.top, [filled] * threads, ended, cancelled, _ENDS))


def _summarize(queues: _Queues, capacity: int) -> None:
    """Add the summaries that TensorFlow has, all of which tell how full the top queue is."""
    for queue in queues.buckets:
        scalar(f"bucket/{queue.name}/size", cast(queues.top.size(), float32))
    full = cast(queues.top.size(), float32) * (1.0 / capacity)  # type: ignore[operator]
    scalar(f"bucket/{queues.top.name}/fraction_of_{capacity}_full", full)


def bucket_by_sequence_length(
    input_length: Any,
    tensors: Any,
    batch_size: Any,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Return batches of sequences of similar length.

    The other arguments are those of `bucket`.

    Args:
      input_length: int32 [], the example's length.
      tensors: list or dict of tensors: one example.
      bucket_boundaries: lengths at which the next bucket begins: one bucket more than these.

    Returns:
      The lengths [batch_size], and tensors [batch_size, ...] in the structure of `tensors`.

    Raises:
      ValueError: the boundaries are no integers that rise.
    """
    edges = list(bucket_boundaries)
    if not edges:
        raise ValueError("bucket_boundaries must not be empty")
    if not all(isinstance(each, int) for each in edges):
        raise TypeError(f"bucket boundaries must be integers, got {bucket_boundaries}")
    if any(a >= b for a, b in pairwise(edges)):
        raise ValueError(f"Buckets must contain sequential increasing lengths, got {edges}")
    with scopes.name_scope(name, "bucket_by_sequence_length", [input_length, *as_list(tensors)]):
        length = convert_to_tensor(input_length, int32)
        least, most = np.iinfo(np.int32).min, np.iinfo(np.int32).max
        inside = raw.LogicalAnd(
            raw.LessEqual(np.array([least, *edges], np.int32), length),
            raw.Less(length, np.array([*edges, most], np.int32)),
        )
        which = cast(reduce_min(where(inside)), int32)
        which.set_shape([])
        named = isinstance(tensors, dict)
        given = {"length": length, **_prefixed(tensors)} if named else [length, *tensors]
        _, found = bucket(
            given, which, batch_size, len(edges) + 1, num_threads, capacity, bucket_capacities,
            [TensorShape([]), *shapes] if shapes else None, dynamic_pad,
            allow_smaller_final_batch, keep_input, shared_name,
        )  # fmt: skip
        if not named:
            return found[0], found[1:]
        return found.pop("length"), {key[1:]: each for key, each in found.items()}


def _prefixed(tensors: dict[str, Any]) -> dict[str, Any]:
    """Return a dict whose keys stand behind "length"."""
    return {f"~{key}": each for key, each in tensors.items()}
