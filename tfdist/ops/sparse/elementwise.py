"""Operators of sparse tensors: `sparse * dense` and `sparse / dense`, element by element.

The dense one is broadcast to the shape of the sparse one, and taken where that has elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.math.division import QUOTIENTS
from tfdist.ops.sparse.components import brackets, checked, require_ranks
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__: list[str] = []


def _at_elements(indices: Any, dense_shape: Any, dense: Any) -> Any:
    """Return the elements of `dense`, broadcast to `dense_shape`, at `indices`."""
    start = len(dense_shape) - dense.ndim
    sizes = np.array(dense.shape, np.int64)
    if start < 0 or ((sizes != dense_shape[start:]) & (sizes != 1)).any():
        raise InvalidArgumentError(
            "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
            f"{brackets(dense_shape)} vs. {brackets(dense.shape)}"
        )
    return dense[tuple(np.where(sizes == 1, 0, indices[:, start:]).T)]


def _quotient(x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu":
        return x / y
    if not np.all(y):
        raise InvalidArgumentError("Integer division by zero")
    return (np.abs(x) // np.abs(y) * np.sign(x) * np.sign(y)).astype(x.dtype)


def _cwise(name: str, function: Callable[[Any, Any], Any]) -> OpDef:
    """Return the op that applies a function to the elements of a sparse and a dense tensor."""
    op_def = OpDef(
        f"SparseDenseCwise{name}(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> "
        "output: T [T: type {numeric}]"
    )

    @op_def.shape
    def shape(sp_indices: Shape, sp_values: Shape, sp_shape: Shape, dense: Shape) -> Shape:
        require_ranks(sp_indices, sp_values, sp_shape)
        return (None if sp_indices is None else sp_indices[0],)

    @op_def.kernel
    def kernel(sp_indices: Any, sp_values: Any, sp_shape: Any, dense: Any) -> Any:
        checked(sp_indices, sp_values, sp_shape)
        dense = np.asarray(dense)
        return function(sp_values, _at_elements(sp_indices, sp_shape, dense))

    return op_def


MUL = _cwise("Mul", np.multiply)
DIV = _cwise("Div", _quotient)
ADD = _cwise("Add", np.add)


@ADD.gradient
def add_gradient(op: Operation, d_output: Any) -> Any:
    raise NotImplementedError("Gradient for SparseDenseCwiseAdd is currently not implemented yet.")


@MUL.gradient
def mul_gradient(op: Operation, d_output: Any) -> list[Any]:
    _, values, _, dense = op.inputs
    vector = _not_scalar(dense)
    places = _places(op, vector)
    d_values = raw.Mul(d_output, raw.GatherNd(vector, places))
    return [None, d_values, None, _added(dense, vector, places, raw.Mul(d_output, values))]


@DIV.gradient
def div_gradient(op: Operation, d_output: Any) -> list[Any]:
    _, values, _, dense = op.inputs
    vector = _not_scalar(dense)
    places = _places(op, vector)
    divisors = raw.GatherNd(vector, places)
    d_values = raw.RealDiv(d_output, divisors)
    d_dense = raw.Mul(d_output, raw.RealDiv(raw.RealDiv(raw.Neg(values), divisors), divisors))
    return [None, d_values, None, _added(dense, vector, places, d_dense)]


def _not_scalar(dense: Tensor) -> Tensor:
    """Return a tensor, a scalar as a vector."""
    return raw.Reshape(dense, [1]) if dense.shape.ndims == 0 else dense


def _places(op: Operation, dense: Tensor) -> Tensor:
    """Return where in the dense tensor the elements of the sparse one find theirs."""
    indices, _, sp_shape, _ = op.inputs
    sizes = raw.Shape(dense, out_type="int64")
    lead = raw.Sub(raw.Size(sp_shape), raw.Size(sizes))
    own = raw.Slice(indices, raw.Pack([0, lead]), [-1, -1])
    # 0 along an axis of length 1, which was broadcast
    places: Tensor = raw.Minimum(own, raw.Sub(sizes, np.int64(1)))
    return places


def _added(dense: Tensor, vector: Tensor, places: Tensor, gradients: Any) -> Any:
    total = raw.ScatterNd(places, gradients, raw.Shape(vector, out_type="int64"))
    return total if vector is dense else raw.Reshape(total, [])


def multiply(x: SparseTensor, y: Any) -> SparseTensor:
    """Return a sparse tensor times a dense one, which broadcasts: `x * y`."""
    return _applied("mul", raw.SparseDenseCwiseMul, x, y)


def divide(x: SparseTensor, y: Any) -> SparseTensor:
    """Return a sparse tensor over a dense one, which broadcasts, as Python 2 divides."""
    return _applied("div", raw.SparseDenseCwiseDiv, x, y)


def _applied(scope: str, op_def: Callable[..., Any], x: SparseTensor, y: Any) -> SparseTensor:
    with name_scope(None, scope, [x.indices, x.values, x.dense_shape, y]) as name:
        y = convert_to_tensor(y, x.dtype.base_dtype, "y")
        values = op_def(x.indices, x.values, x.dense_shape, y, name=name)
    return SparseTensor(x.indices, values, x.dense_shape)


def true_divide(x: SparseTensor, y: Any) -> SparseTensor:
    """Return a sparse tensor over a dense one, which broadcasts: `x / y`; integers give floats."""
    values = x.values
    with name_scope(None, "truediv", [x.indices, values, x.dense_shape, y]) as name:
        y = convert_to_tensor(y, x.dtype.base_dtype, "y")
        wanted = QUOTIENTS.get(x.dtype.base_dtype)
        if wanted is not None:
            values, y = raw.Cast(values, DstT=wanted), raw.Cast(y, DstT=wanted)
        quotient = raw.SparseDenseCwiseDiv(x.indices, values, x.dense_shape, y, name=name)
    return SparseTensor(x.indices, quotient, x.dense_shape)


OPERATORS: dict[str, Callable[..., SparseTensor]] = {
    "__mul__": multiply,
    "__div__": divide,
    "__truediv__": true_divide,
}

for _name, _function in OPERATORS.items():
    setattr(SparseTensor, _name, _function)
