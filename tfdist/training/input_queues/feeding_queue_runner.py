"""FeedingQueueRunner: threads that fill a queue with what Python functions return.

Source: TF 1.15 API documentation, tf.contrib.training.FeedingQueueRunner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tfdist.errors import OpError
from tfdist.training.input_queues.queue_runner import QueueRunner

__all__ = ["FeedingQueueRunner"]


class FeedingQueueRunner(QueueRunner):
    """A QueueRunner whose operations are fed.

    The other arguments are those of `tf.train.QueueRunner`.

    Args:
      queue: to be filled.
      enqueue_ops: list of operations, one thread each.
      close_op: closes the queue when the data have ended.
      cancel_op: closes it, and lets those fail who wait for room.
      feed_fns: for each operation a function that returns what is fed to it each time, or None;
        one that raises OutOfRangeError ends the data.
      queue_closed_exception_types: tuple of the errors that are the end of the data.

    Raises:
      ValueError: there are not as many functions as operations.

    Example:
      >>> queue, number = FIFOQueue(10, "float32", shapes=[()]), placeholder("float32", [])
      >>> runner = contrib.training.FeedingQueueRunner(
      ...     queue, [queue.enqueue(number)], feed_fns=[lambda: {number: 2.0}]
      ... )
      >>> total = reduce_sum(queue.dequeue_many(3))
      >>> with Session() as session:
      ...     coordinator = train.Coordinator()
      ...     threads = runner.create_threads(session, coordinator, start=True)
      ...     float(session.run(total))
      ...     coordinator.request_stop()
      ...     coordinator.join(threads)
      6.0
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        feed_fns: Sequence[Callable[[], Any] | None] | None = None,
        queue_closed_exception_types: tuple[type[OpError], ...] | None = None,
    ) -> None:
        super().__init__(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types)
        if feed_fns is None:
            feed_fns = [None] * len(self._enqueue_ops)
        if len(feed_fns) != len(self._enqueue_ops):
            raise ValueError(
                "If feed_fns is not None, it must have the same length as enqueue_ops: "
                f"{len(feed_fns)} functions are given for {len(self._enqueue_ops)} operations."
            )
        self._feed_fns = list(feed_fns)

    def _run(self, goes_on: Callable[[], bool], session: Any, index: int) -> None:
        feed = self._feed_fns[index]
        if feed is None:
            super()._run(goes_on, session, index)
            return
        while goes_on():
            session.run(self._enqueue_ops[index], feed())

    def to_proto(self, export_scope: str | None = None) -> NoReturn:
        """Fail: Python functions go into no message."""
        raise NotImplementedError("FeedingQueueRunner does not support serialization to proto.")
