"""Changes of some rows or elements of a variable, of either kind.

Source: TF 1.15 API documentation, tf.scatter_update and those around it, tf.scatter_nd_update.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import lazy, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.handles import Handled
from tfdist.graph.op_def import OpDef
from tfdist.ops.array.gather import check_indices
from tfdist.ops.array.repeated_indices import change_rows
from tfdist.ops.array.scatter_nd import added, check_updates
from tfdist.ops.variables.resource_ops import known_shape
from tfdist.ops.variables.state_ops import is_resource

__all__ = [
    "scatter_add", "scatter_div", "scatter_max", "scatter_min", "scatter_mul", "scatter_nd_add",
    "scatter_nd_sub", "scatter_nd_update", "scatter_sub", "scatter_update",
]  # fmt: skip


def _each(ufunc: np.ufunc) -> Callable[[Any, Any, Any], None]:
    """Return what applies `ufunc` to some rows in place, as often as each is named."""

    def change(rows: Any, places: Any, by: Any) -> None:
        if rows.ndim > 1 and np.ndim(places) == 1 and np.ndim(by):
            change_rows(ufunc, rows, places, by)
        else:
            ufunc.at(rows, places, by)

    return change


def _divide(rows: Any, places: Any, by: Any) -> None:
    """Divide some rows; whole numbers towards zero, as C++ does."""
    if rows.dtype.kind not in "iu":
        _each(np.divide)(rows, places, by)
        return
    by = np.broadcast_to(by, (*np.shape(places), *rows.shape[1:]))
    for place in np.ndindex(np.shape(places)):
        row = np.asarray(places)[place]
        quotient, left = np.divmod(rows[row], by[place])
        rows[row] = quotient + ((left != 0) & ((rows[row] < 0) != (by[place] < 0)))


# What becomes of an array, in place: of rows, at indices, with updates.
_CHANGES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "Add": _each(np.add),
    "Sub": _each(np.subtract),
    "Mul": _each(np.multiply),
    "Div": _divide,
    "Min": _each(np.minimum),
    "Max": _each(np.maximum),
    "Update": np.ndarray.__setitem__,
}
_ND_CHANGES: dict[str, Any] = {"Add": np.add, "Sub": np.subtract, "Update": None}


def _on_reference(verb: str) -> OpDef:
    """Define an op that changes the rows of a reference variable that `indices` names."""
    ordered = "type {floating,int32,int64}"
    types = {"Update": "type", "Min": ordered, "Max": ordered}
    op_def = OpDef(
        f"Scatter{verb}(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T) "
        f"[T: {types.get(verb, 'type {numeric}')}; Tindices: type {{index}}; "
        f"use_locking: bool = {verb == 'Update'}]"
    ).not_differentiable()

    def scatter_shape(ref: Shape, indices: Shape, updates: Shape) -> Shape:
        _merge_rows(ref, indices, updates)
        return ref

    def scatter_kernel(ref: Any, indices: Any, updates: Any) -> Any:
        def changed(old: Any, out: Any) -> Any:
            _require_rows(ref, np.shape(old), indices, updates)
            new = np.array(old) if out is None else out
            _CHANGES[verb](new, indices, updates)
            return new

        ref.update(changed)
        return ref

    op_def.shape(scatter_shape)
    op_def.kernel(scatter_kernel)
    return op_def


def _require_rows(ref: Any, shape: tuple[int, ...], indices: Any, updates: Any) -> None:
    """Check that `indices` name rows of a variable of that shape, and `updates` are as these."""
    if not shape:
        raise InvalidArgumentError(
            f"params must be at least 1-D, got shape []: variable {ref.name!r} has no rows"
        )
    if np.ndim(updates) and np.shape(updates) != (*np.shape(indices), *shape[1:]):
        raise InvalidArgumentError(
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
            f"updates.shape {_show(updates)}, indices.shape {_show(indices)}, params.shape "
            f"[{','.join(map(str, shape))}], which is variable {ref.name!r}"
        )
    try:
        check_indices(np.asarray(indices), shape[0])
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{error.message}, the rows of variable {ref.name!r}") from None


def _on_resource(verb: str) -> OpDef:
    """Define an op that changes the rows of a resource variable that `indices` names."""
    op_def = OpDef(
        f"ResourceScatter{verb}(resource: resource, indices: Tindices, updates: dtype) -> () "
        f"[dtype: type{'' if verb == 'Update' else ' {numeric}'}; Tindices: type {{index}}] !"
    ).not_differentiable()

    def scatter_kernel(resource: Any, indices: Any, updates: Any) -> None:
        def changed(old: Any, out: Any) -> Any:
            new = np.array(old) if out is None else out
            rows = np.atleast_1d(new)
            _require_fit(rows, indices, updates)
            _CHANGES[verb](rows, indices, updates)
            return new if new.ndim else new[()]

        resource.update(changed)

    op_def.shape(_fitting)
    op_def.kernel(scatter_kernel)
    return op_def


def _fitting(
    resource: Shape, indices: Shape, updates: Shape, *, resource_handle: Handled | None,
    dtype: DType,
) -> None:  # fmt: skip
    _merge_rows(known_shape(resource_handle, dtype), indices, updates)


def _merge_rows(rows: Shape, indices: Shape, updates: Shape) -> None:
    """Raise ValueError if updates of that shape cannot be for what `indices` name of `rows`."""
    if rows and indices is not None and updates != ():
        shapes.merge(updates, (*indices, *rows[1:]), "updates and the rows that indices name")


def _require_fit(rows: Any, indices: Any, updates: Any) -> None:
    wanted = (*np.shape(indices), *rows.shape[1:])
    if np.ndim(updates) and np.shape(updates) != wanted:
        raise InvalidArgumentError(
            f"shape of indices ({_show(indices)}) is not compatible with the shape of updates "
            f"({_show(updates)})"
        )
    check_indices(np.asarray(indices), len(rows))


def _show(value: Any) -> str:
    return f"[{','.join(map(str, np.shape(value)))}]"


def _nd_on_reference(verb: str) -> OpDef:
    """Define an op that changes a reference variable where rows of `indices` spell."""
    op_def = OpDef(
        f"ScatterNd{verb}(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T) "
        f"[T: type{'' if verb == 'Update' else ' {numeric}'}; Tindices: type {{index}}; "
        f"use_locking: bool = {verb == 'Update'}]"
    ).not_differentiable()

    def scatter_kernel(ref: Any, indices: Any, updates: Any) -> Any:
        ref.update(_nd_changed(verb, indices, updates))
        return ref

    @op_def.shape
    def scatter_shape(ref: Shape, indices: Shape, updates: Shape) -> Shape:
        check_updates(indices, updates, ref, "input")
        return ref

    op_def.kernel(scatter_kernel)
    return op_def


def _nd_on_resource(verb: str) -> OpDef:
    """Define an op that changes a resource variable where rows of `indices` spell."""
    op_def = OpDef(
        f"ResourceScatterNd{verb}(ref: resource, indices: Tindices, updates: T) -> () "
        "[T: type; Tindices: type {index}; use_locking: bool = True] !"
    ).not_differentiable()

    @op_def.shape
    def scatter_shape(
        ref: Shape, indices: Shape, updates: Shape, *, ref_handle: Handled | None, T: DType
    ) -> None:
        check_updates(indices, updates, known_shape(ref_handle, T), "input")

    def scatter_kernel(ref: Any, indices: Any, updates: Any) -> None:
        ref.update(_nd_changed(verb, indices, updates))

    op_def.kernel(scatter_kernel)
    return op_def


def _nd_changed(verb: str, indices: Any, updates: Any) -> Callable[[Any, Any], Any]:
    """Return the function that changes a variable's value where rows of `indices` spell."""

    def changed(old: Any, out: Any) -> Any:
        new = np.array(old) if out is None else out
        return added(_ND_CHANGES[verb], new, indices, updates)

    return changed


ON_REFERENCE = {verb: _on_reference(verb) for verb in _CHANGES}
ON_RESOURCE = {verb: _on_resource(verb) for verb in _CHANGES}
ND_ON_REFERENCE = {verb: _nd_on_reference(verb) for verb in _ND_CHANGES}
ND_ON_RESOURCE = {verb: _nd_on_resource(verb) for verb in _ND_CHANGES}


def _scatterer(verb: str, prefix: str, on_reference: OpDef, on_resource: OpDef) -> Any:
    locks = on_reference.text.endswith("use_locking: bool = True]")

    def function(
        ref: Any, indices: Any, updates: Any, use_locking: bool = locks, name: str | None = None
    ) -> Any:
        if is_resource(ref):
            return changed(ref, on_resource, indices, updates, name)
        return on_reference(ref, indices, updates, use_locking=use_locking, name=name)

    function.__name__ = function.__qualname__ = f"{prefix}_{verb.lower()}"
    where = (
        "int [..., k], each row the place of what to change"
        if prefix.endswith("nd")
        else "int [n], rows to change; one that stands twice is changed twice"
    )
    function.__doc__ = f"""Return an op that changes parts of the variable `ref`, and gives it.

    Its node is {on_reference.name}, or {on_resource.name} for a resource variable.

    Args:
      ref: a Variable [rows, ...].
      indices: {where}.
      updates: same dtype as `ref`, [n, ...].
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the node.
    """
    return function


def changed(
    variable: Any, op_def: OpDef, indices: Any, updates: Any, name: str | None = None
) -> Any:
    """Return what a resource variable is after `op_def` has changed parts of it."""
    updates = convert_to_tensor(updates, variable.dtype)
    return variable.after(op_def(variable.handle, indices, updates, name=name))


scatter_add, scatter_sub, scatter_mul, scatter_div, scatter_min, scatter_max, scatter_update = (
    _scatterer(verb, "scatter", ON_REFERENCE[verb], ON_RESOURCE[verb]) for verb in _CHANGES
)
scatter_nd_add, scatter_nd_sub, scatter_nd_update = (
    _scatterer(verb, "scatter_nd", ND_ON_REFERENCE[verb], ND_ON_RESOURCE[verb])
    for verb in _ND_CHANGES
)


_batch_scatter_update = lazy.function("tfdist.ops.variables.batch_scatter", "batch_scatter_update")


class Scattered:
    """Methods of variables that change parts of them."""

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Return an op that adds `sparse_delta` (IndexedSlices) to some rows."""
        return scatter_add(self, *_parts(sparse_delta), use_locking, name)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Return an op that subtracts `sparse_delta` (IndexedSlices) from some rows."""
        return scatter_sub(self, *_parts(sparse_delta), use_locking, name)

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: Any = None
    ) -> Any:
        """Return an op that sets some rows to those of `sparse_delta` (IndexedSlices)."""
        return _batch_scatter_update(self, *_parts(sparse_delta), use_locking, name)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Return an op that multiplies some rows by `sparse_delta` (IndexedSlices)."""
        return scatter_mul(self, *_parts(sparse_delta), use_locking, name)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Return an op that divides some rows by `sparse_delta` (IndexedSlices)."""
        return scatter_div(self, *_parts(sparse_delta), use_locking, name)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Return an op that lets no element of some rows exceed `sparse_delta` (IndexedSlices)."""
        return scatter_min(self, *_parts(sparse_delta), use_locking, name)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Return an op that lets no element of some rows fall below `sparse_delta`."""
        return scatter_max(self, *_parts(sparse_delta), use_locking, name)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Return an op that sets some rows to those of `sparse_delta` (IndexedSlices)."""
        return scatter_update(self, *_parts(sparse_delta), use_locking, name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Return an op that adds `updates` at the places that rows of `indices` spell."""
        return scatter_nd_add(self, indices, updates, name=name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Return an op that subtracts `updates` at the places that rows of `indices` spell."""
        return scatter_nd_sub(self, indices, updates, name=name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Return an op that sets the places that rows of `indices` spell to `updates`."""
        return scatter_nd_update(self, indices, updates, name=name)


def _parts(sparse_delta: Any) -> tuple[Any, Any]:
    return sparse_delta.indices, sparse_delta.values
