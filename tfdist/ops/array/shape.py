"""Shapes as values: shape, shape_n, size, rank; constants where they are known already."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Dim, Shape
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.sparse.sparse_tensor import SparseTensor, SparseTensorValue

__all__ = ["rank", "shape", "shape_n", "size"]

SHAPE = OpDef(
    "Shape(input: T) -> output: out_type [T: type; out_type: type = int32 {index}]"
).not_differentiable()


@SHAPE.shape
def shape_shape(input: Shape) -> Shape:
    return (None if input is None else len(input),)


@SHAPE.kernel
def shape_kernel(input: Any, *, out_type: DType) -> Any:
    return np.array(np.shape(input), out_type.as_numpy_dtype)


def shape(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """Return the shape of `input` as a vector; a constant where it is known already.

    Args:
      input: a tensor, or anything that converts to one; sparse or not.
      name: of the node.
      out_type: int32 or int64.

    Example:
      >>> Session().run(shape([[1, 2, 3], [4, 5, 6]]))
      array([2, 3], dtype=int32)
    """
    if isinstance(input, _SPARSE):
        with scopes.name_scope(name, "Shape"):
            return raw.Cast(input.dense_shape, DstT=out_type)  # type: ignore[no-any-return]
    return _known_or(raw.Shape, _all_known, input, name or "Shape", out_type)


_SPARSE = (SparseTensor, SparseTensorValue)


def _all_known(dims: tuple[Dim, ...]) -> Any:
    return None if None in dims else np.array(dims, np.int64)


def _count_known(dims: tuple[Dim, ...]) -> Any:
    count = shapes.num_elements(dims)
    return None if count is None else np.array(count, np.int64)


def _rank_known(dims: tuple[Dim, ...]) -> Any:
    return np.array(len(dims))


def _known_or(op: Any, measure: Any, input: Any, name: str, out_type: Any) -> Any:
    """Return a constant with what `measure` makes of a known shape, else a node of `op`."""
    if not hasattr(input, "_as_tensor"):
        with scopes.name_scope(name) as scope:  # so that the constant is called "Shape/Const"
            return _known_or(op, measure, convert.convert_to_tensor(input), scope, out_type)
    dims = input._as_tensor(False).plain_shape
    known = None if dims is None else measure(dims)
    if known is not None:
        return convert.constant(known.astype(dtypes.as_dtype(out_type).as_numpy_dtype), name=name)
    return op(input, name=name, **({} if op.name == "Rank" else {"out_type": out_type}))


SHAPE_N = OpDef(
    "ShapeN(input: N*T) -> output: N*out_type [N: int >=1; T: type; out_type: type = int32 {index}]"
).not_differentiable()


@SHAPE_N.shape
def shape_n_shape(input: list[Shape]) -> list[Shape]:
    return [shape_shape(each) for each in input]


@SHAPE_N.kernel
def shape_n_kernel(input: list[Any], *, out_type: DType) -> Any:
    return [shape_kernel(each, out_type=out_type) for each in input]


def shape_n(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """Return the shape of each of the tensors `input`, all of one type, as vectors.

    Example:
      >>> Session().run(shape_n([[1, 2, 3], [4, 5]]))
      [array([3], dtype=int32), array([2], dtype=int32)]
    """
    found: list[Tensor] = raw.ShapeN(input, out_type=out_type, name=name)
    return found


SIZE = OpDef(
    "Size(input: T) -> output: out_type [T: type; out_type: type = int32 {index}]"
).not_differentiable()


@SIZE.shape
def size_shape(input: Shape) -> Shape:
    return ()


@SIZE.kernel
def size_kernel(input: Any, *, out_type: DType) -> Any:
    return out_type.as_numpy_dtype(np.size(input))


def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """Return the number of elements of `input`; a constant where it is known already.

    Of a sparse tensor those count that are not there, too.

    Example:
      >>> Session().run(size([[1, 2, 3], [4, 5, 6]]))
      np.int32(6)
    """
    if isinstance(input, _SPARSE):
        with scopes.name_scope(name, "Size") as scope:
            dims = raw.Cast(input.dense_shape, DstT=out_type)
            axis = convert.constant(0, dtypes.int32, name="reduction_indices")
            return raw.Prod(dims, axis, name=scope)  # type: ignore[no-any-return]
    return _known_or(raw.Size, _count_known, input, name or "Size", out_type)


RANK = OpDef("Rank(input: T) -> output: int32 [T: type]").not_differentiable()


@RANK.shape
def rank_shape(input: Shape) -> Shape:
    return ()


@RANK.kernel
def rank_kernel(input: Any) -> Any:
    return np.int32(np.ndim(input))


def rank(input: Any, name: str | None = None) -> Tensor:
    """Return the number of dimensions of `input`; a constant where it is known already.

    Example:
      >>> Session().run(rank([[1, 2, 3], [4, 5, 6]]))
      np.int32(2)
    """
    if isinstance(input, _SPARSE):
        return raw.Size(input.dense_shape, name=name or "Rank")  # type: ignore[no-any-return]
    return _known_or(raw.Rank, _rank_known, input, name or "Rank", dtypes.int32)
