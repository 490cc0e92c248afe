"""gather_tree: whole sequences of a beam search, from its steps and from whom each continued."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor

__all__ = ["gather_tree"]

GATHER_TREE = OpDef(
    "GatherTree(step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T) -> beams: T "
    "[T: type {int32}]"
).not_differentiable()


@GATHER_TREE.checked_shape
def gather_tree_shape(
    step_ids: Shape, parent_ids: Shape, max_sequence_lengths: Shape, end_token: Shape
) -> Shape:
    shapes.require_rank(step_ids, "step_ids", 3)
    shapes.require_rank(parent_ids, "parent_ids", 3)
    shapes.require_rank(max_sequence_lengths, "max_sequence_lengths", 1)
    shapes.require_rank(end_token, "end_token", 0)
    batch = (None, None if max_sequence_lengths is None else max_sequence_lengths[0], None)
    return shapes.merge(shapes.merge(step_ids, parent_ids, "steps and parents"), batch, "batch")


@GATHER_TREE.kernel
def gather_tree_kernel(
    step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any
) -> Any:
    """Walk from the last step of each sequence to its first, all beams at once."""
    _check(step_ids, parent_ids, max_sequence_lengths)
    steps, batch, width = step_ids.shape
    lengths = np.minimum(max_sequence_lengths, steps)
    beams = np.full_like(step_ids, end_token)
    parents = np.broadcast_to(np.arange(width, dtype=parent_ids.dtype), (batch, width))
    for time in reversed(range(steps)):
        _check_parents(parents, width, time)
        going = (time < lengths)[:, None]
        beams[time] = np.where(going, np.take_along_axis(step_ids[time], parents, 1), end_token)
        before = np.take_along_axis(parent_ids[time], parents, 1)
        parents = np.where(going, before, parents) if time else parents
    return _ended(beams, end_token)


def _ended(beams: Any, end_token: Any) -> Any:
    """Return sequences with nothing but end tokens behind the first of them."""
    is_end = beams == end_token
    has_ended = np.logical_or.accumulate(is_end, 0)
    return np.where(has_ended, np.asarray(end_token, beams.dtype), beams)


def _check(step_ids: Any, parent_ids: Any, lengths: Any) -> None:
    if step_ids.shape != parent_ids.shape or len(lengths) != step_ids.shape[1]:
        raise InvalidArgumentError(
            "step_ids and parent_ids must be of one shape [time, batch, beams], and there must be "
            f"a maximum length for each of the batch; got {step_ids.shape}, {parent_ids.shape} and "
            f"{lengths.shape}"
        )


def _check_parents(parents: Any, width: int, time: int) -> None:
    wrong = np.argwhere((parents < 0) | (parents >= width))
    if len(wrong):
        batch, beam = wrong[0]
        raise InvalidArgumentError(
            f"Saw invalid parent id {parents[batch, beam]} at (batch, time, beam) == "
            f"({batch}, {time}, {beam}); it must be in [0, {width})"
        )


def gather_tree(
    step_ids: Any,
    parent_ids: Any,
    max_sequence_lengths: Any,
    end_token: Any,
    name: str | None = None,
) -> Tensor:
    """Return the sequences that a beam search has found: int [time, batch, beams].

    Args:
      step_ids: int [time, batch, beams], what each beam said at each step.
      parent_ids: int [time, batch, beams], which beam of the step before it continued.
      max_sequence_lengths: int [batch], where sequences end at the latest.
      end_token: int, what stands at the end of a sequence, and behind it.
      name: of the node.

    Raises:
      InvalidArgumentError: when it runs and a parent is no beam.

    Example: the second beam continued the first one.
      >>> beams = contrib.seq2seq.gather_tree([[[1, 2]], [[3, 4]]], [[[0, 0]], [[1, 0]]], [2], 9)
      >>> Session().run(beams).tolist()
      [[[2, 1]], [[3, 4]]]

    Source: TF 1.15 API documentation, tf.contrib.seq2seq.gather_tree.
    """
    tensor: Tensor = GATHER_TREE(step_ids, parent_ids, max_sequence_lengths, end_token, name=name)
    return tensor
