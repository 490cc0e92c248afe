"""SparseTensors and IndexedSlices as variables of loops: each goes round as a tuple of its parts.

Without an invariant the elements of a SparseTensor may become more or fewer with each iteration,
the rows of IndexedSlices may not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tfdist.base import nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.ops.framework.composites import FIELDS, like, parts_of
from tfdist.ops.framework.indexed_slices import IndexedSlices, with_indices
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__: list[str] = []


class Parts(NamedTuple):
    """A loop whose variables are tensors and TensorArrays, and how they are put together.

    Attributes:
      cond, body: functions of parts.
      loop_vars: first values, in parts.
      invariants: what stays true of the shape of each part, None if nothing was said.
      whole: makes composites of the parts that the loop ends with.
    """

    cond: Callable[..., Any]
    body: Callable[..., Any]
    loop_vars: Any
    invariants: Any
    whole: Callable[[Any], Any]


def has_composites(loop_vars: Any) -> bool:
    """Return whether a loop variable consists of several tensors."""
    return any(type(leaf) in FIELDS for leaf in nest.flatten(loop_vars))


def in_parts(cond: Any, body: Any, loop_vars: Any, invariants: Any) -> Parts:
    """Return a loop in which composites are tuples of their parts.

    Args:
      cond, body: of the loop's variables, as `while_loop` takes them.
      loop_vars: a list, tuple or dict.
      invariants: None, or a TensorShape for each variable: that of a SparseTensor is its
        `dense_shape`'s, [rank], that of IndexedSlices its values'.

    Raises:
      ValueError: an invariant is not of such a form.
    """
    models = nest.flatten(loop_vars)

    def split(structure: Any) -> Any:
        leaves = nest.flatten(structure)
        if len(leaves) != len(models):
            return structure  # of another form: the loop says so
        return nest.pack_as(structure, [*map(_split, leaves, models)])

    def whole(structure: Any) -> Any:
        parts = iter(nest.flatten(structure))
        return nest.pack_as(loop_vars, [like(model, parts) for model in models])

    def asked(*parts: Any) -> Any:
        return _called(cond, loop_vars, whole(_values(loop_vars, parts)))

    def advanced(*parts: Any) -> Any:
        return split(_called(body, loop_vars, whole(_values(loop_vars, parts))))

    shapes = _shapes(loop_vars, models, invariants)
    return Parts(asked, advanced, split(loop_vars), shapes, whole)


def _values(loop_vars: Any, parts: tuple[Any, ...]) -> Any:
    """Return what a loop hands to its functions as one structure."""
    return list(parts) if isinstance(loop_vars, list | tuple) else parts[0]


def _called(function: Any, loop_vars: Any, values: Any) -> Any:
    return function(*values) if isinstance(loop_vars, list | tuple) else function(values)


def _split(value: Any, model: Any) -> Any:
    if type(value) is not type(model) or type(model) not in FIELDS:
        return value
    if isinstance(model, IndexedSlices):
        value = with_indices(value, model.indices.dtype.base_dtype)
    return tuple(parts_of(value))


def _shapes(loop_vars: Any, models: list[Any], invariants: Any) -> Any:
    given: list[Any] = [None] * len(models)
    if invariants is not None:
        nest.check_same(loop_vars, invariants)
        given = nest.flatten(invariants)
    return nest.pack_as(loop_vars, [*map(_shapes_of, models, given)])


def _shapes_of(model: Any, given: Any) -> Any:
    if isinstance(model, SparseTensor):
        return _sparse_shapes(model, given)
    if isinstance(model, IndexedSlices):
        return _slices_shapes(model, given)
    return given


def _sparse_shapes(model: SparseTensor, given: Any) -> Any:
    shape = model.dense_shape.shape if given is None else given
    if shape.ndims not in (None, 1):
        raise ValueError(
            f"Expected a shape with 1 dimension: [rank] is the invariant of {model!r}, not {shape}"
        )
    rank = shape.with_rank(1)[0]
    return TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])


def _slices_shapes(model: IndexedSlices, given: Any) -> Any:
    if given is None:
        return (None,) * len(parts_of(model))
    rows = TensorShape([None if given.ndims is None else given[0]])
    return (given, rows, TensorShape([given.ndims]))[: len(parts_of(model))]
