"""Conditional random fields of a chain: scores, likelihoods, and the best sequence of tags.

Source: TF 1.15 API documentation, tf.contrib.crf; Lafferty et al. 2001.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Tensor
from tfdist.models.contrib.crf_cells import (
    CrfDecodeBackwardRnnCell,
    CrfDecodeForwardRnnCell,
    CrfForwardRnnCell,
)
from tfdist.models.contrib.framework.smart_cond import smart_cond
from tfdist.models.rnn.dynamic_rnn import dynamic_rnn
from tfdist.models.rnn.rnn_cell import batch_of
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.constants import constant
from tfdist.ops.array.fill import ones_like, zeros_like
from tfdist.ops.array.gather import gather
from tfdist.ops.array.gather_nd import gather_nd
from tfdist.ops.array.range import range as range_
from tfdist.ops.array.range import sequence_mask
from tfdist.ops.array.reshape import expand_dims, reshape, squeeze
from tfdist.ops.array.shape import shape
from tfdist.ops.array.slice import slice as slice_
from tfdist.ops.array.tile_roll import reverse_sequence
from tfdist.ops.math.arithmetic import maximum
from tfdist.ops.math.comparison import equal, less_equal, where
from tfdist.ops.math.composed_reductions import reduce_logsumexp
from tfdist.ops.math.reductions import reduce_max, reduce_sum
from tfdist.ops.math.top_k import argmax
from tfdist.ops.variables.get_variable import get_variable

__all__ = [
    "crf_binary_score", "crf_decode", "crf_log_likelihood", "crf_log_norm",
    "crf_multitag_sequence_score", "crf_sequence_score", "crf_unary_score", "viterbi_decode",
]  # fmt: skip


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> tuple[Tensor, Any]:
    """Return how likely sequences of tags are: log-likelihoods [batch], and the transitions.

    Args:
      inputs: float [batch, time, tags], scores of each tag at each step.
      tag_indices: int [batch, time], the tags.
      sequence_lengths: int [batch].
      transition_params: float [tags, tags], scores of one tag behind another; by default a variable
        named "transitions".

    Example: with equal scores, each of the 3 ** 2 sequences is as likely as the others.
      >>> scores = zeros([1, 2, 3])
      >>> likelihood, _ = contrib.crf.crf_log_likelihood(scores, [[0, 2]], [2], zeros([3, 3]))
      >>> Session().run(likelihood)
      array([-2.1972246], dtype=float32)
    """
    inputs = convert_to_tensor(inputs)
    tags = inputs.plain_shape[2] if inputs.plain_shape else None
    sequence_lengths = convert_to_tensor(sequence_lengths)
    if transition_params is None:
        transition_params = get_variable("transitions", [tags, tags])
    score: Any = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_sequence_score(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> Tensor:
    """Return the scores [batch] of sequences of tags, not normalised; 0 if a sequence is empty.

    Args:
      inputs: float [batch, time, tags], scores of each tag at each step.
      tag_indices: int [batch, time], the tags.
      sequence_lengths: int [batch].
      transition_params: float [tags, tags], scores of one tag behind another.
    """
    inputs, tag_indices = convert_to_tensor(inputs), convert_to_tensor(tag_indices)
    lengths = convert_to_tensor(sequence_lengths)

    def single() -> Any:
        rows = expand_dims(range_(batch_of(inputs)), 1)
        tags = slice_(tag_indices, [0, 0], [-1, 1])
        places = concat([rows, cast(tags, "int32")], 1)
        return _zero_if_empty(lengths, gather_nd(squeeze(inputs, [1]), places))

    def several() -> Any:
        unary: Any = crf_unary_score(tag_indices, lengths, inputs)
        return unary + crf_binary_score(tag_indices, lengths, transition_params)

    return _either(inputs, single, several)  # type: ignore[no-any-return]


def _either(inputs: Any, single: Callable[[], Any], several: Callable[[], Any]) -> Any:
    """Return what one function returns: `single` if sequences have one step at most."""
    steps = batch_of(inputs, 1)
    return smart_cond(steps == 1 if isinstance(steps, int) else equal(steps, 1), single, several)


def _zero_if_empty(lengths: Any, values: Any) -> Any:
    return where(less_equal(lengths, 0), zeros_like(values), values)


def crf_multitag_sequence_score(
    inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any
) -> Tensor:
    """Return the scores [batch] of all sequences of allowed tags together, as log of a sum.

    Args:
      inputs: float [batch, time, tags], scores of each tag at each step.
      tag_bitmap: bool [batch, time, tags], which tags are allowed.
      sequence_lengths: int [batch].
      transition_params: float [tags, tags], scores of one tag behind another.
    """
    inputs, tag_bitmap = convert_to_tensor(inputs), cast(tag_bitmap, "bool")
    lowest: Any = ones_like(inputs)
    filtered = where(tag_bitmap, inputs, float("-inf") * lowest)

    def single() -> Any:
        return reduce_logsumexp(squeeze(filtered, [1]), axis=[1])

    def several() -> Any:
        return crf_log_norm(filtered, sequence_lengths, transition_params)

    return _either(inputs, single, several)  # type: ignore[no-any-return]


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Tensor:
    """Return the log [batch] of the sum over all sequences of tags; 0 if a sequence is empty.

    Args:
      inputs: float [batch, time, tags], scores of each tag at each step.
      sequence_lengths: int [batch].
      transition_params: float [tags, tags], scores of one tag behind another.
    """
    inputs, lengths = convert_to_tensor(inputs), convert_to_tensor(sequence_lengths)
    first = squeeze(slice_(inputs, [0, 0, 0], [-1, 1, -1]), [1])

    def single() -> Any:
        return _zero_if_empty(lengths, reduce_logsumexp(first, [1]))

    def several() -> Any:
        rest = slice_(inputs, [0, 1, 0], [-1, -1, -1])
        _, alphas = dynamic_rnn(
            CrfForwardRnnCell(transition_params), rest, _one_less(lengths), first, "float32"
        )
        return _zero_if_empty(lengths, reduce_logsumexp(alphas, [1]))

    return _either(inputs, single, several)  # type: ignore[no-any-return]


def _one_less(lengths: Any) -> Any:
    return maximum(constant(0, lengths.dtype), lengths - 1)


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Tensor:
    """Return the sum [batch] of the scores of tags, each for itself.

    Args:
      tag_indices: int [batch, time], the tags.
      sequence_lengths: int [batch].
      inputs: float [batch, time, tags], scores of each tag at each step.
    """
    inputs, tag_indices = convert_to_tensor(inputs), convert_to_tensor(tag_indices)
    batch, steps, tags = (batch_of(inputs, axis) for axis in range(3))
    rows: Any = expand_dims(range_(batch) * steps * tags, 1)
    columns: Any = expand_dims(range_(steps) * tags, 0)
    starts = rows + columns
    if tag_indices.dtype == "int64":  # as tables find them
        starts = cast(starts, "int64")
    places = reshape(starts + tag_indices, [-1])
    scores: Any = reshape(gather(reshape(inputs, [-1]), places), [batch, steps])
    return reduce_sum(scores * _mask(sequence_lengths, steps), 1)


def _mask(lengths: Any, steps: Any) -> Any:
    lengths = cast(lengths, "int32") if isinstance(steps, Tensor) else lengths
    return sequence_mask(lengths, maxlen=steps, dtype="float32")


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Tensor:
    """Return the sum [batch] of the scores of each tag behind the one before.

    Args:
      tag_indices: int [batch, time], the tags.
      sequence_lengths: int [batch].
      transition_params: float [tags, tags].
    """
    tag_indices = convert_to_tensor(tag_indices)
    transition_params = convert_to_tensor(transition_params)
    tags, sizes = batch_of(transition_params), shape(tag_indices)
    steps: Any = sizes[1]  # type: ignore[index]
    transitions = steps - 1
    first = slice_(tag_indices, [0, 0], [-1, transitions])
    second = slice_(tag_indices, [0, 1], [-1, transitions])
    scores: Any = gather(reshape(transition_params, [-1]), first * tags + second)
    return reduce_sum(scores * slice_(_mask(sequence_lengths, steps), [0, 1], [-1, -1]), 1)


def crf_decode(
    potentials: Any, transition_params: Any, sequence_length: Any
) -> tuple[Tensor, Tensor]:
    """Return the sequences of tags with the highest scores, int32 [batch, time], and the scores.

    Args:
      potentials: float [batch, time, tags], scores of each tag at each step.
      transition_params: float [tags, tags], scores of one tag behind another.
      sequence_length: int [batch].

    Example: a switch from tag to tag costs much.
      >>> tags, score = contrib.crf.crf_decode(
      ...     [[[0.0, 1.0], [2.0, 0.0]]], [[0.0, -9.0], [-9.0, 0.0]], [2]
      ... )
      >>> Session().run([tags, score])
      [array([[0, 0]], dtype=int32), array([2.], dtype=float32)]
    """
    potentials = convert_to_tensor(potentials)
    lengths = convert_to_tensor(sequence_length)

    def single() -> list[Any]:
        scores = squeeze(potentials, [1])
        return [cast(expand_dims(argmax(scores, 1), -1), "int32"), reduce_max(scores, 1)]

    def several() -> list[Any]:
        return _decoded(potentials, transition_params, lengths)

    tags, score = _either(potentials, single, several)
    return tags, score


def _decoded(potentials: Any, transition_params: Any, lengths: Any) -> list[Any]:
    """Return tags and scores: forwards who came from where, and backwards along that."""
    tags = potentials.plain_shape[2]
    forwards = CrfDecodeForwardRnnCell(transition_params)
    first = squeeze(slice_(potentials, [0, 0, 0], [-1, 1, -1]), [1])
    rest = slice_(potentials, [0, 1, 0], [-1, -1, -1])
    less = _one_less(lengths)
    pointers, scores = dynamic_rnn(forwards, rest, less, first, "int32")
    pointers = reverse_sequence(pointers, less, seq_dim=1)
    last = expand_dims(cast(argmax(scores, 1), "int32"), -1)
    backwards = CrfDecodeBackwardRnnCell(tags)
    found, _ = dynamic_rnn(backwards, pointers, less, last, "int32")
    whole = concat([last, squeeze(found, [2])], 1)
    return [reverse_sequence(whole, lengths, seq_dim=1), reduce_max(scores, 1)]


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], Any]:
    """Return the sequence of tags with the highest score, and the score, outside of any graph.

    Args:
      score: array [time, tags], scores of each tag at each step.
      transition_params: array [tags, tags], scores of one tag behind another.

    Example:
      >>> import numpy as np
      >>> contrib.crf.viterbi_decode(np.array([[0.0, 1.0], [2.0, 0.0]]), np.zeros([2, 2]))
      ([1, 0], np.float64(3.0))
    """
    best, pointers = score[0], []
    for now in score[1:]:
        ways = np.expand_dims(best, 1) + transition_params
        best = now + np.max(ways, 0)
        pointers.append(np.argmax(ways, 0))
    tags = [int(np.argmax(best))]  # plain ones: they print alike in every NumPy
    for came_from in reversed(pointers):
        tags.append(int(came_from[tags[-1]]))
    return tags[::-1], np.max(best)
