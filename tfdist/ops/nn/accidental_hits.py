"""Which of the classes that were drawn are true ones: compute_accidental_hits."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.graph.op_def import OpDef
from tfdist.ops.random.random_ops import get_seed

__all__ = ["compute_accidental_hits"]

ACCIDENTAL_HITS = OpDef(
    "ComputeAccidentalHits(true_classes: int64, sampled_candidates: int64) -> indices: int32, "
    "ids: int64, weights: float [num_true: int; seed: int = 0; seed2: int = 0]"
).not_differentiable()


@ACCIDENTAL_HITS.checked_shape
def compute_accidental_hits_shape(
    true_classes: Shape, sampled_candidates: Shape, *, num_true: int
) -> list[Shape]:
    shapes.require_rank(true_classes, "true_classes", 2)
    shapes.require_rank(sampled_candidates, "sampled_candidates", 1)
    columns = None if true_classes is None else true_classes[1]
    shapes.merge_dim(columns, num_true, "the columns of true_classes and num_true")
    return [(None,)] * 3


@ACCIDENTAL_HITS.kernel
def compute_accidental_hits_kernel(true_classes: Any, sampled_candidates: Any) -> list[Any]:
    order = np.argsort(sampled_candidates, kind="stable")
    places = np.searchsorted(sampled_candidates[order], true_classes, side="right") - 1
    ids = np.append(order, -1)[places]  # of equal ones the last
    rows, columns = np.nonzero(np.append(sampled_candidates, 0)[ids] == true_classes)
    rows, ids = rows[ids[rows, columns] >= 0], ids[rows, columns][ids[rows, columns] >= 0]
    least = np.full(len(rows), -np.finfo(np.float32).max, np.float32)
    return [rows.astype(np.int32), ids.astype(np.int64), least]


def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return which of the classes drawn are true ones of some example.

    Args:
      true_classes: int64 [batch, num_true].
      sampled_candidates: int64 [num_sampled].
      num_true: how many true classes each example has.
      seed: taken and not needed.
      name: of the node.

    Returns:
      For each hit the row of the batch, the place among those drawn, and the least float, which
      makes the logit there very small when it is added.

    Example:
      >>> rows, ids, _ = nn.compute_accidental_hits([[5], [7]], [7, 8, 5], 1)
      >>> Session().run([rows, ids])
      [array([0, 1], dtype=int32), array([2, 0])]
    """
    one, two = get_seed(seed)
    return ACCIDENTAL_HITS(
        true_classes, sampled_candidates, num_true=num_true, seed=one, seed2=two, name=name
    )
