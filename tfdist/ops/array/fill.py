"""Tensors made of nothing but a rule: zeros, ones, fill, eye."""

from __future__ import annotations

import operator
from contextlib import suppress
from functools import reduce
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape, as_shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.concat import concat
from tfdist.ops.array.range import range as range_
from tfdist.ops.array.shape import shape as shape_of
from tfdist.ops.framework.shared_values import as_elements, refine

__all__ = [
    "eye",
    "fill",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]

FILL = OpDef(
    "Fill(dims: index_type, value: T) -> output: T [T: type; index_type: type = int32 {index}]"
)


@FILL.shape
def fill_shape(dims: Shape, value: Shape, *, dims_partial: Any) -> Shape:
    shapes.require_rank(dims, "dims", 1)
    shapes.require_rank(value, "value", 0)
    if dims_partial is not None:
        known = dims_partial.tolist()
        if None not in known and min(known, default=0) < 0:  # -1 is an unknown one beside others
            raise InvalidArgumentError(f"Fill dimensions must be >= 0, but are {known}")
        return shapes.from_constant(dims_partial)
    return None if dims is None or dims[0] is None else (None,) * dims[0]


def _sizes(dims: list[int]) -> tuple[int, ...]:
    if any(dim < 0 for dim in dims):
        raise InvalidArgumentError(f"Fill dimensions must be >= 0, but are {dims}")
    return tuple(dims)


@FILL.kernel
def fill_kernel(dims: Any, value: Any) -> Any:
    value, sizes = as_elements(value), _sizes(dims.tolist())
    if value.ndim:
        raise InvalidArgumentError(
            f"value must be a scalar, got shape {shapes.brackets(value.shape)}"
        )
    if not sizes:
        return value
    check_room(sizes, value.dtype)
    result = np.empty_like(value, shape=sizes)
    result[...] = value
    return result


@FILL.gradient
def fill_gradient(op: Any, d_output: Any) -> Any:
    return None, raw.Sum(d_output, range_(0, raw.Rank(d_output)))


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """Return a tensor of shape `dims` with `value` everywhere.

    Args:
      dims: integers [rank].
      value: a scalar.
      name: of the node.

    Example:
      >>> Session().run(fill([2, 3], 9))
      array([[9, 9, 9],
             [9, 9, 9]], dtype=int32)
    """
    result: Tensor = raw.Fill(dims, value, name=name)
    return refine(result, result.op.inputs[0])


# Up to here, zeros and ones of a known shape are constants; beyond, a Fill keeps the graph small.
_LARGEST_CONSTANT = 1000


def _filled(value: Any, shape: Any, dtype: Any, name: str) -> Tensor:
    """Return `value` in every element, as a constant where that is small."""
    dims = _known_dims(shape)
    count = shapes.num_elements(dims)
    if dims is not None and count is not None and count < _LARGEST_CONSTANT:
        return convert.constant(np.full(dims, value, dtype.as_numpy_dtype), dtype, name=name)
    with scopes.name_scope(name) as scope:
        if isinstance(shape, list | tuple) and dims is None:
            _compare_size(shape)
        vector = _shape_vector(shape, dims)
        return fill(vector, convert.constant(value, dtype), name=scope)


def _compare_size(shape: Any) -> None:
    """Make the nodes that ask whether a shape with tensors in it is small.

    Nobody takes them: TensorFlow asks, finds no number, and leaves the nodes; their number decides
    on the seeds of random ops that follow.
    """
    with suppress(TypeError):
        reduce(operator.mul, shape) < _LARGEST_CONSTANT  # noqa: B015


def _known_dims(shape: Any) -> Shape:
    """Return `shape` as ints; None if it is no list, or holds tensors."""
    if isinstance(shape, TensorShape):
        return shape.as_tuple()
    if not isinstance(shape, list | tuple | np.ndarray) or convert.holds_tensor(shape):
        return None
    return as_shape(tuple(shape))


def _shape_vector(shape: Any, dims: Shape) -> Any:
    if dims is not None:
        return convert.convert_to_tensor(np.array(dims, np.int32), name="shape_as_tensor")
    if not hasattr(shape, "_as_tensor"):
        shape = shape if isinstance(shape, list | tuple | np.ndarray) else [shape]
        name = "packed" if convert.holds_tensor(shape) else "shape_as_tensor"
        return convert.convert_to_tensor(shape, "int32", name)
    vector = shape._as_tensor(False)
    return raw.Reshape(vector, [-1]) if vector.plain_shape == () else vector


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Return a tensor of 0, False or "" everywhere.

    Args:
      shape: integers [rank], a TensorShape, or a list with scalar tensors in it.
      dtype: of the elements.
      name: of the node.

    Example:
      >>> Session().run(zeros([2, 3], "int32"))
      array([[0, 0, 0],
             [0, 0, 0]], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype).base_dtype
    return _filled(_zero(dtype), shape, dtype, name or "zeros")


def _zero(dtype: DType) -> Any:
    return b"" if dtype is dtypes.string else dtype.as_numpy_dtype(0)


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Return a tensor of 1, or True, everywhere.

    Args:
      shape: integers [rank], a TensorShape, or a list with scalar tensors in it.
      dtype: of the elements.
      name: of the node.

    Example:
      >>> Session().run(ones([2, 3], "int32"))
      array([[1, 1, 1],
             [1, 1, 1]], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype).base_dtype
    return _filled(_one(dtype), shape, dtype, name or "ones")


def _one(dtype: DType) -> Any:
    if dtype is dtypes.string:
        raise TypeError("Expected string, got 1 of type 'int' instead.")
    return dtype.as_numpy_dtype(1)


ZEROS_LIKE = OpDef("ZerosLike(x: T) -> y: T [T: type]").not_differentiable()
ONES_LIKE = OpDef("OnesLike(x: T) -> y: T [T: type {numeric,bool}]").not_differentiable()


@ZEROS_LIKE.shape
@ONES_LIKE.shape
def _shape_like(x: Shape) -> Shape:
    return x


@ZEROS_LIKE.kernel
def zeros_like_kernel(x: Any) -> Any:
    if hasattr(x, "zeros_like"):  # a list of tensors
        return x.zeros_like()
    x = as_elements(x)
    return np.full_like(x, b"") if x.dtype == object else np.zeros_like(x)


ONES_LIKE.kernel(np.ones_like)


def zeros_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Return zeros in the shape of `tensor`.

    Args:
      tensor: any shape.
      dtype: of the zeros; by default that of `tensor`.
      name: of the node.
      optimize: whether a known shape gives a constant at once.

    Example:
      >>> Session().run(zeros_like([[1, 2, 3]]))
      array([[0, 0, 0]], dtype=int32)
    """
    with scopes.name_scope(name, "zeros_like", [tensor]) as scope:
        tensor = convert.convert_to_tensor(tensor, name="tensor")
        wanted = dtypes.as_dtype(dtype or tensor.dtype).base_dtype
        dims = tensor.plain_shape
        is_plain = wanted is not dtypes.variant
        if optimize and is_plain and dims is not None and None not in dims:
            return zeros(dims, wanted, name=scope)
        if wanted is tensor.dtype.base_dtype:
            return raw.ZerosLike(tensor, name=scope)
        return zeros(raw.Shape(tensor), wanted, name=scope)


def ones_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Return ones in the shape of `tensor`.

    Args:
      tensor: any shape.
      dtype: of the ones; by default that of `tensor`.
      name: of the node.
      optimize: whether a known shape becomes a constant at once.

    Example:
      >>> Session().run(ones_like([[5, 6, 7]]))
      array([[1, 1, 1]], dtype=int32)
    """
    with scopes.name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert.convert_to_tensor(tensor, name="tensor")
        dims = shape_of(tensor) if optimize else raw.Shape(tensor)
        return ones(dims, dtype or tensor.dtype, name=scope)


def eye(
    num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the identity matrix, or a batch of it.

    Args:
      num_rows: an int, or a scalar tensor.
      num_columns: by default as many as rows.
      batch_shape: dimensions in front; by default none.
      dtype: of the elements.
      name: prefix for the nodes.

    Example:
      >>> Session().run(eye(2, 3))
      array([[1., 0., 0.],
             [0., 1., 0.]], dtype=float32)
    """
    with scopes.name_scope(name, "eye"):
        rows, columns = num_rows, num_rows if num_columns is None else num_columns
        batch = [] if batch_shape is None else batch_shape
        sizes: Any = [[_lesser(rows, columns)], [rows, columns]]
        if any(hasattr(each, "_as_tensor") for each in (rows, columns, batch)):
            batch = convert.convert_to_tensor(batch, "int32", "shape")
            sizes = [concat([batch, size], 0) for size in sizes[: 1 if num_columns is None else 2]]
        else:
            sizes = [[*batch, *size] for size in sizes]
        diagonal = ones(sizes[0], dtype)
        if num_columns is None:
            return raw.MatrixDiag(diagonal, name="diag")
        return raw.MatrixSetDiag(zeros(sizes[1], dtype), diagonal, name="set_diag")


def _lesser(one: Any, other: Any) -> Any:
    if hasattr(one, "_as_tensor") or hasattr(other, "_as_tensor"):
        return raw.Minimum(one, other)
    return min(int(one), int(other))
