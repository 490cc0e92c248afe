"""Sparse tensors on their way through the queues of `batching`, which hold dense ones.

Before the queue each is kept by the task, and its number goes in; behind it what was kept under the
numbers of a batch comes out as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tfdist.base.dtypes import int32, int64
from tfdist.graph import scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.fill import ones
from tfdist.ops.array.gather import gather
from tfdist.ops.array.reshape import expand_dims, reshape, squeeze
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import identity, with_dependencies
from tfdist.ops.math.comparison import where
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.ops.sparse.tensors_map import add_sparse, take_many_sparse


class Kept(NamedTuple):
    """What is known of a component that is sparse.

    Attributes:
      numbers: under which it is kept.
      added_by: the node that keeps the elements, and whose map has them.
      rank: of a batch, None if it is not known.
    """

    numbers: Tensor
    added_by: Operation
    rank: int | None


def as_tensor(value: Any) -> Any:
    """Return `value` as a tensor; a SparseTensor is returned as it is."""
    return value if isinstance(value, SparseTensor) else convert_to_tensor(value)


def stored(
    sets: list[list[Any]], keep: Tensor, many: bool
) -> tuple[list[list[Tensor]], list[Kept | None]]:
    """Return `sets` with numbers in the places of their sparse tensors, and what those are.

    Args:
      sets: lists of tensors and sparse tensors, in the same places in all.
      keep: bool [] or [n]: which of them will go into the queue.
      many: whether their first axis counts examples.

    Raises:
      ValueError: a place has sparse tensors in some sets only, or of several ranks.
      TypeError: `keep` is always false, and there is a sparse tensor.
    """
    if not any(isinstance(each, SparseTensor) for tensors in sets for each in tensors):
        return sets, [None] * len(sets[0])
    _check_same(sets)
    first, infos = _stored(sets[0], keep, many, [None] * len(sets[0]))
    others = [_stored(tensors, keep, many, infos)[0] for tensors in sets[1:]]
    return [first, *others], infos


def _check_same(sets: list[list[Any]]) -> None:
    for tensors in sets[1:]:
        if list(map(_form, sets[0])) != list(map(_form, tensors)):
            raise ValueError(f"Inconsistent SparseTensors list: {sets[0]} vs. {tensors}")


def _form(tensor: Any) -> Any:
    return (tensor.shape.ndims,) if isinstance(tensor, SparseTensor) else None


def _stored(
    tensors: list[Any], keep: Tensor, many: bool, before: Sequence[Kept | None]
) -> tuple[list[Tensor], list[Kept | None]]:
    """Return one set as the queue holds it, and what its sparse tensors are."""
    pairs = list(zip(tensors, before, strict=True))
    infos = [_kept(tensor, keep, many, info) for tensor, info in pairs]
    # the queue is told of one number each, which a vector of one says in any case
    found = [
        tensor if info is None else expand_dims(info.numbers, [-1])
        for (tensor, _), info in zip(pairs, infos, strict=True)
    ]
    return found, infos


def _kept(tensor: Any, keep: Tensor, many: bool, first: Kept | None) -> Kept | None:
    """Let a tensor be kept, if it is sparse, where that of the `first` set is."""
    if not isinstance(tensor, SparseTensor):
        return None
    numbers, added_by = _add(tensor, keep, many, first.added_by.name if first else None)
    rank = tensor.shape.ndims
    return Kept(numbers, added_by, rank if many or rank is None else rank + 1)


def _add(
    tensor: SparseTensor, keep: Tensor, many: bool, shared_name: str | None
) -> tuple[Tensor, Operation]:
    """Return the numbers of what is kept of a sparse tensor, and the node that keeps it."""
    if keep.shape.ndims == 1:
        numbers = add_sparse(_of_rows(tensor, keep), True, shared_name)
        return numbers, numbers.op
    known = constant_value(keep)
    if known is None:
        return _add_if(tensor, keep, many, shared_name)
    if not known:
        raise TypeError(
            "sparse_map_op must be one of AddSparseToTensorsMap or AddManySparseToTensorsMap: "
            "`keep_input` is always false, so no sparse tensor is ever kept"
        )
    numbers = add_sparse(tensor, many, shared_name)
    return numbers, numbers.op


def _add_if(
    tensor: SparseTensor, keep: Tensor, many: bool, shared_name: str | None
) -> tuple[Tensor, Operation]:
    added: list[Operation] = []

    def add() -> Tensor:
        numbers = add_sparse(tensor, many, shared_name)
        added.append(numbers.op)
        return numbers

    def nothing() -> Any:
        if not many:
            return convert_to_tensor(-1, int64)
        with scopes.name_scope("Shape"):
            lengths = cast(tensor.dense_shape, int32)
        return -1 * ones(lengths[0:1], int64)  # type: ignore[index,operator]

    return cond(keep, add, nothing), added[0]


def _of_rows(tensor: SparseTensor, keep: Tensor) -> SparseTensor:
    """Return `tensor` with the elements of those rows only that `keep` says."""
    places = reshape(where(gather(keep, tensor.indices[:, 0])), [-1])  # type: ignore[index]
    return SparseTensor(
        gather(tensor.indices, places), gather(tensor.values, places), identity(tensor.dense_shape)
    )


def restored(batches: Any, infos: Sequence[Kept | None]) -> Any:
    """Return batches from the queue with sparse tensors in the places of their numbers.

    If there are several, no part of them is given before all have been taken.

    Args:
      batches: a list of tensors, or the only one.
      infos: from `stored`.
    """
    if not any(infos):
        return batches
    listed = batches if isinstance(batches, list) else [batches]
    found = [_taken(each, info) for each, info in zip(listed, infos, strict=True)]
    all_parts = [part for each in found for part in _parts(each)]
    whole = [_after(all_parts, each) for each in found]
    # TensorFlow makes the nodes for a single component too, and has no use for them
    return whole if isinstance(batches, list) else found[0]


def _taken(batch: Tensor, info: Kept | None) -> Any:
    if info is None:
        return batch
    return take_many_sparse(squeeze(batch, [1]), info.added_by, info.rank)


def _parts(tensor: Any) -> list[Tensor]:
    if isinstance(tensor, SparseTensor):
        return [tensor.indices, tensor.values, tensor.dense_shape]
    return [tensor]


def _after(all_parts: Sequence[Tensor], tensor: Any) -> Any:
    parts = [with_dependencies(all_parts, part) for part in _parts(tensor)]
    return SparseTensor(*parts) if isinstance(tensor, SparseTensor) else parts[0]
