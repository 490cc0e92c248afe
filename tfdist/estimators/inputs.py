"""Input functions from arrays: a queue, and a thread that fills it with batches.

Source: TF 1.15 API documentation, tf.estimator.inputs; messages and names of nodes by experiment.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tfdist.base.dtypes import as_dtype
from tfdist.errors import OutOfRangeError
from tfdist.graph import scopes
from tfdist.ops.array.cast import cast
from tfdist.ops.array.constants import placeholder
from tfdist.ops.math.arithmetic import maximum
from tfdist.ops.queues.queue_kinds import FIFOQueue, RandomShuffleQueue
from tfdist.ops.summary import summaries
from tfdist.training.input_queues.feeding_queue_runner import FeedingQueueRunner
from tfdist.training.input_queues.queue_runner import add_queue_runner

__all__ = ["numpy_input_fn", "pandas_input_fn"]

LABELS = "__labels__"

Feed = dict[Any, Any]


def _turns(feeds: Iterator[Feed]) -> Callable[[], Feed]:
    """Return a function that gives the next feed, to one thread at a time."""
    turn = threading.Lock()

    def following() -> Feed:
        with turn:
            for feed in feeds:
                return feed
        raise OutOfRangeError("the arrays have come to their end")

    return following


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """Return an input function that gives batches of arrays.

    Args:
      x: an array, or a dict of arrays: features.
      y: an array, a dict of arrays, or None: labels.
      batch_size: how many rows are in a batch; the last one may have fewer.
      num_epochs: how often the rows come; None for no end.
      shuffle: whether they come in a random order; True or False, there is no default.
      queue_capacity: how many rows wait in the queue at most.
      num_threads: how many threads fill it.

    Raises:
      ValueError: `shuffle` is not given; or, by the function, lengths differ or a dict is empty.
      TypeError: by the function: `x` is neither array nor dict.

    Example:
      >>> rows = np.array([[1.0], [2.0], [3.0]])
      >>> given = estimator.inputs.numpy_input_fn(rows, batch_size=2, shuffle=False)
      >>> batch = given()
      >>> with train.MonitoredSession() as session:
      ...     while not session.should_stop():
      ...         session.run(batch)[:, 0]
      array([1., 2.])
      array([3.])
    """
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it "
            f"as True for training); got {shuffle}"
        )

    def input_fn() -> Any:
        features, labels = _checked(x), _checked_labels(y)
        if isinstance(features, Mapping) and isinstance(y, Mapping):
            both = set(features) & set(y)
            if both:
                raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
        columns = {**_named(features, "x"), **_named(labels, LABELS)}
        _check_lengths(features, labels)
        batch = _enqueued(columns, batch_size, num_epochs, shuffle, queue_capacity, num_threads)
        found = _like(features, batch, "x")
        return found if labels is None else (found, _like(labels, batch, LABELS))

    return input_fn


def _checked(x: Any) -> Any:
    if isinstance(x, Mapping):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return {key: np.asarray(x[key]) for key in sorted(x)}
    if not isinstance(x, np.ndarray):
        raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
    return x


def _checked_labels(y: Any) -> Any:
    if isinstance(y, Mapping):
        if not y:
            raise ValueError("y cannot be empty dict, use None instead.")
        return {key: np.asarray(y[key]) for key in sorted(y)}
    return None if y is None else np.asarray(y)


def _named(arrays: Any, name: str) -> dict[str, Any]:
    if arrays is None:
        return {}
    return dict(arrays) if isinstance(arrays, Mapping) else {name: arrays}


def _like(arrays: Any, batch: Mapping[str, Any], name: str) -> Any:
    """Return the tensors of a batch as a dict, or as one tensor, as the arrays were."""
    return {key: batch[key] for key in arrays} if isinstance(arrays, Mapping) else batch[name]


def _check_lengths(x: Any, y: Any) -> None:
    arrays = [*_named(x, "").values(), *_named(y, "").values()]
    if len({len(each) for each in arrays}) > 1:
        raise ValueError(
            "Length of tensors in x and y is mismatched. All elements in x and y must have the "
            f"same length.\nShapes in x: {_shapes(x)}\nShapes in y: {_shapes(y)}\n"
        )


def _shapes(arrays: Any) -> Any:
    if isinstance(arrays, Mapping):
        return {key: each.shape for key, each in arrays.items()}
    return None if arrays is None else arrays.shape


def _enqueued(
    columns: Mapping[str, Any], batch_size: int, num_epochs: int | None, shuffle: bool,
    capacity: int, num_threads: int,
) -> dict[str, Any]:  # fmt: skip
    """Return a batch of columns, by name, from a queue that is filled with them."""
    places = np.arange(len(next(iter(columns.values()))))
    arrays = [places, *columns.values()]
    dtypes, shapes = [as_dtype(each.dtype) for each in arrays], [each.shape[1:] for each in arrays]
    with scopes.name_scope("enqueue_input"):
        if shuffle:
            least = int(capacity / 4)
            queue: Any = RandomShuffleQueue(capacity, least, dtypes, shapes)
        else:
            least, queue = 0, FIFOQueue(capacity, dtypes, shapes)
        inputs = [placeholder(dtype, [None, *shape]) for dtype, shape in zip(dtypes, shapes)]  # noqa: B905
        puts = [queue.enqueue_many(inputs) for _ in range(num_threads)]
        feed = _turns(_feeds(inputs, arrays, batch_size, num_epochs, shuffle))
        add_queue_runner(FeedingQueueRunner(queue, puts, feed_fns=[feed] * num_threads))
        _summarize(queue, capacity, least)
    take = queue.dequeue_many if num_epochs is None else queue.dequeue_up_to
    _, *found = take(batch_size)
    return dict(zip(columns, found, strict=True))


def _summarize(queue: Any, capacity: int, least: int) -> None:
    """Summarise how full a queue is."""
    full = capacity - least
    fraction = cast(maximum(0, queue.size() - least), "float32") * (1.0 / full)
    summaries.scalar(f"queue/{queue.name}fraction_over_{least}_of_{full}_full", fraction)


def _feeds(
    inputs: list[Any], arrays: list[Any], batch_size: int, num_epochs: int | None, shuffle: bool
) -> Iterator[Feed]:
    """Yield what is fed, a batch of rows each time; batches go on across the ends of epochs."""
    rows = _rows(len(arrays[0]), num_epochs, shuffle)
    waiting = np.empty(0, np.int64)
    for epoch in rows:
        waiting = np.concatenate([waiting, epoch])
        whole = len(waiting) - len(waiting) % batch_size
        for start in range(0, whole, batch_size):
            chosen = waiting[start : start + batch_size]
            yield {to: each[chosen] for to, each in zip(inputs, arrays, strict=True)}
        waiting = waiting[whole:]
    if len(waiting):
        yield {to: each[waiting] for to, each in zip(inputs, arrays, strict=True)}


def _rows(count: int, num_epochs: int | None, shuffle: bool) -> Iterator[Any]:
    """Yield the places of all rows, once for each epoch."""
    generator, done = np.random.default_rng(scopes.get_default_graph().seed), 0
    while count and (num_epochs is None or done < num_epochs):
        yield generator.permutation(count) if shuffle else np.arange(count)
        done += 1


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """Return an input function that gives batches of a DataFrame of pandas.

    Args:
      x: DataFrame: features.
      y: Series, DataFrame or None: labels.
      batch_size: as the rest: see `numpy_input_fn`.
      target_column: name that a Series of labels gets; no column of `x` may have it.

    Raises:
      TypeError: `x` is no DataFrame.
      ValueError: `shuffle` is not given, a column has the name of the labels, or indices differ.
    """
    if not (hasattr(x, "columns") and hasattr(x, "index")):
        raise TypeError(f"x must be a pandas DataFrame; got {type(x).__name__}")
    if y is not None:
        if target_column in x:
            raise ValueError(
                f"Cannot use name {target_column} for target column: DataFrame already has a "
                f"column with that name: {list(x.columns)}"
            )
        if not np.array_equal(x.index, y.index):
            raise ValueError("Index for x and y are mismatched.")
    features = {str(name): _column(x[name]) for name in x.columns}
    labels = None
    if y is not None:
        is_frame = hasattr(y, "columns")
        labels = {str(name): _column(y[name]) for name in y.columns} if is_frame else _column(y)
    return numpy_input_fn(
        features, labels, batch_size, num_epochs, shuffle, queue_capacity, num_threads
    )


def _column(series: Any) -> Any:
    """Return a column as an array; words as bytes."""
    found = np.asarray(series)
    if found.dtype.kind in "OU":
        return np.array([str(each).encode() for each in found], object)
    return found
