"""Cells that walk along a chain of tags; `tfdist.models.contrib.crf` gives them to `dynamic_rnn`.

Source: TF 1.15 API documentation, tf.contrib.crf.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.models.rnn.rnn_cell import RNNCell, batch_of
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.gather_nd import gather_nd
from tfdist.ops.array.range import range as range_
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.math.composed_reductions import reduce_logsumexp
from tfdist.ops.math.reductions import reduce_max
from tfdist.ops.math.top_k import argmax

__all__ = ["CrfDecodeBackwardRnnCell", "CrfDecodeForwardRnnCell", "CrfForwardRnnCell"]


class _Chain(RNNCell):
    """A cell with a score [batch, tags] for each tag as its state."""

    def __init__(self, transition_params: Any) -> None:
        super().__init__()
        self._transitions = expand_dims(convert_to_tensor(transition_params), 0)
        self._tags = self._transitions.plain_shape[1]  # type: ignore[index]

    @property
    def state_size(self) -> Any:
        """Return the number of tags."""
        return self._tags

    @property
    def output_size(self) -> Any:
        """Return the number of tags."""
        return self._tags

    def _ways(self, state: Any) -> Any:
        """Return scores [batch, tags before, tags now]."""
        before: Any = expand_dims(state, 2)
        return before + self._transitions


class CrfForwardRnnCell(_Chain):
    """A cell whose state is the log of the sum over all sequences that end in each tag.

    Args:
      transition_params: float [tags, tags], scores of one tag behind another.
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """Return the next state twice; `inputs` are scores [batch, tags]."""
        after = inputs + reduce_logsumexp(self._ways(state), [1])
        return after, after


class CrfDecodeForwardRnnCell(_Chain):
    """A cell whose state is the score of the best sequence that ends in each tag.

    Args:
      transition_params: float [tags, tags], scores of one tag behind another.
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """Return the tag [batch, tags] that stands before each, and the next state."""
        ways = self._ways(state)
        after = inputs + reduce_max(ways, [1])
        return cast(argmax(ways, 1), "int32"), after


class CrfDecodeBackwardRnnCell(RNNCell):
    """A cell that goes back from tag to tag, from the last one, which is its first state.

    Args:
      num_tags: number of tags.
    """

    def __init__(self, num_tags: int) -> None:
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self) -> int:
        """Return 1: a state is a tag."""
        return 1

    @property
    def output_size(self) -> int:
        """Return 1: an output is a tag."""
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """Return the tag before, twice; `inputs` [batch, tags] tell it for each tag."""
        rows = expand_dims(range_(batch_of(inputs)), 1)
        before = expand_dims(gather_nd(inputs, concat([rows, state], 1)), -1)
        return before, before
