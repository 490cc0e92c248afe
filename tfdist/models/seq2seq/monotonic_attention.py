"""Monotonic attention: it moves through a memory in one direction, and never back.

Source: TF 1.15 API documentation, tf.contrib.seq2seq; Raffel et al. 2017, arXiv:1704.00784.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.models.rnn.rnn_cell import batch_of
from tfdist.models.seq2seq.attention import (
    MemoryAttention,
    bahdanau_score,
    luong_score,
    unbiased,
)
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import ones, zeros
from tfdist.ops.array.one_hot import one_hot
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.functions.map_fn import scan
from tfdist.ops.math.clip import clip_by_value
from tfdist.ops.math.cumulative import cumprod, cumsum
from tfdist.ops.random.random_ops import random_normal
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "BahdanauMonotonicAttention", "LuongMonotonicAttention", "monotonic_attention", "safe_cumprod",
]  # fmt: skip


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Return the cumulative product of numbers in (0, 1], as exp(cumsum(log(x))).

    Args:
      x: float tensor.
      args: as of `tf.cumsum`.
      kwargs: as of `tf.cumsum`.

    Example:
      >>> Session().run(contrib.seq2seq.safe_cumprod([0.5, 0.5, 1.0]))
      array([0.5 , 0.25, 0.25], dtype=float32)
    """
    with scopes.name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        made: Tensor = raw.Exp(cumsum(raw.Log(clip_by_value(x, tiny, 1)), *args, **kwargs))
        return made


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Tensor:
    """Return how likely the walk through the memory now stands at each place.

    Args:
      p_choose_i: float [batch, places], how likely it stays where it has come to.
      previous_attention: float [batch, places], what this function returned for the step before.
      mode: "recursive", exact, with a loop; "parallel", without one, for probabilities that are not
        near 0 and 1; "hard", if they are 0 or 1.

    Raises:
      ValueError: the mode is another.

    Example:
      >>> attention = contrib.seq2seq.monotonic_attention([[0.5, 0.5]], [[1.0, 0.0]], "parallel")
      >>> Session().run(attention)
      array([[0.5 , 0.25]], dtype=float32)
    """
    if mode not in _MODES:
        raise ValueError(f"mode must be 'recursive', 'parallel', or 'hard', not {mode!r}.")
    p_choose_i = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = convert_to_tensor(previous_attention, name="previous_attention")
    return _MODES[mode](p_choose_i, previous)


def _recursive(p_choose_i: Any, previous: Any) -> Any:
    batch = batch_of(p_choose_i)
    passed = concat([ones([batch, 1]), 1 - p_choose_i[:, :-1]], 1)
    arrived = scan(
        lambda before, now: reshape(now[0] * before + now[1], [batch]),
        [transpose(passed), transpose(previous)], zeros([batch]),
    )  # fmt: skip
    return p_choose_i * transpose(arrived)


def _parallel(p_choose_i: Any, previous: Any) -> Any:
    passed = safe_cumprod(1 - p_choose_i, axis=1, exclusive=True)
    return p_choose_i * passed * cumsum(previous / clip_by_value(passed, 1e-10, 1.0), axis=1)


def _hard(p_choose_i: Any, previous: Any) -> Any:
    p_choose_i = p_choose_i * cumsum(previous, axis=1)  # from where it stood
    return p_choose_i * cumprod(1 - p_choose_i, axis=1, exclusive=True)


_MODES: dict[str, Callable[[Any, Any], Any]] = {
    "recursive": _recursive,
    "parallel": _parallel,
    "hard": _hard,
}


class MonotonicAttention(MemoryAttention):
    """A mechanism whose alignments depend on those of the step before."""

    _scope: str

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Return alignments [batch, places] of a query [batch, size], and the next state."""
        with variable_scope(None, self._scope, [query]):
            score = self._score(query)
            score += get_variable(
                "attention_score_bias",
                dtype=query.dtype.base_dtype,
                initializer=self._score_bias_init,
            )
        alignments = self._probability_fn(score, state)
        return alignments, alignments

    _score: Callable[[Any], Any]
    _score_bias_init: Any

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Tensor:
        """Return the alignments before the first step: 1 at the first place."""
        return one_hot(zeros([batch_size], "int32"), self._alignments_size, dtype=dtype)


class BahdanauMonotonicAttention(MonotonicAttention):
    """Attention in one direction, with the scores of `BahdanauAttention`.

    Args:
      num_units: size of keys and queries behind their layers.
      memory: float [batch, places, size], what is attended to.
      memory_sequence_length: int [batch]; places behind it are not attended to.
      normalize: whether v has a length of its own, and scores a bias.
      score_mask_value: score of places behind the ends; -inf by default.
      sigmoid_noise: how much noise is added to scores, which makes them large in training.
      sigmoid_noise_seed: for the noise.
      score_bias_init: what is added to scores at first; negative for long memories.
      mode: see `monotonic_attention`.
      dtype: of the layers; float32 by default.
      name: of the nodes' scope.

    Example:
      >>> attention = contrib.seq2seq.BahdanauMonotonicAttention(4, ones([2, 3, 5]), [3, 1])
      >>> Session().run(attention.initial_state(2, "float32"))[0]
      array([1., 0., 0.], dtype=float32)
    """

    _scope = "bahdanau_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: Any = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        dtype = dtype or "float32"
        self._normalize, self._score_bias_init = normalize, score_bias_init
        self._num_units, self._name = num_units, name
        with scopes.name_scope(name, "BahdanauMonotonicAttention", nest.flatten(memory)) as scope:
            super().__init__(
                unbiased("query_layer", num_units, dtype), memory,
                _walking(sigmoid_noise, mode, sigmoid_noise_seed), memory_sequence_length,
                unbiased("memory_layer", num_units, dtype), True, score_mask_value, name=scope,
            )  # fmt: skip

    def _score(self, query: Any) -> Any:  # type: ignore[override]
        return bahdanau_score(self._processed(query), self._keys, self._normalize)


class LuongMonotonicAttention(MonotonicAttention):
    """Attention in one direction, with the scores of `LuongAttention`.

    Args:
      num_units: size of keys; queries must have it.
      memory: float [batch, places, size], what is attended to.
      memory_sequence_length: int [batch]; places behind it are not attended to.
      scale: whether scores are multiplied by a variable.
      score_mask_value: score of places behind the ends; -inf by default.
      sigmoid_noise: how much noise is added to scores, which makes them large in training.
      sigmoid_noise_seed: for the noise.
      score_bias_init: what is added to scores at first; negative for long memories.
      mode: see `monotonic_attention`.
      dtype: of the layer; float32 by default.
      name: of the nodes' scope.

    Example:
      >>> attention = contrib.seq2seq.LuongMonotonicAttention(4, ones([2, 3, 5]), mode="hard")
      >>> state = attention.initial_state(2, "float32")
      >>> attention(zeros([2, 4]), state)[0].shape.as_list()
      [2, 3]
    """

    _scope = "luong_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: Any = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        self._scale, self._score_bias_init = scale, score_bias_init
        self._num_units, self._name = num_units, name
        with scopes.name_scope(name, "LuongMonotonicAttention", nest.flatten(memory)) as scope:
            super().__init__(
                None, memory, _walking(sigmoid_noise, mode, sigmoid_noise_seed),
                memory_sequence_length, unbiased("memory_layer", num_units, dtype or "float32"),
                True, score_mask_value, name=scope,
            )  # fmt: skip

    def _score(self, query: Any) -> Any:  # type: ignore[override]
        return luong_score(query, self._keys, self._scale)


def _walking(noise: float, mode: str, seed: int | None) -> Callable[..., Any]:
    return partial(monotonic_probability, sigmoid_noise=noise, mode=mode, seed=seed)


def monotonic_probability(
    score: Any, previous_alignments: Any, sigmoid_noise: float, mode: str, seed: int | None = None
) -> Any:
    """Return alignments for scores, and those of the step before."""
    if sigmoid_noise > 0:
        heard: Any = random_normal(shape(score), dtype=score.dtype, seed=seed)
        score += sigmoid_noise * heard
    p_choose_i = cast(score > 0, score.dtype) if mode == "hard" else raw.Sigmoid(score)
    return monotonic_attention(p_choose_i, previous_alignments, mode)
