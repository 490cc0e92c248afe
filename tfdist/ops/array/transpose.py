"""The same elements with their axes in another order: transpose, matrix_transpose."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import Known, OpDef, raw
from tfdist.graph.operation import Tensor

__all__ = ["batch_matrix_transpose", "matrix_transpose", "transpose"]

TRANSPOSE = OpDef("Transpose(x: T, perm: Tperm) -> y: T [T: type; Tperm: type = int32 {index}]")


@TRANSPOSE.shape
def transpose_shape(x: Shape, perm: Shape, *, perm_value: Any) -> Shape:
    if perm_value is None:
        rank = perm[0] if perm else None
        rank = len(x) if x is not None else rank
        return None if rank is None else (None,) * rank
    order = _checked_order(perm_value.tolist(), x)
    return (None,) * len(order) if x is None else tuple(x[axis] for axis in order)


def _checked_order(order: list[int], x: Shape) -> list[int]:
    rank = len(order) if x is None else len(x)
    if len(order) != rank:
        raise InvalidArgumentError(f"Dimension must be {rank} but is {len(order)}")
    for axis in order:
        if not -rank <= axis < rank:
            raise InvalidArgumentError(f"perm dim {axis} is out of range of input rank {rank}")
    return order


@TRANSPOSE.kernel
def transpose_kernel(x: Any, perm: Any) -> Any:
    order = perm.tolist()
    try:
        if order and min(order) < 0:  # NumPy would count from the last axis
            raise ValueError
        return x.transpose(order)
    except ValueError:
        raise InvalidArgumentError(_no_order(order, x.ndim)) from None


def _no_order(order: list[int], rank: int) -> str:
    """Return why these are not the axes of a tensor in some order."""
    if len(order) != rank:
        given = f"But input(1) is a vector of size {len(order)}"
        return f"transpose expects a vector of size {rank}. {given}"
    for axis in order:
        if not 0 <= axis < rank:
            return f"{axis} is out of range [0 .. {rank})"
    missing = next(axis for axis in range(rank) if axis not in order)
    return f"{missing} is missing from {{{','.join(map(str, order))}}}."


@TRANSPOSE.specialize
def transpose_specialized(known: Known) -> Any:
    """Return what brings the axes into a known order."""
    shape, perm = known.shapes[0], known.values[1]
    if not shape or perm is None or sorted(perm.tolist()) != list(range(len(shape))):
        return None
    order = perm.tolist()
    return lambda x, _: x.transpose(order)


@TRANSPOSE.gradient
def transpose_gradient(op: Any, d_output: Any) -> Any:
    return transpose(d_output, raw.InvertPermutation(op.inputs[1])), None


CONJUGATE_TRANSPOSE = OpDef(
    "ConjugateTranspose(x: T, perm: Tperm) -> y: T [T: type; Tperm: type = int32 {index}]"
)


CONJUGATE_TRANSPOSE.shape(transpose_shape)


@CONJUGATE_TRANSPOSE.kernel
def conjugate_transpose_kernel(x: Any, perm: Any) -> Any:
    return np.conj(transpose_kernel(x, perm))


@CONJUGATE_TRANSPOSE.gradient
def conjugate_transpose_gradient(op: Any, d_output: Any) -> Any:
    return raw.ConjugateTranspose(d_output, raw.InvertPermutation(op.inputs[1])), None


def transpose(
    a: Any, perm: Any = None, name: str | None = "transpose", conjugate: bool = False
) -> Tensor:
    """Return `a` with its axes in another order.

    Args:
      a: [d0, ..., dn].
      perm: axis i of the result is axis perm[i] of `a`; by default the reverse order.
      name: of the node.
      conjugate: whether complex elements are conjugated as well.

    Example:
      >>> Session().run(transpose([[1, 2, 3], [4, 5, 6]]))
      array([[1, 4],
             [2, 5],
             [3, 6]], dtype=int32)
    """
    with scopes.name_scope(name or "transpose") as scope:
        tensor = a if hasattr(a, "_as_tensor") else convert.convert_to_tensor(a, name="a")
        dtype = tensor.dtype
        op = raw.ConjugateTranspose if conjugate and dtype.is_complex else raw.Transpose
        return op(tensor, _reverse_order(tensor) if perm is None else perm, name=scope)


def _reverse_order(tensor: Any) -> Any:
    dims = tensor._as_tensor(False).plain_shape
    if dims is not None:
        return np.arange(len(dims) - 1, -1, -1, dtype=np.int32)
    axes = raw.Rank(tensor)
    return raw.Sub(raw.Sub(axes, 1, name="sub"), raw.Range(0, axes, 1), name="sub")


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Return `a` [..., rows, columns] with its last two axes exchanged.

    Raises:
      ValueError: the rank of `a` is not known, or less than 2.

    Example:
      >>> Session().run(matrix_transpose([[1, 2, 3], [4, 5, 6]]))
      array([[1, 4],
             [2, 5],
             [3, 6]], dtype=int32)
    """
    with scopes.name_scope(name):
        tensor = convert.convert_to_tensor(a, name="a")
        dims = tensor.plain_shape
        if dims is None:
            return transpose(tensor, _last_two_exchanged(tensor), conjugate=conjugate)
        if len(dims) < 2:
            raise ValueError(
                "Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: "
                f"{shapes.show(dims)}"
            )
        order = [*range(len(dims) - 2), len(dims) - 1, len(dims) - 2]
        return transpose(tensor, order, conjugate=conjugate)


def _last_two_exchanged(tensor: Tensor) -> Tensor:
    """Return the order of the axes of a tensor of unknown rank."""
    rank = raw.Rank(tensor)
    before = raw.Range(0, raw.Sub(rank, 2, name="sub"), 1)
    last, second = raw.Sub(rank, 1, name="sub"), raw.Sub(rank, 2, name="sub")
    return raw.ConcatV2([before, raw.Pack([last]), raw.Pack([second])], 0, name="concat")  # type: ignore[no-any-return]


batch_matrix_transpose = matrix_transpose  # as TensorFlow 0.x named it
