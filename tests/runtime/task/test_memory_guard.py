"""Steps that hold more than one step may are stopped; what others keep is not theirs."""

import numpy as np
import pytest

import tfdist as tf
from tfdist.base.room import ROOM
from tfdist.runtime.resources.memory_limit import MemoryLimit
from tfdist.runtime.task.memory_guard import pause

LARGE = 15_000_000  # bytes


@pytest.fixture(params=["interpreter", "compiler"])
def server(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)
    monkeypatch.setenv("TFDIST_MEMORY_LIMIT", f"step={3 * LARGE}")
    with tf.train.Server({"local": ["localhost:0"]}, inproc=False) as server:
        yield server.target


def rounds(body, start):
    """Return what a loop without end gives, whose value may have any length."""
    return tf.while_loop(lambda x: True, body, [start], [tf.TensorShape([None])])


def test_a_step_that_grows_is_stopped(server):
    part = tf.ones([LARGE // 20])
    growing = rounds(lambda x: tf.concat([x, part], 0), part)
    with tf.Session(server) as session:
        with pytest.raises(
            tf.errors.ResourceExhaustedError,
            match=r"one step may hold 42\.9 MiB|42\.9 MiB are left",
        ) as raised:
            session.run(growing)
        assert raised.value.op.name.startswith("while/")
        assert session.run(part).nbytes == LARGE // 5


def test_what_variables_and_queues_keep_is_not_a_step_s(server):
    parts = [tf.Variable(np.zeros(LARGE // 4, np.float32)) for _ in range(4)]
    queue = tf.FIFOQueue(9, tf.float32)
    put = queue.enqueue(tf.fill([LARGE // 4], 1.0))
    sums = [tf.reduce_sum(each) for each in parts]
    turns = tf.while_loop(
        lambda i: i < 200, lambda i: i + 1 + tf.to_int32(tf.add_n(sums)), [0], parallel_iterations=1
    )
    with tf.Session(server) as session:
        for each in parts:
            session.run(each.initializer)
        for _ in range(4):
            session.run(put)
        assert session.run([*sums, turns]) == [0, 0, 0, 0, 200]


def test_there_is_a_limit_as_long_as_there_is_a_server(server):
    assert ROOM.bytes == 3 * LARGE
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.fill([2], 1.0)).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("left", "limit", "seconds"),
    [
        pytest.param(100e9, MemoryLimit(200e9), 1, id="much is left: seldom"),
        pytest.param(800e6, MemoryLimit(200e9), 0.1, id="less is left: sooner than it fills up"),
        pytest.param(1e6, MemoryLimit(200e9), 0.01, id="nearly nothing is left: often"),
        pytest.param(100e9, MemoryLimit(200e9, 80e6), 0.01, id="a step may hold little: often"),
    ],
)
def test_pause(left, limit, seconds):
    assert pause(left, limit) == pytest.approx(seconds)
