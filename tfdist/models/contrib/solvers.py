"""tf.contrib.solvers: linear equations and least squares, by products with the matrix alone.

Source: TF 1.15 API documentation, tf.contrib.solvers.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.constants import constant
from tfdist.ops.control_flow.while_loop import while_loop
from tfdist.ops.math.reductions import reduce_sum

LinearOperator = namedtuple("LinearOperator", ["shape", "dtype", "apply", "apply_adjoint"])
CGState = namedtuple("CGState", ["i", "x", "r", "p", "gamma"])
CGLSState = namedtuple("CGLSState", ["i", "x", "r", "p", "gamma"])


def create_operator(matrix: Any) -> Any:
    """Return what multiplies by a matrix, and by its adjoint.

    Args:
      matrix: [rows, columns].

    Raises:
      ValueError: its rank is not 2.

    Example:
      >>> operator = contrib.solvers.util.create_operator([[1.0, 2.0]])
      >>> Session().run(operator.apply([[3.0], [4.0]]))
      array([[11.]], dtype=float32)
    """
    tensor = convert_to_tensor(matrix, name="matrix")
    if tensor.shape.ndims is not None and tensor.shape.ndims != 2:
        raise ValueError("matrix must have rank 2")
    return LinearOperator(
        raw.Shape(tensor), tensor.dtype, lambda v: raw.MatMul(tensor, v),
        lambda v: raw.MatMul(tensor, v, transpose_a=True),
    )  # fmt: skip


def identity_operator(matrix: Any) -> Any:
    """Return what multiplies by 1, for a preconditioner of the size of `matrix`.

    Example:
      >>> Session().run(contrib.solvers.util.identity_operator([[1.0]]).apply([[3.0]]))
      array([[3.]], dtype=float32)
    """
    tensor = convert_to_tensor(matrix, name="matrix")
    same: Callable[[Any], Any] = convert_to_tensor
    return LinearOperator(raw.Shape(tensor), tensor.dtype, same, same)


def dot(x: Any, y: Any) -> Tensor:
    """Return the product of two vectors."""
    return reduce_sum(raw.Conj(x) * y if x.dtype.is_complex else x * y)


def l2norm_squared(v: Any) -> Tensor:
    """Return the square of a vector's length."""
    return constant(2, dtype=v.dtype.base_dtype) * raw.L2Loss(v)  # type: ignore[no-any-return]


def l2norm(v: Any) -> Tensor:
    """Return a vector's length."""
    return raw.Sqrt(l2norm_squared(v))  # type: ignore[no-any-return]


def l2normalize(v: Any) -> tuple[Tensor, Tensor]:
    """Return a vector divided by its length, and the length."""
    length = l2norm(v)
    return v / length, length


def _column(vector: Any) -> Any:
    return raw.ExpandDims(vector, -1)


def _flat(state: Any) -> Any:
    """Return a state whose vectors have rank 1 again."""
    parts = (raw.Squeeze(each) for each in (state.x, state.r, state.p))
    return type(state)(state.i, *parts, state.gamma)


def conjugate_gradient(
    operator: Any, rhs: Any, preconditioner: Any = None, x: Any = None, tol: float = 1e-4,
    max_iter: int = 20, name: str = "conjugate_gradient",
) -> Any:  # fmt: skip
    """Return the solution of operator * x = rhs, by conjugate gradients.

    Args:
      operator: of `create_operator`, positive definite.
      rhs: [rows].
      preconditioner: another operator, near to the inverse.
      x: to begin with; 0 by default.
      tol: it ends when the residual is so much shorter than `rhs`.
      max_iter: rounds at most.
      name: prefix for the nodes.

    Returns:
      CGState(i, x, r, p, gamma): rounds, solution, residual, direction, and the residual's square.

    Example:
      >>> operator = contrib.solvers.util.create_operator([[2.0, 0.0], [0.0, 4.0]])
      >>> found = contrib.solvers.linear_equations.conjugate_gradient(
      ...     operator, constant([2.0, 4.0])
      ... )
      >>> Session().run(found.x).round(4)
      array([1., 1.], dtype=float32)
    """
    applied = (lambda r: r) if preconditioner is None else preconditioner.apply

    def step(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> Any:
        z = operator.apply(p)
        alpha = gamma / dot(p, z)
        x, r = x + alpha * p, r - alpha * z
        q = applied(r)
        after = dot(r, q)
        return CGState(i + 1, x, r, q + (after / gamma) * p, after)

    with name_scope(name):
        b = _column(convert_to_tensor(rhs))
        start = raw.ZerosLike(b) if x is None else _column(convert_to_tensor(x))
        r = b if x is None else b - operator.apply(start)
        p = applied(r)
        bound = cast(tol, b.dtype) * l2norm(b)
        state = CGState(constant(0), start, r, p, dot(r, p))

        def goes_on(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> Any:
            return raw.LogicalAnd(raw.Less(i, max_iter), raw.Greater(l2norm(r), bound))

        return _flat(while_loop(goes_on, step, state))


def cgls(operator: Any, rhs: Any, tol: float = 1e-6, max_iter: int = 20, name: str = "cgls") -> Any:
    """Return the x for which operator * x is nearest to rhs, by conjugate gradients.

    Args:
      operator: of `create_operator`.
      rhs: [rows].
      tol: it ends when the gradient is so much shorter than at first.
      max_iter: rounds at most.
      name: prefix for the nodes.

    Returns:
      CGLSState(i, x, r, p, gamma): rounds, solution, residual, direction, and the square of the
      gradient's length.

    Example:
      >>> operator = contrib.solvers.util.create_operator([[1.0], [1.0]])
      >>> found = contrib.solvers.least_squares.cgls(operator, constant([1.0, 3.0]))
      >>> Session().run(found.x).round(4)
      np.float32(2.0)
    """

    def step(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> Any:
        q = operator.apply(p)
        alpha = gamma / l2norm_squared(q)
        x, r = x + alpha * p, r - alpha * q
        s = operator.apply_adjoint(r)
        after = l2norm_squared(s)
        return CGLSState(i + 1, x, r, s + (after / gamma) * p, after)

    with name_scope(name):
        b = _column(convert_to_tensor(rhs))
        s = operator.apply_adjoint(b)
        gamma = l2norm_squared(s)
        bound = (cast(tol, b.dtype) ** 2) * gamma
        state = CGLSState(constant(0), raw.ZerosLike(s), b, s, gamma)

        def goes_on(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> Any:
            return raw.LogicalAnd(raw.Less(i, max_iter), raw.Greater(gamma, bound))

        return _flat(while_loop(goes_on, step, state))
