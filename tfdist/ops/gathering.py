"""Elements by their indices: gather, gather_nd, scatter_nd, boolean_mask."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor, constant_value
from tfdist.ops.gradients import IndexedSlices
from tfdist.ops.shaping import reshape, shape, size
from tfdist.ops.values import as_elements

__all__ = [
    "batch_gather",
    "boolean_mask",
    "gather",
    "gather_nd",
    "invert_permutation",
    "scatter_nd",
    "sparse_to_dense",
    "tensor_scatter_add",
    "tensor_scatter_sub",
    "tensor_scatter_update",
]

GATHER_V2 = OpDef(
    "GatherV2(params: Tparams, indices: Tindices, axis: Taxis) -> output: Tparams "
    "[batch_dims: int = 0; Tparams: type; Tindices: type {index}; Taxis: type {index}]"
)


@GATHER_V2.shape
def gather_v2_shape(
    params: Shape, indices: Shape, axis: Shape, *, axis_value: Any, batch_dims: int
) -> Shape:
    if params is None or indices is None:
        return None
    if axis_value is None:
        return (None,) * (len(params) + len(indices) - 1 - batch_dims)
    if not params:
        raise InvalidArgumentError("params must have rank 1 at least, but is a scalar")
    at = shapes.axis_of(int(axis_value.item()), len(params))
    batch_dims = batch_dims + len(indices) if batch_dims < 0 else batch_dims
    shapes.merge(params[:batch_dims], indices[:batch_dims], "batch dimensions")
    return (*params[:at], *indices[batch_dims:], *params[at + 1 :])


@GATHER_V2.kernel
def gather_v2_kernel(params: Any, indices: Any, axis: Any, *, batch_dims: int) -> Any:
    at = shapes.axis_of(int(axis), params.ndim)
    _check_indices(indices, params.shape[at])
    if not batch_dims:
        return as_elements(params.take(indices, at))
    return _batched(params, indices, at, batch_dims % (np.ndim(indices) + 1))


def _check_indices(indices: Any, length: int) -> None:
    """Raise InvalidArgumentError unless all are in [0, length); NumPy would count from the end."""
    if np.size(indices) and not (0 <= indices.min() and indices.max() < length):
        where = np.argwhere((indices < 0) | (indices >= length))[0]
        place = f"[{','.join(map(str, where))}]" if len(where) else ""
        value = np.asarray(indices)[tuple(where)]
        raise InvalidArgumentError(f"indices{place} = {value} is not in [0, {length})")


def _batched(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    """Return `params` gathered at `indices`, whose first `batch_dims` axes run together."""
    flat = [each.reshape(-1, *each.shape[batch_dims:]) for each in (params, indices)]
    rows = [one.take(at, axis - batch_dims) for one, at in zip(*flat, strict=True)]
    inner = (*params.shape[batch_dims:axis], *indices.shape[batch_dims:], *params.shape[axis + 1 :])
    return np.array(rows, params.dtype).reshape(*params.shape[:batch_dims], *inner)


@GATHER_V2.gradient
def gather_v2_gradient(op: Any, d_output: Any) -> Any:
    params, indices, axis = op.inputs
    place, dims = constant_value(axis), params.plain_shape
    if op.get_attr("batch_dims") or place is None or (int(place) < 0 and dims is None):
        raise LookupError(
            f"the gradient of {op.name!r} needs a known axis counted from the first, and no batch"
        )
    at = int(place) if place >= 0 else int(place) + len(dims)
    if at == 0:
        return _rows(params, indices, d_output), None, None
    return _added_up(params, indices, d_output, at), None, None


def _rows(params: Tensor, indices: Tensor, d_output: Any) -> IndexedSlices:
    """Return `d_output` as the rows of `params` that it belongs to: a few of very many, perhaps."""
    dims = shape(params)
    count = raw.ExpandDims(size(indices), 0)
    row = raw.StridedSlice(dims, [1], [0], [1], end_mask=1, name="strided_slice")
    values = reshape(d_output, raw.ConcatV2([count, row], 0, name="concat"))
    return IndexedSlices(values, reshape(indices, count), dims)


def _added_up(params: Tensor, indices: Tensor, d_output: Tensor, axis: int) -> Tensor:
    """Return the sum of `d_output` over the places that `indices` name along `axis` of `params`.

    The axes of the indices go to the front, where segments are added up, and the result's own
    axis goes back to its place.
    """
    count = raw.StridedSlice(shape(params), [axis], [axis + 1], [1], shrink_axis_mask=1)
    end = raw.AddV2(raw.Rank(indices), axis)
    before, after = np.arange(axis, dtype=np.int32), raw.Range(end, raw.Rank(d_output), 1)
    order = raw.ConcatV2([raw.Range(axis, end, 1), before, after], 0)
    sums = raw.UnsortedSegmentSum(raw.Transpose(d_output, order), indices, count)
    after = raw.Range(axis + 1, raw.Rank(params), 1)
    back = raw.ConcatV2([before + 1, np.zeros(1, np.int32), after], 0)
    d_params: Tensor = raw.Transpose(sums, back)
    d_params.set_shape(params.plain_shape)
    return d_params


GATHER = OpDef(
    "Gather(params: Tparams, indices: Tindices) -> output: Tparams "
    "[validate_indices: bool = True; Tparams: type; Tindices: type {index}]"
)


@GATHER.shape
def gather_shape(params: Shape, indices: Shape) -> Shape:
    return gather_v2_shape(params, indices, (), axis_value=np.array(0), batch_dims=0)


@GATHER.kernel
def gather_kernel(params: Any, indices: Any) -> Any:
    return gather_v2_kernel(params, indices, 0, batch_dims=0)


@GATHER.gradient
def gather_gradient(op: Any, d_output: Any) -> Any:
    params, indices = op.inputs
    return _rows(params, indices, d_output), None


def gather(
    params: Any, indices: Any, validate_indices: bool | None = None, name: str | None = None,
    axis: Any = None, batch_dims: int = 0,
) -> Tensor:  # fmt: skip
    """Return the slices of `params` along `axis` that `indices` name.

    Args:
      params: [d0, ..., dn].
      indices: integers of any shape, each in [0, length of that axis).
      validate_indices: not used; indices are always checked.
      name: of the node.
      axis: along which to gather; by default `batch_dims`.
      batch_dims: how many leading axes `params` and `indices` share.

    Returns:
      params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:].

    Raises:
      InvalidArgumentError: an index is out of range (when it runs).

    Example:
      >>> Session().run(gather([[1, 2], [3, 4], [5, 6]], [2, 0]))
      array([[5, 6],
             [1, 2]], dtype=int32)
    """
    axis = batch_dims if axis is None else axis
    result: Tensor = raw.GatherV2(params, indices, axis, batch_dims=batch_dims, name=name)
    return result


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """Return `gather` along the last axis of `indices`, with the axes before it shared.

    Args:
      params: [b0, ..., bn, length, ...].
      indices: integers [b0, ..., bn, k].
      name: of the node.

    Example:
      >>> Session().run(batch_gather([[1, 2], [3, 4]], [[1], [0]]))
      array([[2],
             [3]], dtype=int32)
    """
    indices = convert.convert_to_tensor(indices, name="indices")
    shared = len(indices.shape) - 1
    return gather(params, indices, name=name, axis=shared, batch_dims=shared)


GATHER_ND = OpDef(
    "GatherNd(params: Tparams, indices: Tindices) -> output: Tparams "
    "[Tparams: type; Tindices: type {index}]"
)


@GATHER_ND.shape
def gather_nd_shape(params: Shape, indices: Shape) -> Shape:
    if params is None or not indices or indices[-1] is None:
        return None
    depth = indices[-1]
    if depth > len(params):
        raise InvalidArgumentError(
            f"indices of length {depth} are too long for params of shape {shapes.show(params)}"
        )
    return (*indices[:-1], *params[depth:])


@GATHER_ND.kernel
def gather_nd_kernel(params: Any, indices: Any) -> Any:
    gather_nd_shape(params.shape, indices.shape)
    _check_places(indices, params.shape)
    return as_elements(params[tuple(np.moveaxis(indices, -1, 0))])


def _check_places(indices: Any, dims: tuple[int, ...]) -> None:
    """Raise InvalidArgumentError unless each row of `indices` [..., k] is a place in `dims`."""
    outside = (indices < 0) | (indices >= np.array(dims[: indices.shape[-1]]))
    if outside.any():
        where = np.argwhere(outside)[0][:-1]
        place = f"[{','.join(map(str, where))}]" if len(where) else ""
        value = indices[tuple(where)].tolist()
        raise InvalidArgumentError(f"indices{place} = {value} does not index into {list(dims)}")


@GATHER_ND.gradient
def gather_nd_gradient(op: Any, d_output: Any) -> Any:
    params, indices = op.inputs
    return raw.ScatterNd(indices, d_output, shape(params, None, indices.dtype)), None


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Tensor:
    """Return the elements or slices of `params` at the places that rows of `indices` spell.

    Args:
      params: [d0, ..., dn].
      indices: integers [..., k] with k <= n + 1: each row names the first k indices.
      name: of the node.
      batch_dims: 0 only.

    Returns:
      indices.shape[:-1] + params.shape[k:].

    Raises:
      InvalidArgumentError: a place is outside of `params` (when it runs).

    Example:
      >>> Session().run(gather_nd([[1, 2], [3, 4]], [[1, 0], [0, 1]]))
      array([3, 2], dtype=int32)
    """
    if batch_dims:
        raise NotImplementedError("gather_nd takes no batch_dims but 0 here")
    result: Tensor = raw.GatherNd(params, indices, name=name)
    return result


SCATTER_ND = OpDef(
    "ScatterNd(indices: Tindices, updates: T, shape: Tindices) -> output: T "
    "[T: type; Tindices: type {index}]"
)


@SCATTER_ND.shape
def scatter_nd_shape(indices: Shape, updates: Shape, shape: Shape, *, shape_value: Any) -> Shape:
    if shape_value is None:
        return None if not shape or shape[0] is None else (None,) * shape[0]
    target = shapes.from_constant(shape_value)
    _check_updates(indices, updates, target)
    return target


def _check_updates(indices: Shape, updates: Shape, target: Shape) -> None:
    if indices and target is not None and indices[-1] is not None:
        wanted = (*indices[:-1], *target[indices[-1] :])
        shapes.merge(updates, wanted, "the shape of updates and that which indices ask for")


@SCATTER_ND.kernel
def scatter_nd_kernel(indices: Any, updates: Any, shape: Any) -> Any:
    dims = tuple(shape.tolist())
    output = np.zeros_like(updates, shape=dims)
    return _added(np.add, output, indices, updates)


def _added(ufunc: Any, output: Any, indices: Any, updates: Any) -> Any:
    """Apply `ufunc` at the places in `output`, which nobody else holds, and return it."""
    _check_updates(indices.shape, np.shape(updates), output.shape)
    _check_places(indices, output.shape)
    places = tuple(np.moveaxis(indices, -1, 0))
    if ufunc is None:
        output[places] = updates
    else:
        ufunc.at(output, places, updates)
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


def _scatters(name: str, ufunc: Any, gradient: Any) -> OpDef:
    """Return an op that changes a copy of its first input at some places."""
    op_def = OpDef(
        f"{name}(tensor: T, indices: Tindices, updates: T) -> output: T "
        "[T: type; Tindices: type {index}]"
    )
    op_def.shape(lambda tensor, indices, updates: tensor)
    op_def.kernel(lambda tensor, indices, updates: _added(ufunc, tensor.copy(), indices, updates))
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


INVERT_PERMUTATION = OpDef(
    "InvertPermutation(x: T) -> y: T [T: type = int32 {index}]"
).not_differentiable()


@INVERT_PERMUTATION.shape
def invert_permutation_shape(x: Shape) -> Shape:
    shapes.require_rank(x, "x", 1)
    return (None,) if x is None else x


@INVERT_PERMUTATION.kernel
def invert_permutation_kernel(x: Any) -> Any:
    places = np.arange(len(x), dtype=x.dtype)
    if not (np.sort(x) == places).all():
        raise InvalidArgumentError(
            f"x must be a permutation of 0 to {len(x) - 1}, but is {x.tolist()}"
        )
    inverse = np.empty_like(x)
    inverse[x] = places
    return inverse


def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """Return the permutation that undoes `x`: y[x[i]] is i.

    Args:
      x: a permutation of 0, ..., n - 1.
      name: of the node.

    Example:
      >>> Session().run(invert_permutation([2, 0, 1]))
      array([1, 2, 0], dtype=int32)
    """
    result: Tensor = raw.InvertPermutation(x, name=name)
    return result


SPARSE_TO_DENSE = OpDef(
    "SparseToDense(sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, "
    "default_value: T) -> dense: T "
    "[validate_indices: bool = True; T: type; Tindices: type {index}]"
)


@SPARSE_TO_DENSE.shape
def sparse_to_dense_shape(
    sparse_indices: Shape, output_shape: Shape, sparse_values: Shape, default_value: Shape, *,
    output_shape_value: Any,
) -> Shape:  # fmt: skip
    if output_shape_value is not None:
        return shapes.from_constant(output_shape_value)
    return None if not output_shape or output_shape[0] is None else (None,) * output_shape[0]


@SPARSE_TO_DENSE.kernel
def sparse_to_dense_kernel(
    sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any, *,
    validate_indices: bool,
) -> Any:  # fmt: skip
    dims = tuple(output_shape.tolist())
    default = as_elements(default_value)
    places = np.asarray(sparse_indices).reshape(np.size(sparse_indices) // len(dims), len(dims))
    _check_places(places, dims)
    if validate_indices:
        _check_sorted(places.tolist())
    output = np.full_like(default, default, shape=dims)
    output[tuple(places.T)] = sparse_values
    return output


def _check_sorted(places: Sequence[Any]) -> None:
    for row, (one, other) in enumerate(pairwise(places), 1):
        if one >= other:
            kind = "repeated" if one == other else "out of order"
            raise InvalidArgumentError(f"sparse_indices[{row}] = {other} is {kind}")


@SPARSE_TO_DENSE.gradient
def sparse_to_dense_gradient(op: Any, d_dense: Any) -> Any:
    indices, _, values, _ = op.inputs
    dims = op.inputs[1].plain_shape
    rank = -1 if not dims or dims[0] is None else dims[0]
    d_values = raw.GatherNd(d_dense, reshape(indices, [-1, rank]))
    total = raw.Sum(d_dense, raw.Range(0, raw.Rank(d_dense), 1))
    d_default = raw.Sub(total, raw.Sum(d_values, [0]))
    if values.plain_shape == ():
        return None, None, raw.Sum(d_values, [0]), d_default
    return None, None, reshape(d_values, shape(values)), d_default


def sparse_to_dense(
    sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0,
    validate_indices: bool = True, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `default_value` everywhere, except for `sparse_values` at `sparse_indices`.

    Args:
      sparse_indices: integers [n, rank], or [n] for rank 1, in ascending order without repeats.
      output_shape: integers [rank].
      sparse_values: [n], or a scalar for all of them.
      default_value: a scalar.
      validate_indices: whether the order is checked.
      name: of the node.

    Raises:
      InvalidArgumentError: an index is out of range or out of order (when it runs).

    Example:
      >>> Session().run(sparse_to_dense([1, 3], [5], 1))
      array([0, 1, 0, 1, 0], dtype=int32)
    """
    result: Tensor = raw.SparseToDense(
        sparse_indices, output_shape, sparse_values, default_value,
        validate_indices=validate_indices, name=name,
    )  # fmt: skip
    return result


def boolean_mask(
    tensor: Any, mask: Any, name: str = "boolean_mask", axis: int | None = None
) -> Tensor:
    """Return the slices of `tensor` where `mask` is true.

    Args:
      tensor: [d0, ..., dn].
      mask: bools, of the shape of some axes of `tensor`; its rank must be known.
      name: prefix for the nodes.
      axis: the first of those axes, by default 0.

    Returns:
      `tensor` with those axes replaced by one, as long as `mask` has true elements.

    Raises:
      ValueError: the shapes do not fit, or `mask` is a scalar.

    Example:
      >>> Session().run(boolean_mask([[1, 2], [3, 4], [5, 6]], [True, False, True]))
      array([[1, 2],
             [5, 6]], dtype=int32)
    """
    at = axis or 0
    with scopes.name_scope(name, None, [tensor, mask]):
        tensor = convert.convert_to_tensor(tensor, name="tensor")
        mask = convert.convert_to_tensor(mask, "bool", name="mask")
        depth = _checked_depth(tensor.plain_shape, mask.plain_shape, at)
        rows = _joined_axes(tensor, at, depth) if depth > 1 else tensor
        found = raw.Squeeze(raw.Where(reshape(mask, [-1])), squeeze_dims=[1])
        return gather(rows, found, axis=at)


def _checked_depth(dims: Shape, mask: Shape, axis: int) -> int:
    """Return the rank of `mask`; ValueError unless it fits the axes of `dims` from `axis` on."""
    if not mask:
        raise ValueError(f"the mask must have a known rank of 1 at least, got {shapes.show(mask)}")
    part = None if dims is None else dims[axis : axis + len(mask)]
    if not shapes.compatible(part, mask):
        raise ValueError(
            f"a mask of shape {shapes.show(mask)} does not fit axis {axis} on of a tensor of shape "
            f"{shapes.show(dims)}"
        )
    return len(mask)


def _joined_axes(tensor: Tensor, axis: int, depth: int) -> Tensor:
    """Return `tensor` with `depth` axes from `axis` on made into one."""
    dims = shape(tensor)
    before = raw.StridedSlice(dims, [0], [axis], [1])
    after = raw.StridedSlice(dims, [axis + depth], [0], [1], end_mask=1)
    return reshape(tensor, raw.ConcatV2([before, [-1], after], 0))
