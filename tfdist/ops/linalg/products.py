"""Small things on vectors and matrices: cross, trace, adjoint, normalize."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.transpose import matrix_transpose

__all__ = ["cross", "trace"]  # the other is a name of tf.linalg only

CROSS = OpDef("Cross(a: T, b: T) -> product: T [T: type {real}]")


@CROSS.shape
def cross_shape(a: Shape, b: Shape) -> Shape:
    both = shapes.merge(a, b)
    if both is None:
        return None
    shapes.require_rank(both, "a and b", 1, 99)
    if both[-1] not in (3, None):
        raise InvalidArgumentError(f"Dimension must be 3 but is {both[-1]}")
    return (*both[:-1], 3)


@CROSS.kernel
def cross_kernel(a: Any, b: Any) -> Any:
    if a.shape != b.shape or a.shape[-1:] != (3,):
        raise InvalidArgumentError(
            "a and b must have the same shape, whose last dimension is 3, but have "
            f"{shapes.show(a.shape)} and {shapes.show(b.shape)}"
        )
    return np.cross(a, b)


@CROSS.gradient
def cross_gradient(op: Any, d_product: Any) -> Any:
    a, b = op.inputs
    return raw.Cross(b, d_product), raw.Cross(d_product, a)


def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """Return the vector product of each pair of vectors: it is at right angles to both.

    Args:
      a: numbers [..., 3].
      b: numbers [..., 3], of the same type and shape.
      name: of the node.

    Raises:
      ValueError: the shapes differ, or the last axis has not three elements.

    Example:
      >>> Session().run(cross([1, 0, 0], [0, 1, 0]))
      array([0, 0, 1], dtype=int32)
    """
    product: Tensor = CROSS(a, b, name=name)
    return product


def trace(x: Any, name: str | None = None) -> Tensor:
    """Return the sum of the diagonal of each matrix.

    Args:
      x: numbers [..., rows, columns].
      name: of the node.

    Example:
      >>> Session().run(trace([[1, 2], [3, 4]]))
      np.int32(5)
    """
    with name_scope(name, "Trace", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        diagonal = raw.MatrixDiagPart(x, name="diag_part")
        total: Tensor = raw.Sum(diagonal, np.array([-1], np.int32), name=scope)
        return total


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """Return matrices transposed, and conjugated if complex.

    Args:
      matrix: numbers [..., rows, columns].
      name: of the nodes' scope.

    Raises:
      ValueError: the rank is not known, or less than 2.

    Example:
      >>> Session().run(linalg.adjoint([[1j, 2.0]]))
      array([[0.-1.j],
             [2.-0.j]])
    """
    with name_scope(name, "adjoint", [matrix]):
        tensor = convert_to_tensor(matrix, name="matrix")
        return matrix_transpose(tensor, "matrix_transpose", tensor.dtype.is_complex)
