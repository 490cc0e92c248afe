"""Memory stays flat however many elements come, and nothing stays behind an iterator."""

import gc
import tracemalloc
import weakref

import pytest

import tfdist as tf
from tests.traced_memory import traced_bytes

D = tf.data.Dataset

PIPELINES = {
    "map and batch": lambda: D.range(10**9).map(lambda x: (x, x * 2)).batch(100),
    "shuffled rows": lambda: D.range(1000).shuffle(100).repeat().batch(100),
    "inner datasets": lambda: D.range(10**9).flat_map(lambda x: D.range(3).shuffle(3)).batch(100),
    "waiting calls": lambda: (
        D.range(10**9)
        .map(lambda x: tf.case([(x % 2 > 0, lambda: x)], default=lambda: -x))
        .batch(100)
    ),
    "a generator": lambda: (
        D.range(10**9)
        .flat_map(lambda x: D.from_generator(lambda: iter([1, 2]), tf.int64, []))
        .batch(100)
    ),
}

STEPS = {"inner datasets": 50, "waiting calls": 50, "a generator": 20}  # more is made in each


@pytest.mark.parametrize("name", PIPELINES)
def test_memory_is_flat(name):
    element = PIPELINES[name]().make_one_shot_iterator().get_next()
    steps = STEPS.get(name, 300)  # of 100 elements each
    with tf.Session() as session:
        for _ in range(20):
            session.run(element)
        gc.collect()
        gc.freeze()  # what is there already need not be walked by each collection
        tracemalloc.start()
        try:
            gc.collect()
            before = traced_bytes()
            for _ in range(steps):
                session.run(element)
            gc.collect()
            grown = traced_bytes() - before
        finally:
            tracemalloc.stop()
    assert grown < 100_000


def test_a_closed_session_leaves_no_iterator():
    iterator = D.range(3).make_initializable_iterator()
    with tf.train.Server.create_local_server() as server:
        with tf.Session(server.target) as session:
            session.run(iterator.initializer)
            [found] = [row for row in server.task.worker.resources.rows() if row[1] == "iterator"]
            kept = weakref.ref(found[-1])
            del found
        gc.collect()
        assert kept() is None
