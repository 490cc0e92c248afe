"""A server with a limit of memory: whoever asks for too much gets an error, all others go on."""

import sys

import numpy as np
import pytest

import tfdist as tf
from tests.faults.processes import Process

LIMIT = 250  # megabytes; an idle server has 85
WANTED = (f"{LIMIT * 10**6 / 2**20:.1f} MiB", "--memory-limit", "TFDIST_MEMORY_LIMIT")


@pytest.fixture(scope="module", params=["auto", "grpc"])
def server(request, tmp_path_factory):
    """Yield the target of a server process, reached by its local path or by gRPC only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TFDIST_TRANSPORT", request.param)
        words = [sys.executable, "-W", "error", "-m", "tfdist", "serve", "--parent"]
        words += ["--cluster", "ps=127.0.0.1:0", "--memory-limit", f"{LIMIT}MB"]
        process = Process(words, tmp_path_factory.mktemp("logs") / "log", {})
        try:
            yield process.line().split(" serves at ")[1].split()[0]
        finally:
            process.end()


@pytest.fixture
def neighbour(server):
    """Check that another session, which was there before, goes on as if nothing had been."""
    with tf.Graph().as_default():
        counter = tf.Variable(0.0, name="counter")
        count = counter.assign_add(1.0)
        with tf.Session(server) as session:
            session.run(tf.global_variables_initializer())
            yield
            assert [session.run(count) for _ in range(3)] == [1, 2, 3]


def exhausted(run):
    """Return the text of the error that `run` ends with, which says what to do next."""
    with pytest.raises(tf.errors.ResourceExhaustedError) as raised:
        run()
    for part in WANTED:
        assert part in raised.value.message
    return raised.value


def outer(n):
    x = tf.range(tf.to_float(n))
    return tf.expand_dims(x, 0) + tf.expand_dims(x, 1)


# Name of the case -> the op that makes the tensor, and a tensor of n times n elements.
LARGE = {
    "filled": ("Fill", lambda n: tf.fill([n, n], 1.0)),
    "repeated": ("Tile", lambda n: tf.tile(tf.fill([1, n], 1.0), [n, 1])),
    "drawn": ("RandomUniform", lambda n: tf.random_uniform([n, n])),
    "one hot": ("OneHot", lambda n: tf.one_hot(tf.fill([n], 1), n)),
    "broadcast": ("Add", outer),
}


@pytest.mark.parametrize("side", [30_000, 1 << 20], ids=["GBs", "TBs"])
@pytest.mark.parametrize(("op", "make"), LARGE.values(), ids=list(LARGE))
def test_a_large_tensor_is_refused_at_once(server, neighbour, op, make, side):
    n = tf.placeholder(tf.int32, [])
    y = tf.reduce_sum(make(n))
    with tf.Session(server) as session:
        for _ in range(2):  # interpreted, then compiled
            error = exhausted(lambda: session.run(y, {n: side}))
            assert error.message.startswith(
                f"OOM when allocating tensor with shape[{side},{side}] and type float on "
                "/job:ps/replica:0/task:0/device:CPU:0 by allocator cpu: it takes "
            )
            assert error.op.type.startswith(op)


def growing(x):
    return tf.concat([x, tf.ones([4_000_000])], 0)


@pytest.mark.parametrize("executor", ["loop", "array"])
def test_a_step_that_grows_is_stopped(server, neighbour, executor):
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    loops = {
        "loop": lambda: tf.while_loop(
            lambda x: True, growing, [tf.ones([1])], [tf.TensorShape([None])]
        ),
        "array": lambda: (
            tf.while_loop(
                lambda i, a: True,
                lambda i, a: (i + 1, a.write(i, tf.fill([4_000_000], tf.to_float(i)))),
                [0, array],
            )[1].flow
        ),
    }
    y = loops[executor]()
    with tf.Session(server) as session:
        error = exhausted(lambda: session.run(y))
        assert error.message.startswith("OOM")
        assert error.op.name.startswith("while")


def test_a_queue_that_nobody_empties_takes_no_more(server, neighbour):
    queue = tf.FIFOQueue(-1, [tf.float32], shared_name="full")
    n = tf.placeholder(tf.float32, [])
    put, size = queue.enqueue([tf.fill([4_000_000], n)]), queue.size()
    take = queue.dequeue().op
    with tf.Session(server) as session:

        def fill():
            for number in range(100):
                session.run(put, {n: number})

        exhausted(fill)
        held = session.run(size)
        assert 2 <= held <= 15
        for _ in range(held):  # emptying goes on as ever
            session.run(take)
        session.run(put, {n: 0})


def test_a_feed_without_room_is_refused(server, neighbour):
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.reduce_sum(x)
    with tf.Session(server) as session:
        exhausted(lambda: session.run(y, {x: np.ones(LIMIT * 10**6 // 4 + 10**6, np.float32)}))
        assert session.run(y, {x: np.ones(1000, np.float32)}) == 1000
