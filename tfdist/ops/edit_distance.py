"""How far sequences are from one another: what must be changed to make one of the other.

Source: TF 1.15 API documentation, tf.edit_distance; V. I. Levenshtein, 1966.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.sparse_tensor import SparseTensor

__all__ = ["edit_distance"]

EDIT_DISTANCE = OpDef(
    "EditDistance(hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, "
    "truth_indices: int64, truth_values: T, truth_shape: int64) -> output: float "
    "[normalize: bool = True; T: type]"
).not_differentiable()


@EDIT_DISTANCE.shape
def edit_distance_shape(
    hypothesis_indices: Shape, hypothesis_values: Shape, hypothesis_shape: Shape,
    truth_indices: Shape, truth_values: Shape, truth_shape: Shape, *,
    hypothesis_shape_value: Any, truth_shape_value: Any,
) -> Shape:  # fmt: skip
    for indices in (hypothesis_indices, truth_indices):
        shapes.require_rank(indices, "indices", 2)
    for each in (hypothesis_values, hypothesis_shape, truth_values, truth_shape):
        shapes.require_rank(each, "values and shapes", 1)
    rank = shapes.merge(hypothesis_shape, truth_shape, "the ranks of hypothesis and truth")
    if hypothesis_shape_value is None or truth_shape_value is None:
        return None if rank is None or rank[0] is None else (None,) * (rank[0] - 1)
    both = np.maximum(hypothesis_shape_value, truth_shape_value)
    return tuple(int(size) for size in both[:-1])


class _Rows:
    """Sequences by the place that they have in the result."""

    def __init__(self, indices: Any, symbols: Any, sizes: tuple[int, ...]) -> None:
        """Cut `symbols` into sequences, which must stand in order.

        Args:
          indices: [n, rank], of which the last says where in its sequence a symbol is.
          symbols: [n], numbers that tell symbols apart.
          sizes: of the result.
        """
        if not len(indices) or not sizes:
            rows = np.zeros(len(indices), np.int64)
        else:
            rows = np.ravel_multi_index(tuple(indices[:, :-1].T), sizes)
        if (np.diff(rows) < 0).any():
            raise InvalidArgumentError("the indices of a SparseTensor must be in order")
        self._symbols = symbols
        count = int(np.prod(sizes))
        self._ends = np.searchsorted(rows, np.arange(count + 1))

    def of(self, place: int) -> Any:
        """Return the symbols of the sequence at a place."""
        return self._symbols[self._ends[place] : self._ends[place + 1]]


def _check(indices: Any, sizes: Any, what: str) -> None:
    if len(sizes) < 1 or indices.shape[1:] != sizes.shape:
        raise InvalidArgumentError(
            f"the indices of {what} have shape {list(indices.shape)}, but its shape has "
            f"{len(sizes)} dimensions, of which it needs 1 or more"
        )
    if (indices < 0).any() or (indices >= sizes).any():
        raise InvalidArgumentError(f"an index of {what} is outside of its shape {sizes.tolist()}")


@EDIT_DISTANCE.kernel
def edit_distance_kernel(
    hypothesis_indices: Any, hypothesis_values: Any, hypothesis_shape: Any, truth_indices: Any,
    truth_values: Any, truth_shape: Any, *, normalize: bool,
) -> Any:  # fmt: skip
    _check(hypothesis_indices, hypothesis_shape, "hypothesis")
    _check(truth_indices, truth_shape, "truth")
    if hypothesis_shape.shape != truth_shape.shape:
        raise InvalidArgumentError("hypothesis and truth must have the same rank")
    sizes = tuple(np.maximum(hypothesis_shape, truth_shape)[:-1].tolist())
    _, symbols = np.unique(np.concatenate([hypothesis_values, truth_values]), return_inverse=True)
    count = len(hypothesis_values)
    guesses = _Rows(hypothesis_indices, symbols[:count], sizes)
    truths = _Rows(truth_indices, symbols[count:], sizes)
    found = np.zeros(int(np.prod(sizes)), np.float32)
    for place in range(len(found)):
        found[place] = _distance(guesses.of(place), truths.of(place), normalize)
    return found.reshape(sizes)


def _distance(guess: Any, truth: Any, normalize: bool) -> float:
    changes = float(_levenshtein(guess, truth))
    if not normalize:
        return changes
    if not len(truth):
        return np.inf if len(guess) else 0.0
    return changes / len(truth)


def _levenshtein(one: Any, other: Any) -> int:
    """Return how many symbols must be added, dropped or exchanged.

    Row by row of the table of distances between beginnings: what is dropped or exchanged comes
    from the row before; what is added runs along the row, which a running minimum does at once.
    """
    places = np.arange(len(other) + 1)
    row = places
    for number, symbol in enumerate(one, start=1):
        best = np.minimum(row[:-1] + (other != symbol), row[1:] + 1)
        row = np.minimum.accumulate(np.append(number, best) - places) + places
    return int(row[-1])


def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """Return how many symbols must be changed to make each true sequence of a guessed one.

    Args:
      hypothesis: SparseTensor [..., symbols], sequences along the last axis, in order.
      truth: the same, of the same rank and type.
      normalize: whether distances are divided by the length of the true sequence.
      name: of the node.

    Returns:
      float32 [...].

    Raises:
      TypeError: one of both is no SparseTensor.

    Example: "cat" needs one change to be "car".
      >>> cat = SparseTensor([[0, 0], [0, 1], [0, 2]], ["c", "a", "t"], [1, 3])
      >>> car = SparseTensor([[0, 0], [0, 1], [0, 2]], ["c", "a", "r"], [1, 3])
      >>> Session().run(edit_distance(cat, car, normalize=False))
      array([1.], dtype=float32)
    """
    for each, what in ((hypothesis, "hypothesis"), (truth, "truth")):
        if not isinstance(each, SparseTensor):
            raise TypeError(f"{what} must be a SparseTensor, got {each!r}")
    parts = [
        part
        for each in (hypothesis, truth)
        for part in (each.indices, each.values, each.dense_shape)
    ]
    return EDIT_DISTANCE(*parts, normalize=normalize, name=name)  # type: ignore[no-any-return]
