"""Elements to their indices: scatter_nd, tensor_scatter_update and its like."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape, brackets
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.gather_nd import check_places
from tfdist.ops.array.repeated_indices import change_rows

__all__ = [
    "scatter_nd",
    "tensor_scatter_add",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "tensor_scatter_sub",
    "tensor_scatter_update",
]

SCATTER_ND = OpDef(
    "ScatterNd(indices: Tindices, updates: T, shape: Tindices) -> output: T "
    "[T: type; Tindices: type {index}]"
)


@SCATTER_ND.shape
def scatter_nd_shape(indices: Shape, updates: Shape, shape: Shape, *, shape_partial: Any) -> Shape:
    if shape_partial is None:
        return None if not shape or shape[0] is None else (None,) * shape[0]
    target = shapes.from_constant(shape_partial)
    check_updates(indices, updates, target)
    return target


def check_updates(indices: Shape, updates: Shape, target: Shape, name: str = "output") -> None:
    """Raise InvalidArgumentError unless `updates` has a slice for each row of `indices`.

    Args:
      indices: their shape.
      updates: their shape.
      target: shape of what the rows of the indices point into.
      name: of the target, for the message.
    """
    shapes.require_rank(indices, "indices", 1, 99)
    if not indices or target is None or indices[-1] is None or updates is None:
        return
    if 0 in target and 0 not in indices and 0 not in updates:
        raise InvalidArgumentError("Indices and updates specified for empty output shape")
    outer, inner = len(indices) - 1, len(target) - indices[-1]
    if inner < 0:  # seen when it runs
        return
    full, whole, ends = brackets(indices), brackets(target), brackets(updates)
    what = f"The outer {outer} dimensions of indices.shape={full} must match the outer {outer}"
    shapes.merge(indices[:-1], updates[:outer], f"{what} dimensions of updates.shape={ends}")
    what = f"The inner {inner} dimensions of {name}.shape={whole} must match the inner {inner}"
    shapes.merge(
        target[-inner:] if inner else (),
        updates[outer:],
        f"{what} dimensions of updates.shape={ends}",
    )


@SCATTER_ND.kernel
def scatter_nd_kernel(indices: Any, updates: Any, shape: Any) -> Any:
    dims = shapes.from_sizes(shape)
    check_room(dims, np.asarray(updates).dtype)
    output = np.zeros_like(updates, shape=dims)
    return added(np.add, output, indices, updates)


def added(ufunc: Any, output: Any, indices: Any, updates: Any) -> Any:
    """Apply `ufunc` at the places in `output`, which nobody else holds, and return it."""
    check_updates(indices.shape, np.shape(updates), output.shape)
    if indices.shape[-1] > output.ndim:
        raise InvalidArgumentError(
            "Inner dimensions of output shape must match inner dimensions of updates shape. "
            f"Output: {brackets(output.shape)} updates: {brackets(np.shape(updates))}"
        )
    check_places(indices, output.shape)
    places = tuple(np.moveaxis(indices, -1, 0))
    if ufunc is None:
        output[places] = updates
    elif not places or not np.size(updates):
        ufunc.at(output, places, updates)
    else:
        named = np.ravel_multi_index(places, output.shape[: len(places)]).reshape(-1)
        inner = output.shape[len(places) :] or (1,)
        change_rows(ufunc, output.reshape(-1, *inner), named, updates.reshape(-1, *inner))
    return output


@SCATTER_ND.gradient
def scatter_nd_gradient(op: Any, d_output: Any) -> Any:
    return None, raw.GatherNd(d_output, op.inputs[0]), None


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return zeros of `shape` with `updates` added at the places that rows of `indices` spell.

    Args:
      indices: integers [..., k].
      updates: indices.shape[:-1] + shape[k:].
      shape: integers [rank].
      name: of the node.

    Raises:
      InvalidArgumentError: a place is outside of `shape` (when it runs).

    Example: updates of one place are added up.
      >>> Session().run(scatter_nd([[1], [3], [1]], [5, 6, 7], [5]))
      array([ 0, 12,  0,  6,  0], dtype=int32)
    """
    result: Tensor = raw.ScatterNd(indices, updates, shape, name=name)
    return result


def _same_as_tensor(tensor: Shape, indices: Shape, updates: Shape) -> Shape:
    check_updates(indices, updates, tensor)
    return tensor


def _scatters(name: str, ufunc: Any, gradient: Any) -> OpDef:
    """Return an op that changes a copy of its first input at some places."""
    op_def = OpDef(
        f"{name}(tensor: T, indices: Tindices, updates: T) -> output: T "
        "[T: type; Tindices: type {index}]"
    )
    op_def.shape(_same_as_tensor)
    op_def.kernel(lambda tensor, indices, updates: added(ufunc, tensor.copy(), indices, updates))
    op_def.gradient(gradient)
    return op_def


def _updated_gradient(op: Any, d_output: Any) -> Any:
    _, indices, updates = op.inputs
    d_tensor = raw.TensorScatterUpdate(d_output, indices, raw.ZerosLike(updates))
    return d_tensor, None, raw.GatherNd(d_output, indices)


def _added_gradient(op: Any, d_output: Any) -> Any:
    return d_output, None, raw.GatherNd(d_output, op.inputs[1])


def _subtracted_gradient(op: Any, d_output: Any) -> Any:
    return d_output, None, raw.Neg(raw.GatherNd(d_output, op.inputs[1]))


TENSOR_SCATTER_UPDATE = _scatters("TensorScatterUpdate", None, _updated_gradient)
TENSOR_SCATTER_ADD = _scatters("TensorScatterAdd", np.add, _added_gradient)
TENSOR_SCATTER_SUB = _scatters("TensorScatterSub", np.subtract, _subtracted_gradient)


SCATTER_ND_NON_ALIASING_ADD = OpDef(
    "ScatterNdNonAliasingAdd(input: T, indices: Tindices, updates: T) -> output: T "
    "[T: type {numeric,bool}; Tindices: type {index}]"
)
SCATTER_ND_NON_ALIASING_ADD.gradient(_added_gradient)


@SCATTER_ND_NON_ALIASING_ADD.shape
def scatter_nd_non_aliasing_add_shape(input: Shape, indices: Shape, updates: Shape) -> Shape:
    check_updates(indices, updates, input)
    return input


@SCATTER_ND_NON_ALIASING_ADD.kernel
def scatter_nd_non_aliasing_add_kernel(input: Any, indices: Any, updates: Any) -> Any:
    return added(np.add, input.copy(), indices, updates)


def tensor_scatter_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """Return `tensor` with `updates` in place of what stood where rows of `indices` point.

    Args:
      tensor: [d0, ..., dn].
      indices: integers [..., k].
      updates: indices.shape[:-1] + tensor.shape[k:].
      name: of the node.

    Example:
      >>> Session().run(tensor_scatter_update([1, 2, 3], [[1]], [9]))
      array([1, 9, 3], dtype=int32)
    """
    result: Tensor = raw.TensorScatterUpdate(tensor, indices, updates, name=name)
    return result


def tensor_scatter_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """Return `tensor` with `updates` added where rows of `indices` point.

    Example:
      >>> Session().run(tensor_scatter_add([1, 2, 3], [[1]], [9]))
      array([ 1, 11,  3], dtype=int32)
    """
    result: Tensor = raw.TensorScatterAdd(tensor, indices, updates, name=name)
    return result


def tensor_scatter_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """Return `tensor` with `updates` taken away where rows of `indices` point.

    Example:
      >>> Session().run(tensor_scatter_sub([1, 2, 3], [[1]], [9]))
      array([ 1, -7,  3], dtype=int32)
    """
    result: Tensor = raw.TensorScatterSub(tensor, indices, updates, name=name)
    return result


tensor_scatter_nd_update = tensor_scatter_update  # their later names
tensor_scatter_nd_add, tensor_scatter_nd_sub = tensor_scatter_add, tensor_scatter_sub
