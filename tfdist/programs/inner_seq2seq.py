"""Names of contrib.seq2seq's and rnn's modules that are public nowhere else.

Programs with an attention or a decoder of their own import them.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import nest
from tfdist.models.rnn.dynamic_rnn import transpose_batch_time
from tfdist.models.rnn.rnn_cell import batch_of, zeros_of
from tfdist.models.rnn.step import map_pairs
from tfdist.models.seq2seq.attention import (
    MemoryAttention,
    added_score,
    luong_score,
    masked_memory,
    masked_score,
)
from tfdist.models.seq2seq.attention_wrapper import compute_attention
from tfdist.models.seq2seq.helpers import array_of
from tfdist.models.seq2seq.monotonic_attention import MonotonicAttention, monotonic_probability
from tfdist.ops.array.cast import cast
from tfdist.ops.array.reshape import expand_dims

__all__: list[str] = []

_BaseAttentionMechanism, _BaseMonotonicAttentionMechanism = MemoryAttention, MonotonicAttention
_bahdanau_score, _luong_score = added_score, luong_score
_maybe_mask_score = masked_score
_monotonic_probability_fn = monotonic_probability
_compute_attention = compute_attention
_transpose_batch_time = transpose_batch_time
_unstack_ta = array_of


def _prepare_memory(
    memory: Any,
    memory_sequence_length: Any = None,
    memory_mask: Any = None,
    check_inner_dims_defined: bool = True,
) -> Any:
    """Return a memory with 0 behind the ends, or where a mask [batch, places] is False."""
    if memory_mask is None:
        return masked_memory(memory, memory_sequence_length)
    return nest.map_leaves(lambda part: part * _as_factor(memory_mask, part), memory)


def _as_factor(mask: Any, part: Any) -> Any:
    factor = cast(mask, part.dtype)
    for _ in part.plain_shape[2:]:
        factor = expand_dims(factor, -1)
    return factor


def _create_zero_outputs(size: Any, dtype: Any, batch_size: Any) -> Any:
    """Return zeros [batch_size, *size] for each of a structure of sizes and types."""
    return map_pairs(lambda one, kind: zeros_of(one, batch_size, kind), size, dtype)


def _best_effort_input_batch_size(flat_input: list[Any]) -> Any:
    """Return the batch's size in inputs [time, batch, ...]: an int if one of them tells."""
    for each in flat_input:
        known = each.plain_shape
        if known is not None and len(known) > 1 and known[1] is not None:
            return known[1]
    return batch_of(flat_input[0], 1)
