"""Functions of matrices: exponential, logarithm, square root."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import matrix_transpose
from tfdist.ops.control_flow.while_loop import while_loop
from tfdist.ops.linalg import shape_rules as linalg_shape_rules
from tfdist.ops.linalg.shape_rules import TYPES
from tfdist.ops.math.matmul import matmul
from tfdist.ops.math.reductions import reduce_max, reduce_sum

__all__ = ["matrix_square_root"]  # the others are names of tf.linalg only

_WELL_CONDITIONED = 1e4  # eigenvectors up to this lose no more than 4 of 16 digits


def _by_eigenvalues(
    matrices: Any, function: Callable[[Any], Any], other: Callable[[Any], Any]
) -> Any:
    """Return a function of matrices, in complex128.

    Args:
      matrices: complex128 [..., side, side].
      function: of the eigenvalues.
      other: of those matrices whose eigenvectors are nearly parallel.
    """
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    values, vectors = np.linalg.eig(flat)
    is_good = np.linalg.cond(vectors) < _WELL_CONDITIONED if flat.size else np.ones(len(flat), bool)
    result = np.empty_like(flat)
    good = vectors[is_good]
    scaled = good * function(values[is_good])[:, None, :]
    result[is_good] = scaled @ np.linalg.inv(good)
    if not is_good.all():
        result[~is_good] = other(flat[~is_good])
    return result.reshape(matrices.shape)


def _square_root(matrices: Any) -> Any:
    """Return square roots by Denman and Beavers' iteration, which doubles the digits."""
    root, inverse = matrices, np.broadcast_to(np.eye(matrices.shape[-1]), matrices.shape)
    for _ in range(60):
        try:
            following = (root + np.linalg.inv(inverse)) / 2
            inverse = (inverse + np.linalg.inv(root)) / 2
        except np.linalg.LinAlgError:  # a singular matrix whose eigenvectors are parallel
            return np.full_like(matrices, np.nan)
        change, root = np.abs(following - root).max(), following
        if not change > 1e-15 * np.abs(root).max():
            break
    return root


def _logarithm(matrices: Any) -> Any:
    """Return logarithms: of a root near the identity, by Gauss quadrature (Higham 2008, ch. 11)."""
    identity, halvings = np.eye(matrices.shape[-1]), 0
    while np.abs(matrices - identity).max() > 0.25 and halvings < 60:
        matrices, halvings = _square_root(matrices), halvings + 1
    nodes, weights = np.polynomial.legendre.leggauss(12)
    rest = matrices - identity
    parts = (
        weight / 2 * np.linalg.solve(identity + (node + 1) / 2 * rest, rest)
        for node, weight in zip(nodes, weights, strict=True)
    )
    return 2**halvings * sum(parts)


def _checked(matrices: Any) -> Any:
    """Return matrices as complex128."""
    linalg_shape_rules.check_square(matrices)
    if not np.isfinite(matrices).all():
        raise InvalidArgumentError("a matrix holds NaN or infinity, and has no such function")
    return matrices.astype(np.complex128)


MATRIX_LOGARITHM = OpDef(
    "MatrixLogarithm(input: T) -> output: T [T: type {complex}]", takes_threads="linear algebra"
)
MATRIX_LOGARITHM.shape(linalg_shape_rules.square)


@MATRIX_LOGARITHM.kernel
def matrix_logarithm_kernel(input: Any) -> Any:
    with np.errstate(all="ignore"):
        return _by_eigenvalues(_checked(input), np.log, _logarithm).astype(input.dtype)


MATRIX_SQUARE_ROOT = OpDef(
    f"MatrixSquareRoot(input: T) -> output: T [T: type {{{TYPES}}}]", takes_threads="linear algebra"
)
MATRIX_SQUARE_ROOT.shape(linalg_shape_rules.square)


@MATRIX_SQUARE_ROOT.kernel
def matrix_square_root_kernel(input: Any) -> Any:
    """Return the roots; NaN where a real matrix has only complex ones, as in TensorFlow."""
    linalg_shape_rules.check_square(input)
    if not input.size:
        return input
    with np.errstate(all="ignore"):
        root = _by_eigenvalues(_checked(input), np.sqrt, _square_root)
    if input.dtype.kind == "c":
        return root.astype(input.dtype)
    sizes = np.abs(root).max(axis=(-2, -1), keepdims=True, initial=0)
    is_real = np.abs(root.imag).max(axis=(-2, -1), keepdims=True, initial=0) <= 1e-6 * sizes
    return np.where(is_real, root.real, np.nan).astype(input.dtype)


@MATRIX_SQUARE_ROOT.gradient
def matrix_square_root_gradient(op: Any, d_output: Any) -> Any:
    """Return the X with adjoint(S) X + X adjoint(S) = gradient, written as one linear system."""
    root = op.outputs[0]
    adjoint = matrix_transpose(root, conjugate=root.dtype.is_complex)
    conjugate = raw.Conj(root) if root.dtype.is_complex else root
    identity = raw.MatrixDiag(raw.OnesLike(raw.MatrixDiagPart(root)))
    sizes: Any = shape(root)
    side = sizes[-1]
    square = raw.ConcatV2([sizes[:-2], raw.Pack([side * side, side * side])], 0)
    system = raw.AddV2(
        raw.Reshape(_kronecker(adjoint, identity), square),
        raw.Reshape(_kronecker(identity, conjugate), square),
    )
    column = raw.ConcatV2([sizes[:-2], raw.Pack([side * side, 1])], 0)
    return raw.Reshape(raw.MatrixSolve(system, raw.Reshape(d_output, column)), sizes)


def _kronecker(one: Tensor, other: Tensor) -> Tensor:
    """Return all products of elements, [..., rows, other rows, columns, other columns]."""
    first = raw.ExpandDims(raw.ExpandDims(one, -2), -1)
    second = raw.ExpandDims(raw.ExpandDims(other, -3), -2)
    products: Tensor = raw.Mul(first, second, name="mul")
    return products


# The greatest norm up to which a diagonal Pade approximant of that order is as exact as the type;
# Higham 2005, "The scaling and squaring method for the matrix exponential revisited".
_PADE = {dtypes.float32: (7, 3.925724783138660), dtypes.float64: (13, 5.371920351148152)}
_MOST_HALVINGS = 1100.0  # the greatest float64 has an exponent of 1024


def expm(input: Any, name: str | None = None) -> Tensor:
    """Return the exponential of each matrix: the sum of its powers over their factorials.

    Args:
      input: floats or complex numbers [..., side, side].
      name: of the nodes' scope.

    Raises:
      ValueError: the matrices are not square.

    Example:
      >>> Session().run(linalg.expm([[0.0, 1.0], [0.0, 0.0]])).round(3)
      array([[1., 1.],
             [0., 1.]], dtype=float32)
    """
    with name_scope(name, "matrix_exponential", [input]):
        matrix = convert_to_tensor(input, name="input")
        _check_square(matrix)
        if matrix.plain_shape is not None and matrix.plain_shape[-2:] == (0, 0):
            return matrix
        if matrix.dtype.base_dtype.real_dtype not in _PADE:
            raise ValueError(f"expm takes float32, float64 and complex numbers, got {matrix!r}")
        order, limit = _PADE[matrix.dtype.base_dtype.real_dtype]
        halvings = _halvings(matrix, limit)
        factor = raw.Cast(raw.Pow(np.array(2, halvings.dtype.as_numpy_dtype), halvings),
                          DstT=matrix.dtype.base_dtype)  # fmt: skip
        small = raw.RealDiv(matrix, factor, name="truediv")
        result = _squared(_approximant(small, order), halvings)
        result.set_shape(matrix.shape)
        return result


def _check_square(matrix: Tensor) -> None:
    try:
        linalg_shape_rules.square(matrix.plain_shape)
    except InvalidArgumentError as error:
        raise ValueError(error.message) from None


def _halvings(matrix: Tensor, limit: float) -> Tensor:
    """Return how often each matrix must be halved, [..., 1, 1], in the real type."""
    norm = reduce_max(reduce_sum(raw.Abs(matrix) if not matrix.dtype.is_complex else
                                 raw.ComplexAbs(matrix, Tout=matrix.dtype.real_dtype),
                                 axis=-2, keepdims=True), axis=-1, keepdims=True)  # fmt: skip
    logarithm = raw.RealDiv(raw.Log(raw.RealDiv(norm, limit)), math.log(2.0))
    # of infinity no more than of the greatest number, or the loop would have no end
    count: Tensor = raw.ClipByValue(raw.Ceil(logarithm), 0.0, _MOST_HALVINGS)
    return count


def _approximant(matrix: Tensor, order: int) -> Tensor:
    """Return the diagonal Pade approximant of the exponential of small matrices."""
    coefficients = _coefficients(order)
    identity = raw.MatrixDiag(raw.OnesLike(raw.MatrixDiagPart(matrix)))
    power, square = identity, matmul(matrix, matrix)
    odd = even = None
    for position in range(0, order + 1, 2):
        even = _with(even, power, coefficients[position])
        odd = _with(odd, power, coefficients[position + 1])
        power = matmul(power, square) if position else square
    odd = matmul(matrix, odd)
    quotient: Tensor = raw.MatrixSolve(raw.Sub(even, odd), raw.AddV2(even, odd, name="add"))
    return quotient


def _coefficients(order: int) -> list[float]:
    """Return the coefficients of the numerator, scaled so that the last one is 1."""
    return [
        math.factorial(2 * order - k) / (math.factorial(k) * math.factorial(order - k))
        for k in range(order + 1)
    ]


def _with(total: Tensor | None, power: Tensor, coefficient: float) -> Tensor:
    part: Tensor = raw.Mul(coefficient, power, name="mul")
    return part if total is None else raw.AddV2(total, part, name="add")  # type: ignore[no-any-return]


def _squared(result: Tensor, halvings: Tensor) -> Tensor:
    """Return each matrix squared as often as it was halved."""
    rounds = reduce_max(halvings)

    def body(i: Tensor, matrix: Tensor) -> Any:
        return raw.AddV2(i, 1.0), raw.SelectV2(
            raw.Less(i, halvings), matmul(matrix, matrix), matrix
        )

    start = raw.ZerosLike(rounds)
    squared: Tensor = while_loop(lambda i, _: raw.Less(i, rounds), body, [start, result])[1]
    return squared


def matrix_square_root(input: Any, name: str | None = None) -> Tensor:
    """Return the S with S @ S = input, for each matrix.

    Args:
      input: floats or complex numbers [..., side, side], invertible.
      name: of the node.

    Returns:
      The principal root; NaN where a matrix of floats has only complex ones.

    Example:
      >>> Session().run(matrix_square_root([[4.0, 0.0], [0.0, 9.0]])).round(3)
      array([[2., 0.],
             [0., 3.]], dtype=float32)
    """
    root: Tensor = MATRIX_SQUARE_ROOT(input, name=name)
    return root


def logm(input: Any, name: str | None = None) -> Tensor:
    """Return the principal logarithm of each matrix, of which `expm` gives the matrix.

    Args:
      input: complex numbers [..., side, side], invertible.
      name: of the node.

    Raises:
      TypeError: the numbers are not complex.

    Example:
      >>> Session().run(linalg.logm([[1.0 + 0j, 0.0], [0.0, 1.0]])).real.round(3)
      array([[0., 0.],
             [0., 0.]])
    """
    logarithm: Tensor = MATRIX_LOGARITHM(input, name=name)
    return logarithm


sqrtm = matrix_square_root
