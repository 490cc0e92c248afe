"""Decoders of the first releases, which are lists of steps: with embeddings, and with attention.

Source: TF 1.15 API documentation, tf.contrib.legacy_seq2seq; Vinyals et al. 2014
(arXiv:1412.7449) for the attention.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from tfdist.base import nest
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.models.rnn.projections import linear
from tfdist.ops.array.concat import concat, stack
from tfdist.ops.array.fill import zeros
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.control_flow.identity_group import stop_gradient
from tfdist.ops.convolution.functions import conv2d
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.math.top_k import argmax
from tfdist.ops.nn.embedding_lookup import embedding_lookup
from tfdist.ops.nn.functions import xw_plus_b
from tfdist.ops.nn.softmax import softmax
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.variable_scope import get_variable_scope, variable_scope

__all__ = [
    "attention_decoder", "embedding_attention_decoder", "embedding_rnn_decoder", "rnn_decoder",
]  # fmt: skip

Loop = Callable[[Any, int], Any]


def rnn_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    cell: Any,
    loop_function: Loop | None = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Return the outputs of a cell for a list of inputs, and the last state.

    Args:
      decoder_inputs: a list of tensors [batch, size].
      initial_state: of the cell.
      cell: an RNNCell.
      loop_function: from the last output and the number of the step to the input; without it, and
        in the first step, inputs come from the list.
      scope: variable scope, or its name; "rnn_decoder" by default.

    Example:
      >>> x, cell = zeros([2, 3]), nn.rnn_cell.GRUCell(4)
      >>> outputs, _ = contrib.legacy_seq2seq.rnn_decoder([x, x], zeros([2, 4]), cell)
      >>> outputs[1]
      <tf.Tensor 'rnn_decoder/gru_cell/add_1:0' shape=(2, 4) dtype=float32>
    """
    with variable_scope(scope or "rnn_decoder"):
        state, outputs = initial_state, list[Any]()
        for step, given in enumerate(decoder_inputs):
            given = _input(loop_function, outputs, step, given)
            if step > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(given, state)
            outputs.append(output)
    return outputs, state


def _input(loop_function: Loop | None, outputs: list[Any], step: int, given: Any) -> Any:
    """Return what goes into a step: what is given, or what is made of the last output."""
    if loop_function is None or not outputs:
        return given
    with variable_scope("loop_function", reuse=True):
        return loop_function(outputs[-1], step)


def attention_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: Loop | None = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Return the outputs of a cell that attends to states, for a list of inputs.

    Args:
      decoder_inputs: a list of tensors [batch, size].
      initial_state: of the cell.
      attention_states: float [batch, places, size], what is attended to.
      cell: an RNNCell.
      output_size: of the outputs; the cell's by default.
      num_heads: how many attentions there are, side by side.
      loop_function: see `rnn_decoder`.
      dtype: of the variables; the scope's by default.
      scope: variable scope, or its name; "attention_decoder" by default.
      initial_state_attention: whether the first step sees what the initial state attends to; zeros
        by default.

    Returns:
      A list of outputs [batch, output_size], and the last state.

    Raises:
      ValueError: there are no inputs, there is no head, or the size of the states is unknown.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if convert_to_tensor(attention_states).get_shape().as_list()[2] is None:
        raise ValueError(
            f"Shape[2] of attention_states must be known: {attention_states.get_shape()}"
        )
    output_size = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype) as inner:
        batch_size = shape(decoder_inputs[0])[0]  # type: ignore[index]
        heads = _Heads(attention_states, num_heads)
        state, outputs = initial_state, list[Any]()
        attended = heads.before(batch_size, inner.dtype)
        if initial_state_attention:
            attended = heads.attended(initial_state)
        with variable_scope(inner):
            pass  # TensorFlow opens it once more: names of nodes tell
        for step, given in enumerate(decoder_inputs):
            if step > 0:
                get_variable_scope().reuse_variables()
            given = _input(loop_function, outputs, step, given)
            size = given.plain_shape[1] if given.plain_shape else None
            if size is None:
                raise ValueError(f"Could not infer input size from input: {given.name}")
            output, state = cell(linear([given, *attended], size, True), state)
            is_second = step == 0 and initial_state_attention
            with variable_scope(get_variable_scope(), reuse=True) if is_second else nullcontext():
                attended = heads.attended(state)
            with variable_scope("AttnOutputProjection"):
                outputs.append(linear([output, *attended], output_size, True))
    return outputs, state


class _Heads:
    """Attentions to states [batch, places, size]: v . tanh(W state + U query) of each place."""

    def __init__(self, states: Any, count: int) -> None:
        _, places, size = states.plain_shape
        self._places: Any = shape(states)[1] if places is None else places  # type: ignore[index]
        self._size = size
        self._hidden = reshape(states, [-1, self._places, 1, size])
        self._features, self._weights = list[Any](), list[Any]()
        for head in range(count):
            kernel = get_variable(f"AttnW_{head}", [1, 1, size, size])
            self._features.append(conv2d(self._hidden, kernel, [1, 1, 1, 1], "SAME"))
            self._weights.append(get_variable(f"AttnV_{head}", [size]))

    def before(self, batch_size: Any, dtype: Any) -> list[Any]:
        """Return what is attended to before the first step: nothing."""
        known = stack([batch_size, self._size])
        made = [zeros(known, dtype) for _ in self._weights]
        for each in made:
            each.set_shape([None, self._size])
        return made

    def attended(self, query: Any) -> list[Any]:
        """Return what each head makes of the states for a query, which is the state of a cell."""
        parts = nest.flatten(query)
        query = concat(parts, 1) if nest.is_nested(query) else query
        return [self._one(head, query) for head in range(len(self._weights))]

    def _one(self, head: int, query: Any) -> Tensor:
        with variable_scope(f"Attention_{head}"):
            wanted = reshape(linear(query, self._size, True), [-1, 1, 1, self._size])
            scores = self._weights[head] * raw.Tanh(self._features[head] + wanted)
            shares: Any = softmax(reduce_sum(scores, [2, 3]))
            shares = reshape(shares, [-1, self._places, 1, 1])
            return reshape(reduce_sum(shares * self._hidden, [1, 2]), [-1, self._size])


def embedding_rnn_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Return the outputs of a cell for a list of words, and the last state.

    Args:
      decoder_inputs: a list of int tensors [batch].
      initial_state: of the cell.
      cell: an RNNCell.
      num_symbols: number of words.
      embedding_size: size of a word's row.
      output_projection: pair of weights [output size, words] and biases [words], with which the
        next word is found in an output; None if outputs have the size already.
      feed_previous: whether inputs are the words said last, but for the first one.
      update_embedding_for_previous: whether gradients flow into rows that are taken so.
      scope: variable scope, or its name; "embedding_rnn_decoder" by default.

    Raises:
      ValueError: the projection is of another shape.
    """
    with variable_scope(scope or "embedding_rnn_decoder"):
        _check_projection(output_projection, num_symbols)
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop = looked_up(embedding, output_projection, update_embedding_for_previous)
        rows = (embedding_lookup(embedding, ids) for ids in decoder_inputs)
        return rnn_decoder(rows, initial_state, cell, loop if feed_previous else None)


def embedding_attention_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Return the outputs of a cell that attends to states, for a list of words.

    Args:
      decoder_inputs: a list of int tensors [batch].
      initial_state: of the cell.
      attention_states: float [batch, places, size], what is attended to.
      cell: an RNNCell.
      num_symbols: number of words.
      embedding_size: size of a word's row.
      num_heads: how many attentions there are, side by side.
      output_size: of the outputs; the cell's by default.
      output_projection: see `embedding_rnn_decoder`.
      feed_previous: see `embedding_rnn_decoder`.
      update_embedding_for_previous: see `embedding_rnn_decoder`.
      dtype: of the variables; the scope's by default.
      scope: variable scope, or its name; "embedding_attention_decoder" by default.
      initial_state_attention: see `attention_decoder`.

    Raises:
      ValueError: the projection is of another shape; see `attention_decoder`, too.
    """
    output_size = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        _check_projection(output_projection, num_symbols)
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop = looked_up(embedding, output_projection, update_embedding_for_previous)
        rows = [embedding_lookup(embedding, ids) for ids in decoder_inputs]
        return attention_decoder(
            rows, initial_state, attention_states, cell, output_size, num_heads,
            loop if feed_previous else None,
            initial_state_attention=initial_state_attention,
        )  # fmt: skip


def _check_projection(output_projection: Any, num_symbols: int) -> None:
    if output_projection is not None:
        biases = convert_to_tensor(output_projection[1])
        biases.get_shape().assert_is_compatible_with([num_symbols])


def looked_up(embedding: Any, output_projection: Any, update: bool) -> Loop:
    """Return a function from an output to the row of the word that it says."""

    def loop_function(previous: Any, _: int) -> Any:
        if output_projection is not None:
            previous = xw_plus_b(previous, *output_projection)
        row = embedding_lookup(embedding, argmax(previous, 1))
        return row if update else stop_gradient(row)

    return loop_function
