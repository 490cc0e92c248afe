"""tf.contrib.slim.prefetch_queue: batches made ready by threads of their own.

Source: TF 1.15 API documentation, tf.contrib.slim.prefetch_queue.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.queues.queue_kinds import FIFOQueue, PaddingFIFOQueue
from tfdist.ops.summary import summaries
from tfdist.training.input_queues.queue_runner import QueueRunner, add_queue_runner

__all__ = ["prefetch_queue"]


def prefetch_queue(
    tensors: Any,
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue | PaddingFIFOQueue:
    """Return a queue that threads fill with `tensors`; `dequeue` gives what was made ready.

    Args:
      tensors: a list of tensors, or a dict of them: each element of the queue is such a one.
      capacity: elements that the queue has room for.
      num_threads: threads that fill it.
      dynamic_pad: whether shapes may be unknown in part.
      shared_name: under which other sessions find the queue.
      name: of the nodes' scope.

    Raises:
      ValueError: a shape is unknown in part, and `dynamic_pad` is false.

    Example:
      >>> queue = contrib.slim.prefetch_queue.prefetch_queue([zeros([2, 3]), ones([2])])
      >>> queue.dequeue()[0].shape.as_list(), get_collection("queue_runners")[0].name
      ([2, 3], 'prefetch_queue/fifo_queue')
    """
    names = sorted(tensors) if isinstance(tensors, dict) else None
    given = [tensors[key] for key in names] if names is not None else list(tensors)
    with name_scope(name, "prefetch_queue", given):
        parts = [convert_to_tensor(each) for each in given]
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queue = kind(
            capacity, [part.dtype.base_dtype for part in parts],
            [part.get_shape() for part in parts], names=names, shared_name=shared_name,
        )  # fmt: skip
        put = queue.enqueue(parts if names is None else dict(zip(names, parts, strict=True)))
        add_queue_runner(QueueRunner(queue, [put] * num_threads))
        full = cast(queue.size(), dtypes.float32) * (1.0 / capacity)
        summaries.scalar(f"fraction_of_{capacity}_full", full)
        return queue
