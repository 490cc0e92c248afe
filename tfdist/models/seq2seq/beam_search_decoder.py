"""BeamSearchDecoder: the likeliest sequences, several for each of a batch.

Source: TF 1.15 API documentation, tf.contrib.seq2seq.BeamSearchDecoder.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.models.layers.base import Layer
from tfdist.models.rnn.rnn_cell import check_cell
from tfdist.models.seq2seq.beam_scores import (
    Penalties,
    attention_of,
    log_probabilities,
    next_lengths,
    symbols_of,
)
from tfdist.models.seq2seq.beam_states import (
    Beams,
    BeamSearchDecoderState,
    sorted_arrays,
    tile_batch,
)
from tfdist.models.seq2seq.decoder import Decoder
from tfdist.models.seq2seq.helpers import embedding_function
from tfdist.ops.array.cast import cast
from tfdist.ops.array.fill import zeros, zeros_like
from tfdist.ops.array.one_hot import one_hot
from tfdist.ops.array.reshape import expand_dims, reshape
from tfdist.ops.array.shape import size
from tfdist.ops.array.tile_roll import tile
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.math.arithmetic import floormod
from tfdist.ops.math.comparison import equal, logical_not, logical_or
from tfdist.ops.math.division import truediv
from tfdist.ops.math.reductions import reduce_all, reduce_max
from tfdist.ops.math.top_k import top_k
from tfdist.ops.nn.gather_tree import gather_tree

__all__ = [
    "BeamSearchDecoder", "BeamSearchDecoderOutput", "BeamSearchDecoderState",
    "FinalBeamSearchDecoderOutput", "tile_batch",
]  # fmt: skip


class BeamSearchDecoderOutput(NamedTuple):
    """What a `BeamSearchDecoder` says in a step, each [batch, beams].

    Attributes:
      scores: log-probabilities with their penalties.
      predicted_ids: words.
      parent_ids: which beam of the step before each one continues.
    """

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """What a `BeamSearchDecoder` has said in the end.

    Attributes:
      predicted_ids: whole sequences [batch, time, beams], the best first.
      beam_search_decoder_output: what was said in each step, a `BeamSearchDecoderOutput`.
    """

    predicted_ids: Any
    beam_search_decoder_output: Any


class BeamSearchDecoder(Decoder):
    """A decoder that keeps the likeliest beginnings of sequences, and lets all of them go on.

    What the cell attends to, its lengths and its first state must be tiled by `tile_batch`.

    Args:
      cell: an RNNCell.
      embedding: float [symbols, size], or a function from ids to inputs.
      start_tokens: int [batch].
      end_token: int, what ends a sequence.
      initial_state: of the cell [batch * beam_width, ...].
      beam_width: how many are kept.
      output_layer: a layer behind the cell's output.
      length_penalty_weight: 0 for none; scores are divided by ((5 + length) / 6) to this power.
      coverage_penalty_weight: 0 for none; how much a sequence loses for places without attention.
      reorder_tensor_arrays: whether TensorArrays in the last state are put into the order of the
        beams, as tensors.

    Raises:
      TypeError: an argument is of another class.
      ValueError: the tokens have other ranks.

    Example:
      >>> cell, layer = nn.rnn_cell.GRUCell(4), layers.Dense(7)
      >>> state = contrib.seq2seq.tile_batch(cell.zero_state(2, "float32"), 3)
      >>> decoder = contrib.seq2seq.BeamSearchDecoder(
      ...     cell, ones([7, 5]), [1, 1], 0, state, beam_width=3, output_layer=layer
      ... )
      >>> outputs, _, _ = contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=10)
      >>> outputs.predicted_ids.shape.as_list()
      [2, None, 3]
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        check_cell("cell", cell)
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._output_layer, self._width = cell, output_layer, beam_width
        self._reorders = reorder_tensor_arrays
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens = convert_to_tensor(start_tokens, "int32", name="start_tokens")
        if len(self._start_tokens.plain_shape or [0]) != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = convert_to_tensor(end_token, "int32", name="end_token")
        if self._end_token.plain_shape not in ((), None):
            raise ValueError("end_token must be a scalar")
        self._batch_size = size(self._start_tokens)
        self._penalties = Penalties(length_penalty_weight, coverage_penalty_weight)
        self._beams = Beams(self._batch_size, beam_width)
        self._initial_state = nest.map_leaves(self._beams.split, initial_state)
        tokens = tile(expand_dims(self._start_tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(tokens)
        self._finished = one_hot(
            zeros([self._batch_size], "int32"), beam_width, False, True, dtype="bool"
        )  # at first all beams are the same: one is enough

    @property
    def batch_size(self) -> Any:
        """Return the number of sequences, of which each has several beams."""
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """Return True: beams change places."""
        return True

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        """Return the sizes of outputs: the number of beams."""
        return BeamSearchDecoderOutput(*[TensorShape([self._width])] * 3)

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        """Return the types of outputs."""
        return BeamSearchDecoderOutput(self._dtype, "int32", "int32")

    @property
    def _dtype(self) -> Any:
        return nest.flatten(self._initial_state)[0].dtype

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """Return which beams have ended, the first inputs, and the first state."""
        first = zeros([self._batch_size], "int32")
        log_probs = one_hot(first, self._width, 0.0, -np.inf, dtype=self._dtype)
        attention: Any = ()
        if self._penalties.needs_attention:
            attention = zeros_like(attention_of(self._initial_state))
        state = BeamSearchDecoderState(
            cell_state=self._initial_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=zeros([self._batch_size, self._width], "int64"),
            accumulated_attention_probs=attention,
        )
        return self._finished, self._start_inputs, state

    def step(
        self, time: Any, inputs: Any, state: Any, name: str | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """Return a step's output, the next state and inputs, and which beams have ended."""
        values = [time, *nest.flatten(inputs)]
        with scopes.name_scope(name, "BeamSearchDecoderStep", values):
            inputs = nest.map_leaves(self._beams.merge, inputs)
            outputs, cell_state = self._cell(
                inputs, nest.map_leaves(self._beams.merge, state.cell_state)
            )
            outputs = nest.map_leaves(self._beams.split, outputs)
            cell_state = nest.map_leaves(self._beams.split, cell_state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            output, state = self._chosen(outputs, cell_state, state)
            following = cond(
                reduce_all(state.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(output.predicted_ids),
            )
        return output, state, following, state.finished

    def _chosen(self, logits: Any, cell_state: Any, state: BeamSearchDecoderState) -> Any:
        """Return the best ways to go on, and their state."""
        before, symbols = state.finished, symbols_of(logits)
        total = log_probabilities(logits, state.log_probs, before, self._end_token)
        lengths = next_lengths(state.lengths, before, self._end_token, symbols)
        attention = self._attention(cell_state, state)
        scores = self._penalties.scores(total, lengths, attention, before)
        flat = reshape(scores, [self._batch_size, -1])
        best, places = top_k(flat, self._width)
        best.set_shape([self._beams.known, self._width])
        places.set_shape([self._beams.known, self._width])
        words = floormod(places, symbols, name="next_beam_word_ids")
        parents = cast(truediv(places, symbols), "int32", name="next_beam_parent_ids")
        ended = self._beams.gather(before, parents)
        after = BeamSearchDecoderState(
            cell_state=nest.map_leaves(
                lambda part: self._beams.gather_state(part, parents), cell_state
            ),
            log_probs=self._beams.gather_flat(total, places, name="next_beam_probs"),
            finished=logical_or(ended, equal(words, self._end_token), name="next_beam_finished"),
            lengths=self._beams.gather(state.lengths, parents) + cast(logical_not(ended), "int64"),
            accumulated_attention_probs=()
            if attention is None
            else self._beams.gather(attention, parents, name="next_accumulated_attention_probs"),
        )
        return BeamSearchDecoderOutput(best, words, parents), after

    def _attention(self, cell_state: Any, state: BeamSearchDecoderState) -> Any:
        if not self._penalties.needs_attention:
            return None
        going = expand_dims(cast(logical_not(state.finished), "float32"), 2)
        return state.accumulated_attention_probs + attention_of(cell_state) * going

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """Return whole sequences, as a `FinalBeamSearchDecoderOutput`, and the last state."""
        longest = cast(reduce_max(final_state.lengths, 1), "int32")
        predicted = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorders:
            cell_state = sorted_arrays(
                self._beams, final_state.cell_state, outputs.parent_ids, final_state.lengths
            )
            final_state = final_state._replace(cell_state=cell_state)
        return FinalBeamSearchDecoderOutput(predicted, outputs), final_state
