"""tf.contrib.slim.parallel_reader: several readers that fill one queue.

Source: TF 1.15 API documentation, tf.contrib.slim.parallel_reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.base import dtypes
from tfdist.formats.glob import matching_files
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.io.readers import ReaderBase
from tfdist.ops.math.add_n import add_n
from tfdist.ops.queues.queue_kinds import FIFOQueue, RandomShuffleQueue
from tfdist.ops.summary import summaries
from tfdist.training.input_queues.producers import string_input_producer
from tfdist.training.input_queues.queue_runner import QueueRunner, add_queue_runner

__all__ = ["ParallelReader", "get_data_files", "parallel_read", "single_pass_read"]


class ParallelReader(ReaderBase):
    """Readers side by side, whose records go through one queue.

    Args:
      reader_class: class of a reader, such as `tf.TFRecordReader`.
      common_queue: queue of (key, value), two strings.
      num_readers: how many readers.
      reader_kwargs: arguments of each.

    Raises:
      TypeError: the queue has not two strings an element.

    Example:
      >>> queue = FIFOQueue(20, [string, string])
      >>> reader = contrib.slim.parallel_reader.ParallelReader(TFRecordReader, queue, 2)
      >>> reader.read(train.string_input_producer(["a", "b"]))[1].dtype.name
      'string'
    """

    def __init__(
        self,
        reader_class: Any,
        common_queue: Any,
        num_readers: int = 4,
        reader_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if len(common_queue.dtypes) != 2 or any(
            kind != dtypes.string for kind in common_queue.dtypes
        ):
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        """Return how many readers there are."""
        return len(self._readers)

    @property
    def common_queue(self) -> Any:
        """Return the queue."""
        return self._common_queue

    def read(self, queue: Any, name: str | None = None) -> Any:
        """Return the next (key, value), two strings.

        Args:
          queue: of the files' names.
          name: of the node that takes it out of the common queue.
        """
        puts = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, puts))
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """Return up to so many keys and values, two vectors of strings.

        Args:
          queue: of the files' names.
          num_records: how many at most.
          name: of the node that takes them out of the common queue.
        """
        puts = [
            self._common_queue.enqueue_many(reader.read_up_to(queue, num_records))
            for reader in self._readers
        ]
        add_queue_runner(QueueRunner(self._common_queue, puts))
        return self._common_queue.dequeue_up_to(num_records, name)

    def num_records_produced(self, name: str | None = None) -> Any:
        """Return how many records all readers have given, int64."""
        return add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """Return how many files all readers have ended, int64."""
        return add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(
    data_sources: Any,
    reader_class: Any,
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: Mapping[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Any = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> Any:
    """Return the next (key, value) of files that several readers read.

    Args:
      data_sources: files, or patterns of their names.
      reader_class: class of a reader, such as `tf.TFRecordReader`.
      num_epochs: how often each file is read; None for ever.
      num_readers: how many readers.
      reader_kwargs: arguments of each.
      shuffle: whether files and records come in another order.
      dtypes: of an element; two strings by default.
      capacity: of the common queue.
      min_after_dequeue: how many elements stay in it, where it is shuffled.
      seed: of its order.
      scope: name of the nodes' scope.
    """
    files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        names = string_input_producer(
            files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames"
        )
        kinds = dtypes or [_STRING, _STRING]
        if shuffle:
            common: Any = RandomShuffleQueue(
                capacity, min_after_dequeue, kinds, seed=seed, name="common_queue"
            )
        else:
            common = FIFOQueue(capacity, kinds, name="common_queue")
        full = cast(common.size(), _FLOAT) * (1.0 / capacity)
        summaries.scalar(f"fraction_of_{capacity}_full", full)
        return ParallelReader(reader_class, common, num_readers, reader_kwargs).read(names)


_STRING, _FLOAT = dtypes.string, dtypes.float32


def single_pass_read(
    data_sources: Any,
    reader_class: Any,
    reader_kwargs: Mapping[str, Any] | None = None,
    scope: str | None = None,
) -> Any:
    """Return the next (key, value) of files that are read once, in order.

    Args:
      data_sources: files, or patterns of their names.
      reader_class: class of a reader, such as `tf.TFRecordReader`.
      reader_kwargs: its arguments.
      scope: name of the nodes' scope.
    """
    files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        names = string_input_producer(
            files, num_epochs=1, shuffle=False, capacity=1, name="filenames"
        )
        return reader_class(**(reader_kwargs or {})).read(names)


def get_data_files(data_sources: Any) -> list[str]:
    """Return the files that patterns stand for.

    Args:
      data_sources: a file, a pattern with `*`, `?` or `[`, or a list of such.

    Raises:
      ValueError: there is no such file.

    Example:
      >>> contrib.slim.parallel_reader.get_data_files(["a", "b"])
      ['a', 'b']
    """
    if isinstance(data_sources, list | tuple):
        files = [file for source in data_sources for file in get_data_files(source)]
    elif any(sign in data_sources for sign in "*?["):
        files = [found.decode() for found in matching_files(data_sources)]
    else:
        files = [data_sources]
    if not files:
        raise ValueError(f"No data files found in {data_sources}")
    return files
