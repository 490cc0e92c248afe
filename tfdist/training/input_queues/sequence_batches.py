"""NextQueuedSequenceBatch: what a SequenceQueueingStateSaver gives, by name.

Source: TF 1.15 API documentation, tf.contrib.training.NextQueuedSequenceBatch.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from tfdist.graph.operation import Operation, Tensor

__all__ = ["NextQueuedSequenceBatch"]

# The components of a segment in the barrier: these, then sequences, contexts and states by name.
LENGTH, TOTAL, NEXT_KEY, SEQUENCE, COUNT = range(5)


class NextQueuedSequenceBatch:
    """A batch of segments: made by `SequenceQueueingStateSaver.next_batch`.

    Args:
      state_saver: the SequenceQueueingStateSaver.

    Example:
      >>> saver = contrib.training.SequenceQueueingStateSaver(
      ...     1, 2, 2, constant("s"), {"x": constant([5, 6])}, {}, {"n": constant(0)}
      ... )
      >>> saver.next_batch.sequences["x"].shape.as_list()
      [1, 2]
    """

    def __init__(self, state_saver: Any) -> None:
        self._state_saver = state_saver

    @property
    def total_length(self) -> Tensor:
        """Return int32 [batch]: how long the sequences are without padding."""
        return self._state_saver._taken.values[TOTAL]  # type: ignore[no-any-return]

    @property
    def length(self) -> Tensor:
        """Return int32 [batch]: how many time steps of each segment are no padding."""
        return self._state_saver._taken.values[LENGTH]  # type: ignore[no-any-return]

    @property
    def batch_size(self) -> Tensor:
        """Return an int32 scalar: how many segments there are."""
        return self._state_saver._taken_size  # type: ignore[no-any-return]

    @property
    def insertion_index(self) -> Tensor:
        """Return int64 [batch], which grow with each sequence that is taken in, from -2**63."""
        return self._state_saver._taken.indices  # type: ignore[no-any-return]

    @property
    def key(self) -> Tensor:
        """Return string [batch]: the segments' keys, such as "00000_of_00002:the key"."""
        return self._state_saver._taken.keys  # type: ignore[no-any-return]

    @property
    def next_key(self) -> Tensor:
        """Return string [batch]: keys of the segments after these; "STOP:the key" at the end."""
        return self._state_saver._taken.values[NEXT_KEY]  # type: ignore[no-any-return]

    @property
    def sequence(self) -> Tensor:
        """Return int32 [batch]: the segments' numbers, from 0."""
        return self._state_saver._taken.values[SEQUENCE]  # type: ignore[no-any-return]

    @property
    def sequence_count(self) -> Tensor:
        """Return int32 [batch]: how many segments the sequences have."""
        return self._state_saver._taken.values[COUNT]  # type: ignore[no-any-return]

    @property
    def context(self) -> OrderedDict[str, Tensor]:
        """Return the contexts by name, [batch, ...]."""
        return self._state_saver._taken_contexts  # type: ignore[no-any-return]

    @property
    def sequences(self) -> OrderedDict[str, Tensor]:
        """Return the segments by name, [batch, num_unroll, ...]."""
        return self._state_saver._taken_sequences  # type: ignore[no-any-return]

    def state(self, state_name: str) -> Tensor:
        """Return states before these segments, [batch, ...].

        Args:
          state_name: one of those of `initial_states`.

        Raises:
          KeyError: it is none of them.
        """
        return self._state_saver._taken_states[state_name]  # type: ignore[no-any-return]

    def save_state(self, state_name: str, value: Any, name: str | None = None) -> Operation:
        """Return an op that saves states after these segments; it must be run with each batch.

        Args:
          state_name: one of those of `initial_states`.
          value: [batch, ...].
          name: of the scope of its nodes.

        Raises:
          KeyError: there is no such state.
          ValueError: the value is of another shape.
        """
        if state_name not in self._state_saver._taken_states:
            raise KeyError(f"state was not declared: {state_name}")
        return self._state_saver._saved(state_name, value, name)  # type: ignore[no-any-return]
