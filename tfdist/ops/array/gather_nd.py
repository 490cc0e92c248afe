"""Elements by their places, an index for each axis: gather_nd."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.framework.shared_values import as_elements

__all__ = ["gather_nd"]

GATHER_ND = OpDef(
    "GatherNd(params: Tparams, indices: Tindices) -> output: Tparams "
    "[Tparams: type; Tindices: type {index}]"
)


@GATHER_ND.shape
def gather_nd_shape(params: Shape, indices: Shape) -> Shape:
    shapes.require_rank(indices, "indices", 1, shapes.ANY_RANK)
    if params is None or not indices or indices[-1] is None:
        return None
    depth = indices[-1]
    if depth > len(params):
        raise InvalidArgumentError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: "
            f"{shapes.brackets(indices)} and params shape: {shapes.brackets(params)}"
        )
    return (*indices[:-1], *params[depth:])


@GATHER_ND.kernel
def gather_nd_kernel(params: Any, indices: Any) -> Any:
    gather_nd_shape(params.shape, indices.shape)
    check_places(indices, params.shape)
    if not indices.shape[-1]:  # NumPy would forget how many there are
        return np.broadcast_to(params, (*indices.shape[:-1], *params.shape)).copy()
    return as_elements(params[tuple(np.moveaxis(indices, -1, 0))])


def check_places(indices: Any, dims: tuple[int, ...]) -> None:
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
      batch_dims: how many leading axes `params` and `indices` share.

    Returns:
      indices.shape[:-1] + params.shape[batch_dims + k:].

    Raises:
      InvalidArgumentError: a place is outside of `params` (when it runs).

    Example:
      >>> Session().run(gather_nd([[1, 2], [3, 4]], [[1, 0], [0, 1]]))
      array([3, 2], dtype=int32)
    """
    if batch_dims:
        return _gather_nd_in_batches(params, indices, batch_dims, name)
    if hasattr(params, "sparse_read"):
        return params.gather_nd(indices, name=name)  # type: ignore[no-any-return]
    result: Tensor = raw.GatherNd(params, indices, name=name)
    return result


def _gather_nd_in_batches(params: Any, indices: Any, shared: int, name: str | None) -> Tensor:
    """Return `gather_nd` of places that are completed by those in the batch."""
    params, indices = (convert.convert_to_tensor(each) for each in (params, indices))
    rank = indices.shape.ndims
    if rank is None or params.shape.ndims is None:
        raise ValueError("batch_dims need known ranks of params and indices")
    if not 0 <= shared < rank:
        raise ValueError(f"batch_dims = {shared} must be less than rank(indices) = {rank}")
    dims: Any = shape(indices, None, indices.dtype)
    ones = np.ones(rank, np.int64).astype(indices.dtype.as_numpy_dtype)
    full = raw.ConcatV2([dims[:-1], ones[:1]], 0)
    axes = []
    for axis in range(shared):
        along = ones.copy()
        along[axis] = -1
        steps = raw.Range(
            convert.constant(0, indices.dtype), dims[axis], convert.constant(1, indices.dtype)
        )
        axes.append(raw.BroadcastTo(reshape(steps, along), full))
    return raw.GatherNd(params, raw.ConcatV2([*axes, indices], -1), name=name)  # type: ignore[no-any-return]
