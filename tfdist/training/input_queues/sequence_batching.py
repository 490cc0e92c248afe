"""batch_sequences_with_states: batches of segments of sequences that a queue runner takes in.

Source: TF 1.15 API documentation, tf.contrib.training.batch_sequences_with_states.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import constant, convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.shape import shape
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.math.comparison import equal
from tfdist.ops.random.random_ops import random_uniform
from tfdist.ops.strings.conversions import as_string
from tfdist.ops.strings.join_substr import string_join
from tfdist.ops.summary.summaries import scalar
from tfdist.training.input_queues.checked_tensors import multiple_checked
from tfdist.training.input_queues.queue_runner import QueueRunner, add_queue_runner
from tfdist.training.input_queues.sequence_batches import NextQueuedSequenceBatch
from tfdist.training.input_queues.sequence_states import SequenceQueueingStateSaver

__all__ = ["batch_sequences_with_states"]

MOST = 100_000_000  # of the number that makes a key unique


def batch_sequences_with_states(
    input_key: Any,
    input_sequences: dict[str, Any],
    input_context: dict[str, Any],
    input_length: Any,
    initial_states: dict[str, Any],
    num_unroll: int,
    batch_size: Any,
    num_threads: int = 3,
    capacity: int = 1000,
    allow_small_batch: bool = True,
    pad: bool = True,
    make_keys_unique: bool = False,
    make_keys_unique_seed: int | None = None,
    name: str | None = None,
) -> NextQueuedSequenceBatch:
    """Return batches of segments of the sequences that the tensors have in successive steps.

    A `SequenceQueueingStateSaver` collects them; its runner stands in QUEUE_RUNNERS.

    Args:
      input_key: string scalar: the sequence's key.
      input_sequences: dict from names to tensors [time, ...].
      input_context: dict from names to tensors that are the same for all segments.
      input_length: int32 scalar: how many time steps the sequence has without padding; None for
        as many as the tensors have, if `pad`.
      initial_states: dict from names to states before the first segment.
      num_unroll: int: how many time steps a segment has.
      batch_size: how many sequences a batch has.
      num_threads: how many threads take sequences in.
      capacity: how many sequences may be inside.
      allow_small_batch: whether batches may be smaller once the data have ended.
      pad: whether sequences are filled up to whole segments, by zeros or empty strings.
      make_keys_unique: whether a random number is added to keys.
      make_keys_unique_seed: of the number.
      name: of the scope of its nodes.

    Raises:
      TypeError: an argument is of another type than these.
      ValueError: there are no sequences or no states, a shape is not known, or there is no length.

    Example: one sequence, whose state counts the segments.
      >>> key = train.limit_epochs("s", num_epochs=1)
      >>> batch = contrib.training.batch_sequences_with_states(
      ...     key, {"x": constant([5, 6, 7])}, {}, None, {"n": constant(0)}, 2, 1, num_threads=1
      ... )
      >>> save = batch.save_state("n", batch.state("n") + 1)
      >>> with train.MonitoredSession() as session:
      ...     while not session.should_stop():
      ...         x, n, _ = session.run([batch.sequences["x"], batch.state("n"), save])
      ...         print(x, n)
      [[5 6]] [0]
      [[7 0]] [1]
    """
    with scopes.name_scope(name, "batch_sequences_with_states"):
        sequences = _tensors(input_sequences)
        if pad:
            length, sequences = _padded(sequences, num_unroll)
            input_length = length if input_length is None else input_length
        else:
            sequences = {key: _whole(each, num_unroll) for key, each in sequences.items()}
        if make_keys_unique:
            number = random_uniform([], 0, MOST, dtypes.int32, seed=make_keys_unique_seed)
            input_key = string_join([input_key, as_string(number)])
        saver = SequenceQueueingStateSaver(
            batch_size, num_unroll, input_length, input_key, sequences, input_context,
            initial_states, capacity, allow_small_batch,
        )  # fmt: skip
        ready = cast(saver.barrier.ready_size(), dtypes.float32)
        scalar(f"queue/{saver.barrier.name}/ready_segment_batches_", ready)
        runner = QueueRunner(
            saver, [saver.prefetch_op] * num_threads, saver.close(),
            saver.close(cancel_pending_enqueues=True),
        )  # fmt: skip
        add_queue_runner(runner)
        return saver.next_batch


def _tensors(sequences: Any) -> dict[str, Tensor]:
    if not isinstance(sequences, dict):
        raise TypeError("input_sequences must be a dictionary")
    if not sequences:
        raise ValueError("must have at least one sequence tensor")
    found = {name: convert_to_tensor(each) for name, each in sequences.items()}
    for name, each in found.items():
        if each.get_shape().ndims is None:
            raise ValueError(
                f"Shape for sequence {name} is not fully defined (ignoring first dimension): "
                f"{each.get_shape()}"
            )
    return found


def _whole(value: Tensor, num_unroll: int) -> Tensor:
    """Return a sequence that fails unless it has whole segments."""
    length = _sizes(value)[0]
    told = f"{value.op.name} first dimension"
    return multiple_checked(length % num_unroll, length, num_unroll, told, value)


def _padded(sequences: dict[str, Tensor], num_unroll: int) -> tuple[Tensor, dict[str, Tensor]]:
    """Return how long sequences are, and the sequences filled up to whole segments."""
    lengths = [_sizes(each)[0] for each in sequences.values()]
    told = "All sequence lengths must match, but received lengths: "
    checks = [
        Assert(equal(each, lengths[0]), [string_join([told, as_string(lengths)])])
        for each in lengths
    ]
    length = with_dependencies(checks, lengths[0])
    unroll: Any = constant(num_unroll)
    over = raw.FloorMod(length, unroll, name="mod")
    whole = length + raw.FloorMod(unroll - over, unroll, name="mod")  # type: ignore[operator]
    return length, {name: _filled_up(each, whole) for name, each in sequences.items()}


def _filled_up(value: Tensor, whole: Any) -> Tensor:
    """Return a sequence with zeros or empty strings behind it, `whole` steps long."""
    missing = whole - _sizes(value)[0]
    sizes = concat([[missing], _sizes(value)[1:]], 0)
    nothing = constant("" if value.dtype.base_dtype is dtypes.string else 0, value.dtype.base_dtype)
    return concat([value, raw.Fill(sizes, nothing)], 0)


def _sizes(value: Tensor) -> Any:
    return shape(value)
