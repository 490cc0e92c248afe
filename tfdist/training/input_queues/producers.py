"""Producers: queues of file names, numbers or slices, which a queue runner keeps full.

Source: TF 1.15 API documentation, tf.train.input_producer and its relatives.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.dtypes import float32, int64, string
from tfdist.graph import scopes
from tfdist.graph.convert import constant, convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.gather import gather
from tfdist.ops.array.range import range as range_of
from tfdist.ops.array.shape import shape, size
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.math.comparison import greater
from tfdist.ops.queues.queue_kinds import FIFOQueue
from tfdist.ops.random.random_ops import random_shuffle
from tfdist.ops.summary.summaries import scalar
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.count_up_to import count_up_to
from tfdist.ops.variables.variable import Variable
from tfdist.training.input_queues.queue_runner import QueueRunner, add_queue_runner

__all__ = [
    "input_producer", "limit_epochs", "match_filenames_once", "range_input_producer",
    "slice_input_producer", "string_input_producer",
]  # fmt: skip


def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """Return a local variable: the names of the files that fit, looked up when it is initialised.

    Args:
      pattern: string, or a list of them, with `*` and `?`.
      name: of the variable.
    """
    with scopes.name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(
            raw.MatchingFiles(pattern),
            trainable=False,
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
            name=scope,
        )


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """Return `tensor`, which can be taken `num_epochs` times in all.

    The count is a local variable: `tf.local_variables_initializer()` begins it.

    Args:
      tensor: any tensor.
      num_epochs: how often; None for no limit.
      name: of the tensor that is returned.

    Raises:
      ValueError: `num_epochs` is not positive.
      OutOfRangeError: when it runs more often.

    Example:
      >>> limited = limit_epochs(constant(7), num_epochs=2)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     [int(session.run(limited)) for _ in "ab"]
      [7, 7]
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with scopes.name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = Variable(
            constant(0, int64),
            name="epochs",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        with scopes.control_dependencies([count_up_to(epochs, num_epochs)]):
            return identity(tensor, name=scope)


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
    """Return a queue of the rows of `input_tensor`, again and again.

    Its runner stands in the collection QUEUE_RUNNERS.

    Args:
      input_tensor: [rows, ...].
      element_shape: shape of a row, where it is not known.
      num_epochs: how often all rows come; None for ever. The count is a local variable.
      shuffle: whether they come in another order each time.
      seed: of the order.
      capacity: of the queue.
      shared_name: by which other sessions find the queue.
      summary_name: of a summary that tells how full the queue is; None for no summary.
      name: of the scope, and of the queue's node in it.
      cancel_op: operation that closes the queue when a coordinator stops.

    Raises:
      ValueError: the shape of a row is not known, or `num_epochs` is not positive.
    """
    with scopes.name_scope(name, "input_producer", [input_tensor]):
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        row_shape = rows.shape.with_rank_at_least(1)[1:].merge_with(element_shape)
        if not row_shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                "specified"
            )
        if shuffle:
            rows = random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        # unnamed, the queue's node is named after its op there
        queue = FIFOQueue(
            capacity, [rows.dtype.base_dtype], [row_shape], shared_name=shared_name,
            name=name or "FIFOQueueV2",
        )  # fmt: skip
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
        if summary_name is not None:
            fraction = cast(queue.size(), float32) * (1.0 / capacity)  # type: ignore[operator]
            scalar(summary_name, fraction)
        return queue


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
    """Return a queue of strings, such as the names of files, again and again.

    The other arguments are those of `input_producer`.

    Args:
      string_tensor: strings [n].

    Raises:
      ValueError: there are no strings.
      InvalidArgumentError: when it runs and there are none.

    Example:
      >>> names = string_input_producer(["a", "b"], num_epochs=1, shuffle=False).dequeue()
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     threads = start_queue_runners(session)
      ...     [session.run(names) for _ in "ab"]
      [b'a', b'b']
    """
    missing = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor | Variable) and not list(string_tensor):
        raise ValueError(missing)
    with scopes.name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, string)
        with scopes.control_dependencies([Assert(greater(size(strings), 0), [missing])]):
            strings = identity(strings)
        return input_producer(
            strings, [], num_epochs, shuffle, seed, capacity, shared_name,
            f"fraction_of_{capacity}_full", scope, cancel_op,
        )  # fmt: skip


def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """Return a queue of the numbers from 0 to `limit` - 1, again and again.

    The other arguments are those of `input_producer`.

    Args:
      limit: int32 [].
    """
    with scopes.name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(
            range_of(limit), [], num_epochs, shuffle, seed, capacity, shared_name,
            f"fraction_of_{capacity}_full", scope,
        )  # fmt: skip


def slice_input_producer(
    tensor_list: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Return one row of each tensor, the same row of all, another one in each step.

    The other arguments are those of `input_producer`.

    Args:
      tensor_list: tensors [rows, ...].
      capacity: of the queue of row numbers.

    Raises:
      ValueError: there is no tensor.
    """
    with scopes.name_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor(each) for each in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        rows = shape(tensors[0])[0]  # type: ignore[index]
        queue = range_input_producer(rows, num_epochs, shuffle, seed, capacity, shared_name)
        row = queue.dequeue()
        return [gather(each, row) for each in tensors]
