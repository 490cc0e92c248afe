"""What is known of integer tensors before anything runs, element by element."""

import pytest

import tfdist as tf
from tfdist.graph.partial_values import partial_value


@pytest.fixture(autouse=True)
def n():
    """Yield a number that nobody knows."""
    with tf.Graph().as_default():
        yield tf.shape(tf.placeholder(tf.float32, [None, 7]))[0]


@pytest.mark.parametrize(
    ("make", "known"),
    [
        (lambda n: tf.constant([1, 2]), [1, 2]),
        (lambda n: tf.stack([n, 3]), [None, 3]),
        (lambda n: tf.stack([[1, 2], [n, 3]]), [[1, 2], [None, 3]]),
        (lambda n: tf.stack([[1, 2], [n, 3]], axis=1), [[1, None], [2, 3]]),
        (lambda n: tf.concat([[n], [4, 5]], 0), [None, 4, 5]),
        (lambda n: tf.concat([[[1, n]], [[4, 5]]], 1), [[1, None, 4, 5]]),
        (lambda n: tf.concat([[[1, n]], [[4, 5]]], -2), [[1, None], [4, 5]]),
        (lambda n: tf.stack([n, 3, 4])[1:], [3, 4]),
        (lambda n: tf.cast(tf.stack([n, 3]), tf.int64), [None, None]),
        (lambda n: tf.identity(tf.stack([n, 3])), [None, None]),
        (lambda n: tf.identity(n), None),
        (lambda n: tf.shape_n([tf.ones([2, 3])])[0], [2, 3]),
        (lambda n: tf.shape_n([tf.placeholder(tf.float32, [None, 7])])[0], [None, None]),
        (lambda n: tf.shape(tf.placeholder(tf.float32, [None, 7])), [None, 7]),
        (lambda n: tf.stack([n, 3]) * 2, [None, None]),
    ],
)
def test_elements(n, make, known):
    assert partial_value(make(n)).tolist() == known


def test_one_size_of_a_shape_is_known_as_part_of_a_stack_only_if_all_sizes_are():
    sized, half = tf.ones([2, 3]), tf.placeholder(tf.float32, [None, 3])
    assert partial_value(tf.stack([tf.shape(sized)[1], 4])).tolist() == [3, 4]
    assert partial_value(tf.stack([tf.shape(half)[1], 4])).tolist() == [None, 4]
    assert partial_value(tf.concat([tf.shape(half)[1:], [4]], 0)).tolist() == [3, 4]


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda n: tf.fill([-1, n], 0.0), [None, None]),
        (lambda n: tf.pad(tf.ones([2, 2]), [[0, -1], [n, 0]]), [1, None]),
    ],
)
def test_less_than_no_size_is_an_unknown_one_beside_unknown_ones(n, make, shape):
    assert make(n).shape.as_list() == shape


def test_a_number_of_elements_that_is_not_known_tells_nothing():
    assert partial_value(tf.placeholder(tf.int32, [None])) is None


def test_what_enters_a_loop_is_known_in_it():
    size, shapes = tf.reduce_prod(tf.constant([2, 3])), []

    def body(i):
        shapes.append(tf.zeros([size, 2]).shape)
        return i + 1

    tf.while_loop(lambda i: i < 1, body, [0])
    assert shapes == [(6, 2)]
