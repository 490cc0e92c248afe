"""Scores of beams: log-probabilities, with penalties for length and for what was not attended to.

Source: TF 1.15 API documentation, tf.contrib.seq2seq.BeamSearchDecoder; Wu et al. 2016,
arXiv:1609.08144, section 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfdist.base import nest
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.models.seq2seq.attention_wrapper import AttentionWrapperState
from tfdist.ops.array.cast import cast
from tfdist.ops.array.constants import constant
from tfdist.ops.array.fill import fill, ones_like
from tfdist.ops.array.one_hot import one_hot
from tfdist.ops.array.reshape import expand_dims, reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.tile_roll import tile
from tfdist.ops.math.add_n import add_n
from tfdist.ops.math.arithmetic import minimum
from tfdist.ops.math.comparison import equal, logical_not, where
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn.softmax import log_softmax

__all__: list[str] = []


class Penalties:
    """Both penalties, as they were given.

    Args:
      length: exponent of ((5 + length) / 6), which log-probabilities are divided by.
      coverage: factor of the log of attention, at most 1 for each place, that is added at the end.
    """

    def __init__(self, length: Any, coverage: Any) -> None:
        self._length, self._coverage = length, coverage

    @property
    def needs_attention(self) -> bool:
        """Return whether the attention is to be added up."""
        value = _value_of(convert_to_tensor(self._coverage, name="coverage_penalty_weight"))
        return bool(value is None or value != 0)

    def scores(self, log_probabilities: Any, lengths: Any, attention: Any, finished: Any) -> Any:
        """Return scores [batch, beams, symbols]; `attention` is None if it is not needed."""
        made = log_probabilities / self._length_penalty(lengths)
        if attention is None:
            return made
        weight = convert_to_tensor(self._coverage, "float32", name="coverage_penalty_weight")
        attention = where(equal(attention, 0.0), ones_like(attention), attention)
        total = reduce_sum(raw.Log(minimum(attention, 1.0)), 2)
        return made + expand_dims(total * cast(finished, "float32") * weight, 2)

    def _length_penalty(self, lengths: Any) -> Any:
        weight = convert_to_tensor(self._length, name="penalty_factor")
        if _value_of(weight) == 0:
            return 1.0
        exponent: Any = weight
        return raw.RealDiv((5.0 + cast(lengths, "float32")) ** exponent, (5.0 + 1.0) ** exponent)


def _value_of(tensor: Any) -> Any:
    value = constant_value(tensor)
    return None if value is None else float(value)


def log_probabilities(logits: Any, before: Any, finished: Any, end_token: Any) -> Any:
    """Return log-probabilities [batch, beams, symbols] of all ways to go on.

    A beam that has ended goes on with the end token only, which costs nothing.
    """
    step = log_softmax(logits)
    symbols = symbols_of(step)
    ended = one_hot(end_token, symbols, on_value=0.0, off_value=step.dtype.min, dtype=step.dtype)
    sizes = shape(finished)
    ended = tile(reshape(ended, [1, 1, -1]), _with_one(sizes))
    mask = tile(expand_dims(finished, 2), [1, 1, symbols])
    total: Any = expand_dims(before, 2)
    return total + where(mask, ended, step)


def _with_one(sizes: Any) -> Any:
    return raw.ConcatV2([sizes, constant([1])], 0)


def symbols_of(logits: Any) -> Any:
    """Return the number of symbols: an int if it is known, or a tensor."""
    known = logits.plain_shape[-1] if logits.plain_shape else None
    sizes: Any = shape(logits)
    return sizes[-1] if known is None else known


def next_lengths(lengths: Any, finished: Any, end_token: Any, symbols: Any) -> Any:
    """Return the lengths [batch, beams, symbols] of all ways to go on: ends are not counted."""
    going: Any = one_hot(fill(shape(finished), end_token), symbols, constant(0, "int64"),
                    constant(1, "int64"), dtype="int64")  # fmt: skip
    return going * expand_dims(cast(logical_not(finished), "int64"), 2) + expand_dims(lengths, 2)


def attention_of(cell_state: Any) -> Any:
    """Return the alignments in a cell's state, their mean if there are several.

    Raises:
      ValueError: no attention is in it.
    """
    found = list(_alignments(cell_state))
    if not found:
        raise ValueError(
            "coverage_penalty_weight is given, but the state of the cell has no attention: it "
            "must be an AttentionWrapperState, or have one in it"
        )
    if len(found) == 1:
        return found[0]
    total: Any = add_n(found)
    return total / len(found)


def _alignments(state: Any) -> Iterator[Any]:
    if isinstance(state, AttentionWrapperState):
        yield from nest.flatten(state.alignments)
    elif nest.is_nested(state):
        for part in state.values() if isinstance(state, dict) else state:
            yield from _alignments(part)
