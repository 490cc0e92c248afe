"""Linear algebra beyond samples: gradients of decompositions, large and awkward matrices."""

from __future__ import annotations

import numpy as np
import pytest

import tfdist as tf

RNG = np.random.default_rng(0)


def numbers(*shape):
    return RNG.normal(size=shape)


def symmetric(*shape):
    matrices = numbers(*shape)
    return matrices @ np.swapaxes(matrices, -1, -2) + np.diag(np.arange(shape[-1]))


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


# gradients that the contract test leaves out


def total(outputs):
    """Return a number that depends on the outputs, but not on the signs of vectors."""
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    weighted = [
        tf.reduce_sum(tf.cos(tf.range(tf.cast(tf.size(y), y.dtype)))
                      * tf.reshape(tf.abs(y) ** 1.5, [-1]))
        for y in outputs
    ]  # fmt: skip
    return tf.add_n(weighted)


def of_symmetric(function):
    """Return a function of any matrices that goes through their symmetric part."""
    return lambda x: function((x + tf.matrix_transpose(x)) / 2.0)


GRADIENTS = [
    pytest.param(of_symmetric(tf.cholesky), symmetric(2, 3, 3), id="cholesky of a batch"),
    pytest.param(tf.qr, numbers(3, 3), id="qr of a square"),
    pytest.param(tf.qr, numbers(2, 4, 3), id="qr of more rows than columns"),
    pytest.param(of_symmetric(tf.self_adjoint_eig), symmetric(2, 3, 3), id="eigenvectors"),
    pytest.param(of_symmetric(tf.self_adjoint_eigvals), symmetric(3, 3), id="eigenvalues alone"),
    pytest.param(tf.svd, numbers(3, 3), id="svd of a square"),
    pytest.param(tf.svd, numbers(2, 5, 3), id="svd of more rows than columns"),
    pytest.param(tf.svd, numbers(2, 4), id="svd of more columns than rows"),
    pytest.param(lambda x: tf.svd(x, True), numbers(2, 4, 3), id="full svd, one row more"),
    pytest.param(lambda x: tf.svd(x, True), numbers(3, 4), id="full svd, one column more"),
    pytest.param(lambda x: tf.svd(x, compute_uv=False), numbers(3, 2), id="singular values alone"),
    pytest.param(lambda x: tf.svd(x)[1:], numbers(3, 2), id="vectors without values"),
    pytest.param(lambda x: tf.matrix_solve_ls(x, numbers_of(4, 2)), numbers(4, 3), id="tall"),
    pytest.param(lambda x: tf.matrix_solve_ls(x, numbers_of(2, 2)), numbers(2, 3), id="wide"),
    pytest.param(tf.linalg.expm, numbers(2, 3, 3), id="expm by its composition"),
    pytest.param(tf.linalg.expm, 20 * numbers(2, 2), id="expm, many squarings"),
    pytest.param(tf.linalg.pinv, numbers(4, 3), id="pinv by its composition"),
]


def numbers_of(*shape):
    return np.cos(np.arange(np.prod(shape), dtype=np.float64)).reshape(shape)


@pytest.mark.parametrize(("function", "matrices"), GRADIENTS)
def test_gradient_agrees_with_differences(function, matrices):
    x = tf.placeholder(tf.float64, matrices.shape)
    y = total(function(x))
    with tf.Session() as session:
        found = session.run(tf.gradients(y, x)[0], {x: matrices})
        wanted = np.zeros_like(matrices)
        for place in np.ndindex(matrices.shape):
            step = np.zeros_like(matrices)
            step[place] = 1e-6
            ends = [session.run(y, {x: matrices + sign * step}) for sign in (1, -1)]
            wanted[place] = (ends[0] - ends[1]) / 2e-6
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6 * np.abs(wanted).max())


def slowly(x):
    return tf.matrix_solve_ls(x, numbers_of(3, 1), fast=False)


MISSING = NotImplementedError
UNDEFINED = [
    pytest.param(tf.qr, numbers(2, 3), MISSING, "more columns", id="wide qr"),
    pytest.param(lambda x: tf.qr(x, True), numbers(3, 2), MISSING, "full", id="full qr"),
    pytest.param(lambda x: tf.svd(x, True), numbers(4, 2), MISSING, "full", id="full svd"),
    pytest.param(slowly, numbers(3, 2), ValueError, "fast", id="slow least squares"),
    pytest.param(tf.linalg.lu, numbers(3, 3), LookupError, "stop_gradient", id="lu"),
]


@pytest.mark.parametrize(("function", "matrices", "error", "message"), UNDEFINED)
def test_a_gradient_that_is_not_there_is_told(function, matrices, error, message):
    x = tf.constant(matrices)
    y = function(x)
    with pytest.raises(error, match=message):
        tf.gradients(y, x)


# large and awkward matrices


@pytest.mark.parametrize("lower", [True, False])
def test_large_triangular_systems_are_solved_by_halves(lower):
    matrix, rhs = numbers(2, 130, 130) / 20 + 2 * np.eye(130), numbers(2, 130, 3)
    half = np.tril(matrix) if lower else np.triu(matrix)
    found = run(tf.matrix_triangular_solve(matrix, rhs, lower=lower))
    np.testing.assert_allclose(half @ found, rhs, atol=1e-9)


def test_lu_gives_the_rows_in_the_order_of_the_factors():
    matrices = numbers(3, 61, 61)
    factors, rows = run(tf.linalg.lu(matrices))
    lower = np.tril(factors, -1) + np.eye(61)
    assert np.abs(lower).max() <= 1
    np.testing.assert_allclose(
        lower @ np.triu(factors), np.take_along_axis(matrices, rows[..., None], 1), atol=1e-12
    )


@pytest.mark.parametrize(
    ("middle", "pivoting"),
    [
        pytest.param(0.1, True, id="rows must be exchanged"),
        pytest.param(4.0, False, id="none need to be"),
    ],
)
@pytest.mark.parametrize("kind", [float, complex])
def test_many_rows_of_three_diagonals(middle, pivoting, kind):
    diagonals = numbers(2, 3, 90).astype(kind) + np.array([[0], [middle], [0]])
    rhs = numbers(2, 90, 4).astype(kind)
    found = tf.linalg.tridiagonal_solve(diagonals, rhs, partial_pivoting=pivoting)
    np.testing.assert_allclose(run(tf.linalg.tridiagonal_matmul(diagonals, found)), rhs, atol=1e-8)


JORDAN = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 2.0]])
FUNCTIONS = [
    pytest.param(JORDAN, id="all eigenvectors are one"),
    pytest.param(np.stack([JORDAN, symmetric(3, 3)]), id="a batch of both kinds"),
    pytest.param(1e-3 * JORDAN, id="small"),
    pytest.param(np.zeros([0, 3, 3]), id="no matrices"),
]


@pytest.mark.parametrize("matrices", FUNCTIONS)
def test_functions_of_matrices_are_undone(matrices):
    root = tf.linalg.sqrtm(matrices)
    again = tf.linalg.expm(tf.linalg.logm(matrices.astype(complex)))
    roots, exponentials = run([tf.matmul(root, root), again])
    np.testing.assert_allclose(roots, matrices, atol=1e-9)
    np.testing.assert_allclose(exponentials, matrices, atol=1e-9)


@pytest.mark.parametrize("worst", [np.nan, np.inf])
def test_the_exponential_of_what_is_not_finite_is_refused(worst):
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not invertible"):
        run(tf.linalg.expm([[worst, 0.0], [0.0, 1.0]]))


def test_a_logarithm_of_negative_eigenvalues_is_complex():
    found = run(tf.linalg.logm(np.diag([-1.0 + 0j, 2.0])))
    np.testing.assert_allclose(found, np.diag([np.pi * 1j, np.log(2)]), atol=1e-12)


def test_least_squares_of_lost_rank_take_the_slow_way():
    ones, rhs = np.ones([3, 2]), np.array([[1.0], [2.0], [3.0]])
    np.testing.assert_allclose(run(tf.matrix_solve_ls(ones, rhs, fast=False)), [[1.0], [1.0]])
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.matrix_solve_ls(np.zeros([3, 2]), rhs))


def test_regularized_least_squares_of_a_batch():
    matrices, rhs = numbers(4, 3, 2), numbers(4, 3, 1)
    found = run(tf.matrix_solve_ls(matrices, rhs, l2_regularizer=0.5))
    turned = np.swapaxes(matrices, -1, -2)
    wanted = np.linalg.solve(turned @ matrices + 0.5 * np.eye(2), turned @ rhs)
    np.testing.assert_allclose(found, wanted)


def test_repeated_labels_of_a_node_from_elsewhere():
    matrix = numbers(3, 3)
    found = run(tf.raw_ops.Einsum([matrix], equation="ii->i"))
    np.testing.assert_array_equal(found, np.diag(matrix))


# linear operators

PROPERTIES = [
    pytest.param("FullMatrix", [np.eye(2)], "None None None True", id="nothing is known"),
    pytest.param("Diag", [[1.0, 2.0]], "None True None True", id="a diagonal of floats"),
    pytest.param("Identity", [2], "True True True True", id="identity"),
    pytest.param("Zeros", [2], "False True False True", id="zeros"),
    pytest.param("Zeros", [2, 3], "False False False False", id="zeros, not square"),
]


@pytest.mark.parametrize(("kind", "arguments", "wanted"), PROPERTIES)
def test_what_is_known_of_an_operator(kind, arguments, wanted):
    operator = getattr(tf.linalg, f"LinearOperator{kind}")(*arguments)
    known = (
        operator.is_non_singular, operator.is_self_adjoint, operator.is_positive_definite,
        operator.is_square,
    )  # fmt: skip
    assert " ".join(map(str, known)) == wanted


def test_operators_are_named_after_their_parts():
    full, diag = tf.linalg.LinearOperatorFullMatrix(np.eye(2)), tf.linalg.LinearOperatorDiag([1.0])
    names = [full.H.name, full.inverse().name, tf.linalg.LinearOperatorBlockDiag([diag, diag]).name]
    assert names == [
        "LinearOperatorFullMatrix_adjoint",
        "LinearOperatorFullMatrix_inv",
        "LinearOperatorDiag_ds_LinearOperatorDiag",
    ]


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        pytest.param("non_singular", np.eye(2), np.ones([2, 2]), id="non-singular"),
        pytest.param("self_adjoint", np.eye(2), np.triu(np.ones([2, 2])), id="self-adjoint"),
        pytest.param("positive_definite", np.eye(2), -np.eye(2), id="positive definite"),
    ],
)
def test_an_operator_asserts_what_is_said_of_it(check, good, bad):
    x = tf.placeholder(tf.float64, [2, 2])
    asserted = getattr(tf.linalg.LinearOperatorFullMatrix(x), f"assert_{check}")()
    run(asserted, {x: good})
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(asserted, {x: bad})


def test_an_operator_of_unknown_size():
    x = tf.placeholder(tf.float64, [None, None])
    operator = tf.linalg.LinearOperatorDiag(x)
    made = operator.inverse().matmul(operator.to_dense()), operator.shape_tensor()
    product, shape = run(made, {x: np.full([4, 3], 2.0)})
    np.testing.assert_array_equal(product, np.tile(np.eye(3), (4, 1, 1)))
    assert shape.tolist() == [4, 3, 3]
