"""Attention: how much of a memory belongs to a query, by Bahdanau and by Luong.

Source: TF 1.15 API documentation, tf.contrib.seq2seq; Bahdanau et al. 2014 (arXiv:1409.0473),
Luong et al. 2015 (arXiv:1508.04025), Salimans and Kingma 2016 (arXiv:1602.07868) for `normalize`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.models.layers.core import Dense
from tfdist.models.rnn.rnn_cell import batch_of, zeros_of
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import ones, ones_like
from tfdist.ops.array.one_hot import one_hot
from tfdist.ops.array.range import sequence_mask
from tfdist.ops.array.reshape import expand_dims, reshape, squeeze
from tfdist.ops.array.shape import rank, shape
from tfdist.ops.checks.assertions import assert_positive
from tfdist.ops.math.comparison import where
from tfdist.ops.math.matmul import matmul
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn.softmax import softmax
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import (
    constant_initializer,
    ones_initializer,
    zeros_initializer,
)
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["AttentionMechanism", "BahdanauAttention", "LuongAttention", "hardmax"]


class AttentionMechanism:
    """What all attention mechanisms are.

    A subclass has `alignments_size`, `state_size`, `batch_size`, `values`, `initial_alignments`
    and `initial_state`, and can be called: `(query, state)` gives alignments and the next state.
    """

    @property
    def alignments_size(self) -> Any:
        """Return the number of places in the memory."""
        raise NotImplementedError(f"{type(self).__name__} does not tell its alignments_size")

    @property
    def state_size(self) -> Any:
        """Return the size of the state."""
        raise NotImplementedError(f"{type(self).__name__} does not tell its state_size")


class MemoryAttention(AttentionMechanism):
    """A mechanism with a memory: its values, and the keys that queries are compared with.

    Subclasses of programs call `__init__` and `_probability_fn`, and read the attributes.
    """

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Callable[..., Any],
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self._given_probability_fn, self._score_mask_value = probability_fn, score_mask_value
        with scopes.name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._lengths = None
            if memory_sequence_length is not None:
                self._lengths = convert_to_tensor(
                    memory_sequence_length, name="memory_sequence_length"
                )
            self._values = masked_memory(memory, self._lengths)
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                if not callable(custom_key_value_fn):
                    raise TypeError("custom_key_value_fn must be callable")
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size, self._alignments_size = batch_of(self._keys), batch_of(self._keys, 1)

    @property
    def memory_layer(self) -> Dense:
        """Return the layer that makes keys of the memory."""
        return self._memory_layer

    @property
    def query_layer(self) -> Dense | None:
        """Return the layer that queries go through first, None if they do not."""
        return self._query_layer

    @property
    def values(self) -> Tensor:
        """Return the memory [batch, places, size]; 0 behind the ends."""
        return self._values

    @property
    def keys(self) -> Tensor:
        """Return the keys [batch, places, units]."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """Return the number of memories: an int, or a tensor."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        """Return the number of places: an int, or a tensor."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """Return the size of the state, which is the alignments."""
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Tensor:
        """Return the alignments before the first step: zeros."""
        return zeros_of(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Tensor:
        """Return the state before the first step."""
        return self.initial_alignments(batch_size, dtype)

    def _probability_fn(self, score: Any, previous: Any) -> Any:
        """Return the alignments of scores; `previous` are those, or the state, of before."""
        masked = masked_score(score, self._lengths, None, self._score_mask_value)
        return self._given_probability_fn(masked, previous)

    def _processed(self, query: Any) -> Any:
        return self._query_layer(query) if self._query_layer else query


class BahdanauAttention(MemoryAttention):
    """Attention by addition: v . tanh(keys + query), after each has gone through a layer.

    Args:
      num_units: size of keys and queries behind their layers.
      memory: float [batch, places, size], what is attended to; often the outputs of an encoder.
      memory_sequence_length: int [batch]; places behind it are not attended to.
      normalize: whether v has a length of its own, and scores a bias.
      probability_fn: from scores [batch, places] to alignments; softmax by default.
      score_mask_value: score of places behind the ends; -inf by default.
      dtype: of the layers; float32 by default.
      custom_key_value_fn: function of keys and values, that returns both changed.
      name: of the nodes' scope.

    Example:
      >>> attention = contrib.seq2seq.BahdanauAttention(4, ones([2, 3, 5]), [3, 1])
      >>> alignments, state = attention(zeros([2, 6]), state=None)
      >>> alignments.shape.as_list(), [v.name for v in trainable_variables()]
      ([2, 3], ['memory_layer/kernel:0', 'bahdanau_attention/query_layer/kernel:0', \
'bahdanau_attention/attention_v:0'])
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "BahdanauAttention",
    ) -> None:
        dtype = dtype or "float32"
        self._normalize, self._name = normalize, name
        self._num_units = num_units
        with scopes.name_scope(name, "BahdanauAttention", nest.flatten(memory)) as scope:
            super().__init__(
                unbiased("query_layer", num_units, dtype), memory, without_state(probability_fn),
                memory_sequence_length, unbiased("memory_layer", num_units, dtype), True,
                score_mask_value, custom_key_value_fn, scope,
            )  # fmt: skip

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Return alignments [batch, places] of a query [batch, size], and the next state."""
        with variable_scope(None, "bahdanau_attention", [query]):
            score = bahdanau_score(self._processed(query), self._keys, self._normalize)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class LuongAttention(MemoryAttention):
    """Attention by multiplication: keys . query.

    Args:
      num_units: size of keys; queries must have it.
      memory: float [batch, places, size], what is attended to; often the outputs of an encoder.
      memory_sequence_length: int [batch]; places behind it are not attended to.
      scale: whether scores are multiplied by a variable.
      probability_fn: from scores [batch, places] to alignments; softmax by default.
      score_mask_value: score of places behind the ends; -inf by default.
      dtype: of the layer; float32 by default.
      custom_key_value_fn: function of keys and values, that returns both changed.
      name: of the nodes' scope.

    Raises:
      ValueError: when it is called and the query is of another size.

    Example:
      >>> attention = contrib.seq2seq.LuongAttention(4, ones([2, 3, 5]))
      >>> alignments, _ = attention(zeros([2, 4]), state=None)
      >>> alignments.shape.as_list(), [v.name for v in trainable_variables()]
      ([2, 3], ['memory_layer/kernel:0'])
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "LuongAttention",
    ) -> None:
        self._scale, self._name = scale, name
        self._num_units = num_units
        with scopes.name_scope(name, "LuongAttention", nest.flatten(memory)) as scope:
            super().__init__(
                None, memory, without_state(probability_fn), memory_sequence_length,
                unbiased("memory_layer", num_units, dtype or "float32"), True, score_mask_value,
                custom_key_value_fn, scope,
            )  # fmt: skip

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Return alignments [batch, places] of a query [batch, size], and the next state."""
        with variable_scope(None, "luong_attention", [query]):
            score = luong_score(query, self._keys, self._scale)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def bahdanau_score(query: Any, keys: Any, normalize: bool) -> Tensor:
    """Return the sum over units of v * tanh(keys + query), for each place."""
    units, dtype = keys.plain_shape[2], query.dtype.base_dtype
    v = get_variable("attention_v", [units], dtype)
    if not normalize:
        return added_score(query, keys, v)
    length = constant_initializer(math.sqrt(1.0 / units))
    g = get_variable("attention_g", dtype=dtype, initializer=length, shape=())
    b = get_variable("attention_b", [units], dtype, zeros_initializer())
    return added_score(query, keys, v, g, b)


def added_score(
    processed_query: Any, keys: Any, attention_v: Any, attention_g: Any = None,
    attention_b: Any = None,
) -> Tensor:  # fmt: skip
    """Return the sum over units of v * tanh(keys + query), with v of length g if there is one."""
    query, v = expand_dims(processed_query, 1), attention_v
    if attention_g is None or attention_b is None:
        return reduce_sum(v * raw.Tanh(keys + query), [2])
    direction = attention_g * v * raw.Rsqrt(reduce_sum(raw.Square(v)))
    return reduce_sum(direction * raw.Tanh(keys + query + attention_b), [2])


def luong_score(query: Any, keys: Any, scale: bool) -> Tensor:
    """Return the product of query and key, for each place."""
    size, units = query.plain_shape[-1], keys.plain_shape[-1]
    if size != units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  Query "
            f"({query}) has units: {size}.  Keys ({keys}) have units: {units}.  Perhaps you need "
            "to set num_units to the keys' dimension ({units})?"
        )
    dtype, g = query.dtype.base_dtype, None
    if scale:
        g = get_variable("attention_g", dtype=dtype, initializer=ones_initializer(), shape=())
    score: Tensor = squeeze(matmul(expand_dims(query, 1), keys, transpose_b=True), [1])
    return score if g is None else g * score


def without_state(probability_fn: Callable[[Any], Any] | None) -> Callable[..., Any]:
    """Return a function of scores and state that does not need the state."""
    function = probability_fn or softmax
    return lambda score, _: function(score)


def hardmax(logits: Any, name: str | None = None) -> Tensor:
    """Return 1 where the last axis is greatest, first of all if several are, and 0 elsewhere.

    Args:
      logits: float tensor [..., n].
      name: of the nodes' scope.

    Example:
      >>> Session().run(contrib.seq2seq.hardmax([[1.0, 3.0, 2.0]]))
      array([[0., 1., 0.]], dtype=float32)

    Source: TF 1.15 API documentation, tf.contrib.seq2seq.hardmax.
    """
    with scopes.name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        sizes: Any = shape(logits)
        depth = logits.plain_shape[-1] if logits.plain_shape else None
        depth = sizes[-1] if depth is None else depth
        return one_hot(raw.ArgMax(logits, -1), depth, dtype=logits.dtype)


def unbiased(name: str, num_units: int, dtype: Any) -> Dense:
    """Return the layer that keys and queries go through."""
    return Dense(num_units, name=name, use_bias=False, dtype=dtype)


def masked_score(
    score: Any,
    memory_sequence_length: Any = None,
    memory_mask: Any = None,
    score_mask_value: Any = None,
) -> Any:
    """Return scores with the mask's value, -inf by default, behind the ends of memories."""
    lengths = memory_sequence_length
    if score_mask_value is None:
        score_mask_value = score.dtype.base_dtype.as_numpy_dtype(-np.inf)
    if lengths is None and memory_mask is None:
        return score
    mask = memory_mask
    if lengths is not None:
        message = "All values in memory_sequence_length must greater than zero."
        with scopes.control_dependencies([assert_positive(lengths, message=message)]):
            mask = sequence_mask(lengths, maxlen=shape(score)[1])  # type: ignore[index]
    return where(mask, score, score_mask_value * ones_like(score))


def masked_memory(memory: Any, lengths: Any) -> Any:
    """Return a memory with 0 behind the ends."""
    memory = nest.map_leaves(lambda part: convert_to_tensor(part, name="memory"), memory)
    if lengths is None:
        return memory
    first = nest.flatten(memory)[0]
    places: Any = shape(first)
    mask = sequence_mask(lengths, maxlen=places[1], dtype=first.dtype)

    def masked(part: Any) -> Any:
        known = part.plain_shape
        axes: Any = rank(part) if known is None else len(known)
        others = ones(expand_dims(axes - 2, 0) if known is None else axes - 2, "int32")
        return part * reshape(mask, concat([shape(mask), others], 0))

    return nest.map_leaves(masked, memory)
