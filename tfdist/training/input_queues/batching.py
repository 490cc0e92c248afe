"""Batching: queues that collect single examples and give batches of them.

Eight functions that differ in three points: whether the queue shuffles, whether one set of tensors
fills it or several side by side (`_join`), and whether examples can be left out (`maybe_`).

Source: TF 1.15 API documentation, tf.train.batch and its relatives.
"""

from __future__ import annotations

from typing import Any

from tfdist.training.input_queues.collecting import from_one, from_several, in_order, shuffled

__all__ = [
    "batch", "batch_join", "maybe_batch", "maybe_batch_join", "maybe_shuffle_batch",
    "maybe_shuffle_batch_join", "shuffle_batch", "shuffle_batch_join",
]  # fmt: skip


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
    collector = in_order(
        batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name,
    )  # fmt: skip
    return from_one(collector, tensors, True, num_threads, name, "batch")


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

    The other arguments are those of `batch`.

    Args:
      keep_input: bool [], for what `tensors` have in a step; with `enqueue_many` also [n], for
        each example.
    """
    collector = in_order(
        batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name,
    )  # fmt: skip
    return from_one(collector, tensors, keep_input, num_threads, name, "batch")


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

    The other arguments are those of `batch`.

    Args:
      tensors_list: list of what `batch` takes; all have the same types.
    """
    collector = in_order(
        batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name,
    )  # fmt: skip
    return from_several(collector, tensors_list, True, name, "batch_join")


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
    collector = in_order(
        batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name,
    )  # fmt: skip
    return from_several(collector, tensors_list, keep_input, name, "batch_join")


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

    The other arguments are those of `batch`.

    Args:
      min_after_dequeue: so many examples stay in the queue, to be drawn from, until the data end.
      seed: of the order.

    Raises:
      ValueError: as `batch`, or `min_after_dequeue` leaves no room.
    """
    collector = shuffled(
        batch_size, capacity, min_after_dequeue, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name,
    )  # fmt: skip
    return from_one(collector, tensors, True, num_threads, name, "shuffle_batch")


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
    collector = shuffled(
        batch_size, capacity, min_after_dequeue, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name,
    )  # fmt: skip
    return from_one(collector, tensors, keep_input, num_threads, name, "shuffle_batch")


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
    collector = shuffled(
        batch_size, capacity, min_after_dequeue, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name,
    )  # fmt: skip
    return from_several(collector, tensors_list, True, name, "shuffle_batch_join")


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
    collector = shuffled(
        batch_size, capacity, min_after_dequeue, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name,
    )  # fmt: skip
    return from_several(collector, tensors_list, keep_input, name, "shuffle_batch_join")
