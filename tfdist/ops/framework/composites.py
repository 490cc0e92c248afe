"""Composites: symbols that are several tensors each, IndexedSlices and SparseTensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__: list[str] = []

# names of the parts of each kind, in the order in which it is made of them
FIELDS: dict[type, tuple[str, ...]] = {
    IndexedSlices: ("values", "indices", "dense_shape"),
    SparseTensor: ("indices", "values", "dense_shape"),
}


def parts_of(value: Any) -> list[Any]:
    """Return the tensors of a composite, without one that it does not have; else `value` alone."""
    fields = FIELDS.get(type(value))
    if fields is None:
        return [value]
    return [part for part in (getattr(value, field) for field in fields) if part is not None]


def like(value: Any, parts: Iterator[Any]) -> Any:
    """Return a composite of the kind of `value`, of the next `parts`; else the next one alone.

    Args:
      value: a composite, or anything else.
      parts: as many are taken as `parts_of(value)` has.
    """
    taken = [next(parts) for _ in parts_of(value)]
    return type(value)(*taken) if type(value) in FIELDS else taken[0]
