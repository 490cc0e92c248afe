"""Networks of the first releases that turn a list of words into another one, and their buckets.

Source: TF 1.15 API documentation, tf.contrib.legacy_seq2seq; Sutskever et al. 2014
(arXiv:1409.3215), Bahdanau et al. 2014 (arXiv:1409.0473).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.models.layers.base import Layer
from tfdist.models.rnn.projections import EmbeddingWrapper, OutputProjectionWrapper
from tfdist.models.rnn.sequence_loss import legacy_sequence_loss, sequence_loss_by_example
from tfdist.models.rnn.static_rnn import static_rnn
from tfdist.models.seq2seq.legacy_decoders import (
    embedding_attention_decoder,
    embedding_rnn_decoder,
    looked_up,
    rnn_decoder,
)
from tfdist.ops.array.concat import concat
from tfdist.ops.array.reshape import reshape
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.nn.embedding_lookup import embedding_lookup
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.variable_scope import get_variable_scope, variable_scope

__all__ = [
    "basic_rnn_seq2seq", "embedding_attention_seq2seq", "embedding_rnn_seq2seq",
    "embedding_tied_rnn_seq2seq", "model_with_buckets", "one2many_rnn_seq2seq",
    "tied_rnn_seq2seq",
]  # fmt: skip

Outputs = tuple[list[Any], Any]


def basic_rnn_seq2seq(
    encoder_inputs: Any, decoder_inputs: Any, cell: Any, dtype: Any = "float32", scope: Any = None
) -> Outputs:
    """Return what a cell says after another one like it has read.

    Args:
      encoder_inputs: a list of tensors [batch, size], what is read.
      decoder_inputs: a list of tensors [batch, size].
      cell: an RNNCell, of which there are two then.
      dtype: of the first state.
      scope: variable scope, or its name; "basic_rnn_seq2seq" by default.

    Returns:
      A list of outputs, and the last state.

    Example:
      >>> x = zeros([2, 3])
      >>> seq2seq = contrib.legacy_seq2seq.basic_rnn_seq2seq
      >>> outputs, _ = seq2seq([x, x], [x], nn.rnn_cell.GRUCell(4))
      >>> outputs, len(trainable_variables())
      ([<tf.Tensor 'basic_rnn_seq2seq/rnn_decoder/gru_cell/add:0' shape=(2, 4) dtype=float32>], 8)
    """
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(_twin(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    loop_function: Callable[[Any, int], Any] | None = None,
    dtype: Any = "float32",
    scope: Any = None,
) -> Outputs:
    """Do as `basic_rnn_seq2seq`, with one cell that reads and speaks.

    Args:
      encoder_inputs: a list of tensors [batch, size], what is read.
      decoder_inputs: a list of tensors [batch, size].
      cell: an RNNCell.
      loop_function: see `rnn_decoder`.
      dtype: of the first state.
      scope: variable scope, or its name; "combined_tied_rnn_seq2seq" by default.
    """
    with variable_scope("combined_tied_rnn_seq2seq"):
        inner = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=inner)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function, inner)


def embedding_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> Outputs:
    """Return what a cell says after another one like it has read a list of words.

    Args:
      encoder_inputs: a list of int tensors [batch], what is read.
      decoder_inputs: a list of int tensors [batch].
      cell: an RNNCell, of which there are two then.
      num_encoder_symbols: number of words that are read.
      num_decoder_symbols: number of words that are said.
      embedding_size: size of a word's row.
      output_projection: pair of weights [output size, words] and biases [words]; outputs are the
        cell's then. Without it they are of the size [batch, words].
      feed_previous: whether inputs are the words said last: a bool, or a bool tensor.
      dtype: of the first state and the variables; the scope's by default.
      scope: variable scope, or its name; "embedding_rnn_seq2seq" by default.

    Returns:
      A list of outputs, and the last state.

    Example:
      >>> ids = zeros([2], "int32")
      >>> seq2seq = contrib.legacy_seq2seq.embedding_rnn_seq2seq
      >>> outputs, _ = seq2seq([ids], [ids], nn.rnn_cell.GRUCell(4), 7, 9, 3)
      >>> outputs[0].shape.as_list()
      [2, 9]
    """
    feeds = feed_previous  # if it is a tensor, gradients do not flow into rows of own words
    with variable_scope(scope or "embedding_rnn_seq2seq", dtype=dtype) as inner:
        encoder = EmbeddingWrapper(_twin(cell), num_encoder_symbols, embedding_size)
        _, state = static_rnn(encoder, encoder_inputs, dtype=dtype or inner.dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feed_previous: bool) -> Outputs:
            return embedding_rnn_decoder(
                decoder_inputs, state, cell, num_decoder_symbols, embedding_size,
                output_projection, feed_previous, isinstance(feeds, bool),
            )  # fmt: skip

        return _decoded(decode, feed_previous, len(decoder_inputs), state)


def embedding_tied_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> Outputs:
    """Do as `embedding_rnn_seq2seq`, with one cell and one matrix of words to read and to speak.

    Args:
      encoder_inputs: a list of int tensors [batch], what is read.
      decoder_inputs: a list of int tensors [batch].
      cell: an RNNCell.
      num_symbols: number of words.
      embedding_size: size of a word's row.
      num_decoder_symbols: number of words that are said, if they are less.
      output_projection: see `embedding_rnn_seq2seq`.
      feed_previous: see `embedding_rnn_seq2seq`.
      dtype: of the first state and the variables; the scope's by default.
      scope: variable scope, or its name; "embedding_tied_rnn_seq2seq" by default.

    Raises:
      ValueError: the projection is of another shape.
    """
    feeds = feed_previous  # if it is a tensor, gradients do not flow into rows of own words
    with variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as inner:
        dtype = inner.dtype
        said = num_symbols if num_decoder_symbols is None else num_decoder_symbols
        embedding = get_variable("embedding", [num_symbols, embedding_size], dtype)
        read = [embedding_lookup(embedding, ids) for ids in encoder_inputs]
        told = [embedding_lookup(embedding, ids) for ids in decoder_inputs]
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, said)

        def decode(feed_previous: bool) -> Outputs:
            updates = isinstance(feeds, bool)
            loop = looked_up(embedding, output_projection, updates) if feed_previous else None
            return tied_rnn_seq2seq(read, told, cell, loop, dtype)

        zero = cell.zero_state(1, dtype) if nest.is_nested(cell.state_size) else None
        return _decoded(decode, feed_previous, len(decoder_inputs), zero)


def embedding_attention_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> Outputs:
    """Do as `embedding_rnn_seq2seq`, with attention to what the reading cell said.

    Args:
      encoder_inputs: a list of int tensors [batch], what is read.
      decoder_inputs: a list of int tensors [batch].
      cell: an RNNCell, of which there are two then.
      num_encoder_symbols: number of words that are read.
      num_decoder_symbols: number of words that are said.
      embedding_size: size of a word's row.
      num_heads: how many attentions there are, side by side.
      output_projection: see `embedding_rnn_seq2seq`.
      feed_previous: see `embedding_rnn_seq2seq`.
      dtype: of the first state and the variables; the scope's by default.
      scope: variable scope, or its name; "embedding_attention_seq2seq" by default.
      initial_state_attention: see `attention_decoder`.
    """
    feeds = feed_previous  # if it is a tensor, gradients do not flow into rows of own words
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as inner:
        encoder = EmbeddingWrapper(_twin(cell), num_encoder_symbols, embedding_size)
        outputs, state = static_rnn(encoder, encoder_inputs, dtype=inner.dtype)
        states = concat([reshape(each, [-1, 1, cell.output_size]) for each in outputs], 1)
        size = None
        if output_projection is None:
            cell, size = OutputProjectionWrapper(cell, num_decoder_symbols), num_decoder_symbols

        def decode(feed_previous: bool) -> Outputs:
            return embedding_attention_decoder(
                decoder_inputs, state, states, cell, num_decoder_symbols, embedding_size,
                num_heads, size, output_projection, feed_previous, isinstance(feeds, bool),
                initial_state_attention=initial_state_attention,
            )  # fmt: skip

        return _decoded(decode, feed_previous, len(decoder_inputs), state)


def one2many_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs_dict: dict[str, Any],
    enc_cell: Any,
    dec_cells_dict: dict[str, Any],
    num_encoder_symbols: int,
    num_decoder_symbols_dict: dict[str, int],
    embedding_size: int,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what several cells say after one has read a list of words.

    Args:
      encoder_inputs: a list of int tensors [batch], what is read.
      decoder_inputs_dict: by the decoder's name, a list of int tensors [batch].
      enc_cell: the RNNCell that reads.
      dec_cells_dict: by name, the RNNCells that speak.
      num_encoder_symbols: number of words that are read.
      num_decoder_symbols_dict: by name, number of words that are said.
      embedding_size: size of a word's row.
      feed_previous: see `embedding_rnn_seq2seq`.
      dtype: of the first state and the variables; the scope's by default.
      scope: variable scope, or its name; "one2many_rnn_seq2seq" by default.

    Returns:
      By name, lists of outputs; by name, last states.
    """
    outputs, states = {}, {}
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as inner:
        encoder = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, state = static_rnn(encoder, encoder_inputs, dtype=inner.dtype)
        for name, decoder_inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)

                def decode(
                    feed_previous: bool,
                    cell: Any = cell,
                    decoder_inputs: Any = decoder_inputs,
                    symbols: int = symbols,
                ) -> Outputs:
                    return embedding_rnn_decoder(
                        decoder_inputs, state, cell, symbols, embedding_size,
                        feed_previous=feed_previous,
                    )  # fmt: skip

                outputs[name], states[name] = _decoded(
                    decode, feed_previous, len(decoder_inputs), state
                )
    return outputs, states


def model_with_buckets(
    encoder_inputs: Any,
    decoder_inputs: Any,
    targets: Any,
    weights: Any,
    buckets: Any,
    seq2seq: Callable[[Any, Any], Any],
    softmax_loss_function: Callable[..., Any] | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """Return outputs and losses of a network for each of several lengths.

    Args:
      encoder_inputs: a list of tensors, what is read, as long as the last bucket.
      decoder_inputs: a list of tensors.
      targets: a list of int tensors [batch].
      weights: a list of float tensors [batch].
      buckets: pairs of lengths, of what is read and what is said, the shortest first.
      seq2seq: from encoder's and decoder's inputs to outputs and state, as
        `lambda x, y: embedding_rnn_seq2seq(x, y, cell, ...)`.
      softmax_loss_function: see `sequence_loss_by_example`.
      per_example_loss: whether a loss is [batch], not a scalar.
      name: of the nodes' scope.

    Raises:
      ValueError: a list is shorter than the last bucket.
    """
    for what, given, wanted in (
        ("encoder_inputs", encoder_inputs, buckets[-1][0]), ("targets", targets, buckets[-1][1]),
        ("weights", weights, buckets[-1][1]),
    ):  # fmt: skip
        if len(given) < wanted:
            raise ValueError(
                f"Length of {what} ({len(given)}) must be at least that of last bucket ({wanted})."
            )
    loss = sequence_loss_by_example if per_example_loss else legacy_sequence_loss
    outputs, losses = [], []
    values = [*encoder_inputs, *decoder_inputs, *targets, *weights]
    with scopes.name_scope(name, "model_with_buckets", values):
        for number, (read, said) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if number > 0 else None):
                made, _ = seq2seq(encoder_inputs[:read], decoder_inputs[:said])
                outputs.append(made)
                options: Any = {"softmax_loss_function": softmax_loss_function}
                losses.append(loss(made, targets[:said], weights[:said], **options))
    return outputs, losses


def _decoded(
    decode: Callable[[bool], Outputs], feed_previous: Any, count: int, model: Any
) -> Outputs:
    """Return what is decoded; if a tensor says how, both ways are there, of one set of variables.

    Args:
      decode: from whether it hears its own words to outputs and state.
      feed_previous: a bool, or a bool tensor.
      count: number of outputs.
      model: a state, which tells the structure of states.
    """
    if isinstance(feed_previous, bool):
        return decode(feed_previous)

    def branch(feeds: bool) -> list[Any]:
        with variable_scope(get_variable_scope(), reuse=None if feeds else True):
            outputs, state = decode(feeds)
        return outputs + nest.flatten(state)

    flat = list(cond(feed_previous, lambda: branch(True), lambda: branch(False)))
    state = flat[count] if not nest.is_nested(model) else nest.pack_as(model, flat[count:])
    return flat[:count], state


def _twin(cell: Any, made: dict[int, Any] | None = None) -> Any:
    """Return a cell like `cell`, with cells like those in it, that makes variables of its own."""
    made = {} if made is None else made
    if id(cell) not in made:
        if isinstance(cell, Layer) or hasattr(cell, "state_size"):
            made[id(cell)] = twin = copy.copy(cell)
            for name, value in vars(cell).items():
                setattr(twin, name, _twin(value, made))
        elif type(cell) in (list, tuple):
            made[id(cell)] = type(cell)(_twin(each, made) for each in cell)
        else:
            return cell
    return made[id(cell)]
