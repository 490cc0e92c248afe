"""tf.sparse, tf.sets and tf.ragged where TensorFlow says nothing, or lets the process die."""

from __future__ import annotations

import numpy as np
import pytest

import tfdist as tf
from tfdist.ops.sparse import products_scipy

raw = tf.raw_ops
GOOD = [[0, 1], [2, 0]], [1.0, 2.0], [3, 4]
OUTSIDE = [[0, 1], [2, 7]], [1.0, 2.0], [3, 4]
BELOW = [[0, 1], [2, -1]], [1.0, 2.0], [3, 4]
TOO_MANY = [[0, 1]], [1.0, 2.0], [3, 4]
OF_RANK_3 = [[0, 1, 1]], [1.0], [3, 4]
DENSE = np.ones((3, 4), np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def unknown(parts):
    """Return parts of a sparse tensor of which nothing is known beforehand."""
    types = np.int64, np.float32, np.int64
    return [
        tf.placeholder_with_default(np.array(part, kind), None)
        for part, kind in zip(parts, types, strict=True)
    ]


OPS = {
    "add": lambda x: raw.SparseAdd(*x, *GOOD, 0.0),
    "add to dense": lambda x: raw.SparseTensorDenseAdd(*x, DENSE),
    "concat": lambda x: raw.SparseConcat([x[0]] * 2, [x[1]] * 2, [x[2]] * 2, concat_dim=0),
    "split": lambda x: raw.SparseSplit(1, *x, num_split=2),
    "slice": lambda x: raw.SparseSlice(*x, [0, 0], [2, 2]),
    "matmul": lambda x: raw.SparseTensorDenseMatMul(*x, np.ones((4, 2), np.float32)),
    "times": lambda x: raw.SparseDenseCwiseMul(*x, DENSE),
    "sum": lambda x: raw.SparseReduceSum(*x, [1]),
    "sparse sum": lambda x: raw.SparseReduceSumSparse(*x, [1]),
    "softmax": lambda x: raw.SparseSoftmax(*x),
    "maximum": lambda x: raw.SparseSparseMaximum(*x, *GOOD),
    "set size": lambda x: raw.SetSize(x[0], tf.cast(x[1], tf.int32), x[2]),
}


@pytest.mark.parametrize("parts", [OUTSIDE, BELOW, TOO_MANY, OF_RANK_3])
@pytest.mark.parametrize("name", OPS)
def test_parts_that_do_not_fit_are_told(name, parts):
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(OPS[name](unknown(parts)))


def test_a_shape_with_more_places_than_numbers():
    """The places of 2**80 elements cannot be numbered; those that occur can be compared."""
    shape = [2**40, 2**40]
    x = tf.SparseTensor([[0, 5], [2**39, 1]], [1, 2], shape)
    y = tf.SparseTensor([[0, 5], [2**39, 0]], [10, 20], shape)
    total = run(tf.sparse.add(x, y))
    assert total.indices.tolist() == [[0, 5], [2**39, 0], [2**39, 1]]
    assert total.values.tolist() == [11, 20, 2]


def test_elements_in_no_order_are_reduced_as_well():
    x = tf.SparseTensor([[2, 0], [0, 1], [0, 0]], [1, 2, 3], [3, 4])
    assert run(tf.sparse.reduce_sum(x, 1)).tolist() == [5, 0, 1]
    product = tf.sparse.matmul(x, np.arange(8, dtype=np.int32).reshape(4, 2))
    assert run(product).tolist() == [[4, 9], [0, 0], [0, 1]]


@pytest.fixture(params=[True, False], ids=["with SciPy", "without"])
def scipy_or_not(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr(products_scipy, "_sparse", lambda: None)


@pytest.mark.usefixtures("scipy_or_not")
def test_a_large_product_is_that_of_the_dense_matrices():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(60, 3000)) * (rng.random((60, 3000)) < 0.2)
    other = rng.normal(size=(3000, 40))
    found = tf.sparse.matmul(tf.sparse.from_dense(matrix), other)
    turned = tf.sparse.matmul(tf.sparse.from_dense(matrix), other[:60], adjoint_a=True)
    results = run([found, turned])
    for result, wanted in zip(results, (matrix @ other, matrix.T @ other[:60]), strict=True):
        np.testing.assert_allclose(result, wanted, atol=1e-10)


@pytest.mark.usefixtures("scipy_or_not")
def test_sums_of_many_rows_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    data, indices = rng.normal(size=(50, 20, 3)), rng.integers(0, 50, 3000)
    segments = np.sort(rng.integers(0, 70, 3000))
    expected = np.zeros((71, 20, 3))
    np.add.at(expected, segments, data[indices])
    shared = tf.constant(data), indices, segments
    found = tf.sparse.segment_sum(*shared, num_segments=71)
    np.testing.assert_allclose(run(found), expected, atol=1e-10)
    gradient = run(tf.gradients(tf.sparse.segment_mean(*shared), shared[0])[0])
    sizes = np.maximum(np.bincount(segments, minlength=71), 1)
    np.testing.assert_allclose(
        gradient[:, 0, 0], np.bincount(indices, 1 / sizes[segments], 50), atol=1e-10
    )


def test_a_sparse_tensor_is_fed_and_computed_with():
    fed = tf.sparse_placeholder(tf.float32, [None, 4])
    product = tf.sparse.reduce_sum(fed * 2.0, 0)
    value = tf.SparseTensorValue([[0, 1], [2, 1]], [1.0, 2.0], [3, 4])
    assert run(product, {fed: value}).tolist() == [0, 6, 0, 0]


def test_sets_of_nothing():
    empty = tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.int32), [2, 3])
    assert run(tf.sets.size(empty)).tolist() == [0, 0]
    assert run(tf.sets.union(empty, empty)).dense_shape.tolist() == [2, 0]
    assert run(tf.sets.difference([[1, 2], [3, 3]], empty)).values.tolist() == [1, 2, 3]


# ragged tensors


def test_a_ragged_tensor_is_fetched_and_fed():
    made = tf.ragged.constant([[[1], [2, 3]], []])
    value = run(made)
    assert isinstance(value, tf.ragged.RaggedTensorValue)
    assert value.to_list() == [[[1], [2, 3]], []]
    fed = tf.ragged.placeholder(tf.int32, 1)
    given = tf.ragged.constant_value([[1], [2, 3]], np.int32)
    assert run(fed * 10, {fed: given}).to_list() == [[10], [20, 30]]


def test_gradients_flow_through_what_is_filled_up():
    values = tf.constant([1.0, 2.0, 3.0])
    dense = tf.RaggedTensor.from_row_lengths(values, [2, 1]).to_tensor(9.0)
    weights = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert run(tf.gradients(dense * weights, values))[0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("splits", [[1, 2, 3], [0, 2, 2], [0, 3, 2, 3], [0, 4]])
def test_splits_that_cut_no_rows_are_told(splits):
    fed = tf.placeholder(tf.int64, [None])
    made = [
        tf.RaggedTensor.from_row_splits([1, 2, 3], fed).row_splits,
        tf.RaggedTensor.from_row_splits([1, 2, 3], fed, validate=False).to_sparse(),
    ]
    for each in made:
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(each, {fed: splits})


def test_rows_of_different_splits_have_no_sum():
    one, other = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[1], [2, 3]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
        run(one + other)
