"""How far sequences are from one another: what must be changed to make one of the other.

Source: TF 1.15 API documentation, tf.edit_distance; V. I. Levenshtein, 1966.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.sparse.sparse_tensor import SparseTensor, SparseTensorValue

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


class _Rows(NamedTuple):
    """Sequences side by side.

    Attributes:
      symbols: [sequences, longest], numbers that tell symbols apart, filled up.
      lengths: [sequences].
    """

    symbols: Any
    lengths: Any


def _rows(indices: Any, symbols: Any, sizes: tuple[int, ...], filler: int) -> _Rows:
    """Cut `symbols` into sequences, which must stand in order.

    Args:
      indices: [n, rank], of which the last says where in its sequence a symbol is.
      symbols: [n], numbers that tell symbols apart.
      sizes: of the result.
      filler: a number that is no symbol.
    """
    if not len(indices) or not sizes:
        rows = np.zeros(len(indices), np.int64)
    else:
        rows = np.ravel_multi_index(tuple(indices[:, :-1].T), sizes)
    if (np.diff(rows) < 0).any():
        raise InvalidArgumentError("the indices of a SparseTensor must be in order")
    check_room(sizes, np.int64)
    lengths = np.bincount(rows, minlength=int(np.prod(sizes)))
    starts = np.cumsum(lengths) - lengths
    found = np.full((len(lengths), int(lengths.max(initial=0))), filler)
    found[rows, np.arange(len(rows)) - starts[rows]] = symbols
    return _Rows(found, lengths)


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
    guesses = _rows(hypothesis_indices, symbols[:count], sizes, -1)
    truths = _rows(truth_indices, symbols[count:], sizes, -2)
    found = _levenshtein(guesses, truths).astype(np.float32)
    if normalize:
        lengths = truths.lengths.astype(np.float32)
        whole = np.where(guesses.lengths > 0, np.float32(np.inf), np.float32(0))
        found = np.divide(found, lengths, out=whole, where=lengths > 0)
    return found.reshape(sizes)


def _levenshtein(guesses: _Rows, truths: _Rows) -> Any:
    """Return how many symbols must be added, dropped or exchanged, for all sequences at once.

    Row by row of the tables of distances between beginnings: what is dropped or exchanged comes
    from the row before; what is added runs along the row, which a running minimum does at once.
    """
    count, longest = truths.symbols.shape
    places = np.arange(longest + 1)
    row = np.tile(places, (count, 1))
    for number, symbols in enumerate(guesses.symbols.T, start=1):
        new = np.empty_like(row)
        new[:, 0] = number
        exchanged = row[:, :-1] + (truths.symbols != symbols[:, None])
        np.minimum(exchanged, row[:, 1:] + 1, out=new[:, 1:])
        new -= places
        new = np.minimum.accumulate(new, axis=1) + places
        row = np.where((guesses.lengths >= number)[:, None], new, row)
    return row[np.arange(count), truths.lengths]


def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """Return how many symbols must be changed to make each true sequence of a guessed one.

    Args:
      hypothesis: SparseTensor or its value [..., symbols], sequences along the last axis, in order.
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
        if not isinstance(each, SparseTensor | SparseTensorValue):
            raise TypeError(f"{what} must be a SparseTensor, got {each!r}")
    parts = [
        part
        for each in map(SparseTensor.from_value, (hypothesis, truth))
        for part in (each.indices, each.values, each.dense_shape)
    ]
    return EDIT_DISTANCE(*parts, normalize=normalize, name=name)  # type: ignore[no-any-return]
