"""Helpers of training that sometimes take the decoder's own words instead of the text's.

Source: TF 1.15 API documentation, tf.contrib.seq2seq; Bengio et al. 2015, arXiv:1506.03099.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Tensor
from tfdist.models.rnn.dynamic_rnn import transpose_batch_time
from tfdist.models.rnn.step import map_pairs
from tfdist.models.seq2seq.helpers import TrainingHelper, array_of, drawn, embedding_function
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import fill
from tfdist.ops.array.gather_nd import gather_nd
from tfdist.ops.array.scatter_nd import scatter_nd
from tfdist.ops.array.shape import shape
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.math.comparison import logical_not, logical_or, where
from tfdist.ops.math.reductions import reduce_all, reduce_any
from tfdist.ops.random.random_ops import random_uniform

__all__ = ["ScheduledEmbeddingTrainingHelper", "ScheduledOutputTrainingHelper"]


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """A helper that reads a text, but now and then takes the row of a word that it draws.

    Args:
      inputs: tensor [batch, time, size], or [time, batch, size] if `time_major`.
      sequence_length: int [batch].
      embedding: float [symbols, size], or a function from ids to inputs.
      sampling_probability: float, or [batch]: how often it draws; 0 is `TrainingHelper`.
      time_major: whether the first axis of inputs is time.
      seed: for the words.
      scheduling_seed: for whether it draws.
      name: of the nodes' scope.

    Raises:
      ValueError: the probability is no scalar and no vector.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        values = [sampling_probability]
        with scopes.name_scope(name, "ScheduledEmbeddingSamplingWrapper", values):
            self._embedding_fn = embedding_function(embedding)
            self._probability = _checked(sampling_probability)
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return the words that were drawn, -1 where the text goes on."""
        with scopes.name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs]):
            draws = _chosen(self._probability, self.batch_size, self._scheduling_seed)
            words = drawn(outputs, self._seed)
            return where(draws, words, fill([self.batch_size], -1))

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: str | None = None,
        **_: Any,
    ) -> tuple[Any, Any, Any]:
        """Return which sequences have ended, the next inputs, and the state."""
        scope = "ScheduledEmbeddingTrainingHelperNextInputs"
        with scopes.name_scope(name, scope, [time, outputs]):
            finished, text, state = super().next_inputs(time, outputs, state, sample_ids)

            def mixed() -> Any:
                own = cast(where(sample_ids > -1), "int32")
                others = cast(where(sample_ids <= -1), "int32")
                rows = self._embedding_fn(gather_nd(sample_ids, own))
                sizes = shape(text)
                taken: Any = scatter_nd(own, rows, sizes)
                return taken + scatter_nd(others, gather_nd(text, others), sizes)

            return finished, cond(reduce_all(finished), lambda: text, mixed), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """A helper that reads a text, but now and then takes the decoder's last output.

    Args:
      inputs: tensor [batch, time, size], or [time, batch, size] if `time_major`.
      sequence_length: int [batch].
      sampling_probability: float, or [batch]: how often it takes the output.
      time_major: whether the first axis of inputs is time.
      seed: for whether it does.
      next_inputs_fn: from outputs to inputs, or a layer; the same by default.
      auxiliary_inputs: as `inputs`, what stands beside an output that is taken.
      name: of the nodes' scope.

    Raises:
      ValueError: the probability is no scalar and no vector.
      TypeError: `next_inputs_fn` cannot be called.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ) -> None:
        with scopes.name_scope(name, "ScheduledOutputTrainingHelper", [sampling_probability]):
            self._probability = _checked(sampling_probability)
            self._has_others = auxiliary_inputs is not None
            if next_inputs_fn is not None and not callable(next_inputs_fn):
                raise TypeError(f"next_inputs_fn must be callable, received {next_inputs_fn}")
            self._next_inputs_fn, self._seed = next_inputs_fn, seed
            if self._has_others:
                others = nest.map_leaves(convert_to_tensor, auxiliary_inputs)
                inputs = map_pairs(_beside, inputs, others)
                if not time_major:
                    others = nest.map_leaves(transpose_batch_time, others)
                self._others = nest.map_leaves(array_of, others)
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return 1 where the output is taken, 0 where the text goes on."""
        with scopes.name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs]):
            return cast(_chosen(self._probability, self.batch_size, self._seed), "int32")

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: str | None = None,
        **_: Any,
    ) -> tuple[Any, Any, Any]:
        """Return which sequences have ended, the next inputs, and the state."""
        scope = "ScheduledOutputTrainingHelperNextInputs"
        with scopes.name_scope(name, scope, [time, outputs]):
            finished, text, state = super().next_inputs(time, outputs, state, sample_ids)
            takes = cast(sample_ids, "bool")
            needless = logical_or(reduce_all(finished), logical_not(reduce_any(takes)))

            def mixed() -> list[Any]:
                own = self._as_inputs(outputs, time + 1)
                pairs = zip(nest.flatten(own), nest.flatten(text), strict=True)
                return [where(takes, one, other) for one, other in pairs]

            made = cond(needless, lambda: nest.flatten(text), mixed)
            flat = list(made) if isinstance(made, list | tuple) else [made]
            return finished, nest.pack_as(text, flat), state

    def _as_inputs(self, outputs: Any, time: Any) -> Any:
        made = outputs if self._next_inputs_fn is None else self._next_inputs_fn(outputs)
        if not self._has_others:
            return made
        return map_pairs(lambda one, array: concat([one, array.read(time)], -1), made, self._others)


def _beside(inputs: Any, others: Any) -> Any:
    return concat([convert_to_tensor(inputs), others], -1)


def _chosen(probability: Any, batch_size: Any, seed: int | None) -> Tensor:
    """Return for each sequence whether it was chosen."""
    chosen: Tensor = random_uniform([batch_size], seed=seed) < probability
    return chosen


def _checked(sampling_probability: Any) -> Tensor:
    probability = convert_to_tensor(sampling_probability, name="sampling_probability")
    known = probability.plain_shape
    if known is not None and len(known) > 1:
        raise ValueError(
            "sampling_probability must be either a scalar or a vector. saw shape: "
            f"{probability.get_shape()}"
        )
    return probability
