"""Values between the units of a step are gone as soon as the last of them has taken them."""

import tracemalloc

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.places import alone, cluster

ROWS, WIDTH = 5000, 400  # 8 MB
PLACES = pytest.mark.parametrize("place", [alone, cluster])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def most_memory(step):
    """Return how many bytes a step takes at most, once it is compiled."""
    for _ in range(3):
        step()
    tracemalloc.start()
    try:
        step()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@PLACES
@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize(
    "optimizer", [tf.train.GradientDescentOptimizer(0.5), tf.train.MomentumOptimizer(0.5, 0.9)]
)
def test_a_sparse_step_takes_memory_for_its_rows(place, resource, optimizer):
    with place() as at:
        with tf.device(at.there):
            table = tf.get_variable("table", [ROWS, WIDTH], use_resource=resource)
        with tf.device(at.here):
            ids = tf.placeholder(tf.int64, [3])
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) ** 2)
        train = optimizer.minimize(loss)
        with tf.Session(at.target) as session:
            session.run(tf.global_variables_initializer())
            assert most_memory(lambda: session.run(train, {ids: [1, 7, 1]})) < 500_000


@pytest.mark.parametrize("takers", [1, 3], ids=["one taker each", "several takers each"])
def test_a_chain_over_tasks_keeps_no_link(takers):
    with cluster() as at:
        with tf.device(at.here):
            large = tf.fill([tf.placeholder_with_default(1_000_000, [])], 1.0)  # 4 MB
        for _ in range(6):
            for device in (at.there, at.here):
                with tf.device(device):
                    large = large + tf.cast(takers, tf.float32)
            with tf.device(at.there):
                late = [tf.identity(large[i] * 0.0) for i in range(takers - 1)]
            with tf.device(at.here):  # each waits for another value from there
                large = tf.add_n([large, *[large * each for each in late]])
        last = large[0]
        with tf.Session(at.target) as session:
            links = most_memory(lambda: session.run(last)) / 4e6
            assert session.run(last) == 1 + 12 * takers
    assert links < 7  # of the 12, 18 or more that the chain has


@PLACES
def test_who_else_needs_a_value_has_it(place):
    with place() as at:
        with tf.device(at.there):
            source = tf.Variable(np.arange(5000.0))
            first = source.read_value()
        with tf.device(at.here):
            near = tf.identity(first)
            x = tf.placeholder(tf.float64, [])
            again, fed = near * 2.0, near + x
        with tf.device(at.there):
            back = again + 1.0
            taken_twice = tf.stack([back, tf.identity(back)])
        with tf.device(at.here):
            total = tf.add_n([near, taken_twice[0], again])
        kept = tf.cond(total[1] > 0, lambda: near + total, lambda: near - total)
        change = source.assign_add(np.ones(5000))
        wanted = [near, fed, back, taken_twice, total, kept]
        with tf.Session(at.target) as session:
            session.run(source.initializer)
            for round_ in range(4):
                n = np.arange(5000.0) + round_
                b = 2 * n + 1
                expected = [n, n + 2, b, [b, b], n + b + 2 * n, n + n + b + 2 * n]
                for one, other in zip(session.run(wanted, {x: 2.0}), expected, strict=True):
                    np.testing.assert_array_equal(one, other)
                np.testing.assert_array_equal(session.run(total), expected[4])
                session.run(change.op)
