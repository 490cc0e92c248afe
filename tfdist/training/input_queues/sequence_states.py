"""SequenceQueueingStateSaver: long sequences go through a graph in segments, with their states.

A barrier holds segments under keys such as "00000_of_00002:the key". A segment is whole, and can be
taken, once its state is there: that of the first comes with the sequence, that of each other one
when the state after the segment before it is saved. Indices tell which sequence came first, so that
its segments follow each other; a queue of tokens bounds how many sequences are inside.

Source: TF 1.15 API documentation, tf.contrib.training.SequenceQueueingStateSaver; nodes by
experiment.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import constant, convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat, stack
from tfdist.ops.array.fill import ones
from tfdist.ops.array.gather import gather
from tfdist.ops.array.range import range as range_of
from tfdist.ops.array.reshape import expand_dims, reshape, squeeze
from tfdist.ops.array.shape import shape
from tfdist.ops.array.slice import slice as slice_of
from tfdist.ops.array.tile_roll import tile
from tfdist.ops.checks.assertions import assert_greater_equal
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.control_flow.identity_group import group, identity
from tfdist.ops.math.arithmetic import maximum, minimum
from tfdist.ops.math.comparison import greater_equal, logical_not, where
from tfdist.ops.math.division import div
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.queues.barriers import Barrier
from tfdist.ops.queues.queue_kinds import FIFOQueue
from tfdist.ops.strings.conversions import as_string
from tfdist.ops.strings.join_substr import string_join
from tfdist.training.input_queues.checked_tensors import (
    multiple_checked,
    rank_checked,
    shape_checked,
    sizes_checked,
)
from tfdist.training.input_queues.sequence_batches import (
    COUNT,
    LENGTH,
    NEXT_KEY,
    SEQUENCE,
    TOTAL,
    NextQueuedSequenceBatch,
)

__all__ = ["SequenceQueueingStateSaver"]

FIXED_TYPES = [dtypes.int32, dtypes.int32, dtypes.string, dtypes.int32, dtypes.int32]
TOKEN = 21051976  # the one that TensorFlow puts into the queue


class SequenceQueueingStateSaver:
    """Splits sequences into segments of one length, and gives batches of them with their states.

    Each run of `prefetch_op` takes one sequence in; each batch of `next_batch` has a segment of
    `batch_size` sequences. After it the states must be saved (`static_state_saving_rnn` does):
    then the next segments are there.

    Args:
      batch_size: how many sequences a batch has, an int or int32 scalar.
      num_unroll: int: how many time steps a segment has.
      input_length: int32 scalar: how many time steps the sequence has without padding.
      input_key: string scalar: the sequence's key; no two that are inside may have the same.
      input_sequences: dict from names to tensors [time, ...], where time is a multiple of
        num_unroll.
      input_context: dict from names to tensors that are the same for all segments.
      initial_states: dict from names to states before the first segment.
      capacity: how many sequences may be inside; any number by default.
      allow_small_batch: whether batches may be smaller once it is closed.
      name: of the scope of its nodes.

    Raises:
      TypeError: an argument is of another type than these.
      ValueError: there are no sequences or no states, a shape is not known, or the capacity is
        less than a batch.

    Example: a sequence of 4 steps, 2 at a time; the state counts the segments.
      >>> saver = contrib.training.SequenceQueueingStateSaver(
      ...     1, 2, 3, constant("s"), {"x": constant([5, 6, 7, 0])}, {}, {"n": constant(0)}
      ... )
      >>> batch = saver.next_batch
      >>> save = batch.save_state("n", batch.state("n") + 1)
      >>> fetched = [batch.key, batch.sequences["x"], batch.length, batch.state("n"), save]
      >>> with Session() as session:
      ...     session.run(saver.prefetch_op)
      ...     for each in 0, 1:
      ...         print(*session.run(fetched)[:-1])
      [b'00000_of_00002:s'] [[5 6]] [2] [0]
      [b'00001_of_00002:s'] [[7 0]] [1] [1]
    """

    def __init__(
        self,
        batch_size: Any,
        num_unroll: int,
        input_length: Any,
        input_key: Any,
        input_sequences: dict[str, Any],
        input_context: dict[str, Any],
        initial_states: dict[str, Any],
        capacity: int | None = None,
        allow_small_batch: bool = False,
        name: str | None = None,
    ) -> None:
        self._batch_size, self._num_unroll = batch_size, int(num_unroll)
        input_key = _after_check(input_key, batch_size, capacity)
        self._allow_small_batch = allow_small_batch
        self._prefetch_op: Operation | None = None
        self._next_batch: NextQueuedSequenceBatch | None = None
        room = -1 if capacity is None else capacity
        self._queue = FIFOQueue(room, [dtypes.int32], [[]], name="fifo_queue")
        with (
            scopes.name_scope(name, "InputQueueingStateSaver") as self._scope,
            scopes.colocate_with(self._queue.queue_ref.op),
        ):
            self._length: Any = rank_checked(_of_type(input_length, dtypes.int32, "length"), 0)
            self._key = rank_checked(_of_type(input_key, dtypes.string, "key"), 0)
            self._sequences = _sorted("sequence", input_sequences)
            self._contexts = _sorted("context", input_context)
            self._states = _sorted("state", initial_states)
            self._check()
            self._check_lengths()
            self._barrier = self._make_barrier()

    def _check(self) -> None:
        if not self._sequences:
            raise ValueError("must have at least one sequence tensor")
        if not self._states:
            raise ValueError(
                "initial_states may not be empty: at least one state variable is required to "
                "properly enqueue split sequences to run in separate iterations"
            )
        for name, each in self._sequences.items():
            known = each.get_shape()
            if known.ndims is None or not known[1:].is_fully_defined():
                raise ValueError(
                    f"Shape for sequence {name} is not fully defined (ignoring first dimension): "
                    f"{known}"
                )
        for kind, given in (("context", self._contexts), ("state", self._states)):
            for name, each in given.items():
                if not each.get_shape().is_fully_defined():
                    raise ValueError(
                        f"Shape for {kind} {name} is not fully defined : {each.get_shape()}"
                    )

    def _check_lengths(self) -> None:
        """Let sequences fail that are not as long as each other, or too short for their length."""
        first = next(iter(self._sequences.values()))
        sizes: Any = shape(first)
        padded = identity(sizes[0], name="padded_length")
        rest = raw.FloorMod(padded, self._num_unroll)
        padded = multiple_checked(rest, padded, self._num_unroll, padded.name, padded)
        for name, each in self._sequences.items():
            label = f"sorted_sequences_{name}"
            self._sequences[name] = sizes_checked(each, label, [padded])
        told = "Input length should be <= than length from sequences:"
        check = Assert(raw.LessEqual(self._length, padded), [told, self._length, " vs. ", padded])
        with scopes.control_dependencies([check]):
            self._length = identity(self._length)
        self._padded = padded

    def _make_barrier(self) -> Barrier:
        several = [*self._sequences.values(), *self._contexts.values(), *self._states.values()]
        types = FIXED_TYPES + [each.dtype.base_dtype for each in several]
        count = len(self._sequences)
        shapes: list[Any] = [[]] * len(FIXED_TYPES)
        shapes += [[self._num_unroll, *each.get_shape().as_list()[1:]] for each in several[:count]]
        shapes += [each.get_shape().as_list() for each in several[count:]]
        return Barrier(types, shapes, name="barrier")

    def _places(self) -> dict[str, list[int]]:
        """Return at which places sequences, contexts and states stand among the components."""
        begin, found = len(FIXED_TYPES), {}
        for kind in ("sequences", "contexts", "states"):
            end = begin + len(getattr(self, f"_{kind}"))
            found[kind], begin = list(range(begin, end)), end
        return found

    @property
    def name(self) -> str:
        """Return the scope of its nodes."""
        return self._scope

    @property
    def barrier(self) -> Barrier:
        """Return the barrier that holds the segments."""
        return self._barrier

    @property
    def batch_size(self) -> Any:
        """Return how many sequences a batch has."""
        return self._batch_size

    @property
    def num_unroll(self) -> int:
        """Return how many time steps a segment has."""
        return self._num_unroll

    # what goes in

    @property
    def prefetch_op(self) -> Operation:
        """Return the op that takes one sequence in; it is made when first asked for."""
        if self._prefetch_op is None:
            with scopes.name_scope(None), scopes.name_scope(self._scope):
                self._prefetch_op = self._prefetch()
        return self._prefetch_op

    def _prefetch(self) -> Operation:
        count: Any = div(self._padded, self._num_unroll)
        each = ones(expand_dims(count, 0), dtypes.int32)
        numbers: Any = range_of(count)
        left = self._length - self._num_unroll * numbers
        length = minimum(self._num_unroll, maximum(0, left))
        total, counts = self._length * each, count * each
        keys, next_keys = self._keys(count, numbers)
        sequences = [self._split(name, x, count) for name, x in self._sequences.items()]
        contexts = [self._copied(name, x, count) for name, x in self._contexts.items()]
        parts = [
            (SEQUENCE, numbers, "Sequence"), (COUNT, counts, "SequenceCount"),
            (NEXT_KEY, next_keys, "NextKey"), (LENGTH, length, "Length"),
            (TOTAL, total, "TotalLength"), *self._parts("contexts", contexts, "Context"),
            *self._parts("sequences", sequences, "Sequences"),
        ]  # fmt: skip
        inserts = [
            self._barrier.insert_many(place, keys, values, f"BarrierInsert{name}")
            for place, values, name in parts
        ]
        counted = self._queue.enqueue([TOKEN], name="fifo_queue_enqueue")
        with scopes.control_dependencies([inserts[0], counted]):  # that insert gives the indices
            begins = [
                self._barrier.insert_many(
                    place, stack([keys[0]]), stack([state]), f"BarrierInitialInsert{name}"
                )
                for place, state, name in self._parts("states", self._states.values(), "State")
            ]
        return group(*inserts, counted, *begins, name="StateSaverPrefetchGroup")

    def _parts(self, kind: str, values: Iterable[Any], told: str) -> Iterator[tuple[int, Any, str]]:
        """Yield (place among the components, values, what they are) of one kind."""
        names = [f"{told}_{name}" for name in getattr(self, f"_{kind}")]
        yield from zip(self._places()[kind], values, names, strict=True)

    def _keys(self, count: Any, numbers: Any) -> tuple[Any, Tensor]:
        """Return the keys of all segments, and those of the segments after them."""
        texts = [as_string(each, width=5, fill="0") for each in (numbers, count)]
        keys = string_join(
            [texts[0], "_of_", texts[1], ":", self._key], name="StringJoinCurrentKeys"
        )
        after = slice_of(keys, [1], [-1])
        stop = string_join(["STOP:", self._key], name="StringJoinStop")
        return keys, concat([after, expand_dims(stop, 0)], 0, name="concat_next_keys")

    def _split(self, name: str, sequence: Any, count: Any) -> Tensor:
        """Return the segments of a sequence, [segments, num_unroll, ...]."""
        rest = sequence.get_shape().as_list()[1:]
        ends = [expand_dims(count, 0), expand_dims(self._num_unroll, 0)]
        last = constant(rest, dtypes.int32, name=f"concat_sequences_{name}/values_2")
        sizes = concat([*ends, last], 0, name=f"concat_sequences_{name}")
        split = reshape(sequence, sizes, name=f"reshape_sequences_{name}")
        wanted = [count, self._num_unroll, *rest]
        return sizes_checked(split, f"reshaped_sequences_{name}", wanted)

    def _copied(self, name: str, context: Any, count: Any) -> Tensor:
        """Return a context for each segment."""
        known = context.get_shape().as_list()
        one = expand_dims(context, 0)
        each = constant([1] * len(known), dtypes.int32, name=f"concat_context_{name}/values_1")
        times = concat([expand_dims(count, 0), each], 0, name=f"concat_context_{name}")
        copied = tile(one, times, name=f"tile_context_{name}")
        return sizes_checked(copied, f"expanded_context_{name}", [count, *known])

    # what comes out

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """Return the batch of segments; it is made when first asked for."""
        if self._next_batch is None:
            _ = self.prefetch_op  # which TensorFlow makes first
            with scopes.name_scope(None), scopes.name_scope(self._scope):
                self._take()
            self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    def _take(self) -> None:
        taken: Any = self._barrier.take_many(
            self._batch_size, self._allow_small_batch, name="BarrierTakeMany"
        )
        self._taken, values = taken, taken.values
        self._taken_size = squeeze(shape(values[LENGTH]))
        self._is_last = greater_equal(values[SEQUENCE] + 1, values[COUNT])
        ended = reduce_sum(cast(self._is_last, dtypes.int32))
        gone = self._queue.dequeue_many(ended, name="fifo_queue_DequeueMany")
        places = self._places()
        with scopes.control_dependencies([gone.op]):
            states = [identity(values[place]) for place in places["states"]]
        self._taken_states = OrderedDict(zip(self._states, states, strict=True))
        self._taken_sequences = self._named(self._sequences, places["sequences"])
        self._taken_contexts = self._named(self._contexts, places["contexts"])

    def _named(self, names: dict[str, Any], places: list[int]) -> OrderedDict[str, Tensor]:
        values = [self._taken.values[place] for place in places]
        return OrderedDict(zip(names, values, strict=True))

    def _saved(self, state_name: str, value: Any, name: str | None) -> Operation:
        """Return an op that saves states for the next segments, of sequences that have some."""
        with (
            scopes.name_scope(name, "InputQueueingStateSaver_SaveState"),
            scopes.colocate_with(self._queue.queue_ref.op),
        ):
            rows = reshape(where(logical_not(self._is_last)), [-1])
            keys = gather(self._taken.values[NEXT_KEY], rows)
            value = identity(value, name=f"convert_{state_name}")
            value = shape_checked(value, shape(self._taken_states[state_name]))
            place = self._places()["states"][list(self._states).index(state_name)]
            kept = gather(value, rows)
            return self._barrier.insert_many(place, keys, kept, f"BarrierInsertState_{state_name}")

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """Return an op that closes the barrier and the queue: no sequence is taken in any more.

        Sequences that are inside go on, if there are enough for a batch or small ones are allowed.

        Args:
          cancel_pending_enqueues: whether sequences that wait to be taken in fail, and those that
            are inside end.
          name: of the op.
        """
        with scopes.name_scope(name, "SQSSClose") as scope:
            barrier = self._barrier.close(cancel_pending_enqueues, "BarrierClose")
            queue = self._queue.close(cancel_pending_enqueues, "FIFOClose")
            return group(barrier, queue, name=scope)


def _after_check(key: Any, batch_size: Any, capacity: Any) -> Any:
    """Return a key, which fails if a batch has more sequences than may be inside."""
    if capacity is None:
        return key
    if not isinstance(batch_size, Tensor):
        if capacity < batch_size:
            raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
        return key
    sizes = cast(capacity, dtypes.int64), cast(batch_size, dtypes.int64)
    check = assert_greater_equal(*sizes, message="capacity needs to be >= batch_size.")
    with scopes.control_dependencies([check]):
        return identity(key)


def _of_type(value: Any, dtype: Any, what: str) -> Tensor:
    tensor = convert_to_tensor(value, name=what)
    if tensor.dtype.base_dtype is not dtype:
        raise TypeError(
            f"{what} dtype must be {dtype.name}, but received: {tensor.dtype.base_dtype!r}"
        )
    return tensor


def _sorted(kind: str, given: Any) -> OrderedDict[str, Tensor]:
    """Return the tensors of a dict in the order of their names."""
    if not isinstance(given, dict):
        argument = {"sequence": "input_sequences", "context": "input_context"}
        raise TypeError(f"{argument.get(kind, 'initial_states')} must be a dictionary")
    for name in given:
        if not isinstance(name, str):
            raise TypeError(f"{kind} key must be string: {name}")
        if kind == "state" and ":" in name:
            raise ValueError(f"state name may not have a colon: '{name}'")
    return OrderedDict((name, convert_to_tensor(given[name])) for name in sorted(given))
